// A form for documents, generated from their JSON Schemas. The form has no state: a change edits the text, and the
// form is generated again from the text.

import { h } from "./dom.js";

// The schemas of all kinds by name. The file is requested when the first form is shown.
let schemas;
const unfolded = new Set();

export async function form(el, studio, text, definitions, findings, put) {
  const answer = await studio.link.ask({ ask: "form", text });
  if (answer.error !== undefined) {
    el.replaceChildren(h("p", { class: "quiet" }, answer.error));
    return;
  }
  schemas ??= (await (await fetch("schemas.json")).json()).$defs;
  const focus = document.activeElement?.dataset?.path;
  const names = namesByKey(definitions);
  const lines = answer.documents.map((d) => d.line);
  el.replaceChildren(
    ...names.lists,
    ...answer.documents.map((d, i) => {
      const cx = { root: schemas[d.kind], names: names.kinds, wrong: wrongPlaces(d, lines[i + 1] ?? Infinity, findings), order: new Map(d.places.map(([path], n) => [JSON.stringify(path), n])), set: (path, value) => put(i, path, value), at: i };
      const title = `${(d.kind ?? "document").replaceAll("_", " ")} ${d.name ?? ""}`;
      const id = `${d.kind} ${d.name}`;
      const body = cx.root ? fields(cx, cx.root, d.value, []) : [h("p", { class: "quiet" }, "No form for this kind of document; edit the text.")];
      return h("details", { open: unfolded.has(id) || cx.wrong.size > 0 || answer.documents.length === 1, ontoggle: (e) => (e.target.open ? unfolded.add(id) : unfolded.delete(id)) }, h("summary", {}, title), ...body);
    }),
  );
  if (focus) el.querySelector(`[data-path="${CSS.escape(focus)}"]`)?.focus();
}

// Which kind of name each key refers to, from its use in the documents; and the names of each kind.
function namesByKey(definitions) {
  const kinds = new Map();
  const byKind = new Map();
  for (const d of definitions) {
    if (!byKind.has(d.kind)) byKind.set(d.kind, []);
    byKind.get(d.kind).push(d.name);
    for (const u of d.uses) kinds.set(u.key, u.kind);
  }
  const lists = [...byKind].map(([kind, names]) => h("datalist", { id: `names-${kind}` }, ...names.map((n) => h("option", {}, n))));
  return { kinds, lists };
}

// Findings by the innermost value at their position.
function wrongPlaces(doc, end, findings) {
  const wrong = new Map();
  for (const f of findings.filter((f) => f.line >= doc.line && f.line < end)) {
    let best = null;
    for (const place of doc.places) {
      const [, line, column] = place;
      if (line < f.line || (line === f.line && column <= f.column)) if (!best || line > best[1] || (line === best[1] && column >= best[2])) best = place;
    }
    if (best) wrong.set(JSON.stringify(best[0]), f);
  }
  return wrong;
}

// Resolves references and optional values of a schema.
function resolve(cx, schema) {
  for (let i = 0; i < 20 && schema; i++) {
    if (schema.$ref) schema = { ...cx.root.$defs?.[schema.$ref.split("/").pop()], description: schema.description };
    else if (schema.anyOf && !schema.properties) {
      const real = schema.anyOf.filter((s) => s.type !== "null" && (s.$ref || s.type || s.oneOf || s.enum));
      if (real.length !== 1) return schema;
      schema = { ...real[0], description: schema.description ?? real[0].description };
    } else return schema;
  }
  return schema ?? {};
}

const kindOf = (schema) => (Array.isArray(schema.type) ? schema.type.find((t) => t !== "null") : schema.type);
const wordsOf = (schema) => schema.enum ?? (schema.oneOf?.every((s) => s.const !== undefined || s.enum) ? schema.oneOf.flatMap((s) => s.enum ?? [s.const]) : null);

// A default value that the schema allows.
function blank(cx, schema, depth = 0) {
  const s = resolve(cx, schema);
  const words = wordsOf(s);
  if (words) return words[0];
  switch (kindOf(s)) {
    case "boolean":
      return true;
    case "number":
    case "integer":
      return s.minimum ?? 0;
    case "array":
      return [];
    case "object":
      return Object.fromEntries((depth < 6 ? (s.required ?? []) : []).map((key) => [key, blank(cx, s.properties?.[key] ?? {}, depth + 1)]));
    default:
      return "";
  }
}

function fields(cx, schema, value, path) {
  const s = resolve(cx, schema);
  const known = s.properties ?? {};
  // In the order of the text.
  const rank = (key) => cx.order.get(JSON.stringify([...path, key])) ?? 0;
  const given = Object.keys(value ?? {}).sort((a, b) => rank(a) - rank(b));
  const rows = given.filter((key) => !["Kind", "$schema"].includes(key)).map((key) => row(cx, key, known[key] ?? (typeof s.additionalProperties === "object" ? s.additionalProperties : {}), value[key], [...path, key], !(s.required ?? []).includes(key)));
  const missing = Object.keys(known).filter((key) => !given.includes(key) && !["Kind", "$schema"].includes(key));
  if (missing.length) {
    const choose = h("select", { "aria-label": "Add a field", onchange: (e) => e.target.value && cx.set([...path, e.target.value], blank(cx, known[e.target.value])) }, h("option", { value: "" }, "Add field…"), ...missing.map((key) => h("option", { value: key, title: known[key].description }, key)));
    rows.push(h("div", {}, choose));
  }
  return rows;
}

function row(cx, key, schema, value, path, optional) {
  const s = resolve(cx, schema);
  const wrong = cx.wrong.get(JSON.stringify(path));
  const drop = optional ? h("button", { "aria-label": `Remove ${path.join(" ")}`, title: "Remove", onclick: () => cx.set(path, undefined) }, "×") : null;
  const error = wrong ? h("div", { class: `finding ${wrong.severity}` }, wrong.message, wrong.help ? h("b", {}, ` ${wrong.help}`) : "") : null;
  const name = typeof key === "number" ? `${key + 1}` : key;
  if (value !== null && typeof value === "object") {
    const inner = Array.isArray(value) ? items(cx, s, value, path) : fields(cx, s, value, path);
    return h("fieldset", { style: "border:1px solid var(--edge);border-radius:.4rem;margin:.2rem 0;padding:.2rem .5rem" }, h("legend", { title: s.description }, name, " ", drop), error, ...inner);
  }
  return h("div", {}, h("label", { class: "row", title: s.description }, h("span", { style: "min-width:9rem" }, name), control(cx, typeof key === "number" ? path.at(-2) : key, s, value, path, !!wrong), drop), error);
}

function items(cx, schema, value, path) {
  const inner = schema.items ?? {};
  const add = h("button", { onclick: () => cx.set([...path, value.length], blank(cx, inner)) }, "Add item");
  return [...value.map((v, i) => row(cx, i, inner, v, [...path, i], true)), add];
}

function control(cx, key, schema, value, path, wrong) {
  const props = { "data-path": `${cx.at} ${JSON.stringify(path)}`, "aria-invalid": wrong ? "true" : undefined, "aria-label": path.join(" ") };
  const words = wordsOf(schema);
  const kind = kindOf(schema);
  if (words) return h("select", { ...props, onchange: (e) => cx.set(path, e.target.value) }, ...(words.includes(value) ? [] : [h("option", { selected: true, disabled: true }, String(value))]), ...words.map((w) => h("option", { value: w, selected: w === value }, String(w))));
  if (typeof value === "boolean" || kind === "boolean") {
    const box = h("input", { type: "checkbox", ...props, onchange: (e) => cx.set(path, e.target.checked) });
    box.checked = value === true;
    return box;
  }
  if (typeof value === "number" && kind !== "string") {
    const step = kind === "integer" ? 1 : "any";
    return h("input", { type: "number", step, min: schema.minimum, max: schema.maximum, value, ...props, onchange: (e) => e.target.value !== "" && cx.set(path, Number(e.target.value)) });
  }
  const names = cx.names.get(key);
  return h("input", { type: "text", value: value ?? "", list: names ? `names-${names}` : undefined, ...props, onchange: (e) => cx.set(path, e.target.value) });
}
