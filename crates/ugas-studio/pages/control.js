// Controls for the selected actor: effects, abilities, inputs, events, position.

import { showOutcome, h } from "./dom.js";
import { previewed, previewToggle } from "./preview.js";

export const place = (who, [x, z]) => ({ Action: { Move: { who, to: [x, 0, z] } } });

// `actor` returns the selected actor.
export function control(studio, actor) {
  const field = (id, title, list, hint) => h("label", { class: "field" }, h("span", {}, title), h("input", { id, list, autocomplete: "off", spellcheck: "false", placeholder: hint }));
  const value = (id) => document.getElementById(id).value.trim();
  const some = (id) => value(id) || null;
  const level = () => Math.max(1, Math.round(Number(value("d-level"))) || 1);
  const names = () => studio.frame?.sides[0].actors.slice(0, 200).map((a) => a.name) ?? [];
  const lists = { "l-effects": studio.hello.effects, "l-abilities": studio.hello.abilities, "l-inputs": studio.hello.inputs, "l-tags": studio.hello.tags, "l-actors": names() };
  const act = async (button, make) => {
    const outcome = button.parentElement.querySelector(".outcome");
    showOutcome(outcome, actor() ? await studio.act(make(actor())) : { done: false, text: "Select an actor first." });
  };
  const button = (id, text, make) => h("button", { id, onclick: (e) => act(e.currentTarget, (who) => ({ Action: make(who) })) }, text);
  // A button whose action runs on the server and can be previewed. `title` describes the action.
  const previewButton = (id, text, title, make) => {
    const request = () => actor() && { title: title(actor()), side: null, action: make(actor()) };
    return [h("button", { id, onclick: (e) => act(e.currentTarget, (who) => ({ Action: make(who) })), ...previewed(studio, id, request) }, text), previewToggle(studio, id, request)];
  };
  // Buttons, and below them the outcome of the last action.
  const row = (...all) => h("div", { class: "row" }, ...all, h("p", { class: "outcome" }));
  const where = () => value("d-place").split(/[ ,;]+/).map((v) => Number(v));
  const group = (...all) => h("div", { class: "grid tight" }, ...all);
  return h(
    "section",
    { class: "panel grid", "aria-label": "Control" },
    h("h2", {}, "Control the selected actor"),
    ...Object.entries(lists).map(([id, all]) => h("datalist", { id }, ...all.map((n) => h("option", { value: n })))),
    group(
      field("d-effect", "Effect", "l-effects", "GE_…"),
      field("d-level", "Level", undefined, "1"),
      field("d-by", "Source", "l-actors", "none"),
      row(...previewButton("do-apply", "Apply effect", (who) => `Apply ${value("d-effect") || "effect"} to ${who}`, (who) => ({ Apply: { effect: value("d-effect"), to: who, by: some("d-by"), level: level() } })), button("do-remove", "Remove effect", (who) => ({ Remove: { effect: value("d-effect"), from: who } }))),
    ),
    group(
      field("d-ability", "Ability", "l-abilities", "GA_…"),
      field("d-target", "Target", "l-actors", "none"),
      row(...previewButton("do-activate", "Activate ability", (who) => `Activate ${value("d-ability") || "ability"} of ${who}`, (who) => ({ Activate: { ability: value("d-ability"), who, target: some("d-target") } })), button("do-cancel", "Cancel ability", (who) => ({ Cancel: { ability: value("d-ability"), who } }))),
    ),
    group(
      field("d-input", "Input", "l-inputs", "Primary"),
      row(button("do-press", "Press input", (who) => ({ Press: { input: value("d-input"), who, target: some("d-target") } })), button("do-release", "Release input", (who) => ({ Release: { input: value("d-input"), who } }))),
    ),
    group(field("d-event", "Event", "l-tags", "Event.…"), field("d-value", "Value", undefined, "0"), row(button("do-event", "Send event", (who) => ({ Event: { tag: value("d-event"), who, value: Number(value("d-value")) || 0 } })))),
    group(field("d-place", "Position", undefined, "x z"), row(h("button", { id: "do-move", onclick: (e) => act(e.currentTarget, (who) => place(who, [where()[0] || 0, where()[1] || 0])) }, "Move actor"))),
    h("p", { class: "quiet" }, "Edit base values in the attribute table. ", h("kbd", {}, "U"), " undoes the last change."),
  );
}
