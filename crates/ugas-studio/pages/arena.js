// The ring, drawn from the state of the server or of a client: positions, casts, attacks and damage.

import { canvas, paint } from "./dom.js";

const RING = 16;
const FLAT = 0.55;
const LOOK = { Pyra: "--fire", Brann: "--steel" };

// A ring on a canvas. It keeps the last frame, so that attacks and damage are animated when the server or client receives them.
export function ring(el) {
  return { el, health: new Map(), waits: new Map(), casts: new Map(), flights: [], losses: [], corrected: new Map() };
}

// Compares a frame with the last frame.
export function update(ring, side, details) {
  const now = performance.now();
  for (const a of side.actors) {
    const health = a.bars.find((b) => b.name === "Health")?.value;
    const before = ring.health.get(a.name);
    if (Number.isFinite(health) && Number.isFinite(before) && Math.abs(health - before) >= 1) addLoss(ring, a.name, health - before, now);
    ring.health.set(a.name, health);
    const cast = ring.casts.get(a.name);
    if (cast && !a.cast && cast.share > 0.93) ring.flights.push({ who: a.name, what: cast.name, at: now });
    ring.casts.set(a.name, a.cast);
    for (const ability of details.get(a.name)?.abilities ?? []) {
      const key = `${a.name} ${ability.name}`;
      const wait = ability.cooldown?.share ?? 0;
      const began = wait > (ring.waits.get(key) ?? 1) + 0.05;
      if (began && /Firebolt|Bash|Judgement/.test(ability.name)) ring.flights.push({ who: a.name, what: ability.name, at: now });
      if (/Strike/.test(ability.name) && ability.running && ring.waits.get(key) === 0) ring.flights.push({ who: a.name, what: ability.name, at: now });
      ring.waits.set(key, /Strike/.test(ability.name) ? Number(ability.running) : wait);
    }
  }
  ring.flights = ring.flights.filter((f) => now - f.at < 320);
  ring.losses = ring.losses.filter((f) => now - f.at < 900);
}

// Changes within 180 ms are shown as one number.
function addLoss(ring, who, by, now) {
  const before = ring.losses.findLast((l) => l.who === who);
  if (before && now - before.at < 180 && Math.sign(before.by) === Math.sign(by)) before.by += by;
  else ring.losses.push({ who, by, at: now, aside: before?.aside > 0 ? -36 : 36 });
}

// Shows that a prediction about an actor was corrected.
export function markCorrected(ring, who) {
  ring.corrected.set(who, performance.now());
  ring.el.dataset.corrected = who;
}

export function draw(ring, side, { ghosts = [], cause = null } = {}) {
  const { cx, width, height } = canvas(ring.el, 0.58);
  const scale = Math.min(width / 2 - 20, (height / 2 - 18) / FLAT) / (RING - 1.2);
  const place = (a) => [width / 2 + a.x * scale, height * 0.53 + a.z * scale * FLAT];
  floor(cx, width, height, scale);
  const find = (name) => side.actors.find((a) => a.name === name);
  for (const ghost of ghosts) {
    const [x, y] = place(ghost);
    cx.strokeStyle = paint("--quiet");
    cx.lineWidth = 1.5;
    cx.setLineDash([3, 3]);
    circle(cx, x, y - 10, 12);
    cx.stroke();
    cx.setLineDash([]);
  }
  const sorted = [...side.actors].sort((a, b) => a.z - b.z);
  for (const a of sorted) body(cx, ...place(a), a, ring.corrected.get(a.name));
  labels(cx, sorted, place, width, height);
  for (const flight of ring.flights) {
    const from = find(flight.who);
    const to = side.actors.find((a) => a.name !== flight.who && LOOK[a.name]);
    if (from && to) attack(cx, place(from), place(to), flight);
  }
  if (cause) drawCause(cx, find(cause.by), find(cause.who), place, cause.text);
  for (const loss of ring.losses) {
    const who = find(loss.who);
    if (!who) continue;
    const [x, y] = place(who);
    const share = (performance.now() - loss.at) / 900;
    cx.globalAlpha = 1 - share * share;
    label(cx, `${loss.by > 0 ? "+" : "−"}${Math.round(Math.abs(loss.by))}`, x + loss.aside, y - 20 - share * 26, loss.by > 0 ? "--good" : "--bad", "700 15px system-ui, sans-serif");
    cx.globalAlpha = 1;
  }
}

function floor(cx, width, height, scale) {
  const oval = (r) => {
    cx.beginPath();
    cx.ellipse(width / 2, height * 0.53, r * scale, r * scale * FLAT, 0, 0, 7);
  };
  cx.fillStyle = paint("--floor");
  oval(RING - 1.2);
  cx.fill();
  cx.strokeStyle = paint("--rim");
  cx.lineWidth = 3;
  cx.stroke();
  cx.lineWidth = 1;
  cx.globalAlpha = 0.6;
  oval((RING - 1.2) * 0.55);
  cx.stroke();
  cx.globalAlpha = 1;
}

function circle(cx, x, y, r) {
  cx.beginPath();
  cx.arc(x, y, r, 0, 7);
}

// Text that is readable on any background.
function label(cx, text, x, y, colour, font = "12px system-ui, sans-serif") {
  cx.font = font;
  cx.textAlign = "center";
  cx.lineWidth = 3;
  cx.lineJoin = "round";
  cx.strokeStyle = paint("--panel");
  cx.strokeText(text, x, y);
  cx.fillStyle = paint(colour);
  cx.fillText(text, x, y);
}

function body(cx, x, y, a, corrected) {
  const now = performance.now();
  const has = (cue) => a.cues.some((c) => c.includes(cue));
  cx.globalAlpha = a.dead ? 0.4 : 1;
  cx.fillStyle = paint("--shade");
  cx.beginPath();
  cx.ellipse(x, y + 3, 14, 5, 0, 0, 7);
  cx.fill();
  cx.fillStyle = paint(LOOK[a.name] ?? "--cool");
  if (a.dead) {
    cx.beginPath();
    cx.ellipse(x, y, 15, 6, 0, 0, 7);
  } else if (a.name === "Pyra") {
    cx.beginPath();
    cx.moveTo(x - 12, y - 8);
    cx.quadraticCurveTo(x - 9, y - 22, x + 2, y - 28);
    cx.quadraticCurveTo(x + 3, y - 20, x + 12, y - 9);
    cx.arc(x, y - 9, 12, 0.05, Math.PI);
  } else {
    cx.beginPath();
    cx.roundRect(x - 12, y - 22, 24, 24, 6);
  }
  cx.fill();
  cx.strokeStyle = paint("--panel");
  cx.lineWidth = 2;
  cx.stroke();
  if (has("Guard")) {
    cx.strokeStyle = paint("--steel");
    cx.lineWidth = 3;
    cx.beginPath();
    cx.arc(x, y - 10, 19, -2.4, 2.4);
    cx.stroke();
  }
  if (has("Blink")) halo(cx, x, y - 10, 18 + (now % 300) / 30, "--accent", 2);
  if (has("Burning") && !a.dead) flames(cx, x, y, now);
  if (has("Stun")) label(cx, "stunned", x, y - 60, "--text", "600 12px system-ui, sans-serif");
  cx.globalAlpha = 1;
  if (corrected && now - corrected < 900) {
    const share = (now - corrected) / 900;
    cx.globalAlpha = 1 - share;
    halo(cx, x, y - 10, 16 + share * 14, "--bad", 3);
    label(cx, "corrected", x, y + 36, "--bad", "600 12px system-ui, sans-serif");
    cx.globalAlpha = 1;
  }
  const health = a.bars.find((b) => b.name === "Health") ?? a.bars[0];
  if (health && !a.dead && health.value === null) label(cx, "–", x, y - 36, "--quiet");
  else if (health && !a.dead) gauge(cx, x, y - 42, health.value / (health.most || health.value || 1), health.value * 3 < (health.most ?? 0) ? "--bad" : "--good", 6);
  if (a.cast) {
    gauge(cx, x, y - 34, a.cast.share, "--accent", 4);
    label(cx, a.cast.name.replace(/^GA_/, ""), x, y - 48, "--text");
  }
}

// Names above all bodies without overlap: the front actor's name is below its feet, other names move sideways, names of the
// dead move down.
function labels(cx, actors, place, width, height) {
  const put = [];
  for (const a of [...actors.filter((a) => !a.dead).reverse(), ...actors.filter((a) => a.dead)]) {
    const text = a.dead ? `${a.name} is dead` : a.name;
    cx.font = "600 12px system-ui, sans-serif";
    const half = cx.measureText(text).width / 2 + 4;
    let [x, y] = place(a);
    x = Math.max(half, Math.min(width - half, x));
    y = Math.min(height - 4, y + 19);
    for (const other of put) {
      const near = half + other.half - Math.abs(x - other.x);
      if (near <= 0 || Math.abs(y - other.y) >= 15) continue;
      if (a.dead) y = other.y + 15;
      else x += x < other.x ? -near : near;
    }
    x = Math.max(half, Math.min(width - half, x));
    put.push({ x, y, half });
    label(cx, text, x, y, "--text", cx.font);
  }
}

function halo(cx, x, y, r, colour, width) {
  cx.strokeStyle = paint(colour);
  cx.lineWidth = width;
  circle(cx, x, y, r);
  cx.stroke();
}

function flames(cx, x, y, now) {
  cx.fillStyle = paint("--fire");
  for (let i = 0; i < 5; i++) {
    const rise = ((now / 500 + i * 0.37) % 1) * 20;
    const sway = Math.sin(now / 120 + i * 2) * 3;
    cx.globalAlpha = 0.9 - rise / 24;
    circle(cx, x - 12 + i * 6 + sway, y - 12 - rise, 4.2 - rise / 7);
    cx.fill();
  }
  cx.globalAlpha = 1;
}

function gauge(cx, x, y, share, colour, height) {
  cx.fillStyle = paint("--panel");
  cx.beginPath();
  cx.roundRect(x - 25, y - 1, 50, height + 2, 3);
  cx.fill();
  cx.fillStyle = paint("--edge");
  cx.fillRect(x - 24, y, 48, height);
  cx.fillStyle = paint(colour);
  cx.fillRect(x - 24, y, 48 * Math.max(0, Math.min(1, share)), height);
}

function attack(cx, [ax, ay], [bx, by], flight) {
  const share = (performance.now() - flight.at) / 320;
  cx.strokeStyle = paint(LOOK[flight.who] ?? "--accent");
  cx.fillStyle = cx.strokeStyle;
  cx.lineCap = "round";
  if (/Strike|Bash|Judgement/.test(flight.what)) {
    const way = Math.atan2(by - ay, bx - ax);
    cx.globalAlpha = 1 - share;
    cx.lineWidth = 4;
    cx.beginPath();
    cx.arc(ax, ay - 10, 26, way - 0.9 + share * 0.8, way + 0.2 + share * 0.8);
    cx.stroke();
  } else {
    const big = /Fireball/.test(flight.what) ? 7 : 4;
    const x = ax + (bx - ax) * share;
    const y = ay + (by - ay) * share - 12;
    cx.globalAlpha = 0.5;
    cx.lineWidth = big;
    cx.beginPath();
    cx.moveTo(x - (bx - ax) * 0.12, y - (by - ay) * 0.12);
    cx.lineTo(x, y);
    cx.stroke();
    cx.globalAlpha = 1;
    circle(cx, x, y, big);
    cx.fill();
  }
  cx.globalAlpha = 1;
  cx.lineCap = "butt";
}

// A line from the actor that activated the ability to the actor that the ability affected.
function drawCause(cx, by, who, place, text) {
  if (!who) return;
  const [bx, by2] = place(who);
  halo(cx, bx, by2 - 8, 24, "--bad", 3);
  if (!by || by === who) return;
  const [ax, ay] = place(by);
  cx.strokeStyle = paint("--bad");
  cx.lineWidth = 3;
  cx.setLineDash([7, 5]);
  cx.beginPath();
  cx.moveTo(ax, ay - 10);
  cx.quadraticCurveTo((ax + bx) / 2, Math.min(ay, by2) - 60, bx, by2 - 10);
  cx.stroke();
  cx.setLineDash([]);
  halo(cx, ax, ay - 10, 20, "--accent", 3);
  label(cx, text, (ax + bx) / 2, Math.min(ay, by2) - 46, "--bad", "650 13px system-ui, sans-serif");
}
