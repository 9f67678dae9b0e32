// Buttons of a figure: its drawing or its numbers into the clipboard, or where that cannot be had into a file.
for (const place of document.querySelectorAll(".take")) {
  const figure = place.closest("figure");
  const drawing = () => new XMLSerializer().serializeToString(figure.querySelector(".wide svg"));
  const kinds = {
    SVG: () => new Blob([drawing()], { type: "image/svg+xml" }),
    PNG: () => pixels(drawing()),
    CSV: () => new Blob([figure.querySelector(".csv").textContent], { type: "text/csv" }),
  };
  const told = Object.assign(document.createElement("span"), { role: "status" });
  place.append("Copy ", ...Object.entries(kinds).map(([name, make]) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
    button.setAttribute("aria-label", `Copy ${figure.querySelector("figcaption a").textContent} as ${name}`);
    button.addEventListener("click", async () => {
      told.textContent = await take(await make(), `${place.dataset.stem}.${name.toLowerCase()}`);
    });
    return button;
  }), told);
  place.hidden = false;
}

async function take(blob, name) {
  try {
    // Clipboards know text and PNG.
    const item = blob.type === "image/png" ? new ClipboardItem({ [blob.type]: blob }) : null;
    await (item ? navigator.clipboard.write([item]) : navigator.clipboard.writeText(await blob.text()));
    return "copied";
  } catch {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return "saved";
  }
}

// Twice the size of the page, on white.
async function pixels(drawing) {
  const image = new Image();
  image.setAttribute("src", URL.createObjectURL(new Blob([drawing], { type: "image/svg+xml" })));
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
