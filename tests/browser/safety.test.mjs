// Safety in a browser: no markup is executed, no other origin is answered, and no file stops the studio.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "node:http";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, frame, launch, run, start, until, visit } from "./lib.mjs";

let browser;
let folder;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "ugas-browser-"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const MARKUP = "<img src=x onerror=alert(1)><b>Eve</b>";

const SET = `Kind: attribute_set
Name: Vitals
Attributes:
  - {Name: Health, DefaultBaseValue: 100, Category: Resource, Clamping: {Min: 0, Max: 100}}
`;

function pack(name, text) {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, "pack.yaml"), `Name: ${name}\nVersion: 1.0.0\n`);
  writeFileSync(join(place, "all.yaml"), text);
  return place;
}

async function studio(t, ...args) {
  const ugas = await start(...args);
  t.after(() => ugas.stop());
  return ugas;
}

test("a name with markup is shown as text on every page", async (t) => {
  const hero = `---
Kind: gameplay_controller
OwnerActor: {ActorID: '${MARKUP}', ActorType: PlayerCharacter}
AttributeSets:
  - {Name: Vitals}
`;
  const ugas = await studio(t, "studio", pack("markup", SET + hero));
  for (const hash of ["world", "data", "network", "figures"]) {
    const page = await visit(browser, ugas.address, { hash });
    let asked = false;
    page.on("dialog", (d) => ((asked = true), d.dismiss()));
    await page.waitForTimeout(500);
    assert.equal(await page.locator("img").count(), 0, hash);
    assert.ok(!asked, hash);
    if (hash === "world") {
      assert.equal(await page.textContent("#who"), MARKUP);
      assert.match(await page.textContent("#actors"), /<b>Eve<\/b>/);
    }
    assert.deepEqual(page.faults, [], hash);
    await page.context().close();
  }
});

test("a page of another origin cannot query the studio", async (t) => {
  const ugas = await studio(t, "demo");
  const other = createServer((_, answer) => answer.end("<!doctype html><title>elsewhere</title>"));
  await new Promise((done) => other.listen(0, "127.0.0.1", done));
  t.after(() => other.close());
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(`http://127.0.0.1:${other.address().port}/`);
  const url = new URL(ugas.address);
  const opened = (address) =>
    page.evaluate((at) => new Promise((done) => {
      const socket = new WebSocket(at);
      socket.onopen = () => done("open");
      socket.onerror = () => done("refused");
    }), address);
  assert.equal(await opened(`ws://${url.host}/ws${url.search}`), "refused", "even with the token");
  const read = await page.evaluate((at) => fetch(at).then((r) => r.text()).catch(() => "refused"), `http://${url.host}/`);
  assert.equal(read, "refused");
});

test("without the token the page shows an error instead of the world, and other paths are not served", async (t) => {
  const ugas = await studio(t, "demo");
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(new URL("/", ugas.address).href);
  await page.waitForFunction(() => !document.getElementById("alert").hidden);
  assert.match(await page.textContent("#alert-text"), /cannot connect to the studio/);
  for (const path of ["/../Cargo.toml", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fCargo.toml", "/pages/app.js", "//etc/passwd"]) {
    const answer = await page.request.get(new URL(ugas.address).origin + path);
    assert.equal(answer.status(), 404, path);
  }
});

test("the page reports that the studio has stopped", async (t) => {
  const ugas = await start("demo");
  const page = await visit(browser, ugas.address);
  t.after(() => page.context().close());
  await ugas.stop();
  await page.waitForFunction(() => !document.getElementById("alert").hidden);
  assert.match(await page.textContent("#alert-text"), /the studio has stopped; start it again/);
});

test("an invalid file is refused with an error and the world keeps running", async (t) => {
  const broken = join(folder, "broken.yaml");
  writeFileSync(broken, "Scenario: [\n  unfinished: {\n");
  const refused = await run("studio", broken);
  assert.notEqual(refused.code, 0);
  assert.match(refused.text, /error: /);
  assert.doesNotMatch(refused.text, /panicked/);
  const ugas = await studio(t, "demo", "--seed", "7");
  const page = await visit(browser, ugas.address, { hash: "data" });
  t.after(() => page.context().close());
  for (const text of ["Kind: [", "\u0000\u0001\u0002", "{".repeat(5000), "- ".repeat(5000), "&a [*a]", "Kind: gameplay_effect\nName: 7\n"]) {
    const answer = await ask(page, { ask: "put", input: { Edit: { file: "arena/pyra.yaml", text } } });
    assert.ok(answer.error, text.slice(0, 20));
  }
  const { tick } = await frame(page);
  await until(page, (was) => window.studio.frame.tick > was + 10, tick);
  assert.ok(ugas.isRunning());
});

test("an edit of ten megabytes is refused with an error and the studio keeps running", async (t) => {
  const ugas = await studio(t, "demo", "--seed", "7");
  const page = await visit(browser, ugas.address);
  t.after(() => page.context().close());
  const answer = await page.evaluate(() => window.studio.link.ask({ ask: "put", input: { Edit: { file: "arena/pyra.yaml", text: "# long\n".repeat(1_500_000) } } }));
  assert.match(answer.error, /request too long/);
  const { tick } = await frame(page);
  await until(page, (was) => window.studio.frame.tick > was + 10, tick);
  assert.ok(ugas.isRunning());
});

// A scenario of ten megabytes: most of it one long timeline.
const LONG = () => {
  const step = (i) => `  - At: ${(i / 1000).toFixed(3)}\n    Do:\n      - Apply: {Effect: GE_Hit, To: Hero}\n      - Expect: {Hero.Health: ${1e6 - i - 1}}\n`;
  const head = "Scenario: A long one\nEntities:\n  - Kind: attribute_set\n    Name: Vitals\n    Attributes:\n      - {Name: Health, DefaultBaseValue: 1000000}\n  - Kind: gameplay_effect\n    Name: GE_Hit\n    DurationPolicy: Instant\n    Modifiers:\n      - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -1}}\nActors:\n  Hero: {AttributeSets: [Vitals]}\nTimeline:\n";
  return head + Array.from({ length: 110_000 }, (_, i) => step(i)).join("");
};

test("a scenario of ten megabytes is shown or refused with an error", async (t) => {
  const file = join(folder, "long.yaml");
  const text = LONG();
  assert.ok(text.length > 10_000_000, `${text.length}`);
  writeFileSync(file, text);
  const ugas = await start("studio", file).catch((error) => error);
  if (ugas instanceof Error) {
    assert.match(ugas.message, /error: /);
    assert.doesNotMatch(ugas.message, /panicked|overflow|killed|null/);
    return;
  }
  t.after(() => ugas.stop());
  const page = await visit(browser, ugas.address);
  t.after(() => page.context().close());
  await page.waitForSelector("#result");
  assert.ok(ugas.isRunning());
});
