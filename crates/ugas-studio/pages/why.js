// Explanations that several pages show: writes of a base value, and chains of causes.

import { at, h, number, plain, signed } from "./dom.js";

// The last writes of a base value, the newest first; `go` shows the causes of a write.
export function writes(list, who, attribute, go) {
  if (!list) return [h("p", { class: "quiet", id: "writes" }, "Only the server records writes of the base value; explain the value on the server to see them.")];
  const text = (w) => `${signed(w.by)} to ${number(w.now)}${w.effect ? ` by ${w.effect}` : ""}${w.from ? ` from ${w.from}` : ""}`;
  return [
    h("h3", {}, "Last writes of the base value"),
    list.length
      ? h("ul", { class: "log", id: "writes" }, ...list.map((w) => h("li", {}, h("time", {}, at(w.tick)), h("button", { title: "Show the causes", "aria-label": `${attribute} of ${who}, ${text(w)} at ${at(w.tick)}: show the causes`, onclick: () => go({ serial: w.serial, who }) }, text(w)))))
      : h("p", { class: "empty", id: "writes" }, "None: the base value is the initial value."),
  ];
}

// The text of an explanation without modifiers: the value has none, or the client does not know them.
export const unmodified = (why) => (why.lines === null ? "" : h("p", { class: "empty" }, "No modifiers: the value equals its base value."));

// A chain of causes, the direct cause first.
export const causes = (steps) => h("ol", { class: "chain", id: "chain" }, ...steps.map((s) => h("li", { class: s.kind }, `${s.who}: ${plain(s.text)}`, h("span", { class: "quiet" }, ` ${at(s.tick)}`))));
