// The data page: documents are found, explained, changed in a form, saved, and reloaded from disk.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ask, launch, root, start, until, visit } from "./lib.mjs";

let browser;
let folder;
let ugas;
const pyra = () => join(folder, "arena", "pyra.yaml");

before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "ugas-data-"));
  for (const pack of ["core", "arena"]) cpSync(join(root, "packs", pack), join(folder, pack), { recursive: true });
  ugas = await start("studio", join(folder, "arena"));
});
after(async () => {
  await browser?.close();
  await ugas?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

async function open(t) {
  const page = await visit(browser, ugas.address, { hash: `data/${encodeURIComponent(pyra())}` });
  t.after(() => page.context().close());
  await until(page, () => document.getElementById("source")?.value.includes("GA_Firebolt"));
  await page.waitForSelector("#form details");
  return page;
}

// covers: OWN-10
test("a definition shows its location, its text with numbers, and what uses it", async (t) => {
  const page = await open(t);
  await page.fill("#find", "GA_Fireball");
  await page.selectOption("#definitions", "ability GA_Fireball");
  await page.waitForSelector("#described");
  assert.match(await page.textContent("#described"), /then 5 per second for 4 seconds; costs 30 mana/);
  assert.match(await page.textContent("#about"), /GE_FireballCost/);
  await page.click('#about button:text-is("GE_FireballCost")');
  await until(page, () => document.querySelector("#about h2").textContent === "effect GE_FireballCost");
  assert.match(await page.textContent("#about"), /Used by \(\d+\).*GA_Fireball/s);
  await page.click('#about button:text-matches("pyra.yaml:")');
  await until(page, () => {
    const text = document.getElementById("source");
    return text.value.slice(text.selectionStart).startsWith("GE_FireballCost");
  });
  assert.match(await page.textContent("#registry"), /State/);
});

test("a value changed in the form changes the text, the file and the running world", async (t) => {
  const page = await open(t);
  const before = readFileSync(pyra(), "utf8");
  const burn = page.locator("#form details", { has: page.locator('summary:text-is("gameplay effect GE_Burn")') });
  await burn.locator("summary").first().click();
  const field = burn.getByRole("spinbutton", { name: "Modifiers 0 Magnitude Value" });
  await field.fill("-6");
  await field.blur();
  const meant = before.replace("Value: -5}}\nGrantedTags: [State.Debuff.Burning]", "Value: -6}}\nGrantedTags: [State.Debuff.Burning]");
  assert.notEqual(meant, before);
  await until(page, (text) => document.getElementById("source").value === text, meant);
  await page.click("#save");
  await page.waitForSelector("#findings .good:text('Saved')");
  assert.equal(readFileSync(pyra(), "utf8"), meant);
  const definition = await ask(page, { ask: "definition", kind: "ability", name: "GA_Fireball" });
  assert.match(definition.text, /then 6 per second/);
});

test("an unknown name is marked at its field and is not saved", async (t) => {
  const page = await open(t);
  const before = readFileSync(pyra(), "utf8");
  const cost = page.locator("#form details", { has: page.locator('summary:text-is("gameplay effect GE_FireballCost")') });
  await cost.locator("summary").first().click();
  const field = cost.getByRole("combobox", { name: "Modifiers 0 Attribute" });
  await field.fill("Manna");
  await field.blur();
  await cost.locator(".finding:has-text('did you mean Mana?')").first().waitFor();
  await page.click("#save");
  await page.waitForSelector("#findings .finding.error");
  assert.equal(readFileSync(pyra(), "utf8"), before);
});

test("a file saved by another program is shown, and an invalid one is reported and not loaded", async (t) => {
  const page = await open(t);
  const before = readFileSync(pyra(), "utf8");
  writeFileSync(pyra(), before.replace("Stacking: {By: Target, Limit: 3", "Stacking: {By: Target, Limit: 4"));
  await until(page, () => document.getElementById("source").value.includes("Limit: 4"));
  writeFileSync(pyra(), "Kind: [");
  await until(page, () => !document.getElementById("notice").hidden);
  assert.match(await page.textContent("#notice"), /pyra\.yaml/);
  const { tick } = await ask(page, { ask: "frame" });
  await until(page, (was) => window.studio.frame.tick > was + 5, tick);
  writeFileSync(pyra(), before);
  await until(page, () => document.getElementById("notice").hidden && document.getElementById("source").value.includes("Limit: 3"));
});
