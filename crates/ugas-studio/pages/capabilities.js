// The capabilities of the selected actor: the state on the server beside the state on a client, blocks, switches and sets.

import { at, fill, h, plain, showOutcome } from "./dom.js";

const TONE = { Active: "good", Blocked: "bad", Disabled: "bad", Waiting: "hot" };

// `act` sends an input and shows its outcome; `answer` is the panel for explanations.
export function capabilities(studio, act, answer) {
  const table = h("table", { id: "capabilities" });
  const outcome = h("p", { class: "outcome", id: "capability-outcome" });
  const set = h("input", { id: "d-set", list: "l-sets", autocomplete: "off", spellcheck: "false", placeholder: "CS_…", "aria-label": "Capability set" });
  const add = h("button", { id: "do-add-set", onclick: () => run({ AddSet: { set: set.value.trim(), who: shown.actor } }) }, "Add capability set");
  const el = h("div", { class: "grid tight" }, h("div", { class: "scroll" }, table), h("datalist", { id: "l-sets" }, ...studio.hello.sets.map((n) => h("option", { value: n }))), h("div", { class: "row" }, set, add), outcome);
  let shown = { actor: null, side: null };

  const run = (action) => (shown.actor ? act(outcome, { Action: action }) : showOutcome(outcome, { done: false, text: "Select an actor first." }));
  const small = (label, text, action, more = {}) => h("button", { class: "number", "aria-label": label, onclick: action, ...more }, text);

  // Shows why a capability is not active on the selected machine.
  async function why(c) {
    // A client does not know the conditions of a remote actor.
    const side = c.blocks_known ? shown.side : null;
    const { actor } = shown;
    const found = await studio.ask({ ask: "why_not", side, who: actor, capability: c.class });
    if (!found) return;
    const where = side === null ? "on the server" : `on client ${side}`;
    const line = (text) => ((cut) => h("li", {}, h("b", {}, text.slice(0, cut)), ` ${plain(text.slice(cut + 2))}`))(text.indexOf(": "));
    const list = found.reasons.length ? h("ul", { class: "log", id: "why-not" }, ...found.reasons.map(line)) : h("p", { id: "why-not" }, `${c.class} is active.`);
    answer(h("p", { class: "quiet" }, `${actor}: ${c.class} ${where}, at ${at(found.tick)}`), list);
  }

  const state = (c, label) => {
    if (!c) return h("td", { class: "quiet", "data-label": label, "data-state": "none" }, "not replicated");
    const notes = [c.waits_for ? `for ${c.waits_for}` : null, c.state === "Disabled" && c.active ? "while active" : null, c.local ? "on this machine only" : null].filter(Boolean);
    return h("td", { class: TONE[c.state] ?? "quiet", "data-label": label, "data-state": c.state }, c.state, notes.length ? h("div", { class: "quiet" }, notes.join(", ")) : null);
  };
  const rhythm = (c) => (c.ticks === null ? null : !c.ticks ? "not evaluated" : c.interval > 0 ? `every ${plain(String(c.interval))} s` : "every frame");
  const step = (c) => (c?.last_step ? `${c.last_step[0]} ${at(c.last_step[1])}` : null);

  function row({ one, here, there }, client) {
    const { actor } = shown;
    const steps = [step(here), step(there) && `${step(there)} on ${client}`].filter(Boolean);
    const blocks = one.blocks_known ? (one.blocked_by ?? "–") : "not replicated";
    const block = one.blocked_here ? "Unblock" : "Block";
    const untagged = one.tag === null ? { disabled: true, title: "The capability has no tags, so it cannot be blocked" } : { title: `${block} ${one.tag}` };
    const on = one.enabled !== false;
    return h(
      "tr",
      { "data-key": one.key, "data-capability": one.class },
      h("td", { class: "name" }, one.class, one.set !== one.grant ? h("span", { class: "quiet" }, ` ${one.set}`) : null, rhythm(one) ? h("div", { class: "quiet" }, rhythm(one)) : null),
      h("td", { "data-label": "Side" }, one.side),
      state(here, "Server"),
      client === null ? null : state(there, `Client ${client}`),
      h("td", { "data-label": "Blocked by" }, blocks),
      h("td", { "data-label": "Last step" }, ...(steps.length ? steps.map((s) => h("div", {}, s)) : ["–"])),
      h(
        "td",
        { class: "n" },
        h(
          "div",
          { class: "row actions" },
          small(`Why is ${one.class} not active?`, "Why?", () => why(one)),
          small(`${block} ${one.class}`, block, () => run({ [block]: { tag: one.tag, who: actor } }), untagged),
          small(`Switch ${on ? "off" : "on"} ${one.class}`, on ? "Switch off" : "Switch on", () => run({ Enable: { class: one.class, who: actor, on: !on } })),
        ),
      ),
    );
  }

  // The machines' lists, merged by key in the order of the selected machine.
  function merged(server, client, side) {
    const [first, second] = side === null ? [server, client] : [client, server];
    const keys = [...new Set([...(first ?? []), ...(second ?? [])].map((c) => c.key))];
    const find = (list, key) => list?.find((c) => c.key === key);
    return keys.map((key) => {
      const [here, there] = [find(server, key), find(client, key)];
      // What the selected machine knows; if it does not have the capability, what the other one knows.
      return { here, there, one: (side === null ? here : there) ?? here ?? there };
    });
  }

  // `client` is the client shown beside the server, or null.
  function show(actor, side, server, client, there) {
    shown = { actor, side };
    const list = merged(server?.capabilities, there?.capabilities, side);
    fill(table, JSON.stringify([actor, side, client, list]), () => {
      const heads = ["Capability", "Side", "Server", ...(client === null ? [] : [`Client ${client}`]), "Blocked by", "Last step", ""];
      const body = [];
      let last = null;
      for (const c of list) {
        const grant = c.one.key.split(".")[0];
        if (grant !== last) {
          last = grant;
          body.push(h("tr", { "data-key": `set ${grant}`, class: "set" }, h("td", { colspan: heads.length - 1 }, h("b", {}, c.one.grant)), h("td", { class: "n" }, c.one.removable ? h("div", { class: "row actions" }, small(`Remove ${c.one.grant}`, "Remove set", () => run({ RemoveSet: { set: c.one.grant, who: actor } }))) : null)));
        }
        body.push(row(c, client));
      }
      const empty = side !== null && !there?.capabilities.length && server?.capabilities.length ? "No capabilities are replicated to this client." : "No capabilities.";
      return [h("thead", {}, h("tr", {}, ...heads.map((t) => h("th", {}, t)))), h("tbody", {}, ...(body.length ? body : [h("tr", {}, h("td", { colspan: heads.length, class: "empty" }, empty))]))];
    });
  }

  return { el, show };
}

// The client whose state is shown beside the server's: the selected one, or the one that owns the actor.
export function besideServer(frame, side, actor) {
  if (side !== null) return side;
  return frame.sides.find((s) => s.client !== null && s.actors.some((a) => a.name === actor && a.own))?.client ?? null;
}
