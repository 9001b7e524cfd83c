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

// One calendar axis for all charts: a position counts time steps from the start of the lookback, and the part of the axis
// that is looked at (view) goes from one position to another.
function layoutOf(container, view) {
  const width = Math.max(container.clientWidth, 200), narrow = width < 560;
  const left = narrow ? 40 : 54, beside = narrow ? 44 : 78, end = width - beside;
  const [from, to] = view, unit = (end - left) / (to - from);
  const x = (position) => left + (position - from) * unit;
  return { width, narrow, left, end, beside, from, to, unit, x, at: (pixel) => from + (pixel - left) / unit, cell: unit * patch, split: x(numPast) };
}

const inside = (low, value, high) => Math.min(Math.max(value, low), high);
const xOf = (layout, key) => layout.x((key + 0.5) * patch);
const xAhead = (layout, at) => layout.x(numPast + (page.steps[at] - 0.5) * patch);
const xOfValue = (layout, at) => layout.x(positionOf(at) + 0.5);

function placeAt(layout, pixel) {
  const position = layout.at(pixel);
  return position >= 0 && position < numPast && pixel >= layout.left ? Math.floor(position / patch) : null;
}

// The step nearest to a pixel of the horizon; null left of it.
function stepAt(layout, pixel) {
  const step = (layout.at(pixel) - numPast) / patch;
  if (step < 0 || pixel > layout.end) return null;
  return page.steps.reduce((best, each, at) => (Math.abs(each - 0.5 - step) < Math.abs(page.steps[best] - 0.5 - step) ? at : best), 0);
}

// What is drawn in it ends where the axis does.
function clipped(svg, name, layout, top, bottom) {
  const clip = draw(draw(svg, "defs"), "clipPath", { id: name });
  draw(clip, "rect", { x: layout.left, width: layout.end - layout.left, y: top, height: bottom - top });
  return draw(svg, "g", { "clip-path": `url(#${name})` });
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
  for (let lag = 0; lag < lookback; lag += spacing * factor) {
    if (inside(layout.left, xOf(layout, lookback - 1 - lag), layout.end) === xOf(layout, lookback - 1 - lag)) ticks.push(lag);
  }
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

// The area between two lines, where both are known; a value alone is a narrow block.
function bandOf(upper, lower, half) {
  let path = "";
  const known = (at) => at >= 0 && at < upper.length && Number.isFinite(upper[at][1]) && Number.isFinite(lower[at][1]);
  for (let at = 0; at < upper.length; at++) {
    if (!known(at) || known(at - 1)) continue;
    let last = at;
    while (known(last + 1)) last += 1;
    const [above, below] = [upper, lower].map((line) => line.slice(at, last + 1));
    if (last === at) for (const line of [above, below]) line.splice(0, 1, [line[0][0] - half, line[0][1]], [line[0][0] + half, line[0][1]]);
    path += `M${[...above, ...below.reverse()].map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L")}Z`;
  }
  return path;
}

// A level per key.
const stairs = (levels, layout, y) => Array.from(levels, (level, key) => `${key ? "L" : "M"}${layout.x(key * patch).toFixed(2)} ${y(level)}H${layout.x((key + 1) * patch).toFixed(2)}`).join("");

// ---------------------------------------------------------------------------- the calendar

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

// `2026-01-05 14:00+01:00` in its parts, on the clock it is written in; null where times are whole numbers.
function partsOfTime(text) {
  const parts = /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d))?/.exec(text);
  if (parts === null) return null;
  const [year, month, day, hour, minute] = parts.slice(1).map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(year, month - 1, day));
  return { year, month, day, hour, minute, days: date.getTime() / 864e5, weekday: DAYS[date.getUTCDay()], monthName: MONTHS[month - 1] };
}

const clock = (time) => `${String(time.hour).padStart(2, "0")}:${String(time.minute).padStart(2, "0")}`;
const dayOf = (time) => `${time.weekday} ${time.day} ${time.monthName} ${time.year}`;
const every = (minutes) => ({ key: (time) => time.days * 1e4 + Math.floor((time.hour * 60 + time.minute) / minutes), label: clock, above: dayOf, room: 46 });
// Where a label may stand, the coarsest first: where the key changes. Above them, once, what they have in common.
const LEVELS = [
  ...[10, 5, 1].map((years) => ({ key: (time) => Math.floor(time.year / years), label: (time) => `${time.year}`, above: () => "", room: 46 })),
  ...[3, 1].map((months) => ({ key: (time) => time.year * 12 + Math.floor((time.month - 1) / months), label: (time) => time.monthName, above: (time) => `${time.year}`, room: 40 })),
  ...[7, 2, 1].map((days) => ({ key: (time) => Math.floor((time.days + 3) / days), label: (time) => `${time.weekday} ${time.day}`, above: (time) => `${time.monthName} ${time.year}`, room: 46 })),
  ...[720, 360, 180, 60, 30, 15, 5, 1].map(every),
];

// Labels of the visible times: [{ position, label, above }], `above` where it begins.
function calendar(layout, window) {
  const positions = [...Array(numPast + numTargets).keys()].filter((at) => inside(layout.from, positionOf(at), layout.to - 1) === positionOf(at));
  const times = positions.map((at) => partsOfTime(timeOf(window, at))), room = layout.end - layout.left;
  if (!times.length || times[0] === null) return numbered(positions, window, room);
  const starts = (level) => times.map((time, at) => at).filter((at) => at && level.key(times[at]) !== level.key(times[at - 1]));
  const fitting = LEVELS.filter((level) => starts(level).length * level.room <= room);
  const level = fitting.reduce((best, each) => (best === null || starts(each).length > starts(best).length ? each : best), null);
  if (level === null || starts(level).length < 2) return numbered(positions, window, room);
  let common = null;
  return starts(level).map((at) => {
    const above = level.above(times[at]), tick = { position: positionOf(positions[at]), label: level.label(times[at]), above: above === common ? "" : above };
    common = above;
    return tick;
  });
}

// Evenly, the last known one first.
function numbered(positions, window, room) {
  const spacing = Math.max(1, Math.ceil((positions.length * 130) / room));
  return positions.filter((at) => (numPast - 1 - at) % spacing === 0).map((at) => ({ position: positionOf(at), label: timeOf(window, at), above: "" }));
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
function colourOf(palette, weight, darkest) {
  const level = Math.sqrt(inside(0, weight / darkest, 1)) * (palette.length - 1);
  const below = Math.min(Math.floor(level), palette.length - 2), part = level - below;
  return palette[below].map((channel, at) => Math.round(channel + (palette[below + 1][at] - channel) * part));
}

function drawScale(container, darkest) {
  container.replaceChildren();
  make(container, "span", {}, "weight 0");
  const canvas = make(container, "canvas", { width: 120, height: 1, ariaHidden: "true" });
  const context = canvas.getContext("2d"), palette = paletteOf();
  for (let at = 0; at < 120; at++) {
    context.fillStyle = `rgb(${colourOf(palette, (at / 119) ** 2, 1).join()})`; // even steps in colour
    context.fillRect(at, 0, 1, 1);
  }
  make(container, "span", {}, `${share(darkest)} (square-root scale; equal weights: ${share(1 / lookback)})`);
}
