// Answers that several pages give in the same words: what wrote a value, and what caused something.

import { at, h, number, plain, signed } from "./dom.js";

// The last writes of a base value, the newest first; `go` shows what caused one.
export function writes(list, who, attribute, go) {
  if (!list) return [h("p", { class: "quiet", id: "writes" }, "Writes of the base value are recorded on the server; look at the server’s side.")];
  const text = (w) => `${signed(w.by)} to ${number(w.now)}${w.effect ? ` by ${w.effect}` : ""}${w.from ? ` from ${w.from}` : ""}`;
  return [
    h("h3", {}, "What wrote its base last"),
    list.length
      ? h("ul", { class: "log", id: "writes" }, ...list.map((w) => h("li", {}, h("time", {}, at(w.tick)), h("button", { title: "What caused it?", "aria-label": `${attribute} of ${who}, ${text(w)} at ${at(w.tick)}: what caused it?`, onclick: () => go({ serial: w.serial, who }) }, text(w)))))
      : h("p", { class: "empty", id: "writes" }, "Nothing: it is what it began with."),
  ];
}

// Where an explanation lists no modifier: there is none, or a client does not know them.
export const unmodified = (why) => (why.lines === null ? "" : h("p", { class: "empty" }, "No modifiers: the value is its base."));

// What led to something, the nearest cause first.
export const causes = (steps) => h("ol", { class: "chain", id: "chain" }, ...steps.map((s) => h("li", { class: s.kind }, `${s.who}: ${plain(s.text)}`, h("span", { class: "quiet" }, ` ${at(s.tick)}`))));
