// A variable: a map, an image, a line or a table, by its dimensions and type.
import { failure, isCancelled, json, numbers } from "./api.js";
import { Axis } from "./axis.js";
import { lineChart } from "./chart.js";
import { attributeTable } from "./dataset.js";
import { h, replace } from "./dom.js";
import { downloads } from "./downloads.js";
import { count, number } from "./format.js";
import { showPlane } from "./map.js";

/** Values of a line at most: longer ones are read with a stride. */
export const LINE = 1 << 16;
/** Elements of a table of texts at most. */
const TEXTS = 1000;

export async function showVariable(main, path, now, start) {
  replace(main, h("p", { class: "dim", role: "status" }, "Opening…"));
  const shown = await json("variable", { path, var: now.var });
  const shape = shown.dimensions.map((dimension) => `${dimension.name} ${count(dimension.length)}`).join(" × ");
  const side = h("aside", { class: "side", "aria-label": "What is shown, and how" });
  const stage = h("div", { class: "stage" });
  replace(main,
    h("div", { class: "title" }, h("h1", {}, shown.title ?? shown.name), shown.units && h("span", { class: "kind" }, shown.units),
      h("span", { class: "dim mono" }, `${shown.type} ${shown.path.replace(/^\//, "")}(${shape})`)),
    shown.fault && h("p", { class: "failure", role: "alert" }, shown.fault),
    h("div", { class: "workbench" }, stage, side));
  const source = { path, shown, axes: [], hasCoastlines: start.coastlines };
  const attributes = h("details", {}, h("summary", {}, `Attributes (${Object.keys(shown.attributes).length})`), attributeTable({ attributes: shown.attributes }));
  if (shown.fault) return void side.append(attributes);
  const show = kindOf(shown);
  try {
    source.axes = await axes(path, shown);
    return await show(stage, side, source, now);
  } catch (error) {
    if (isCancelled(error)) throw error;
    replace(stage, failure(error, () => window.dispatchEvent(new Event("hashchange"))));
  } finally {
    side.append(attributes);
  }
}

function kindOf(shown) {
  if (!shown.is_number) return showTexts;
  const long = shown.dimensions.filter((dimension) => dimension.length > 1).length;
  if (shown.shape.includes(0)) return showNothing;
  if (shown.dimensions.length < 2 || long < 2) return showLine;
  return showPlane;
}

/** The coordinates of all dimensions; an axis that cannot be read has indices. */
async function axes(path, shown) {
  return Promise.all(shown.dimensions.map(async (about) => {
    if (!about.coordinate) return new Axis(about, null);
    try {
      return new Axis(about, await json("axis", { path, var: about.coordinate }));
    } catch (error) {
      if (isCancelled(error)) throw error;
      return new Axis(about, null);
    }
  }));
}

function showNothing(stage, side, { shown }) {
  const empty = shown.dimensions.find((dimension) => dimension.length === 0);
  replace(stage, h("p", { class: "dim" }, `The variable has no values: the dimension ${empty.name} has length 0.`));
}

/** A variable with one dimension, or with one that is longer than 1; or a single value. */
async function showLine(stage, side, source) {
  const { path, shown } = source;
  const along = shown.dimensions.findIndex((dimension) => dimension.length > 1);
  const axis = source.axes[along];
  const read = async (more) => {
    replace(stage, h("p", { class: "dim", role: "status" }, "Reading…"));
    try {
      if (!axis) {
        const { data } = await numbers({ path, var: shown.path, select: `[${shown.shape.map(() => 0).join(",")}]`, ...more });
        const label = shown.is_time ? (await json("axis", { path, var: shown.path })).labels?.[0] : null;
        replace(stage, h("p", { class: "value" }, label ?? number(data[0], 9), " ", h("span", { class: "dim" }, label ? "" : shown.units)));
        return;
      }
      const { values, stride } = await series(source, along, shown.shape.map(() => 0), null, more);
      const draw = () => replace(stage,
        stride > 1 && h("p", { class: "note" }, `Every ${count(stride)}th of ${count(axis.length)} values is shown.`),
        lineChart(Math.max(320, stage.clientWidth), 360, { axis, values, stride, title: `${shown.title ?? shown.name} along ${axis.title}`, units: shown.units }));
      draw();
      observed(stage, draw);
    } catch (error) {
      replace(stage, failure(error, read));
    }
  };
  await read();
  side.append(downloads(source, () => [["the whole variable", `[${shown.shape.map((length) => `0:${length}`).join(",")}]`]]).element);
}

/** Values along one dimension at a place of the others. */
export async function series({ path, shown }, along, at, signal, more) {
  const length = shown.shape[along];
  const stride = Math.max(1, Math.ceil(length / LINE));
  const select = at.map((index, axis) => (axis === along ? `0:${length}:${stride}` : index)).join(",");
  const { data } = await numbers({ path, var: shown.path, select: `[${select}]`, ...more }, signal);
  return { values: data, stride };
}

/** Draws again when the width changes. */
export function observed(element, draw) {
  let width = element.clientWidth;
  const observer = new ResizeObserver(() => {
    if (!element.isConnected) return observer.disconnect();
    if (element.clientWidth === width) return undefined;
    width = element.clientWidth;
    return draw();
  });
  observer.observe(element);
}

/** Texts and other values that are not numbers. */
async function showTexts(stage, side, { path, shown }) {
  const read = async (more) => {
    try {
      const found = await json("texts", { path, var: shown.path, ...more });
      const rows = found.values.slice(0, TEXTS).map((text, at) => h("tr", {}, h("th", { scope: "row" }, found.places[at]), h("td", { class: "mono" }, text)));
      replace(stage, found.left_out && h("p", { class: "note" }, `The first ${count(found.values.length)} of ${count(found.count)} values are shown.`),
        h("table", { class: "list" }, h("caption", { class: "unseen" }, "Values"),
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, shown.dimensions.map((dimension) => dimension.name).join(", ") || "Index"), h("th", { scope: "col" }, "Value"))),
          h("tbody", {}, rows)));
    } catch (error) {
      replace(stage, failure(error, read));
    }
  };
  replace(stage, h("p", { class: "dim", role: "status" }, "Reading…"));
  await read();
}
