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
  const rows = page.steps.map((_, at) => [
    stepText(at), timeOfStep(state.window, at), rangeWords(valuesAt(forecast, at)), rangeWords(valuesAt(actual, at)),
    number(state.spread.effective[at], 3), number(state.spread.entropy[at] / Math.log(Math.max(page.observed[state.window], 2)), 2),
    topKeys(state.rows[at], 5).map((key) => `${lagText(key)} (${share(state.rows[at][key])})`).join(", "),
  ]);
  const headings = ["step", "time", page.forecastName, "actual", `effective ${KEYS_NAME}`, "entropy of uniform", "top lags (weight)"];
  fillTable(container, `${windowName(state)}${isMean() ? `; ${meanWords()}` : ""}`, headings, rows, state.step);
}

function fillLagTable(container, state) {
  const row = state.rows[state.step], values = pastOf(state.window);
  const order = Array.from(row.keys()).sort((one, other) => row[other] - row[one] || other - one);
  const rows = order.map((key) => [lagText(key), timeOfKey(state.window, key), rangeWords(valuesAt(values, key)), exactly(row[key])]);
  const caption = `${stepName(state.step).replace("s", "S")} of ${windowName(state)}: every lag, the largest weight first`;
  fillTable(container, caption, ["lag", "time", page.target ?? "value", "weight"], rows);
}

const windowName = (state) => `${page.items[itemOf(state.window)]}, cut-off ${cutoffOf(state.window)}`;
