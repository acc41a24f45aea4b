// Accessibility: every page by keyboard and screen reader, narrow and wide, light and dark, without errors.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frame, launch, start, until, visit } from "./lib.mjs";

const PAGES = ["demo", "world", "data", "network", "figures"];
let browser;
let demo;
let scenario;

before(async () => {
  browser = await launch();
  demo = await start("demo", "--seed", "7");
  scenario = await start("studio", "scenarios/effects/periodic.yaml");
});
after(async () => {
  await browser?.close();
  await demo?.stop();
  await scenario?.stop();
});

const places = () => [...PAGES.map((hash) => [demo.address, hash]), [scenario.address, "scenario"], [scenario.address, "world"]];

async function each(options, look) {
  for (const [address, hash] of places()) {
    const page = await visit(browser, address, { hash, ...options });
    await page.waitForFunction(() => document.getElementById("main").textContent.length > 80);
    await page.waitForTimeout(600);
    await look(page, hash);
    await page.context().close();
  }
}

test("no page logs an error or shows an alert", () =>
  each({}, async (page, hash) => {
    assert.deepEqual(page.faults, [], hash);
    assert.ok(await page.isHidden("#alert"), `${hash}: ${await page.textContent("#alert-text")}`);
  }));

test("every interactive element has an accessible name", () =>
  each({}, async (page, hash) => {
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const roles = ["button", "textbox", "slider", "combobox", "listbox", "link", "checkbox", "searchbox", "spinbutton", "option", "image", "img", "dialog", "region"];
    const seen = nodes.filter((n) => !n.ignored && roles.includes(n.role?.value));
    assert.ok(seen.length > 8, `${hash}: ${seen.length}`);
    const nameless = seen.filter((n) => !n.name?.value?.trim());
    assert.deepEqual(nameless.map((n) => `${n.role.value} ${JSON.stringify(n.properties)}`), [], hash);
    const headings = nodes.filter((n) => n.role?.value === "heading" && !n.name?.value?.trim());
    assert.deepEqual(headings.length, 0, `${hash}: a heading without text`);
  }));

for (const [width, height] of [[1280, 720], [390, 844]]) {
  test(`no element is wider than a screen of ${width}`, () =>
    each({ width, height }, async (page, hash) => {
      const wide = await page.evaluate(() => {
        const over = [...document.querySelectorAll("main *")].filter((el) => el.getBoundingClientRect().right > innerWidth + 1 && !el.closest(".scroll, .rows, .editor, textarea, nav"));
        return { page: document.documentElement.scrollWidth, over: over.map((el) => el.outerHTML.slice(0, 120)) };
      });
      assert.ok(wide.page <= width, `${hash}: ${wide.page}`);
      assert.deepEqual(wide.over, [], hash);
    }));
}

// Finds text whose contrast to its background is below the limit of the WCAG.
const dim = () => {
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const linear = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * (top[3] ?? 1) + under[i] * (1 - (top[3] ?? 1)));
  const behind = (el) => {
    const layers = [];
    for (let at = el; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    layers.push(parse(getComputedStyle(document.body).backgroundColor));
    return layers.reverse().reduce((under, top) => (top.length ? over(top, under) : under), [255, 255, 255]);
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const el = node.parentElement;
    if (!node.data.trim() || !el.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || el.closest("[disabled], option, .skip, noscript")) continue;
    const style = getComputedStyle(el);
    const ground = behind(el);
    const ink = over(parse(style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${node.data.trim().slice(0, 40)} ${style.color} on ${ground.map(Math.round)}`);
  }
  return [...new Set(found)];
};

for (const scheme of ["light", "dark"]) {
  test(`text has sufficient contrast in the ${scheme} scheme`, () =>
    each({ scheme }, async (page, hash) => {
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(Number(/\d+/.exec(ground)[0]) > 128, scheme === "light", hash);
      assert.deepEqual(await page.evaluate(dim), [], hash);
    }));
}

test("the theme button switches between light and dark", async (t) => {
  const page = await visit(browser, demo.address, { scheme: "light" });
  t.after(() => page.context().close());
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.click("#theme");
  assert.notEqual(await ground(), light);
  await page.keyboard.press("t");
  assert.equal(await ground(), light);
});

test("the Tab key reaches every part of a page in visual order", () =>
  each({}, async (page, hash) => {
    // The world is paused so that no element appears or disappears meanwhile.
    await page.evaluate(() => window.studio.link.ask({ ask: "pause" }));
    await page.evaluate(() => document.body.focus());
    const reached = [];
    for (let i = 0; i < 300; i++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const el = document.activeElement;
        if (el === document.body) return null;
        return { id: el.id || el.dataset.key || el.textContent.slice(0, 20), part: el.closest("header, main, #transport, footer, .skip")?.id || el.closest("header, main, #transport, footer, .skip")?.tagName, outline: el.matches(".skip") || getComputedStyle(el).outlineStyle !== "none" || getComputedStyle(el.closest(".editor") ?? el).outlineStyle !== "none" };
      });
      if (!at || (reached.length && at.id === reached[0].id && at.part === reached[0].part)) break;
      reached.push(at);
      if (at.id === "copy") break;
    }
    await page.evaluate(() => window.studio.link.ask({ ask: "play" }));
    const parts = reached.map((r) => r.part);
    const order = ["A", "HEADER", "main", "transport", "footer"];
    const ranks = parts.map((p) => order.indexOf(p)).filter((r) => r > 0);
    assert.deepEqual(ranks, [...ranks].sort((a, b) => a - b), `${hash}: ${parts}`);
    // A page without controls has no element to focus.
    const uses = await page.evaluate(() => document.querySelector("main :is(button, input, select, textarea, a, [tabindex='0'])") !== null);
    for (const part of ["HEADER", "transport", "footer", ...(uses ? ["main"] : [])]) assert.ok(parts.includes(part), `${hash}: ${part} is not reached: ${reached.map((r) => r.id)}`);
    assert.deepEqual(reached.filter((r) => !r.outline).map((r) => r.id), [], `${hash}: the focus is not seen`);
  }));

test("arrow keys change sliders and the shown tick", async (t) => {
  const page = await visit(browser, demo.address, { query: "seed=7&tick=300" });
  t.after(() => page.context().close());
  await page.focus("#trip");
  await page.keyboard.press("ArrowRight");
  await until(page, () => window.studio.frame.round_trip === 155);
  await page.keyboard.press("Home");
  await until(page, () => window.studio.frame.round_trip === 0);
  assert.equal(await page.getAttribute("#trip", "aria-valuetext"), "0 ms");
  await page.focus("#time");
  await page.keyboard.press("ArrowLeft");
  await until(page, () => window.studio.frame.tick === 299);
  await page.keyboard.press("ArrowRight");
  await until(page, () => window.studio.frame.tick === 300);
});

// covers: OWN-10
test("keyboard shortcuts pause, step, step back, fork and undo, and ? lists them", async (t) => {
  const page = await visit(browser, demo.address, { hash: "world", query: "seed=7&tick=0" });
  t.after(() => page.context().close());
  await until(page, () => window.studio.frame.tick > 5);
  await page.keyboard.press("p");
  await until(page, () => !window.studio.frame.running);
  const { tick } = await frame(page);
  await page.keyboard.press(".");
  await until(page, (was) => window.studio.frame.tick === was + 1, tick);
  await page.keyboard.press(",");
  await until(page, (was) => window.studio.frame.tick === was && !window.studio.frame.live, tick);
  const { end } = await frame(page);
  await page.keyboard.press("f");
  await until(page, () => window.studio.frame.live && window.studio.frame.running);
  assert.match(await page.textContent("#notice-text"), /Undo/);
  await page.keyboard.press("p");
  await page.keyboard.press("u");
  await until(page, (was) => window.studio.frame.end >= was, end);
  await page.keyboard.press("n");
  await page.evaluate(() => window.studio.put({ Action: { Set: { who: "Pyra", attribute: "Mana", value: 1 } } }));
  await until(page, () => window.studio.frame.done > 0);
  const { done } = await frame(page);
  await page.keyboard.press("u");
  await until(page, (was) => window.studio.frame.done === was - 1, done);
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  assert.match(await page.textContent("dialog"), /Step back one tick/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog:not([open])", { state: "attached" });
  await page.focus("#actors");
  const chosen = () => page.textContent("#who");
  const first = await chosen();
  await page.keyboard.press("ArrowDown");
  await until(page, (was) => document.getElementById("who").textContent !== was, first);
  await page.keyboard.press("Home");
  await until(page, (was) => document.getElementById("who").textContent === was, first);
});
