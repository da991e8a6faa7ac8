// "as PNG": the drawing is fetched as SVG and painted at twice its size. Needs scripts, so its links
// appear with them.
const scale = 2;
const reveal = () => {
  document.querySelectorAll("[data-png][hidden]").forEach((link) => (link.hidden = false));
};
reveal();
document.addEventListener("htmx:afterSettle", reveal);

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("[data-png]");
  if (!link) return;
  event.preventDefault();
  const answer = await fetch(link.dataset.png);
  if (!answer.ok) return;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await answer.text())}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * scale;
  canvas.height = image.height * scale;
  const painter = canvas.getContext("2d");
  painter.scale(scale, scale);
  painter.drawImage(image, 0, 0);
  const saved = document.createElement("a");
  saved.href = canvas.toDataURL("image/png");
  saved.download = "chart.png";
  saved.click();
});
