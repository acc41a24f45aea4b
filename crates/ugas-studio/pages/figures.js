// Statistics: counts, and the cost of tasks and of capabilities.

import { bytes, fill, h, number } from "./dom.js";

let studio;
let ui;
let stats = null;
let asking = false;

export const figures = { open, show };

function open(main, owner) {
  studio = owner;
  ui = { counts: h("table", { id: "counts" }), tasks: h("table", { id: "tasks" }), waiting: h("table", { id: "waiting" }), capabilities: h("table", { id: "capability-costs" }) };
  const panel = (title, table) => h("section", { class: "panel scroll" }, h("h2", {}, title), table);
  main.replaceChildren(h("div", { class: "grid two" }, panel("Counts", ui.counts), h("div", { class: "grid" }, panel("Ticking tasks, by type", ui.tasks), panel("Waiting tasks (no cost while they wait)", ui.waiting), panel("Capabilities, by class (no cost while they sleep)", ui.capabilities))));
}

const cells = (values) => values.map((v) => h("td", { class: typeof v === "number" ? "n" : undefined }, typeof v === "number" ? number(v) : v));

function show(frame) {
  if (!asking && (stats === null || frame.tick % 15 === 0 || !frame.running)) {
    asking = true;
    studio.ask({ ask: "figures" }).then((answer) => ((stats = answer ?? stats), (asking = false)));
  }
  if (!stats) return;
  const rows = [
    ["Controllers", stats.controllers],
    ["Attribute values", stats.attributes],
    ["Effects", stats.effects],
    ["Tags", stats.tags],
    ["Granted abilities", stats.abilities],
    ["Active abilities", stats.running],
    ["Capabilities", stats.capabilities],
    ["Waiting tasks", stats.waiting_tasks],
    ["Microseconds per step", stats.step_us && Math.round(stats.step_us)],
    ["Allocations in the last step", stats.allocations],
    ["Recorded ticks", stats.recorded],
    ["Keyframes of the recording", stats.keyframes],
    ["Sent by the server per second", bytes(frame.bytes_a_second)],
  ].filter(([, value]) => value !== undefined && value !== null);
  fill(ui.counts, JSON.stringify(rows), () => rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "n" }, typeof value === "string" ? value : number(value)))));
  fill(ui.tasks, JSON.stringify(stats.tasks), () => [
    h("tr", {}, ...["Task", "Instances", "Ticked", "Deferred", "µs", "Ticks in total", "µs in total", "Average µs", "Ticks per second"].map((t) => h("th", { scope: "col" }, t))),
    ...(stats.tasks.length ? stats.tasks.map((t) => h("tr", {}, ...cells([t.task ?? "?", t.instances, t.ticked, t.deferred, t.frame_us, t.ticks, t.sum_us, t.average_us, t.rate]))) : [h("tr", {}, h("td", { colspan: 9, class: "quiet" }, "No ticking tasks."))]),
  ]);
  fill(ui.waiting, JSON.stringify(stats.waiting), () => (stats.waiting.length ? stats.waiting.map(([task, n]) => h("tr", {}, ...cells([task, n]))) : [h("tr", {}, h("td", { class: "quiet" }, "No waiting tasks."))]));
  const costs = stats.capability_costs;
  fill(ui.capabilities, JSON.stringify(costs), () => [
    h("tr", {}, ...["Class", "Instances", "Active", "Visited", "Visits in total", "Evaluations", "µs in total", "Average µs"].map((t) => h("th", { scope: "col" }, t))),
    ...(costs.length ? costs.map((c) => h("tr", { "data-class": c.class }, ...cells([c.class, c.instances, c.active, c.visited, c.visits, c.evaluations, c.sum_us, c.average_us]))) : [h("tr", {}, h("td", { colspan: 8, class: "quiet" }, "No capabilities."))]),
  ]);
}
