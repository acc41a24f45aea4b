// Clients compared with the server: ticks ahead, corrections and bandwidth.

import { at, bytes as inBytes, canvas, fill, h, number, paint, percent, signed } from "./dom.js";
import { latest } from "./link.js";

// Samples of the plot, and rows of the comparison.
const MAX_SAMPLES = 600;
const MAX_ROWS = 200;

let studio;
let ui;
// [tick, bytes a second]; kept while other pages are open.
let bytes = [];
let timelines;
// The client whose link the sliders change; null for all links.
let whose = null;
// The number of corrections of each client in the last frame, and the time of the last increase.
const correctionsOf = new Map();

export const network = { open, show };

function open(main, owner) {
  studio = owner;
  correctionsOf.clear();
  const slider = (id, title, most, step, unit) => {
    const out = h("output", { for: id });
    const input = h("input", { type: "range", id, min: 0, max: most, step, oninput: () => link() });
    return { out, input, unit, row: h("div", { class: "slider" }, h("label", { for: id, class: "row between" }, title, out), input) };
  };
  ui = {
    whose: h("select", { id: "n-whose", "aria-label": "Link of", onchange: (e) => (whose = e.target.value || null) }),
    trip: slider("n-trip", "Round trip", 500, 5, "ms"),
    loss: slider("n-loss", "Packet loss", 60, 1, "%"),
    clients: h("table", { id: "clients" }),
    plot: h("canvas", { class: "plain", role: "img", "aria-label": "Bytes per second sent by the server" }),
    rolledBack: h("ul", { class: "log scroll", id: "undone" }),
    values: h("table", { id: "comparison" }),
    actors: h("datalist", { id: "n-actors" }),
  };
  const field = (id, title, value, list, hint) => h("label", { class: "field" }, h("span", {}, title), h("input", { id, value, list, placeholder: hint, autocomplete: "off" }));
  const value = (id) => document.getElementById(id).value.trim();
  const panel = (title, ...content) => h("section", { class: "panel" }, h("h2", {}, title), ...content);
  main.replaceChildren(
    h(
      "div",
      { class: "grid side" },
      h(
        "div",
        { class: "grid" },
        h("section", { class: "panel grid tight" }, h("h2", {}, "Link"), ui.whose, ui.trip.row, ui.loss.row),
        h(
          "section",
          { class: "panel grid tight" },
          h("h2", {}, "Add or remove a client"),
          ui.actors,
          field("n-name", "Name", "Ann"),
          field("n-owns", "Owns", "", "n-actors", "no actor"),
          h("div", { class: "row" }, h("button", { id: "n-join", onclick: () => studio.put({ Join: { client: value("n-name"), owns: value("n-owns").split(",").map((n) => n.trim()).filter(Boolean) } }) }, "Connect client"), h("button", { id: "n-leave", onclick: () => studio.put({ Leave: { client: value("n-name") } }) }, "Disconnect client")),
        ),
      ),
      h(
        "div",
        { class: "grid" },
        h("section", { class: "panel" }, h("h2", {}, "Clients"), h("div", { class: "scroll" }, ui.clients), h("p", { class: "quiet" }, "A correction happens when the server contradicts a prediction of the client: it rejects a command or does not make a change that the client predicted for it. Until the client’s clock is far enough ahead of the server, the client’s commands arrive late, and their predictions are corrected too. Actions of others change a controller in a way that its client cannot predict; they are counted as changes by others."), h("h2", {}, "Bytes per second sent by the server"), ui.plot),
        h("div", { class: "grid two" }, panel("Client and server values; differences are highlighted", h("div", { class: "scroll" }, ui.values)), panel("Rolled-back predictions", ui.rolledBack)),
      ),
    ),
  );
}

const link = latest(() => studio.put({ Link: { ...(whose === null ? {} : { client: whose }), round_trip: Number(ui.trip.input.value), loss: Number(ui.loss.input.value) / 100 } }));

function show(frame) {
  if (frame.timelines !== timelines) bytes = [];
  timelines = frame.timelines;
  const clients = frame.sides.filter((s) => s.client !== null);
  if (!clients.some((c) => c.client === whose)) whose = null;
  fill(ui.whose, JSON.stringify(clients.map((c) => c.client)), () => [h("option", { value: "" }, "All clients"), ...clients.map((c) => h("option", { value: c.client, "data-key": c.client }, c.client))]);
  if (document.activeElement !== ui.whose) ui.whose.value = whose ?? "";
  const [trip, loss] = clients.find((c) => c.client === whose)?.link ?? [frame.round_trip, frame.loss];
  for (const [part, value] of [[ui.trip, trip], [ui.loss, Math.round(loss * 100)]]) {
    if (document.activeElement !== part.input) part.input.value = value;
    part.out.textContent = `${value} ${part.unit}`;
    part.input.setAttribute("aria-valuetext", part.out.textContent);
  }
  const actors = frame.sides[0].actors.slice(0, MAX_ROWS);
  fill(ui.actors, actors.map((a) => a.name).join(), () => actors.map((a) => h("option", { value: a.name })));
  showClients(clients);
  plot(frame);
  compare(frame, clients);
  const list = rolledBack(frame);
  fill(ui.rolledBack, list.map((n) => n.key).join() || "none", () => (list.length ? list.map((n) => h("li", { "data-key": n.key, class: "Undone flash" }, h("time", {}, at(n.tick)), `${n.client}: ${n.who}: ${n.texts.join("; ")}`)) : [h("li", { class: "empty" }, "None: every prediction was confirmed.")]));
}

// Predictions of one client about one actor that were rolled back at the same tick are one line.
function rolledBack(frame) {
  const groups = new Map();
  for (const n of studio.events) {
    if (n.certainty !== "Undone" || n.tick > frame.tick) continue;
    const key = `${n.tick} ${n.client} ${n.who}`;
    if (!groups.has(key)) groups.set(key, { key, tick: n.tick, client: n.client, who: n.who, texts: [] });
    groups.get(key).texts.push(n.text);
  }
  return [...groups.values()].slice(-40).reverse();
}

function showClients(clients) {
  const now = performance.now();
  for (const c of clients) {
    const before = correctionsOf.get(c.client);
    correctionsOf.set(c.client, { count: c.corrections, at: before && c.corrections > before.count ? now : before?.at ?? -1e9 });
  }
  const fresh = (c) => now - correctionsOf.get(c.client).at < 1000;
  fill(ui.clients, JSON.stringify(clients.map((c) => [c.client, c.ahead, c.corrections, c.external_changes, c.correction_reason, c.refused, Math.round(c.clock_rate), c.link, fresh(c)])) || "none", () => [
    h("thead", {}, h("tr", {}, h("th", {}, "Client"), ...["Round trip", "Loss", "Ticks ahead", "Clock rate", "Corrections", "Changes by others", "Rejected"].map((t) => h("th", { class: "n" }, t)), h("th", {}, "Last correction"))),
    h(
      "tbody",
      {},
      ...(clients.length ? clients.map((c) => h("tr", { "data-key": c.client, class: fresh(c) ? "differs" : undefined }, h("td", {}, c.client), h("td", { class: "n", "data-trip": c.link[0] }, `${c.link[0]} ms`), h("td", { class: "n" }, percent(c.link[1])), h("td", { class: "n" }, String(c.ahead)), h("td", { class: "n", title: "How much faster (+) or slower (−) the clock runs until the client is as far ahead of the server as its link requires" }, c.clock_rate ? `${signed(Math.round(c.clock_rate))} %` : "normal"), h("td", { class: "n", "data-corrections": c.corrections }, String(c.corrections)), h("td", { class: "n", "data-external": c.external_changes }, String(c.external_changes)), h("td", { class: "n" }, String(c.refused)), h("td", { "data-reason": c.client }, c.correction_reason ?? "none"))) : [h("tr", {}, h("td", { colspan: 9, class: "empty" }, "No clients; add a client on the left."))]),
    ),
  ]);
}

function plot(frame) {
  if (bytes.length && bytes.at(-1)[0] > frame.tick) bytes = bytes.filter((b) => b[0] <= frame.tick);
  if (bytes.at(-1)?.[0] !== frame.tick) bytes = [...bytes.slice(1 - MAX_SAMPLES), [frame.tick, frame.bytes_a_second]];
  const { cx, width, height } = canvas(ui.plot, Math.min(0.3, 110 / (ui.plot.clientWidth || 300)));
  const most = Math.max(1, ...bytes.map((b) => b[1]));
  const y = (v) => height - 4 - (v / most) * (height - 24);
  cx.strokeStyle = paint("--edge");
  cx.beginPath();
  for (const v of [0, most / 2, most]) {
    cx.moveTo(0, y(v));
    cx.lineTo(width, y(v));
  }
  cx.stroke();
  cx.strokeStyle = paint("--cool");
  cx.lineWidth = 2;
  cx.beginPath();
  bytes.forEach(([, b], i) => cx.lineTo((i / (MAX_SAMPLES - 1)) * width, y(b)));
  cx.stroke();
  cx.fillStyle = paint("--text");
  cx.fillText(`now ${inBytes(frame.bytes_a_second)}/s, peak ${inBytes(most)}/s`, 6, 14);
}

function compare(frame, clients) {
  const serverActors = new Map(frame.sides[0].actors.map((a) => [a.name, a]));
  const all = clients.flatMap((c) => c.actors.slice(0, MAX_ROWS).flatMap((a) => a.bars.map((b) => ({ client: c.client, actor: a.name, name: b.name, shown: b.value, server: serverActors.get(a.name)?.bars.find((x) => x.name === b.name)?.value })))).slice(0, MAX_ROWS);
  fill(ui.values, JSON.stringify(all), () => [
    h("thead", {}, h("tr", {}, ...["Client", "Actor", "Attribute"].map((t) => h("th", {}, t)), ...["Client", "Server"].map((t) => h("th", { class: "n" }, t)))),
    h(
      "tbody",
      {},
      ...(all.length ? all.map((r) => h("tr", { "data-key": `${r.client} ${r.actor} ${r.name}`, class: r.shown !== null && r.shown !== r.server ? "differs" : undefined }, h("td", {}, r.client), h("td", {}, r.actor), h("td", {}, r.name), h("td", { class: "n" }, number(r.shown)), h("td", { class: "n" }, number(r.server)))) : [h("tr", {}, h("td", { colspan: 5, class: "empty" }, "No clients to compare."))]),
    ),
  ]);
}
