// One line for each test: ok or failed, its file, its name, and the requirements that the comment above it names.

import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { root } from "./lib.mjs";

const texts = new Map();

function covers(file, line) {
  if (!texts.has(file)) texts.set(file, readFileSync(file, "utf8").split("\n"));
  const above = texts.get(file)[line - 2] ?? "";
  return /^\/\/ covers: (.+)$/.exec(above.trim())?.[1] ?? "";
}

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (!["test:pass", "test:fail"].includes(type) || data.details?.type === "suite" || !data.line || data.line === 1) continue;
    const state = type === "test:fail" ? "failed" : data.skip !== undefined ? "skipped" : "ok";
    yield `${state}\t${relative(root, data.file)}\t${data.name}\t${covers(data.file, data.line)}\n`;
  }
}
