// A scenario: its result, its failures with explanations, and buttons that seek to the tick of each failure.

import { at, h } from "./dom.js";

const MAX_LINES = 2000;

export const scenario = { open, show };
let shown = null;

// Changed documents may change the result.
function show(frame, studio) {
  if (shown !== null && shown !== studio.hello) open(document.getElementById("main"), studio);
}

async function open(main, studio) {
  const result = studio.hello.scenario;
  shown = studio.hello;
  const passed = result.failures.length === 0;
  const source = await studio.ask({ ask: "file", name: result.file });
  // Another page may have been opened while the file was read.
  if (studio.page !== "scenario") return;
  const lines = (source?.text ?? "").split("\n");
  const wrong = new Set(result.failures.map((f) => f.line));
  const choose = h("select", { id: "which", onchange: (e) => studio.ask({ ask: "open", scenario: e.target.value }) }, ...result.all.map((s, i) => h("option", { value: s.key, selected: s.key === result.key }, `${i + 1} ${s.name}`)));
  const seed = studio.hello.seed === result.own_seed ? "" : `, run with seed ${studio.hello.seed} instead of ${result.own_seed}`;
  const many = (n) => (n === 1 ? "1 expectation failed." : `${n} expectations failed.`);
  const focus = document.activeElement?.id;
  main.replaceChildren(
    h(
      "div",
      { class: "grid two" },
      h(
        "section",
        { class: "panel grid" },
        result.all.length > 1 ? h("label", { class: "grid tight" }, h("span", { class: "quiet" }, `Choose one of the ${result.all.length} scenarios in this file`), choose) : null,
        h("div", {}, h("p", { class: "quiet" }, `${result.file}:${result.line}${seed}`), h("p", { class: "big", style: "font-size:1.4rem" }, result.name)),
        h("p", { id: "result", class: passed ? "good" : "bad" }, passed ? `Passed: every expectation is met, up to the end at ${at(result.end)}.` : many(result.failures.length)),
        ...result.failures.map((f) => h("div", { class: "finding" }, h("div", { class: "row between" }, h("b", {}, `line ${f.line}`), h("button", { onclick: () => goToTick(studio, f.tick, "#world") }, `Go to ${at(f.tick)}`)), f.message, f.why ? h("pre", {}, f.why) : null)),
        ...result.notes.map((n) => h("p", { class: "quiet" }, n)),
        h("div", { class: "row" }, h("button", { id: "restart", class: "main", onclick: () => studio.ask({ ask: "seek", tick: 0 }).then(() => studio.ask({ ask: "play" })) }, "Run from the start"), h("button", { id: "show-world", onclick: () => (location.hash = "#world") }, "Show the world")),
      ),
      h("section", { class: "panel" }, h("h2", {}, "Scenario file"), h("div", { class: "scroll", style: "max-height:34rem", tabindex: 0, role: "region", "aria-label": "Text of the scenario" }, h("ol", { class: "source" }, ...lines.slice(0, MAX_LINES).map((text, i) => h("li", { class: wrong.has(i + 1) ? "wrong" : undefined }, text)))), lines.length > MAX_LINES ? h("p", { class: "quiet" }, `The first ${MAX_LINES} of ${lines.length} lines.`) : null),
    ),
  );
  // Keeps the keyboard focus.
  if (focus && main.querySelector(`#${CSS.escape(focus)}`)) document.getElementById(focus).focus();
  const first = main.querySelector(".wrong");
  if (first) return first.scrollIntoView({ block: "nearest" });
  // Scrolls to the start of the scenario.
  const begins = main.querySelectorAll(".source li")[result.line - 1];
  if (begins) begins.closest(".scroll").scrollTop = begins.offsetTop - begins.parentElement.offsetTop;
}

// Seeks to a tick; if the tick is not recorded yet, runs the scenario up to that tick.
async function goToTick(studio, tick, then) {
  let end = studio.frame.end;
  while (end < tick) {
    await studio.ask({ ask: "seek", tick: end });
    const answer = await studio.ask({ ask: "step", ticks: Math.min(240, tick - end) });
    if (!answer) return;
    end = answer.tick;
  }
  await studio.ask({ ask: "seek", tick });
  location.hash = then;
}
