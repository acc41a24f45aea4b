// The frame of the studio: pages, time, the footer, and the loop that asks for what is shown.

import { connect, must } from "./link.js";
import { alertOf, fill, h, number, seconds } from "./dom.js";
import { demo } from "./demo.js";
import { world } from "./world.js";
import { data } from "./data.js";
import { network } from "./network.js";
import { scenario } from "./scenario.js";
import { figures } from "./figures.js";

const PAGES = { demo, scenario, world, data, network, figures };
const TITLES = { demo: "Duel under lag", world: "World", data: "Data", network: "Network", scenario: "Scenario", figures: "Figures" };

export const studio = {
  link: null,
  hello: null,
  frame: null,
  news: [],
  page: "demo",
  // What pages want details of: side and actor.
  watch: [],
  async ask(question) {
    try {
      const answer = await must(this.link, question);
      alertOf("");
      return answer;
    } catch (error) {
      alertOf(error.message);
      return null;
    }
  },
  put(input) {
    return this.ask({ ask: "put", input });
  },
  detail(side, name) {
    return this.frame?.details.find((d) => d.side === side && d.name === name)?.detail;
  },
};

const at = new URLSearchParams(location.search);

function route() {
  const wanted = location.hash.slice(1).split("/")[0];
  const known = Object.keys(PAGES).filter((p) => (p !== "demo" || studio.hello.duel) && (p !== "scenario" || studio.hello.scenario));
  studio.page = known.includes(wanted) ? wanted : known[0];
  const main = document.getElementById("main");
  main.replaceChildren();
  studio.watch = [];
  const tabs = document.getElementById("tabs");
  tabs.replaceChildren(
    ...known.map((p) => h("a", { href: `#${p}`, "aria-current": p === studio.page ? "page" : undefined }, TITLES[p])),
  );
  document.title = `${TITLES[studio.page]} · ugas studio`;
  PAGES[studio.page].open(main, studio);
}

function clock() {
  const el = document.getElementById("clock");
  const button = (name, text, act) => h("button", { onclick: act, "aria-label": name, title: name }, text);
  el.replaceChildren(
    h("button", { id: "run", onclick: () => studio.ask({ ask: studio.frame?.running ? "pause" : "play" }) }, "Pause"),
    button("One tick", "Step", async () => {
      await studio.ask({ ask: "pause" });
      await studio.ask({ ask: "step" });
    }),
    h(
      "select",
      { "aria-label": "Speed", onchange: (e) => studio.ask({ ask: "speed", times: Number(e.target.value) }) },
      ...[0.1, 0.25, 0.5, 1, 2, 4].map((x) => h("option", { value: x, selected: x === 1 }, `${x}×`)),
    ),
    button("Take back what was done last", "Undo", () => studio.ask({ ask: "undo" })),
    button("Light or dark", "Theme", () => {
      const root = document.documentElement;
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
    }),
  );
}

function scrub() {
  const el = document.getElementById("scrub");
  const range = h("input", { type: "range", id: "time", "aria-label": "Moment", min: 0, max: 1, value: 1 });
  const text = h("span", { class: "quiet", id: "moment" });
  const marks = h("div", { class: "marks", id: "deaths" });
  range.addEventListener("input", () => studio.ask({ ask: "seek", tick: Number(range.value) }));
  el.replaceChildren(
    h("div", { class: "track" }, marks, range),
    h(
      "div",
      { class: "row between" },
      text,
      h("span", { class: "row" }, h("button", { id: "fork", onclick: () => fork() }, "Go on from here"), h("button", { id: "now", onclick: () => toNow() }, "Back to now")),
    ),
  );
  return (frame) => {
    range.min = frame.start;
    range.max = frame.end;
    if (document.activeElement !== range || frame.running) range.value = frame.tick;
    text.textContent = frame.live ? `live, ${seconds(frame.tick)}` : `${seconds(frame.tick)} of ${seconds(frame.end)}`;
    const deaths = studio.news.filter((n) => n.kind === "Died" && n.client === null);
    fill(marks, `${frame.end} ${deaths.length}`, () =>
      deaths.map((n) =>
        h("b", {
          style: `left:${(100 * (n.tick - frame.start)) / Math.max(1, frame.end - frame.start)}%`,
          title: `${n.who} dies`,
        }),
      ),
    );
  };
}

async function fork() {
  await studio.ask({ ask: "fork" });
  await studio.ask({ ask: "play" });
}

async function toNow() {
  await studio.ask({ ask: "seek", tick: studio.frame.end });
  await studio.ask({ ask: "play" });
}

async function copyMoment(button) {
  const moment = await studio.ask({ ask: "moment" });
  if (!moment) return;
  const url = new URL(location.href);
  url.search = `?seed=${moment.seed}&tick=${moment.tick}`;
  if (moment.inputs.length) {
    const bytes = new TextEncoder().encode(JSON.stringify(moment.inputs));
    url.search += `&ops=${btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
  }
  button.dataset.link = url.href;
  try {
    await navigator.clipboard.writeText(url.href);
    button.textContent = "copied";
  } catch {
    prompt("The link to this moment", url.href);
  }
  setTimeout(() => (button.textContent = "copy this moment"), 1500);
}

// A link names a seed, a tick and what was done until then.
async function openMoment() {
  if (!at.has("seed")) return;
  let inputs = [];
  try {
    const text = at.get("ops");
    if (text) {
      const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
      inputs = JSON.parse(new TextDecoder().decode(bytes));
    }
  } catch {
    alertOf("this link is damaged: what was done cannot be read from it");
  }
  await studio.ask({ ask: "open", seed: Number(at.get("seed")), tick: Number(at.get("tick") ?? 0), inputs });
}

function footer() {
  const el = document.getElementById("footer");
  const copy = h("button", { id: "copy" }, "copy this moment");
  copy.addEventListener("click", () => copyMoment(copy));
  const part = (id) => h("span", { id });
  el.replaceChildren(part("f-tick"), h("span", {}, "state ", h("code", { id: "hash" })), part("f-step"), part("f-bytes"), copy);
  return (frame) => {
    document.getElementById("run").textContent = frame.running ? "Pause" : "Play";
    document.getElementById("f-tick").textContent = `tick ${frame.tick}`;
    document.getElementById("hash").textContent = frame.hash;
    document.getElementById("f-step").textContent = `${number(frame.step_us)} µs a step`;
    document.getElementById("f-bytes").textContent = `${number(frame.bytes_a_second / 1000)} kB/s from the server`;
  };
}

async function loop(parts) {
  let since = 0;
  for (;;) {
    const frame = await studio.link.ask({ ask: "frame", since, watch: studio.watch });
    if (frame.error) {
      alertOf(frame.error);
    } else {
      // A past that has another future tells other things.
      if (studio.frame && frame.end < studio.frame.end) studio.news = studio.news.filter((n) => n.tick <= frame.end);
      studio.news.push(...frame.news);
      if (studio.news.length > 5000) studio.news.splice(0, studio.news.length - 5000);
      since = frame.serial;
      studio.frame = frame;
      parts.forEach((show) => show(frame));
      PAGES[studio.page].show?.(frame, studio);
    }
    await new Promise((done) => requestAnimationFrame(done));
  }
}

async function start() {
  try {
    studio.link = await connect();
  } catch (error) {
    alertOf(error.message);
    return;
  }
  studio.link.onclose?.((text) => alertOf(text));
  await openMoment();
  studio.hello = await studio.ask({ ask: "hello" });
  if (!studio.hello) return;
  const parts = [scrub(), footer()];
  clock();
  window.addEventListener("hashchange", route);
  route();
  window.studio = studio;
  await loop(parts);
}

start();
