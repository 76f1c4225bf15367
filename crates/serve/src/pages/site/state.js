// The state of the page, which is the fragment of its address: it can be bookmarked.
const ORDER = ["path", "var", "tab", "x", "y", "i", "range", "log", "colours", "reverse", "view", "at", "series"];

export function read(hash = location.hash) {
  return Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
}

export function link(state) {
  const given = ORDER.filter((name) => state[name] !== undefined && state[name] !== null && state[name] !== "");
  return `#${new URLSearchParams(given.map((name) => [name, state[name]]))}`;
}

/** Changes the state of the present page without a new entry of the history. */
export function update(changes) {
  const next = link({ ...read(), ...changes });
  if (next !== location.hash) history.replaceState(null, "", next);
}
