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

// Opens a page of the demo that is closed at the end of the test.
async function demo(t, query = "", options = {}) {
  const page = await visit(browser, ugas.address, { query, ...options });
  t.after(() => page.context().close());
  return page;
}

const link = (page, round_trip, loss) => ask(page, { ask: "put", input: { Link: { round_trip, loss } } });

test("the demo runs at once, without input", async (t) => {
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
  const [, tick, hash] = /tick (\d+) +state hash ([0-9a-f]{16})/.exec(native.text);
  assert.equal(tick, "600");
  const page = await demo(t, "seed=7&tick=600");
  await until(page, () => document.getElementById("f-tick").textContent === "tick 600");
  assert.equal(await page.textContent("#hash"), hash);
  const other = await demo(t, "seed=8&tick=600");
  await until(other, () => document.getElementById("f-tick").textContent === "tick 600");
  assert.notEqual(await other.textContent("#hash"), hash);
});

// covers: OWN-15
test("the copied link contains the actions and restores the same state", async (t) => {
  const page = await demo(t, "seed=7&tick=120");
  await link(page, 220, 0.2);
  await ask(page, { ask: "put", input: { Action: { Set: { who: "Brann", attribute: "Might", value: 80 } } } });
  await ask(page, { ask: "step", ticks: 180 });
  await until(page, () => document.getElementById("f-tick").textContent === "tick 300");
  const hash = await page.textContent("#hash");
  await page.click("#copy");
  await until(page, () => document.getElementById("copy").dataset.link);
  const copied = new URL(await page.evaluate(() => document.getElementById("copy").dataset.link));
  assert.equal(copied.searchParams.get("token"), null, "the link does not contain the token");
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
    return { predicted: await read("#shots-predicted"), confirmed: await read("#shots-confirmed") };
  };
  await page.locator("#loss").fill("0");
  const near = await shots(0);
  const far = await shots(200);
  // Counted over ten seconds, one shot is six a minute.
  assert.ok(Math.abs(near.predicted - far.predicted) <= 6, JSON.stringify({ near, far }));
  assert.ok(far.confirmed <= near.confirmed - 12, JSON.stringify({ near, far }));
  assert.match(await page.textContent("#twice"), /^cooldown shown twice: 0 frames/);
});

// covers: OWN-10
test("a clicked number is explained with file and line", async (t) => {
  const page = await demo(t, "seed=7&tick=60");
  await page.click('#server [data-actor="Brann"][data-attribute="AttackPower"]');
  await page.waitForSelector("#why");
  const text = await page.textContent("#why");
  assert.match(text, /^18 = 10 × 1\.50 \(Might 50, brann\.yaml:\d+\) × 1\.20 \(GE_EmberBlade, equipment\.yaml:\d+\)$/);
});

// covers: OWN-10
test("a clicked Health also lists its last writes with their causes", async (t) => {
  const page = await demo(t, "seed=7&tick=500");
  await page.click('#server [data-actor="Brann"][data-attribute="Health"]');
  await page.waitForSelector("#writes button");
  const lines = await page.locator("#writes li").allTextContents();
  assert.ok(lines.length <= 5, lines.join("; "));
  await until(page, () => document.getElementById("writes").getBoundingClientRect().bottom <= document.getElementById("dock").getBoundingClientRect().top, null, 5000);
  for (const line of lines) assert.match(line, /^\d+\.\d s[−+][\d.]+ to [\d.]+ by GE_\w+ from (Pyra|Brann)$/);
  const times = lines.map((l) => Number(/^[\d.]+/.exec(l)[0]));
  assert.deepEqual(times, [...times].sort((a, b) => b - a), "the newest first");
  await page.click("#writes button");
  await page.waitForSelector("#chain .pressed");
});

// covers: OWN-10
test("an unavailable ability lists every reason and when it is ready", async (t) => {
  const page = await demo(t, "seed=7&tick=60");
  await ask(page, { ask: "put", input: { Action: { Activate: { ability: "GA_Fireball", who: "Pyra", target: "Brann" } } } });
  await ask(page, { ask: "step", ticks: 100 });
  await ask(page, { ask: "put", input: { Action: { Set: { who: "Pyra", attribute: "Mana", value: 5 } } } });
  const greyed = '#server [data-actor="Pyra"][data-ability="GA_Fireball"][data-ready="false"]';
  await page.waitForSelector(greyed);
  await page.click(greyed);
  await page.waitForSelector("#reasons li");
  const reasons = await page.locator("#reasons li").allTextContents();
  assert.ok(reasons.length >= 2, reasons.join("; "));
  assert.ok(reasons.some((r) => /Cooldown/.test(r) && /ready in \d+\.\d s/.test(r)), reasons.join("; "));
  assert.ok(reasons.some((r) => /Cost|Mana/.test(r)), reasons.join("; "));
  const left = (list) => Number(/ready in ([\d.]+) s/.exec(list.find((r) => /^Cooldown/.test(r)))[1]);
  await ask(page, { ask: "step", ticks: 60 });
  await page.waitForTimeout(300);
  const later = await page.locator("#reasons li").allTextContents();
  assert.ok(Math.abs(left(reasons) - left(later) - 1) < 0.15, `${left(reasons)} s, then ${left(later)} s`);
});

// covers: OWN-10
test("a changed number is used by the next cast", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  await page.waitForFunction(() => document.getElementById("yaml").value.includes("GE_FireballCost"));
  const text = await page.inputValue("#yaml");
  const changed = text.replace("{Attribute: Mana, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -30}}", "{Attribute: Mana, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -11}}");
  assert.notEqual(text, changed);
  await page.fill("#yaml", changed);
  await page.waitForSelector("#findings .good");
  const step = (ticks) => ask(page, { ask: "step", ticks });
  const mana = async () => {
    const { details } = await ask(page, { ask: "frame", watch: [[null, "Pyra"]] });
    return details[0].detail.attributes.find((a) => a.name === "Mana").base;
  };
  await ask(page, { ask: "pause" });
  // The player controls Pyra, so she does nothing else.
  await ask(page, { ask: "put", input: { Keys: { x: 0, z: 0, inputs: [] } } });
  await step(240);
  await ask(page, { ask: "put", input: { Action: { Set: { who: "Pyra", attribute: "Mana", value: 100 } } } });
  let refused = true;
  for (let i = 0; refused && i < 8; i++) {
    ({ error: refused } = await ask(page, { ask: "put", input: { Action: { Activate: { ability: "GA_Fireball", who: "Pyra", target: "Brann" } } } }));
    if (refused) await step(60);
  }
  assert.equal(refused, undefined);
  await step(1);
  assert.equal(await mana(), 89);
});

// covers: OWN-10
test("a misspelling marks its line with a suggestion, and the world keeps running", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  await page.waitForFunction(() => document.getElementById("yaml").value.includes("GE_Burn"));
  const text = await page.inputValue("#yaml");
  const wrong = text.replace("{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}", "{Attribute: Helth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}");
  assert.notEqual(text, wrong);
  await page.fill("#yaml", wrong);
  await page.waitForSelector("#findings .finding.error");
  const findings = await page.textContent("#findings");
  assert.match(findings, /Helth/);
  assert.match(findings, /did you mean.*Health/i);
  const line = wrong.split("\n").findIndex((l) => l.includes("Helth")) + 1;
  assert.match(findings, new RegExp(`line ${line}:`));
  await page.evaluate((at) => (document.getElementById("yaml").scrollTop = (at - 4) * 18), line);
  await page.waitForSelector(".editor .lines .wrong");
  assert.equal(await page.textContent(".editor .lines .wrong"), String(line));
  const colours = await page.evaluate(() => {
    const el = document.querySelector(".editor .lines .wrong");
    const style = getComputedStyle(el);
    return { ground: style.backgroundColor, rest: getComputedStyle(el.parentElement).backgroundColor };
  });
  assert.notEqual(colours.ground, colours.rest);
  const seen = () => page.evaluate(() => document.getElementById("findings").getBoundingClientRect().bottom <= document.getElementById("dock").getBoundingClientRect().top + 1);
  await page.evaluate(() => document.getElementById("yaml").scrollIntoView({ block: "start" }));
  assert.ok(await seen(), "the findings are visible while typing");
  const { tick } = await frame(page);
  await until(page, (was) => window.studio.frame.tick > was + 20, tick);
  await page.fill("#yaml", text);
  await page.waitForSelector("#findings .good");
  assert.equal(await page.locator(".editor .lines .wrong").count(), 0);
});

// covers: OWN-05
test("seeking back shows the same state, and a fork resumes from there", async (t) => {
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
  assert.match(await page.textContent("#time-label"), / of /);
  await page.click("#to-end");
  await ask(page, { ask: "pause" });
  await page.locator("#time").fill(String(begun + 400));
  assert.equal(await hashAt(begun + 400), end);
  await page.locator("#time").fill(String(begun + 200));
  await hashAt(begun + 200);
  await page.click("#fork");
  await until(page, (was) => window.studio.frame.live && window.studio.frame.end < was + 390, begun);
  await until(page, () => window.studio.frame.running);
});

// covers: OWN-05
test("events are listed up to the shown tick, however old it is", async (t) => {
  const page = await demo(t, "seed=7&tick=6000");
  await until(page, () => document.querySelectorAll("#log button").length > 5);
  // More happened than a page keeps.
  await until(page, () => window.studio.events[0].tick > 700);
  await page.locator("#time").fill("600");
  await until(page, () => window.studio.frame.tick === 600 && document.querySelectorAll("#log button").length > 5);
  const times = await page.evaluate(() => [...document.querySelectorAll("#log time")].map((el) => parseFloat(el.textContent)));
  assert.ok(times.every((s) => s <= 10) && times[0] > 5, times.join());
});

// covers: OWN-05, OWN-10
test("an edit at an earlier tick reports that the later recording was replaced", async (t) => {
  const page = await demo(t, "seed=7&tick=300");
  await page.waitForFunction(() => document.getElementById("yaml").value.includes("GE_FireballCost"));
  await page.locator("#time").fill("120");
  await until(page, () => window.studio.frame.tick === 120);
  await page.fill("#yaml", (await page.inputValue("#yaml")).replace("Value: -30}}", "Value: -31}}"));
  await page.waitForSelector("#findings .good");
  assert.match(await page.textContent("#notice-text"), /Changed at 2\.0 s of 5\.0 s: the recording after this tick was replaced/);
  assert.ok(await page.isVisible("#notice-bar"));
});

test("the editor grows with its text up to a part of the window and can be resized", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  await page.waitForFunction(() => document.getElementById("yaml").value.includes("GE_Burn"));
  const height = () => page.evaluate(() => document.getElementById("yaml").clientHeight);
  assert.ok((await height()) > 420 && (await height()) < 500, String(await height()));
  await page.fill("#yaml", "a\nb\n");
  assert.ok((await height()) < 200, String(await height()));
  assert.equal(await page.evaluate(() => getComputedStyle(document.getElementById("yaml")).resize), "vertical");
  await page.evaluate(() => (document.getElementById("yaml").style.height = "333px"));
  await page.fill("#yaml", "a\nb\nc\n");
  assert.equal(await height(), 333, "a height set by the user is kept");
});

test("numbers have the same format everywhere", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  const written = await page.evaluate(async () => {
    const { at, bytes, number, percent, seconds, signed } = await import("/dom.js");
    return [number(44.0000001), number(21.6), number(-0.001), number(0.257), number(1234.56), number(null), signed(-18), signed(3.5), percent(0.054), bytes(0), bytes(7260), bytes(2_500_000), seconds(1.25), at(738)];
  });
  assert.deepEqual(written, ["44", "21.6", "0", "0.26", "1235", "–", "−18", "+3.5", "5 %", "0 B", "7.3 kB", "2.5 MB", "1.3 s", "12.3 s"]);
});

test("a world without an open page does not run, and opening it shows both actors alive", async (t) => {
  const own = await start("demo", "--seed", "7");
  t.after(() => own.stop());
  await new Promise((done) => setTimeout(done, 3000));
  const first = await visit(browser, own.address);
  t.after(() => first.context().close());
  const begun = await frame(first);
  assert.ok(begun.tick < 420 && begun.shots[0] > begun.shots[1], `the world starts when a page opens, with a fight: ${begun.tick} ${begun.shots}`);
  const down = () => window.studio.frame.sides[0].actors.some((a) => a.dead);
  await ask(first, { ask: "speed", times: 4 });
  await until(first, down);
  await ask(first, { ask: "speed", times: 1 });
  const second = await visit(browser, own.address);
  t.after(() => second.context().close());
  assert.equal(await second.evaluate(down), false);
});

// covers: OWN-05, OWN-10
test("at a death, the timeline highlights its causes back to the key press", async (t) => {
  const page = await demo(t, "seed=7&tick=900");
  await until(page, () => window.studio.deaths.length > 0);
  const death = await page.evaluate(() => window.studio.deaths[0]);
  await page.locator("#time").fill(String(death.tick));
  await page.waitForSelector("#chain li");
  const steps = await page.locator("#chain li").allTextContents();
  assert.match(steps[0], new RegExp(`${death.who}: died`));
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
  // The player controls Pyra, so she does nothing else; her client does not know yet that she lacks mana.
  await ask(page, { ask: "put", input: { Keys: { x: 0, z: 0, inputs: [] } } });
  await ask(page, { ask: "step", ticks: 60 });
  await page.waitForTimeout(300);
  assert.equal(await page.getAttribute("#left", "data-corrected"), null);
  await ask(page, { ask: "put", input: { Action: { Set: { who: "Pyra", attribute: "Mana", value: 0 } } } });
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
test("the keys named in the hint control the hero, and no other key does", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  assert.match(await page.textContent("#hint"), /^Play Pyra: WASD Space 1 2 3$/);
  await page.keyboard.press("x");
  await page.keyboard.press("p");
  await until(page, () => !window.studio.frame.running);
  assert.equal(await page.evaluate(() => window.studio.frame.player_controlled), false, "P pauses and does nothing else");
  await page.keyboard.press("p");
  await until(page, () => window.studio.frame.running);
  await page.keyboard.press("a");
  await until(page, () => window.studio.frame.player_controlled);
  await until(page, () => /You play/.test(document.getElementById("hint").textContent));
  await until(page, () => window.studio.frame.sides[1].actors.some((a) => a.name === "Pyra" && !a.cast));
  const place = () => page.evaluate(() => window.studio.frame.sides[0].actors.find((a) => a.name === "Pyra").z);
  const before = await place();
  await page.keyboard.down("w");
  await until(page, (z) => Math.abs(window.studio.frame.sides[0].actors.find((a) => a.name === "Pyra").z - z) > 0.5, before);
  await page.keyboard.up("w");
  await page.keyboard.press("p");
  await until(page, () => /Paused: P to run/.test(document.getElementById("hint").textContent));
});

test("a key pressed while dead shows the refusal", async (t) => {
  const page = await demo(t, "seed=7&tick=60");
  await ask(page, { ask: "put", input: { Keys: { x: 0, z: 0, inputs: [] } } });
  await ask(page, { ask: "step", ticks: 240 });
  await ask(page, { ask: "put", input: { Action: { Set: { who: "Pyra", attribute: "Health", value: 0 } } } });
  await ask(page, { ask: "step", ticks: 60 });
  await page.keyboard.press("1");
  await page.waitForSelector('[aria-label="Your client"] .outcome.bad:has-text("Fireball cannot be activated")');
});

// covers: OWN-10
test("a client shows hidden values as – and does not explain them", async (t) => {
  const page = await demo(t, "seed=7&tick=60");
  assert.equal(await page.textContent('#you [data-actor="Brann"][data-attribute="Mana"]'), "–");
  assert.match(await page.textContent('#server [data-actor="Brann"][data-attribute="Mana"]'), /^\d/);
  await page.click('#you [data-actor="Brann"][data-attribute="Mana"]');
  await page.waitForSelector("#why");
  assert.match(await page.textContent("#answer"), /–: not replicated to this client; explain the value on the server/);
  await page.click('#you [data-actor="Brann"][data-attribute="AttackPower"]');
  await until(page, () => /^18, replicated from the server/.test(document.getElementById("why").textContent));
  const text = await page.textContent("#answer");
  assert.match(text, /its base value and modifiers are not replicated/);
  assert.doesNotMatch(text, /No modifiers/);
  await page.evaluate(() => (location.hash = "#world"));
  await page.selectOption("#side", "You");
  await page.click('#actors [data-key="Brann"]');
  await until(page, () => document.querySelector('#values [data-attribute="Mana"]')?.textContent === "–");
  assert.match(await page.textContent("#abilities"), /replicated to its owning client only/);
  await until(page, () => /GE_MightBonus/.test(document.getElementById("effects").textContent));
  await until(page, () => document.querySelector('#plots [data-plot="Mana"]')?.dataset.last === "");
  await page.evaluate(() => (location.hash = "#network"));
  await until(page, () => [...document.querySelectorAll("#comparison tbody tr")].some((r) => /You.*Brann.*Mana.*–/.test(r.textContent) && !r.classList.contains("differs")));
});

// covers: OWN-05, OWN-10
test("near a death its own causes are shown, not those of another death", async (t) => {
  const page = await demo(t, "seed=7&tick=60");
  const kill = (who) => ask(page, { ask: "put", input: { Action: { Set: { who, attribute: "Health", value: 0 } } } });
  await ask(page, { ask: "step", ticks: 240 });
  await kill("Brann");
  await ask(page, { ask: "step", ticks: 50 });
  await kill("Pyra");
  await ask(page, { ask: "step", ticks: 240 });
  const deaths = await page.evaluate(() => window.studio.deaths.map((d) => [d.who, d.tick]));
  assert.deepEqual(deaths.slice(-2).map(([who]) => who), ["Brann", "Pyra"]);
  const [[, first], [, second]] = deaths.slice(-2);
  const shown = async (tick, who) => {
    await page.locator("#time").fill(String(tick));
    await until(page, ([at, name]) => window.studio.frame.tick === at && new RegExp(`^${name}: died`).test(document.querySelector("#chain li")?.textContent ?? ""), [tick, who]);
  };
  await shown(first + 5, "Brann");
  await shown(second - 5, "Pyra");
  await shown(second + 5, "Pyra");
  await shown(first - 5, "Brann");
  await page.locator("#time").fill(String(second + 120));
  await until(page, () => !document.getElementById("chain"));
});

// covers: OWN-10
test("predictions that a client rolled back are one line that can be expanded", async (t) => {
  const page = await demo(t, "seed=7&tick=600");
  // Clients mispredict most where many packets are lost.
  await link(page, 250, 0.5);
  for (let i = 0; i < 6; i++) await ask(page, { ask: "step", ticks: 200 });
  await page.waitForSelector("#log .fold");
  const [text, hidden] = await page.evaluate(() => [document.querySelector("#log .fold").textContent, document.querySelectorAll("#log li li").length]);
  const many = Number(/^▸ \w+ rolled back (\d+) predictions$/.exec(text)[1]);
  assert.ok(many > 1 && hidden === 0, text);
  await page.click("#log .fold");
  await until(page, (n) => document.querySelectorAll("#log li li").length === n, many);
  assert.equal(await page.getAttribute("#log .fold", "aria-expanded"), "true");
  const undone = await page.evaluate(() => document.querySelectorAll("#log > .Undone").length);
  assert.ok(undone <= 12, `${undone} lines of rolled-back predictions`);
});

test("a button keeps its position while its numbers change", async (t) => {
  const page = await demo(t, "seed=7&tick=0");
  const button = '#server [data-actor="Brann"][data-attribute="Health"]';
  await page.waitForSelector(button);
  await page.focus(button);
  await page.evaluate((b) => (window.held = document.querySelector(b)), button);
  const { tick } = await frame(page);
  await until(page, (was) => window.studio.frame.tick > was + 240, tick);
  assert.ok(await page.evaluate((b) => document.activeElement === window.held && window.held === document.querySelector(b), button));
});

test("undo restores the text in the editor, and one undo reverts all changes since a fork", async (t) => {
  const page = await demo(t, "seed=7&tick=300");
  const text = await page.inputValue("#yaml");
  await page.fill("#yaml", text.replace("Value: -1,", "Value: -20,"));
  await page.waitForSelector('#findings:has-text("Applied")');
  await page.click("#undo");
  await until(page, (was) => document.getElementById("yaml").value === was, text);
  assert.doesNotMatch(await page.textContent("#findings"), /Applied/);
  await ask(page, { ask: "seek", tick: 100 });
  await link(page, 40, 0);
  await link(page, 80, 0);
  await page.waitForSelector("#notice-bar:not([hidden])");
  await page.click("#notice-undo");
  await until(page, () => window.studio.frame.end >= 300);
  assert.match(await page.textContent("#notice-text"), /^Undone: 2 changes, the first of them: set every link to 40 ms/);
  assert.ok(await page.isHidden("#notice-undo"));
});
