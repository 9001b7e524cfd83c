// ---------------------------------------------------------------------------- a chart as a picture in a file

const DRAWN_WITH = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "paint-order",
];
const PICTURE_SCALE = 2, PICTURE_EDGE = 16, PICTURE_LINE = 18, PICTURE_FONT = "13px system-ui, sans-serif";

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

// Lines of at most this width.
function wrapped(context, text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (context.measureText(longer).width > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

// Charts below each other, under the words that say what they show, and their legend; as sharp as twice the screen.
async function pictureOf(containers, legend, lines) {
  const box = legend.getBoundingClientRect(), boxes = containers.map((container) => container.getBoundingClientRect());
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d"), inner = Math.max(...boxes.map((each) => each.width));
  context.font = PICTURE_FONT;
  const words = lines.flatMap((line) => wrapped(context, line, inner));
  const top = PICTURE_EDGE + words.length * PICTURE_LINE, width = inner + 2 * PICTURE_EDGE;
  const height = sum([...boxes, box].map((each) => each.height + PICTURE_EDGE)) + top;
  Object.assign(canvas, { width: width * PICTURE_SCALE, height: height * PICTURE_SCALE });
  const section = getComputedStyle(containers[0].closest("section"));
  context.scale(PICTURE_SCALE, PICTURE_SCALE);
  context.fillStyle = section.backgroundColor;
  context.fillRect(0, 0, width, height);
  context.fillStyle = section.color;
  context.font = PICTURE_FONT; // a canvas forgets it with its size
  words.forEach((line, at) => context.fillText(line, PICTURE_EDGE, PICTURE_EDGE + (at + 0.6) * PICTURE_LINE));
  let y = top;
  for (const [at, container] of containers.entries()) {
    const cells = container.querySelector("canvas"), canvasBox = cells?.getBoundingClientRect();
    context.imageSmoothingEnabled = cells ? cells.style.imageRendering === "auto" : true;
    if (cells) context.drawImage(cells, PICTURE_EDGE + canvasBox.left - boxes[at].left, y + canvasBox.top - boxes[at].top, canvasBox.width, canvasBox.height);
    context.imageSmoothingEnabled = true;
    context.drawImage(await imageOf(container.querySelector("svg")), PICTURE_EDGE, y, boxes[at].width, boxes[at].height);
    y += boxes[at].height + PICTURE_EDGE;
  }
  for (const entry of legend.children) {
    const glyph = entry.querySelector("svg"), at = glyph.getBoundingClientRect();
    const x = PICTURE_EDGE - box.left, below = y - box.top;
    context.drawImage(await imageOf(glyph), x + at.left, below + at.top, at.width, at.height);
    context.fillText(entry.textContent, x + at.right + 6, below + at.bottom);
  }
  return canvas;
}

async function savePicture(containers, legend, lines, name) {
  const canvas = await pictureOf(containers, legend, lines);
  make(document.createElement("p"), "a", { href: canvas.toDataURL("image/png"), download: `${name}.png` }).click();
}
