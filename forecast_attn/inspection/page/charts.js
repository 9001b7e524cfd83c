// The two charts of a window, on one axis of time. Each has draw (window, head, view, width or theme changed) and mark
// (step or key changed), and shares what is chosen.

const WEIGHTS_HEIGHT = 58, COVARIATE_HEIGHT = 44, AXIS_HEIGHT = 38, BELOW_MAP = 40, ARCS = 5;
const TITLES = 20 + 22 + 18; // the lines above the values, the weights and the heat map
const WORDS_HEIGHT = 116, PAPER = { height: 980, words: 190 }; // the lines below the slider and the scale, on screen and paper

// Pixels of each part of the charts, so that they stay on one screen or sheet with the slider and the words. Where the
// sentence above is long or the screen is low, the values give way first, then the words below the slider, and then all
// parts alike.
function heightsOf({ narrow }, covariate) {
  const printing = document.documentElement.hasAttribute("data-printing"), least = narrow || printing ? 90 : 150;
  const row = inside(3, Math.round((narrow ? 170 : 190) / numSteps), 22), along = covariate === null ? 4 : 14 + COVARIATE_HEIGHT;
  const others = along + WEIGHTS_HEIGHT + mapHeight(row), needed = least + others;
  const above = byId("charts").getBoundingClientRect().top + scrollY + TITLES + AXIS_HEIGHT + BELOW_MAP;
  const slider = innerHeight - above - 8 - document.querySelector(".bar").offsetHeight;
  const room = printing ? PAPER.height - PAPER.words - above : Math.max(slider - WORDS_HEIGHT, Math.min(slider, needed));
  const part = inside(0.5, (room - least) / others, 1);
  const heights = { along: along * part, weights: WEIGHTS_HEIGHT * part, row: part < 1 ? Math.max(Math.floor(row * part), 3) : row };
  const values = inside(0.65 * least, room - heights.along - heights.weights - mapHeight(heights.row), 330);
  return { ...heights, values };
}

const strengthOf = (part) => (0.25 + 0.6 * part).toFixed(2); // of an arc and where it ends
const mapHeight = (row) => Math.max(row * numSteps, 40);

// ---------------------------------------------------------------------------- the series, what goes with it, and the weights

function makeSeriesChart(container) {
  let parts = null;

  function drawAll(state) {
    const layout = layoutOf(container, state.view), { covariate } = state, heights = heightsOf(layout, covariate);
    const low = 20 + heights.values, along = low + heights.along;
    const areas = { top: 20, low, beside: low + Math.min(14, heights.along), along, barTop: along + 22, base: along + 22 + heights.weights };
    const svg = clearSvg(container, areas.base + AXIS_HEIGHT);
    parts = { layout, svg, areas, bars: [], shades: [] };
    drawCalendar(state);
    parts.y = scaleOf(state);
    [parts.grid, parts.axis] = [draw(svg, "g"), draw(svg, "g")]; // behind the lines
    const inner = clipped(svg, "clip-series", layout, 0, areas.base);
    parts.shadesGroup = draw(inner, "g");
    drawGaps(inner, layout, areas, pastOf(state.window));
    drawValues(inner, state);
    if (covariate !== null) drawCovariate(inner, state);
    drawBars(inner, state);
    parts.marks = draw(inner, "g");
    drawCutoff(svg);
    mark(state);
  }

  function drawCalendar(state) {
    const { svg, layout, areas } = parts;
    draw(svg, "line", { class: "axis", x1: layout.left, x2: layout.end, y1: areas.base, y2: areas.base });
    for (const { position, label } of calendar(layout, state.window)) {
      const x = layout.x(position);
      draw(svg, "line", { class: "grid", x1: x, x2: x, y1: areas.top, y2: areas.base + 5 });
      if (x > layout.left + 12) draw(svg, "text", { x, y: areas.base + 17, "text-anchor": "middle" }, label);
    }
    drawDays(calendar(layout, state.window).filter(({ above }) => above));
  }

  // What labels have in common, from where it begins; the first may have begun before the axis, and gives way to the
  // second. A year stands once, and only where there is room for it.
  function drawDays(begun) {
    const { svg, layout, areas } = parts, wide = (words) => 6.4 * words.length + 12;
    let free = -Infinity, year = null;
    begun.forEach(({ position, above }, at) => {
      const x = layout.x(position), next = at + 1 < begun.length ? layout.x(begun[at + 1].position) : Infinity;
      const short = above.replace(/ \d{4}$/, ""), words = above.slice(-4) === year || x + wide(above) > next ? short : above;
      if (x < free || (at === 0 && x + wide(words) > next)) return;
      const start = Math.max(Math.min(x, layout.width - wide(words) + 12), layout.left - 10);
      draw(svg, "text", { class: "above", x: start, y: areas.base + 32 }, words);
      free = start + wide(words);
      if (words !== short) year = above.slice(-4);
    });
  }

  function drawCutoff(svg) {
    const { layout, areas } = parts;
    if (layout.split < layout.left || layout.split > layout.end) return;
    draw(svg, "line", { class: "cutoff", x1: layout.split, x2: layout.split, y1: 4, y2: areas.base });
    draw(svg, "text", { x: layout.split - 5, y: 12, "text-anchor": "end" }, "cut-off");
    draw(svg, "text", { x: layout.split + 5, y: 12 }, "ahead");
  }

  // A scale for the values between which this is; with some room.
  function levels(values, top, bottom) {
    const known = values.filter(Number.isFinite);
    if (!known.length) return null;
    const low = known.reduce((least, value) => Math.min(least, value)), high = largest(known), room = (high - low || Math.abs(high) || 1) * 0.06;
    return Object.assign(linear(low - room, high + room, bottom, top), { low, high });
  }

  // The intervals count too, as far as they do not press the lines flat.
  function scaleOf(state) {
    const { areas, layout } = parts, seen = (at) => inside(layout.from - 1, positionOf(at), layout.to) === positionOf(at);
    const lines = [...pastOf(state.window), ...forecastOf(state.window)].filter((_, at) => seen(at));
    const came = Array.from(actualOf(state.window)).filter((_, at) => seen(numPast + at));
    const known = [...lines, ...came].filter(Number.isFinite), spread = known.length ? largest(known) - known.reduce((least, value) => Math.min(least, value)) : 0;
    const edges = intervals.flatMap(({ lower, upper }) => [...aheadOf(lower, state.window), ...aheadOf(upper, state.window)]);
    const near = edges.filter((value) => known.length && value > known.reduce((least, each) => Math.min(least, each)) - spread && value < largest(known) + spread);
    return levels([...known, ...near], areas.top + 4, areas.low);
  }

  function drawValues(inner, state) {
    const { svg, layout, areas, y } = parts;
    draw(svg, "text", { class: "title", x: 2, y: 12 }, page.target ?? "value");
    if (y === null) {
      draw(svg, "text", { x: (layout.left + layout.end) / 2, y: (areas.top + areas.low) / 2, "text-anchor": "middle" }, isBare(state.window) ? "the values of this series are not on this page" : "the series of this window is not known");
      return;
    }
    for (const tick of ticksBetween(y.low, y.high, 4)) drawLevel(parts.grid, layout, y(tick), short(tick));
    const pastValues = pastOf(state.window), last = [xOfValue(layout, numPast - 1), y(pastValues[numPast - 1])];
    const ahead = (values) => Array.from(values, (value, at) => [xOfValue(layout, numPast + at), y(value)]);
    for (const { lower, upper } of intervals) draw(inner, "path", { class: "interval", d: bandOf(ahead(aheadOf(upper, state.window)), ahead(aheadOf(lower, state.window)), layout.unit / 2) });
    draw(inner, "path", { class: "past", d: pathOf(Array.from(pastValues, (value, at) => [xOfValue(layout, at), y(value)])) });
    draw(inner, "path", { class: "actual", d: pathOf([last, ...ahead(actualOf(state.window))]) });
    draw(inner, "path", { class: "forecast", d: pathOf(ahead(forecastOf(state.window))) });
    if (numAhead === 1) ahead(forecastOf(state.window)).forEach(([x, at]) => draw(inner, "circle", { class: "point forecast-point", cx: x, cy: at, r: 3 }));
  }

  function drawCovariate(inner, state) {
    const { svg, layout, areas } = parts, values = covariateOf(covariates[state.covariate], state.window);
    const y = levels(Array.from(values), areas.beside, areas.along);
    draw(svg, "text", { class: "title on-line", x: layout.left + 2, y: areas.beside + 4 }, `${covariates[state.covariate].name}${y === null ? ": not on this page" : ""}`);
    if (y === null) return;
    const decimals = 10 ** inside(0, 1 - Math.floor(Math.log10(y.high - y.low)), 15); // two digits of what lies between
    for (const value of new Set([y.low, y.high])) draw(svg, "text", { x: layout.left - 5, y: y(value) + 4, "text-anchor": "end" }, short(y.high > y.low ? Math.round(value * decimals) / decimals : value));
    draw(inner, "path", { class: "covariate", d: pathOf(Array.from(values, (value, at) => [xOfValue(layout, at), y(value)])) });
  }

  function drawBars(inner, state) {
    const { svg, layout, areas } = parts, width = Math.max(layout.cell * (lookback > 60 ? 1 : 0.8), 0.5);
    draw(svg, "text", { class: "title", x: 2, y: areas.barTop - 6 }, isMean() ? "mean weight" : "weight");
    const bars = draw(inner, "g");
    for (let key = 0; key < lookback; key++) {
      const x = xOf(layout, key);
      parts.shades.push(draw(parts.shadesGroup, "rect", { class: "shade", x: x - layout.cell / 2, width: layout.cell, y: areas.top, height: areas.along - areas.top }));
      parts.bars.push(draw(bars, "rect", { class: "weight", x: x - width / 2, width, "data-lag": lagOf(key) }));
    }
    parts.profile = draw(bars, "path", { class: "profile" });
    parts.uniform = draw(inner, "line", { class: "uniform", x1: layout.x(0), x2: layout.split });
  }

  function mark(state) {
    const { layout, areas, marks, axis } = parts, row = state.rows[state.step];
    const most = Math.max(largest(row), largest(state.profile)) || 1, y = linear(0, most, areas.base, areas.barTop), strongest = largest(row) || 1;
    // Weights that are nearly equal look nowhere: bands and arcs are as strong as the largest weight stands out.
    const standsOut = lookback > 1 ? inside(0.1, strongest * lookback - 1, 1) : 1;
    row.forEach((weight, key) => {
      parts.bars[key].setAttribute("y", y(weight));
      parts.bars[key].setAttribute("height", areas.base - y(weight));
      parts.shades[key].setAttribute("opacity", (0.34 * standsOut * weight) / strongest);
    });
    parts.profile.setAttribute("d", stairs(state.profile, layout, y));
    axis.replaceChildren();
    for (const tick of ticksBetween(0, most, 2)) drawLevel(axis, layout, y(tick), `${number(100 * tick, 3)}\u00a0%`, layout.split);
    for (const end of ["y1", "y2"]) parts.uniform.setAttribute(end, y(Math.min(1 / lookback, most)));
    marks.replaceChildren();
    markTarget(state);
    const tops = topKeys(row, ARCS);
    const furthest = [...tops].sort((one, other) => one - other);
    tops.forEach((key) => drawArc(key, (standsOut * row[key]) / strongest, furthest.indexOf(key), state));
    tops.slice(0, 3).forEach((key) => markKey(key, (standsOut * row[key]) / strongest, state));
    if (state.key !== null) markPointed(state);
  }

  function markTarget(state) {
    const { layout, areas, marks, y } = parts, values = valuesAt(forecastOf(state.window), state.step);
    const x = xAhead(layout, state.step), [first] = values;
    if (patch === 1) draw(marks, "line", { class: "target", x1: x, x2: x, y1: areas.top, y2: areas.base });
    else draw(marks, "rect", { class: "target-patch", x: x - layout.cell / 2, width: layout.cell, y: areas.top, height: areas.base - areas.top });
    if (y === null || !values.some(Number.isFinite)) return;
    if (patch === 1) draw(marks, "circle", { class: "point forecast-point", cx: x, cy: y(first), r: 5 });
    else draw(marks, "path", { class: "forecast patch", d: linePart(values, numPast + state.step * patch) });
  }

  const linePart = (values, from) => pathOf(values.map((value, at) => [xOfValue(parts.layout, from + at), parts.y(value)]));

  // The middle of what is known at a key or a step, for an arc to end at; the foot of the values where nothing is.
  function middle(values) {
    const known = values.filter(Number.isFinite);
    return parts.y === null || !known.length ? parts.areas.low : parts.y(known.reduce((total, value) => total + value, 0) / known.length);
  }

  // From the step that is forecast to what it looks at; the more weight, the wider. The furthest one is the highest.
  function drawArc(key, strength, below, state) {
    const { layout, areas, marks } = parts, from = xAhead(layout, state.step), to = xOf(layout, key);
    const start = middle(valuesAt(forecastOf(state.window), state.step)), end = middle(valuesAt(pastOf(state.window), key));
    const top = Math.max(Math.min(start, end) - Math.min(Math.abs(from - to) * 0.35, 24 + (66 * Math.abs(from - to)) / layout.width), areas.top - 14 + 9 * below);
    draw(marks, "path", { class: "arc", "data-lag": lagOf(key), "stroke-width": (0.8 + 3.2 * strength).toFixed(2), opacity: strengthOf(strength), d: `M${from} ${start}C${from} ${top} ${to} ${top} ${to} ${end}` });
  }

  function markKey(key, strength, state) {
    const opacity = strengthOf(strength);
    const { layout, marks, y } = parts, values = valuesAt(pastOf(state.window), key);
    if (y === null || !values.some(Number.isFinite)) return;
    if (patch > 1) draw(marks, "path", { class: "past patch looked-at", opacity, d: linePart(values, key * patch) });
    else draw(marks, "circle", { class: "point looked-at", opacity, cx: xOf(layout, key), cy: y(values[0]), r: 4.5 });
  }

  // Where one points: the hour, though a weight belongs to a patch of several.
  function markPointed(state) {
    const { layout, areas, marks, y } = parts, x = layout.x(state.hour + 0.5), value = pastOf(state.window)[state.hour];
    draw(marks, "line", { class: "cross", x1: x, x2: x, y1: areas.top, y2: areas.base });
    if (patch > 1) draw(marks, "rect", { class: "pointed", x: xOf(layout, state.key) - layout.cell / 2, width: layout.cell, y: areas.top, height: areas.base - areas.top });
    if (y !== null && Number.isFinite(value)) draw(marks, "circle", { class: "point pointed-at", cx: x, cy: y(value), r: 4 });
  }

  return { draw: drawAll, mark, layout: () => parts.layout, areas: () => parts.areas };
}

function drawGaps(parent, layout, areas, values) {
  if (!values.some(Number.isFinite)) return;
  values.forEach((value, at) => {
    if (Number.isNaN(value)) draw(parent, "rect", { class: "gap", x: layout.x(at), width: layout.unit, y: areas.top, height: (areas.along ?? areas.base) - areas.top });
  });
}

function drawLevel(parent, layout, y, label, end = layout.end) {
  draw(parent, "line", { class: "grid", x1: layout.left, x2: Math.max(end, layout.left), y1: y, y2: y });
  draw(parent, "text", { x: layout.left - 5, y: y + 4, "text-anchor": "end" }, label);
}

// ---------------------------------------------------------------------------- the weights of all steps

const LAG_ROOM = patch === 1 ? 38 : 66; // pixels a lag's label needs

// Whole seasons before the target are dotted where the lines would not cover the map.
const marksSeasons = (layout) => page.season > 1 && numSteps > 1 && page.season * layout.cell >= 14;

function makeHeatmap(container, scale) {
  let parts = null;

  function drawAll(state) {
    const layout = layoutOf(container, state.view), { rows, spread } = state;
    const map = { top: 18, height: mapHeight(heightsOf(layout, state.covariate).row) };
    const svg = clearSvg(container, map.top + map.height + BELOW_MAP);
    map.row = map.height / numSteps;
    map.base = map.top + map.height;
    parts = { layout, svg, map, darkest: Math.max(...rows.map(largest), page.leastDarkest), bars: [] };
    drawCells(rows);
    const inner = clipped(svg, "clip-map", layout, 0, map.base + 2);
    drawTargets(inner);
    if (marksSeasons(layout)) drawSeasons(inner);
    if (!isMean()) drawGaps(inner, layout, map, pastOf(state.window));
    drawAxes();
    drawSpread(spread.effective);
    drawScale(scale, parts.darkest);
    parts.marks = draw(inner, "g");
    mark(state);
  }

  // The cells that are looked at, in a box that ends where the axis does.
  function drawCells(rows) {
    const { layout, map, darkest } = parts, tall = map.base + BELOW_MAP, from = Math.max(layout.x(0), layout.left);
    const canvas = container.querySelector("canvas") ?? container.insertBefore(document.createElement("canvas"), container.firstChild);
    const first = inside(0, Math.floor(layout.from / patch), lookback - 1), last = inside(first + 1, Math.ceil(layout.to / patch), lookback);
    // In parts of the chart: on paper it is narrower than on the screen, and the cells must stay under their lags.
    const part = (size, whole) => `${(100 * size) / whole}%`, x = (key) => inside(from, layout.x(key * patch), layout.end);
    Object.assign(canvas.style, { left: part(x(first), layout.width), width: part(x(last) - x(first), layout.width), top: part(map.top, tall), height: part(map.height, tall) });
    canvas.style.imageRendering = layout.cell * devicePixelRatio < 1 ? "auto" : "pixelated"; // what is too fine is averaged
    Object.assign(canvas, { width: last - first, height: numSteps, hidden: layout.split <= layout.left });
    const context = canvas.getContext("2d"), image = context.createImageData(last - first, numSteps), palette = paletteOf();
    rows.forEach((row, step) => row.subarray(first, last).forEach((weight, key) => {
      image.data.set([...colourOf(palette, weight, darkest), 255], 4 * (step * (last - first) + key));
    }));
    context.putImageData(image, 0, 0);
  }

  // Each row ends at the time it forecasts.
  function drawTargets(inner) {
    const { layout, map } = parts;
    draw(inner, "rect", { class: "ahead", x: layout.split, width: Math.max(layout.end - layout.split, 0), y: map.top, height: map.height });
    parts.targets = page.steps.map((_, at) => draw(inner, "rect", { class: "own", x: xAhead(layout, at) - layout.cell / 2, width: layout.cell, y: map.top + at * map.row, height: map.row }));
  }

  function drawSeasons(inner) {
    const { layout, map } = parts, x = (lag) => xOf(layout, lookback - 1 - lag);
    for (let back = page.season; back < lookback + horizon; back += page.season) {
      const line = page.steps.map((step, at) => [back - step, map.top + (at + 0.5) * map.row]).filter(([lag]) => lag >= 0 && lag < lookback);
      if (line.length) draw(inner, "polyline", { class: "season", fill: "none", points: line.map(([lag, y]) => `${x(lag)},${y}`).join(" ") });
    }
  }

  function drawAxes() {
    const { layout, map, svg } = parts;
    draw(svg, "text", { class: "title", x: 2, y: 11 }, isMeanOfSeries() ? "step: the mean of the series in each" : "step");
    const spacing = [1, 2, 3, 4, 6, 12, 24, 48, 96, 200, 1000].find((each) => each * map.row >= 20) ?? 5000;
    page.steps.forEach((step, at) => {
      const crowds = at > 0 && step - page.steps[0] < spacing / 2;
      if (at === 0 || (step % spacing === 0 && !crowds)) draw(svg, "text", { x: layout.left - 5, y: map.top + (at + 0.5) * map.row + 4, "text-anchor": "end" }, stepText(at));
    });
    for (const lag of lagTicks(layout, LAG_ROOM)) {
      const x = xOf(layout, lookback - 1 - lag);
      draw(svg, "line", { class: "axis", x1: x, x2: x, y1: map.base, y2: map.base + 5 });
      draw(svg, "text", { x, y: map.base + 17, "text-anchor": "middle" }, lagText(lookback - 1 - lag));
    }
    const seasons = marksSeasons(layout) ? `; dotted: ${layout.narrow ? "" : "whole "}seasons before the target` : "";
    draw(svg, "text", { x: layout.left, y: map.base + 33 }, layout.narrow ? `lag${seasons}` : `lag: steps before the cut-off${patch === 1 ? "" : `, in patches of ${patch}`}${seasons}; blue: the step itself`);
  }

  function drawSpread(effective) {
    const { layout, map, svg } = parts, most = Math.max(...effective.filter(Number.isFinite), 1), start = layout.end + 10;
    if (!effective.some(Number.isFinite)) return;
    draw(svg, "text", { class: "title", x: layout.width - 2, y: 11, "text-anchor": "end" }, `${layout.narrow ? "eff." : "effective"} ${layout.narrow ? "" : KEYS_NAME}`);
    effective.forEach((value, at) => {
      const width = Number.isFinite(value) ? ((layout.width - 2 - start) * value) / most : 0;
      parts.bars.push(draw(svg, "rect", { class: "effective", x: start, width, y: map.top + at * map.row + 0.5, height: Math.max(map.row - 1, 1) }));
    });
    draw(svg, "text", { x: layout.width - 2, y: map.base + 17, "text-anchor": "end" }, number(most, 3));
  }

  function mark(state) {
    const { layout, map, marks } = parts, y = map.top + state.step * map.row;
    for (const drawn of [parts.bars, parts.targets]) drawn.forEach((each, at) => each.classList.toggle("chosen", at === state.step));
    marks.replaceChildren();
    draw(marks, "rect", { class: "chosen-row", x: layout.x(0) - 1, width: layout.split - layout.x(0) + 2, y: y - 1, height: map.row + 2 });
    if (state.key !== null) draw(marks, "line", { class: "cross", x1: layout.x(state.hour + 0.5), x2: layout.x(state.hour + 0.5), y1: map.top, y2: map.base });
  }

  const rowAt = (y) => inside(0, Math.floor((y - parts.map.top) / parts.map.row), numSteps - 1);

  return { draw: drawAll, mark, rowAt, layout: () => parts.layout };
}
