// Creates elements without parsing markup: names from documents are always set as text.

// Event handlers by element, so that `fill` can move them to another element.
const handlers = new WeakMap();

export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) listen(el, key.slice(2), value);
    else if (key === "class") el.className = value;
    else if (key === "value") el.value = value;
    else el.setAttribute(key, value === true ? "" : value);
  }
  if (tag === "option" && props.value !== undefined) el.setAttribute("value", props.value);
  el.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return el;
}

function listen(el, type, act) {
  if (!handlers.has(el)) handlers.set(el, {});
  handlers.get(el)[type] = act;
  el.addEventListener(type, dispatch);
}

function dispatch(event) {
  return handlers.get(event.currentTarget)?.[event.type]?.call(event.currentTarget, event);
}

// Replaces children if `key` changed. Elements of the same kind are updated in place, so that a pressed button, the focus and
// a screen reader are not interrupted.
export function fill(el, key, make) {
  if (el.dataset.shown === key) return;
  el.dataset.shown = key;
  children(el, [make()].flat().map((c) => (c instanceof Node ? c : document.createTextNode(c))));
}

// `data-key` identifies elements of a list.
function children(el, wanted) {
  const named = new Map();
  const plain = [];
  for (const old of el.childNodes) old.dataset?.key !== undefined ? named.set(old.dataset.key, old) : plain.push(old);
  const placed = wanted.map((want) => {
    const key = want.dataset?.key;
    const at = plain.findIndex((p) => p.nodeName === want.nodeName);
    const old = key !== undefined ? named.get(key) : at < 0 ? null : plain.splice(at, 1)[0];
    if (old?.nodeName !== want.nodeName) return want;
    update(old, want);
    return old;
  });
  const kept = new Set(placed);
  for (const node of [...el.childNodes]) if (!kept.has(node)) node.remove();
  placed.forEach((node, i) => el.childNodes[i] !== node && el.insertBefore(node, el.childNodes[i] ?? null));
}

function update(old, want) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== want.data) old.data = want.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    const drawn = old.nodeName === "CANVAS" && /^(width|height|style)$/.test(name);
    if (!want.hasAttribute(name) && name !== "data-shown" && !drawn) old.removeAttribute(name);
  }
  for (const { name, value } of want.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  handlers.set(old, {});
  for (const [type, act] of Object.entries(handlers.get(want) ?? {})) listen(old, type, act);
  children(old, [...want.childNodes]);
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(old.nodeName) && document.activeElement !== old && old.value !== want.value) old.value = want.value;
}

// Numbers, formatted the same way on every page: at most two decimals, no trailing zeros, – for an unknown value.
const short = (v, places) => String(Number(v.toFixed(places)) || 0);
export const number = (v) => (Number.isFinite(v) ? short(v, Math.abs(v) >= 1000 ? 0 : 2) : "–");
export const signed = (v) => `${v < 0 ? "−" : "+"}${number(Math.abs(v))}`;
export const percent = (share) => `${Math.round(share * 100)} %`;
export const bytes = (n) => (n < 999.5 ? `${Math.round(n)} B` : n < 999_950 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`);
export const seconds = (s) => `${s.toFixed(1)} s`;
// The time of a tick.
export const at = (tick) => seconds(tick / 60);

// A sentence with rounded numbers: 60.60000000000001 becomes 60.6.
export const plain = (text) => text.replace(/\d+\.\d{3,}/g, (v) => number(Number(v)));

// The outcome of an action, or why it failed: shown at `el` next to the button, and announced to screen readers.
export function showOutcome(el, { text, done, fork = "" }) {
  document.getElementById("live").textContent = `${text} ${fork}`.trim();
  el.className = `outcome ${done ? "good" : "bad"}`;
  el.textContent = text;
}

export function alertOf(text) {
  const el = document.getElementById("alert-text");
  if (el.textContent !== (text ?? "")) el.textContent = text ?? "";
  document.getElementById("alert").hidden = !text;
}

// Scrolls an answer into view.
export function scrollTo(el) {
  el.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

// An icon in the colour of the text next to it.
export function icon(name) {
  const paths = {
    play: "M4 2.5v11l9-5.5z",
    pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
    step: "M3 2.5v11l7-5.5zM11 2.5h2v11h-2z",
    back: "M13 2.5v11L6 8zM3 2.5h2v11H3z",
    undo: "M6 2 2 6l4 4V7.2h3.2a2.4 2.4 0 0 1 0 4.8H5v2h4.2a4.4 4.4 0 0 0 0-8.8H6z",
    theme: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 1.6v9.8a4.9 4.9 0 0 0 0-9.8z",
    help: "M7 11h2v2H7zm1-9a4 4 0 0 0-4 4h2a2 2 0 1 1 3 1.7c-1 .6-2 1.2-2 2.8h2c0-.9.7-1.2 1.4-1.7A4 4 0 0 0 8 2z",
  };
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", fill: "currentColor" })) svg.setAttribute(key, value);
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", paths[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

// Sizes a canvas to the screen resolution; returns the context and its size in CSS pixels. `ratio` is height by width.
export function canvas(el, ratio) {
  const width = el.clientWidth || 300;
  const height = Math.round(width * ratio);
  const dots = window.devicePixelRatio || 1;
  if (el.width !== Math.round(width * dots) || el.height !== Math.round(height * dots)) {
    el.width = Math.round(width * dots);
    el.height = Math.round(height * dots);
    el.style.height = `${height}px`;
  }
  const cx = el.getContext("2d");
  cx.setTransform(dots, 0, 0, dots, 0, 0);
  cx.clearRect(0, 0, width, height);
  cx.font = "12px system-ui, sans-serif";
  cx.textAlign = "left";
  return { cx, width, height };
}

let probe;
let paints = new Map();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

// The theme changed.
export function repaint() {
  paints = new Map();
}

// A style variable as a colour for a canvas.
export function paint(name) {
  if (!paints.has(name)) {
    probe ??= document.body.appendChild(h("span", { hidden: true }));
    probe.style.color = `var(${name})`;
    paints.set(name, getComputedStyle(probe).color);
  }
  return paints.get(name);
}
