// What the page knows: the document that page_data.py wrote, its arrays decoded, and what follows from them.

const page = JSON.parse(document.getElementById("data").textContent);
const lookback = page.lookback, numSteps = page.steps.length, numHeads = page.heads.length;
const horizon = page.steps[numSteps - 1];
// Lags and steps count keys. A key is a time step, or a patch of several; the series has a value for each time step.
const patch = page.patchLength ?? 1, numTargets = page.numTargets ?? numSteps;
const MEAN_OF_HEADS = -1;

function bufferOf(text) {
  const characters = atob(text), bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes.buffer; // little-endian, as every browser's machine is
}

const floats = (text) => new Float32Array(bufferOf(text));

// The weight of every code: half the bytes of numbers, and exact to the three digits that are shown. 0 is no weight.
const WEIGHTS = new Float32Array(65536).map((_, code) => (code ? 2 ** ((code - 65535) / 2048) : 0));

function weightsOf(text) {
  const codes = new Uint16Array(bufferOf(text)), weights = new Float32Array(codes.length);
  for (let at = 0; at < codes.length; at++) weights[at] = WEIGHTS[codes[at]];
  return weights;
}

// Lines that are drawn and never written as numbers, one after the other: exact at their ends, between them to a 65534th.
function linesOf(text) {
  const ends = floats(text.ends), codes = new Uint16Array(bufferOf(text.codes)), size = (2 * codes.length) / ends.length;
  return Float32Array.from(codes, (code, at) => {
    const line = 2 * Math.floor(at / size);
    return code === 65535 ? NaN : ends[line] + ((ends[line + 1] - ends[line]) * code) / 65534;
  });
}

const weights = weightsOf(page.weights), past = floats(page.past);
const forecast = floats(page.forecast), actual = floats(page.actual);
const intervals = page.intervals.map(({ name, lower, upper }) => ({ name, lower: linesOf(lower), upper: linesOf(upper) }));
const covariates = page.covariates.map(({ name, lines }) => ({ name, values: linesOf(lines) }));
const means = { weights: weightsOf(page.mean.weights), entropy: floats(page.mean.entropy), effective: floats(page.mean.effective) };

// The (steps × lookback) rows of one head, or the mean of all, in an array that begins at `offset`.
function rowsOf(array, offset, head) {
  const size = numSteps * lookback;
  const of = (at) => array.subarray(offset + at * size, offset + (at + 1) * size);
  if (head !== MEAN_OF_HEADS || numHeads === 1) return split(of(Math.max(head, 0)));
  const mean = new Float32Array(size);
  for (let index = 0; index < numHeads; index++) of(index).forEach((value, at) => { mean[at] += value / numHeads; });
  return split(mean);
}

const split = (flat) => page.steps.map((_, step) => flat.subarray(step * lookback, (step + 1) * lookback));

// A light window has no weights and covariates of its own: for each of its steps, the mean weights of its series. A bare
// one has no values either.
let whole = 0, valued = 0;
const indexOfWhole = page.windows.map(({ light, bare }) => (light || bare ? null : whole++));
const indexOfValues = page.windows.map(({ bare }) => (bare ? null : valued++));
const isBare = (window) => indexOfValues[window] === null;
const isLight = (window) => indexOfWhole[window] === null;
const seriesTiles = page.tiles.find(({ kind }) => kind === "item"), seriesWeights = seriesTiles === undefined ? [] : weightsOf(seriesTiles.profiles);

function seriesRows(item) {
  const at = seriesTiles.names.indexOf(page.items[item]), row = seriesWeights.subarray(at * lookback, (at + 1) * lookback);
  return page.steps.map(() => row);
}

const windowRows = (window, head) => (isLight(window) ? seriesRows(itemOf(window)) : rowsOf(weights, indexOfWhole[window] * numHeads * numSteps * lookback, head));
const meanRows = (head) => rowsOf(means.weights, 0, head);

// The series has numPast values of the lookback and numAhead beyond; positions on the axis count time steps from its start.
const numPast = lookback * patch, numAhead = numSteps * patch, axisEnd = numPast + horizon * patch;
const rowAt = (values, index, size) => (index === null ? new Float32Array(size).fill(NaN) : values.subarray(index * size, (index + 1) * size));
const pastOf = (window) => rowAt(past, indexOfValues[window], numPast);
const aheadOf = (values, window) => rowAt(values, indexOfValues[window], numAhead);
const forecastOf = (window) => aheadOf(forecast, window);
const actualOf = (window) => aheadOf(actual, window);
const covariateOf = (each, window) => rowAt(each.values, indexOfWhole[window], numPast + numAhead);
// Where a value stands on the axis: steps that were left out of the file leave a gap.
const positionOf = (at) => (at < numPast ? at : numPast + (page.steps[Math.floor((at - numPast) / patch)] - 1) * patch + ((at - numPast) % patch));

// The values of one key or step among those of all.
const valuesAt = (values, key) => Array.from(values.subarray(key * patch, (key + 1) * patch));

// Of a time step: the first ones are the lookback, the ones after it the horizon.
function timeOf(window, at) {
  const times = page.windows[window].times;
  return page.times[Array.isArray(times) ? times[at] : times + at];
}
const cutoffOf = (window) => timeOf(window, lookback * patch - 1);
const timeOfKey = (window, key) => timeSpan(timeOf(window, key * patch), timeOf(window, (key + 1) * patch - 1));
const timeOfStep = (window, at) => timeSpan(
  timeOf(window, lookback * patch + at * patch), timeOf(window, lookback * patch + Math.min((at + 1) * patch, numTargets) - 1));
const itemOf = (window) => page.windows[window].item;

const sum = (row) => row.reduce((total, weight) => total + weight, 0);
const largest = (row) => row.reduce((most, value) => (value > most ? value : most), 0);

// Nats, of the row scaled to add up to 1 (a local window's may add up to less); NaN for a row of zeros.
function entropy(row) {
  const total = sum(row);
  if (!(total > 0)) return NaN;
  let nats = 0;
  for (const weight of row) if (weight > 0) nats -= (weight / total) * Math.log(weight / total);
  return Math.max(nats, 0);
}

// Of one window: entropy and effective steps per step. Over heads, the mean of each head's. A mean over windows, as a
// light one has, is wider than each of them.
function spreadOf(window, head) {
  if (isLight(window)) return { entropy: page.steps.map(() => NaN), effective: page.steps.map(() => NaN) };
  const chosen = head === MEAN_OF_HEADS ? page.heads.map((_, index) => index) : [head];
  const perHead = chosen.map((index) => windowRows(window, index).map(entropy));
  const mean = (of) => page.steps.map((_, step) => sum(perHead.map((row) => of(row[step]))) / chosen.length);
  return { entropy: mean((nats) => nats), effective: mean(Math.exp) };
}

function meanSpread(head) {
  const chosen = head === MEAN_OF_HEADS ? page.heads.map((_, index) => index) : [head];
  const mean = (array) => page.steps.map((_, step) => sum(chosen.map((index) => array[index * numSteps + step])) / chosen.length);
  return { entropy: mean(means.entropy), effective: mean(means.effective) };
}

function profileOf(rows) {
  return Float32Array.from({ length: lookback }, (_, key) => sum(rows.map((row) => row[key])) / rows.length);
}

// Positions of the largest weights, largest first; of equal ones the more recent first. Nothing at zero is looked at.
function topKeys(row, count) {
  const keys = Array.from(row.keys()).filter((key) => row[key] > 0);
  return keys.sort((one, other) => row[other] - row[one] || other - one).slice(0, count);
}

// ---------------------------------------------------------------------------- in words

function number(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value < 0) return `−${number(-value, digits)}`;
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  if (size >= 1e3) return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
  return String(Number(value.toPrecision(digits)));
}

// For an axis: 5M, 12.5k.
function short(value) {
  const [factor, unit] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]].find(([each]) => Math.abs(value) >= each) ?? [1, ""];
  return number(value / (unit === "k" ? 1e3 : factor)) + unit;
}

// What is not all is never 100 %, and what is there never 0 %; but sums of float32 are off by a millionth.
function share(weight) {
  if (!(weight > 0)) return "0\u00a0%";
  if (weight < 0.0001) return "<0.01\u00a0%";
  if (weight > 0.99 && weight < 1 - 1e-6) return ">99\u00a0%";
  return `${(100 * weight).toFixed(weight >= 0.1 ? 0 : weight >= 0.01 ? 1 : 2)}\u00a0%`;
}

// To three digits, where one weight is pointed at.
function exactly(weight) {
  if (weight > 0 && weight < 1e-5) return "<0.001\u00a0%";
  return weight >= 0.9995 && weight < 1 - 1e-6 ? ">99.9\u00a0%" : `${number(100 * weight, 3)}\u00a0%`;
}

const KEYS_NAME = patch === 1 ? "steps" : "patches";
const effectiveWords = (count) => `${number(count, 3)} effective ${number(count, 3) !== "1" ? KEYS_NAME : patch === 1 ? "step" : "patch"}`;
const lagOf = (key) => lookback - 1 - key;
const lagText = (key) => (patch === 1 ? lagOf(key) : `${lagOf(key) * patch}–${(lagOf(key) + 1) * patch - 1}`);
const stepName = (at) => `${patch === 1 ? "step" : "steps"} ${stepText(at)}`;
const stepText = (at) => page.stepTexts?.[at] ?? page.steps[at];

// `2018-01-01 00:00 … 23:00`: the day is said once.
function timeSpan(first, last) {
  if (first === last) return first;
  const [day, clock] = first.split(" "), [lastDay, lastClock] = last.split(" ");
  return clock !== undefined && day === lastDay ? `${first} … ${lastClock}` : `${first} … ${last}`;
}

// Of one value the value, of a patch from where to where; nothing where none is known.
function rangeWords(values) {
  const known = values.filter(Number.isFinite);
  if (!known.length) return "–";
  const [low, high] = [number(Math.min(...known)), number(Math.max(...known))];
  return low === high ? low : `${low} to ${high}`;
}
const distanceOf = (lag) => (page.distances === null ? "" : lag === 0 && patch === 1 ? "the cut-off" : `${page.distances[lag]} before the cut-off`);
