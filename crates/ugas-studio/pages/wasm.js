// The desk in this page: the runtime as WebAssembly, stepped by the page's own clock.

export async function open() {
  const { instance } = await WebAssembly.instantiateStreaming(fetch("ugas.wasm"), {});
  const wasm = instance.exports;
  const seed = Number(new URLSearchParams(location.search).get("seed") ?? 7);
  if (!wasm.open(seed >>> 0)) throw new Error("the world could not be made");
  let last = performance.now();
  let spent = 0;
  return {
    async ask(question) {
      const now = performance.now();
      wasm.advance(now - last);
      spent = spent * 0.95 + (performance.now() - now) * 0.05;
      last = now;
      const bytes = new TextEncoder().encode(JSON.stringify(question));
      new Uint8Array(wasm.memory.buffer, wasm.room(bytes.length), bytes.length).set(bytes);
      const length = wasm.ask(bytes.length);
      const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.said(), length)));
      if (answer.step_us !== undefined) answer.step_us = spent * 1000;
      return answer;
    },
  };
}
