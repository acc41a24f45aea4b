// The documents: read, checked while they are typed, and taken by the running world.

import { h } from "./dom.js";

let studio;

export const data = { open };

async function open(main, owner) {
  studio = owner;
  const files = await studio.ask({ ask: "files" });
  const text = h("textarea", { id: "source", spellcheck: "false", "aria-label": "Text of the file" });
  const said = h("div", { id: "said", "aria-live": "polite" });
  const save = h("button", { id: "take" }, "Let the world take it");
  let file = null;
  let timer;
  const say = (findings) =>
    said.replaceChildren(
      ...(findings.length ? findings.slice(0, 30).map((f) => h("div", { class: `finding ${f.severity}` }, h("button", { class: "number", onclick: () => go(f) }, `${f.line}:${f.column}`), ` ${f.message}`, f.help ? h("b", {}, ` ${f.help}`) : "", h("span", { class: "quiet" }, ` ${f.id}`))) : [h("p", { class: "good" }, "Nothing is wrong with it.")]),
    );
  const go = (f) => {
    const lines = text.value.split("\n");
    const start = lines.slice(0, f.line - 1).reduce((sum, l) => sum + l.length + 1, 0) + f.column - 1;
    text.focus();
    text.setSelectionRange(start, start + Math.max(1, f.end_column - f.column));
    text.scrollTop = Math.max(0, (f.line - 6) * 18);
  };
  const check = async () => {
    const findings = await studio.ask({ ask: "check", file, text: text.value });
    if (findings) say(findings.filter((f) => f.file === file));
  };
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, 300);
  });
  save.addEventListener("click", async () => {
    const answer = await studio.link.ask({ ask: "put", input: { Edit: { file, text: text.value } } });
    if (answer.error === undefined) said.replaceChildren(h("p", { class: "good" }, "Taken; the world goes on with it."));
    else {
      try {
        say(JSON.parse(answer.error));
      } catch {
        said.replaceChildren(h("p", { class: "bad" }, answer.error));
      }
    }
  });
  const pick = async (name) => {
    const got = await studio.ask({ ask: "file", name });
    if (!got) return;
    file = name;
    text.value = got.text;
    title.textContent = name;
    await check();
  };
  const title = h("h2", {}, "");
  main.replaceChildren(
    h(
      "div",
      { class: "grid side" },
      h("section", { class: "panel" }, h("h2", {}, "Files"), h("ul", { class: "log", id: "files" }, ...(files ?? []).map((name) => h("li", {}, h("button", { onclick: () => pick(name) }, name))))),
      h("section", { class: "panel grid" }, title, text, h("div", { class: "row" }, save), said),
    ),
  );
  if (files?.length) await pick(files[0]);
}
