// Sliders and their number fields move together; every move asks for a new result.
// The form itself sends the request (hx-sync="this:replace" drops the answer to an older one).

// The first move asks at once; while a knob is dragged on, its last place is asked for every so often.
const REST_MS = 40;
let askedAt = -REST_MS;
let waiting;
const ask = (form) => {
  clearTimeout(waiting);
  const left = askedAt + REST_MS - performance.now();
  if (left > 0) {
    waiting = setTimeout(ask, left, form);
    return;
  }
  askedAt = performance.now();
  form.dispatchEvent(new Event("tune"));
};

document.addEventListener("input", (event) => {
  const field = event.target;
  const form = field.closest?.("#tuning");
  if (!form) return;
  if (field.dataset.for) {
    document.getElementById(field.dataset.for).value = field.value;
  } else if (field.type === "number") {
    const slider = form.querySelector(`[data-for="${field.id}"]`);
    if (slider && field.value !== "") slider.value = field.value;
  } else {
    return;
  }
  ask(form);
});

document.addEventListener("change", (event) => {
  if (event.target.closest?.("#tuning") && event.target.type === "text" && event.target.name !== "provider") {
    event.target.form.dispatchEvent(new Event("tune"));
  }
});

document.addEventListener("submit", (event) => {
  if (event.target.id !== "tuning") return;
  event.preventDefault();
  event.target.dispatchEvent(new Event("tune"));
});

// An answer whose asker a newer answer has taken off the page is out of date.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.requestConfig.elt.isConnected) event.detail.shouldSwap = false;
});

// An answer to a move brings the note of every knob: why it has no effect, or nothing.
document.addEventListener("htmx:afterSwap", () => {
  const notes = document.getElementById("knob-notes");
  if (!notes) return;
  for (const [name, note] of Object.entries(JSON.parse(notes.textContent))) {
    const place = document.getElementById(`note-${name}`);
    if (place && place.textContent !== note) place.textContent = note;
  }
  notes.remove();
});

// What went wrong with a request is said beside the knobs, and taken back by the next answer.
const say = (text) => {
  const trouble = document.getElementById("trouble");
  if (trouble) trouble.textContent = text;
};
document.addEventListener("htmx:sendError", () =>
  say("The server does not answer. The chart shows the last state."),
);
document.addEventListener("htmx:responseError", (event) =>
  say(`The server answered with an error (${event.detail.xhr.status}). The chart shows the last state.`),
);
document.addEventListener("htmx:afterOnLoad", () => say(""));
