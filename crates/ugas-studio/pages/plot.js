// Plots of values and effects over time.

import { canvas, number, paint } from "./dom.js";

const SMALL = "11px system-ui, sans-serif";

// `points` are [tick, value] in ascending order; the last value is valid until `end`. Returns the value at `end`.
export function plot(el, points, start, end, title) {
  const { cx, width, height } = canvas(el, Math.min(0.3, 84 / (el.clientWidth || 300)));
  const shown = points.filter((p) => p[0] <= end);
  // Includes the value that was valid at `start`.
  const first = Math.max(0, shown.findLastIndex((p) => p[0] <= start));
  const seen = shown.slice(first);
  const values = seen.map((p) => p[1]);
  const low = Math.min(0, ...values);
  const high = Math.max(low + 1e-9, ...values);
  const last = values.at(-1) ?? null;
  const x = (tick) => ((Math.max(start, tick) - start) / Math.max(1, end - start)) * width;
  const y = (v) => height - 5 - ((v - low) / (high - low)) * (height - 26);
  axis(cx, width, height, start, end);
  cx.strokeStyle = paint("--edge");
  cx.beginPath();
  cx.moveTo(0, y(0));
  cx.lineTo(width, y(0));
  cx.stroke();
  cx.beginPath();
  seen.forEach(([tick, value], i) => {
    if (i) cx.lineTo(x(tick), y(seen[i - 1][1]));
    i ? cx.lineTo(x(tick), y(value)) : cx.moveTo(x(tick), y(value));
  });
  if (last !== null) cx.lineTo(width, y(last));
  cx.strokeStyle = paint("--accent");
  cx.lineWidth = 2;
  cx.stroke();
  if (last !== null) {
    cx.lineTo(width, y(0));
    cx.lineTo(x(seen[0][0]), y(0));
    cx.globalAlpha = 0.12;
    cx.fillStyle = paint("--accent");
    cx.fill();
    cx.globalAlpha = 1;
  }
  cx.font = `600 ${SMALL}`;
  cx.fillStyle = paint("--text");
  cx.fillText(title, 6, 13);
  cx.textAlign = "right";
  cx.fillText(number(last), width - 6, 13);
  return last;
}

// A faint line every second, or every five or ten seconds where the lines would be too dense.
function axis(cx, width, height, start, end) {
  const span = (end - start) / 60;
  const every = span > 30 ? 10 : span > 12 ? 5 : 1;
  cx.strokeStyle = paint("--edge");
  cx.lineWidth = 1;
  cx.globalAlpha = 0.6;
  for (let s = Math.ceil(start / 60 / every) * every; s * 60 <= end; s += every) {
    const x = Math.round(((s * 60 - start) / Math.max(1, end - start)) * width) + 0.5;
    cx.beginPath();
    cx.moveTo(x, 0);
    cx.lineTo(x, height);
    cx.stroke();
  }
  cx.globalAlpha = 1;
}

// Effects as bars from start to end. Each has `name`, `stacks`, `state`, `from` and `to` in ticks
// (`to` is null if the effect does not end), and `over` if the effect has ended.
export function timeline(el, effects, now, span) {
  const row = 22;
  const head = 16;
  const { cx, width, height } = canvas(el, (Math.max(1, effects.length) * row + head) / (el.clientWidth || 300));
  const start = now - span / 2;
  const end = now + span / 2;
  const x = (tick) => ((tick - start) / span) * width;
  axis(cx, width, height, start, end);
  cx.font = SMALL;
  cx.fillStyle = paint("--quiet");
  cx.fillText(`${number(Math.round(start / 60))} s`, 4, 11);
  cx.textAlign = "right";
  cx.fillText(`${number(Math.round(end / 60))} s`, width - 4, 11);
  cx.textAlign = "center";
  cx.fillText("now", width / 2, 11);
  effects.forEach((e, i) => {
    const from = Math.max(-4, x(e.from));
    const to = Math.min(width + 4, e.to === null ? width + 4 : x(e.to));
    const top = head + i * row;
    const alive = e.state === "active" && !e.over;
    cx.fillStyle = paint(alive ? "--accent" : "--quiet");
    cx.globalAlpha = alive ? 0.3 : 0.15;
    cx.beginPath();
    cx.roundRect(from, top + 2, Math.max(3, to - from), row - 4, 4);
    cx.fill();
    cx.globalAlpha = 1;
    cx.strokeStyle = cx.fillStyle;
    cx.lineWidth = 1;
    cx.setLineDash(e.state === "queued" ? [4, 3] : []);
    cx.stroke();
    cx.setLineDash([]);
    cx.textAlign = "left";
    cx.fillStyle = paint(e.over ? "--quiet" : "--text");
    const stacks = e.stacks > 1 ? ` ×${e.stacks}` : "";
    const state = e.over ? " (ended)" : e.state === "active" ? "" : ` (${e.state})`;
    cx.fillText(`${e.name}${stacks}${state}`, Math.max(4, Math.min(from + 6, width - 150)), top + row / 2 + 4);
  });
  cx.strokeStyle = paint("--text");
  cx.beginPath();
  cx.moveTo(width / 2, head - 2);
  cx.lineTo(width / 2, height);
  cx.stroke();
}
