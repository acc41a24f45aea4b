// Elements without markup: whatever a name holds, it is shown as text.

export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (key === "class") el.className = value;
    else if (key === "value") el.value = value;
    else el.setAttribute(key, value === true ? "" : value);
  }
  el.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return el;
}

// Puts new children in place of the old ones only if what they show differs, so that focus and selection stay.
export function fill(el, key, make) {
  if (el.dataset.shown === key) return;
  el.dataset.shown = key;
  el.replaceChildren(...[make()].flat());
}

export const number = (v) => {
  if (v === null || v === undefined) return "–";
  const places = Math.abs(v) >= 1000 || Number.isInteger(v) ? 0 : Math.abs(v) >= 100 ? 1 : 2;
  return v.toFixed(places);
};

export const seconds = (ticks, rate = 60) => `${(ticks / rate).toFixed(1)} s`;

export function alertOf(text) {
  const el = document.getElementById("alert");
  el.textContent = text ?? "";
  el.hidden = !text;
}

// A canvas as sharp as the screen; gives the context and its size in CSS pixels.
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
  return { cx, width, height };
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

let probe;
// What a variable of the style is as a colour a canvas understands.
export function paint(name) {
  probe ??= document.body.appendChild(h("span", { hidden: true }));
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
