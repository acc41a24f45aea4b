// The backend in this page: the runtime as WebAssembly, advanced by the page's clock.

// The maximum size of a request.
const MAX_REQUEST = 4 * 1024 * 1024;

export async function open() {
  const { instance } = await WebAssembly.instantiateStreaming(fetch("ugas.wasm"), {});
  const wasm = instance.exports;
  const seed = Number(new URLSearchParams(location.search).get("seed") ?? 7);
  if (!wasm.open(seed >>> 0)) throw new Error("cannot start the demo; reload the page");
  let last = performance.now();
  // Milliseconds spent in steps since the last frame, the tick of that frame, and microseconds per step, smoothed.
  const figure = { spent: 0, tick: 0, step: 0 };
  const answer = (request) => {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    if (bytes.length > MAX_REQUEST) return { error: "request too long: the limit is 4 MiB and nothing was changed; shorten the text" };
    // The buffer is allocated before the view is created, because an allocation may move the memory.
    const buffer = wasm.input_buffer(bytes.length) >>> 0;
    new Uint8Array(wasm.memory.buffer, buffer, bytes.length).set(bytes);
    const length = wasm.ask(bytes.length);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.output_buffer() >>> 0, length)));
  };
  const perStep = (tick) => {
    const ticks = tick - figure.tick;
    if (ticks > 0) figure.step = figure.step * 0.95 + (figure.spent / ticks) * 1000 * 0.05;
    Object.assign(figure, { tick, spent: 0 });
    return figure.step;
  };
  return {
    async ask(request) {
      try {
        const now = performance.now();
        wasm.advance(now - last);
        last = now;
        figure.spent += performance.now() - now;
        const reply = answer(request);
        if (reply.step_us !== undefined) reply.step_us = perStep(reply.tick);
        return reply;
      } catch (error) {
        return { error: `the world has stopped: ${error.message}; reload the page to start a new world` };
      }
    },
  };
}
