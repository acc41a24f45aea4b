// WebTransport in a real browser: a page performs the handshake with a token, exchanges datagrams with a server and is
// limited by it. The server is `crates/ugas-transport/examples/webtransport_echo.rs`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { echoProgram, launch } from "./lib.mjs";

let browser;
let site;

before(async () => {
  browser = await launch({ quic: true });
  // The API exists only on trustworthy origins; a loopback address is one.
  site = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html><title>client</title>"));
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
});
after(async () => {
  await browser?.close();
  site?.close();
});

// Starts the server. `stop` ends it and returns its counters.
async function startServer(t) {
  const child = spawn(echoProgram(), [], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill());
  process.on("exit", () => child.kill());
  const lines = [];
  let wake = () => {};
  createInterface({ input: child.stdout }).on("line", (line) => (lines.push(line), wake()));
  const line = async (test) => {
    const limit = Date.now() + 20_000;
    while (Date.now() < limit) {
      const found = lines.find(test);
      if (found !== undefined) return found;
      await new Promise((done) => ((wake = done), setTimeout(done, 200)));
    }
    throw new Error(`the server did not print the expected line; it printed\n${lines.slice(6).join("\n")}`);
  };
  await line(() => lines.length >= 6);
  const [hash, url, ...tokens] = lines.slice(0, 6);
  return {
    server: { hash, url },
    tokens,
    line,
    lines,
    stop: async () => {
      child.stdin.end();
      const counts = await line((text) => text.startsWith("Counts {"));
      return Object.fromEntries([...counts.matchAll(/(\w+): (\d+)/g)].map(([, name, value]) => [name, Number(value)]));
    },
  };
}

async function openPage(t) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${site.address().port}/`);
  await page.evaluate(defineClient);
  return page;
}

// Runs in the page: a minimal client of the netcode protocol. Over WebTransport, netcode does not encrypt packets itself.
function defineClient() {
  const CHALLENGE = 2, RESPONSE = 3, KEEP_ALIVE = 4, PAYLOAD = 5, DISCONNECT = 6;
  const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const join = (...parts) => {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    return all;
  };

  window.Client = class {
    state = "connecting";
    received = [];
    sequence = 1;

    constructor(server, token, { change = () => {}, isSilent = false } = {}) {
      token = bytes(token);
      this.protocol = token.slice(21, 29);
      const request = join([0], token.slice(8, 29), token.slice(37, 37 + 8 + 24 + 1024));
      change(request);
      const query = Array.from(request, (byte) => "%" + byte.toString(16).padStart(2, "0")).join("");
      const hash = { algorithm: "sha-256", value: bytes(server.hash) };
      this.transport = new WebTransport(`${server.url}?creq=${query}`, { serverCertificateHashes: [hash], requireUnreliable: true });
      const end = (why) => (this.state = `closed: ${why}`);
      this.transport.closed.then(() => end("by the server"), (error) => end(error.message));
      this.done = (isSilent ? this.transport.ready : this.run()).catch((error) => end(error.message));
    }

    packet(kind, content) {
      const number = this.sequence++;
      const head = [kind | (3 << 4), number & 255, (number >> 8) & 255, (number >> 16) & 255];
      return join(head, content, new Uint8Array(8), this.protocol);
    }

    async run() {
      await this.transport.ready;
      this.writer = this.transport.datagrams.writable.getWriter();
      const reader = this.transport.datagrams.readable.getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const kind = value[0] & 15;
        const content = value.slice(1 + (value[0] >> 4), value.length - 16);
        if (kind === CHALLENGE) await this.writer.write(this.packet(RESPONSE, content));
        if (kind === KEEP_ALIVE) {
          if (this.state === "connecting") this.state = "connected";
          await this.writer.write(this.packet(KEEP_ALIVE, new Uint8Array(8)));
        }
        if (kind === PAYLOAD) this.received.push(content);
      }
    }

    send(content) {
      return this.writer.write(this.packet(PAYLOAD, content));
    }

    disconnect() {
      return this.writer.write(this.packet(DISCONNECT, new Uint8Array(0)));
    }
  };
  window.clients = {};
  window.until = async (test, milliseconds = 10_000) => {
    const limit = performance.now() + milliseconds;
    while (!test() && performance.now() < limit) await new Promise((done) => setTimeout(done, 5));
    return test();
  };
}

const connect = (page, server, token, name = "client") =>
  page.evaluate(
    async ([server, token, name]) => {
      const client = (window.clients[name] = new Client(server, token));
      await until(() => client.state !== "connecting");
      return client.state;
    },
    [server, token, name],
  );

test("a page joins over WebTransport and datagrams arrive unchanged in both directions", async (t) => {
  const { server, tokens, line, stop } = await startServer(t);
  const page = await openPage(t);
  assert.equal(await connect(page, server, tokens[0]), "connected");
  assert.equal(await line((text) => text.startsWith("connected")), "connected 0 player 1");
  const result = await page.evaluate(async () => {
    const client = window.clients.client;
    const sent = Array.from({ length: 200 }, (_, number) => {
      const datagram = new Uint8Array(2 + ((number * 37) % 1_000)).fill(number);
      datagram.set([number & 255, number >> 8]);
      return datagram;
    });
    for (const datagram of sent) {
      await client.send(datagram);
      await new Promise((done) => setTimeout(done, 1));
    }
    await until(() => client.received.length >= sent.length, 3_000);
    const numbers = new Set();
    let changed = 0;
    for (const datagram of client.received) {
      const number = datagram[0] | (datagram[1] << 8);
      numbers.add(number);
      if (datagram.length !== sent[number].length || datagram.some((byte, at) => byte !== sent[number][at])) changed += 1;
    }
    return { distinct: numbers.size, received: client.received.length, changed };
  });
  assert.equal(result.changed, 0);
  assert.equal(result.distinct, result.received, "no duplicates");
  assert.ok(result.received >= 190, `${result.received} of 200 came back`);
  await page.evaluate(() => window.clients.client.disconnect());
  assert.match(await line((text) => text.startsWith("disconnected")), /^disconnected 0 the client disconnected/);
  const counts = await stop();
  assert.ok(counts.received >= 190 && counts.sent >= 190, JSON.stringify(counts));
});

test("a forged token, a used token and a URL without a request are rejected", async (t) => {
  const { server, tokens, lines, stop } = await startServer(t);
  const page = await openPage(t);
  const forged = await page.evaluate(
    async ([server, token]) => {
      const client = new Client(server, token, { change: (request) => (request[500] ^= 1) });
      await until(() => client.state !== "connecting");
      const bare = new WebTransport(server.url, { serverCertificateHashes: [{ algorithm: "sha-256", value: Uint8Array.from(server.hash.match(/../g), (pair) => parseInt(pair, 16)) }] });
      const isReady = await bare.ready.then(() => true, () => false);
      return { state: client.state, isReady };
    },
    [server, tokens[0]],
  );
  assert.match(forged.state, /^closed/);
  assert.equal(forged.isReady, false);
  // On a busy machine, Chromium sometimes loses a connection before it is established; a player connects again.
  let [token, state] = [tokens[1], await connect(page, server, tokens[1], "first")];
  if (/Connection lost/.test(state)) [token, state] = [tokens[2], await connect(page, server, tokens[2], "first")];
  assert.equal(state, "connected");
  assert.match(await connect(page, server, token, "second"), /^closed/);
  assert.equal(await page.evaluate(() => window.clients.first.state), "connected");
  assert.equal(lines.filter((text) => text.startsWith("connected")).length, 1);
  const counts = await stop();
  assert.ok(counts.malformed >= 1 && counts.denied >= 1, JSON.stringify(counts));
});

test("floods and idle sessions are limited, and the longest datagrams of the browser arrive", async (t) => {
  const { server, tokens, stop } = await startServer(t);
  const page = await openPage(t);
  // A session with a valid request that never answers the challenge, and sessions with invalid requests.
  await page.evaluate(
    ([server, token]) => {
      window.clients.idle = new Client(server, token, { isSilent: true });
      for (let number = 0; number < 12; number += 1) new Client(server, token, { change: (request) => (request[100 + number] ^= 1) });
    },
    [server, tokens[0]],
  );
  assert.equal(await connect(page, server, tokens[1], "flood"), "connected");
  assert.equal(await connect(page, server, tokens[2], "quiet"), "connected");
  const result = await page.evaluate(async () => {
    const { flood, idle, quiet } = window.clients;
    for (let number = 0; number < 3_000; number += 1) flood.send(new Uint8Array(20)).catch(() => {});
    await until(() => idle.state !== "connecting");
    // The longest datagram fits as soon as the server has found the MTU of the path.
    const longest = quiet.transport.datagrams.maxDatagramSize - 20;
    for (let round = 0; round < 50 && quiet.received.length === 0; round += 1) {
      await quiet.send(new Uint8Array(longest));
      await until(() => quiet.received.length > 0, 100);
    }
    return { flood: flood.received.length, quiet: quiet.received[0]?.length, idle: idle.state, longest };
  });
  assert.match(result.idle, /^closed/, "the idle session does not occupy the server");
  assert.equal(result.quiet, result.longest, "another session is not affected by the flood");
  assert.ok(result.flood < 1_500, `${result.flood} of a flood of 3,000 passed`);
  t.diagnostic(`the longest datagram has ${result.longest} bytes; ${result.flood} of 3,000 datagrams passed`);
  const counts = await stop();
  assert.ok(counts.too_slow >= 1 && counts.malformed >= 1, JSON.stringify(counts));
});
