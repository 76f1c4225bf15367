// The dimensions of a plane: which two are shown, and a slider with play for each other one.
import { debounced, h, replace } from "./dom.js";
import { count } from "./format.js";
import * as state from "./state.js";

/** Milliseconds for which each picture is shown at least while playing. */
const PAUSE = 220;

export function sliders({ shown, axes }, page) {
  const element = h("section", { class: "block" });
  const move = debounced(90, () => page.moved());
  let playing = null;
  let due = 0;
  const rows = new Map();

  function draw() {
    rows.clear();
    const others = shown.dimensions.map((about, axis) => axis).filter((axis) => axis !== page.x && axis !== page.y);
    const choice = (id, label, present, other) => {
      const select = h("select", { id, onchange: () => swap(id, Number(select.value)) },
        shown.dimensions.map((about, axis) => shown.shape[axis] > 1 && axis !== other && h("option", { value: axis }, `${about.name} (${count(about.length)})`)));
      select.value = String(present);
      return [h("label", { for: id }, label), select];
    };
    replace(element, h("h2", {}, "Position"), others.map(slider),
      shown.dimensions.length > 2 && h("div", { class: "row" }, choice("axis-x", "Across", page.x, page.y)),
      shown.dimensions.length > 2 && h("div", { class: "row" }, choice("axis-y", "Down", page.y, page.x)));
  }

  function slider(axis) {
    const { name, length } = shown.dimensions[axis];
    const text = h("output", { for: `slider-${axis}` }, axes[axis].labelAt(page.at[axis]));
    const set = (index, isNow) => {
      page.at[axis] = Math.min(length - 1, Math.max(0, index));
      input.value = page.at[axis];
      text.textContent = axes[axis].labelAt(page.at[axis]);
      input.setAttribute("aria-valuetext", text.textContent);
      if (isNow) page.moved();
      else move();
    };
    const input = h("input", { type: "range", id: `slider-${axis}`, min: 0, max: Math.max(0, length - 1), step: 1, disabled: length < 2,
      "aria-valuetext": axes[axis].labelAt(page.at[axis]), oninput: () => { stop(); set(Number(input.value)); } });
    input.value = page.at[axis];
    const play = h("button", { type: "button", class: "play", "aria-label": `Play ${name}`, disabled: length < 2, onclick: () => (playing === axis ? stop() : start(axis)) }, "▶");
    rows.set(axis, { set, play, length });
    return h("div", { class: "slider" },
      h("div", { class: "slider-head" }, h("label", { for: `slider-${axis}` }, name, h("span", { class: "dim" }, ` ${page.at[axis] === undefined ? "" : count(length)}`)), text),
      h("div", { class: "row" }, play, input));
  }

  function swap(id, axis) {
    if (id === "axis-x") page.x = axis;
    else page.y = axis;
    stop();
    state.update({ x: page.x, y: page.y, view: null, at: null });
    replace(page.chart);
    draw();
    page.setPlane();
  }

  function start(axis) {
    stop();
    playing = axis;
    const { play } = rows.get(axis);
    play.textContent = "❚❚";
    play.setAttribute("aria-label", `Pause ${shown.dimensions[axis].name}`);
    due = setTimeout(step, PAUSE);
  }
  function step() {
    if (playing === null) return;
    const { set, length } = rows.get(playing);
    due = 0;
    set((page.at[playing] + 1) % length, true);
    // A picture that is there already causes no read.
    if (page.plane.tiles.isComplete) loaded();
  }
  function loaded() {
    if (playing !== null && !due) due = setTimeout(step, PAUSE);
  }
  function stop() {
    clearTimeout(due);
    due = 0;
    if (playing === null) return;
    const { play } = rows.get(playing);
    play.textContent = "▶";
    play.setAttribute("aria-label", `Play ${shown.dimensions[playing].name}`);
    playing = null;
  }

  draw();
  const texts = () => [...rows.keys()].map((axis) => `${shown.dimensions[axis].name}: ${axes[axis].labelAt(page.at[axis])}`);
  return { element, stop, loaded, texts };
}
