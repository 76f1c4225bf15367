// Requests to the server that sent this page. Each one can be cancelled; the server then drops the work.
import { h } from "./dom.js";

/** An error that the server reported, with its hint. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body.error ?? `the server reported status ${status}`);
    this.status = status;
    this.hint = body.hint;
    this.kind = body.kind;
    this.cost = body.cost;
  }
}

/** Everything that the present page requests; `cancelAll` ends it. */
let page = new AbortController();
const waiting = new Set();
const listeners = new Set();

export function cancelAll() {
  page.abort();
  page = new AbortController();
}

export const requestCount = () => waiting.size;
export function onActivity(listener) {
  listeners.add(listener);
}
const changed = () => listeners.forEach((listener) => listener(waiting.size));

export const isCancelled = (error) => error?.name === "AbortError";

export function address(name, parameters) {
  const given = Object.entries(parameters ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given).toString();
  return query ? `api/${name}?${query}` : `api/${name}`;
}

async function request(name, parameters, signal, use) {
  const both = signal ? AbortSignal.any([signal, page.signal]) : page.signal;
  const token = {};
  waiting.add(token);
  changed();
  try {
    const response = await fetch(address(name, parameters), { signal: both, credentials: "omit" });
    if (!response.ok) throw new ApiError(response.status, await body(response));
    return await use(response);
  } catch (error) {
    if (error instanceof TypeError) {
      throw new ApiError(0, { error: "the server does not respond", hint: "check whether the server is still running" });
    }
    throw error;
  } finally {
    waiting.delete(token);
    changed();
  }
}

async function body(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

export const json = (name, parameters, signal) => request(name, parameters, signal, (response) => response.json());
export const bytes = (name, parameters, signal) => request(name, parameters, signal, (response) => response.arrayBuffer());
export const text = (name, parameters, signal) => request(name, parameters, signal, (response) => response.text());

/** Values of a selection: their shape, and the numbers in row-major order with NaN for missing ones. */
export const numbers = (parameters, signal) =>
  request("values", parameters, signal, async (response) => {
    const shape = (response.headers.get("ncirrus-shape") ?? "").split(",").filter(Boolean).map(Number);
    const bytes = await response.arrayBuffer();
    const isWide = response.headers.get("ncirrus-type") === "float64";
    return { shape, data: isWide ? new Float64Array(bytes) : new Float32Array(bytes) };
  });

/** An error at its place: its text and hint, and what can be done. */
export function failure(error, retry) {
  if (isCancelled(error)) {
    return h("div", { class: "failure quiet" }, h("p", {}, "Cancelled."), retry && h("button", { type: "button", onclick: () => retry() }, "Read again"));
  }
  if (!(error instanceof ApiError)) console.error(error);
  return h("div", { class: "failure", role: "alert" },
    h("p", {}, error.message),
    error.hint && h("p", { class: "hint" }, error.hint),
    retry && error.cost && h("button", { type: "button", onclick: () => retry({ accept: 1 }) }, "Read anyway"),
    retry && !error.cost && error.status !== 404 && h("button", { type: "button", onclick: () => retry() }, "Try again"));
}
