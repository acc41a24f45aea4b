// The connection to the backend, which runs behind a web socket or in this page as wasm. Both answer the same requests.

// The maximum size of a request. The server closes the connection after a longer request.
const MAX_REQUEST = 4 * 1024 * 1024 - 1024;

export async function connect() {
  return document.documentElement.dataset.wasm ? local() : remote();
}

async function remote() {
  const here = new URL(location.href);
  const token = here.searchParams.get("token") ?? localStorage.getItem("token") ?? "";
  if (here.searchParams.has("token")) {
    // The token is stored for other tabs, and removed from the address so that copied links do not contain it.
    localStorage.setItem("token", token);
    here.searchParams.delete("token");
    history.replaceState(null, "", here);
  }
  const url = new URL("ws", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = `?token=${encodeURIComponent(token)}`;
  const socket = new WebSocket(url);
  const waiting = new Map();
  let next = 0;
  await new Promise((done, fail) => {
    socket.onopen = done;
    socket.onerror = () => fail(new Error("cannot connect to the studio; check that the studio is running and that this is the address that it printed"));
  });
  socket.onmessage = (event) => {
    const at = event.data.indexOf(" ");
    const done = waiting.get(event.data.slice(0, at));
    waiting.delete(event.data.slice(0, at));
    done?.(JSON.parse(event.data.slice(at + 1)));
  };
  const stopped = "the studio has stopped; start it again and open the address that it prints";
  let closed = () => {};
  socket.onclose = () => {
    waiting.forEach((done) => done({ error: stopped }));
    waiting.clear();
    closed(stopped);
  };
  return {
    onclose: (f) => (closed = f),
    ask: (request) =>
      new Promise((done) => {
        if (socket.readyState !== WebSocket.OPEN) return done({ error: stopped });
        const text = JSON.stringify(request);
        // A character is at most three bytes in UTF-8; only a text that may be too long is measured.
        const long = text.length * 3 > MAX_REQUEST && new TextEncoder().encode(text).length > MAX_REQUEST;
        if (long) return done({ error: "request too long: the limit is 4 MiB and nothing was changed; shorten the text" });
        const id = String(next++);
        waiting.set(id, done);
        socket.send(`${id} ${text}`);
      }),
  };
}

async function local() {
  const { open } = await import("./wasm.js");
  return open();
}

// Returns an answer; throws if it is an error.
export async function askOrThrow(link, request) {
  const answer = await link.ask(request);
  if (answer && answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

// Wraps a request that may be made faster than it is answered: while an answer is pending, only the latest request is kept.
export function latest(act) {
  let busy = false;
  let next;
  return async (...args) => {
    next = args;
    if (busy) return;
    busy = true;
    while (next) {
      const now = next;
      next = undefined;
      await act(...now);
    }
    busy = false;
  };
}
