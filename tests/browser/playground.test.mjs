// The playground: static files, with the runtime in the page itself.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { root, launch, until, visit } from "./lib.mjs";

const KINDS = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };
const FOLDERS = { play: join(root, "target", "playground"), golden: join(root, "crates", "ugas-playground"), scenarios: join(root, "scenarios") };
const STALE = "after a change of the runtime: cargo xtask playground";

let browser;
let server;
let address;

before(async () => {
  browser = await launch();
  server = createServer((request, response) => {
    const [, folder, ...rest] = normalize(new URL(request.url, "http://x").pathname).split("/");
    const file = join(FOLDERS[folder] ?? FOLDERS.play, rest.join("/") || "index.html");
    try {
      const body = readFileSync(file);
      response.writeHead(200, { "content-type": KINDS[extname(file)] ?? "text/plain; charset=utf-8" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}/play/`;
});
after(async () => {
  await browser?.close();
  server?.close();
});

const golden = () => readFileSync(join(FOLDERS.golden, "golden.txt"), "utf8");

// covers: OWN-15
test("every golden scenario ends with the native hash in the browser", async () => {
  const page = await visit(browser, address);
  const { agree, differ } = await page.evaluate(async (golden) => {
    const { check } = await import("/golden/golden.mjs");
    const { instance } = await WebAssembly.instantiateStreaming(fetch("ugas.wasm"), {});
    return check(instance.exports, golden, async (name) => (await fetch(`/${name}`)).text());
  }, golden());
  assert.deepEqual(differ, [], STALE);
  assert.ok(agree > 300, `${agree} hashes`);
  await page.context().close();
});

// covers: OWN-15
test("the demo runs without a server and shows the native hash", async () => {
  const page = await visit(browser, address, { query: "seed=7&tick=600" });
  await until(page, () => document.getElementById("f-tick").textContent === "tick 600");
  const [, hash] = /^demo 600\n([0-9a-f]{16})$/m.exec(golden());
  assert.equal(await page.textContent("#hash"), hash, STALE);
  await page.evaluate(() => window.studio.link.ask({ ask: "play" }));
  await until(page, () => window.studio.frame.tick > 660);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
