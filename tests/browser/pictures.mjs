// Takes the screenshots of the book and the README from the running program: `node pictures.mjs`, then check them.

import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, launch, root, start, until, visit } from "./lib.mjs";
import { change, moving } from "./webp.mjs";

const folder = join(root, "book", "src", "pictures");
const MOST_STILL = 60_000;
const MOST_MOVING = 500_000;
mkdirSync(folder, { recursive: true });

function keep(name, file, most) {
  writeFileSync(join(folder, name), file);
  const { size } = statSync(join(folder, name));
  console.log(`${name}: ${size} bytes`);
  if (size > most) throw new Error(`${name} is larger than ${most} bytes`);
}

// The best quality that fits the size limit.
async function still(page, name) {
  const session = await page.context().newCDPSession(page);
  for (const quality of [90, 80, 70, 60, 45, 30]) {
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality });
    const file = Buffer.from(data, "base64");
    if (file.length <= MOST_STILL) return keep(name, file, MOST_STILL);
  }
  throw new Error(`${name} does not fit`);
}

const browser = await launch();
const demo = await start("demo", "--seed", "7");
try {
  if (process.argv[2] !== "stills") await film();
  await stills();
} finally {
  await browser.close();
  await demo.stop();
}

// Eight seconds of the duel while the round trip is dragged. The page's own clock is stepped with the world.
async function film() {
  const page = await visit(browser, demo.address, { query: "seed=7&tick=720", before: () => ((window.passed = 0), (performance.now = () => window.passed)), scheme: "light" });
  const paper = await browser.newPage();
  await ask(page, { ask: "put", input: { Link: { round_trip: 20, loss: 0 } } });
  for (let i = 0; i < 4; i++) await ask(page, { ask: "step", ticks: 200 });
  // Starts where both actors are alive and one of them casts.
  for (let i = 0; i < 300; i++) {
    const { sides } = await ask(page, { ask: "frame", since: 1e12 });
    if (sides[0].actors.every((a) => !a.dead) && sides[0].actors.some((a) => a.cast)) break;
    await ask(page, { ask: "step", ticks: 6 });
  }
  // Advances the page clock so that earlier highlights end.
  await page.evaluate(() => (window.passed += 3000));
  await page.waitForTimeout(300);
  const frames = [];
  let whole;
  for (let i = 0; i < 64; i++) {
    if (i >= 12 && i < 24) await page.locator("#trip").fill(String(20 + Math.round(((i - 11) * 240) / 12 / 5) * 5));
    const { tick } = await ask(page, { ask: "step", ticks: 7 });
    await page.evaluate(() => (window.passed += 110));
    await until(page, (at) => document.getElementById("f-tick").textContent === `tick ${at}`, tick);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send("Page.captureScreenshot", { format: "png", clip: { x: 0, y: 44, width: 1280, height: 600, scale: 0.75 } });
    await session.detach();
    const part = await paper.evaluate(change.toString().replace(/^export /, "").replace("async function change", "window.change = async function") + `; window.change(${JSON.stringify(`data:image/png;base64,${data}`)}, ${i ? 0.8 : 0.85})`);
    if (!part) frames.at(-1).time += 110;
    else {
      whole ??= part.whole;
      frames.push({ ...part, file: Buffer.from(part.file, "base64"), time: 110 });
    }
  }
  await paper.close();
  await page.context().close();
  keep("demo.webp", moving(whole.width, whole.height, frames), MOST_MOVING);
}

async function stills() {
  const shot = async (address, name, options, act = async () => {}) => {
    const page = await visit(browser, address, options);
    await act(page);
    await page.waitForTimeout(700);
    await still(page, name);
    await page.context().close();
  };
  await shot(demo.address, "duel.webp", { query: "seed=7&tick=330", height: 900 }, async (page) => {
    await page.click('#server [data-actor="Brann"][data-attribute="AttackPower"]');
    await page.waitForSelector("#why");
  });
  await shot(demo.address, "death.webp", { query: "seed=7&tick=900", scheme: "dark", height: 860 }, async (page) => {
    await until(page, () => window.studio.deaths.length > 0);
    const tick = await page.evaluate(() => window.studio.deaths[0].tick);
    await page.locator("#time").fill(String(tick + 4));
    await page.waitForSelector("#chain");
  });
  await shot(demo.address, "world.webp", { hash: "world", query: "seed=7&tick=700" });
  await shot(demo.address, "preview.webp", { hash: "world", query: "seed=7&tick=700", scheme: "dark", height: 640 }, async (page) => {
    await page.waitForSelector("#values tbody tr");
    await page.fill("#d-effect", "GE_Burn");
    await page.fill("#d-by", "Brann");
    await page.hover("#do-apply");
    await page.waitForSelector("#preview:not([hidden])");
  });
  await shot(demo.address, "data.webp", { hash: "data" });
  await shot(demo.address, "network.webp", { hash: "network", query: "seed=7&tick=0", scheme: "dark" }, (page) => page.waitForTimeout(9000));
  await shot(demo.address, "phone.webp", { query: "seed=7&tick=330", width: 390, height: 844 });
  const film = await start("studio", "scenarios/effects/periodic.yaml");
  await shot(film.address, "scenario.webp", {});
  await film.stop();
}
