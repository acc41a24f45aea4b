// Measures the speed of the studio in headless Chromium and prints a table. Not a gate: the numbers depend on the machine.

import { ask, launch, start, until, visit } from "./lib.mjs";
import { crowd } from "./crowd.mjs";

const rows = [];
const row = (what, figure, wanted) => rows.push([what, figure, wanted]);
const middle = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

// Returns the frames with events and the drawn frames per second of a page.
const pace = (page, seconds) =>
  page.evaluate(
    (time) =>
      new Promise((done) => {
        const begun = performance.now();
        let pictures = 0;
        let frames = 0;
        let last = null;
        const count = () => {
          pictures += 1;
          if (window.studio.frame !== last) frames += 1;
          last = window.studio.frame;
          const passed = (performance.now() - begun) / 1000;
          passed < time ? requestAnimationFrame(count) : done({ pictures: pictures / passed, frames: frames / passed });
        };
        requestAnimationFrame(count);
      }),
    seconds,
  );

// Returns the milliseconds from the request of a step to the frame that shows it.
const steps = (page, times) =>
  page.evaluate(async (count) => {
    const list = [];
    const footer = document.getElementById("f-tick");
    for (let i = 0; i < count; i++) {
      const begun = performance.now();
      const { tick } = await window.studio.link.ask({ ask: "step" });
      while (footer.textContent !== `tick ${tick}`) await new Promise((done) => requestAnimationFrame(done));
      list.push(performance.now() - begun);
    }
    return list;
  }, times);

const browser = await launch();
try {
  const times = [];
  for (let i = 0; i < 3; i++) {
    const begun = performance.now();
    const ugas = await start("demo");
    const page = await visit(browser, ugas.address);
    await until(page, () => document.getElementById("hash").textContent.length === 16);
    times.push(performance.now() - begun);
    await page.context().close();
    await ugas.stop();
  }
  row("first page after the command (the best of 3)", `${Math.min(...times).toFixed(0)} ms`, "1000 ms");

  const demo = await start("demo", "--seed", "7");
  const duel = await visit(browser, demo.address);
  row("the demo", `${(await pace(duel, 4)).frames.toFixed(0)} frames a second`, "");
  const opened = performance.now();
  await ask(duel, { ask: "open", seed: 7, tick: 36_000 });
  row("ten minutes at 60 Hz played from a link", `${((performance.now() - opened) / 1000).toFixed(1)} s`, "");
  // Records ten minutes first; the measurement is seeking in this recording.
  await until(duel, () => document.getElementById("f-tick").textContent === "tick 36000");
  const sought = await duel.evaluate(async () => {
    const list = [];
    for (let i = 0; i < 200; i++) {
      const begun = performance.now();
      await window.studio.link.ask({ ask: "seek", tick: (i * 7919) % 36_000 });
      list.push(performance.now() - begun);
    }
    return list;
  });
  row("seek in ten minutes at 60 Hz (middle, worst of 200)", `${middle(sought).toFixed(0)} ms, ${Math.max(...sought).toFixed(0)} ms`, "50 ms");
  await duel.context().close();
  await demo.stop();

  for (const actors of [100, 1000]) {
    const pack = crowd(actors);
    const ugas = await start("studio", pack.place);
    const page = await visit(browser, ugas.address, { hash: "world" });
    await until(page, (n) => document.getElementById("count")?.textContent === String(n), actors);
    const { frames, pictures } = await pace(page, 5);
    row(`world page with ${actors} actors`, `${frames.toFixed(0)} frames, ${pictures.toFixed(0)} pictures a second`, actors === 1000 ? "30" : "");
    row(`a step of ${actors} actors`, `${(await page.evaluate(() => window.studio.frame.step_us)).toFixed(0)} µs`, "");
    await ask(page, { ask: "pause" });
    await page.waitForTimeout(300);
    const list = await steps(page, 40);
    row(`a step of ${actors} actors reaches the page (middle, worst of 40)`, `${middle(list).toFixed(0)} ms, ${Math.max(...list).toFixed(0)} ms`, actors === 100 ? "50 ms" : "");
    await page.context().close();
    await ugas.stop();
    pack.remove();
  }
} finally {
  await browser.close();
}

const widths = [0, 1, 2].map((i) => Math.max(...rows.map((r) => r[i].length), ["What", "Figure", "Wanted"][i].length));
for (const line of [["What", "Figure", "Wanted"], widths.map((w) => "-".repeat(w)), ...rows]) console.log(`| ${line.map((t, i) => t.padEnd(widths[i])).join(" | ")} |`);
