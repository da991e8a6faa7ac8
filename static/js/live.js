// The page of a live session follows what its agent appends: chart, figures and, while they fit on one
// page, the entries. The knobs stay where they are. Without scripts a reload does it.

const work = document.querySelector("#work[data-events]");
if (work) {
  const CALM_MS = 400; // several appends in a row are one change to look at
  const source = new EventSource(work.dataset.events);
  let waiting;

  const look = () => {
    document.getElementById("tuning")?.dispatchEvent(new Event("tune"));
    const entries = document.getElementById("entries");
    if (entries && !entries.querySelector(".pages")) {
      htmx.ajax("GET", work.dataset.entries, { target: "#entries", swap: "innerHTML" });
    }
  };
  source.addEventListener("entries", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, CALM_MS);
  });
  source.addEventListener("gone", () => source.close());
  addEventListener("pagehide", () => source.close());
}
