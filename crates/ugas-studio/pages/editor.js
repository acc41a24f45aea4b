// A text editor with line numbers; lines with errors are highlighted.

import { fill, h } from "./dom.js";

const LINE = 18;
// The maximum share of the window height, and the minimum number of lines.
const MAX_SHARE = 0.65;
const MIN_LINES = 6;

export function editor(props) {
  const text = h("textarea", { spellcheck: "false", autocapitalize: "off", wrap: "off", ...props });
  const lines = h("div", { class: "lines", "aria-hidden": "true" });
  let wrong = new Set();
  const draw = () => {
    const first = Math.floor(text.scrollTop / LINE);
    const shown = Math.ceil((text.clientHeight || 400) / LINE) + 1;
    const last = Math.min(first + shown, text.value.split("\n").length);
    lines.style.transform = `translateY(${-(text.scrollTop - first * LINE)}px)`;
    fill(lines, `${first} ${last} ${[...wrong]}`, () => Array.from({ length: Math.max(0, last - first) }, (_, i) => h("div", { class: wrong.has(first + i + 1) ? "wrong" : undefined }, String(first + i + 1))));
  };
  // The editor is as high as its text until the user resizes it.
  let fitted = null;
  const fit = () => {
    if (fitted !== null && text.style.height !== fitted) return;
    const lines = Math.max(MIN_LINES, text.value.split("\n").length + 1);
    text.style.height = `${Math.min(lines * LINE + 2 * LINE, Math.round(innerHeight * MAX_SHARE))}px`;
    fitted = text.style.height;
  };
  text.addEventListener("scroll", draw);
  text.addEventListener("input", () => {
    fit();
    draw();
  });
  new ResizeObserver(draw).observe(text);
  return {
    el: h("div", { class: "editor" }, lines, text),
    text,
    set(value) {
      text.value = value;
      fit();
      draw();
    },
    // Highlights these lines, counted from 1.
    mark(list) {
      wrong = new Set(list);
      draw();
    },
    // Scrolls until a line is near the top.
    show(line) {
      text.scrollTop = Math.max(0, (line - 2) * LINE);
      draw();
    },
  };
}
