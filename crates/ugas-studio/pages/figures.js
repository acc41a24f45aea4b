// What costs what.

import { bytes, fill, h, number } from "./dom.js";

let studio;
let ui;
let told = null;
let asking = false;

export const figures = { open, show };

function open(main, owner) {
  studio = owner;
  ui = { much: h("table", { id: "much" }), tasks: h("table", { id: "tasks" }), waits: h("table", { id: "waits" }) };
  const panel = (title, table) => h("section", { class: "panel scroll" }, h("h2", {}, title), table);
  main.replaceChildren(h("div", { class: "grid two" }, panel("How much there is", ui.much), h("div", { class: "grid" }, panel("Tasks that look around, by type", ui.tasks), panel("Tasks that wait and cost nothing", ui.waits))));
}

const cells = (values) => values.map((v) => h("td", { class: typeof v === "number" ? "n" : undefined }, typeof v === "number" ? number(v) : v));

function show(frame) {
  if (!asking && (told === null || frame.tick % 15 === 0 || !frame.running)) {
    asking = true;
    studio.ask({ ask: "figures" }).then((answer) => ((told = answer ?? told), (asking = false)));
  }
  if (!told) return;
  const rows = [
    ["Controllers", told.controllers],
    ["Attribute values", told.attributes],
    ["Effects", told.effects],
    ["Tags carried", told.tags],
    ["Abilities granted", told.abilities],
    ["Abilities running", told.running],
    ["Tasks that wait", told.waiting_tasks],
    ["Microseconds a step", told.step_us && Math.round(told.step_us)],
    ["Allocations in the last step", told.allocations],
    ["Ticks recorded", told.recorded],
    ["Copies kept for going back", told.keyframes],
    ["From the server in a second", bytes(frame.bytes_a_second)],
  ].filter(([, value]) => value !== undefined && value !== null);
  fill(ui.much, JSON.stringify(rows), () => rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "n" }, typeof value === "string" ? value : number(value)))));
  fill(ui.tasks, JSON.stringify(told.tasks), () => [
    h("tr", {}, ...["Task", "Instances", "Ticked now", "Put off", "µs now", "Ticks", "µs in all", "Average µs", "Ticks a second"].map((t) => h("th", { scope: "col" }, t))),
    ...(told.tasks.length ? told.tasks.map((t) => h("tr", {}, ...cells([t.task ?? "?", t.instances, t.ticked, t.deferred, t.frame_us, t.ticks, t.sum_us, t.average_us, t.rate]))) : [h("tr", {}, h("td", { colspan: 9, class: "quiet" }, "No task looks around; waiting costs nothing."))]),
  ]);
  fill(ui.waits, JSON.stringify(told.waiting), () => (told.waiting.length ? told.waiting.map(([task, n]) => h("tr", {}, ...cells([task, n]))) : [h("tr", {}, h("td", { class: "quiet" }, "None."))]));
}
