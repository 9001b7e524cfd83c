// The page: what is chosen, how it is changed, and what follows.

const byId = (id) => document.getElementById(id);
const state = { window: 0, head: MEAN_OF_HEADS, step: 0, place: null, rows: null, spread: null };
const seriesChart = makeSeriesChart(byId("series"));
const heatmap = makeHeatmap(byId("heatmap"), byId("scale"));
const meanMap = makeHeatmap(byId("mean"), byId("mean-scale"));
const sliders = [byId("series"), byId("heatmap")];

// ---------------------------------------------------------------------------- showing

function showAll() {
  state.rows = windowRows(state.window, state.head);
  state.spread = spreadOf(state.window, state.head);
  seriesChart.draw(state);
  heatmap.draw(state.rows, state.spread, pastOf(state.window));
  showMeans();
  showControls();
  showMarks();
}

function showMeans() {
  const rows = meanRows(state.head), spread = meanSpread(state.head);
  drawProfile(byId("profile"), profileOf(rows));
  meanMap.draw(rows, spread, null);
  byId("mean").setAttribute("aria-label", "Heat map of the mean weights by step and lag");
  const count = page.windowsInFile, effective = sum(spread.effective) / numSteps;
  byId("average-words").textContent = `Over ${count === 1 ? "the one window" : `all ${count} windows`} of the file${headWords(", ")}: ${effectiveWords(effective)} of ${lookback}.`;
}

const headWords = (before) => (numHeads === 1 ? "" : before + (state.head === MEAN_OF_HEADS ? `mean of ${numHeads} heads` : `head ${page.heads[state.head]}`));

function showMarks() {
  seriesChart.mark(state);
  heatmap.mark(state);
  meanMap.mark(state);
  showReadout();
  showMeanReadout();
  const step = page.steps[state.step], text = `${stepText(state.step)}, ${timeOfStep(state.window, state.step)}`;
  byId("step").value = state.step;
  byId("step").setAttribute("aria-valuetext", `step ${text}`);
  byId("step-text").textContent = text;
  for (const slider of sliders) {
    const values = { min: page.steps[0], max: horizon, now: step, text: `step ${text}` };
    for (const [name, value] of Object.entries(values)) slider.setAttribute(`aria-value${name}`, value);
  }
  showTables();
}

function showReadout() {
  const readout = byId("readout"), row = state.rows[state.step];
  readout.replaceChildren();
  const first = make(readout, "span"), values = [forecastOf(state.window), actualOf(state.window)].map((each) => valuesAt(each, state.step));
  make(first, "b", {}, `Step${patch === 1 ? "" : "s"} ${stepText(state.step)}, ${timeOfStep(state.window, state.step)}`);
  const words = [["forecast", values[0]], ["actual", values[1]]].filter(([, each]) => each.some(Number.isFinite));
  first.append(...words.map(([name, each]) => ` · ${name} ${rangeWords(each)}`), ` · ${effectiveWords(state.spread.effective[state.step])}${headWords(" · ")}`);
  const tops = topPlaces(row, 3), second = make(readout, "span", {}, tops.length ? "looks most at " : "looks at nothing");
  tops.forEach((place, at) => {
    if (at) second.append(", ");
    make(second, "span", { className: "together" }, `${timeOfKey(state.window, place)} (${lagName(place)}, ${share(row[place])})`);
  });
  if (state.place !== null) make(readout, "span", { id: "lag-readout" }, lagWords(state.place, row));
}

const lagName = (place) => `lag${patch === 1 ? "" : "s"} ${lagText(place)}`;

function lagWords(place, row) {
  const values = valuesAt(pastOf(state.window), place), lag = lagOf(place);
  const words = [lagName(place), timeOfKey(state.window, place), distanceOf(lag), `weight ${exactly(row[place])}`];
  if (values.some(Number.isFinite)) words.push(`${page.target ?? "value"} ${rangeWords(values)}`);
  return words.filter(Boolean).join(" · ");
}

// Beside the charts of the means: what they show at the lag that is pointed at.
function showMeanReadout() {
  const readout = byId("mean-readout"), rows = meanRows(state.head), { place, step } = state;
  if (place === null) {
    readout.textContent = "Point at a lag for its mean weight.";
    return;
  }
  const words = [lagName(place), distanceOf(lagOf(place)), `mean weight ${exactly(rows[step][place])} in ${stepName(step)}`];
  if (numSteps > 1) words.push(`${exactly(profileOf(rows)[place])} over all steps`);
  readout.textContent = words.filter(Boolean).join(" · ");
}

function showTables() {
  for (const [id, fill] of [["step-details", fillStepTable], ["lag-details", fillLagTable]]) {
    if (byId(id).open) fill(byId(id).querySelector(".scroll"), state);
  }
}

// ---------------------------------------------------------------------------- the address: #window=3&head=0&step=5

function readAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const placeOf = (name, places) => (wanted.has(name) ? places.indexOf(Number(wanted.get(name))) : -1);
  state.window = Math.max(placeOf("window", page.windows.map((_, window) => window + 1)), 0);
  state.step = Math.max(placeOf("step", page.steps), 0);
  if (numHeads > 1) state.head = placeOf("head", page.heads);
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
  byId("item").value = item;
  byId("head").value = state.head;
  const cutoff = byId("cutoff");
  cutoff.replaceChildren();
  for (const window of windows) make(cutoff, "option", { value: window }, cutoffOf(window));
  cutoff.value = state.window;
  byId("earlier").disabled = at === 0;
  byId("later").disabled = at === windows.length - 1;
}

function chooseWindow(window) {
  if (window === undefined || window === state.window) return;
  Object.assign(state, { window, place: null });
  showAll();
  rememberChoice();
}

function moveWindow(by) {
  const windows = windowsOf(itemOf(state.window));
  chooseWindow(windows[windows.indexOf(state.window) + by]);
}

function chooseStep(step, place = state.place) {
  const inside = Math.min(Math.max(step, 0), numSteps - 1);
  if (inside === state.step && place === state.place) return;
  if (inside !== state.step) rememberChoice();
  Object.assign(state, { step: inside, place });
  showMarks();
}

const KEYS = {
  ArrowUp: () => chooseStep(state.step - 1),
  ArrowDown: () => chooseStep(state.step + 1),
  ArrowLeft: () => moveWindow(-1),
  ArrowRight: () => moveWindow(1),
  Home: () => chooseStep(0),
  End: () => chooseStep(numSteps - 1),
  Escape: () => chooseStep(state.step, null),
};

function onKey(event) {
  const action = KEYS[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}

function pointerOn(container, choose) {
  const onPointer = (event) => {
    const box = container.getBoundingClientRect();
    choose(event.clientX - box.left, event.clientY - box.top);
  };
  container.addEventListener("pointermove", onPointer);
  container.addEventListener("pointerdown", onPointer);
  container.addEventListener("pointerleave", () => chooseStep(state.step, null));
}

function listen() {
  byId("item").addEventListener("change", (event) => chooseWindow(windowsOf(Number(event.target.value))[0]));
  byId("cutoff").addEventListener("change", (event) => chooseWindow(Number(event.target.value)));
  byId("earlier").addEventListener("click", () => moveWindow(-1));
  byId("later").addEventListener("click", () => moveWindow(1));
  byId("step").addEventListener("input", (event) => chooseStep(Number(event.target.value)));
  byId("head").addEventListener("change", (event) => { state.head = Number(event.target.value); showAll(); rememberChoice(); });
  for (const slider of sliders) slider.addEventListener("keydown", onKey);
  pointerOn(byId("series"), (x) => chooseStep(stepAt(seriesChart.layout(), x) ?? state.step, placeAt(seriesChart.layout(), x)));
  for (const [id, map] of [["heatmap", heatmap], ["mean", meanMap]]) {
    pointerOn(byId(id), (x, y) => chooseStep(map.rowAt(y), placeAt(map.layout(), x)));
  }
  pointerOn(byId("profile"), (x) => chooseStep(state.step, placeAt(layoutOf(byId("profile")), x)));
  byId("save").addEventListener("click", saveWindow);
  byId("save-means").addEventListener("click", saveMeans);
  for (const id of ["step-details", "lag-details"]) byId(id).addEventListener("toggle", showTables);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
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
  savePicture([byId("series"), byId("heatmap")], [`${windowName(state)}${headWords(", ")}; ${scaleWords("scale")}`, ...words], `attention-window-${state.window + 1}`);
}

function saveMeans() {
  savePicture([byId("profile"), byId("mean")], [`${document.title}; ${scaleWords("mean-scale")}`, byId("average-words").textContent], "attention-mean");
}

function legendEntry(words) {
  const entry = make(byId("legend"), "li"), svg = draw(entry, "svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
  entry.append(words);
  return svg;
}

function fillLegend() {
  const lines = [["past", "series", past], ["forecast", "forecast", forecast], ["actual", "actual", actual], ["uniform", "uniform weights", [1]]];
  for (const [kind, words, values] of lines) {
    if (values.some(Number.isFinite)) draw(legendEntry(words), "line", { class: kind, x1: 0, x2: 26, y1: 5, y2: 5 });
  }
  const chosen = legendEntry("weight of the chosen step, and its three largest on the series");
  draw(chosen, "rect", { class: "weight", x: 3, y: 2, width: 8, height: 8 });
  if (patch === 1) draw(chosen, "circle", { class: "point looked-at", cx: 19, cy: 5, r: 4 });
  else draw(chosen, "line", { class: "past patch looked-at", x1: 14, x2: 25, y1: 5, y2: 5 });
  if (past.some(Number.isFinite) && past.some(Number.isNaN)) draw(legendEntry("missing"), "rect", { class: "gap", width: 26, height: 10 });
}

function start() {
  page.items.forEach((name, item) => make(byId("item"), "option", { value: item }, name));
  byId("step").max = numSteps - 1;
  if (numHeads > 1) {
    make(byId("head"), "option", { value: MEAN_OF_HEADS }, "mean of all");
    page.heads.forEach((head, place) => make(byId("head"), "option", { value: place }, `head ${head}`));
  } else byId("head-choice").hidden = true;
  readAddress();
  fillLegend();
  showAll();
  listen();
}

start();
