// The documents: definitions and their references, and a text editor beside a form. Documents are checked during editing,
// applied to the running world and saved.

import { fill, h } from "./dom.js";
import { editor } from "./editor.js";
import { form } from "./form.js";

let studio;
let ui;
let edit;
let current = null; // The open file: name, hash, and whether it can be applied and saved.
const drafts = new Map(); // Unsaved text of files that are not open, by name.
let all = []; // Every definition.
let findings = [];
let timer;
let reloads = null;

export const data = { open, show };

async function open(main, owner) {
  studio = owner;
  current = null;
  reloads = null;
  ui = {
    files: h("ul", { class: "log", id: "files" }),
    find: h("input", { id: "find", type: "search", placeholder: "Name", "aria-label": "Search definitions", oninput: () => list() }),
    kind: h("select", { id: "kind", "aria-label": "Kind of definition", onchange: () => list() }),
    // One tab stop, however many definitions there are.
    list: h("select", { id: "definitions", size: 12, "aria-label": "Definitions", style: "width:100%", onchange: (e) => chosen(e.target.value) }),
    tags: h("div", { class: "scroll", id: "registry" }),
    title: h("h2", { id: "file" }, "Text"),
    form: h("div", { id: "form", class: "scroll", style: "max-height:60vh" }),
    outcome: h("div", { id: "findings", "aria-live": "polite" }),
    applyText: h("button", { id: "apply", onclick: applyText }, "Apply to running world"),
    save: h("button", { id: "save", onclick: save }, "Save"),
    why: h("span", { id: "unsaved", class: "quiet" }),
    notice: h("div", { id: "notice", class: "finding", role: "status", hidden: true }),
    about: h("section", { class: "panel", id: "about", "aria-live": "polite", hidden: true }),
  };
  edit = editor({ id: "source", "aria-label": "Text of the file" });
  edit.text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => checkText(true), 300);
  });
  main.replaceChildren(
    h(
      "div",
      { class: "grid side" },
      h(
        "div",
        { class: "grid" },
        h("section", { class: "panel" }, h("h2", {}, "Files"), ui.files),
        h("section", { class: "panel" }, h("h2", {}, "Definitions"), h("div", { class: "row" }, ui.find, ui.kind), ui.list),
        h("section", { class: "panel" }, h("h2", {}, "Tags"), ui.tags),
      ),
      h(
        "div",
        { class: "grid" },
        ui.notice,
        ui.about,
        h("section", { class: "panel grid" }, ui.title, h("div", { class: "row" }, ui.applyText, ui.save, ui.why), ui.outcome, h("div", { class: "grid two" }, edit.el, ui.form)),
      ),
    ),
  );
  await contents();
  const wanted = nameIn(location.hash.split("/")[1] ?? "");
  const files = (await studio.ask({ ask: "files" })) ?? [];
  const first = files.includes(wanted) ? wanted : (files.find((f) => !f.endsWith("pack.yaml")) ?? files[0]);
  if (first) await openFile(first);
}

// The address may contain invalid percent-encoding.
function nameIn(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

// Reports a failed reload, and reads the open file again after a successful reload.
function show(frame) {
  if (!ui) return;
  ui.notice.hidden = !frame.notice;
  fill(ui.notice, frame.notice ?? "", () => [h("b", {}, "On disk: "), frame.notice ?? ""]);
  if (reloads !== null && frame.reloads !== reloads && current) {
    // Unsaved text is kept: the file is read again only if it was not edited.
    if (edit.text.value === current.text) openFile(current.name);
    contents();
  }
  reloads = frame.reloads;
}

async function contents() {
  const files = (await studio.ask({ ask: "files" })) ?? [];
  ui.files.replaceChildren(...files.map((name) => h("li", {}, h("button", { onclick: () => openFile(name) }, name))));
  all = (await studio.ask({ ask: "definitions" })) ?? [];
  const kinds = [...new Set(all.map((d) => d.kind))].sort();
  const chosen = ui.kind.value;
  ui.kind.replaceChildren(h("option", { value: "" }, "All kinds"), ...kinds.map((k) => h("option", { value: k, selected: k === chosen }, k.replaceAll("_", " "))));
  list();
  tree();
}

function list() {
  const query = ui.find.value.toLowerCase();
  const found = all.filter((d) => (!ui.kind.value || d.kind === ui.kind.value) && d.name.toLowerCase().includes(query));
  ui.list.replaceChildren(...found.map((d) => h("option", { value: `${d.kind} ${d.name}`, title: `${d.kind.replaceAll("_", " ")}, used ${d.used_by.length} times` }, d.name)));
}

function chosen(value) {
  const [kind, ...name] = value.split(" ");
  return describe(kind, name.join(" "));
}

// The tag registry as a tree; a parent tag need not be registered itself.
function tree() {
  const root = { below: new Map() };
  for (const d of all.filter((d) => d.kind === "tag")) {
    let node = root;
    for (const part of d.name.split(".")) {
      if (!node.below.has(part)) node.below.set(part, { below: new Map() });
      node = node.below.get(part);
    }
    node.tag = d;
  }
  const branch = (node) =>
    h(
      "ul",
      { class: "tree" },
      ...[...node.below].sort(([a], [b]) => (a < b ? -1 : 1)).map(([part, inner]) => {
        const name = inner.tag ? h("button", { class: "number", onclick: () => describe("tag", inner.tag.name), title: inner.tag.description ?? undefined }, part) : h("span", {}, part);
        const about = inner.tag ? h("span", { class: "quiet" }, ` ${inner.tag.description ?? ""} (${inner.tag.used_by.length})`) : null;
        return inner.below.size ? h("li", {}, h("details", {}, h("summary", {}, name, about), branch(inner))) : h("li", {}, name, about);
      }),
    );
  ui.tags.replaceChildren(root.below.size ? branch(root) : h("p", { class: "quiet" }, "No registered tags."));
}

// One definition: its location, its summary, what it uses and what uses it.
async function describe(kind, name, level = 1) {
  const d = await studio.ask({ ask: "definition", kind, name, level });
  if (!d) return;
  const place = (u) => h("button", { class: "number", onclick: () => openFile(u.file, u.line, u.column) }, `${u.file.split("/").pop()}:${u.line}`);
  const uses = (title, list) =>
    h(
      "div",
      {},
      h("h3", {}, `${title} (${list.length})`),
      h(
        "ul",
        { class: "log scroll", style: "max-height:10rem" },
        ...list.map((u) => h("li", {}, u.name && u.kind ? h("button", { onclick: () => describe(u.kind, u.name) }, u.name) : u.name || "unnamed document", h("span", { class: "quiet" }, ` ${u.key} `), place(u))),
      ),
    );
  const levels = h("input", { type: "number", min: 1, max: 1000, value: level, "aria-label": "Level", style: "width:5rem", onchange: (e) => describe(kind, name, Math.max(1, Number(e.target.value) || 1)) });
  ui.about.hidden = false;
  ui.about.replaceChildren(
    h("div", { class: "row between" }, h("h2", {}, `${kind.replaceAll("_", " ")} ${name}`), h("span", { class: "row" }, place(d), h("button", { "aria-label": "Close", onclick: () => (ui.about.hidden = true) }, "×"))),
    d.summary ? h("p", {}, d.summary) : "",
    d.text ? h("p", { id: "described" }, d.text) : "",
    ...(d.of_owners ?? []).map(([who, text]) => h("p", {}, `for ${who}: ${text}`)),
    ...(d.values ?? []).map(([who, value, how]) => h("p", {}, h("b", {}, `${who}: ${value}`), ` ${how}`)),
    ["ability", "effect"].includes(kind) ? h("label", { class: "row" }, "at level ", levels) : "",
    h("div", { class: "grid two" }, uses("Uses", d.uses), uses("Used by", d.used_by)),
    d.understood ? h("details", {}, h("summary", {}, "Resolved document"), h("pre", { class: "scroll" }, d.understood)) : "",
  );
}

async function openFile(name, line, column) {
  const got = await studio.ask({ ask: "file", name });
  if (!got) return;
  // Edited text is kept until it is applied or saved.
  if (current && edit.text.value !== current.text) drafts.set(current.name, edit.text.value);
  else if (current) drafts.delete(current.name);
  current = got;
  edit.set(drafts.get(name) ?? got.text);
  ui.title.textContent = drafts.has(name) ? `${name} (edited)` : name;
  ui.applyText.hidden = !got.live;
  ui.save.disabled = got.refused !== null;
  ui.why.textContent = got.refused ?? "";
  await checkText(true);
  if (line) goTo({ line, column, end_column: column + 1 });
}

function goTo(f) {
  const lines = edit.text.value.split("\n");
  const start = lines.slice(0, f.line - 1).reduce((sum, l) => sum + l.length + 1, 0) + f.column - 1;
  edit.text.focus();
  edit.text.setSelectionRange(start, start + Math.max(1, f.end_column - f.column));
  edit.show(f.line);
}

function showFindings(list) {
  const here = (f) => f.file === current.name;
  findings = list.filter(here);
  edit.mark(findings.filter((f) => f.severity === "error").map((f) => f.line));
  const place = (f) => (here(f) ? `${f.line}:${f.column}` : `${f.file.split("/").pop()}:${f.line}:${f.column}`);
  const visit = (f) => (here(f) ? goTo(f) : openFile(f.file, f.line, f.column));
  ui.outcome.replaceChildren(
    ...(list.length ? list.slice(0, 30).map((f) => h("div", { class: `finding ${f.severity}` }, h("button", { class: "number", onclick: () => visit(f) }, place(f)), ` ${f.message}`, f.help ? h("b", {}, ` ${f.help}`) : "", h("span", { class: "quiet" }, ` ${f.id}`))) : [h("p", { class: "good" }, "No errors found.")]),
  );
}

// Checks the text and generates its form again.
async function checkText(redraw) {
  const text = edit.text.value;
  const found = await studio.ask({ ask: "check", file: current.name, text });
  // Errors that a change causes in other files are listed too.
  if (found) showFindings([...found.filter((f) => f.file === current.name), ...found.filter((f) => f.file !== current.name && f.severity === "error")]);
  if (redraw) await form(ui.form, studio, text, all, findings, put);
}

// A value was changed in the form: only that value changes in the text.
async function put(document, path, value) {
  const answer = await studio.ask({ ask: "set", text: edit.text.value, document, path, ...(value === undefined ? {} : { value }) });
  if (!answer) return;
  edit.set(answer.text);
  await checkText(true);
}

function refused(error) {
  try {
    showFindings(JSON.parse(error));
  } catch {
    ui.outcome.replaceChildren(h("p", { class: "bad" }, error));
  }
}

async function applyText() {
  const answer = await studio.link.ask({ ask: "put", input: { Edit: { file: current.name, text: edit.text.value } } });
  if (answer.error !== undefined) return refused(answer.error);
  current = { ...current, text: edit.text.value };
  drafts.delete(current.name);
  ui.outcome.replaceChildren(h("p", { class: "good" }, "Applied to the running world. Not saved."));
  await contents();
}

async function save() {
  const text = edit.text.value;
  const answer = await studio.link.ask({ ask: "save", file: current.name, text, hash: current.hash });
  if (answer.error !== undefined) return refused(answer.error);
  current = { ...current, text, hash: answer.hash };
  drafts.delete(current.name);
  ui.outcome.replaceChildren(h("p", { class: "good" }, "Saved, and applied to the running world."));
  await contents();
}
