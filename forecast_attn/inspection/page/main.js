// The page: what is chosen, how it is changed, and what follows.

const byId = (id) => document.getElementById(id);
const WHOLE = [0, axisEnd];
const state = { window: 0, head: MEAN_OF_HEADS, mean: false, step: 0, key: null, hour: null, covariate: covariates.length ? 0 : null, view: WHOLE, rows: null, spread: null, profile: null };
const seriesChart = makeSeriesChart(byId("series"));
const heatmap = makeHeatmap(byId("heatmap"), byId("scale"));
const markTiles = makeTiles(byId("side-by-side"), (kind, at) => {
  if (kind === "head") state.head = at;
  else Object.assign(state, { window: at, key: null, hour: null });
  showAll();
  rememberChoice();
  byId("series").focus();
}, () => markTiles(state));
const sliders = [byId("series"), byId("heatmap")];

// ---------------------------------------------------------------------------- showing

function showAll() {
  const mean = meanRows(state.head);
  state.rows = state.mean ? mean : windowRows(state.window, state.head);
  state.spread = state.mean ? meanSpread(state.head) : spreadOf(state.window, state.head);
  state.profile = profileOf(mean);
  showControls(); // first: the charts take the room below them
  seriesChart.draw(state);
  heatmap.draw(state);
  showWords();
  byId("window-name").textContent = `${windowName(state)}${headWords(", ")}`;
  markTiles(state);
}

// Whether the weights are a mean, of all windows or of one series.
const isMean = () => state.mean || isMeanOfSeries();
const isMeanOfSeries = () => isLight(state.window) && !state.mean;
const meanWords = () => (state.mean ? `mean weights of all ${page.windowsInFile} windows` : "mean weights of this series, over its steps and windows");
const headWords = (before) => (numHeads === 1 || isMeanOfSeries() ? "" : before + (state.head === MEAN_OF_HEADS ? `mean of ${numHeads} heads` : `head ${page.heads[state.head]}`));

function showMarks() {
  seriesChart.mark(state);
  heatmap.mark(state);
  showWords();
}

function showWords() {
  showReadout();
  showTooltip();
  const step = page.steps[state.step], text = stepWords(state.step);
  byId("step").value = state.step;
  byId("step").setAttribute("aria-valuetext", `step ${text}`);
  byId("step-text").textContent = text;
  for (const slider of sliders) {
    const values = { min: page.steps[0], max: horizon, now: step, text: `step ${text}` };
    for (const [name, value] of Object.entries(values)) slider.setAttribute(`aria-value${name}`, value);
  }
  showTables();
}

const stepWords = (step) => `${stepText(step)}, ${timeOfStep(state.window, step)}`;

function showReadout() {
  const readout = byId("readout"), row = state.rows[state.step];
  readout.replaceChildren();
  const first = make(readout, "span"), values = [forecastOf(state.window), actualOf(state.window)].map((each) => valuesAt(each, state.step));
  make(first, "b", {}, `Step${patch === 1 ? "" : "s"} ${stepWords(state.step)}`);
  const words = [[page.forecastName, values[0]], ["actual", values[1]]].filter(([, each]) => each.some(Number.isFinite));
  first.append(...words.map(([name, each]) => ` · ${name} ${rangeWords(each)}`), `${Number.isFinite(state.spread.effective[state.step]) ? ` · ${effectiveWords(state.spread.effective[state.step])}` : ""}${headWords(" · ")}`);
  if (isMean()) first.append(` · ${meanWords()}`);
  const tops = topKeys(row, 3), second = make(readout, "span", {}, tops.length ? `${isMeanOfSeries() ? "the series " : ""}looks most at ` : "looks at nothing");
  tops.forEach((key, at) => {
    if (at) second.append(", ");
    make(second, "span", { className: "together" }, `${timeOfKey(state.window, key)} (${lagName(key)}, ${share(row[key])})`);
  });
  const third = make(readout, "span", { id: "lag-readout" });
  if (state.key !== null) lagWords(state.key, row).forEach((words, at) => {
    if (at) third.append(" · ");
    make(third, "span", { className: "together" }, words);
  });
  third.hidden = state.key === null;
}

// Beside what one points at; the words above it say the same to those who do not see it.
function showTooltip() {
  const tooltip = byId("tooltip"), { key, hour } = state;
  tooltip.hidden = key === null;
  if (key === null) return;
  const layout = seriesChart.layout(), row = state.rows[state.step], value = pastOf(state.window)[hour];
  tooltip.replaceChildren();
  make(tooltip, "b", {}, timeOf(state.window, hour));
  if (Number.isFinite(value)) make(tooltip, "span", {}, `${page.target ?? "value"} ${number(value)}`);
  const of = patch === 1 ? "" : ` on its patch of ${patch}`, times = row[key] * lookback;
  make(tooltip, "span", {}, `${isMean() ? "mean " : ""}weight ${exactly(row[key])}${of}`);
  make(tooltip, "span", {}, `${times > 0 && times < 0.01 ? "<0.01" : number(times, times < 10 ? 2 : 3)} × an equal share`);
  const x = layout.x(hour + 0.5), room = layout.width - x, onLeft = x > room;
  Object.assign(tooltip.style, { left: onLeft ? "auto" : `${x + 14}px`, right: onLeft ? `${room + 14}px` : "auto", maxWidth: `${Math.max(x, room) - 14}px`, top: `${seriesChart.areas().top + 2}px` });
}

const lagName = (key) => `lag${patch === 1 ? "" : "s"} ${lagText(key)}`;

function lagWords(key, row) {
  const values = valuesAt(pastOf(state.window), key), lag = lagOf(key);
  const words = [lagName(key), timeOfKey(state.window, key), distanceOf(lag), `${isMean() ? "mean " : ""}weight ${exactly(row[key])}`];
  if (patch > 1) words.push(`at ${timeOf(state.window, state.hour)} ${number(pastOf(state.window)[state.hour])}`);
  else if (values.some(Number.isFinite)) words.push(`${page.target ?? "value"} ${rangeWords(values)}`);
  return words.filter(Boolean);
}

function showTables() {
  for (const [id, fill] of [["step-details", fillStepTable], ["lag-details", fillLagTable]]) {
    if (byId(id).open) fill(byId(id).querySelector(".scroll"), state);
  }
}

// ---------------------------------------------------------------------------- the address: #window=3&head=0&step=5

function readAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  const indexOf = (name, values) => (address.has(name) ? values.indexOf(Number(address.get(name))) : -1);
  state.window = Math.max(indexOf("window", page.windows.map((_, window) => window + 1)), 0);
  state.step = Math.max(indexOf("step", page.steps), 0);
  if (numHeads > 1) state.head = indexOf("head", page.heads);
}

let remembering = null;

// After a rest, for browsers count how often an address changes.
function rememberChoice() {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    const chosen = new URLSearchParams({ window: state.window + 1, step: page.steps[state.step] });
    if (numHeads > 1 && state.head !== MEAN_OF_HEADS) chosen.set("head", page.heads[state.head]);
    history.replaceState(null, "", `#${chosen}`);
  }, 300);
}

// ---------------------------------------------------------------------------- choosing

const windowsOf = (item) => page.windows.map((_, window) => window).filter((window) => itemOf(window) === item);

function showControls() {
  const item = itemOf(state.window), windows = windowsOf(item), at = windows.indexOf(state.window);
  // The longest text, until showWords: the charts leave room for the slider of a step whose words take two lines.
  byId("step-text").textContent = page.steps.map((_, step) => stepWords(step)).reduce((one, other) => (other.length > one.length ? other : one));
  byId("item").value = item;
  byId("head").value = state.head;
  byId("weights").value = state.mean ? "mean" : "window";
  byId("weights").options[0].textContent = isLight(state.window) ? "mean of this series" : "this window";
  byId("head").disabled = isMeanOfSeries();
  byId("covariate").value = state.covariate ?? "";
  const cutoff = byId("cutoff");
  cutoff.replaceChildren();
  for (const window of windows) make(cutoff, "option", { value: window }, cutoffOf(window));
  cutoff.value = state.window;
  byId("earlier").disabled = at === 0;
  byId("later").disabled = at === windows.length - 1;
  byId("play").disabled = windows.length < 2;
  const span = state.view[1] - state.view[0];
  for (const id of ["wider", "whole"]) byId(id).disabled = span >= axisEnd;
  byId("closer").disabled = span <= leastSpan;
}

function chooseWindow(window) {
  if (window === undefined || window === state.window) return;
  Object.assign(state, { window, key: null, hour: null });
  showAll();
  rememberChoice();
}

function moveWindow(by) {
  const windows = windowsOf(itemOf(state.window));
  chooseWindow(windows[windows.indexOf(state.window) + by]);
}

function chooseStep(step, hour = state.hour) {
  const nearest = inside(0, step, numSteps - 1);
  if (nearest === state.step && hour === state.hour) return;
  if (nearest !== state.step) rememberChoice();
  Object.assign(state, { step: nearest, hour, key: hour === null ? null : Math.floor(hour / patch) });
  showMarks();
}

// A step of time further on; the axis follows where it ends before.
function chooseHour(by) {
  const hour = inside(0, state.hour === null ? numPast - 1 : state.hour + by, numPast - 1), [from, to] = state.view;
  if (hour < from || hour >= to) look(hour < from ? hour : hour + 1 - (to - from), to - from);
  chooseStep(state.step, hour);
}

// ---------------------------------------------------------------------------- the part of the axis that is looked at

const leastSpan = Math.min(axisEnd, Math.max(8, 2 * patch));

// From whole keys to whole keys, inside of what there is.
function look(from, span) {
  const whole = Math.min(Math.max(Math.ceil(span / patch) * patch, leastSpan), axisEnd);
  const start = inside(0, Math.floor(from / patch) * patch, axisEnd - whole);
  state.view = [start, start + whole];
  showAll();
}

// About the time that is pointed at, or the cut-off.
function zoom(factor) {
  const [from, to] = state.view, about = inside(from, state.hour ?? numPast, to);
  look(about - (about - from) * factor, (to - from) * factor);
}

// ---------------------------------------------------------------------------- one cut-off after the other

const calm = matchMedia("(prefers-reduced-motion: reduce)");
let playing = null;

function stop() {
  clearInterval(playing);
  playing = null;
  showPlaying();
}

function showPlaying() {
  byId("play").textContent = playing === null ? "▶" : "❚❚";
  byId("play").setAttribute("aria-pressed", String(playing !== null));
  byId("readout").setAttribute("aria-live", playing === null ? "polite" : "off"); // else a reader would never end
}

// To the last one, and from there from the first.
function play() {
  if (playing !== null) return stop();
  const windows = windowsOf(itemOf(state.window));
  if (state.window === windows[windows.length - 1]) chooseWindow(windows[0]);
  playing = setInterval(() => {
    moveWindow(1);
    if (state.window === windowsOf(itemOf(state.window)).pop()) stop();
  }, calm.matches ? 2500 : 900);
  return showPlaying();
}

const KEYS = {
  ArrowUp: () => chooseStep(state.step - 1),
  ArrowDown: () => chooseStep(state.step + 1),
  ArrowLeft: () => moveWindow(-1),
  ArrowRight: () => moveWindow(1),
  Home: () => chooseStep(0),
  End: () => chooseStep(numSteps - 1),
  Escape: () => chooseStep(state.step, null),
  ",": () => chooseHour(-1),
  ".": () => chooseHour(1),
  "+": () => zoom(0.5),
  "-": () => zoom(2),
  0: () => look(...WHOLE),
};

function onKey(event) {
  const action = KEYS[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}

function pointerOn(container, choose) {
  const pointOf = (event) => {
    const box = container.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const onPointer = (event) => fingers.size < 2 && choose(...pointOf(event));
  container.addEventListener("pointermove", onPointer);
  container.addEventListener("pointerdown", onPointer);
  // What a finger pointed at stays when it is lifted.
  container.addEventListener("pointerleave", (event) => event.pointerType === "touch" || chooseStep(state.step, null));
  const positionOf = (event) => seriesChart.layout().at(pointOf(event)[0]);
  brushOn(container, positionOf);
  pinchOn(container, (event) => pointOf(event)[0], positionOf);
}

const fingers = new Map();

// Two fingers stay on the times they were put on: apart they zoom in, side by side they move the axis.
function pinchOn(container, pixelOf, positionOf) {
  container.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, { position: positionOf(event), x: pixelOf(event) });
  });
  container.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.get(event.pointerId).x = pixelOf(event);
    const [one, other] = fingers.values(), { left, end } = seriesChart.layout();
    const unit = other === undefined ? 0 : (other.x - one.x) / (other.position - one.position);
    if (unit > 0) look(one.position - (one.x - left) / unit, (end - left) / unit);
  });
  for (const kind of ["pointerup", "pointercancel"]) container.addEventListener(kind, (event) => fingers.delete(event.pointerId));
}

// Dragging with the mouse looks at what lies between; a finger points, and scrolls the page.
function brushOn(container, positionOf) {
  let start = null;
  container.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button === 0) start = { position: positionOf(event), x: event.clientX };
  });
  container.addEventListener("pointermove", (event) => {
    byId("charts").classList.toggle("brushing", start !== null && event.buttons === 1);
    if (start === null || event.buttons !== 1) return;
    const layout = seriesChart.layout(), ends = [start.position, positionOf(event)].map((at) => inside(layout.left, layout.x(at), layout.end)).sort((one, other) => one - other);
    Object.assign(byId("brush").style, { left: `${ends[0]}px`, width: `${ends[1] - ends[0]}px` });
  });
  container.addEventListener("pointerup", (event) => {
    byId("charts").classList.remove("brushing");
    if (start !== null && Math.abs(event.clientX - start.x) > 8) {
      const [from, to] = [start.position, positionOf(event)].sort((one, other) => one - other);
      look(from, to - from);
    }
    start = null;
  });
  container.addEventListener("dblclick", () => look(...WHOLE));
  container.addEventListener("wheel", (event) => {
    const [from, to] = state.view;
    if (Math.abs(event.deltaX) <= Math.abs(event.deltaY) || to - from >= axisEnd) return;
    event.preventDefault();
    look(from + Math.sign(event.deltaX) * Math.max(patch, (to - from) / 20), to - from);
  }, { passive: false });
}

function listen() {
  byId("item").addEventListener("change", (event) => chooseWindow(windowsOf(Number(event.target.value))[0]));
  byId("cutoff").addEventListener("change", (event) => chooseWindow(Number(event.target.value)));
  byId("earlier").addEventListener("click", () => moveWindow(-1));
  byId("later").addEventListener("click", () => moveWindow(1));
  byId("step").addEventListener("input", (event) => chooseStep(Number(event.target.value)));
  byId("head").addEventListener("change", (event) => { state.head = Number(event.target.value); showAll(); rememberChoice(); });
  for (const slider of sliders) slider.addEventListener("keydown", onKey);
  const hourAt = (layout, x) => (placeAt(layout, x) === null ? null : Math.floor(layout.at(x)));
  pointerOn(byId("series"), (x) => chooseStep(stepAt(seriesChart.layout(), x) ?? state.step, hourAt(seriesChart.layout(), x)));
  pointerOn(byId("heatmap"), (x, y) => chooseStep(heatmap.rowAt(y), hourAt(heatmap.layout(), x)));
  byId("weights").addEventListener("change", (event) => { state.mean = event.target.value === "mean"; showAll(); });
  byId("covariate").addEventListener("change", (event) => { state.covariate = event.target.value === "" ? null : Number(event.target.value); showAll(); });
  byId("play").addEventListener("click", play);
  byId("closer").addEventListener("click", () => zoom(0.5));
  byId("wider").addEventListener("click", () => zoom(2));
  byId("whole").addEventListener("click", () => look(...WHOLE));
  byId("save").addEventListener("click", saveWindow);
  for (const id of ["step-details", "lag-details"]) byId(id).addEventListener("toggle", showTables);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
  thumb.addEventListener("change", () => { placeControls(); showAll(); });
  // Paper is white, whatever the screen is: the charts are drawn once more in the colours for it.
  const printing = (is) => () => { document.documentElement.toggleAttribute("data-printing", is); showAll(); };
  addEventListener("beforeprint", printing(true));
  addEventListener("afterprint", printing(false));
  let width = byId("series").clientWidth;
  new ResizeObserver(() => {
    if (byId("series").clientWidth === width) return;
    width = byId("series").clientWidth;
    showAll();
  }).observe(byId("series"));
}

const scaleWords = (id) => `colours: ${byId(id).innerText.replace(/\s+/g, " ").replace("weight 0", "weight 0 to")}`;

function saveWindow() {
  const words = Array.from(byId("readout").children, (line) => line.textContent);
  const about = document.querySelector("header p").textContent;
  savePicture([byId("series"), byId("heatmap")], byId("legend"), [about, `${windowName(state)}${headWords(", ")}; ${scaleWords("scale")}`, ...words], state.mean ? "attention-mean" : `attention-window-${state.window + 1}`);
}

function legendEntry(words) {
  const entry = make(byId("legend"), "li"), svg = draw(entry, "svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
  entry.append(words);
  return svg;
}

function fillLegend() {
  const lines = [["past", "series", past], ["forecast", page.forecastName, forecast], ["actual", "actual", actual], ["uniform", "equal weights", [1]], ["profile", "mean of all steps and windows", [1]]];
  for (const [kind, words, values] of lines) {
    if (values.some(Number.isFinite)) draw(legendEntry(words), "line", { class: kind, x1: 0, x2: 26, y1: 5, y2: 5 });
  }
  intervals.forEach(({ name }, at) => {
    const entry = legendEntry(`${name} interval`); // as dark as where it lies on the wider ones
    for (let under = 0; under <= at; under++) draw(entry, "rect", { class: "interval", width: 26, height: 10 });
  });
  const chosen = legendEntry("largest weights of the chosen step");
  draw(chosen, "rect", { class: "weight", x: 3, y: 2, width: 8, height: 8 });
  if (patch === 1) draw(chosen, "circle", { class: "point looked-at", cx: 19, cy: 5, r: 4 });
  else draw(chosen, "line", { class: "past patch looked-at", x1: 14, x2: 25, y1: 5, y2: 5 });
  if (past.some(Number.isFinite) && past.some(Number.isNaN)) draw(legendEntry("missing"), "rect", { class: "gap", width: 26, height: 10 });
}

// On a phone the charts come first, and the sentence and the choices below them: else the heat map would lie off the screen.
const thumb = matchMedia("(max-width: 600px)");

function placeControls() {
  const parts = [document.querySelector(".reading"), byId("controls")];
  if (thumb.matches) byId("readout").after(...parts);
  else byId("window-name").before(...parts);
}

function start() {
  placeControls();
  page.items.forEach((name, item) => make(byId("item"), "option", { value: item }, name));
  byId("step").max = numSteps - 1;
  if (numHeads > 1) {
    make(byId("head"), "option", { value: MEAN_OF_HEADS }, "mean of all");
    page.heads.forEach((head, index) => make(byId("head"), "option", { value: index }, `head ${head}`));
  } else byId("head-choice").hidden = true;
  make(byId("weights"), "option", { value: "window" }, "this window");
  make(byId("weights"), "option", { value: "mean" }, `mean of ${page.windowsInFile === 1 ? "the one window" : `all ${page.windowsInFile} windows`}`);
  covariates.forEach(({ name }, at) => make(byId("covariate"), "option", { value: at }, name));
  make(byId("covariate"), "option", { value: "" }, "none");
  byId("covariate-choice").hidden = !covariates.length;
  byId("item-choice").hidden = page.items.length === 1;
  make(byId("charts"), "div", { id: "brush" });
  readAddress();
  fillLegend();
  showAll();
  listen();
}

start();
