// The world page: actors with their attributes over time, effects, tags, abilities and capabilities.

import { showOutcome, at, canvas, fill, h, number, paint, percent, plain, scrollTo, seconds } from "./dom.js";
import { plot, timeline } from "./plot.js";
import { control, place } from "./control.js";
import { rows } from "./rows.js";
import { showLog } from "./log.js";
import { previewed, previewToggle } from "./preview.js";
import { besideServer, capabilities } from "./capabilities.js";
import { causes, unmodified, writes } from "./why.js";

// Ticks that plots and the effect timeline cover.
const PLOT_TICKS = 1200;
const SPAN = 1200;
const MAX_POINTS = 4000;
// Milliseconds for which the row of an ability shows the outcome of its activation.
const SHOWN = 8000;

let studio;
let ui;
let side = null;
let actor = null;
// The client whose capabilities are shown beside the server's.
let beside = null;
// Values by actor and attribute: [tick, value].
const history = new Map();
// The serial number of the last plotted event.
let plotted = 0;
// Effects of the selected actor by key, including effects that have ended.
let recent = new Map();
let recentOf = "";
let timelines;

export const world = { open, show };

function open(main, owner) {
  studio = owner;
  ui = {
    sides: h("select", { id: "side", "aria-label": "State of", onchange: (e) => ((side = e.target.value || null), watch()) }),
    find: h("input", { id: "find", type: "search", placeholder: "Find by name", "aria-label": "Find an actor by name", size: 8 }),
    category: h("select", { id: "category", "aria-label": "Category", hidden: (studio.hello.categories ?? []).length < 2, onchange: (e) => (studio.category = e.target.value || null) }, h("option", { value: "" }, "Every category"), ...(studio.hello.categories ?? []).map((c) => h("option", { value: c }, c))),
    count: h("span", { class: "quiet", id: "count" }),
    actors: rows("actors", "Actors", (name) => selectActor(name)),
    map: h("canvas", { class: "plain", id: "map", role: "img", "aria-label": "Map of all actors", onclick: selectOnMap, ondblclick: moveToClick }),
    title: h("h2", { id: "who" }),
    state: h("div", { class: "row", id: "state" }),
    values: h("table", { id: "values" }),
    plots: h("div", { class: "grid tight", id: "plots" }),
    effects: h("canvas", { class: "plain", role: "img", "aria-label": "Effects over time" }),
    list: h("table", { id: "effects" }),
    tags: h("div", { id: "tags", class: "tags" }),
    abilities: h("table", { id: "abilities" }),
    capabilities: capabilities(studio, act, explained),
    // The outcome of the last action of each panel.
    outcome: { attributes: h("p", { class: "outcome" }), effects: h("p", { class: "outcome" }), map: h("p", { class: "outcome" }) },
    lastActivation: null,
    answer: h("div", { id: "answer", "aria-live": "polite" }, h("p", { class: "empty" }, "Click a value to see its base value and modifiers, or an event below to see its causes.")),
    log: h("ul", { class: "log scroll", style: "max-height:13rem", id: "log" }),
    shown: new Set(),
    places: [],
  };
  const panel = (title, ...content) => h("section", { class: "panel" }, h("h2", {}, title), ...content);
  main.replaceChildren(
    h(
      "div",
      { class: "grid side" },
      h("div", { class: "grid" }, h("section", { class: "panel grid tight" }, h("div", { class: "row between" }, h("h2", {}, "Actors"), ui.count), ui.sides, ui.category, ui.find, ui.actors.el, ui.map, h("p", { class: "quiet" }, "Click an actor to select it; double-click a position to move the selected actor there."), ui.outcome.map), control(studio, () => actor)),
      h(
        "div",
        { class: "grid" },
        h("section", { class: "panel row between" }, ui.title, ui.state),
        h("div", { class: "grid two" }, panel("Attributes", h("div", { class: "scroll" }, ui.values), ui.outcome.attributes), h("div", { class: "grid" }, panel("Over time", ui.plots), panel("Explanation", ui.answer))),
        panel("Abilities", h("div", { class: "scroll" }, ui.abilities)),
        panel("Capabilities", ui.capabilities.el),
        panel("Effects", ui.effects, h("div", { class: "scroll" }, ui.list), ui.outcome.effects),
        h("div", { class: "grid two" }, panel("Tags", ui.tags), panel("Events", ui.log)),
      ),
    ),
  );
  ui.find.addEventListener("input", () => (ui.found = ui.find.value.trim().toLowerCase()));
  watch();
}

function selectActor(name) {
  actor = name;
  watch();
}

function watch() {
  const client = studio.frame && besideServer(studio.frame, side, actor);
  // The state on the server is shown beside the state on a client.
  studio.watch = !actor ? [] : client ? [[null, actor], [client, actor]] : [[null, actor]];
  studio.filterEvents(actor ? [actor] : []);
}

function show(frame) {
  if (frame.restart) plotted = 0;
  // The timeline changed: plots of the old timeline are dropped.
  if (frame.timelines !== timelines) {
    history.clear();
    recent = new Map();
    timelines = frame.timelines;
  }
  plotEvents(frame.events);
  const sides = frame.sides.map((s) => s.client ?? "");
  fill(ui.sides, sides.join(), () => sides.map((s) => h("option", { value: s }, s ? `Client ${s}` : "Server")));
  if (document.activeElement !== ui.sides) ui.sides.value = side ?? "";
  const view = frame.sides.find((s) => s.client === side) ?? frame.sides[0];
  if (!view.actors.some((a) => a.name === actor)) selectActor(view.actors[0]?.name ?? null);
  const found = ui.found ? view.actors.filter((a) => a.name.toLowerCase().includes(ui.found)) : view.actors;
  const count = ui.found ? `${found.length} of ${view.actors.length}` : String(view.actors.length);
  if (ui.count.textContent !== count) ui.count.textContent = count;
  ui.actors.show(found, actor);
  map(view);
  const now = view.actors.find((a) => a.name === actor);
  const detail = studio.detail(side, actor);
  if (!detail || !now) return;
  state(now);
  values(detail, frame);
  plots(frame);
  effects(detail, frame);
  tags(detail);
  abilities(detail, now);
  const client = besideServer(frame, side, actor);
  if (client !== beside) (beside = client), watch();
  ui.capabilities.show(actor, side, studio.detail(null, actor), client, client === null ? null : studio.detail(client, actor));
  log(frame);
}

function state(now) {
  const cues = now.cues.map((c) => c.replace("GameplayCue.", ""));
  const cast = now.cast && percent(now.cast.share);
  if (ui.title.textContent !== now.name) ui.title.textContent = now.name;
  fill(ui.state, JSON.stringify([now.dead, cast, now.cast?.name, cues, number(now.x), number(now.z)]), () => [
    now.dead ? h("span", { class: "pill bad" }, "dead") : null,
    now.cast ? h("span", { class: "pill hot", id: "cast" }, `casting ${now.cast.name} ${cast}`) : null,
    ...cues.map((c) => h("span", { class: "pill", "data-cue": c, title: "Active cue" }, `cue ${c}`)),
    h("span", { class: "quiet", id: "at" }, `at ${number(now.x)}, ${number(now.z)}`),
  ].filter(Boolean));
}

function map(view) {
  const { cx, width, height } = canvas(ui.map, 0.72);
  let far = 10;
  for (const a of view.actors) far = Math.max(far, Math.abs(a.x), Math.abs(a.z));
  const x = (v) => width / 2 + (v / far) * (width / 2 - 12);
  const z = (v) => height / 2 + (v / far) * (height / 2 - 12);
  cx.strokeStyle = paint("--edge");
  cx.beginPath();
  cx.moveTo(width / 2, 0);
  cx.lineTo(width / 2, height);
  cx.moveTo(0, height / 2);
  cx.lineTo(width, height / 2);
  cx.stroke();
  ui.places = view.actors.map((a) => [x(a.x), z(a.z), a.name]);
  ui.scale = { far, width, height };
  const few = view.actors.length <= 12;
  const size = few ? 5 : 3;
  for (const [colour, some] of [["--quiet", view.actors.filter((a) => a.dead)], ["--cool", view.actors.filter((a) => !a.dead)]]) {
    cx.fillStyle = paint(colour);
    for (const a of some) cx.fillRect(x(a.x) - size, z(a.z) - size, 2 * size, 2 * size);
  }
  const me = view.actors.find((a) => a.name === actor);
  if (me) {
    cx.fillStyle = paint("--accent");
    cx.beginPath();
    cx.arc(x(me.x), z(me.z), size + 3, 0, 7);
    cx.fill();
  }
  cx.fillStyle = paint("--text");
  cx.textAlign = "center";
  for (const a of few ? view.actors : me ? [me] : []) cx.fillText(a.name, Math.max(24, Math.min(width - 24, x(a.x))), Math.min(height - 4, z(a.z) + 20));
}

function selectOnMap(event) {
  const near = ui.places.map(([x, y, name]) => [Math.hypot(x - event.offsetX, y - event.offsetY), name]).sort((a, b) => a[0] - b[0])[0];
  if (near && near[0] < 16) selectActor(near[1]);
}

function moveToClick(event) {
  const { far, width, height } = ui.scale;
  const to = [((event.offsetX - width / 2) / (width / 2 - 12)) * far, ((event.offsetY - height / 2) / (height / 2 - 12)) * far];
  if (actor) act(ui.outcome.map, place(actor, to));
}

// Sends an input and shows its outcome.
async function act(where, input) {
  const answer = await studio.act(input);
  showOutcome(where, answer);
  return answer;
}

// Adds the values of events to the plots.
function plotEvents(events) {
  for (const line of events) {
    if (line.serial <= plotted) continue;
    plotted = line.serial;
    if (line.attribute !== undefined && line.client === null) point(plotKey(null, line.who, line.attribute), line.tick, line.value);
  }
}

// Plots show the values of the selected server or client. Values of the server come with its events, values of a client with
// each frame.
const plotKey = (of, who, attribute) => JSON.stringify([of, who, attribute]);

function point(key, tick, value) {
  if (!history.has(key)) history.set(key, []);
  const list = history.get(key);
  while (list.length && list.at(-1)[0] > tick) list.pop();
  if (list.at(-1)?.[1] === value) return;
  list.push([tick, value]);
  if (list.length > MAX_POINTS) list.shift();
}

function values(detail, frame) {
  if (frame.live) {
    for (const a of detail.attributes.filter((a) => a.value !== null)) {
      const key = plotKey(side, actor, a.name);
      // No event on the server has changed the attribute yet, so it has had this value from the start.
      if (side === null && !history.has(key)) point(key, frame.start, a.value);
      point(key, frame.tick, a.value);
    }
  }
  if (!ui.shown.size && detail.attributes.length) {
    const wanted = detail.attributes.filter((a) => /^(health|mana|stamina)$/i.test(a.name));
    (wanted.length ? wanted : detail.attributes.slice(0, 1)).forEach((a) => ui.shown.add(a.name));
  }
  const key = JSON.stringify([actor, side, [...ui.shown], detail.attributes.map((a) => [a.name, number(a.value), number(a.base)])]);
  fill(ui.values, key, () => [
    h("thead", {}, h("tr", {}, h("th", {}, "Attribute"), h("th", { class: "n" }, "Value"), h("th", { class: "n" }, "Base"))),
    h(
      "tbody",
      {},
      ...detail.attributes.map((a) =>
        h(
          "tr",
          { "data-key": `${actor}.${a.name}` },
          h("td", {}, h("button", { class: "bare", "aria-pressed": String(ui.shown.has(a.name)), title: ui.shown.has(a.name) ? "Hide the plot" : "Show the plot", onclick: () => toggle(a.name) }, h("span", { class: ui.shown.has(a.name) ? "hot" : "" }, a.name))),
          h("td", { class: "n" }, h("button", { class: "number", "data-attribute": a.name, "aria-label": `${a.name} ${number(a.value)}: explain`, onclick: () => explain(a.name) }, number(a.value))),
          h("td", { class: "n" }, h("input", { "data-edit": a.name, "aria-label": `Base of ${a.name}`, inputmode: "decimal", size: 6, class: "tableinput", value: number(a.base), disabled: a.base === null, title: a.base === null ? "Not replicated to this client" : undefined, onchange: (e) => write(a.name, e.target) })),
        ),
      ),
    ),
  ]);
}

async function write(attribute, field) {
  const value = Number(field.value.trim().replace(",", ".") || NaN);
  if (Number.isFinite(value)) await act(ui.outcome.attributes, { Action: { Set: { who: actor, attribute, value } } });
  else showOutcome(ui.outcome.attributes, { done: false, text: `Failed: “${field.value}” is not a number.` });
  field.blur();
  delete ui.values.dataset.shown;
}

function toggle(name) {
  ui.shown.has(name) ? ui.shown.delete(name) : ui.shown.add(name);
}

function plots(frame) {
  fill(ui.plots, [...ui.shown].join(), () => [...ui.shown].map((name) => h("canvas", { class: "plain", "data-key": name, "data-plot": name, role: "img", "aria-label": `${name} over time` })));
  for (const el of ui.plots.querySelectorAll("canvas")) {
    const points = history.get(plotKey(side, actor, el.dataset.plot)) ?? [];
    el.dataset.last = plot(el, points, Math.max(frame.start, frame.tick - PLOT_TICKS), frame.tick, el.dataset.plot) ?? "";
  }
}

async function explain(attribute) {
  const why = await studio.ask({ ask: "explain", side, who: actor, attribute });
  if (!why) return;
  const line = (l) => `${l.does} ${number(l.magnitude)} by ${l.effect}${l.by ? ` of ${l.by}` : ""}, level ${l.level}${l.stacks > 1 ? `, ${l.stacks} stacks` : ""}${l.place ? `, ${l.place[0]}:${l.place[1]}` : ""}${l.note ? ` (${l.note})` : ""}`;
  ui.answer.replaceChildren(h("p", { class: "quiet" }, `${actor}: ${attribute}, at ${at(studio.frame.tick)}`), h("p", { class: "formula", id: "why" }, why.text), why.lines?.length ? h("ul", { class: "log" }, ...why.lines.map((l) => h("li", {}, line(l)))) : unmodified(why), ...writes(why.writes, actor, attribute, chain));
  scrollTo(ui.answer.parentElement);
}

// Active effects, and effects that ended recently.
function recentEffects(list, frame) {
  const of = `${side} ${actor}`;
  if (of !== recentOf || frame.tick < (recent.tick ?? 0)) recent = new Map();
  recentOf = of;
  recent.tick = frame.tick;
  const now = new Set(list.map((e) => e.key));
  for (const e of list) {
    const from = e.state === "queued" ? frame.tick : frame.tick - e.elapsed * 60;
    recent.set(e.key, { ...e, from, to: e.total === null ? null : from + e.total * 60, over: false });
  }
  for (const [key, e] of recent) {
    if (!now.has(key) && !e.over) recent.set(key, { ...e, over: true, to: frame.tick });
    if (e.over && e.to < frame.tick - SPAN / 2) recent.delete(key);
  }
  const all = [...recent.values()];
  return [...all.filter((e) => !e.over), ...all.filter((e) => e.over).reverse().slice(0, 6)].slice(0, 30);
}

function effects(detail, frame) {
  const list = detail.effects ?? [];
  timeline(ui.effects, recentEffects(list, frame), frame.tick, SPAN);
  const left = (e) => (e.total === null ? "until removed" : seconds(Math.max(0, e.total - e.elapsed)));
  const empty = detail.effects ? "No active effects." : "Effects of this actor are not replicated to this client.";
  fill(ui.list, list.map((e) => `${e.key}${e.stacks}${e.state}${Math.round(e.elapsed * 10)}`).join() || empty, () => [
    h("thead", {}, h("tr", {}, ...["Effect", "Source", "Level", "Stacks", "Elapsed", "Remaining", "State", ""].map((t) => h("th", {}, t)))),
    h(
      "tbody",
      {},
      ...(list.length ? list.map((e) => h("tr", { "data-key": e.key }, ...[e.name, e.by ?? "–", String(e.level), String(e.stacks), seconds(e.elapsed), left(e), e.state].map((t) => h("td", {}, t)), h("td", { class: "n" }, h("button", { class: "number", "aria-label": `Remove ${e.name}`, onclick: () => act(ui.outcome.effects, { Action: { Remove: { effect: e.name, from: actor } } }) }, "Remove")))) : [h("tr", {}, h("td", { colspan: 8, class: "empty" }, empty))]),
    ),
  ]);
}

function tags(detail) {
  fill(ui.tags, detail.tags.join() || "none", () => {
    if (!detail.tags.length) return h("p", { class: "empty" }, "No tags.");
    const root = { below: new Map() };
    for (const [name, count] of detail.tags) {
      let at = root;
      for (const part of name.split(".")) {
        if (!at.below.has(part)) at.below.set(part, { below: new Map(), count: 0 });
        at = at.below.get(part);
      }
      // A client knows that a remote actor has a tag, not how often it was granted.
      at.count = count ?? "";
    }
    const list = (node) => h("ul", { class: "tree" }, ...[...node.below].map(([name, n]) => h("li", { "data-key": name }, name, n.count ? h("b", {}, String(n.count)) : "", n.below.size ? list(n) : null)));
    return list(root);
  });
}

function abilities(detail, now) {
  const list = detail.abilities ?? [];
  const wait = (a) => (a.cooldown ? Math.round(a.cooldown.share * 30) : 0);
  const key = list.map((a) => `${a.name}${a.ready}${a.running}${a.charges}${wait(a)}${a.reasons.map((r) => r.kind + Math.round((r.ready_in ?? 0) * 10))}`).join();
  const casting = now.cast ? `${now.cast.name}${Math.round(now.cast.share * 30)}` : "";
  const bar = (share) => h("span", { class: "bar" }, h("i", { style: `width:${Math.round(share * 100)}%` }));
  const status = (a) => {
    const cast = now.cast?.name === a.name ? now.cast : null;
    return h("td", { class: a.ready ? "good" : a.running ? "hot" : "quiet", "data-state": a.running ? "running" : a.ready ? "ready" : "not" }, cast ? `casting ${percent(cast.share)}` : a.running ? "running" : a.ready ? "ready" : "not ready", a.charges ? ` · ${a.charges[0]} of ${a.charges[1]}` : "", cast ? bar(cast.share) : null);
  };
  fill(ui.abilities, `${side} ${actor} ${key} ${casting} ${ui.lastActivation?.text}`, () => [
    h("thead", {}, h("tr", {}, ...["Ability", "State", "Cooldown", "Reasons", ""].map((t) => h("th", {}, t)))),
    h(
      "tbody",
      {},
      ...(list.length
        ? list.map((a) =>
            h(
              "tr",
              { "data-key": a.name, "data-ability": a.name },
              h("td", { title: a.text ?? "" }, a.title, a.input ? h("span", { class: "quiet" }, ` ${a.input}`) : null),
              status(a),
              h("td", {}, a.cooldown ? `${a.cooldown.name} s` : "–", a.cooldown ? bar(a.cooldown.share) : null),
              h("td", {}, ui.lastActivation?.of === `${actor} ${a.name}` ? h("div", { class: `outcome ${ui.lastActivation.done ? "good" : "bad"}` }, ui.lastActivation.text) : null, ...a.reasons.map((r) => h("div", {}, h("b", {}, r.kind), ` ${plain(r.text)}`, r.ready_in === null ? "" : h("span", { class: "good" }, ` · ready in ${seconds(r.ready_in)}`)))),
              h("td", { class: "n" }, h("button", { class: "number", "aria-label": `Activate ${a.title}`, onclick: () => activate(a.name), ...previewed(studio, `activate ${a.name}`, () => previewOf(a)) }, "Activate"), previewToggle(studio, `activate ${a.name}`, () => previewOf(a))),
            ),
          )
        : [h("tr", {}, h("td", { colspan: 5, class: "empty" }, detail.abilities ? "No abilities." : "Abilities of this actor are replicated to its owning client only."))]),
    ),
  ]);
}

const activation = (ability) => ({ Activate: { ability, who: actor, target: document.getElementById("d-target").value.trim() || null } });
const previewOf = (a) => ({ title: `Activate ${a.title} of ${actor}`, text: a.text, side, action: activation(a.name) });

// The outcome is shown in the row of the ability.
async function activate(ability) {
  const answered = { of: `${actor} ${ability}`, ...(await act(h("p"), { Action: activation(ability) })) };
  ui.lastActivation = answered;
  setTimeout(() => ui.lastActivation === answered && (ui.lastActivation = null), SHOWN);
}

function log(frame) {
  const lines = studio.eventsUntil(frame).filter((n) => n.who === actor);
  showLog(ui.log, lines.slice(-600), 60, "No events yet.", (l) => (l.client ? `${l.client}${l.certainty === "Undone" ? " rolled back" : ""}: ${l.text}` : l.text), chain);
}

async function chain(line) {
  const steps = await studio.ask({ ask: "causes", serial: line.serial });
  if (!steps) return;
  explained(h("p", { class: "quiet" }, "Causes"), causes(steps));
}

// Shows an explanation.
function explained(...content) {
  ui.answer.replaceChildren(...content);
  scrollTo(ui.answer.parentElement);
}
