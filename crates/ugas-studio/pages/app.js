// The shell of the studio: tabs, transport controls, footer, and the loop that requests frames.

import { connect, latest, askOrThrow } from "./link.js";
import { alertOf, at, bytes, fill, h, icon, number, plain, repaint } from "./dom.js";
import { demo } from "./demo.js";
import { world } from "./world.js";
import { data } from "./data.js";
import { network } from "./network.js";
import { scenario } from "./scenario.js";
import { figures } from "./figures.js";

const PAGES = { demo, scenario, world, data, network, figures };
const TITLES = { demo: "Duel under lag", world: "World", data: "Data", network: "Network", scenario: "Scenario", figures: "Statistics" };
// Requests that change nothing. Their success does not clear the message of a request that failed before.
const READ_ONLY = ["frame", "figures", "files", "file", "check", "explain", "preview", "causes", "history", "hello", "permalink", "definitions", "definition", "form", "set"];
// If an answer takes longer than this many milliseconds, the next frame is requested immediately instead of with the next animation frame.
const SLOW = 10;
// The maximum number of events in the page and in one frame, and the number of ticks that the list of events covers.
const MAX_EVENTS = 2000;
const MAX_PER_FRAME = 4000;
const LIST_TICKS = 1200;

export const studio = {
  link: null,
  hello: null,
  frame: null,
  events: [],
  // The deaths among the events.
  deaths: [],
  // The last tick whose events were dropped from the page.
  droppedUntil: -1,
  page: "demo",
  // The actors whose details a page needs, each with its client (null for the server).
  watch: [],
  // The actors whose events a page needs (null for all actors), and the category of actors that the page shows.
  about: null,
  category: null,
  // Incremented when this filter changes; all events are then requested again.
  filterVersion: 0,
  async ask(question) {
    try {
      const answer = await askOrThrow(this.link, question);
      if (!READ_ONLY.includes(question.ask)) alertOf("");
      return answer;
    } catch (error) {
      alertOf(error.message);
      return null;
    }
  },
  put(input) {
    return this.ask({ ask: "put", input });
  },
  // Sends an input and returns its outcome.
  async act(input) {
    const answer = await this.link.ask({ ask: "put", input });
    const time = at(answer.tick ?? this.frame.tick);
    const done = answer.error === undefined && !answer.no_effect;
    return { done, fork: forked(answer), text: plain(answer.error === undefined ? `${time}: ${answer.message ?? "done"}.` : `${time}: failed: ${answer.error}.`) };
  },
  // The events up to the tick that is shown, the newest last. Events that were dropped from the page are requested again.
  eventsUntil(frame) {
    if (frame.tick > this.droppedUntil + LIST_TICKS || this.droppedUntil < 0) return this.events.filter((n) => n.tick <= frame.tick);
    const key = `${frame.tick} ${frame.serial} ${this.filterVersion}`;
    if (this.older?.key !== key && !this.older?.asking) {
      this.older = { key, asking: true, lines: this.older?.lines ?? [] };
      this.ask({ ask: "history", about: this.about }).then((lines) => (this.older = { key, asking: false, lines: (lines ?? []).map((l) => ({ ...l, text: plain(l.text) })) }));
    }
    return this.older.lines.filter((n) => n.tick <= frame.tick);
  },
  filterEvents(about) {
    if (JSON.stringify(about) === JSON.stringify(this.about)) return;
    this.about = about;
    this.filterVersion += 1;
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
  if (studio.page !== "world") studio.filterEvents(null);
  fill(document.getElementById("tabs"), studio.page, () => known.map((p) => h("a", { "data-key": p, href: `#${p}`, "aria-current": p === studio.page ? "page" : undefined }, TITLES[p])));
  document.title = `${TITLES[studio.page]} · ugas studio`;
  PAGES[studio.page].open(main, studio);
}

const run = () => studio.ask({ ask: studio.frame?.running ? "pause" : "play" });
const undo = () => requestUndo({ ask: "undo" });
// Undoes changes and reports which changes were undone.
async function requestUndo(question) {
  const answer = await studio.ask(question);
  if (!answer) return;
  if (answer.end >= (replaced?.end ?? 0)) replaced = null;
  notify(undone(answer.undone), replaced !== null);
}

const undone = (list) => (list.length === 1 ? `Undone: ${plain(list[0])}.` : `Undone: ${list.length} changes, the first of them: ${plain(list.at(-1))}.`);

const seek = latest((tick) => studio.ask({ ask: "seek", tick }));

async function step() {
  await studio.ask({ ask: "pause" });
  await studio.ask({ ask: "step" });
}

const stepBack = () => seek(Math.max(studio.frame.start, studio.frame.tick - 1));

async function fork() {
  await studio.ask({ ask: "resume" });
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
  p: ["Pause or run", run],
  ",": ["Step back one tick", stepBack],
  ".": ["Step forward one tick", step],
  f: ["Resume from here", fork],
  n: ["Go to the end of the recording", toNow],
  u: ["Undo the last change", undo],
  t: ["Switch between light and dark", theme],
  "?": ["Show keyboard shortcuts", help],
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
  const duel = [["WASD or arrows", "Walk"], ["Space", "Firebolt; hold to keep firing"], ["1 2 3", "Fireball, Blink, Life Drain"]].map(([key, text]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, text)));
  dialog("Keyboard shortcuts", h("table", {}, h("tbody", {}, ...keys, ...(studio.hello.duel ? duel : []))));
}

function tools() {
  const button = (id, name, picture, act) => h("button", { id, class: "tool", onclick: act, "aria-label": name, title: name }, icon(picture));
  document.getElementById("tools").replaceChildren(
    button("undo", "Undo the last change (U)", "undo", undo),
    button("theme", "Switch between light and dark (T)", "theme", theme),
    button("keys", "Show keyboard shortcuts (?)", "help", help),
  );
  document.getElementById("dismiss").addEventListener("click", () => alertOf(""));
  document.getElementById("notice-undo").addEventListener("click", () => requestUndo({ ask: "undo", with: replaced?.with }));
  document.getElementById("notice-dismiss").addEventListener("click", () => notify(""));
  window.addEventListener("keydown", shortcut);
  return (frame) => (document.getElementById("undo").disabled = frame.done === 0);
}

function transport() {
  const button = (id, name, picture, act) => h("button", { id, class: "tool", onclick: act, "aria-label": name, title: name }, icon(picture));
  const toggle = button("run", "Pause (P)", "pause", run);
  const range = h("input", { type: "range", id: "time", "aria-label": "Tick", min: 0, max: 1, value: 1 });
  const text = h("span", { class: "quiet", id: "time-label" });
  const marks = h("div", { class: "marks", id: "deaths" });
  const speed = h("select", { id: "speed", "aria-label": "Speed", onchange: (e) => studio.ask({ ask: "speed", times: Number(e.target.value) }) }, ...[0.1, 0.25, 0.5, 1, 2, 4].map((x) => h("option", { value: x, selected: x === 1 }, `${x}×`)));
  const forks = h("button", { id: "fork", onclick: fork, title: "Drop the recording after this tick and resume from this tick; undo restores the recording (F)" }, "Resume from here");
  const now = h("button", { id: "to-end", onclick: toNow, title: "Go to the end of the recording and resume (N)" }, "Go to end");
  range.addEventListener("input", () => seek(Number(range.value)));
  document.getElementById("transport").replaceChildren(button("back", "Step back one tick (,)", "back", stepBack), toggle, button("step", "Step forward one tick (.)", "step", step), speed, h("div", { class: "track" }, marks, range), text, forks, now);
  // An attached game has no recording to seek in.
  document.getElementById("back").hidden = studio.hello.attached === true;
  const track = range.parentElement;
  track.style.visibility = studio.hello.attached ? "hidden" : "";
  let ran = true;
  return (frame) => {
    if (ran !== frame.running) {
      ran = frame.running;
      toggle.replaceChildren(icon(ran ? "pause" : "play"));
      toggle.setAttribute("aria-label", ran ? "Pause (P)" : "Run (P)");
      toggle.title = ran ? "Pause (P)" : "Run (P)";
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

async function copyLink(button) {
  const target = await studio.ask({ ask: "permalink" });
  if (!target) return;
  const url = new URL(location.href);
  url.search = `?seed=${target.seed}&tick=${target.tick}`;
  if (target.scenario) url.searchParams.set("scenario", target.scenario);
  if (target.inputs.length) {
    const bytes = new TextEncoder().encode(JSON.stringify(target.inputs));
    url.search += `&ops=${btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
  }
  button.dataset.link = url.href;
  try {
    await navigator.clipboard.writeText(url.href);
    button.textContent = "Link copied";
    setTimeout(() => (button.textContent = "Copy link to this tick"), 1500);
  } catch {
    const field = h("input", { readonly: true, "aria-label": "Link to this tick", value: url.href, style: "width:100%" });
    dialog("Link to this tick", h("p", { class: "quiet" }, "The link contains the seed and all inputs. The same version of the program reproduces the same state."), field);
    field.select();
  }
}

// A link contains a seed, a tick and the inputs up to that tick.
async function openLink() {
  if (!query.has("seed")) return;
  let inputs = [];
  try {
    const text = query.get("ops");
    if (text) {
      const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
      inputs = JSON.parse(new TextDecoder().decode(bytes));
    }
  } catch {
    return alertOf("invalid link: its inputs cannot be decoded; copy the link again");
  }
  await studio.ask({ ask: "open", seed: Number(query.get("seed")), scenario: query.get("scenario"), tick: Number(query.get("tick") ?? 0), inputs });
}

function footer() {
  const copy = h("button", { id: "copy" }, "Copy link to this tick");
  copy.addEventListener("click", () => copyLink(copy));
  const part = (id) => h("span", { id });
  const parts = ["f-tick", "f-step", "f-bytes"].map(part);
  const hash = h("code", { id: "hash" });
  document.getElementById("footer").replaceChildren(parts[0], h("span", {}, "state hash ", hash), parts[1], parts[2], copy);
  copy.hidden = studio.hello.attached === true;
  let shown = 0;
  return (frame) => {
    parts[0].textContent = `tick ${frame.tick}`;
    hash.textContent = frame.hash;
    // Updated four times a second, so that the numbers can be read.
    if (performance.now() - shown < 250) return;
    shown = performance.now();
    parts[1].textContent = frame.step_us === null ? "" : `${number(Math.round(frame.step_us))} µs per step`;
    parts[2].textContent = studio.hello.attached ? "" : `${bytes(frame.bytes_a_second)}/s sent by the server`;
  };
}

// Reloaded files are reported for six seconds, a failed reload until the next successful reload.
function disk() {
  const el = document.getElementById("disk");
  let known = null;
  let until = 0;
  return (frame) => {
    if (known !== null && frame.saved && frame.saved[0] !== known) until = performance.now() + 6000;
    known = frame.saved?.[0] ?? 0;
    const taken = performance.now() < until ? `Reloaded from disk: ${frame.saved[1]}` : "";
    // The data page shows the notice next to the file.
    const text = frame.notice && studio.page !== "data" ? `On disk: ${frame.notice}` : taken;
    if (el.textContent === text) return;
    el.textContent = text;
    el.hidden = !text;
  };
}

function addEvents(frame, restart) {
  if (restart) {
    studio.events = [];
    studio.deaths = [];
    studio.droppedUntil = frame.events.length < MAX_PER_FRAME ? -1 : frame.events[0].tick;
  }
  for (const line of frame.events) {
    line.text = plain(line.text);
    studio.events.push(line);
    if (line.kind === "Died" && line.client === null) studio.deaths.push(line);
  }
  if (studio.events.length > MAX_EVENTS) studio.droppedUntil = studio.events.splice(0, studio.events.length - MAX_EVENTS).at(-1).tick;
  // Events of a frame that was not drawn are added to the next frame.
  const missed = studio.frame?.drawn === false && !restart ? studio.frame : null;
  studio.frame = Object.assign(frame, { restart: restart || missed?.restart === true, events: missed ? [...missed.events, ...frame.events] : frame.events, drawn: false });
}

// Requests a frame: once per animation frame, immediately after an input, and immediately after a slow answer.
const polling = { since: 0, filterVersion: -1, asking: false, again: false };

async function poll() {
  if (polling.asking) {
    polling.again = true;
    return;
  }
  const restart = polling.filterVersion !== studio.filterVersion;
  const { watch, about, category, filterVersion } = studio;
  Object.assign(polling, { filterVersion, asking: true, again: false });
  const begun = performance.now();
  const frame = await studio.link.ask({ ask: "frame", since: restart ? 0 : polling.since, watch, about, category });
  polling.asking = false;
  if (frame.error) return alertOf(frame.error);
  // The timeline changed: events of the old timeline are dropped, and all events are requested again.
  const other = polling.timelines !== undefined && frame.timelines !== polling.timelines;
  polling.timelines = frame.timelines;
  if (other && !restart) {
    studio.filterVersion += 1;
    return poll();
  }
  polling.since = frame.serial;
  // The documents changed, so the names to choose from and the result of the scenario may have changed too.
  if (frame.reloads !== polling.reloads) {
    if (polling.reloads !== undefined) readHello();
    polling.reloads = frame.reloads;
  }
  addEvents(frame, restart);
  if (polling.again || performance.now() - begun > SLOW) poll();
}

function loop(parts) {
  if (studio.stopped) return;
  if (studio.frame) {
    parts.forEach((show) => show(studio.frame));
    PAGES[studio.page].show?.(studio.frame, studio);
    Object.assign(studio.frame, { drawn: true, restart: false, events: [] });
  }
  poll();
  requestAnimationFrame(() => loop(parts));
}

async function readHello() {
  const hello = await studio.link.ask({ ask: "hello" });
  if (hello.error === undefined) studio.hello = hello;
}

// The timeline that an input replaced: its last tick, and the number of inputs including the new input.
let replaced = null;

// Shows a message about the timeline until the next seek, with an undo button if a change can be undone.
function notify(text, canUndo = true) {
  document.getElementById("notice-text").textContent = text;
  document.getElementById("live").textContent = text;
  document.getElementById("notice-bar").hidden = !text;
  document.getElementById("notice-undo").hidden = !canUndo;
}

// An input at a recorded tick replaces the recording after that tick.
function forked(answer) {
  return typeof answer.old_end === "number" ? `Changed at ${at(answer.tick)} of ${at(answer.old_end)}: the recording after this tick was replaced. Undo restores the old recording.` : "";
}

// A connection that requests a frame immediately after every input.
function withPolling(link) {
  const ask = async (question) => {
    const answer = await link.ask(question);
    if (!READ_ONLY.includes(question.ask)) poll();
    if (["seek", "open"].includes(question.ask)) notify("");
    if (forked(answer)) {
      replaced = { end: answer.old_end, with: answer.done };
      notify(forked(answer));
    }
    if (answer.error === undefined && (question.ask === "save" || question.input?.Edit)) readHello();
    return answer;
  };
  return { ...link, ask };
}

async function start() {
  try {
    studio.link = withPolling(await connect());
  } catch (error) {
    alertOf(error.message);
    return;
  }
  studio.link.onclose?.((text) => {
    studio.stopped = true;
    alertOf(text);
  });
  await openLink();
  studio.hello = await studio.ask({ ask: "hello", opens: !query.has("seed") });
  if (!studio.hello) return;
  const parts = [transport(), tools(), footer(), disk()];
  window.addEventListener("hashchange", route);
  route();
  window.studio = studio;
  loop(parts);
}

start();
