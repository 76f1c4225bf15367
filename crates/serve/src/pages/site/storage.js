// How variables are stored: chunks, filters, shards, ratio; the map of chunks of one variable.
import { failure, json } from "./api.js";
import { h, replace, s } from "./dom.js";
import { count, plural, size } from "./format.js";
import * as state from "./state.js";

const ROWS = 500;

export function storagePanel(path, variables, now) {
  const box = h("div", { class: "chunks" });
  const open = (variable) => {
    state.update({ var: null, series: variable.path });
    chunkMap(box, path, variable);
  };
  const rows = variables.slice(0, ROWS).map((variable) => h("tr", {},
    h("td", {}, variable.chunks
      ? h("button", { type: "button", class: "plain", onclick: () => open(variable) }, variable.path.replace(/^\//, ""))
      : variable.path.replace(/^\//, "")),
    h("td", { class: "mono" }, variable.chunks ? variable.chunks.map(count).join(" × ") : variable.fragments ? "aggregated" : "contiguous"),
    h("td", { class: "mono" }, variable.shards?.map(count).join(" × ")),
    h("td", { class: "mono" }, variable.filters.join(", ")),
    h("td", { class: "right" }, size(variable.raw_bytes)),
    h("td", { class: "right" }, size(variable.stored_bytes)),
    h("td", { class: "right" }, variable.stored_bytes && variable.raw_bytes ? `${(variable.raw_bytes / variable.stored_bytes).toFixed(1)}` : "")));
  const first = variables.find((variable) => variable.path === now.series && variable.chunks);
  if (first) chunkMap(box, path, first);
  const heads = ["Variable", "Chunks", "Shards", "Filters", "Values", "Stored", "Ratio"];
  return [
    h("p", { class: "dim" }, "Choose a variable to see its chunks.", variables.length > ROWS && ` The first ${ROWS} variables are listed.`),
    h("table", { class: "list" }, h("caption", { class: "unseen" }, "Storage of the variables"),
      h("thead", {}, h("tr", {}, heads.map((label, at) => h("th", { scope: "col", class: at > 3 ? "right" : null }, label)))),
      h("tbody", {}, rows)),
    box,
  ];
}

/** A map of the chunks of the last two dimensions of the chunk grid, at one index of the others. */
export function chunkMap(box, path, variable) {
  const grid = variable.shape.map((length, at) => Math.max(1, Math.ceil(length / Math.max(1, variable.chunks[at]))));
  const rank = grid.length;
  const at = grid.map(() => 0);
  const picture = h("div", { class: "picture" });
  const about = h("p", { class: "dim" });
  const detail = h("div", { class: "detail", role: "status" });
  const controls = grid.slice(0, Math.max(0, rank - 2)).map((length, axis) => length > 1 &&
    h("label", {}, `${variable.dimensions[axis]} `, h("input", { type: "number", min: 0, max: length - 1, value: 0, onchange: (event) => {
      at[axis] = Math.min(length - 1, Math.max(0, Number(event.target.value) || 0));
      draw();
    } }), h("span", { class: "dim" }, ` of ${count(length)}`)));
  replace(box, h("h2", {}, `Chunks of ${variable.path.replace(/^\//, "")}`),
    about,
    h("div", { class: "toolbar" }, controls), h("div", { class: "split" }, picture, detail));
  draw();

  async function draw(more) {
    replace(picture, h("p", { class: "dim" }, "Reading the index…"));
    try {
      const found = await json("chunks", { path, var: variable.path, at: at.join(","), ...more });
      replace(picture, drawn(found, choose));
      about.textContent = `${plural(found.grid.reduce((product, length) => product * length, 1), "chunk")} in a grid of ${found.grid.map(count).join(" × ")}, ` +
        `each of ${variable.chunks.map(count).join(" × ")} values (${variable.dimensions.join(" × ")})`;
      const { stored, missing, bytes, left_out: leftOut } = found;
      replace(detail, h("p", {}, `${plural(stored, "chunk")} stored, ${size(bytes)}; ${count(missing)} missing.`),
        leftOut && h("p", { class: "note" }, `The first ${found.rows.length} × ${found.columns.length} chunks are shown.`),
        h("p", { class: "dim" }, "Choose a chunk to see what reading it costs."));
    } catch (error) {
      replace(picture, failure(error, draw));
    }
  }
  async function choose(cell) {
    const select = `[${cell.start.map((start, axis) => `${start}:${cell.stop[axis]}`).join(",")}]`;
    replace(detail, h("p", { class: "dim" }, "Planning…"));
    try {
      const cost = await json("cost", { path, var: variable.path, select });
      replace(detail, h("h3", { class: "mono" }, variable.path.replace(/^\//, "") + select),
        h("p", {}, !cell.stored ? "This chunk was never written: its values are the fill value." : cell.length === null ? "Whether it was written is known only when it is read." : `Stored in ${size(cell.length)}.`),
        h("pre", { tabindex: "0", "aria-label": "Cost of a read" }, cost.text));
    } catch (error) {
      replace(detail, failure(error, () => choose(cell)));
    }
  }
}

/** The map: one square a chunk, darker the more bytes it has. A single stop of the tab key; arrows move. */
function drawn({ rows, columns, cells }, choose) {
  const edge = Math.max(6, Math.min(22, Math.floor(520 / Math.max(rows.length, columns.length))));
  const [left, top] = [36, 16];
  const most = Math.max(1, ...cells.map((cell) => cell.length ?? 0));
  const title = (cell, at) => `${rows[Math.floor(at / columns.length)]}, ${columns[at % columns.length]}: ${!cell.stored ? "missing" : cell.length === null ? "length not known" : size(cell.length)}`;
  const squares = cells.map((cell, at) => s("rect", {
    x: left + (at % columns.length) * edge, y: top + Math.floor(at / columns.length) * edge, width: edge - 1, height: edge - 1,
    class: !cell.stored ? "missing" : `level${Math.min(7, Math.floor(((cell.length ?? 0) / most) * 8))}`,
    role: "button", tabindex: at === 0 ? "0" : "-1", "aria-label": `Chunk ${title(cell, at)}`,
    onclick: () => choose(cell), onkeydown: (event) => key(event, at),
  }, s("title", {}, title(cell, at))));
  function key(event, at) {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns.length, ArrowUp: at - columns.length }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(cells[at]);
    else if (to === undefined || !squares[to]) return;
    else {
      squares[at].setAttribute("tabindex", "-1");
      squares[to].setAttribute("tabindex", "0");
      squares[to].focus();
    }
    event.preventDefault();
  }
  const every = Math.max(1, Math.ceil(30 / edge));
  const marks = [
    columns.map((column, at) => at % every === 0 && s("text", { x: left + at * edge, y: top - 4 }, count(column))),
    rows.map((row, at) => at % every === 0 && s("text", { x: left - 4, y: top + at * edge + Math.min(edge, 11), "text-anchor": "end" }, count(row))),
  ];
  const [width, height] = [left + columns.length * edge + 2, top + rows.length * edge + 2];
  return s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Map of chunks", class: "map-of-chunks" }, marks, squares);
}
