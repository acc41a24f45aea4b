// Shared by all browser tests: starts the program on a free port and opens pages that collect their errors.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

function firstOf(what, places, advice) {
  const found = places.filter(Boolean).find((place) => existsSync(place));
  if (!found) throw new Error(`${what} is missing: looked at ${places.filter(Boolean).join(", ")}; ${advice}`);
  return found;
}

export function browserProgram() {
  const places = [process.env.UGAS_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return firstOf("chromium", places, "install it, or set UGAS_CHROMIUM to where it is");
}

export function ugasProgram() {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const places = [process.env.UGAS_PROGRAM, join(target, "release", "ugas"), join(target, "debug", "ugas")];
  return firstOf("the ugas program", places, "run cargo build --release -p ugas-cli");
}

// The server of the WebTransport tests, which `run` builds.
export function echoProgram() {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const places = [process.env.UGAS_WEBTRANSPORT_ECHO, join(target, "debug", "examples", "webtransport_echo")];
  return firstOf("the server of the WebTransport tests", places, "run cargo build -p ugas-transport --features webtransport --example webtransport_echo");
}

// Starts `ugas ...args` on a free port. `stop` ends it.
export async function start(...args) {
  const begun = performance.now();
  const child = spawn(ugasProgram(), [...args, "--port", "0"], { cwd: root, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NO_COLOR: "1" } });
  // The process ends even if the test fails.
  process.on("exit", () => child.kill());
  let output = "";
  child.stderr.on("data", (text) => (output += text));
  const address = await new Promise((done, fail) => {
    const late = setTimeout(() => fail(new Error(`no address within three minutes: ${output}`)), 180_000);
    child.stdout.on("data", (text) => {
      output += text;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/.exec(output);
      if (found) {
        clearTimeout(late);
        done(found[0]);
      }
    });
    child.on("exit", (code) => {
      clearTimeout(late);
      fail(new Error(`ugas ${args.join(" ")} ended with ${code}: ${output}`));
    });
  });
  const over = new Promise((done) => child.on("exit", done));
  return {
    address,
    ready: performance.now() - begun,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      child.kill();
      await over;
    },
  };
}

// Runs `ugas ...args` to its end and returns its output.
export async function run(...args) {
  const child = spawn(ugasProgram(), args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NO_COLOR: "1" } });
  let text = "";
  child.stdout.on("data", (part) => (text += part));
  child.stderr.on("data", (part) => (text += part));
  const code = await new Promise((done) => child.on("exit", done));
  return { code, text };
}

// The browser. Only the WebTransport tests use QUIC.
export async function launch({ quic = false } = {}) {
  const { chromium } = await import("playwright-core").catch(() => {
    throw new Error("playwright-core is missing: run npm ci in tests/browser");
  });
  // The browser would block local requests of pages that the test serves from UGAS_PAGES.
  const drawn = process.env.UGAS_PAGES ? ["--disable-features=LocalNetworkAccessChecks"] : [];
  return chromium.launch({ executablePath: browserProgram(), args: [...FLAGS, ...drawn].filter((flag) => !(quic && flag === "--disable-quic")) });
}

// With UGAS_PAGES the pages of that folder replace the built-in ones, for work on the pages.
async function fromFolder(page, folder) {
  const kinds = { html: "text/html", css: "text/css", js: "text/javascript" };
  await page.route(/127\.0\.0\.1:\d+\/([a-z]+\.(js|css)|\?.*|)$/, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1) || "index.html";
    const file = join(folder, name);
    if (!existsSync(file)) return route.continue();
    const answer = await route.fetch();
    await route.fulfill({ status: 200, headers: { ...answer.headers(), "content-type": kinds[name.split(".").pop()], "content-length": undefined }, body: readFileSync(file, "utf8") });
  });
}

// A page of a running program. `before` runs in it before anything else; `faults` collects console errors and script errors.
export async function visit(browser, address, { hash = "", query = "", width = 1280, height = 720, scheme = "light", touch = false, before } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, hasTouch: touch, isMobile: touch });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  if (process.env.UGAS_PAGES) await fromFolder(page, process.env.UGAS_PAGES);
  if (before) await page.addInitScript(before);
  page.faults = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.faults.push(message.text()));
  page.on("pageerror", (error) => page.faults.push(error.message));
  const url = new URL(address);
  for (const [key, value] of new URLSearchParams(query)) url.searchParams.set(key, value);
  url.hash = hash;
  await page.goto(url.href);
  await page.waitForFunction(() => window.studio?.frame, null, { timeout: 60_000 });
  return page;
}

export const ask = (page, question) => page.evaluate((q) => window.studio.link.ask(q), question);
export const frame = (page) => page.evaluate(() => ({ ...window.studio.frame, events: undefined }));
// Waits until a condition is true and the page has drawn it.
export async function until(page, test, arg, timeout = 60_000) {
  await page.waitForFunction(test, arg, { timeout, polling: 50 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
