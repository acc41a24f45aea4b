// Clients beside the server: how far they are ahead, what was corrected, and what goes over the wire.

import { canvas, fill, h, number, paint } from "./dom.js";

let studio;
let ui;
let bytes = [];

export const network = { open, show };

function open(main, owner) {
  studio = owner;
  ui = {
    clients: h("table", { id: "clients" }),
    plot: h("canvas", { role: "img", "aria-label": "Bytes a second from the server" }),
    undone: h("ul", { class: "log scroll", id: "undone" }),
    values: h("table", { id: "beside" }),
  };
  const field = (id, title, value) => h("label", { class: "row" }, h("span", { class: "quiet", style: "min-width:6rem" }, title), h("input", { id, value, size: 10 }));
  const value = (id) => document.getElementById(id).value.trim();
  main.replaceChildren(
    h(
      "div",
      { class: "grid side" },
      h(
        "section",
        { class: "panel grid" },
        h("h2", {}, "Link of everybody"),
        field("n-trip", "Round trip ms", "150"),
        field("n-loss", "Lost %", "5"),
        h("button", { id: "n-set", onclick: () => studio.put({ Link: { round_trip: Number(value("n-trip")), loss: Number(value("n-loss")) / 100 } }) }, "Set"),
        h("h2", {}, "A client more"),
        field("n-name", "Name", "Ann"),
        field("n-owns", "Plays", ""),
        h("div", { class: "row" }, h("button", { id: "n-join", onclick: () => studio.put({ Join: { client: value("n-name"), owns: value("n-owns").split(/[ ,]+/).filter(Boolean) } }) }, "Join"), h("button", { id: "n-leave", onclick: () => studio.put({ Leave: { client: value("n-name") } }) }, "Leave")),
      ),
      h("div", { class: "grid" }, h("section", { class: "panel" }, h("h2", {}, "Clients"), ui.clients, h("h2", {}, "Bytes a second"), ui.plot), h("div", { class: "grid two" }, h("section", { class: "panel" }, h("h2", {}, "Client beside server (what differs is marked)"), h("div", { class: "scroll" }, ui.values)), h("section", { class: "panel" }, h("h2", {}, "Predictions that were taken back"), ui.undone))),
    ),
  );
}

function show(frame) {
  const clients = frame.sides.filter((s) => s.client !== null);
  fill(ui.clients, JSON.stringify(clients.map((c) => [c.client, c.ahead, c.corrections, c.refused])), () => [
    h("tr", {}, ...["Client", "Ticks ahead", "Corrections", "Refused"].map((t) => h("th", {}, t))),
    ...clients.map((c) => h("tr", {}, h("td", {}, c.client), h("td", {}, String(c.ahead)), h("td", { class: c.corrections ? "hot" : "" }, String(c.corrections)), h("td", {}, String(c.refused)))),
  ]);
  bytes = [...bytes.slice(-599), frame.bytes_a_second];
  const { cx, width, height } = canvas(ui.plot, 0.12);
  const most = Math.max(1, ...bytes);
  cx.strokeStyle = paint("--cool");
  cx.beginPath();
  bytes.forEach((b, i) => cx.lineTo((i / 600) * width, height - (b / most) * (height - 14)));
  cx.stroke();
  cx.fillStyle = paint("--quiet");
  cx.font = "11px system-ui";
  cx.fillText(`at most ${number(most)} B/s`, 4, 11);
  const truth = new Map(frame.sides[0].actors.map((a) => [a.name, a]));
  const rows = clients.flatMap((c) => c.actors.flatMap((a) => a.bars.map((b) => [c.client, a.name, b.name, b.value, truth.get(a.name)?.bars.find((x) => x.name === b.name)?.value])));
  fill(ui.values, JSON.stringify(rows), () => [
    h("tr", {}, ...["Client", "Actor", "Value", "Shown", "True"].map((t) => h("th", {}, t))),
    ...rows.slice(0, 200).map((r) => h("tr", { class: r[3] !== r[4] ? "hot" : "" }, h("td", {}, r[0]), h("td", {}, r[1]), h("td", {}, r[2]), h("td", {}, number(r[3])), h("td", {}, number(r[4])))),
  ]);
  const undone = studio.news.filter((n) => n.certainty === "Undone" && n.tick <= frame.tick).slice(-80).reverse();
  fill(ui.undone, undone.map((n) => n.serial).join(), () => undone.map((n) => h("li", { class: "Undone" }, `${(n.tick / 60).toFixed(2)} s ${n.client}: ${n.text}`)));
}
