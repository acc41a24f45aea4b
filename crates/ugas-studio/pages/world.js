// The world as it is: who there is, their values over time, effects, tags, abilities; and hands to drive it.

import { canvas, fill, h, number, paint } from "./dom.js";
import { plot, timeline } from "./plot.js";

let studio;
let ui;
let side = null;
let actor = null;
// Values by actor and attribute: [tick, value].
const history = new Map();
let heard = 0;

export const world = { open, show };

function open(main, owner) {
  studio = owner;
  ui = {
    sides: h("select", { id: "side", "aria-label": "Whose view", onchange: (e) => ((side = e.target.value || null), watch()) }),
    actors: h("ul", { class: "log scroll", id: "actors", style: "max-height:14rem" }),
    map: h("canvas", { role: "img", "aria-label": "Map" }),
    values: h("table", { id: "values" }),
    plots: h("div", { class: "grid", id: "plots" }),
    effects: h("canvas", { role: "img", "aria-label": "Effects over time" }),
    list: h("table", { id: "effects" }),
    tags: h("div", { id: "tags" }),
    abilities: h("table", { id: "abilities" }),
    answer: h("div", { id: "answer", "aria-live": "polite" }),
    log: h("ul", { class: "log scroll", style: "max-height:12rem", id: "log" }),
    shown: new Set(),
  };
  main.replaceChildren(
    h(
      "div",
      { class: "grid side" },
      h("div", { class: "grid" }, h("section", { class: "panel" }, h("h2", {}, "Actors"), ui.sides, ui.actors, ui.map), drive()),
      h(
        "div",
        { class: "grid" },
        h("div", { class: "grid two" }, h("section", { class: "panel" }, h("h2", {}, "Attributes (click a value for why, its name for a plot)"), h("div", { class: "scroll" }, ui.values)), h("section", { class: "panel" }, h("h2", {}, "Why"), ui.answer, h("h2", {}, "Over time"), ui.plots)),
        h("section", { class: "panel" }, h("h2", {}, "Effects"), ui.effects, h("div", { class: "scroll" }, ui.list)),
        h("div", { class: "grid two" }, h("section", { class: "panel" }, h("h2", {}, "Abilities"), h("div", { class: "scroll" }, ui.abilities)), h("section", { class: "panel" }, h("h2", {}, "Tags"), ui.tags, h("h2", {}, "What happened"), ui.log)),
      ),
    ),
  );
  watch();
}

function watch() {
  studio.watch = actor ? [[side, actor]] : [];
}

function drive() {
  const field = (id, title, list) => h("label", { class: "row" }, h("span", { class: "quiet", style: "min-width:4.5rem" }, title), h("input", { id, list, size: 14, autocomplete: "off" }));
  const value = (id) => document.getElementById(id).value.trim();
  const lists = [["l-effects", studio.hello.effects], ["l-abilities", studio.hello.abilities], ["l-inputs", studio.hello.inputs], ["l-tags", studio.hello.tags]];
  const act = (act) => actor && studio.put({ Act: act });
  const button = (id, text, make) => h("button", { id, onclick: () => act(make()) }, text);
  return h(
    "section",
    { class: "panel grid" },
    h("h2", {}, "Drive"),
    ...lists.map(([id, names]) => h("datalist", { id }, ...names.map((n) => h("option", { value: n })))),
    field("d-effect", "Effect", "l-effects"),
    h("div", { class: "row" }, button("do-apply", "Apply", () => ({ Apply: { effect: value("d-effect"), to: actor } })), button("do-remove", "Remove", () => ({ Remove: { effect: value("d-effect"), from: actor } }))),
    field("d-ability", "Ability", "l-abilities"),
    field("d-target", "At"),
    h("div", { class: "row" }, button("do-activate", "Activate", () => ({ Activate: { ability: value("d-ability"), who: actor, target: value("d-target") || null } })), button("do-cancel", "Cancel", () => ({ Cancel: { ability: value("d-ability"), who: actor } }))),
    field("d-input", "Input", "l-inputs"),
    h("div", { class: "row" }, button("do-press", "Press", () => ({ Press: { input: value("d-input"), who: actor, target: value("d-target") || null } })), button("do-release", "Release", () => ({ Release: { input: value("d-input"), who: actor } }))),
    field("d-event", "Event", "l-tags"),
    h("div", { class: "row" }, button("do-event", "Send", () => ({ Event: { tag: value("d-event"), who: actor } }))),
    field("d-place", "Place x z"),
    h("div", { class: "row" }, button("do-move", "Move", () => ({ Move: { who: actor, to: ((p) => [p[0] || 0, 0, p[1] || 0])(value("d-place").split(/[ ,]+/).map(Number)) } }))),
  );
}

function show(frame) {
  note();
  const sides = frame.sides.map((s) => s.client ?? "");
  fill(ui.sides, sides.join(), () => sides.map((s) => h("option", { value: s }, s || "the server")));
  ui.sides.value = side ?? "";
  const view = frame.sides.find((s) => s.client === side) ?? frame.sides[0];
  if (!view.actors.some((a) => a.name === actor)) {
    actor = view.actors[0]?.name ?? null;
    watch();
  }
  const listed = view.actors.slice(0, 400);
  fill(ui.actors, `${actor} ${listed.map((a) => `${a.name}${a.dead}${number(a.bars[0]?.value)}`).join()}`, () =>
    listed.map((a) =>
      h("li", {}, h("button", { "aria-current": a.name === actor ? "true" : undefined, class: a.name === actor ? "hot" : "", onclick: () => ((actor = a.name), watch()) }, `${a.name}${a.dead ? " (down)" : ""} ${a.bars.map((b) => `${number(b.value)}/${number(b.most)}`).join(" · ")}`)),
    ),
  );
  map(view);
  const detail = studio.detail(side, actor);
  if (!detail) return;
  values(detail);
  plots(frame);
  effects(detail);
  tags(detail);
  abilities(detail);
  log(frame);
}

function map(view) {
  const { cx, width, height } = canvas(ui.map, 0.8);
  const far = Math.max(10, ...view.actors.map((a) => Math.max(Math.abs(a.x), Math.abs(a.z))));
  for (const a of view.actors) {
    cx.fillStyle = paint(a.name === actor ? "--accent" : a.dead ? "--edge" : "--cool");
    const size = a.name === actor ? 5 : 3;
    cx.fillRect(width / 2 + (a.x / far) * (width / 2 - 8) - size, height / 2 + (a.z / far) * (height / 2 - 8) - size, 2 * size, 2 * size);
  }
}

function note() {
  for (const line of studio.news) {
    if (line.serial <= heard || line.attribute === undefined || line.client !== null) continue;
    heard = line.serial;
    const key = `${line.who}.${line.attribute}`;
    if (!history.has(key)) history.set(key, []);
    const list = history.get(key);
    while (list.length && list.at(-1)[0] > line.tick) list.pop();
    list.push([line.tick, line.value]);
    if (list.length > 4000) list.shift();
  }
}

function values(detail) {
  const key = `${actor} ${detail.attributes.map((a) => `${a.name}=${a.value}/${a.base}`).join()}`;
  if (document.activeElement?.dataset?.edit) return;
  fill(ui.values, key, () => [
    h("tr", {}, h("th", {}, "Attribute"), h("th", { class: "n" }, "Value"), h("th", { class: "n" }, "Base")),
    ...detail.attributes.map((a) =>
      h(
        "tr",
        {},
        h("td", {}, h("button", { class: "number", onclick: () => toggle(a.name) }, a.name)),
        h("td", { class: "n" }, h("button", { class: "number", "data-attribute": a.name, onclick: () => explain(a.name) }, number(a.value))),
        h("td", { class: "n" }, h("input", { "data-edit": a.name, "aria-label": `Base of ${a.name}`, size: 6, value: number(a.base), onchange: (e) => studio.put({ Act: { Set: { who: actor, attribute: a.name, value: Number(e.target.value) } } }).then(() => e.target.blur()) })),
      ),
    ),
  ]);
  for (const a of detail.attributes) {
    const list = `${actor}.${a.name}`;
    if (!history.has(list)) history.set(list, [[studio.frame.tick, a.value]]);
  }
  if (!ui.shown.size && detail.attributes.length) {
    const wanted = detail.attributes.find((a) => /health/i.test(a.name) && !/max/i.test(a.name)) ?? detail.attributes[0];
    ui.shown.add(wanted.name);
  }
}

function toggle(name) {
  ui.shown.has(name) ? ui.shown.delete(name) : ui.shown.add(name);
}

function plots(frame) {
  fill(ui.plots, [...ui.shown].join(), () => [...ui.shown].map((name) => h("canvas", { "data-plot": name, role: "img", "aria-label": `${name} over time` })));
  for (const el of ui.plots.querySelectorAll("canvas")) {
    const points = history.get(`${actor}.${el.dataset.plot}`) ?? [];
    el.dataset.last = points.findLast((p) => p[0] <= frame.tick)?.[1] ?? "";
    plot(el, points, Math.max(frame.start, frame.tick - 1200), frame.tick, el.dataset.plot);
  }
}

async function explain(attribute) {
  const why = await studio.ask({ ask: "explain", side, who: actor, attribute });
  if (why) ui.answer.replaceChildren(h("p", { id: "why" }, why.text), ...why.lines.map((l) => h("div", { class: "quiet" }, `${l.does} ${number(l.magnitude)} by ${l.effect}${l.by ? ` of ${l.by}` : ""}, level ${l.level}${l.place ? `, ${l.place[0]}:${l.place[1]}` : ""}${l.note ? ` (${l.note})` : ""}`)));
}

function effects(detail) {
  timeline(ui.effects, detail.effects, 10);
  fill(ui.list, detail.effects.map((e) => `${e.key}${e.stacks}${e.state}${Math.round(e.elapsed * 10)}`).join(), () => [
    h("tr", {}, ...["Effect", "By", "Level", "Stacks", "Since", "Left", ""].map((t) => h("th", {}, t))),
    ...detail.effects.map((e) => h("tr", {}, h("td", {}, e.name), h("td", {}, e.by ?? ""), h("td", {}, String(e.level)), h("td", {}, String(e.stacks)), h("td", {}, `${e.elapsed.toFixed(1)} s`), h("td", {}, e.total === null ? "∞" : `${Math.max(0, e.total - e.elapsed).toFixed(1)} s`), h("td", {}, e.state))),
  ]);
}

function tags(detail) {
  fill(ui.tags, detail.tags.join(), () => {
    const root = { below: new Map() };
    for (const [name, count] of detail.tags) {
      let at = root;
      for (const part of name.split(".")) {
        if (!at.below.has(part)) at.below.set(part, { below: new Map(), count: 0 });
        at = at.below.get(part);
      }
      at.count = count;
    }
    const list = (node) => h("ul", { class: "tree" }, ...[...node.below].map(([name, n]) => h("li", {}, name, n.count ? h("b", {}, ` ${n.count}`) : "", n.below.size ? list(n) : null)));
    return list(root);
  });
}

function abilities(detail) {
  fill(ui.abilities, detail.abilities.map((a) => `${a.name}${a.ready}${a.running}${a.charges}${a.reasons.map((r) => r.kind + Math.round((r.heals ?? 0) * 5))}`).join(), () => [
    h("tr", {}, ...["Ability", "State", "Why not"].map((t) => h("th", {}, t))),
    ...detail.abilities.map((a) => h("tr", {}, h("td", { title: a.text ?? "" }, a.title), h("td", { class: a.ready ? "good" : "quiet" }, a.running ? "running" : a.ready ? "ready" : "not now", a.charges ? ` ${a.charges[0]}/${a.charges[1]}` : ""), h("td", {}, ...a.reasons.map((r) => h("div", {}, `${r.text}${r.heals === null ? "" : `, ${r.heals.toFixed(1)} s`}`))))),
  ]);
}

function log(frame) {
  const lines = studio.news.filter((n) => n.tick <= frame.tick && n.who === actor).slice(-60).reverse();
  fill(ui.log, lines.map((l) => l.serial).join(), () => lines.map((l) => h("li", { class: `${l.kind} ${l.certainty ?? ""}` }, h("button", { onclick: () => chain(l) }, `${(l.tick / 60).toFixed(2)} s ${l.text}`))));
}

async function chain(line) {
  const steps = await studio.ask({ ask: "chain", serial: line.serial });
  if (steps) ui.answer.replaceChildren(h("ol", { class: "chain", id: "chain" }, ...steps.map((s) => h("li", { class: s.kind }, `${s.who}: ${s.text}`))));
}
