// Every table can be taken along as CSV and JSON, every drawing as SVG and PNG: as it stands on the page,
// with what is hidden there hidden. Needs scripts, so the links appear with them.
const smallest = 160; // pixels; sparks and swatches are no drawings of their own
const lowest = 40;
const scale = 2;
const formula = /^[=+\-@\t\r]/;
const numeric = /^[−-]?\d[\d,]*(\.\d+)?$/;
const painted = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "vector-effect", "visibility",
];

const save = (name, text, type) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

const said = (cell) => cell.textContent.replace(/\s+/g, " ").trim();
const value = (cell) => {
  const text = said(cell);
  if (text === "unknown" || text === "") return null;
  return numeric.test(text) ? Number(text.replaceAll(",", "").replace("−", "-")) : text;
};

const rowsOf = (table) => {
  const seen = new Map();
  const names = [...table.tHead.rows[table.tHead.rows.length - 1].cells].map((cell, place) => {
    const name = said(cell) || `column ${place + 1}`;
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return seen.get(name) > 1 ? `${name} ${seen.get(name)}` : name;
  });
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => row.cells.length === names.length);
  return [names, rows.map((row) => [...row.cells].map(value))];
};

const quoted = (cell) => {
  if (cell === null) return "";
  let text = String(cell);
  if (typeof cell === "string" && formula.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const csv = ([names, rows]) => [names, ...rows].map((row) => row.map(quoted).join(",") + "\r\n").join("");
const json = ([names, rows]) =>
  JSON.stringify(rows.map((row) => Object.fromEntries(names.map((name, n) => [name, row[n]]))), null, 1);

const drawingOf = (shown) => {
  const { width, height } = shown.getBoundingClientRect();
  const drawn = shown.cloneNode(true);
  const originals = [shown, ...shown.querySelectorAll("*")];
  [drawn, ...drawn.querySelectorAll("*")].forEach((part, n) => {
    const style = getComputedStyle(originals[n]);
    painted.forEach((name) => part.setAttribute(name, style.getPropertyValue(name)));
    part.removeAttribute("class");
    if (style.display === "none") part.setAttribute("display", "none");
  });
  drawn.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  drawn.setAttribute("width", Math.round(width));
  drawn.setAttribute("height", Math.round(height));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  if (!drawn.hasAttribute("viewBox")) drawn.prepend(ground);
  return new XMLSerializer().serializeToString(drawn);
};

const painting = async (text, shown) => {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const { width, height } = shown.getBoundingClientRect();
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const saved = document.createElement("a");
  saved.href = canvas.toDataURL("image/png");
  saved.download = `${nameOf(shown)}.png`;
  saved.click();
};

const nameOf = (part) => {
  const title = part.getAttribute("aria-label") ?? part.closest("section")?.querySelector("h2")?.textContent ?? "table";
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "table";
};

const offer = (part, what, ways) => {
  const line = document.createElement("p");
  line.className = "take muted";
  line.append(`${what} as `);
  Object.entries(ways).forEach(([title, act], n) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = title;
    button.setAttribute("aria-label", `${what} as ${title}: ${nameOf(part).replaceAll("-", " ")}`);
    button.addEventListener("click", act);
    line.append(...(n ? [", ", button] : [button]));
  });
  part.dataset.taken = "";
  (part.closest(".scroll") ?? part).after(line);
};

const look = () => {
  document.querySelectorAll("table:not([data-taken])").forEach((table) => {
    if (!table.tHead || !table.tBodies[0]?.rows.length || table.querySelector("input, select, form")) return;
    offer(table, "Table", {
      CSV: () => save(`${nameOf(table)}.csv`, csv(rowsOf(table)), "text/csv"),
      JSON: () => save(`${nameOf(table)}.json`, json(rowsOf(table)), "application/json"),
    });
  });
  document.querySelectorAll("svg[role=img]:not([data-taken])").forEach((shown) => {
    const { width, height } = shown.getBoundingClientRect();
    if (width < smallest || height < lowest || shown.closest("figure.growth, table")) return;
    offer(shown, "Drawing", {
      SVG: () => save(`${nameOf(shown)}.svg`, drawingOf(shown), "image/svg+xml"),
      PNG: () => painting(drawingOf(shown), shown),
    });
  });
};

look();
document.addEventListener("htmx:afterSettle", look);
