// Copying needs scripts, so its buttons appear with them. A button names the element whose text it
// copies; "address" copies the page's own.
const reveal = () => {
  document.querySelectorAll("[data-copy][hidden]").forEach((button) => (button.hidden = false));
};
reveal();
document.addEventListener("htmx:afterSettle", reveal);

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const name = button.dataset.copy;
  const text = name === "address" ? location.href : document.getElementById(name).textContent;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const details = button.closest(".actions").querySelector("details");
    if (details) details.open = true;
    button.textContent = "Select and copy it";
  }
  setTimeout(() => (button.textContent = label), 1600);
});
