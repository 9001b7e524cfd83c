// ---------------------------------------------------------------------------- a chart as a picture in a file

const DRAWN_WITH = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "paint-order",
];
const PICTURE_SCALE = 2, PICTURE_EDGE = 16, PICTURE_LINE = 18;

// A copy that needs no style sheet and no other part of the page: outside of it nobody knows its classes and patterns.
function standingAlone(svg) {
  const copy = svg.cloneNode(true), box = svg.getBoundingClientRect();
  const copies = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of DRAWN_WITH) copies[at].setAttribute(name, style.getPropertyValue(name));
  });
  for (const [name, value] of [["xmlns", SVG], ["width", box.width], ["height", box.height]]) copy.setAttribute(name, value);
  const hatch = copy.insertBefore(document.querySelector(".patterns defs").cloneNode(true), copy.firstChild);
  hatch.querySelector("rect").setAttribute("fill", getComputedStyle(document.querySelector(".patterns")).fill);
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
}

async function imageOf(svg) {
  const image = new Image();
  image.src = standingAlone(svg);
  await image.decode();
  return image;
}

// Charts below each other, under the words that say what they show; as sharp as twice the screen.
async function pictureOf(containers, lines) {
  const boxes = containers.map((container) => container.getBoundingClientRect());
  const top = PICTURE_EDGE + lines.length * PICTURE_LINE, width = Math.max(...boxes.map((box) => box.width)) + 2 * PICTURE_EDGE;
  const height = sum(boxes.map((box) => box.height + PICTURE_EDGE)) + top;
  const canvas = Object.assign(document.createElement("canvas"), { width: width * PICTURE_SCALE, height: height * PICTURE_SCALE });
  const context = canvas.getContext("2d"), section = getComputedStyle(containers[0].closest("section"));
  context.scale(PICTURE_SCALE, PICTURE_SCALE);
  context.fillStyle = section.backgroundColor;
  context.fillRect(0, 0, width, height);
  context.fillStyle = section.color;
  context.font = "13px system-ui, sans-serif";
  lines.forEach((line, at) => context.fillText(line, PICTURE_EDGE, PICTURE_EDGE + (at + 0.6) * PICTURE_LINE, width - 2 * PICTURE_EDGE));
  let y = top;
  for (const [at, container] of containers.entries()) {
    const cells = container.querySelector("canvas"), canvasBox = cells?.getBoundingClientRect();
    context.imageSmoothingEnabled = cells ? cells.style.imageRendering === "auto" : true;
    if (cells) context.drawImage(cells, PICTURE_EDGE + canvasBox.left - boxes[at].left, y + canvasBox.top - boxes[at].top, canvasBox.width, canvasBox.height);
    context.imageSmoothingEnabled = true;
    context.drawImage(await imageOf(container.querySelector("svg")), PICTURE_EDGE, y, boxes[at].width, boxes[at].height);
    y += boxes[at].height + PICTURE_EDGE;
  }
  return canvas;
}

async function savePicture(containers, lines, name) {
  const canvas = await pictureOf(containers, lines);
  make(document.createElement("p"), "a", { href: canvas.toDataURL("image/png"), download: `${name}.png` }).click();
}
