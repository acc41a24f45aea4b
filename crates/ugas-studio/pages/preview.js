// Previews: a box that shows the changes that a button would make, while the button is hovered or focused. On a touch screen,
// a small button “Preview” next to the button opens and closes the box. A preview does not change the world.

import { at, fill, h, number, plain, seconds } from "./dom.js";

// Milliseconds until a hovered button opens its box, until the box closes after the pointer left, and between two requests.
const DELAY = 120;
const LINGER = 200;
const REFRESH = 250;

// The current preview: its key, its button, the event that opened it and the function that requests it.
let shown = null;
let timer = 0;
let box = null;

// Attributes and handlers of a button with a preview. `make` returns the title, the side and the action, and optionally a
// description; or null if there is nothing to preview. `key` identifies the button when its page is drawn again.
export function previewed(studio, key, make) {
  const show = (button, by) => open({ studio, key, make, button, by });
  create();
  return {
    "aria-describedby": shown?.key === key ? "preview" : undefined,
    onpointerenter: (e) => e.pointerType !== "touch" && later(DELAY, show, e.currentTarget, "hover"),
    onpointerleave: () => later(LINGER, () => shown?.by === "hover" && close()),
    onfocus: (e) => e.currentTarget.matches(":focus-visible") && show(e.currentTarget, "focus"),
    onblur: () => shown?.by === "focus" && close(),
  };
}

// The button that opens and closes a preview on a touch screen.
export function previewToggle(studio, key, make) {
  create();
  const toggle = (e) => (shown?.key === key && shown.by === "toggle" ? close() : open({ studio, key, make, button: e.currentTarget, by: "toggle" }));
  return h("button", { class: "peek", "aria-expanded": String(shown?.key === key && shown.by === "toggle"), "aria-controls": "preview", "data-preview": key, onclick: toggle }, "Preview");
}

function later(time, act, ...args) {
  clearTimeout(timer);
  timer = setTimeout(act, time, ...args);
}

function open(next) {
  clearTimeout(timer);
  if (!next.button.isConnected || (shown?.key === next.key && next.by === "hover")) return;
  close();
  shown = next;
  shown.button.setAttribute(shown.by === "toggle" ? "aria-expanded" : "aria-describedby", shown.by === "toggle" ? "true" : "preview");
  request(next);
}

function close() {
  clearTimeout(timer);
  if (!shown) return;
  shown.button.removeAttribute("aria-describedby");
  if (shown.by === "toggle") shown.button.setAttribute("aria-expanded", "false");
  shown = null;
  box.hidden = true;
  box.replaceChildren();
  delete box.dataset.shown;
}

// The box stays open while the pointer is on it. Escape, a click and a tap elsewhere close it.
function create() {
  if (box) return;
  box = document.body.appendChild(h("div", { id: "preview", role: "tooltip", hidden: true, onpointerenter: () => clearTimeout(timer), onpointerleave: () => later(LINGER, () => shown?.by === "hover" && close()) }));
  window.addEventListener("keydown", (e) => e.key === "Escape" && close());
  const isInside = (el) => box.contains(el) || (shown?.by === "toggle" && shown.button.contains(el));
  window.addEventListener("click", (e) => !isInside(e.target) && close(), true);
  window.addEventListener("hashchange", close);
  window.addEventListener("scroll", () => shown && !box.hidden && place(), true);
}

async function request(of) {
  const wanted = of.make();
  if (!wanted) return close();
  const { side, action } = wanted;
  const answer = await of.studio.link.ask({ ask: "preview", side, action });
  if (shown !== of) return;
  if (!of.button.isConnected) return close();
  const first = box.hidden;
  box.hidden = false;
  fill(box, JSON.stringify([wanted, answer]), () => content(wanted, answer));
  place();
  // Announced only once: a refreshed preview is not announced again.
  if (first && of.by !== "hover") document.getElementById("live").textContent = box.innerText;
  setTimeout(() => shown === of && request(of), REFRESH);
}

// Below the button if there is enough room, or more room than above the button; never on top of the button.
function place() {
  const on = shown.button.getBoundingClientRect();
  box.style.maxHeight = "";
  const { width, height } = box.getBoundingClientRect();
  const [above, below] = [on.top - 14, innerHeight - on.bottom - 14];
  const isBelow = height <= below || below >= above;
  const room = Math.max(60, isBelow ? below : above);
  box.style.maxHeight = `${room}px`;
  box.style.left = `${Math.max(8, Math.min(on.left, innerWidth - width - 8))}px`;
  box.style.top = `${isBelow ? on.bottom + 6 : on.top - 6 - Math.min(height, room)}px`;
}

const sentence = (text) => `${text[0].toUpperCase()}${plain(text.slice(1))}.`;

function content({ title, text, side, action }, answer) {
  const head = [h("b", {}, title), text ? h("p", {}, plain(text)) : null];
  if (answer.error !== undefined) return [...head, h("p", { class: "bad" }, sentence(answer.error))].filter(Boolean);
  const { refusal, note, actors } = answer.preview;
  const where = h("p", { class: "quiet" }, `Preview ${side === null ? "on the server" : `on client ${side}`}, at ${at(answer.tick)}`);
  const rest = refusal ? [h("p", { class: "bad", "data-kind": refusal.kind }, `Would be refused: ${plain(refusal.text)}.`)] : actors.map(row);
  const commit = action.Activate && actors.length && !refusal ? h("p", { class: "quiet" }, "This preview includes the commit and the tasks that run immediately, but not later tasks.") : null;
  return [...head, where, note ? h("p", { class: "hot" }, sentence(note)) : null, ...rest, commit].filter(Boolean);
}

function row(actor) {
  const isChanged = (a) => a.before !== a.after;
  const known = actor.changes !== null;
  const listed = actor.attributes.filter((a) => (known ? isChanged(a) || a.base_before !== a.base_after : a.before !== null));
  // Without a value before and after the action, the attribute is unknown to the client and may change.
  const isUnknown = (a) => known && a.before === null && a.after === null;
  const unknown = actor.attributes.filter(isUnknown);
  const others = actor.attributes.filter((a) => !listed.includes(a) && !isUnknown(a));
  const base = (a) => (known && !isChanged(a) ? ` (base ${number(a.base_before)} → ${number(a.base_after)})` : "");
  const values = listed.map((a) => h("tr", { "data-key": a.name, "data-attribute": a.name }, h("td", {}, a.name), h("td", { class: "n" }, isChanged(a) ? `${number(a.before)} → ${number(a.after)}` : number(a.before), base(a))));
  const lines = known ? changes(actor.changes) : [];
  const nothing = known && !listed.length && !lines.length;
  return h(
    "section",
    { "data-key": actor.name, "data-actor": actor.name },
    h("h3", {}, actor.name),
    values.length ? h("table", {}, h("tbody", {}, ...values)) : null,
    ...lines.map(([what, list]) => h("p", { "data-change": what }, h("span", { class: "quiet" }, `${what}: `), list.join("; "))),
    nothing ? h("p", { class: "quiet" }, unknown.length ? "No known change." : "No change.") : null,
    others.length ? h("p", { class: "quiet" }, `${known ? "Unchanged" : "Not replicated"}: ${others.map((a) => `${a.name} ${number(a.before)}`).join(", ")}`) : null,
    unknown.length ? h("p", { class: "quiet", "data-unknown": "" }, `Not replicated to this client: ${unknown.map((a) => a.name).join(", ")}`) : null,
    known ? null : h("p", { class: "quiet" }, "A client cannot preview changes to a remote actor; only the server computes them."),
  );
}

function changes(c) {
  const effect = (e) => `${e.name}${e.level > 1 ? ` level ${e.level}` : ""}${e.stacks > 1 ? ` ×${e.stacks}` : ""}${e.remaining === null ? "" : ` ${seconds(e.remaining)}`}${e.state === "active" ? "" : ` (${e.state})`}`;
  const all = [
    ["Tags added", c.tags_added],
    ["Tags removed", c.tags_removed],
    ["Effects added", c.effects_added.map(effect)],
    ["Effects removed", c.effects_removed.map(effect)],
    ["Effects changed", c.effects_changed.map(([old, now]) => `${effect(old)} → ${effect(now)}`)],
    ["Destroyed", c.destroyed ? ["yes"] : []],
  ];
  return all.filter(([, list]) => list.length);
}
