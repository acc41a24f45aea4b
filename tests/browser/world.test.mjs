// The other pages of the studio: the world, the network and scenarios.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, frame, launch, start, until, visit } from "./lib.mjs";

let browser;
let ugas;
let folder;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "ugas-browser-"));
  browser = await launch();
  ugas = await start("studio", "packs/arena", "--seed", "7");
});
after(async () => {
  await browser?.close();
  await ugas?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function world(t, options = {}) {
  const page = await visit(browser, ugas.address, { hash: "world", query: "seed=7&tick=0", ...options });
  t.after(() => page.context().close());
  await page.waitForSelector("#values tbody tr");
  return page;
}

async function choose(page, name) {
  await page.click(`#actors [data-key="${name}"]`);
  await until(page, (who) => document.getElementById("who").textContent === who && window.studio.detail(null, who), name);
}

const value = (page, attribute) => page.evaluate((a) => Number(document.querySelector(`#plots [data-plot="${a}"]`).dataset.last), attribute);

// covers: OWN-10
test("an applied effect changes the plot, is explained, and is not shown after seeking back", async (t) => {
  const page = await world(t);
  await choose(page, "Pyra");
  await page.waitForSelector('#plots [data-plot="Health"]');
  await until(page, () => Number(document.querySelector('#plots [data-plot="Health"]').dataset.last) === 120);
  const { tick } = await frame(page);
  await page.fill("#d-effect", "GE_FlareUp");
  await page.click("#do-apply");
  await until(page, () => Number(document.querySelector('#plots [data-plot="Health"]').dataset.last) < 120);
  const hurt = await value(page, "Health");
  assert.ok((await frame(page)).tick - tick < 300, "the plot moves when the value does");
  assert.equal(await page.textContent('#values [data-attribute="Health"]'), String(hurt));
  await page.click('#values [data-attribute="Health"]');
  await page.waitForSelector("#why");
  assert.match(await page.textContent("#why"), new RegExp(`^${hurt} = `));
  await page.locator("#time").fill(String(tick));
  await until(page, () => Number(document.querySelector('#plots [data-plot="Health"]').dataset.last) === 120);
  await page.click("#to-end");
  await until(page, (v) => Number(document.querySelector('#plots [data-plot="Health"]').dataset.last) === v, hurt);
});

// covers: OWN-10
test("a lasting effect is shown in the timeline, the list and the tag tree, and can be removed", async (t) => {
  const page = await world(t);
  await choose(page, "Brann");
  await page.fill("#d-effect", "GE_Burn");
  await page.click("#do-apply");
  await page.click("#do-apply");
  await until(page, () => /GE_Burn/.test(document.getElementById("effects").textContent));
  const row = '#effects tbody tr:has-text("GE_Burn") td';
  await page.waitForSelector(`${row}:nth-child(4):text-is("2")`);
  const cells = await page.locator(row).allTextContents();
  assert.match(cells[5], /^\d+\.\d s$/);
  await until(page, () => document.querySelector('#tags [data-key="Burning"] > b')?.textContent === "1");
  await until(page, () => document.querySelector('[data-cue="Fire.Burning"]'));
  await page.click('#log button:has-text("GE_Burn applied")');
  await page.waitForSelector("#chain li:nth-child(2)");
  await page.click('button[aria-label="Remove GE_Burn"]');
  await until(page, () => !/GE_Burn/.test(document.getElementById("effects").textContent));
  await until(page, () => !/Burning/.test(document.getElementById("tags").textContent));
});

// covers: OWN-10
test("abilities show whether they are ready, their casts and cooldowns, and every refusal reason", async (t) => {
  const page = await world(t);
  await choose(page, "Pyra");
  await until(page, () => document.querySelector('#abilities [data-ability="GA_Fireball"] [data-state="ready"]'));
  await page.fill("#d-target", "Brann");
  await page.fill("#d-ability", "GA_Fireball");
  await page.click("#do-activate");
  await until(page, () => /casting \d+ %/.test(document.querySelector('#abilities [data-ability="GA_Fireball"]').textContent));
  assert.match(await page.textContent("#cast"), /GA_Fireball/);
  await until(page, () => /Cooldown.*ready in/.test(document.querySelector('#abilities [data-ability="GA_Fireball"]').textContent));
  await until(page, () => !document.getElementById("cast"));
  await page.fill("#d-input", "Ability2");
  await page.click("#do-press");
  await page.click("#do-release");
  await until(page, () => /1 of 2/.test(document.querySelector('#abilities [data-ability="GA_Blink"]').textContent));
});

// covers: OWN-10
test("setting a base value, moving an actor and sending an event can each be undone", async (t) => {
  const page = await world(t);
  await choose(page, "Brann");
  const base = page.locator('[data-edit="Might"]');
  await base.fill("77");
  await base.press("Enter");
  await until(page, () => window.studio.detail(null, "Brann").attributes.find((a) => a.name === "Might").base === 77);
  await page.keyboard.press("Escape");
  await page.click("#undo");
  await until(page, () => window.studio.detail(null, "Brann").attributes.find((a) => a.name === "Might").base === 50);
  await page.fill("#d-place", "3 -4");
  await page.click("#do-move");
  await until(page, () => ((a) => a.x === 3 && a.z === -4)(window.studio.frame.sides[0].actors.find((a) => a.name === "Brann")));
  assert.equal(await page.textContent("#at"), "at 3, -4");
  await page.click("#undo");
  await until(page, () => window.studio.frame.sides[0].actors.find((a) => a.name === "Brann").x !== 3);
  await page.fill("#d-event", "State.Combat");
  await page.click("#do-event");
  await until(page, () => document.getElementById("alert").hidden);
});

// The result of an action next to its button and for screen readers.
async function answered(page, button, text, done) {
  await page.click(button);
  const outcome = `${button} ~ .outcome.${done ? "good" : "bad"}`;
  await page.waitForSelector(outcome);
  await until(page, ([el, pattern]) => new RegExp(pattern).test(document.querySelector(el).textContent), [outcome, text]);
  assert.match(await page.textContent("#live"), new RegExp(text));
  assert.ok(await page.isVisible(outcome));
}

// covers: OWN-10
test("every action reports its result next to its button", async (t) => {
  const page = await world(t);
  await choose(page, "Pyra");
  await ask(page, { ask: "pause" });
  await answered(page, "#do-apply", "failed: enter an effect first", false);
  await page.fill("#d-effect", "GE_Bum");
  await answered(page, "#do-apply", "unknown effect 'GE_Bum'; did you mean 'GE_Burn'\\?", false);
  await page.waitForTimeout(300);
  assert.ok(await page.isHidden("#alert"), "once is enough");
  await page.fill("#d-effect", "GE_Burn");
  await answered(page, "#do-apply", "^\\d+\\.\\d s: GE_Burn was applied to Pyra\\.$", true);
  await answered(page, "#do-remove", "GE_Burn was removed from Pyra", true);
  await answered(page, "#do-remove", "no active GE_Burn to remove", false);
  await page.fill("#d-ability", "GA_Fireball");
  await answered(page, "#do-cancel", "nothing to cancel", false);
  await answered(page, "#do-activate", "activated GA_Fireball without a target", false);
  await page.fill("#d-input", "Ability2");
  await answered(page, "#do-press", "was pressed, but no ability was activated: ", false);
  await answered(page, "#do-release", "Ability2 of Pyra was released", true);
  await page.fill("#d-event", "State.Combat");
  await answered(page, "#do-event", "State.Combat was sent to Pyra", true);
  await page.fill("#d-place", "3 -4");
  await answered(page, "#do-move", "Pyra was moved to 3, -4", true);
});

// covers: OWN-10
test("an ability in the table reports its result in its row, also if it lacks a target", async (t) => {
  const page = await world(t);
  await choose(page, "Pyra");
  const row = '#abilities [data-ability="GA_Firebolt"]';
  await ask(page, { ask: "pause" });
  await page.click(`${row} button`);
  await until(page, (r) => /without a target.*enter a target/.test(document.querySelector(`${r} .outcome.bad`)?.textContent), row);
  await page.click(`${row} button`);
  await until(page, (r) => /failed: .*cooldown/.test(document.querySelector(`${r} .outcome.bad`)?.textContent), row);
  assert.match(await page.textContent("#live"), /failed: .*cooldown/);
  await page.fill("#d-target", "Brann");
  await ask(page, { ask: "step", ticks: 60 });
  await until(page, () => document.querySelector('#abilities [data-ability="GA_Firebolt"] [data-state="ready"]'));
  await page.click(`${row} button`);
  await until(page, (r) => /Pyra activated GA_Firebolt\.$/.test(document.querySelector(`${r} .outcome.good`)?.textContent), row);
});

// covers: OWN-10
test("a value lists the last writes of its base with their causes", async (t) => {
  const page = await world(t);
  await choose(page, "Brann");
  await page.click('#values [data-attribute="Health"]');
  await until(page, () => /the initial value/.test(document.getElementById("writes")?.textContent));
  await page.fill("#d-effect", "GE_FlareUp");
  await page.fill("#d-by", "Pyra");
  await page.click("#do-apply");
  await page.click('#values [data-attribute="Health"]');
  await until(page, () => document.querySelector("#writes button"));
  assert.match(await page.textContent("#writes li:first-child"), /^\d+\.\d s−[\d.]+ to [\d.]+ by GE_FlareUp from Pyra$/);
  await page.click("#writes button");
  await page.waitForSelector("#chain");
  assert.match(await page.textContent("#chain"), /GE_FlareUp was applied/);
});

// covers: OWN-05
test("an action at an earlier tick reports that the later recording was replaced, and undo restores it", async (t) => {
  const page = await world(t);
  await choose(page, "Pyra");
  await ask(page, { ask: "pause" });
  const { tick: end } = await ask(page, { ask: "step", ticks: 240 });
  await until(page, (at) => window.studio.frame.end === at, end);
  await page.locator("#time").fill(String(end - 120));
  await until(page, (at) => window.studio.frame.tick === at, end - 120);
  await page.fill("#d-effect", "GE_Burn");
  await page.click("#do-apply");
  await page.waitForSelector("#notice-bar:not([hidden])");
  assert.match(await page.textContent("#notice-text"), /^Changed at [\d.]+ s of [\d.]+ s: the recording after this tick was replaced\./);
  await until(page, (at) => window.studio.frame.end === at, end - 120);
  await page.click("#notice-undo");
  await until(page, (at) => window.studio.frame.end === at, end);
  assert.equal(await page.textContent("#notice-text"), "Undone: apply GE_Burn to Pyra.");
  await page.click("#do-apply");
  await page.waitForSelector("#notice-bar:not([hidden])");
  await page.click("#notice-dismiss");
  assert.ok(await page.isHidden("#notice-bar"));
});

// covers: OWN-10
test("an action in a paused world is listed at once", async (t) => {
  const page = await world(t);
  await choose(page, "Brann");
  await ask(page, { ask: "pause" });
  await page.fill("#d-effect", "GE_Burn");
  await page.click("#do-apply");
  await until(page, () => /GE_Burn applied/.test(document.getElementById("log").textContent));
});

// covers: OWN-10
test("clients join over a chosen link and are shown next to the server", async (t) => {
  const network = await visit(browser, ugas.address, { hash: "network", query: "seed=7&tick=0" });
  t.after(() => network.context().close());
  await network.waitForSelector("#clients .empty");
  await network.locator("#n-trip").fill("120");
  await network.fill("#n-name", "Ann");
  await network.fill("#n-owns", "Pyra");
  await network.click("#n-join");
  await until(network, () => document.querySelector('#clients [data-key="Ann"]'));
  await until(network, () => [...document.querySelectorAll("#comparison tbody tr")].some((r) => /Ann.*Pyra.*Health/.test(r.textContent)));
  await until(network, () => window.studio.frame.bytes_a_second > 0);
  await network.selectOption("#n-whose", "Ann");
  await network.fill("#n-trip", "300");
  await until(network, () => document.querySelector('#clients [data-key="Ann"] [data-trip="300"]'));
  assert.equal(await network.evaluate(() => window.studio.frame.round_trip), 120, "everybody else’s stays");
  await network.selectOption("#n-whose", "");
  await network.fill("#n-trip", "100");
  await until(network, () => document.querySelector('#clients [data-key="Ann"] [data-trip="100"]'));
  await network.click("#n-join");
  await until(network, () => /has already joined/.test(document.getElementById("alert-text").textContent));
  await network.waitForTimeout(300);
  assert.ok(await network.isVisible("#alert"), "it stays");
  await network.click("#dismiss");
  assert.ok(await network.isHidden("#alert"));
  await network.click("#n-leave");
  await until(network, () => !document.querySelector('#clients [data-key="Ann"]'));
  await network.click("#n-join");
  await until(network, () => document.querySelector('#clients [data-key="Ann"]'));
});

const SCENARIO = (health) => `Scenario: Poison ticks
Entities:
  - Kind: attribute_set
    Name: Vitals
    Attributes:
      - {Name: Health, DefaultBaseValue: 100, Clamping: {Min: 0}}
  - Kind: gameplay_effect
    Name: GE_Poison
    DurationPolicy: HasDuration
    Duration: {Type: ScalableFloat, Value: 10}
    Period: {Period: 1}
    Modifiers:
      - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}
Actors:
  Hero: {AttributeSets: [Vitals]}
Timeline:
  - At: 0
    Do:
      - Apply: {Effect: GE_Poison, To: Hero}
  - At: 3.5
    Do:
      - Expect: {Hero.Health: ${health}}
`;

async function played(t, name, text) {
  const file = join(folder, name);
  writeFileSync(file, text);
  const own = await start("studio", file);
  t.after(() => own.stop());
  const page = await visit(browser, own.address);
  t.after(() => page.context().close());
  await page.waitForSelector("#result");
  return { page, own };
}

// covers: OWN-10
test("a failing scenario shows where and why, and links to the tick", async (t) => {
  const { page } = await played(t, "fails.yaml", SCENARIO(90));
  assert.equal(await page.textContent("#result"), "1 expectation failed.");
  assert.match(await page.textContent(".source .wrong"), /Hero.Health: 90/);
  await page.click('.finding button:has-text("Go to 3.5 s")');
  await until(page, () => location.hash === "#world" && window.studio.frame.tick === 210);
  await until(page, () => document.querySelector('#plots [data-plot="Health"]')?.dataset.last === "85");
});

test("a passing scenario is reported as passed and runs", async (t) => {
  const { page } = await played(t, "holds.yaml", SCENARIO(85));
  assert.match(await page.textContent("#result"), /^Passed/);
  await page.click("#restart");
  await until(page, () => window.studio.frame.running && window.studio.frame.tick > 30);
});

test("one of several scenarios in a file is chosen on the page, and a permalink keeps it", async (t) => {
  const { page, own } = await played(t, "several.yaml", `${SCENARIO(85)}---\n${SCENARIO(90).replace("Poison ticks", "Poison <b>fails</b>")}`);
  assert.match(await page.textContent("#result"), /^Passed/);
  assert.equal(await page.evaluate(() => document.querySelector(".source").parentElement.scrollTop), 0);
  assert.deepEqual(await page.locator("#which option").allTextContents(), ["1 Poison ticks", "2 Poison <b>fails</b>"]);
  await page.getByLabel("Choose one of the 2 scenarios in this file").selectOption({ index: 1 });
  await until(page, () => document.getElementById("result")?.textContent === "1 expectation failed.");
  assert.equal(await page.inputValue("#which"), "Poison <b>fails</b>");
  await page.click("#copy");
  await until(page, () => document.getElementById("copy").dataset.link);
  const link = new URL(await page.getAttribute("#copy", "data-link"));
  assert.equal(link.searchParams.get("scenario"), "Poison <b>fails</b>");
  await page.selectOption("#which", { index: 0 });
  await until(page, () => /^Passed/.test(document.getElementById("result")?.textContent));
  const other = await visit(browser, own.address, { query: link.search.slice(1) });
  t.after(() => other.context().close());
  await until(other, () => document.getElementById("result")?.textContent === "1 expectation failed.");
  await until(page, () => document.getElementById("result")?.textContent === "1 expectation failed.");
});

const capability = (page, name) => page.locator(`#capabilities [data-capability="${name}"]`);
const capabilityState = (page, name, wanted) => until(page, ([n, w]) => document.querySelector(`#capabilities [data-capability="${n}"] [data-state]`)?.dataset.state === w, [name, wanted]);
const steps = (page, ticks) => ask(page, { ask: "step", ticks });

async function turret(t) {
  const own = await start("studio", "scenarios/cookbook/turret.yaml");
  t.after(() => own.stop());
  const page = await visit(browser, own.address, { hash: "world", query: "seed=7&tick=60" });
  t.after(() => page.context().close());
  await ask(page, { ask: "pause" });
  await page.waitForSelector("#capabilities tbody tr");
  await capabilityState(page, "Fire", "Active");
  return page;
}

// covers: OWN-10
test("a capability is blocked, stops, is explained, is unblocked, and undo restores the block and then the start", async (t) => {
  const page = await turret(t);
  const shots = () => page.evaluate(() => window.studio.detail(null, "Turret").attributes.find((a) => a.name === "Shots").value);
  const before = await frame(page);
  assert.match(await capability(page, "Fire").textContent(), /every 0\.5 s.*AuthorityOnly.*activated 0\.5 s/);
  await capability(page, "Fire").getByText("Block", { exact: true }).click();
  await until(page, () => /Capability\.Weapon\.Fire of Turret was blocked/.test(document.getElementById("capability-outcome").textContent));
  await steps(page, 60);
  await capabilityState(page, "Fire", "Blocked");
  const stopped = await shots();
  assert.match(await capability(page, "Fire").textContent(), /Capability\.Weapon\.Fire by the host \(Studio\).*deactivated 1\.0 s/);
  await steps(page, 60);
  await until(page, (at) => window.studio.frame.tick === at, before.tick + 120);
  assert.equal(await shots(), stopped, "it does not fire while it is blocked");
  await capability(page, "Fire").getByText("Why?").click();
  await until(page, () => document.getElementById("why-not")?.textContent === "Blocked Capability.Weapon.Fire is blocked by the host (Studio)");
  await capability(page, "Fire").getByText("Unblock").click();
  await steps(page, 60);
  await capabilityState(page, "Fire", "Active");
  await until(page, (n) => window.studio.detail(null, "Turret").attributes.find((a) => a.name === "Shots").value > n, stopped);
  await page.click("#undo");
  await until(page, () => document.getElementById("notice-text").textContent === "Undone: unblock Capability.Weapon.Fire of Turret.");
  await capabilityState(page, "Fire", "Blocked");
  await page.keyboard.press("u");
  await until(page, () => document.getElementById("notice-text").textContent === "Undone: block Capability.Weapon.Fire of Turret.");
  await page.locator("#time").fill(String(before.tick));
  await until(page, (hash) => window.studio.frame.hash === hash, before.hash);
  await capabilityState(page, "Fire", "Active");
  assert.deepEqual(page.faults, []);
});

// covers: OWN-10
test("capabilities are switched off and on, and sets are removed and added", async (t) => {
  const page = await turret(t);
  await capability(page, "Aim").getByText("Switch off").click();
  await capabilityState(page, "Aim", "Disabled");
  await capability(page, "Aim").getByText("Switch on").click();
  await capabilityState(page, "Aim", "Active");
  await page.click('#capabilities button[aria-label="Remove CS_Turret"]');
  await until(page, () => document.querySelector("#capabilities .empty")?.textContent === "No capabilities.");
  await page.click("#do-add-set");
  await until(page, () => /failed: enter a capability set first/.test(document.getElementById("capability-outcome").textContent));
  assert.deepEqual(await page.locator("#l-sets option").evaluateAll((all) => all.map((o) => o.value)), ["CS_Turret"]);
  await page.fill("#d-set", "CS_Turret");
  await page.click("#do-add-set");
  await capabilityState(page, "Aim", "Active");
  assert.deepEqual(page.faults, []);
});

// covers: OWN-10
test("a client is shown beside the server, and the statistics list the cost of each class", async (t) => {
  const page = await turret(t);
  await ask(page, { ask: "put", input: { Join: { client: "Ann", owns: ["Turret"] } } });
  await steps(page, 60);
  await until(page, () => document.querySelector("#capabilities thead").textContent.includes("Client Ann"));
  const states = () => capability(page, "Aim").locator("[data-state]").evaluateAll((all) => all.map((el) => el.dataset.state));
  await until(page, () => [...document.querySelectorAll('#capabilities [data-capability="Aim"] [data-state]')].every((el) => el.dataset.state === "Active"));
  assert.equal((await states()).length, 2);
  await page.selectOption("#side", "Ann");
  await capability(page, "Cool").getByText("Why?").click();
  await until(page, () => /`Heat > 5` does not hold: Heat is \d/.test(document.getElementById("why-not")?.textContent));
  assert.match(await page.textContent("#answer"), /on client Ann/);
  await page.click('#tabs a[href="#figures"]');
  await page.waitForSelector('#capability-costs [data-class="Fire"]');
  const cells = await page.locator('#capability-costs [data-class="Fire"] td').allTextContents();
  assert.equal(cells[1], "1");
  assert.ok(Number(cells[4]) > Number(cells[5]) && Number(cells[5]) > 0, `visited more often than evaluated: ${cells}`);
});
