// The list of events. Rolled-back predictions of one client within one second are one line that can be expanded.

import { at, fill, h } from "./dom.js";

// The number of ticks within which rolled-back predictions share a line.
const FOLD = 60;
// Lines that are expanded, by client and first event.
const expanded = new Set();

// Groups `lines`, which are sorted from the oldest to the newest, and returns the newest first. An item is one event, or several rolled-back predictions of one client.
export function folded(lines) {
  const items = [];
  const open = new Map();
  for (const line of [...lines].reverse()) {
    const group = line.certainty === "Undone" ? open.get(line.client) : null;
    if (group && group.tick - line.tick < FOLD) group.lines.push(line);
    else {
      const item = { tick: line.tick, client: line.client, lines: [line] };
      if (line.certainty === "Undone") open.set(line.client, item);
      items.push(item);
    }
  }
  return items;
}

// Shows the newest `most` items in a list; `text` describes an event, `show` shows its cause.
export function showLog(el, lines, most, empty, text, show) {
  const items = folded(lines).slice(0, most);
  const keyOf = (item) => `${item.client} ${item.lines.at(-1).serial}`;
  const key = items.map((item) => `${item.lines[0].serial}${expanded.has(keyOf(item)) ? "+" : ""}x${item.lines.length}`).join() || "none";
  const event = (l) => h("li", { "data-key": l.serial, class: `${l.kind} ${l.certainty ?? ""}` }, h("time", {}, at(l.tick)), h("button", { "data-kind": l.kind, onclick: () => show(l) }, text(l)));
  const group = (item) => {
    const id = keyOf(item);
    const toggle = () => {
      expanded.has(id) ? expanded.delete(id) : expanded.add(id);
      delete el.dataset.shown;
      showLog(el, lines, most, empty, text, show);
    };
    const open = expanded.has(id);
    const head = h("button", { class: "fold", "aria-expanded": String(open), onclick: toggle }, `${open ? "▾" : "▸"} ${item.client} rolled back ${item.lines.length} predictions`);
    return h("li", { "data-key": id, class: "Undone" }, h("time", {}, at(item.tick)), head, open ? h("ul", { class: "log" }, ...item.lines.map(event)) : null);
  };
  fill(el, key, () => (items.length ? items.map((item) => (item.lines.length > 1 ? group(item) : event(item.lines[0]))) : [h("li", { class: "empty" }, empty)]));
}
