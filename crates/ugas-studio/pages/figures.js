// What costs what.

import { fill, h, number } from "./dom.js";

let studio;
let ui;
let told = null;
let asking = false;

export const figures = { open, show };

function open(main, owner) {
  studio = owner;
  ui = { much: h("table", { id: "much" }), tasks: h("table", { id: "tasks" }) };
  main.replaceChildren(h("div", { class: "grid two" }, h("section", { class: "panel" }, h("h2", {}, "How much there is"), ui.much), h("section", { class: "panel" }, h("h2", {}, "Tasks, by kind"), ui.tasks)));
}

function show(frame) {
  if (!asking && frame.tick % 15 === 0) {
    asking = true;
    studio.ask({ ask: "figures" }).then((answer) => ((told = answer ?? told), (asking = false)));
  }
  if (!told) return;
  const rows = [["Controllers", told.controllers], ["Effects", told.effects], ["Abilities granted", told.abilities], ["Abilities running", told.running], ["Tasks that wait", told.waiting_tasks], ["Microseconds a step", told.step_us], ["Ticks recorded", told.recorded], ["Bytes a second from the server", frame.bytes_a_second]];
  fill(ui.much, JSON.stringify(rows), () => rows.map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", { class: "n" }, number(value)))));
  fill(ui.tasks, JSON.stringify(told.tasks), () => [
    h("tr", {}, ...["Task", "Instances", "Average µs", "Ticks a second"].map((t) => h("th", {}, t))),
    ...(told.tasks.length ? told.tasks.map((t) => h("tr", {}, h("td", {}, t.task ?? "?"), h("td", { class: "n" }, String(t.instances)), h("td", { class: "n" }, number(t.average_us)), h("td", { class: "n" }, number(t.rate)))) : [h("tr", {}, h("td", { colspan: 4, class: "quiet" }, "No task ticks; waiting costs nothing."))]),
  ]);
}
