// The frame of the studio: pages, time, the footer, and the loop that asks for what is shown.

import { connect, latest, must } from "./link.js";
import { alertOf, at, bytes, fill, h, icon, number, plain, repaint } from "./dom.js";
import { demo } from "./demo.js";
import { world } from "./world.js";
import { data } from "./data.js";
import { network } from "./network.js";
import { scenario } from "./scenario.js";
import { figures } from "./figures.js";

const PAGES = { demo, scenario, world, data, network, figures };
const TITLES = { demo: "Duel under lag", world: "World", data: "Data", network: "Network", scenario: "Scenario", figures: "Figures" };
// Asking these changes nothing, so that their success says nothing about what failed before.
const LOOKS = ["frame", "figures", "files", "file", "check", "explain", "chain", "past", "hello", "moment", "definitions", "definition", "form", "schema", "set"];
// Milliseconds after which the next answer is not waited for until the next picture.
const SLOW = 10;
// News that are kept here, those that one answer brings at most, and the ticks that a list of them looks back.
const MOST_NEWS = 2000;
const MOST_AT_ONCE = 4000;
const LIST = 1200;

export const studio = {
  link: null,
  hello: null,
  frame: null,
  news: [],
  // Of the news, who died.
  deaths: [],
  // The last tick of which news were dropped here.
  forgot: -1,
  page: "demo",
  // What pages want details of: side and actor.
  watch: [],
  // Of whom they want to hear; everybody if nobody is named. And only who is in this category.
  about: null,
  category: null,
  // How often they changed their mind about whom to hear of.
  turn: 0,
  async ask(question) {
    try {
      const answer = await must(this.link, question);
      if (!LOOKS.includes(question.ask)) alertOf("");
      return answer;
    } catch (error) {
      alertOf(error.message);
      return null;
    }
  },
  put(input) {
    return this.ask({ ask: "put", input });
  },
  // Does something, and says what came of it.
  async deed(input) {
    const answer = await this.link.ask({ ask: "put", input });
    const moment = at(answer.tick ?? this.frame.tick);
    const done = answer.error === undefined && !answer.vain;
    return { done, fork: forked(answer), text: plain(answer.error === undefined ? `${moment}: ${answer.said ?? "done"}.` : `${moment}: not done: ${answer.error}.`) };
  },
  // What happened until the moment that is shown, the newest last. What was dropped here is asked for again.
  happened(frame) {
    if (frame.tick > this.forgot + LIST || this.forgot < 0) return this.news.filter((n) => n.tick <= frame.tick);
    const key = `${frame.tick} ${frame.serial} ${this.turn}`;
    if (this.past?.key !== key && !this.past?.asking) {
      this.past = { key, asking: true, lines: this.past?.lines ?? [] };
      this.ask({ ask: "past", about: this.about }).then((lines) => (this.past = { key, asking: false, lines: (lines ?? []).map((l) => ({ ...l, text: plain(l.text) })) }));
    }
    return this.past.lines.filter((n) => n.tick <= frame.tick);
  },
  listen(about) {
    if (JSON.stringify(about) === JSON.stringify(this.about)) return;
    this.about = about;
    this.turn += 1;
  },
  detail(side, name) {
    return this.frame?.details.find((d) => d.side === side && d.name === name)?.detail;
  },
};

const query = new URLSearchParams(location.search);

function route() {
  const wanted = location.hash.slice(1).split("/")[0];
  if (wanted === "main") return document.getElementById("main").focus();
  const known = Object.keys(PAGES).filter((p) => (p !== "demo" || studio.hello.duel) && (p !== "scenario" || studio.hello.scenario));
  studio.page = known.includes(wanted) ? wanted : known[0];
  const main = document.getElementById("main");
  main.replaceChildren();
  main.scrollTop = 0;
  studio.watch = [];
  studio.category = null;
  if (studio.page !== "world") studio.listen(null);
  fill(document.getElementById("tabs"), studio.page, () => known.map((p) => h("a", { "data-key": p, href: `#${p}`, "aria-current": p === studio.page ? "page" : undefined }, TITLES[p])));
  document.title = `${TITLES[studio.page]} · ugas studio`;
  PAGES[studio.page].open(main, studio);
}

const run = () => studio.ask({ ask: studio.frame?.running ? "pause" : "play" });
const undo = () => takeBack({ ask: "undo" });
// Undoes, and says what was undone.
async function takeBack(question) {
  const answer = await studio.ask(question);
  if (!answer) return;
  if (answer.end >= (other?.end ?? 0)) other = null;
  tell(undone(answer.undone), other !== null);
}

const undone = (list) => (list.length === 1 ? `Undone: ${plain(list[0])}.` : `Undone: ${list.length} changes, the first of them: ${plain(list.at(-1))}.`);

const seek = latest((tick) => studio.ask({ ask: "seek", tick }));

async function step() {
  await studio.ask({ ask: "pause" });
  await studio.ask({ ask: "step" });
}

const stepBack = () => seek(Math.max(studio.frame.start, studio.frame.tick - 1));

async function fork() {
  await studio.ask({ ask: "fork" });
  await studio.ask({ ask: "play" });
}

async function toNow() {
  await studio.ask({ ask: "seek", tick: studio.frame.end });
  await studio.ask({ ask: "play" });
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  repaint();
}

const SHORTCUTS = {
  p: ["Pause or play", run],
  ",": ["One tick back", stepBack],
  ".": ["One tick on", step],
  f: ["Go on from here (what came after is forgotten)", fork],
  n: ["Back to now", toNow],
  u: ["Undo what was done last", undo],
  t: ["Light or dark", theme],
  "?": ["This list", help],
};

function shortcut(event) {
  const free = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat && !document.querySelector("dialog[open]");
  if (!free || event.target.matches?.("input:not([type=range]), textarea, select") || !SHORTCUTS[event.key]) return;
  event.preventDefault();
  SHORTCUTS[event.key][1]();
}

function dialog(title, ...content) {
  const el = document.getElementById("help");
  el.replaceChildren(h("h2", { id: "help-title" }, title), ...content, h("form", { method: "dialog" }, h("button", { class: "main", autofocus: true }, "Close")));
  el.showModal();
}

function help() {
  const keys = Object.entries(SHORTCUTS).map(([key, [text]]) => h("tr", {}, h("td", {}, h("kbd", {}, key.toUpperCase())), h("td", {}, text)));
  const duel = [["WASD or arrows", "Walk"], ["Space", "Firebolt; hold it to keep firing"], ["1 2 3", "Fireball, Blink, Life Drain"]].map(([key, text]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, text)));
  dialog("Keys", h("table", {}, h("tbody", {}, ...keys, ...(studio.hello.duel ? duel : []))));
}

function tools() {
  const button = (id, name, picture, act) => h("button", { id, class: "tool", onclick: act, "aria-label": name, title: name }, icon(picture));
  document.getElementById("tools").replaceChildren(
    button("undo", "Undo what was done last (U)", "undo", undo),
    button("theme", "Light or dark (T)", "theme", theme),
    button("keys", "Keys (?)", "help", help),
  );
  document.getElementById("dismiss").addEventListener("click", () => alertOf(""));
  document.getElementById("told-undo").addEventListener("click", () => takeBack({ ask: "undo", with: other?.with }));
  document.getElementById("told-dismiss").addEventListener("click", () => tell(""));
  window.addEventListener("keydown", shortcut);
  return (frame) => (document.getElementById("undo").disabled = frame.done === 0);
}

function transport() {
  const button = (id, name, picture, act) => h("button", { id, class: "tool", onclick: act, "aria-label": name, title: name }, icon(picture));
  const toggle = button("run", "Pause (P)", "pause", run);
  const range = h("input", { type: "range", id: "time", "aria-label": "Moment", min: 0, max: 1, value: 1 });
  const text = h("span", { class: "quiet", id: "moment" });
  const marks = h("div", { class: "marks", id: "deaths" });
  const speed = h("select", { id: "speed", "aria-label": "Speed", onchange: (e) => studio.ask({ ask: "speed", times: Number(e.target.value) }) }, ...[0.1, 0.25, 0.5, 1, 2, 4].map((x) => h("option", { value: x, selected: x === 1 }, `${x}×`)));
  const forks = h("button", { id: "fork", onclick: fork, title: "What came after this moment is forgotten (F)" }, "Go on from here");
  const now = h("button", { id: "now", onclick: toNow, title: "To the end of what was recorded (N)" }, "Back to now");
  range.addEventListener("input", () => seek(Number(range.value)));
  document.getElementById("transport").replaceChildren(button("back", "One tick back (,)", "back", stepBack), toggle, button("step", "One tick on (.)", "step", step), speed, h("div", { class: "track" }, marks, range), text, forks, now);
  // Time that is not the studio's own cannot be turned back.
  document.getElementById("back").hidden = studio.hello.attached === true;
  const track = range.parentElement;
  track.style.visibility = studio.hello.attached ? "hidden" : "";
  let ran = true;
  return (frame) => {
    if (ran !== frame.running) {
      ran = frame.running;
      toggle.replaceChildren(icon(ran ? "pause" : "play"));
      toggle.setAttribute("aria-label", ran ? "Pause (P)" : "Play (P)");
      toggle.title = ran ? "Pause (P)" : "Play (P)";
    }
    range.min = frame.start;
    range.max = Math.max(frame.end, frame.start + 1);
    if (document.activeElement !== range || frame.running) range.value = frame.tick;
    range.setAttribute("aria-valuetext", at(frame.tick));
    if (document.activeElement !== speed) speed.value = frame.speed;
    text.classList.toggle("live", frame.live && frame.running);
    text.textContent = frame.live ? (frame.running ? `live ${at(frame.tick)}` : at(frame.tick)) : `${at(frame.tick)} of ${at(frame.end)}`;
    forks.hidden = frame.live;
    now.hidden = frame.live;
    deaths(marks, frame);
  };
}

function deaths(marks, frame) {
  const all = studio.deaths.slice(-60);
  const span = Math.max(1, frame.end - frame.start);
  fill(marks, `${Math.round(frame.end / 12)} ${all.at(-1)?.serial} ${all.length}`, () =>
    all.map((n) => h("button", { "data-key": n.serial, tabindex: -1, style: `left:${(100 * (n.tick - frame.start)) / span}%`, title: `${n.who} dies at ${at(n.tick)}`, "aria-label": `${n.who} dies at ${at(n.tick)}`, onclick: () => seek(n.tick) })),
  );
}

async function copyMoment(button) {
  const moment = await studio.ask({ ask: "moment" });
  if (!moment) return;
  const url = new URL(location.href);
  url.search = `?seed=${moment.seed}&tick=${moment.tick}`;
  if (moment.scenario) url.searchParams.set("scenario", moment.scenario);
  if (moment.inputs.length) {
    const bytes = new TextEncoder().encode(JSON.stringify(moment.inputs));
    url.search += `&ops=${btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
  }
  button.dataset.link = url.href;
  try {
    await navigator.clipboard.writeText(url.href);
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy this moment"), 1500);
  } catch {
    const field = h("input", { readonly: true, "aria-label": "Link to this moment", value: url.href, style: "width:100%" });
    dialog("This moment as a link", h("p", { class: "quiet" }, "It holds the seed and what was done; the same program shows the same moment."), field);
    field.select();
  }
}

// A link names a seed, a tick and what was done until then.
async function openMoment() {
  if (!query.has("seed")) return;
  let inputs = [];
  try {
    const text = query.get("ops");
    if (text) {
      const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
      inputs = JSON.parse(new TextDecoder().decode(bytes));
    }
  } catch {
    return alertOf("this link is damaged: what was done cannot be read from it");
  }
  await studio.ask({ ask: "open", seed: Number(query.get("seed")), scenario: query.get("scenario"), tick: Number(query.get("tick") ?? 0), inputs });
}

function footer() {
  const copy = h("button", { id: "copy" }, "copy this moment");
  copy.addEventListener("click", () => copyMoment(copy));
  const part = (id) => h("span", { id });
  const parts = ["f-tick", "f-step", "f-bytes"].map(part);
  const hash = h("code", { id: "hash" });
  document.getElementById("footer").replaceChildren(parts[0], h("span", {}, "state ", hash), parts[1], parts[2], copy);
  copy.hidden = studio.hello.attached === true;
  let shown = 0;
  return (frame) => {
    parts[0].textContent = `tick ${frame.tick}`;
    hash.textContent = frame.hash;
    // Figures that nobody could read sixty times a second.
    if (performance.now() - shown < 250) return;
    shown = performance.now();
    parts[1].textContent = `${number(Math.round(frame.step_us))} µs a step`;
    parts[2].textContent = `${bytes(frame.bytes_a_second)}/s from the server`;
  };
}

// What came from the disk is said for a while, what could not be taken as long as it is so.
function disk() {
  const el = document.getElementById("disk");
  let known = null;
  let until = 0;
  return (frame) => {
    if (known !== null && frame.saved && frame.saved[0] !== known) until = performance.now() + 6000;
    known = frame.saved?.[0] ?? 0;
    const taken = performance.now() < until ? `taken from the disk: ${frame.saved[1]}` : "";
    // The page of documents says it beside them.
    const text = frame.notice && studio.page !== "data" ? `On the disk: ${frame.notice}` : taken;
    if (el.textContent === text) return;
    el.textContent = text;
    el.hidden = !text;
  };
}

function hear(frame, anew) {
  if (anew) {
    studio.news = [];
    studio.deaths = [];
    studio.forgot = frame.news.length < MOST_AT_ONCE ? -1 : frame.news[0].tick;
  }
  for (const line of frame.news) {
    line.text = plain(line.text);
    studio.news.push(line);
    if (line.kind === "Died" && line.client === null) studio.deaths.push(line);
  }
  if (studio.news.length > MOST_NEWS) studio.forgot = studio.news.splice(0, studio.news.length - MOST_NEWS).at(-1).tick;
  // What came since the last picture is news of the next one.
  const missed = studio.frame?.drawn === false && !anew ? studio.frame : null;
  studio.frame = Object.assign(frame, { anew: anew || missed?.anew === true, news: missed ? [...missed.news, ...frame.news] : frame.news, drawn: false });
}

// Asks how things are: once for each picture; at once after something was done; and again at once where answers are slow.
const inquiry = { since: 0, turn: -1, asking: false, again: false };

async function inquire() {
  if (inquiry.asking) {
    inquiry.again = true;
    return;
  }
  const anew = inquiry.turn !== studio.turn;
  const { watch, about, category, turn } = studio;
  Object.assign(inquiry, { turn, asking: true, again: false });
  const begun = performance.now();
  const frame = await studio.link.ask({ ask: "frame", since: anew ? 0 : inquiry.since, watch, about, category });
  inquiry.asking = false;
  if (frame.error) return alertOf(frame.error);
  // Another past or another future: what was heard of the old one is forgotten, and everything asked for again.
  const other = inquiry.pasts !== undefined && frame.pasts !== inquiry.pasts;
  inquiry.pasts = frame.pasts;
  if (other && !anew) {
    studio.turn += 1;
    return inquire();
  }
  inquiry.since = frame.serial;
  // Other documents: other names to choose from, another verdict on a scenario.
  if (frame.reloads !== inquiry.reloads) {
    if (inquiry.reloads !== undefined) greet();
    inquiry.reloads = frame.reloads;
  }
  hear(frame, anew);
  if (inquiry.again || performance.now() - begun > SLOW) inquire();
}

function loop(parts) {
  if (studio.stopped) return;
  if (studio.frame) {
    parts.forEach((show) => show(studio.frame));
    PAGES[studio.page].show?.(studio.frame, studio);
    Object.assign(studio.frame, { drawn: true, anew: false, news: [] });
  }
  inquire();
  requestAnimationFrame(() => loop(parts));
}

async function greet() {
  const hello = await studio.link.ask({ ask: "hello" });
  if (hello.error === undefined) studio.hello = hello;
}

// The future that a deed took the place of: how far it went, and how many deeds there were with this one.
let other = null;

// A message about the timeline, until the time is changed again; with a button that undoes, if there is something to undo.
function tell(text, canUndo = true) {
  document.getElementById("told-text").textContent = text;
  document.getElementById("live").textContent = text;
  document.getElementById("told").hidden = !text;
  document.getElementById("told-undo").hidden = !canUndo;
}

// Where something was done in the past, another future began there.
function forked(answer) {
  return typeof answer.old_end === "number" ? `You were at ${at(answer.tick)} of ${at(answer.old_end)}: a new future begins here. Undo takes this back and brings the old one again.` : "";
}

// A desk after whose deeds the page looks at once.
function attentive(link) {
  const ask = async (question) => {
    const answer = await link.ask(question);
    if (!LOOKS.includes(question.ask)) inquire();
    if (["seek", "open"].includes(question.ask)) tell("");
    if (forked(answer)) {
      other = { end: answer.old_end, with: answer.done };
      tell(forked(answer));
    }
    if (answer.error === undefined && (question.ask === "save" || question.input?.Edit)) greet();
    return answer;
  };
  return { ...link, ask };
}

async function start() {
  try {
    studio.link = attentive(await connect());
  } catch (error) {
    alertOf(error.message);
    return;
  }
  studio.link.onclose?.((text) => {
    studio.stopped = true;
    alertOf(text);
  });
  await openMoment();
  studio.hello = await studio.ask({ ask: "hello", opens: !query.has("seed") });
  if (!studio.hello) return;
  const parts = [transport(), tools(), footer(), disk()];
  window.addEventListener("hashchange", route);
  route();
  window.studio = studio;
  loop(parts);
}

start();
