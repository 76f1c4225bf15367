// A dataset: its groups, dimensions, variables and attributes; CDL; storage; the code that opens it.
import { failure, json, text } from "./api.js";
import { copyButton, debounced, h, replace, tabbed } from "./dom.js";
import { count, plural, size } from "./format.js";
import * as state from "./state.js";
import { storagePanel } from "./storage.js";

/** Rows of the table of variables; a search finds the others. */
const ROWS = 1000;

export async function showDataset(main, path, now) {
  replace(main, h("p", { class: "dim", role: "status" }, "Opening…"));
  const shown = await json("dataset", { path });
  const variables = shown.groups.flatMap((group) => group.variables.map((variable) => ({ ...variable, group: group.path })));
  const facts = Object.entries(shown.facts).filter(([name, value]) => value !== null && !name.startsWith("_")).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  const bytes = variables.reduce((sum, variable) => sum + (variable.raw_bytes ?? 0), 0);
  const tabs = [
    ["contents", "Contents", () => contents(path, shown, variables)],
    ["attributes", "Attributes", () => shown.groups.map((group) => attributeTable(group))],
    ["storage", "Storage", () => storagePanel(path, variables, state.read())],
    ["cdl", "CDL", () => cdl(path)],
    ...(shown.code.length ? [["code", "Code", () => [addresses(shown.addresses), code(shown.code)]]] : []),
  ];
  replace(main,
    h("div", { class: "title" }, h("h1", {}, shown.name), h("span", { class: "kind" }, shown.kind),
      h("span", { class: "dim" }, [plural(variables.length, "variable"), `${size(bytes)} of values`, ...facts].join(" · "))),
    shown.address && h("p", { class: "address" }, shown.address),
    shown.warnings.map((text) => h("p", { class: "note" }, text)),
    shown.left_out.map((text) => h("p", { class: "note" }, `Left out: ${text}`)),
    tabbed(tabs, now.tab ?? "contents", (tab) => state.update({ tab: tab === "contents" ? null : tab, var: null })));
}

/** The tree of groups beside the table of variables. */
function contents(path, shown, variables) {
  let group = null;
  const rows = h("tbody");
  const status = h("p", { class: "dim", role: "status" });
  const search = h("input", { type: "search", id: "search", placeholder: "Search names and attributes", oninput: debounced(60, draw) });
  const table = h("table", { class: "list variables" }, h("caption", { class: "unseen" }, "Variables"),
    h("thead", {}, h("tr", {}, ["Name", "Dimensions", "Type", "Units", "Description", "Size"].map((label) =>
      h("th", { scope: "col", class: label === "Size" ? "right" : null }, label)))), rows);
  const tree = shown.groups.length > 1 ? h("nav", { class: "tree", "aria-label": "Groups" }, groupTree(shown.groups, choose)) : null;
  function choose(chosen, button) {
    const isSame = group === chosen;
    group = isSame ? null : chosen;
    tree.querySelectorAll("button").forEach((other) => other.setAttribute("aria-pressed", String(!isSame && other === button)));
    draw();
  }
  function draw() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const inGroup = (variable) => group === null || variable.group === group || variable.group.startsWith(group.replace(/\/?$/, "/"));
    const kept = variables.filter((variable) => inGroup(variable) && words.every((word) => searched(variable).includes(word)));
    replace(rows, kept.slice(0, ROWS).map((variable) => variableRow(path, variable)));
    status.textContent = kept.length > ROWS ? `${count(kept.length)} variables; the first ${ROWS} are shown` : plural(kept.length, "variable");
  }
  draw();
  return [
    h("div", { class: "toolbar" }, h("label", { for: "search", class: "unseen" }, "Search variables"), search, status),
    h("div", { class: tree ? "split" : "whole" }, tree, h("div", {}, dimensions(shown.groups), table)),
  ];
}

const searched = (variable) => (variable.search ??= `${variable.path} ${variable.dimensions.join(" ")} ${Object.values(variable.attributes).join(" ")}`.toLowerCase());

function variableRow(path, variable) {
  const about = variable.attributes;
  const description = about.long_name ?? about.standard_name ?? "";
  const shape = variable.dimensions.map((name, at) => [at ? ", " : "", name, h("span", { class: "dim" }, `\u2009${count(variable.shape[at])}`)]);
  return h("tr", { class: variable.fault ? "faulty" : null },
    h("td", {}, h("a", { href: state.link({ path, var: variable.path }) }, variable.path.replace(/^\//, "")),
      variable.fault && h("p", { class: "fault" }, variable.fault)),
    h("td", { class: "mono" }, shape.length ? shape : h("span", { class: "dim" }, "scalar")),
    h("td", { class: "mono type" }, variable.type),
    h("td", {}, about.units),
    h("td", {}, description),
    h("td", { class: "right" }, size(variable.raw_bytes)));
}

/** Groups as nested lists of buttons, which restrict the table. */
function groupTree(groups, choose) {
  const below = (parent) => groups.filter((group) => group.path !== parent && group.path.slice(0, group.path.lastIndexOf("/")) === parent.replace(/\/$/, ""));
  const list = (parent) => {
    const found = below(parent);
    return found.length ? h("ul", {}, found.map((group) => h("li", {}, button(group), list(group.path)))) : null;
  };
  const button = (group) => {
    const name = group.path === "/" ? "/" : group.path.slice(group.path.lastIndexOf("/") + 1);
    const made = h("button", { type: "button", "aria-pressed": "false", onclick: () => choose(group.path, made) }, name,
      h("span", { class: "dim" }, ` ${group.variables.length}`));
    return made;
  };
  const root = groups.find((group) => group.path === "/") ?? groups[0];
  return h("ul", {}, h("li", {}, button(root), list("/")));
}

function dimensions(groups) {
  const all = groups.flatMap((group) => group.dimensions.map(({ name, length, unlimited }) => ({ group: group.path, name, length, isUnlimited: unlimited })));
  if (!all.length) return null;
  const shown = all.slice(0, 60);
  return h("ul", { class: "dimensions", "aria-label": "Dimensions" }, shown.map(({ group, name, length, isUnlimited }) =>
    h("li", {}, h("b", {}, group === "/" ? name : `${group}/${name}`), ` ${count(length)}`, isUnlimited && h("span", { class: "dim" }, " unlimited"))),
    all.length > shown.length && h("li", {}, `${count(all.length - shown.length)} more`));
}

/** The attributes of a group or variable. */
export function attributeTable({ path, attributes }) {
  const rows = Object.entries(attributes).map(([name, value]) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)));
  return h("section", { class: "attributes" }, path !== undefined && h("h2", {}, path === "/" ? "Global attributes" : path),
    rows.length ? h("table", {}, h("tbody", {}, rows)) : h("p", { class: "dim" }, "No attributes."));
}

function cdl(path) {
  const box = h("div", {}, h("p", { class: "dim", role: "status" }, "Reading…"));
  const read = async () => {
    try {
      const found = await text("cdl", { path });
      replace(box, h("div", { class: "code" }, copyButton(found), h("pre", { tabindex: "0", "aria-label": "CDL" }, found)));
    } catch (error) {
      replace(box, failure(error, read));
    }
  };
  read();
  return box;
}

/** The address of the server above the pages. Only the browser knows it: a proxy may have changed it. */
const server = () => new URL("..", document.baseURI).href;

/** The addresses of the dataset on a server for programs, and what of them the browser can open. */
function addresses(listed) {
  if (!listed.length) return null;
  const row = ({ protocol, path, open, label }) => h("tr", {}, h("th", { scope: "row" }, protocol),
    h("td", { class: "mono" }, server() + path),
    h("td", {}, h("a", { href: server() + open, "aria-label": `${label} (${protocol})` }, label)));
  return h("table", { class: "list addresses" }, h("caption", { class: "unseen" }, "Addresses of the dataset"),
    h("thead", {}, h("tr", {}, ["Protocol", "Address", "Open"].map((label) => h("th", { scope: "col" }, label)))),
    h("tbody", {}, listed.map(row)));
}

function code(samples) {
  const here = samples.map((sample) => ({ ...sample, text: sample.text.replaceAll("{server}", server) }));
  return here.map(({ language, text, note }) => h("section", { class: "sample" }, h("h2", {}, language),
    h("div", { class: "code" }, copyButton(text), h("pre", { tabindex: "0", "aria-label": language }, text)),
    note && h("p", { class: "dim" }, note)));
}
