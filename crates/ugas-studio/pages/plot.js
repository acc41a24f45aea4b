// Values over time: a line that steps, drawn from what happened.

import { canvas, number, paint } from "./dom.js";

// `points` are [tick, value] by rising tick; the last value holds until `end`.
export function plot(el, points, start, end, title) {
  const { cx, width, height } = canvas(el, 0.16);
  cx.font = "11px system-ui";
  const shown = points.filter((p) => p[0] <= end);
  const values = shown.map((p) => p[1]);
  const low = Math.min(0, ...values);
  const high = Math.max(1e-9, ...values);
  const x = (tick) => ((tick - start) / Math.max(1, end - start)) * width;
  const y = (v) => height - 4 - ((v - low) / (high - low || 1)) * (height - 18);
  cx.strokeStyle = paint("--edge");
  cx.beginPath();
  cx.moveTo(0, y(0));
  cx.lineTo(width, y(0));
  cx.stroke();
  cx.strokeStyle = paint("--accent");
  cx.lineWidth = 1.5;
  cx.beginPath();
  let last = null;
  for (const [tick, value] of shown) {
    if (last === null) cx.moveTo(x(Math.max(start, tick)), y(value));
    else {
      cx.lineTo(x(Math.max(start, tick)), y(last));
      cx.lineTo(x(Math.max(start, tick)), y(value));
    }
    last = value;
  }
  if (last !== null) cx.lineTo(width, y(last));
  cx.stroke();
  cx.fillStyle = paint("--text");
  cx.fillText(`${title} ${last === null ? "" : number(last)}`, 4, 11);
}

// Effects as bars from where they began to where they end.
export function timeline(el, effects, span) {
  const row = 18;
  const { cx, width } = canvas(el, Math.max(1, effects.length) * row / (el.clientWidth || 300));
  cx.font = "11px system-ui";
  effects.forEach((e, i) => {
    const from = Math.max(0, 1 - e.elapsed / span) * width * 0.5;
    const left = e.total === null ? width : width * 0.5 + ((e.total - e.elapsed) / span) * width * 0.5;
    cx.fillStyle = paint(e.state === "active" ? "--accent" : "--edge");
    cx.globalAlpha = e.state === "queued" ? 0.4 : 0.75;
    cx.fillRect(from, i * row + 2, Math.max(2, Math.min(width, left) - from), row - 5);
    cx.globalAlpha = 1;
    cx.fillStyle = paint("--text");
    cx.fillText(`${e.name}${e.stacks > 1 ? ` ×${e.stacks}` : ""}${e.state === "active" ? "" : ` (${e.state})`}`, from + 4, i * row + 13);
  });
  cx.strokeStyle = paint("--quiet");
  cx.beginPath();
  cx.moveTo(width / 2, 0);
  cx.lineTo(width / 2, effects.length * row);
  cx.stroke();
}
