// A scenario: whether it holds, what does not and why, and the way to the moment where it does not.

import { h, seconds } from "./dom.js";

export const scenario = { open };

async function open(main, studio) {
  const told = studio.hello.scenario;
  const holds = told.failures.length === 0;
  const go = (tick) => studio.ask({ ask: "seek", tick }).then(() => (location.hash = "#world"));
  const source = await studio.ask({ ask: "file", name: told.file });
  const lines = (source?.text ?? "").split("\n");
  const wrong = new Map(told.failures.map((f) => [f.line, f]));
  main.replaceChildren(
    h(
      "div",
      { class: "grid two" },
      h(
        "section",
        { class: "panel grid" },
        h("h2", {}, `${told.file}:${told.line}`),
        h("p", { class: "big" }, told.name),
        h("p", { id: "holds", class: holds ? "good" : "bad" }, holds ? `Everything holds, to its end at ${seconds(told.end)}.` : `${told.failures.length} expectations do not hold.`),
        ...told.failures.map((f) => h("div", { class: "finding" }, h("button", { onclick: () => toMoment(studio, f.tick) }, `Go to ${seconds(f.tick)}`), ` line ${f.line}: ${f.message}`, f.why ? h("pre", { class: "quiet" }, f.why) : null)),
        ...told.notes.map((n) => h("p", { class: "quiet" }, n)),
        h("div", { class: "row" }, h("button", { id: "again", onclick: () => studio.ask({ ask: "seek", tick: 0 }).then(() => studio.ask({ ask: "play" })) }, "Play it from the beginning"), h("button", { onclick: () => go(0) }, "Look at the world")),
      ),
      h("section", { class: "panel" }, h("h2", {}, "The file"), h("ol", { class: "log scroll", style: "max-height:34rem;list-style:decimal inside;font-family:ui-monospace,monospace;white-space:pre" }, ...lines.slice(0, 2000).map((text, i) => h("li", { class: wrong.has(i + 1) ? "Undone" : "" }, text)))),
    ),
  );
}

// What has not been played yet is played up to there.
async function toMoment(studio, tick) {
  while (studio.frame.end < tick) {
    await studio.ask({ ask: "seek", tick: studio.frame.end });
    await studio.ask({ ask: "step", ticks: 240 });
    await new Promise((done) => setTimeout(done, 30));
  }
  await studio.ask({ ask: "seek", tick });
  location.hash = "#world";
}
