// The frame of all pages: the address decides which one is shown.
import { cancelAll, failure, isCancelled, json, onActivity, requestCount } from "./api.js";
import { h, replace } from "./dom.js";
import { showDataset } from "./dataset.js";
import { showFolder } from "./folder.js";
import { plural, size } from "./format.js";
import * as state from "./state.js";
import { showVariable } from "./variable.js";

const main = document.getElementById("main");
let start = null;
let shown = "";
let close = () => {};

async function show() {
  const now = state.read();
  const page = JSON.stringify({ path: now.path, var: now.var });
  close();
  cancelAll();
  const isNew = page !== shown;
  shown = page;
  try {
    start ??= await json("start");
    const path = now.path || start.path;
    const isFolder = path === "" || path.endsWith("/");
    crumbs(path, now.var, isFolder);
    const draw = now.var ? showVariable : isFolder ? showFolder : showDataset;
    replace(main);
    main.className = draw.name;
    close = (await draw(main, path, now, start)) ?? (() => {});
    if (isNew) window.scrollTo(0, 0);
  } catch (error) {
    if (!isCancelled(error)) replace(main, h("h1", {}, now.var ?? now.path ?? "ncirrus"), failure(error, () => show()));
  }
}

/** The path above the page: the start, folders, the dataset, the variable. */
function crumbs(path, variable, isFolder) {
  const last = start.address.replace(/\/+$/, "").split("/").pop() || start.address;
  const parts = start.path ? [] : [[last, ""]];
  const names = path.split("/").filter(Boolean);
  names.forEach((name, at) => {
    const isLast = at === names.length - 1;
    parts.push([name, names.slice(0, at + 1).join("/") + (isLast && !isFolder ? "" : "/")]);
  });
  const links = parts.map(([name, to]) => h("li", {}, h("a", { href: state.link({ path: to }) }, name)));
  if (variable) links.push(h("li", {}, h("a", { href: state.link({ path, var: variable }) }, variable)));
  links[links.length - 1].firstChild.setAttribute("aria-current", "page");
  replace(document.getElementById("crumbs"), h("ol", {}, links));
  const title = [variable, names[names.length - 1] ?? last].filter(Boolean).join(" · ");
  document.title = `${title} · ncirrus`;
}

/** Shows what is being read, once it takes more than half a second. */
function activity() {
  const box = document.getElementById("activity");
  const text = document.getElementById("activity-text");
  let since = 0;
  let before = null;
  let timer = 0;
  onActivity((count) => {
    if (count === 0) {
      since = 0;
      before = null;
      clearTimeout(timer);
      timer = 0;
      box.hidden = true;
    } else if (!timer) {
      since ||= Date.now();
      timer = setTimeout(tick, 500);
    }
  });
  async function tick() {
    if (!requestCount()) return;
    box.hidden = false;
    const seconds = Math.round((Date.now() - since) / 1000);
    text.textContent = `Reading${await fetched()}, ${seconds} s`;
    timer = requestCount() ? setTimeout(tick, 500) : 0;
  }
  /** What was fetched since the reading began. A server of several users does not say what it fetches for all of them. */
  async function fetched() {
    if (!start?.activity) return "";
    try {
      const response = await fetch("api/activity", { credentials: "omit" });
      const now = await response.json();
      before ??= now;
      const [requests, bytes] = [now.requests - before.requests, now.bytes - before.bytes];
      return requests ? `: ${plural(requests, "request")}, ${size(bytes)}` : "";
    } catch {
      return "";
    }
  }
  document.getElementById("activity-cancel").addEventListener("click", cancelAll);
}

activity();
// The fragment of the address is the state: a link to a part of the page would replace it.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", show);
show();
