// Compares the demo and the scenarios as wasm with the native results in golden.txt. A browser page imports `check`; in node: `node crates/ugas-playground/golden.mjs target/playground/ugas.wasm`.

export function backend(exports) {
  const call = (name, text) => {
    const bytes = new TextEncoder().encode(text);
    // Allocated first: this may move the memory.
    const buffer = exports.input_buffer(bytes.length) >>> 0;
    new Uint8Array(exports.memory.buffer, buffer, bytes.length).set(bytes);
    const length = exports[name](bytes.length);
    return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.output_buffer() >>> 0, length));
  };
  return {
    ask: (request) => JSON.parse(call("ask", JSON.stringify(request))),
    scenario: (text) => call("scenario", text),
  };
}

// Returns the number of equal lines and all differences. `read` returns the text of a file of the repository.
export async function check(exports, golden, read) {
  if (!exports.open(7)) throw new Error("cannot create the world");
  const { ask, scenario } = backend(exports);
  let agree = 0;
  const differ = [];
  const compare = (what, found, expected) => {
    if (found === expected) agree += 1;
    else differ.push(`${what}: ${found}, natively ${expected}`);
  };
  for (const part of golden.split(/^(?=demo |scenario )/m)) {
    const [head, ...rest] = part.trimEnd().split("\n");
    const [kind, name] = head.split(" ");
    if (kind === "demo") {
      ask({ ask: "open", seed: 7, tick: Number(name) });
      compare(head, ask({ ask: "frame" }).hash, rest[0]);
    } else {
      const found = scenario(await read(name)).split("\n");
      rest.forEach((line, n) => compare(name, found[n], line));
    }
  }
  return { agree, differ };
}

if (typeof process !== "undefined" && process.argv[1] === (await import("node:url")).fileURLToPath(import.meta.url)) {
  const { readFile } = await import("node:fs/promises");
  const root = new URL("../../", import.meta.url);
  const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
  const golden = await readFile(new URL("golden.txt", import.meta.url), "utf8");
  const { agree, differ } = await check(instance.exports, golden, (name) => readFile(new URL(name, root), "utf8"));
  differ.forEach((line) => console.error(line));
  console.log(`${agree} of ${agree + differ.length} hashes are the same as natively`);
  process.exitCode = differ.length ? 1 : 0;
}
