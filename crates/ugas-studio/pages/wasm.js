// The desk in this page: the runtime as WebAssembly, stepped by the page's own clock.

// As much as the module takes in.
const MOST_ASKED = 4 * 1024 * 1024;

export async function open() {
  const { instance } = await WebAssembly.instantiateStreaming(fetch("ugas.wasm"), {});
  const wasm = instance.exports;
  const seed = Number(new URLSearchParams(location.search).get("seed") ?? 7);
  if (!wasm.open(seed >>> 0)) throw new Error("the world could not be made");
  let last = performance.now();
  // What steps took since the last frame, at which tick that was, and microseconds of a step, smoothed.
  const figure = { spent: 0, tick: 0, step: 0 };
  const answer = (question) => {
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    if (bytes.length > MOST_ASKED) return { error: "this is more than the world takes at once: four MiB" };
    // The room first: to make it may move the memory.
    const room = wasm.room(bytes.length) >>> 0;
    new Uint8Array(wasm.memory.buffer, room, bytes.length).set(bytes);
    const length = wasm.ask(bytes.length);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.said() >>> 0, length)));
  };
  const perStep = (tick) => {
    const ticks = tick - figure.tick;
    if (ticks > 0) figure.step = figure.step * 0.95 + (figure.spent / ticks) * 1000 * 0.05;
    Object.assign(figure, { tick, spent: 0 });
    return figure.step;
  };
  return {
    async ask(question) {
      try {
        const now = performance.now();
        wasm.advance(now - last);
        last = now;
        figure.spent += performance.now() - now;
        const told = answer(question);
        if (told.step_us !== undefined) told.step_us = perStep(told.tick);
        return told;
      } catch (error) {
        return { error: `the world has stopped: ${error.message}; reload the page for a new one` };
      }
    },
  };
}
