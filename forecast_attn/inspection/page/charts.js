// The four charts. Each has draw (window, head, width or theme changed) and mark (step or lag changed).

// ---------------------------------------------------------------------------- the series, and the weights below it

function makeSeriesChart(container) {
  let parts = null;

  function drawAll(state) {
    const layout = layoutOf(container), height = layout.narrow ? 300 : 380;
    const svg = clearSvg(container, height);
    const areas = { top: 18, low: height * 0.56, barTop: height * 0.64, base: height - 40 };
    parts = { layout, svg, areas, shades: [], bars: [] };
    drawValues(svg, layout, areas, state);
    drawTimes(svg, layout, areas, state);
    drawBars();
    parts.marks = draw(svg, "g");
    mark(state);
  }

  function drawBars() {
    const { svg, layout, areas } = parts, width = Math.max(layout.cell * (lookback > 60 ? 1 : 0.8), 0.5);
    const shades = draw(svg, "g");
    svg.insertBefore(shades, svg.querySelector(".values"));
    parts.axis = draw(svg, "g");
    const bars = draw(svg, "g");
    for (let place = 0; place < lookback; place++) {
      const x = xOf(layout, place);
      parts.shades.push(draw(shades, "rect", { class: "shade", x: x - layout.cell / 2, width: layout.cell, y: areas.top, height: areas.barTop - areas.top }));
      parts.bars.push(draw(bars, "rect", { class: "weight", x: x - width / 2, width, "data-lag": lagOf(place) }));
    }
    parts.uniform = draw(svg, "line", { class: "uniform", x1: layout.left, x2: layout.split });
  }

  function mark(state) {
    const { layout, areas, marks, axis } = parts, row = state.rows[state.step];
    const most = largest(row) || 1, y = linear(0, most, areas.base, areas.barTop);
    row.forEach((weight, place) => {
      parts.bars[place].setAttribute("y", y(weight));
      parts.bars[place].setAttribute("height", areas.base - y(weight));
      parts.shades[place].setAttribute("opacity", (0.32 * weight) / most);
    });
    axis.replaceChildren();
    for (const tick of ticksBetween(0, most, 2)) drawLevel(axis, layout, y(tick), share(tick));
    for (const end of ["y1", "y2"]) parts.uniform.setAttribute(end, y(Math.min(1 / lookback, most)));
    marks.replaceChildren();
    markTarget(marks, layout, areas, state);
    for (const place of topPlaces(row, 3)) markPlace(marks, place, state);
    if (state.place !== null) cross(marks, xOf(layout, state.place), areas.top, areas.base);
  }

  function markTarget(marks, layout, areas, state) {
    if (patch > 1) return markTargetPatch(marks, layout, areas, state);
    const x = xAhead(layout, state.step), value = forecastOf(state.window)[state.step];
    draw(marks, "line", { class: "target", x1: x, x2: x, y1: areas.top, y2: areas.base });
    if (Number.isFinite(value)) draw(marks, "circle", { class: "point forecast-point", cx: x, cy: parts.y(value), r: 5 });
  }

  // The time steps of a patch are chosen, and looked at, together.
  function markTargetPatch(marks, layout, areas, state) {
    const from = xAhead(layout, state.step) - layout.cellAhead / 2;
    draw(marks, "rect", { class: "target-patch", x: from, width: layout.cellAhead, y: areas.top, height: areas.base - areas.top });
    const values = valuesAt(forecastOf(state.window), state.step);
    draw(marks, "path", { class: "forecast patch", d: pathOf(values.map((value, at) => [xAheadTime(layout, state.step * patch + at), parts.y(value)])) });
  }

  function markPlace(marks, place, state) {
    if (patch > 1) {
      const values = valuesAt(pastOf(state.window), place);
      draw(marks, "path", { class: "past patch looked-at", d: pathOf(values.map((value, at) => [xOfTime(parts.layout, place * patch + at), parts.y(value)])) });
      return;
    }
    const value = pastOf(state.window)[place];
    if (Number.isFinite(value)) draw(marks, "circle", { class: "point looked-at", cx: xOf(parts.layout, place), cy: parts.y(value), r: 4.5 });
  }

  function drawValues(svg, layout, areas, state) {
    const series = [pastOf(state.window), forecastOf(state.window), actualOf(state.window)];
    const known = series.flatMap((values) => Array.from(values)).filter(Number.isFinite);
    const low = Math.min(...known), high = Math.max(...known), room = (high - low || Math.abs(high) || 1) * 0.06;
    parts.y = linear(low - room, high + room, areas.low, areas.top);
    const group = draw(svg, "g", { class: "values" });
    draw(svg, "text", { class: "title", x: 2, y: 11 }, page.target ?? "value");
    draw(svg, "text", { class: "title", x: 2, y: areas.barTop - 9 }, "weight");
    drawGaps(group, layout, areas, series[0]);
    if (!known.length) {
      draw(group, "text", { x: layout.left + layout.back / 2, y: (areas.top + areas.low) / 2, "text-anchor": "middle" }, "the series of this window is not known");
      return;
    }
    for (const tick of ticksBetween(low, high, 4)) drawLevel(group, layout, parts.y(tick), short(tick), layout.end);
    drawLines(group, layout, series);
  }

  function drawLines(group, layout, [past, forecast, actual]) {
    const last = [xOfTime(layout, past.length - 1), parts.y(past[past.length - 1])];
    const ahead = (values) => Array.from(values, (value, at) => [xAheadTime(layout, at), parts.y(value)]);
    draw(group, "path", { class: "past", d: pathOf(Array.from(past, (value, at) => [xOfTime(layout, at), parts.y(value)])) });
    draw(group, "path", { class: "actual", d: pathOf([last, ...ahead(actual)]) });
    draw(group, "path", { class: "forecast", d: pathOf(ahead(forecast)) });
  }

  function drawGaps(group, layout, areas, values) {
    if (!values.some(Number.isFinite)) return;
    const cell = layout.cell / patch;
    values.forEach((value, at) => {
      if (Number.isNaN(value)) draw(group, "rect", { class: "gap", x: xOfTime(layout, at) - cell / 2, width: cell, y: areas.top, height: areas.base - areas.top });
    });
  }

  return { draw: drawAll, mark, layout: () => parts.layout };
}

function drawTimes(svg, layout, areas, state) {
  const cut = layout.split + 3;
  draw(svg, "line", { class: "axis", x1: layout.left, x2: layout.end, y1: areas.base, y2: areas.base });
  draw(svg, "line", { class: "cutoff", x1: cut, x2: cut, y1: 4, y2: areas.base });
  draw(svg, "text", { x: cut - 5, y: 11, "text-anchor": "end" }, "cut-off");
  draw(svg, "text", { x: cut + 5, y: 11 }, layout.stretch > 1.3 && !layout.narrow ? `ahead (drawn ${number(layout.stretch)}× wider)` : "ahead");
  for (const lag of lagTicks(layout, 78)) {
    if (lag > 0 && lag * layout.cell < 112) continue; // the label at the cut-off ends there and needs the room
    // Of a patch its first time step is labelled, but at the cut-off the last.
    const at = lag === 0 ? lookback * patch - 1 : (lookback - 1 - lag) * patch;
    const [day, clock] = partsOfTime(timeOf(state.window, at));
    timeLabel(svg, xOfTime(layout, at), areas.base, day, clock, lag === 0 ? "end" : "middle");
  }
  if (layout.ahead < 150) return;
  const [day, clock] = partsOfTime(timeOf(state.window, lookback * patch + numTargets - 1));
  timeLabel(svg, xAheadTime(layout, numTargets - 1), areas.base, day, clock, "end");
}

function timeLabel(svg, x, base, day, clock, anchor) {
  draw(svg, "line", { class: "axis", x1: x, x2: x, y1: base, y2: base + 5 });
  draw(svg, "text", { x: anchor === "end" ? x + 4 : x, y: base + 17, "text-anchor": anchor }, day);
  draw(svg, "text", { x: anchor === "end" ? x + 4 : x, y: base + 31, "text-anchor": anchor }, clock);
}

function drawLevel(parent, layout, y, label, end = layout.split) {
  draw(parent, "line", { class: "grid", x1: layout.left, x2: end, y1: y, y2: y });
  draw(parent, "text", { x: layout.left - 5, y: y + 4, "text-anchor": "end" }, label);
}

function cross(parent, x, top, bottom) {
  draw(parent, "line", { class: "cross", x1: x, x2: x, y1: top, y2: bottom });
}

// ---------------------------------------------------------------------------- step × lag

const LAG_ROOM = patch === 1 ? 38 : 66; // pixels a lag's label needs

// Whole seasons before the target are dotted where the lines would not cover the map.
const marksSeasons = (layout) => page.season > 1 && numSteps > 1 && page.season * layout.cell >= 14;

const BELOW_MAP = 40;

function makeHeatmap(container, scale) {
  let parts = null;

  function drawAll(rows, spread, values) {
    const layout = layoutOf(container), tall = Math.min(Math.max(Math.round(420 / numSteps), 3), 22);
    const map = { top: 18, height: Math.max(tall * numSteps, 40) };
    const svg = clearSvg(container, map.top + map.height + BELOW_MAP);
    map.row = map.height / numSteps;
    parts = { layout, svg, map, most: Math.max(...rows.map(largest)), bars: [] };
    drawCells(rows);
    drawSeasons();
    if (values) drawHoles(values);
    drawAxes();
    drawSpread(spread.effective);
    drawScale(scale, parts.most);
    parts.marks = draw(svg, "g");
  }

  function drawCells(rows) {
    const { layout, map, most } = parts;
    const canvas = container.querySelector("canvas") ?? container.insertBefore(document.createElement("canvas"), container.firstChild);
    // In parts of the chart: on paper it is narrower than on the screen, and the cells must stay under their lags.
    const part = (size, whole) => `${(100 * size) / whole}%`, tall = map.top + map.height + BELOW_MAP;
    Object.assign(canvas.style, { left: part(layout.left, layout.width), width: part(layout.back, layout.width), top: part(map.top, tall), height: part(map.height, tall) });
    canvas.style.imageRendering = layout.cell * devicePixelRatio < 1 ? "auto" : "pixelated"; // what is too fine is averaged
    Object.assign(canvas, { width: lookback, height: numSteps });
    const context = canvas.getContext("2d"), image = context.createImageData(lookback, numSteps), palette = paletteOf();
    rows.forEach((row, step) => row.forEach((weight, place) => {
      image.data.set([...colourOf(palette, weight, most), 255], 4 * (step * lookback + place));
    }));
    context.putImageData(image, 0, 0);
  }

  function drawSeasons() {
    if (!marksSeasons(parts.layout)) return;
    const { layout, map, svg } = parts, group = draw(svg, "g");
    const x = (lag) => xOf(layout, lookback - 1 - lag);
    for (let back = page.season; back < lookback + horizon; back += page.season) {
      const inside = page.steps.map((step, at) => [back - step, map.top + (at + 0.5) * map.row]).filter(([lag]) => lag >= 0 && lag < lookback);
      if (inside.length) draw(group, "polyline", { class: "season", fill: "none", points: inside.map(([lag, y]) => `${x(lag)},${y}`).join(" ") });
    }
  }

  function drawHoles(values) {
    if (!values.some(Number.isFinite) || !values.some(Number.isNaN)) return;
    const cell = parts.layout.cell / patch;
    values.forEach((value, at) => {
      if (Number.isNaN(value)) draw(parts.svg, "rect", { class: "gap", x: xOfTime(parts.layout, at) - cell / 2, width: cell, y: parts.map.top, height: parts.map.height });
    });
  }

  function drawAxes() {
    const { layout, map, svg } = parts, bottom = map.top + map.height;
    draw(svg, "text", { class: "title", x: 2, y: 11 }, "step");
    const spacing = [1, 2, 3, 4, 6, 12, 24, 48, 96, 200, 1000].find((each) => each * map.row >= 20) ?? 5000;
    page.steps.forEach((step, at) => {
      const crowds = at > 0 && step - page.steps[0] < spacing / 2;
      if (at === 0 || (step % spacing === 0 && !crowds)) draw(svg, "text", { x: layout.left - 5, y: map.top + (at + 0.5) * map.row + 4, "text-anchor": "end" }, stepText(at));
    });
    for (const lag of lagTicks(layout, LAG_ROOM)) {
      const x = xOf(layout, lookback - 1 - lag);
      draw(svg, "line", { class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 5 });
      draw(svg, "text", { x, y: bottom + 17, "text-anchor": "middle" }, lagText(lookback - 1 - lag));
    }
    const seasons = marksSeasons(layout) ? "; dotted: whole seasons before the target" : "";
    draw(svg, "text", { x: layout.left, y: bottom + 33 }, layout.narrow ? `lag${seasons}` : `lag: steps before the cut-off${patch === 1 ? "" : `, in patches of ${patch}`}${seasons}`);
  }

  function drawSpread(effective) {
    const { layout, map, svg } = parts, most = Math.max(...effective.filter(Number.isFinite), 1);
    draw(svg, "text", { class: "title", x: layout.end, y: 11, "text-anchor": "end" }, `${layout.narrow ? "eff." : "effective"} ${KEYS_NAME}`);
    effective.forEach((value, at) => {
      const width = Number.isFinite(value) ? (layout.ahead * value) / most : 0;
      parts.bars.push(draw(svg, "rect", { class: "effective", x: layout.start, width, y: map.top + at * map.row + 0.5, height: Math.max(map.row - 1, 1) }));
    });
    draw(svg, "text", { x: layout.end, y: map.top + map.height + 17, "text-anchor": "end" }, number(most, 3));
  }

  function mark(state) {
    const { layout, map, marks } = parts, y = map.top + state.step * map.row;
    parts.bars.forEach((bar, at) => bar.classList.toggle("chosen", at === state.step));
    marks.replaceChildren();
    draw(marks, "rect", { class: "chosen-row", x: layout.left - 1, width: layout.back + 2, y: y - 1, height: map.row + 2 });
    if (state.place !== null) cross(marks, xOf(layout, state.place), map.top, map.top + map.height);
  }

  function rowAt(y) {
    return Math.min(Math.max(Math.floor((y - parts.map.top) / parts.map.row), 0), numSteps - 1);
  }

  return { draw: drawAll, mark, rowAt, layout: () => parts.layout };
}

// ---------------------------------------------------------------------------- mean weight by lag

function drawProfile(container, profile) {
  const layout = layoutOf(container), height = layout.narrow ? 150 : 180, areas = { top: 18, base: height - 22 };
  const seasonal = page.season > 1 ? `, whole seasons (${page.season} ${KEYS_NAME}) before the cut-off marked` : "";
  const svg = clearSvg(container, height, `Profile: mean weight by lag, largest ${share(largest(profile))} at lag ${lagText(topPlaces(profile, 1)[0] ?? 0)}${seasonal}`);
  const most = Math.max(largest(profile), 1.3 / lookback), y = linear(0, most, areas.base, areas.top);
  for (const tick of ticksBetween(0, most, 3)) drawLevel(svg, layout, y(tick), share(tick));
  const width = Math.max(layout.cell * (lookback > 60 ? 1 : 0.8), 0.5);
  profile.forEach((weight, place) => draw(svg, "rect", { class: "weight", x: xOf(layout, place) - width / 2, width, y: y(weight), height: areas.base - y(weight), "data-lag": lagOf(place) }));
  for (let lag = page.season; page.season > 1 && lag < lookback; lag += page.season) {
    const x = xOf(layout, lookback - 1 - lag);
    draw(svg, "line", { class: "season", x1: x, x2: x, y1: areas.top, y2: areas.base });
  }
  draw(svg, "line", { class: "uniform", x1: layout.left, x2: layout.split, y1: y(1 / lookback), y2: y(1 / lookback) });
  draw(svg, "text", { x: layout.start, y: y(1 / lookback) + 4 }, layout.narrow ? "uniform" : "uniform weights");
  draw(svg, "line", { class: "axis", x1: layout.left, x2: layout.split, y1: areas.base, y2: areas.base });
  for (const lag of lagTicks(layout, LAG_ROOM)) draw(svg, "text", { x: xOf(layout, lookback - 1 - lag), y: areas.base + 16, "text-anchor": "middle" }, lagText(lookback - 1 - lag));
}
