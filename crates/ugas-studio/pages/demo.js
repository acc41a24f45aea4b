// The duel under lag: your client on the left, the server on the right, and what lag does and does not do in between.

import { canvas, fill, h, number, paint } from "./dom.js";

const RING = 16;
const KEYS = { Space: "Primary", Digit1: "Ability1", Digit2: "Ability2", Digit3: "Ability3", KeyJ: "Primary", KeyK: "Ability1", KeyL: "Ability2" };
const WALK = { KeyW: [0, -1], KeyS: [0, 1], KeyA: [-1, 0], KeyD: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const HERO = "Pyra";
const FOE = "Brann";

let studio;
let ui = {};
const down = new Set();
let bolts = [];
let seen = 0;
let shots = [];

export const demo = { open, show };

function open(main, owner) {
  studio = owner;
  studio.watch = [["You", HERO], ["You", FOE], [null, HERO], [null, FOE]];
  seen = studio.frame?.serial ?? 0;
  const slider = (id, title, most, step, act) => {
    const out = h("output", { id: `${id}-out`, for: id, class: "hot" });
    const input = h("input", { type: "range", id, min: 0, max: most, step, oninput: () => act() });
    return { out, input, row: h("div", {}, h("label", { for: id, class: "row between" }, title, out), input) };
  };
  ui.trip = slider("trip", "Round trip", 300, 5, link);
  ui.loss = slider("loss", "Lost", 60, 1, link);
  ui.left = h("canvas", { role: "img", "aria-label": "What your client shows" });
  ui.right = h("canvas", { role: "img", "aria-label": "What is true on the server" });
  ui.you = h("div", {});
  ui.server = h("div", {});
  ui.ahead = h("div", { class: "big good", id: "shots-ahead" });
  ui.asking = h("div", { class: "big bad", id: "shots-asking" });
  ui.plot = h("canvas", { role: "img", "aria-label": "Shots a minute over the last minute" });
  ui.twice = h("p", { id: "twice" });
  ui.hint = h("p", { class: "quiet" });
  ui.answer = h("div", { class: "panel", id: "answer", "aria-live": "polite" }, h("p", { class: "quiet" }, "Click a number to see where it comes from, a greyed ability to see why it cannot be used, a line below to see what caused it."));
  ui.log = h("ul", { class: "log", id: "log" });
  ui.drawer = drawer();
  main.replaceChildren(
    h(
      "div",
      { class: "grid duel" },
      h("section", { class: "panel", "aria-label": "Your client" }, h("h2", {}, "Your client"), ui.left, ui.you),
      h(
        "section",
        { class: "panel", "aria-label": "Lag" },
        ui.trip.row,
        ui.loss.row,
        h("h2", {}, "Shots a minute"),
        h("div", {}, ui.ahead, h("div", { class: "quiet" }, "cooldown played ahead")),
        h("div", {}, ui.asking, h("div", { class: "quiet" }, "cooldown confirmed by the server")),
        ui.plot,
        ui.twice,
        ui.hint,
      ),
      h("section", { class: "panel", "aria-label": "Server" }, h("h2", {}, "The server"), ui.right, ui.server),
    ),
    h("div", { class: "grid two", style: "margin-top:.6rem" }, h("div", { class: "grid" }, ui.answer, h("div", { class: "panel" }, h("h2", {}, "What happened"), h("div", { class: "scroll", style: "max-height:9rem" }, ui.log))), ui.drawer.el),
  );
  ui.drawer.load();
  window.onkeydown = key;
  window.onkeyup = key;
  window.onblur = () => (down.clear(), hold());
}

function link() {
  studio.put({ Link: { round_trip: Number(ui.trip.input.value), loss: Number(ui.loss.input.value) / 100 } });
}

function key(event) {
  if (studio.page !== "demo" || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|TEXTAREA|SELECT|BUTTON)$/.test(event.target.tagName) && event.type === "keydown") return;
  if (!KEYS[event.code] && !WALK[event.code]) return;
  event.preventDefault();
  event.type === "keydown" ? down.add(event.code) : down.delete(event.code);
  hold();
}

function hold() {
  const walk = [...down].map((code) => WALK[code]).filter(Boolean);
  const x = walk.reduce((sum, w) => sum + w[0], 0);
  const z = walk.reduce((sum, w) => sum + w[1], 0);
  const inputs = [...new Set([...down].map((code) => KEYS[code]).filter(Boolean))];
  studio.put({ Keys: { x, z, inputs } });
}

function show(frame) {
  for (const line of frame.news) {
    if (line.serial <= seen) continue;
    seen = line.serial;
    if (line.kind === "AbilityActivated" && line.client === null) bolts.push({ who: line.who, at: performance.now(), text: line.text });
  }
  bolts = bolts.filter((b) => performance.now() - b.at < 350);
  const you = frame.sides.find((s) => s.client === "You");
  const server = frame.sides[0];
  if (you) draw(ui.left, you);
  draw(ui.right, server);
  sliders(frame);
  people(ui.you, "You", frame);
  people(ui.server, null, frame);
  const [ahead, asking] = frame.shots ?? [0, 0];
  ui.ahead.textContent = number(ahead);
  ui.asking.textContent = number(asking);
  if (frame.running && frame.tick % 6 === 0) shots = [...shots.slice(-599), [frame.tick, ahead, asking]];
  plot();
  ui.twice.replaceChildren("modifier shown twice: ", h("b", { class: frame.twice ? "bad" : "good" }, `${frame.twice} frames`));
  const corrected = you ? `; ${you.corrections} predictions corrected, ${you.ahead} ticks ahead` : "";
  ui.hint.textContent = frame.taken ? `You play ${HERO}: WASD, space, 1 2 3${corrected}` : `Press a key to take over ${HERO}: WASD walk, space and 1 2 3 fight${corrected}`;
  log(frame);
}

function sliders(frame) {
  for (const [part, value, text] of [[ui.trip, frame.round_trip, `${frame.round_trip} ms`], [ui.loss, Math.round(frame.loss * 100), `${Math.round(frame.loss * 100)} %`]]) {
    if (document.activeElement !== part.input) part.input.value = value;
    part.out.textContent = text;
  }
}

function draw(el, side) {
  const { cx, width, height } = canvas(el, 0.62);
  const scale = Math.min(width, height * 1.35) / (2 * RING);
  const place = (a) => [width / 2 + a.x * scale, height / 2 + a.z * scale * 0.72];
  cx.strokeStyle = paint("--edge");
  cx.lineWidth = 2;
  cx.beginPath();
  cx.ellipse(width / 2, height / 2, 14.5 * scale, 14.5 * scale * 0.72, 0, 0, 7);
  cx.stroke();
  const find = (name) => side.actors.find((a) => a.name === name);
  for (const bolt of bolts) {
    const from = find(bolt.who);
    const to = find(bolt.who === HERO ? FOE : HERO);
    if (!from || !to || !/Firebolt|Fireball|LifeDrain|Strike|Bash|Judgement/.test(bolt.text)) continue;
    const share = (performance.now() - bolt.at) / 350;
    const [ax, ay] = place(from);
    const [bx, by] = place(to);
    cx.strokeStyle = paint(bolt.who === HERO ? "--accent" : "--cool");
    cx.globalAlpha = 1 - share;
    cx.beginPath();
    cx.moveTo(ax + (bx - ax) * share * 0.8, ay + (by - ay) * share * 0.8 - 10);
    cx.lineTo(ax + (bx - ax) * Math.min(1, share + 0.2), ay + (by - ay) * Math.min(1, share + 0.2) - 10);
    cx.lineWidth = 4;
    cx.stroke();
    cx.globalAlpha = 1;
  }
  for (const a of side.actors) {
    const [x, y] = place(a);
    cx.globalAlpha = a.dead ? 0.35 : 1;
    cx.fillStyle = paint(a.name === HERO ? "--accent" : "--cool");
    cx.beginPath();
    cx.arc(x, y - 8, 11, 0, 7);
    cx.fill();
    if (a.cues.some((c) => c.includes("Burning"))) {
      cx.strokeStyle = paint("--bad");
      cx.lineWidth = 3;
      cx.beginPath();
      cx.arc(x, y - 8, 15 + 2 * Math.sin(performance.now() / 90), 0, 7);
      cx.stroke();
    }
    const health = a.bars.find((b) => b.name === "Health") ?? a.bars[0];
    if (health) bar(cx, x - 24, y - 34, 48, 6, health.value / health.most, paint("--good"));
    if (a.cast) {
      bar(cx, x - 24, y - 26, 48, 4, a.cast.share, paint("--accent"));
      cx.fillStyle = paint("--quiet");
      cx.font = "11px system-ui";
      cx.textAlign = "center";
      cx.fillText(a.cast.name.replace("GA_", ""), x, y - 38);
    }
    cx.fillStyle = paint("--text");
    cx.font = "12px system-ui";
    cx.textAlign = "center";
    cx.fillText(a.dead ? `${a.name} (down)` : a.name, x, y + 18);
    cx.globalAlpha = 1;
  }
}

function bar(cx, x, y, width, height, share, fill) {
  cx.fillStyle = paint("--edge");
  cx.fillRect(x, y, width, height);
  cx.fillStyle = fill;
  cx.fillRect(x, y, width * Math.max(0, Math.min(1, share)), height);
}

function people(el, side, frame) {
  const details = [HERO, FOE].map((name) => [name, studio.detail(side, name)]);
  const key = JSON.stringify(details.map(([, d]) => d && [d.attributes.map((a) => [a.name, number(a.value)]), d.abilities.map((a) => [a.ready, a.running, a.charges, a.cooldown && Math.round(a.cooldown.share * 20)])]));
  fill(el, key, () =>
    details.map(([name, detail]) =>
      h(
        "div",
        {},
        h("div", { class: "row" }, h("b", {}, name), ...numbers(side, name, detail, frame)),
        h("div", { class: "row" }, ...(detail?.abilities ?? []).filter((a) => a.input).map((a) => ability(side, name, a))),
      ),
    ),
  );
}

function numbers(side, name, detail) {
  if (!detail) return [h("span", { class: "quiet" }, "not heard of yet")];
  const wanted = ["Health", "Mana", "Shield", "AttackPower", "SpellPower"];
  return detail.attributes
    .filter((a) => wanted.includes(a.name))
    .map((a) =>
      h("span", {}, h("span", { class: "quiet" }, `${a.name} `), h("button", { class: "number", title: "Where does this come from?", "data-attribute": a.name, "data-actor": name, onclick: () => explain(side, name, a.name) }, number(a.value))),
    );
}

function ability(side, name, a) {
  const wait = a.cooldown ? h("i", { style: `width:${100 * a.cooldown.share}%` }) : null;
  const charges = a.charges ? ` ${a.charges[0]}/${a.charges[1]}` : "";
  return h(
    "button",
    { class: "ability", "data-ready": String(a.ready), "data-ability": a.name, title: a.text ?? a.name, onclick: () => (a.ready ? use(side, name, a) : whyNot(name, a)) },
    wait,
    h("span", {}, `${a.title}${charges}${a.running ? " …" : ""}`),
  );
}

async function explain(side, who, attribute) {
  const why = await studio.ask({ ask: "explain", side, who, attribute });
  if (!why) return;
  const rows = why.lines.map((l) =>
    h("tr", {}, h("td", {}, l.effect), h("td", {}, `${l.does} ${number(l.magnitude)}`), h("td", {}, l.follows ? `${l.follows[0]} ${number(l.follows[1])}` : ""), h("td", {}, l.place ? `${l.place[0]}:${l.place[1]}` : ""), h("td", {}, l.note ?? "")),
  );
  ui.answer.replaceChildren(
    h("h2", {}, `${who}.${attribute}, ${side ?? "the server"}`),
    h("p", { id: "why" }, why.text),
    rows.length ? h("table", {}, h("tr", {}, ...["Through", "Does", "Follows", "Written in", ""].map((t) => h("th", {}, t))), ...rows) : h("p", { class: "quiet" }, "Nothing modifies it: this is its base."),
  );
}

function whyNot(who, a) {
  ui.answer.replaceChildren(
    h("h2", {}, `Why can ${who} not use ${a.title} now?`),
    h("ul", { id: "reasons" }, ...a.reasons.map((r) => h("li", {}, h("b", {}, r.kind), ` ${r.text}`, r.heals !== null ? h("span", { class: "good" }, ` · over in ${r.heals.toFixed(1)} s`) : h("span", { class: "quiet" }, " · time does not heal this")))),
  );
}

function use(side, who, a) {
  const target = who === HERO ? FOE : HERO;
  studio.put({ Act: { Press: { input: a.input, who, target } } }).then(() => studio.put({ Act: { Release: { input: a.input, who } } }));
}

function log(frame) {
  const lines = studio.news.filter((n) => n.tick <= frame.tick && (n.certainty === "Undone" || /Died|AbilityActivated|AbilityEnded|EffectApplied|Immune/.test(n.kind))).slice(-40).reverse();
  fill(ui.log, lines.map((l) => l.serial).join(), () =>
    lines.map((l) =>
      h("li", { class: `${l.kind} ${l.certainty ?? ""}` }, h("button", { "data-kind": l.kind, onclick: () => chain(l) }, `${(l.tick / 60).toFixed(2)} s  ${l.client ? `${l.client}: taken back: ` : ""}${l.who}: ${l.text}`)),
    ),
  );
}

async function chain(line) {
  const steps = await studio.ask({ ask: "chain", serial: line.serial });
  if (!steps) return;
  ui.answer.replaceChildren(
    h("h2", {}, "What caused it"),
    h("ol", { class: "chain", id: "chain" }, ...steps.map((s) => h("li", { class: s.kind }, `${s.who}: ${s.text}`, h("span", { class: "quiet" }, ` ${(s.tick / 60).toFixed(2)} s`)))),
    h("button", { onclick: () => studio.ask({ ask: "seek", tick: Math.max(0, steps.at(-1).tick - 1) }) }, "Go to just before it began"),
  );
}

function plot() {
  const { cx, width, height } = canvas(ui.plot, 0.35);
  if (shots.length < 2) return;
  const first = shots[0][0];
  const span = Math.max(1, shots.at(-1)[0] - first);
  for (const [at, name] of [[1, "--good"], [2, "--bad"]]) {
    cx.strokeStyle = paint(name);
    cx.lineWidth = 2;
    cx.beginPath();
    shots.forEach((s, i) => {
      const x = ((s[0] - first) / span) * width;
      const y = height - (Math.min(140, s[at]) / 140) * height;
      i ? cx.lineTo(x, y) : cx.moveTo(x, y);
    });
    cx.stroke();
  }
}

function drawer() {
  const file = "arena/pyra.yaml";
  const text = h("textarea", { id: "yaml", spellcheck: "false", "aria-label": "pyra.yaml" });
  const said = h("div", { id: "said", "aria-live": "polite" });
  let timer;
  const apply = async () => {
    const answer = await studio.link.ask({ ask: "put", input: { Edit: { file, text: text.value } } });
    if (answer.error === undefined) return said.replaceChildren(h("p", { class: "good" }, "taken: the next cast uses it"));
    let findings;
    try {
      findings = JSON.parse(answer.error);
    } catch {
      findings = [{ message: answer.error, line: 0, severity: "error" }];
    }
    said.replaceChildren(...findings.slice(0, 5).map((f) => h("div", { class: `finding ${f.severity}` }, f.line ? `line ${f.line}: ` : "", f.message, f.help ? h("b", {}, ` ${f.help}`) : "")), h("p", { class: "quiet" }, "The world keeps running with what it had."));
  };
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 400);
  });
  const el = h("details", { class: "panel", open: true }, h("summary", {}, "Pyra’s file: change a number, e.g. the damage of GE_Burn"), text, said);
  const load = async () => {
    const got = await studio.ask({ ask: "file", name: file });
    if (!got) return;
    text.value = got.text;
    const at = got.text.indexOf("Name: GA_Fireball");
    text.scrollTop = at < 0 ? 0 : (got.text.slice(0, at).split("\n").length - 2) * 18;
  };
  return { el, load };
}
