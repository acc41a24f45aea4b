// The duel under lag, as a visitor uses it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, frame, launch, run, start, until, visit } from "./lib.mjs";

let browser;
let ugas;

before(async () => {
  browser = await launch();
  ugas = await start("demo", "--seed", "7");
});
after(async () => {
  await browser?.close();
  await ugas?.stop();
});

// A page of the demo that closes when the test is over and must have had no faults.
async function demo(t, query = "", options = {}) {
  const page = await visit(browser, ugas.address, { query, ...options });
  t.after(() => page.context().close());
  return page;
}

const link = (page, round_trip, loss) => ask(page, { ask: "put", input: { Link: { round_trip, loss } } });

test("the demo moves at once, without input", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  const first = await frame(page);
  assert.ok(first.running && first.live);
  await until(page, (tick) => window.studio.frame.tick > tick + 30, first.tick);
  assert.deepEqual([first.round_trip, first.loss], [150, 0.05]);
  assert.equal(await page.textContent("#trip-out"), "150 ms");
  assert.equal(await page.textContent("#loss-out"), "5 %");
  const places = await page.evaluate(() => window.studio.frame.sides[0].actors.map((a) => [a.x, a.z]));
  assert.notDeepEqual(places, first.sides[0].actors.map((a) => [a.x, a.z]));
  assert.deepEqual(page.faults, []);
});

// covers: OWN-05
test("a link with a seed and a tick shows the hash of the native run", async (t) => {
  const native = await run("demo", "--tty", "--seed", "7", "--ticks", "600");
  const [, tick, hash] = /tick (\d+) +state ([0-9a-f]{16})/.exec(native.text);
  assert.equal(tick, "600");
  const page = await demo(t, "seed=7&tick=600");
  await until(page, () => document.getElementById("f-tick").textContent === "tick 600");
  assert.equal(await page.textContent("#hash"), hash);
  const other = await demo(t, "seed=8&tick=600");
  await until(other, () => document.getElementById("f-tick").textContent === "tick 600");
  assert.notEqual(await other.textContent("#hash"), hash);
});

// covers: OWN-15
test("copy this moment gives a link with what was done that leads to the same state", async (t) => {
  const page = await demo(t, "seed=7&tick=120");
  await link(page, 220, 0.2);
  await ask(page, { ask: "put", input: { Act: { Set: { who: "Brann", attribute: "Might", value: 80 } } } });
  await ask(page, { ask: "step", ticks: 180 });
  await until(page, () => document.getElementById("f-tick").textContent === "tick 300");
  const hash = await page.textContent("#hash");
  await page.click("#copy");
  await until(page, () => document.getElementById("copy").dataset.link);
  const copied = new URL(await page.evaluate(() => document.getElementById("copy").dataset.link));
  assert.equal(copied.searchParams.get("token"), null, "whoever gets the link does not get the key");
  await ask(page, { ask: "open", seed: 3, tick: 0 });
  const again = await demo(t, copied.searchParams.toString());
  await until(again, () => document.getElementById("f-tick").textContent === "tick 300");
  assert.equal(await again.textContent("#hash"), hash);
});

test("the predicted rate of fire stays while the round trip grows, the confirmed one falls", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  const shots = async (milliseconds) => {
    await page.locator("#trip").fill(String(milliseconds));
    await until(page, (ms) => window.studio.frame.round_trip === ms, milliseconds);
    await ask(page, { ask: "pause" });
    for (let i = 0; i < 6; i++) await ask(page, { ask: "step", ticks: 240 });
    await page.waitForTimeout(200);
    const read = async (id) => Number(await page.textContent(id));
    return { ahead: await read("#shots-ahead"), asking: await read("#shots-asking") };
  };
  await page.locator("#loss").fill("0");
  const near = await shots(0);
  const far = await shots(200);
  // Counted over ten seconds, one shot is six a minute.
  assert.ok(Math.abs(near.ahead - far.ahead) <= 6, JSON.stringify({ near, far }));
  assert.ok(far.asking <= near.asking - 12, JSON.stringify({ near, far }));
  assert.match(await page.textContent("#twice"), /^modifier shown twice: 0 frames/);
});

// covers: OWN-10
test("a clicked number explains itself down to file and line", async (t) => {
  const page = await demo(t, "seed=7&tick=60");
  await page.click('#server [data-actor="Brann"][data-attribute="AttackPower"]');
  await page.waitForSelector("#why");
  const text = await page.textContent("#why");
  assert.match(text, /^18 = 10 × 1\.50 \(Might 50, brann\.yaml:\d+\) × 1\.20 \(GE_EmberBlade, equipment\.yaml:\d+\)$/);
});

// covers: OWN-10
test("a greyed ability tells every reason and when it heals", async (t) => {
  const page = await demo(t, "seed=7&tick=60");
  await ask(page, { ask: "put", input: { Act: { Activate: { ability: "GA_Fireball", who: "Pyra", target: "Brann" } } } });
  await ask(page, { ask: "step", ticks: 100 });
  await ask(page, { ask: "put", input: { Act: { Set: { who: "Pyra", attribute: "Mana", value: 5 } } } });
  const greyed = '#server [data-actor="Pyra"][data-ability="GA_Fireball"][data-ready="false"]';
  await page.waitForSelector(greyed);
  await page.click(greyed);
  await page.waitForSelector("#reasons li");
  const reasons = await page.locator("#reasons li").allTextContents();
  assert.ok(reasons.length >= 2, reasons.join("; "));
  assert.ok(reasons.some((r) => /Cooldown/.test(r) && /over in \d+\.\d s/.test(r)), reasons.join("; "));
  assert.ok(reasons.some((r) => /Cost|Mana/.test(r)), reasons.join("; "));
  const left = (list) => Number(/over in ([\d.]+) s/.exec(list.find((r) => /^Cooldown/.test(r)))[1]);
  await ask(page, { ask: "step", ticks: 60 });
  await page.waitForTimeout(300);
  const later = await page.locator("#reasons li").allTextContents();
  assert.ok(Math.abs(left(reasons) - left(later) - 1) < 0.15, `${left(reasons)} heals to ${left(later)}`);
});

// covers: OWN-10
test("a changed number is used by the next cast", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  await page.waitForFunction(() => document.getElementById("yaml").value.includes("GE_FireballCost"));
  const text = await page.inputValue("#yaml");
  const changed = text.replace("{Attribute: Mana, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -30}}", "{Attribute: Mana, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -11}}");
  assert.notEqual(text, changed);
  await page.fill("#yaml", changed);
  await page.waitForSelector("#said .good");
  const step = (ticks) => ask(page, { ask: "step", ticks });
  const mana = async () => {
    const { details } = await ask(page, { ask: "frame", watch: [[null, "Pyra"]] });
    return details[0].detail.attributes.find((a) => a.name === "Mana").base;
  };
  await ask(page, { ask: "pause" });
  // She is taken over, so that she does nothing else.
  await ask(page, { ask: "put", input: { Keys: { x: 0, z: 0, inputs: [] } } });
  await step(240);
  await ask(page, { ask: "put", input: { Act: { Set: { who: "Pyra", attribute: "Mana", value: 100 } } } });
  let refused = true;
  for (let i = 0; refused && i < 8; i++) {
    ({ error: refused } = await ask(page, { ask: "put", input: { Act: { Activate: { ability: "GA_Fireball", who: "Pyra", target: "Brann" } } } }));
    if (refused) await step(60);
  }
  assert.equal(refused, undefined);
  await step(1);
  assert.equal(await mana(), 89);
});

// covers: OWN-10
test("a misspelling is a red line with the suggestion, and the world keeps running", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  await page.waitForFunction(() => document.getElementById("yaml").value.includes("GE_Burn"));
  const text = await page.inputValue("#yaml");
  const wrong = text.replace("{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}", "{Attribute: Helth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}");
  assert.notEqual(text, wrong);
  await page.fill("#yaml", wrong);
  await page.waitForSelector("#said .finding.error");
  const said = await page.textContent("#said");
  assert.match(said, /Helth/);
  assert.match(said, /did you mean.*Health/i);
  const line = wrong.split("\n").findIndex((l) => l.includes("Helth")) + 1;
  assert.match(said, new RegExp(`line ${line}:`));
  await page.evaluate((at) => (document.getElementById("yaml").scrollTop = (at - 4) * 18), line);
  await page.waitForSelector(".editor .lines .wrong");
  assert.equal(await page.textContent(".editor .lines .wrong"), String(line));
  const colours = await page.evaluate(() => {
    const el = document.querySelector(".editor .lines .wrong");
    const style = getComputedStyle(el);
    return { ground: style.backgroundColor, rest: getComputedStyle(el.parentElement).backgroundColor };
  });
  assert.notEqual(colours.ground, colours.rest);
  const { tick } = await frame(page);
  await until(page, (was) => window.studio.frame.tick > was + 20, tick);
  await page.fill("#yaml", text);
  await page.waitForSelector("#said .good");
  assert.equal(await page.locator(".editor .lines .wrong").count(), 0);
});

// covers: OWN-05
test("scrubbing back shows the same state again, and a fork goes on from there", async (t) => {
  const page = await demo(t, "seed=7&tick=60");
  const hashAt = async (tick) => {
    await until(page, (at) => window.studio.frame.tick === at && document.getElementById("f-tick").textContent === `tick ${at}`, tick);
    return page.textContent("#hash");
  };
  const begun = 60;
  await ask(page, { ask: "step", ticks: 200 });
  const then = await hashAt(begun + 200);
  await ask(page, { ask: "step", ticks: 200 });
  const end = await hashAt(begun + 400);
  assert.notEqual(then, end);
  await page.locator("#time").fill(String(begun + 200));
  assert.equal(await hashAt(begun + 200), then);
  assert.match(await page.textContent("#moment"), / of /);
  await page.click("#now");
  await ask(page, { ask: "pause" });
  await page.locator("#time").fill(String(begun + 400));
  assert.equal(await hashAt(begun + 400), end);
  await page.locator("#time").fill(String(begun + 200));
  await hashAt(begun + 200);
  await page.click("#fork");
  await until(page, (was) => window.studio.frame.live && window.studio.frame.end < was + 390, begun);
  await until(page, () => window.studio.frame.running);
});

// covers: OWN-05, OWN-10
test("scrubbed to a death, the bar lights its cause back to the key", async (t) => {
  const page = await demo(t, "seed=7&tick=900");
  await until(page, () => window.studio.deaths.length > 0);
  const death = await page.evaluate(() => window.studio.deaths[0]);
  await page.locator("#time").fill(String(death.tick));
  await page.waitForSelector("#chain li");
  const steps = await page.locator("#chain li").allTextContents();
  assert.match(steps[0], new RegExp(`${death.who}: dies`));
  assert.ok(steps.length <= 7, steps.join(" ← "));
  assert.equal(await page.locator("#chain li.pressed").count(), 1, steps.join(" ← "));
  assert.equal(await page.locator("#deaths button").count() > 0, true);
  await page.click("#before");
  await until(page, (was) => window.studio.frame.tick < was, death.tick);
});

// covers: OWN-10
test("a prediction that the server corrects is highlighted where it happened", async (t) => {
  const page = await demo(t, "seed=7&tick=10");
  await link(page, 150, 0);
  // She is taken over, so that she does nothing else; and her client does not know yet that there is no mana.
  await ask(page, { ask: "put", input: { Keys: { x: 0, z: 0, inputs: [] } } });
  await ask(page, { ask: "step", ticks: 60 });
  await page.waitForTimeout(300);
  assert.equal(await page.getAttribute("#left", "data-corrected"), null);
  await ask(page, { ask: "put", input: { Act: { Set: { who: "Pyra", attribute: "Mana", value: 0 } } } });
  await ask(page, { ask: "put", input: { Keys: { x: 0, z: 0, inputs: ["Ability1"] } } });
  await ask(page, { ask: "step", ticks: 4 });
  await until(page, () => window.studio.frame.sides.find((s) => s.client === "You").actors.find((a) => a.name === "Pyra").cast);
  assert.equal(await page.evaluate(() => window.studio.frame.sides[0].actors.find((a) => a.name === "Pyra").cast), undefined, "the server does not play along");
  await ask(page, { ask: "step", ticks: 30 });
  await until(page, () => document.getElementById("left").dataset.corrected === "Pyra");
  await page.waitForSelector("#log .Undone");
  await page.evaluate(() => (location.hash = "#network"));
  await page.waitForSelector("#undone .Undone");
  assert.match(await page.textContent("#undone"), /You: Pyra/);
  assert.ok(Number(await page.getAttribute('#clients [data-key="You"] [data-corrections]', "data-corrections")) > 0);
});

// covers: OWN-10
test("any key takes over the hero, and its keys are played", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  assert.match(await page.textContent("#hint"), /Press any key/);
  await page.keyboard.press("x");
  await until(page, () => window.studio.frame.taken);
  await until(page, () => /You play/.test(document.getElementById("hint").textContent));
  await until(page, () => window.studio.frame.sides[1].actors.some((a) => a.name === "Pyra" && !a.cast));
  const place = () => page.evaluate(() => window.studio.frame.sides[0].actors.find((a) => a.name === "Pyra").z);
  const before = await place();
  await page.keyboard.down("w");
  await until(page, (z) => Math.abs(window.studio.frame.sides[0].actors.find((a) => a.name === "Pyra").z - z) > 0.5, before);
  await page.keyboard.up("w");
});

test("a button stays under the hand while its numbers change", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  const button = '#server [data-actor="Brann"][data-attribute="Health"]';
  await page.waitForSelector(button);
  await page.focus(button);
  await page.evaluate((b) => (window.held = document.querySelector(b)), button);
  const { tick } = await frame(page);
  await until(page, (was) => window.studio.frame.tick > was + 240, tick);
  assert.ok(await page.evaluate((b) => document.activeElement === window.held && window.held === document.querySelector(b), button));
});
