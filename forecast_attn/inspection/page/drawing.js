// Scales, axes and small parts that the charts share.

const SVG = "http://www.w3.org/2000/svg";

function draw(parent, name, attributes = {}, text = null) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

function make(parent, name, properties = {}, text = null) {
  const element = Object.assign(document.createElement(name), properties);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

function clearSvg(container, height, label) {
  container.querySelector("svg")?.remove();
  const width = Math.max(container.clientWidth, 200);
  const svg = draw(container, "svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
  if (label) container.setAttribute("aria-label", label);
  return svg;
}

// One horizontal layout for all charts, so that a lag stands at the same place in each of them: the lookback on the
// left, the steps on the right, which are widened where they would be too narrow to point at.
function layoutOf(container) {
  const width = Math.max(container.clientWidth, 200), narrow = width < 560;
  const left = narrow ? 40 : 54, right = 12, gap = 6;
  const plot = width - left - right - gap;
  const fair = (plot * horizon) / (lookback + horizon);
  const ahead = Math.max(fair, Math.min(130, plot * 0.22));
  const back = plot - ahead;
  return {
    width, narrow, left, back, ahead, split: left + back, start: left + back + gap, end: width - right,
    cell: back / lookback, cellAhead: ahead / horizon, stretch: ahead / horizon / (back / lookback),
  };
}

const xOf = (layout, place) => layout.left + (place + 0.5) * layout.cell;
const xAhead = (layout, at) => layout.start + (page.steps[at] - 0.5) * layout.cellAhead;
// Of a time step of the lookback, and of one ahead.
const xOfTime = (layout, at) => layout.left + ((at + 0.5) * layout.cell) / patch;
const xAheadTime = (layout, at) => layout.start + (page.steps[Math.floor(at / patch)] - 1 + ((at % patch) + 0.5) / patch) * layout.cellAhead;

function placeAt(layout, x) {
  const place = Math.floor((x - layout.left) / layout.cell);
  return place >= 0 && place < lookback && x < layout.split ? place : null;
}

function stepAt(layout, x) {
  if (x < layout.start - 3 || x > layout.end + 3) return null;
  const step = Math.min(Math.max(Math.floor((x - layout.start) / layout.cellAhead) + 1, 1), horizon);
  return page.steps.reduce((best, each, at) => (Math.abs(each - step) < Math.abs(page.steps[best] - step) ? at : best), 0);
}

function linear(low, high, from, to) {
  const factor = high > low ? (to - from) / (high - low) : 0;
  return (value) => from + (value - low) * factor;
}

// Round values between low and high, about `count` of them.
function ticksBetween(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const spacing = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  for (let at = Math.ceil(low / spacing - 1e-9); at * spacing <= high * (1 + 1e-12) + 1e-300; at++) ticks.push(at * spacing);
  return ticks;
}

// Lag 0 and multiples of the season (or a round number) that stand at least `room` pixels apart.
function lagTicks(layout, room) {
  const spacing = page.tickLags.length > 1 ? page.tickLags[1] : Math.max(lookback, 1);
  const factor = [1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 50, 100, 1000].find((each) => each * spacing * layout.cell >= room) ?? 1e6;
  const ticks = [];
  for (let lag = 0; lag < lookback; lag += spacing * factor) ticks.push(lag);
  return ticks;
}

// A line through what is known; NaN is a gap, and a value alone between gaps a short dash.
function pathOf(points) {
  let path = "", drawing = false;
  points.forEach(([x, y], at) => {
    if (!Number.isFinite(y)) { drawing = false; return; }
    const alone = !drawing && !(at + 1 < points.length && Number.isFinite(points[at + 1][1]));
    path += alone ? `M${x - 1.5} ${y}h3` : `${drawing ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`;
    drawing = true;
  });
  return path;
}

// `2026-01-05 14:00+01:00` as its day and its clock.
function partsOfTime(text) {
  const parts = /^(\S+) (\d\d:\d\d(?::\d\d)?)/.exec(text);
  return parts === null ? [text, ""] : [parts[1], parts[2]];
}

// ---------------------------------------------------------------------------- colours

function paletteOf() {
  const style = getComputedStyle(document.documentElement);
  return [0, 1, 2, 3, 4, 5].map((at) => {
    const hex = style.getPropertyValue(`--heat-${at}`).trim();
    return [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));
  });
}

// The square root shows what one peak would else leave in the dark; the scale below each map says true weights.
function colourOf(palette, weight, most) {
  const level = most > 0 ? Math.sqrt(Math.min(Math.max(weight / most, 0), 1)) * (palette.length - 1) : 0;
  const below = Math.min(Math.floor(level), palette.length - 2), part = level - below;
  return palette[below].map((channel, at) => Math.round(channel + (palette[below + 1][at] - channel) * part));
}

function drawScale(container, most) {
  container.replaceChildren();
  make(container, "span", {}, "weight 0");
  const canvas = make(container, "canvas", { width: 120, height: 1, ariaHidden: "true" });
  const context = canvas.getContext("2d"), palette = paletteOf();
  for (let at = 0; at < 120; at++) {
    context.fillStyle = `rgb(${colourOf(palette, (at / 119) ** 2, 1).join()})`; // even steps in colour
    context.fillRect(at, 0, 1, 1);
  }
  make(container, "span", {}, `${share(most)} (square-root scale)`);
}
