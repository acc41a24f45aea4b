// The duel under lag: your client on the left, the server on the right. The link and the rates of fire are between them.

import { showOutcome, at, canvas, fill, h, number, paint, percent, plain, scrollTo, seconds } from "./dom.js";
import { draw, markCorrected, ring, update } from "./arena.js";
import { editor } from "./editor.js";
import { latest } from "./link.js";
import { showLog } from "./log.js";
import { previewed } from "./preview.js";
import { causes, unmodified, writes } from "./why.js";

const KEYS = { Space: "Primary", Digit1: "Ability1", Digit2: "Ability2", Digit3: "Ability3", KeyJ: "Primary", KeyK: "Ability1", KeyL: "Ability2" };
const CAPS = { Primary: "Space", Ability1: "1", Ability2: "2", Ability3: "3" };
const WALK = { KeyW: [0, -1], KeyS: [0, 1], KeyA: [-1, 0], KeyD: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const HERO = "Pyra";
const FOE = "Brann";
const foeOf = (name) => (name === HERO ? FOE : HERO);
const SHOWN = { Pyra: ["Health", "Mana", "Shield", "SpellPower"], Brann: ["Health", "Mana", "Shield", "AttackPower"] };
// Ticks before and after a death at which its causes are shown.
const NEAR = 60;
// A device without a keyboard gets another hint.
const TOUCH = matchMedia("(hover: none) and (pointer: coarse)").matches;

let studio;
let ui = {};
const heldKeys = new Set();
// Shots per minute by tick; kept while other pages are open.
let shots = [];
let timelines;

export const demo = { open, show };

function open(main, owner) {
  studio = owner;
  studio.watch = [["You", HERO], ["You", FOE], [null, HERO], [null, FOE]];
  const slider = (id, title, most, step) => {
    const out = h("output", { id: `${id}-out`, for: id });
    const input = h("input", { type: "range", id, min: 0, max: most, step, oninput: () => link() });
    return { out, input, row: h("div", { class: "slider" }, h("label", { for: id, class: "row between" }, title, out), input) };
  };
  ui = {
    trip: slider("trip", "Round trip", 300, 5),
    loss: slider("loss", "Packet loss", 60, 1),
    left: ring(h("canvas", { class: "floor", id: "left", role: "img", "aria-label": "State of your client" })),
    right: ring(h("canvas", { class: "floor", id: "right", role: "img", "aria-label": "State of the server" })),
    you: h("div", { id: "you" }),
    server: h("div", { id: "server" }),
    outcomeYou: h("p", { class: "outcome" }),
    outcomeServer: h("p", { class: "outcome" }),
    predicted: h("div", { class: "big good", id: "shots-predicted" }),
    confirmed: h("div", { class: "big bad", id: "shots-confirmed" }),
    plot: h("canvas", { class: "plain", role: "img", "aria-label": "Plot of the shots per minute during the last minute" }),
    twice: h("span", {}),
    net: h("p", { class: "quiet", id: "corrections" }),
    hint: h("span", { class: "quiet", id: "hint" }),
    behind: h("span", { class: "quiet" }),
    answer: h("div", { id: "answer" }),
    log: h("ul", { class: "log", id: "log" }),
    filePanel: filePanel(),
    corrections: null,
    refusal: null,
    traced: null,
  };
  main.replaceChildren(
    h("p", { class: "lead" }, h("b", {}, "One fight, on your client and on the server. "), "If you increase the round trip, the weapon with a predicted cooldown keeps its rate of fire, and the weapon that waits for the server’s confirmation slows down. Click a number, a greyed ability or an event to see its explanation."),
    h(
      "div",
      { class: "grid duel" },
      h("section", { class: "panel", "aria-label": "Your client" }, h("div", { class: "stagehead" }, h("h2", {}, "Your client ", h("span", { class: "quiet" }, "predicted")), ui.hint), ui.left.el, ui.you, ui.outcomeYou),
      h(
        "section",
        { class: "panel", "aria-label": "Lag" },
        h("h2", {}, "Link"),
        ui.trip.row,
        ui.loss.row,
        h("h2", {}, "Shots per minute over this link"),
        h("div", { class: "counters" }, h("div", {}, ui.predicted, h("small", {}, "cooldown predicted by the client")), h("div", {}, ui.confirmed, h("small", {}, "cooldown confirmed by the server"))),
        ui.plot,
        h("p", { id: "twice", title: "Frames that showed the predicted and the confirmed cooldown at the same time" }, ui.twice),
        ui.net,
      ),
      h("section", { class: "panel", "aria-label": "Server" }, h("div", { class: "stagehead" }, h("h2", {}, "The server ", h("span", { class: "quiet" }, "authoritative")), ui.behind), ui.right.el, ui.server, ui.outcomeServer),
    ),
    h(
      "div",
      { class: "grid two", style: "margin-top:var(--gap)" },
      h("div", { class: "grid" }, h("section", { class: "panel", "aria-label": "Why" }, ui.answer), h("section", { class: "panel" }, h("h2", {}, "Events"), h("div", { class: "scroll", style: "max-height:13rem" }, ui.log))),
      ui.filePanel.el,
    ),
  );
  showHint();
  ui.filePanel.load();
  window.onkeydown = key;
  window.onkeyup = key;
  window.onblur = () => heldKeys.size && (heldKeys.clear(), sendKeys());
}

function showHint() {
  answer("Explain", h("p", { class: "empty" }, "Click a number to see its base value and modifiers. Click a greyed ability to see why it cannot be activated. Click an event below to see its causes."));
}

function answer(title, ...content) {
  ui.answer.replaceChildren(h("h2", { "aria-live": "polite" }, title), ...content);
  delete ui.answer.dataset.shown;
  ui.refusal = null;
  ui.explained = null;
}

const link = latest(() => studio.put({ Link: { round_trip: Number(ui.trip.input.value), loss: Number(ui.loss.input.value) / 100 } }));

// A key of the hero lets the user take over the hero, unless the focused element uses that key itself.
function key(event) {
  if (studio.page !== "demo" || event.repeat || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.type === "keyup") return heldKeys.delete(event.code) && sendKeys();
  const on = event.target;
  if (on.matches?.("textarea, select, input:not([type=range])")) return;
  if (on.matches?.("input[type=range]") && /^(Arrow|Home|End|Page)/.test(event.code)) return;
  if (on.matches?.("button, a, summary") && /^(Space|Enter)$/.test(event.code)) return;
  if (!KEYS[event.code] && !WALK[event.code]) return;
  event.preventDefault();
  heldKeys.add(event.code);
  sendKeys(KEYS[event.code] !== undefined);
}

// Sends the keys that are held down. If a newly pressed input cannot activate an ability, the reason is shown.
async function sendKeys(pressed = false) {
  const walk = [...heldKeys].map((code) => WALK[code]).filter(Boolean);
  const x = walk.reduce((sum, w) => sum + w[0], 0);
  const z = walk.reduce((sum, w) => sum + w[1], 0);
  const inputs = [...new Set([...heldKeys].map((code) => KEYS[code]).filter(Boolean))];
  const answer = await studio.put({ Keys: { x, z, inputs } });
  if (!pressed || !answer) return;
  if (answer.no_effect) showOutcome(ui.outcomeYou, { done: false, text: plain(`${at(answer.tick)}: ${answer.message}.`) });
  else ui.outcomeYou.textContent = "";
}

function show(frame) {
  const you = frame.sides.find((s) => s.client === "You");
  const server = frame.sides[0];
  const details = (side) => new Map([HERO, FOE].map((name) => [name, studio.detail(side, name)]));
  if (!frame.restart) for (const line of frame.events) if (isRolledBack(line) && line.client === "You") markCorrected(ui.left, line.who);
  update(ui.right, server, details(null));
  if (you) {
    update(ui.left, you, details("You"));
    draw(ui.left, you, { ghosts: server.actors.filter((a) => a.name === HERO && !a.dead) });
  }
  deaths(frame);
  ui.filePanel.refresh(frame);
  draw(ui.right, server, { cause: frame.live ? null : ui.traced?.shown });
  sliders(frame);
  heroes(ui.you, "You");
  heroes(ui.server, null);
  counters(frame, you);
  if (ui.refusal) refusal();
  log(frame);
}

function counters(frame, you) {
  const [predicted, confirmed] = frame.shots ?? [0, 0];
  ui.predicted.textContent = number(Math.round(predicted));
  ui.confirmed.textContent = number(Math.round(confirmed));
  if (frame.timelines !== timelines) shots = [];
  timelines = frame.timelines;
  const last = shots.at(-1)?.[0] ?? -1;
  if (last > frame.tick) shots = shots.filter((s) => s[0] <= frame.tick);
  if (frame.tick >= last + 6 || !shots.length) shots = [...shots.slice(-599), [frame.tick, predicted, confirmed]];
  plot();
  fill(ui.twice, String(frame.twice), () => ["cooldown shown twice: ", h("b", { class: frame.twice ? "bad" : "good" }, `${frame.twice} frames`)]);
  if (you) {
    const catchesUp = you.clock_rate > 1;
    fill(ui.net, `${you.ahead} ${you.corrections} ${catchesUp}`, () => [`Your client is ${you.ahead} ticks ahead of the last confirmed tick and was corrected ${you.corrections === 1 ? "once" : `${you.corrections} times`}.`, catchesUp ? h("b", {}, " Its clock runs faster until its commands arrive in time.") : ""]);
    ui.behind.textContent = `tick ${frame.sides[0].tick}`;
  }
  fill(ui.hint, `${frame.player_controlled} ${frame.running}`, () => (frame.player_controlled && !frame.running ? [h("b", { class: "hot" }, "Paused"), ": ", h("kbd", {}, "P"), " to run"] : frame.player_controlled ? [h("b", { class: "hot" }, `You play ${HERO}`), ": ", h("kbd", {}, "WASD"), " ", h("kbd", {}, "Space"), " ", h("kbd", {}, "1 2 3")] : TOUCH ? [h("b", { class: "hot" }, "Tap an ability"), " to activate it"] : [`Play ${HERO}: `, h("kbd", {}, "WASD"), " ", h("kbd", {}, "Space"), " ", h("kbd", {}, "1 2 3")]));
}

// A prediction that was visible and was rolled back.
const isRolledBack = (line) => line.certainty === "Undone" && /Died|Ability|Effect|Damage|Cast|Attribute|Cooldown/.test(line.kind);

function sliders(frame) {
  for (const [part, value, text] of [[ui.trip, frame.round_trip, `${frame.round_trip} ms`], [ui.loss, Math.round(frame.loss * 100), percent(frame.loss)]]) {
    if (document.activeElement !== part.input) part.input.value = value;
    if (part.out.textContent !== text) part.out.textContent = text;
    part.input.setAttribute("aria-valuetext", text);
  }
}

function heroes(el, side) {
  const details = [HERO, FOE].map((name) => [name, studio.detail(side, name)]);
  const short = (d) => d && [d.attributes.map((a) => number(a.value)), d.abilities?.map((a) => [a.ready, a.running, a.charges, a.cooldown && Math.round(a.cooldown.share * 40)])];
  fill(el, JSON.stringify(details.map(([, d]) => short(d))), () =>
    details.map(([name, detail]) =>
      h(
        "div",
        { class: "hero", "data-key": name },
        h("div", { class: "values" }, h("span", { class: "who" }, name), ...numbers(side, name, detail)),
        h("div", { class: "abilities" }, ...abilities(side, name, detail)),
      ),
    ),
  );
}

function numbers(side, name, detail) {
  if (!detail) return [h("span", { class: "quiet" }, "not replicated yet")];
  const wanted = detail.attributes.filter((a) => SHOWN[name].includes(a.name) && (a.name !== "Shield" || a.value !== 0));
  return wanted.map((a) =>
    h("span", { "data-key": a.name }, h("span", { class: "quiet" }, `${a.name} `), h("button", { class: "number", "aria-label": `${name} ${a.name} ${number(a.value)}: explain`, title: "Explain this value", "data-attribute": a.name, "data-actor": name, onclick: () => explain(side, name, a.name) }, number(a.value))),
  );
}

function abilities(side, name, detail) {
  const used = (detail?.abilities ?? []).filter((a) => a.input);
  if (detail?.abilities === null) return [h("span", { class: "quiet" }, "abilities are replicated to the owning client only")];
  return used.map((a) => ability(side, name, a));
}

function ability(side, name, a) {
  const charges = a.charges ? ` ${a.charges[0]}/${a.charges[1]}` : "";
  const cap = name === HERO ? h("kbd", { "aria-hidden": "true" }, CAPS[a.input] ?? a.input) : null;
  const preview = () => ({ title: `${a.title} of ${name}`, text: a.text, side, action: { Activate: { ability: a.name, who: name, target: foeOf(name) } } });
  return h(
    "button",
    { class: "ability", "data-key": a.name, "data-ready": String(a.ready), "data-running": String(a.running), "data-ability": a.name, "data-actor": name, "aria-label": `${a.title}${charges} of ${name}${a.ready ? "" : ", not ready: show the reasons"}`, onclick: () => (a.ready ? activate(side, name, a) : whyNot(side, name, a.name)), ...previewed(studio, `${side} ${name} ${a.name}`, preview) },
    h("i", { style: `width:${a.cooldown ? 100 * a.cooldown.share : 0}%` }),
    cap,
    h("span", {}, `${a.title}${charges}`),
  );
}

async function explain(side, who, attribute) {
  const why = await studio.ask({ ask: "explain", side, who, attribute });
  if (!why) return;
  const rows = (why.lines ?? []).map((l) =>
    h("tr", {}, h("td", {}, l.effect), h("td", {}, `${l.does} ${number(l.magnitude)}`), h("td", {}, l.follows ? `${l.follows[0]} ${number(l.follows[1])}` : "–"), h("td", {}, l.place ? `${l.place[0]}:${l.place[1]}` : "–"), h("td", {}, l.note ?? "active")),
  );
  answer(
    `${who}: ${attribute} ${side === null ? "on the server" : "on your client"}, at ${at(studio.frame.tick)}`,
    h("p", { class: "formula", id: "why" }, why.text),
    rows.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ...["Effect", "Operation", "Based on", "Defined in", "State"].map((t) => h("th", {}, t)))), h("tbody", {}, ...rows))) : unmodified(why),
    ...writes(why.writes, who, attribute, trace),
  );
  scrollTo(ui.answer.parentElement);
}

function whyNot(side, who, name) {
  answer("");
  ui.refusal = { side, who, name };
  refusal();
  scrollTo(ui.answer.parentElement);
}

// The reasons at the current tick, with the remaining time.
function refusal() {
  const { side, who, name } = ui.refusal;
  const a = studio.detail(side, who)?.abilities.find((x) => x.name === name);
  if (!a) return;
  const readyIn = (r) => (r.ready_in === null ? h("span", { class: "quiet" }, " · does not expire") : h("b", { class: "good" }, ` · ready in ${seconds(r.ready_in)}`));
  fill(ui.answer, JSON.stringify(a.reasons.map((r) => [r.kind, r.text, r.ready_in?.toFixed(1)])), () => [
    h("h2", { "aria-live": "polite" }, a.ready ? `${who} can activate ${a.title}` : `Why ${who} cannot activate ${a.title}`),
    h("ul", { id: "reasons", "data-ability": name }, ...a.reasons.map((r) => h("li", {}, h("b", {}, r.kind), ` ${plain(r.text)}`, readyIn(r)))),
  ]);
}

// The outcome is shown below the buttons of that side.
async function activate(side, who, a) {
  showOutcome(side === null ? ui.outcomeServer : ui.outcomeYou, await studio.act({ Action: { Press: { input: a.input, who, target: foeOf(who) } } }));
  studio.put({ Action: { Release: { input: a.input, who } } });
}

function log(frame) {
  const lines = studio.eventsUntil(frame).filter((n) => isRolledBack(n) || (n.client === null && /Died|AbilityActivated|EffectApplied|Immune/.test(n.kind)));
  showLog(ui.log, lines.slice(-400), 40, "No events yet.", (l) => (l.client ? `${l.client}${l.certainty === "Undone" ? " rolled back" : ""}: ${l.who}: ${l.text}` : `${l.who}: ${l.text}`), trace);
}

// Shows the causes of an event that was clicked.
async function trace(line) {
  await chain(line);
  scrollTo(ui.answer.parentElement);
}

async function chain(line) {
  const asked = { serial: line.serial, shown: null };
  ui.traced = asked;
  const steps = await studio.ask({ ask: "causes", serial: line.serial });
  // Another event was selected before this answer arrived.
  if (!steps || ui.traced !== asked) return;
  asked.shown = { by: steps.at(-1).who, who: line.who, text: steps.length > 1 ? steps.at(-1).text : "" };
  answer(
    `Causes of: ${steps[0].who}: ${plain(steps[0].text)}, at ${at(steps[0].tick)}`,
    causes(steps),
    h("div", { class: "row" }, h("button", { id: "before", onclick: () => studio.ask({ ask: "seek", tick: Math.max(0, steps.at(-1).tick - 1) }) }, "Go to the tick before the first cause")),
  );
  ui.explained = line.serial;
}

// At a recorded tick near a death, the causes of the nearest death are shown.
function deaths(frame) {
  const distance = (n) => Math.abs(n.tick - frame.tick);
  const near = frame.live ? [] : studio.deaths.filter((n) => distance(n) < NEAR);
  const death = near.reduce((best, n) => (best && distance(best) < distance(n) ? best : n), null);
  if (ui.death === death?.serial) return;
  // The causes of the last death are removed, because they could be mistaken for the causes of the next death.
  if (ui.death !== undefined && ui.traced?.serial === ui.death) ui.traced = null;
  if (ui.death !== undefined && ui.explained === ui.death) showHint();
  ui.death = death?.serial;
  if (death) chain(death);
}

function plot() {
  const { cx, width, height } = canvas(ui.plot, 0.32);
  const most = 140;
  const y = (v) => height - 2 - (Math.min(most, v) / most) * (height - 6);
  cx.strokeStyle = paint("--edge");
  cx.lineWidth = 1;
  for (const v of [0, 60, 120]) {
    cx.beginPath();
    cx.moveTo(0, y(v));
    cx.lineTo(width, y(v));
    cx.stroke();
  }
  cx.fillStyle = paint("--quiet");
  cx.font = "10px system-ui, sans-serif";
  for (const v of [60, 120]) cx.fillText(String(v), 3, y(v) - 2);
  if (shots.length < 2) return;
  const first = shots[0][0];
  const span = Math.max(600, shots.at(-1)[0] - first);
  for (const [at, name] of [[1, "--good"], [2, "--bad"]]) {
    cx.strokeStyle = paint(name);
    cx.lineWidth = 2;
    cx.beginPath();
    shots.forEach((s, i) => {
      const x = ((s[0] - first) / span) * width;
      i ? cx.lineTo(x, y(s[at])) : cx.moveTo(x, y(s[at]));
    });
    cx.stroke();
  }
}

function filePanel() {
  const file = "arena/pyra.yaml";
  const edit = editor({ id: "yaml", "aria-label": "pyra.yaml" });
  const findingsEl = h("div", { id: "findings", "aria-live": "polite" }, h("p", { class: "empty" }, "A valid change takes effect as you type."));
  let timer;
  // The last text that the world uses.
  let worldText = "";
  let reloads = null;
  const apply = latest(async () => {
    const answer = await studio.link.ask({ ask: "put", input: { Edit: { file, text: edit.text.value } } });
    if (answer.error === undefined) {
      worldText = edit.text.value;
      edit.mark([]);
      return findingsEl.replaceChildren(h("p", { class: "good" }, "Applied. The next activation uses the new text."));
    }
    let findings;
    try {
      findings = JSON.parse(answer.error);
    } catch {
      findings = [{ message: answer.error, line: 0, severity: "error" }];
    }
    edit.mark(findings.filter((f) => f.severity === "error").map((f) => f.line));
    findingsEl.replaceChildren(...findings.slice(0, 5).map((f) => h("div", { class: `finding ${f.severity}` }, f.line ? `line ${f.line}: ` : "", f.message, f.help ? h("b", {}, ` ${f.help}`) : "")), h("p", { class: "quiet" }, "The world keeps running with the last valid rules."));
  });
  edit.text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 400);
  });
  const el = h("details", { class: "panel", open: true }, h("summary", {}, "Pyra’s file: change a number; the next activation uses the new number"), edit.el, findingsEl);
  const load = async () => {
    const got = await studio.ask({ ask: "file", name: file });
    if (!got) return;
    worldText = got.text;
    edit.set(got.text);
    const at = got.text.indexOf("Name: GE_Firebolt\n");
    edit.show(at < 0 ? 1 : got.text.slice(0, at).split("\n").length);
  };
  // Shows the text of the world again if the text changed, unless the user is editing.
  const refresh = async (frame) => {
    const other = reloads !== null && frame.reloads !== reloads;
    reloads = frame.reloads;
    if (!other || edit.text.value !== worldText) return;
    const got = await studio.ask({ ask: "file", name: file });
    if (!got || got.text === worldText || edit.text.value !== worldText) return;
    worldText = got.text;
    edit.set(got.text);
    edit.mark([]);
    findingsEl.replaceChildren(h("p", { class: "empty" }, "pyra.yaml changed: the editor shows the version that is active at the current tick."));
  };
  return { el, load, refresh };
}
