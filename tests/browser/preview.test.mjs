// Previews: what a button would do, without doing it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, frame, launch, start, until, visit } from "./lib.mjs";

let browser;
let ugas;
let demo;

before(async () => {
  browser = await launch();
  ugas = await start("studio", "packs/arena", "--seed", "7");
  demo = await start("demo", "--seed", "7");
});
after(async () => {
  await browser?.close();
  await ugas?.stop();
  await demo?.stop();
});

// The world page at a tick, paused, with Pyra selected.
async function world(t, options = {}) {
  const page = await visit(browser, ugas.address, { hash: "world", query: "seed=7&tick=60", ...options });
  t.after(() => page.context().close());
  await ask(page, { ask: "pause" });
  await page.click('#actors [data-key="Pyra"]');
  await until(page, () => document.getElementById("who").textContent === "Pyra" && window.studio.detail(null, "Pyra"));
  return page;
}

// What a preview must not change.
async function kept(page) {
  const { hash, tick, end, done, timelines, serial } = await ask(page, { ask: "frame", since: 0, watch: [] });
  return { hash, tick, end, done, timelines, serial };
}

const shows = (page, pattern) => until(page, (p) => new RegExp(p, "s").test(document.getElementById("preview")?.innerText ?? "") && !document.getElementById("preview").hidden, pattern);
const value = (page, actor, attribute) => page.textContent(`#preview [data-actor="${actor}"] [data-attribute="${attribute}"] td:nth-child(2)`);

test("a hovered button shows what it would do, and the world does not change", async (t) => {
  const page = await world(t);
  await page.fill("#d-effect", "GE_FlareUp");
  const before = await kept(page);
  await page.hover("#do-apply");
  await shows(page, "Apply GE_FlareUp to Pyra.*on the server.*Health.*→.*Unchanged: ");
  const shown = await value(page, "Pyra", "Health");
  await page.waitForTimeout(600);
  assert.deepEqual(await kept(page), before);
  assert.ok(await page.isHidden("#notice-bar"), "no other timeline");
  assert.equal(await page.getAttribute("#do-apply", "aria-describedby"), "preview");
  await page.click("#do-apply");
  assert.ok(await page.isHidden("#preview"), "a click closes it");
  await until(page, (text) => window.studio.detail(null, "Pyra").attributes.find((a) => a.name === "Health").value === Number(text.split(" → ")[1]), shown);
});

test("a focused button shows its preview, for a screen reader too; Escape closes it", async (t) => {
  const page = await world(t);
  await page.fill("#d-effect", "GE_Burn");
  await page.focus("#d-by");
  await page.keyboard.press("Tab");
  await shows(page, "Tags added: State.Debuff.Burning.*Effects added: GE_Burn 4.0 s");
  assert.match(await page.textContent("#live"), /Apply GE_Burn to Pyra/);
  await page.keyboard.press("Escape");
  assert.ok(await page.isHidden("#preview"));
  await page.fill("#d-effect", "GE_Brun");
  await page.hover("#do-apply");
  await shows(page, "Unknown effect 'GE_Brun'; did you mean 'GE_Burn'\\?");
});

test("a preview at an earlier tick does not fork, and a refusal is a sentence", async (t) => {
  const page = await world(t);
  await ask(page, { ask: "put", input: { Action: { Set: { who: "Pyra", attribute: "Mana", value: 5 } } } });
  const { tick: end } = await ask(page, { ask: "step", ticks: 30 });
  await ask(page, { ask: "seek", tick: end - 30 });
  await until(page, (at) => window.studio.frame.tick === at, end - 30);
  const before = await kept(page);
  assert.equal(before.end, end);
  await page.fill("#d-target", "Brann");
  await page.hover('#abilities [data-ability="GA_Fireball"] button');
  await shows(page, "Activate Fireball of Pyra.*Would be refused: needs 30 Mana, has 5\\.");
  await page.hover('#abilities [data-ability="GA_Firebolt"] button');
  await shows(page, "Activate Firebolt of Pyra.*Brann.*Health.*→");
  await page.waitForTimeout(400);
  assert.deepEqual(await kept(page), before);
  assert.ok(await page.isHidden("#notice-bar"));
});

test("on a touch screen a button opens and closes the preview", async (t) => {
  const page = await world(t, { touch: true, width: 390, height: 844 });
  const before = await kept(page);
  const toggle = page.locator('#abilities [data-preview="activate GA_Blink"]');
  await toggle.scrollIntoViewIfNeeded();
  await toggle.tap();
  await shows(page, "Activate Blink of Pyra.*Effects added: ");
  assert.equal(await toggle.getAttribute("aria-expanded"), "true");
  const box = await page.locator("#preview").boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await toggle.tap();
  await until(page, () => document.getElementById("preview").hidden);
  assert.equal(await toggle.getAttribute("aria-expanded"), "false");
  assert.deepEqual(await kept(page), before);
  const wide = await world(t);
  assert.equal(await wide.locator(".peek:visible").count(), 0, "hover is enough there");
});

test("in the duel a client previews what it knows, the server everything", async (t) => {
  const page = await visit(browser, demo.address, { query: "seed=7&tick=120" });
  t.after(() => page.context().close());
  await ask(page, { ask: "pause" });
  // While a person plays Pyra without pressing a key, her abilities get ready on both sides.
  await ask(page, { ask: "put", input: { Keys: { x: 0, z: 0, inputs: [] } } });
  const { tick } = await ask(page, { ask: "step", ticks: 36 });
  await until(page, (at) => window.studio.frame.tick === at && document.querySelector('#you [data-ability="GA_Firebolt"][data-ready="true"]'), tick);
  await page.hover('#you [data-ability="GA_Firebolt"][data-actor="Pyra"]');
  await shows(page, "Firebolt of Pyra.*on client You.*only the server computes them");
  assert.match(await value(page, "Brann", "Health"), /^[\d.]+ → –$/);
  assert.match(await page.textContent('#preview [data-actor="Brann"]'), /Not replicated: .*Mana –/);
  await page.hover('#server [data-ability="GA_Firebolt"][data-actor="Pyra"]');
  await shows(page, "Firebolt of Pyra.*on the server.*Brann.*Health.*→ \\d");
  // An attribute of an owned actor that is not replicated is unknown, not unchanged.
  await page.evaluate(() => {
    const { link } = window.studio;
    const before = link.ask.bind(link);
    link.ask = async (request) => {
      const answer = await before(request);
      const own = answer.preview?.actors?.find((a) => a.name === "Pyra");
      const mana = own?.attributes.find((a) => a.name === "Mana");
      if (mana) Object.assign(mana, { before: null, after: null, base_before: null, base_after: null });
      return answer;
    };
  });
  await page.hover('#you [data-ability="GA_Firebolt"][data-actor="Pyra"]');
  await shows(page, "Pyra.*Not replicated to this client: Mana");
  assert.doesNotMatch(await page.textContent('#preview [data-actor="Pyra"]'), /Unchanged: [^A-Z]*Mana/);
});
