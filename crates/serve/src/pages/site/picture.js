// A plane with its title and colour bar as a picture to save.
export function savePicture(canvas, bar, { name, title, place }) {
  const ratio = window.devicePixelRatio || 1;
  const style = getComputedStyle(canvas);
  const [head, foot] = [46, 46];
  const made = new OffscreenCanvas(canvas.width, canvas.height + Math.round((head + foot) * ratio));
  const context = made.getContext("2d");
  const [width, height] = [canvas.width / ratio, canvas.height / ratio];
  context.scale(ratio, ratio);
  context.fillStyle = style.getPropertyValue("--ground");
  context.fillRect(0, 0, width, height + head + foot);
  context.fillStyle = style.getPropertyValue("--ink");
  context.font = "600 15px system-ui, sans-serif";
  context.fillText(title, 12, 22, width - 24);
  context.font = style.getPropertyValue("--axis-font");
  context.fillStyle = style.getPropertyValue("--dim");
  context.fillText(place.join("   "), 12, 39, width - 24);
  context.drawImage(canvas, 0, head, width, height);
  const ramp = bar.querySelector("canvas");
  const [left, wide] = [62, width - 62 - 12];
  context.imageSmoothingEnabled = false;
  context.drawImage(ramp, left, head + height + 6, wide, 12);
  const labels = [...bar.querySelectorAll(".ramp-labels span")].map((label) => label.textContent);
  labels.forEach((text, at) => {
    context.textAlign = at === 0 ? "left" : at === labels.length - 1 ? "right" : "center";
    context.fillText(text, left + (wide * at) / (labels.length - 1), head + height + 34);
  });
  made.convertToBlob({ type: "image/png" }).then((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${name}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}
