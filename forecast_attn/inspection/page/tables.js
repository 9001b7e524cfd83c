// What the charts show, as tables: made when they are opened.

function fillTable(container, caption, headings, rows, current = -1) {
  container.replaceChildren();
  const table = make(container, "table");
  make(table, "caption", {}, caption);
  const head = make(make(table, "thead"), "tr");
  for (const name of headings) make(head, "th", { scope: "col" }, name);
  const body = make(table, "tbody");
  rows.forEach((cells, at) => {
    const row = make(body, "tr");
    if (at === current) row.setAttribute("aria-current", "true");
    cells.forEach((cell, column) => (column ? make(row, "td", {}, cell) : make(row, "th", { scope: "row" }, cell)));
  });
}

function fillStepTable(container, state) {
  const forecast = forecastOf(state.window), actual = actualOf(state.window);
  const rows = page.steps.map((step, at) => [
    step, timeOf(state.window, lookback + at), number(forecast[at]), number(actual[at]),
    number(state.spread.effective[at], 3), number(state.spread.entropy[at] / Math.log(Math.max(page.observed[state.window], 2)), 2),
    topPlaces(state.rows[at], 5).map((place) => `${lagOf(place)} (${share(state.rows[at][place])})`).join(", "),
  ]);
  const headings = ["step", "time", "forecast", "actual", "effective steps", "entropy of uniform", "top lags (weight)"];
  fillTable(container, windowName(state), headings, rows, state.step);
}

function fillLagTable(container, state) {
  const row = state.rows[state.step], values = pastOf(state.window);
  const order = Array.from(row.keys()).sort((one, other) => row[other] - row[one] || other - one);
  const rows = order.map((place) => [lagOf(place), timeOf(state.window, place), number(values[place]), exactly(row[place])]);
  const caption = `Step ${page.steps[state.step]} of ${windowName(state)}: every lag, the largest weight first`;
  fillTable(container, caption, ["lag", "time", page.target ?? "value", "weight"], rows);
}

const windowName = (state) => `${page.items[itemOf(state.window)]}, cut-off ${cutoffOf(state.window)}`;
