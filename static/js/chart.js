// Crosshair, readout and drag-to-zoom for the growth chart. The chart says everything without it.
// It is bound once to the document, so that a swapped chart works at once.

const format = new Intl.NumberFormat("en-US");
let drag = null;

function seriesOf(figure) {
  if (!figure.series) figure.series = JSON.parse(figure.querySelector(".series").textContent);
  return figure.series;
}

function placeOf(figure, event) {
  const box = figure.querySelector(".canvas").getBoundingClientRect();
  const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  const first = Number(figure.dataset.first);
  const last = Math.max(Number(figure.dataset.last), first + 1);
  return { share, call: Math.round(first + share * (last - first)), width: box.width };
}

function nearest(calls, call) {
  let low = 0;
  let high = calls.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (calls[middle] < call) low = middle + 1;
    else high = middle;
  }
  return low > 0 && call - calls[low - 1] < calls[low] - call ? low - 1 : low;
}

function show(figure, event) {
  const { calls, curves } = seriesOf(figure);
  if (!calls.length) return;
  const { share, call } = placeOf(figure, event);
  const at = nearest(calls, call);
  const hair = figure.querySelector(".hair");
  hair.setAttribute("x1", `${share * 100}%`);
  hair.setAttribute("x2", `${share * 100}%`);
  hair.removeAttribute("hidden");
  const readout = figure.querySelector(".readout");
  const lines = curves
    .filter((curve) => curve.values[at] !== null && curve.values[at] !== undefined)
    .map((curve) => `${curve.title}: ${format.format(curve.values[at])}`);
  readout.textContent = [`call ${format.format(calls[at])}`, ...lines].join("\n");
  readout.classList.toggle("left", share > 0.5);
  readout.hidden = false;
}

function hide(figure) {
  figure.querySelector(".hair").setAttribute("hidden", "");
  figure.querySelector(".readout").hidden = true;
}

function select(figure, from, to) {
  const band = figure.querySelector(".select");
  band.setAttribute("x", `${Math.min(from, to) * 100}%`);
  band.setAttribute("width", `${Math.abs(to - from) * 100}%`);
  band.removeAttribute("hidden");
}

function zoom(from, to) {
  const form = document.getElementById("tuning");
  if (!form) {
    const address = new URL(location.href);
    address.searchParams.set("from", from);
    address.searchParams.set("to", to);
    location.assign(address);
    return;
  }
  form.elements.from.value = from;
  form.elements.to.value = to;
  form.dispatchEvent(new Event("tune"));
}

document.addEventListener("pointermove", (event) => {
  const figure = event.target.closest?.("figure.growth");
  document.querySelectorAll("figure.growth").forEach((other) => other !== figure && hide(other));
  if (!figure || !event.target.closest(".canvas")) return;
  show(figure, event);
  if (drag?.figure === figure) select(figure, drag.share, placeOf(figure, event).share);
});
document.addEventListener("pointerdown", (event) => {
  const canvas = event.target.closest?.("figure.growth .canvas");
  if (!canvas || event.button !== 0 || event.target.closest("a") || event.pointerType === "touch") return;
  const figure = canvas.closest("figure");
  drag = { figure, ...placeOf(figure, event) };
  event.preventDefault();
});
document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const { figure, call, share, width } = drag;
  drag = null;
  figure.querySelector(".select").setAttribute("hidden", "");
  const end = placeOf(figure, event);
  if (Math.abs(end.share - share) * width > 8 && end.call !== call) {
    zoom(Math.min(call, end.call), Math.max(call, end.call));
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-whole]")) return;
  event.preventDefault();
  zoom("", "");
});
// A marker and its row light up together.
document.addEventListener("mouseover", (event) => {
  const row = event.target.closest?.("table.events tr[id]");
  document.querySelectorAll(".mark.lit").forEach((mark) => mark.classList.remove("lit"));
  if (row) document.querySelector(`.mark[href="#${row.id}"]`)?.classList.add("lit");
});
