// A virtual list: only the rows in view have elements.

import { fill, h, number } from "./dom.js";

const ROW = 28.5;

export function rows(id, title, choose) {
  const inside = h("div", { role: "presentation" });
  const el = h("div", { class: "rows", id, role: "listbox", tabindex: 0, "aria-label": title, style: "height:13rem", onkeydown: key, onscroll: draw }, inside);
  let list = [];
  let chosen = null;

  function draw() {
    const first = Math.max(0, Math.floor(el.scrollTop / ROW) - 1);
    const last = Math.min(list.length, first + Math.ceil((el.clientHeight || 210) / ROW) + 2);
    const shown = list.slice(first, last);
    const text = (a) => a.bars.slice(0, 1).map((b) => `${number(b.value)}`).join("");
    inside.style.height = `${list.length * ROW}px`;
    fill(inside, `${first} ${chosen} ${shown.map((a) => `${a.name}${a.dead}${text(a)}`).join()}`, () =>
      shown.map((a, i) =>
        h(
          "div",
          { "data-key": a.name, role: "option", id: `${id}-${first + i}`, "aria-selected": String(a.name === chosen), "aria-setsize": list.length, "aria-posinset": first + i + 1, style: `top:${(first + i) * ROW}px;height:${ROW}px`, onclick: () => choose(a.name) },
          h("span", {}, a.name),
          a.dead ? h("span", { class: "bad" }, "dead") : h("span", { class: "quiet" }, text(a)),
          h("span", { class: "bar", style: "width:3.5rem;margin:0;flex:none" }, h("i", { style: `width:${a.bars[0]?.most ? Math.round((100 * Math.max(0, a.bars[0].value)) / a.bars[0].most) : 0}%` })),
        ),
      ),
    );
    const at = list.findIndex((a) => a.name === chosen);
    at < 0 ? el.removeAttribute("aria-activedescendant") : el.setAttribute("aria-activedescendant", `${id}-${at}`);
  }

  function key(event) {
    const at = list.findIndex((a) => a.name === chosen);
    const page = Math.floor(el.clientHeight / ROW);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: list.length - 1, PageDown: at + page, PageUp: at - page }[event.key];
    if (to === undefined || !list.length) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(list.length - 1, to));
    choose(list[next].name);
    chosen = list[next].name;
    if (next * ROW < el.scrollTop) el.scrollTop = next * ROW;
    if ((next + 1) * ROW > el.scrollTop + el.clientHeight) el.scrollTop = (next + 1) * ROW - el.clientHeight;
    draw();
  }

  return {
    el,
    show(all, name) {
      list = all;
      chosen = name;
      draw();
    },
  };
}
