// The desk behind the pages: on this machine behind a web socket, or in this page as wasm. Both answer the same questions.

export async function connect() {
  return document.documentElement.dataset.wasm ? local() : remote();
}

async function remote() {
  const token = new URLSearchParams(location.search).get("token") ?? sessionStorage.getItem("token") ?? "";
  if (token) sessionStorage.setItem("token", token);
  const url = new URL("ws", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = `?token=${encodeURIComponent(token)}`;
  const socket = new WebSocket(url);
  const waiting = new Map();
  let next = 0;
  await new Promise((done, fail) => {
    socket.onopen = done;
    socket.onerror = () => fail(new Error("the studio does not answer; is it still running, and is this the address it printed?"));
  });
  socket.onmessage = (event) => {
    const at = event.data.indexOf(" ");
    const done = waiting.get(event.data.slice(0, at));
    waiting.delete(event.data.slice(0, at));
    done?.(JSON.parse(event.data.slice(at + 1)));
  };
  let closed = () => {};
  socket.onclose = () => closed("the studio has stopped; start it again and open the address it prints");
  return {
    onclose: (f) => (closed = f),
    ask: (question) =>
      new Promise((done) => {
        const id = String(next++);
        waiting.set(id, done);
        socket.send(`${id} ${JSON.stringify(question)}`);
      }),
  };
}

async function local() {
  const { open } = await import("./wasm.js");
  return open();
}

// An answer, or the error it is.
export async function must(link, question) {
  const answer = await link.ask(question);
  if (answer && answer.error !== undefined) throw new Error(answer.error);
  return answer;
}
