// Series, heads, hours and weekdays side by side: the mean weights of each by lag, and a click shows one of its windows.

const TILE_WIDTH = 120, TILE_HEIGHT = 30;

function profileArea(profile, most) {
  const unit = TILE_WIDTH / lookback, y = (weight) => (TILE_HEIGHT * (1 - weight / most)).toFixed(2);
  return `M0 ${TILE_HEIGHT}${Array.from(profile, (weight, at) => `L${(at * unit).toFixed(2)} ${y(weight)}H${((at + 1) * unit).toFixed(2)}`).join("")}V${TILE_HEIGHT}Z`;
}

function makeTiles(section, choose, afterwards) {
  if (!page.tiles.length) return () => {};
  const [select, search, container, count] = ["tiles-by", "search", "tiles", "tiles-count"].map((id) => document.getElementById(id));
  section.hidden = false;
  page.tiles.forEach(({ by, names }, at) => make(select, "option", { value: at }, `${by} (${names.length})`));

  function fill() {
    const { names, windows, profiles, kind } = page.tiles[select.value], values = weightsOf(profiles);
    const rows = names.map((_, at) => values.subarray(at * lookback, (at + 1) * lookback)), most = Math.max(...rows.map(largest)) || 1;
    container.replaceChildren();
    names.forEach((name, at) => {
      const tile = make(container, "button", { type: "button", className: "tile" });
      Object.assign(tile.dataset, { at, kind });
      make(tile, "span", {}, name);
      draw(draw(tile, "svg", { viewBox: `0 0 ${TILE_WIDTH} ${TILE_HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }), "path", { class: "weight", d: profileArea(rows[at], most) });
      const [top] = topKeys(rows[at], 1);
      make(tile, "small", {}, top === undefined ? "no weight" : `lag ${lagText(top)}: ${share(rows[at][top])}`);
      tile.disabled = windows[at] < 0;
      if (tile.disabled) make(tile, "small", {}, "no window on this page");
      tile.addEventListener("click", () => choose(kind, kind === "head" ? at : windows[at]));
    });
    filter();
  }

  function filter() {
    const query = search.value.trim().toLowerCase(), tiles = Array.from(container.children);
    for (const tile of tiles) tile.hidden = !tile.firstChild.textContent.toLowerCase().includes(query);
    count.textContent = query ? `${tiles.filter((tile) => !tile.hidden).length} of ${tiles.length}` : page.tiles[select.value].leftOut;
  }

  select.addEventListener("change", fill);
  search.addEventListener("input", filter);
  // Hundreds of them are made when they come into sight: what is above need not wait for them.
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((each) => each.isIntersecting)) return;
    observer.disconnect();
    fill();
    afterwards();
  }, { rootMargin: "200px" }).observe(section);

  // Which of the tiles is shown above.
  return (state) => {
    for (const tile of container.children) {
      const name = tile.firstChild.textContent, chosen = tile.dataset.kind === "item" ? name === page.items[itemOf(state.window)] : tile.dataset.kind === "head" && Number(tile.dataset.at) === state.head;
      tile.setAttribute("aria-pressed", String(chosen));
    }
  };
}
