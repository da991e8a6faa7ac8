// Dropping files on the page fills the form's file field and sends it.
const form = document.getElementById("drop");
const field = document.getElementById("files");

const holdsFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");

document.addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  form.classList.add("over");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) form.classList.remove("over");
});
document.addEventListener("drop", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  form.classList.remove("over");
  field.files = event.dataTransfer.files;
  form.requestSubmit();
});
field.addEventListener("change", () => field.files.length && form.requestSubmit());
form.addEventListener("submit", () => form.classList.add("sending"));
