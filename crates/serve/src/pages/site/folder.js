// The datasets of a folder or bucket.
import { json } from "./api.js";
import { h, replace } from "./dom.js";
import { date, plural, size } from "./format.js";
import * as state from "./state.js";

/** Rows of one table; a search finds the others. */
const ROWS = 2000;
const HEAD = [["name", "Name"], ["kind", "Kind"], ["size", "Size"], ["modified", "Changed (UTC)"]];

export async function showFolder(main, path, now, start) {
  const title = path ? path.replace(/\/$/, "").split("/").pop() : start.address;
  const status = h("p", { class: "dim", role: "status" }, "Listing…");
  const search = h("input", { type: "search", id: "search", placeholder: "Search names", oninput: draw });
  const rows = h("tbody");
  const heads = HEAD.map(([key, label]) =>
    h("th", { scope: "col", class: key === "size" ? "right" : null },
      h("button", { type: "button", onclick: () => sort(key) }, label)));
  const table = h("table", { class: "list" },
    h("caption", { class: "unseen" }, "Datasets and folders"), h("thead", {}, h("tr", {}, heads)), rows);
  replace(main, h("h1", {}, title),
    h("div", { class: "toolbar" }, h("label", { for: "search", class: "unseen" }, "Search names"), search, status), table);

  const { entries } = await json("list", { path });
  let order = { key: "name", sign: 1 };
  draw();

  function sort(key) {
    order = { key, sign: order.key === key ? -order.sign : 1 };
    draw();
  }
  function compared(a, b) {
    const [left, right] = [a[order.key], b[order.key]];
    if (typeof left === "string") return left.localeCompare(String(right), "en", { numeric: true });
    return (left ?? -1) - (right ?? -1);
  }
  function draw() {
    heads.forEach((cell, at) => {
      if (HEAD[at][0] === order.key) cell.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    const wanted = search.value.trim().toLowerCase();
    const kept = entries.filter((entry) => entry.name.toLowerCase().includes(wanted));
    kept.sort((a, b) => Number(b.folder) - Number(a.folder) || order.sign * compared(a, b));
    replace(rows, kept.slice(0, ROWS).map((entry) => row(path, entry)));
    const folders = kept.filter((entry) => entry.folder).length;
    const counts = [plural(kept.length - folders, "dataset"), folders ? plural(folders, "folder") : ""].filter(Boolean);
    const rest = kept.length > ROWS ? `; the first ${ROWS} are shown` : "";
    status.textContent = entries.length ? counts.join(", ") + rest : "There is no dataset in this folder.";
  }
}

function row(path, entry) {
  const name = entry.folder ? `${entry.name}/` : entry.name;
  return h("tr", { class: entry.folder ? "folder" : null },
    h("td", {}, h("a", { href: state.link({ path: path + name }) }, name)),
    h("td", {}, entry.folder ? h("span", { class: "dim" }, "folder") : h("span", { class: "kind" }, entry.kind)),
    h("td", { class: "right" }, size(entry.size)),
    h("td", { class: "dim" }, date(entry.modified)));
}
