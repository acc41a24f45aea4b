// A scenario: whether it holds, what does not and why, and the way to the moment where it does not.

import { at, h } from "./dom.js";

const MOST_LINES = 2000;

export const scenario = { open, show };
let shown = null;

// Other documents may bring another verdict.
function show(frame, studio) {
  if (shown !== null && shown !== studio.hello) open(document.getElementById("main"), studio);
}

async function open(main, studio) {
  const told = studio.hello.scenario;
  shown = studio.hello;
  const holds = told.failures.length === 0;
  const source = await studio.ask({ ask: "file", name: told.file });
  // Somebody may have gone to another page while the file was read.
  if (studio.page !== "scenario") return;
  const lines = (source?.text ?? "").split("\n");
  const wrong = new Set(told.failures.map((f) => f.line));
  const choose = h("select", { id: "which", onchange: (e) => studio.ask({ ask: "open", scenario: e.target.value }) }, ...told.all.map((s, i) => h("option", { value: s.key, selected: s.key === told.key }, `${i + 1} ${s.name}`)));
  const seed = studio.hello.seed === told.own_seed ? "" : `, played with seed ${studio.hello.seed} instead of its own ${told.own_seed}`;
  const many = (n) => (n === 1 ? "1 expectation does not hold." : `${n} expectations do not hold.`);
  const focus = document.activeElement?.id;
  main.replaceChildren(
    h(
      "div",
      { class: "grid two" },
      h(
        "section",
        { class: "panel grid" },
        told.all.length > 1 ? h("label", { class: "grid tight" }, h("span", { class: "quiet" }, `Of the ${told.all.length} scenarios in this file`), choose) : null,
        h("div", {}, h("p", { class: "quiet" }, `${told.file}:${told.line}${seed}`), h("p", { class: "big", style: "font-size:1.4rem" }, told.name)),
        h("p", { id: "holds", class: holds ? "good" : "bad" }, holds ? `Everything holds, to its end at ${at(told.end)}.` : many(told.failures.length)),
        ...told.failures.map((f) => h("div", { class: "finding" }, h("div", { class: "row between" }, h("b", {}, `line ${f.line}`), h("button", { onclick: () => toMoment(studio, f.tick, "#world") }, `Go to ${at(f.tick)}`)), f.message, f.why ? h("pre", {}, f.why) : null)),
        ...told.notes.map((n) => h("p", { class: "quiet" }, n)),
        h("div", { class: "row" }, h("button", { id: "again", class: "main", onclick: () => studio.ask({ ask: "seek", tick: 0 }).then(() => studio.ask({ ask: "play" })) }, "Play it from the beginning"), h("button", { id: "look", onclick: () => (location.hash = "#world") }, "Look at the world")),
      ),
      h("section", { class: "panel" }, h("h2", {}, "The file"), h("div", { class: "scroll", style: "max-height:34rem", tabindex: 0, role: "region", "aria-label": "Text of the scenario" }, h("ol", { class: "source" }, ...lines.slice(0, MOST_LINES).map((text, i) => h("li", { class: wrong.has(i + 1) ? "wrong" : undefined }, text)))), lines.length > MOST_LINES ? h("p", { class: "quiet" }, `Its first ${MOST_LINES} of ${lines.length} lines.`) : null),
    ),
  );
  // Whoever chose with the keyboard goes on choosing.
  if (focus && main.querySelector(`#${CSS.escape(focus)}`)) document.getElementById(focus).focus();
  const first = main.querySelector(".wrong");
  if (first) return first.scrollIntoView({ block: "nearest" });
  // Where the chosen one begins.
  const begins = main.querySelectorAll(".source li")[told.line - 1];
  if (begins) begins.closest(".scroll").scrollTop = begins.offsetTop - begins.parentElement.offsetTop;
}

// What has not been played yet is played up to there.
async function toMoment(studio, tick, then) {
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
