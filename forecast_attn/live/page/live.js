"use strict";
// The list of runs: what the server says of them every two seconds. Words come in as text, never as markup.

(() => {
const SVG = "http://www.w3.org/2000/svg", WIDTH = 340, HEIGHT = 120, LEFT = 8, RIGHT = 58, TOP = 10, BOTTOM = 22;
const PAUSE = 2000, AT_WORK = 60; // milliseconds between questions; seconds since the last epoch
const list = document.getElementById("runs"), state = document.getElementById("state"), search = document.getElementById("search");
const titles = JSON.parse(list.dataset.titles), cards = new Map();
let timer = null, known = null;

function add(parent, name, properties = {}, text = null) {
  const element = Object.assign(document.createElement(name), properties);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

function draw(parent, name, attributes, text = null) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

const shown = (value) => (Math.abs(value) < 1000 ? value.toPrecision(4) : Math.round(value).toLocaleString("en"));
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function ago(seconds) {
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [word, length] = units.find(([, each]) => seconds >= each) ?? units[3];
  return `${plural(Math.max(0, Math.floor(seconds / length)), word)} ago`;
}

// ---------------------------------------------------------------------------- a run

const epochsOf = (run) => Math.max(0, ...(run.curves ?? []).map((curve) => curve.at(-1)[0]));
const isAtWork = (run) => !run.problem && !run.finished && Date.now() / 1000 - run.changed < AT_WORK;

function stateWords(run) {
  if (run.problem) return run.problem;
  const epochs = epochsOf(run), members = run.curves.length > 1 ? `, ${plural(run.curves.length, "network")}` : "";
  if (run.finished) return `${plural(epochs, "epoch")}${members}, finished ${ago(Date.now() / 1000 - run.changed)}`;
  const progress = epochs ? `epoch ${epochs} of at most ${run.mostEpochs}${members}` : "before the first epoch";
  return `not finished: ${progress}, last sign ${ago(Date.now() / 1000 - run.changed)}`;
}

function resultWords(run) {
  if (run.problem || !run.finished) return "";
  const words = [`MAE ${shown(run.mae)} on validation`];
  if (run.skill !== null) words.push(`${Math.abs(run.skill).toFixed(1)}\u00a0% ${run.skill >= 0 ? "below" : "above"} ${run.baseline ?? "seasonal-naive"}`);
  if (run.combined !== null) words.push(`combined with baselines ${shown(run.combined)}`);
  return words.join(", ");
}

function bestOf(curve) {
  return curve.reduce((best, each) => (each[2] < best[2] ? each : best), curve[0]);
}

// Both losses by epoch, from the first epoch to the last so far; each line is named by its last value.
function drawCurves(svg, curves) {
  const rows = curves.flat(), values = rows.flatMap(([, train, validation]) => [train, validation]).filter(Number.isFinite);
  const low = Math.min(...values), high = Math.max(...values), most = Math.max(...rows.map(([epoch]) => epoch));
  const x = (epoch) => (most === 1 ? LEFT : LEFT + ((epoch - 1) / (most - 1)) * (WIDTH - LEFT - RIGHT));
  const y = (value) => (high === low ? (TOP + HEIGHT - BOTTOM) / 2 : TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM));
  const path = (curve, column) => curve.filter((row) => Number.isFinite(row[column])).map((row, at) => `${at ? "L" : "M"}${x(row[0]).toFixed(2)} ${y(row[column]).toFixed(2)}`).join("");
  svg.replaceChildren();
  draw(svg, "path", { class: "axis", d: `M${LEFT} ${HEIGHT - BOTTOM + 4}H${WIDTH - RIGHT}` });
  const kind = curves.length > 1 ? " member" : "";
  for (const curve of curves) {
    draw(svg, "path", { class: `actual${kind}`, d: path(curve, 1) });
    draw(svg, "path", { class: `forecast${kind}`, d: path(curve, 2) });
    const best = bestOf(curve), [[first, train]] = curve;
    if (curve.length === 1) draw(svg, "circle", { class: "baseline-point", cx: x(first), cy: y(train), r: 3 }); // no line yet
    draw(svg, "circle", { class: "point looked-at", cx: x(best[0]), cy: y(best[2]), r: 4 });
  }
  const last = curves.at(-1).at(-1), [train, validation] = [y(last[1]), y(last[2])];
  const apart = Math.max(0, 12 - Math.abs(train - validation)) / 2 * (train < validation ? -1 : 1);
  draw(svg, "text", { class: "title", x: WIDTH - RIGHT + 8, y: validation - apart + 4 }, shown(last[2]));
  draw(svg, "text", { x: WIDTH - RIGHT + 8, y: train + apart + 4 }, shown(last[1]));
  draw(svg, "text", { x: LEFT, y: HEIGHT - 4 }, "epoch 1");
  if (most > 1) draw(svg, "text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, String(most));
  const [epoch, , loss] = bestOf(curves.at(-1));
  svg.setAttribute("aria-label", `Losses of ${plural(most, "epoch")}; the last validation loss is ${shown(last[2])}, the lowest ${shown(loss)} in epoch ${epoch}`);
}

function makeCard(run) {
  const card = add(list, "li");
  const title = add(card, "h2");
  const first = run.pages[0];
  if (first) add(title, "a", { href: address(run, first) }, run.name);
  else title.textContent = run.name;
  if (!run.problem) add(card, "p", {}, `${run.attention} on ${run.table}`);
  add(card, "p", { className: "result" }, resultWords(run));
  if (run.curves?.length) drawCurves(draw(card, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }), run.curves);
  add(card, "p", { className: "age" });
  if (run.pages.length) {
    const links = add(card, "nav", { ariaLabel: `Pages of ${run.name}` });
    for (const page of run.pages) links.append(add(links, "a", { href: address(run, page) }, titles[page]), " ");
  }
  return card;
}

const address = (run, page) => `runs/${encodeURIComponent(run.name)}/${page}`;

// ---------------------------------------------------------------------------- the list

// Cards that did not change stay as they are, and so does the focus.
function show(runs) {
  const names = new Set(runs.map((run) => run.name));
  for (const [name, { card }] of cards) if (!names.has(name)) { card.remove(); cards.delete(name); }
  for (const run of runs) {
    const text = JSON.stringify(run), old = cards.get(run.name);
    if (old?.text === text) continue;
    const card = makeCard(run), focused = old?.card.contains(document.activeElement) ? document.activeElement.href : null;
    old?.card.replaceWith(card);
    cards.set(run.name, { card, text, run });
    if (focused) Array.from(card.querySelectorAll("a")).find((link) => link.href === focused)?.focus();
  }
  const order = runs.map((run) => cards.get(run.name).card);
  if (order.some((card, at) => list.children[at] !== card)) list.append(...order);
  filter();
  showAges();
}

function showAges() {
  for (const { card, run } of cards.values()) {
    card.querySelector(".age").textContent = stateWords(run);
    card.classList.toggle("going", isAtWork(run));
  }
}

function filter() {
  const query = search.value.trim().toLowerCase();
  for (const { card } of cards.values()) card.hidden = !card.textContent.toLowerCase().includes(query);
}

// Words are only changed where they differ: a screen reader reads each change.
function say(words) {
  if (state.textContent !== words) state.textContent = words;
}

async function ask() {
  clearTimeout(timer);
  try {
    const answer = await fetch("runs.json");
    if (!answer.ok) throw new Error(answer.status);
    const text = await answer.text(), runs = JSON.parse(text);
    if (text !== known) show(runs);
    else showAges();
    known = text;
    const open = runs.filter((run) => !run.finished && !run.problem).length;
    say(runs.length ? `${plural(runs.length, "run")}${open ? `, ${open} not finished` : ""}` : "No runs yet. Train one: forecast train data.csv");
  } catch {
    say("The server has stopped. Start it again, and open the address that it prints: forecast ui");
  }
  if (!document.hidden) timer = setTimeout(ask, PAUSE);
}

search.addEventListener("input", filter);
document.addEventListener("visibilitychange", ask);
ask();
})();
