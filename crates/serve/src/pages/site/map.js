// The page of a variable with at least two dimensions: the plane, and the controls beside it.
import { failure, isCancelled, numbers } from "./api.js";
import { DIVERGING, NAMES, drawBar, robustRange, scale } from "./colours.js";
import { histogram, lineChart } from "./chart.js";
import { coastlines } from "./coast.js";
import { announce, debounced, h, replace } from "./dom.js";
import { downloads, selection } from "./downloads.js";
import { count, number } from "./format.js";
import { Plane } from "./plane.js";
import { savePicture } from "./picture.js";
import { sliders } from "./sliders.js";
import * as state from "./state.js";
import { observed, series } from "./variable.js";

export async function showPlane(stage, side, source, now) {
  const page = new PlanePage(stage, side, source, now);
  await page.open();
  return () => page.close();
}

class PlanePage {
  constructor(stage, side, source, now) {
    Object.assign(this, { stage, side, source });
    const { shown } = source;
    const rank = shown.dimensions.length;
    const given = (text, other) => (text !== undefined && Number(text) >= 0 && Number(text) < rank ? Number(text) : other);
    this.x = given(now.x, shown.x);
    this.y = given(now.y, shown.y);
    if (this.x === this.y) [this.x, this.y] = [shown.x, shown.y];
    const indices = (now.i ?? "").split(",").map(Number);
    this.at = shown.shape.map((length, axis) => Math.min(length - 1, Math.max(0, Math.floor(indices[axis]) || 0)));
    const range = (now.range ?? "").split(",").map(Number);
    this.range = range.length === 2 && range.every(Number.isFinite) && now.range ? { low: range[0], high: range[1], isAcross: false } : null;
    this.isFixed = this.range !== null;
    this.colours = NAMES.includes(now.colours) ? now.colours : null;
    this.isLog = now.log === "1";
    this.isReversed = now.reverse === "1";
    this.firstView = (now.view ?? "").split(",").map(Number);
    this.firstPoint = (now.at ?? "").split(",").map(Number);
    this.along = now.series === undefined ? null : Number(now.series);
    this.accept = {};
    this.close = this.close.bind(this);
  }

  async open() {
    const { shown } = this.source;
    this.canvas = h("canvas", { class: "plane", tabindex: "0", role: "application", "aria-label":
      `${shown.title ?? shown.name}. Arrow keys move a mark and read values, Enter shows the series there, plus and minus zoom, 0 shows everything.` });
    this.host = h("div", { class: "plane-host" }, this.canvas);
    this.reading = h("p", { class: "reading mono" }, "\u00a0");
    this.trouble = h("div");
    this.chart = h("div", { class: "series" });
    this.tools = h("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
      [["+", "Zoom in", () => this.plane.zoom(2)], ["−", "Zoom out", () => this.plane.zoom(0.5)],
        ["⤢", "Show everything", () => this.plane.setView({ u: this.plane.columns / 2, v: this.plane.rows / 2, z: 1 })]]
        .map(([text, label, onclick]) => h("button", { type: "button", "aria-label": label, title: label, onclick }, text)));
    this.host.append(this.tools);
    this.busy = h("p", { class: "busy", role: "status", hidden: true });
    this.host.append(this.busy);
    this.bar = this.colourBar();
    replace(this.stage, this.trouble, this.host, this.bar.element, this.reading, this.chart);
    this.plane = new Plane(this.host, this.canvas, {
      moved: (cell, isKey) => this.read(cell, isKey),
      chosen: (cell) => this.choose(cell),
      viewed: debounced(250, ({ u, v, z }) => {
        state.update({ view: z > 1 ? [u.toFixed(1), v.toFixed(1), z.toFixed(3)].join(",") : null });
        this.saving.offer();
      }),
      loaded: () => this.loaded(),
      failed: (error, retry) => this.failed(error, retry),
    });
    this.setPlane();
    this.position = sliders(this.source, this);
    this.histogram = h("div");
    this.saving = downloads(this.source, () => this.parts(), h("button", { type: "button", onclick: () => this.save() }, "Save picture (PNG)"));
    replace(this.side, this.position.element, this.display(), this.saving.element);
    if (this.firstView.length === 3 && this.firstView.every(Number.isFinite)) {
      this.plane.setView({ u: this.firstView[0], v: this.firstView[1], z: this.firstView[2] });
    }
    if (this.firstPoint.length === 2 && this.firstPoint.every(Number.isFinite)) {
      this.plane.choose({ row: this.firstPoint[0], column: this.firstPoint[1] });
    }
  }

  close() {
    this.position.stop();
    this.plane.close();
    this.pointRead?.abort();
  }

  /** The two dimensions of the plane, and what else is drawn in it. */
  setPlane() {
    const { shown, axes } = this.source;
    const [xAxis, yAxis] = [axes[this.x], axes[this.y]];
    const isMap = xAxis.about.role === "longitude" && yAxis.about.role === "latitude";
    this.plane.setGrid({
      rows: shown.shape[this.y], columns: shown.shape[this.x], xAxis, yAxis,
      flipX: xAxis.isGeographic && xAxis.direction < 0,
      flipY: goesUp(yAxis), aspect: aspect(shown, this.x, this.y, xAxis, yAxis, isMap), lines: null,
    });
    this.setSlice();
    if (isMap && this.source.hasCoastlines && xAxis.direction && yAxis.direction) {
      coastlines(xAxis, yAxis).then((lines) => {
        this.plane.lines = lines;
        this.plane.draw();
      }).catch((error) => isCancelled(error) || console.error(error));
    }
  }

  /** What is read: the plane at the present place of the other dimensions. */
  setSlice() {
    const { path, shown } = this.source;
    const [x, y, at] = [this.x, this.y, [...this.at]];
    const part = ({ start, stop, stride }) => `${start}:${stop}:${stride}`;
    replace(this.trouble);
    this.plane.setSlice(`${y},${x}|${at.map((index, axis) => (axis === x || axis === y ? ":" : index)).join(",")}`, async (rows, columns, signal) => {
      const select = at.map((index, axis) => (axis === y ? part(rows) : axis === x ? part(columns) : index)).join(",");
      const { shape, data } = await numbers({ path, var: shown.path, select: `[${select}]`, ...this.accept }, signal);
      const [height, width] = [shape[y], shape[x]];
      return { shape: [height, width], data: y < x ? data : turned(data, width, height) };
    });
    this.showBusy();
  }

  /** The place of the other dimensions has changed. */
  moved() {
    this.saving.offer();
    state.update({ i: this.at.some((index) => index > 0) ? this.at.join(",") : null });
    this.setSlice();
  }

  loaded() {
    this.showBusy();
    const values = this.plane.tiles.values();
    if (!values.length) return;
    if (!this.range) {
      const found = robustRange(values);
      if (found && this.plane.tiles.isComplete) this.setRange(found, false);
      else if (found) this.setRange(found, false, true);
    }
    if (this.plane.tiles.isComplete) {
      this.isProvisional = false;
      this.drawHistogram();
      this.position.loaded();
    }
  }

  showBusy() {
    const [done, all] = this.plane.tiles.progress;
    clearTimeout(this.busyTimer);
    if (done === all) this.busy.hidden = true;
    else this.busyTimer = setTimeout(() => {
      this.busy.textContent = all > 1 ? `Reading: ${done} of ${all} tiles` : "Reading";
      this.busy.hidden = false;
    }, 300);
  }

  failed(error, retry) {
    this.position.stop();
    clearTimeout(this.busyTimer);
    this.busy.hidden = true;
    replace(this.trouble, failure(error, (more) => {
      Object.assign(this.accept, more);
      replace(this.trouble);
      retry();
    }));
  }

  setRange(range, isFixed, isProvisional = false) {
    this.range = isProvisional ? null : range;
    this.isFixed = isFixed;
    state.update({ range: isFixed ? `${range.low},${range.high}` : null });
    if (!this.colours) this.select.value = range.isAcross ? DIVERGING[0] : NAMES[0];
    this.setColours(range);
  }

  setColours(range = this.range) {
    if (!range) return;
    const colours = this.colours ?? this.select.value;
    Object.assign(this.drawn ??= {}, range, { colours });
    this.plane.setColours(scale({ ...range, isLog: this.isLog, colours, isReversed: this.isReversed }));
    this.bar.draw(range, colours);
    this.low.value = number(range.low, 5);
    this.high.value = number(range.high, 5);
    this.drawHistogram();
  }

  drawHistogram() {
    if (this.drawn) replace(this.histogram, histogram(this.plane.tiles.values(), this.drawn.low, this.drawn.high));
  }

  colourBar() {
    const { shown } = this.source;
    const canvas = h("canvas", { class: "ramp", role: "img", "aria-label": "Colours of the range" });
    const labels = h("div", { class: "ramp-labels" });
    const title = h("p", { class: "dim ramp-title" }, [shown.title ?? shown.name, shown.units ? `(${shown.units})` : ""].join(" "));
    return {
      element: h("div", { class: "colour-bar" }, canvas, labels, title),
      draw: (range, colours) => {
        drawBar(canvas, colours, this.isReversed);
        const isLog = this.isLog && range.high > 0;
        const from = range.low > 0 ? range.low : range.high / 1e6;
        const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => isLog ? from * (range.high / from) ** part : range.low + part * (range.high - range.low));
        replace(labels, marks.map((value) => h("span", {}, number(value, 4))));
      },
    };
  }

  /** Range and colours. */
  display() {
    const change = () => {
      const [low, high] = [Number(this.low.value), Number(this.high.value)];
      const isValid = this.low.value.trim() !== "" && this.high.value.trim() !== "" && Number.isFinite(low) && Number.isFinite(high) && low < high;
      this.low.setAttribute("aria-invalid", String(!isValid));
      this.high.setAttribute("aria-invalid", String(!isValid));
      if (isValid) this.setRange({ low, high, isAcross: this.range?.isAcross ?? false }, true);
    };
    this.low = h("input", { type: "text", inputmode: "decimal", id: "low", "aria-label": "Lowest value of the range", onchange: change });
    this.high = h("input", { type: "text", inputmode: "decimal", id: "high", "aria-label": "Highest value of the range", onchange: change });
    this.select = h("select", { id: "colours", onchange: () => {
      this.colours = this.select.value;
      state.update({ colours: this.colours });
      this.setColours();
    } }, NAMES.map((name) => h("option", { value: name }, name)));
    if (this.colours) this.select.value = this.colours;
    const flag = (id, label, name, get, set) => h("label", { class: "check" }, h("input", { type: "checkbox", id, checked: get(), onchange: (event) => {
      set(event.target.checked);
      state.update({ [name]: event.target.checked ? 1 : null });
      this.setColours();
    } }), label);
    const auto = () => {
      const found = robustRange(this.plane.tiles.values());
      if (found) this.setRange(found, false);
    };
    return h("section", { class: "block" }, h("h2", {}, "Colours"),
      h("div", { class: "row" }, h("span", { class: "label" }, "Range"), this.low, h("span", { "aria-hidden": "true" }, "–"), this.high, h("button", { type: "button", onclick: auto, title: "The range of the visible values, without the outermost 1 % on both sides" }, "Fit")),
      h("div", { class: "row" }, h("label", { for: "colours" }, "Map"), this.select,
        flag("reverse", "reversed", "reverse", () => this.isReversed, (value) => (this.isReversed = value)),
        flag("log", "log", "log", () => this.isLog, (value) => (this.isLog = value))),
      this.histogram);
  }

  /** The value under the pointer or the mark, with its coordinates. */
  read(cell, isKey) {
    if (!cell || cell.value === undefined) {
      this.reading.textContent = "\u00a0";
      return;
    }
    const { axes, shown } = this.source;
    const place = [axes[this.y].labelAt(cell.row), axes[this.x].labelAt(cell.column)].join(", ");
    const value = `${number(cell.value)}${Number.isNaN(cell.value) || !shown.units ? "" : ` ${shown.units}`}`;
    const strides = cell.stride.some((stride) => stride > 1) ? ` · every ${cell.stride.map(count).join(" × ")}` : "";
    this.reading.textContent = `${place}: ${value}  [${cell.row}, ${cell.column}]${strides}`;
    if (isKey) announce(`${place}: ${value}`);
  }

  /** Shows the series at a point. */
  async choose({ row, column }) {
    state.update({ at: `${row},${column}` });
    this.read(this.plane.valueAt(row, column), true);
    const { axes, shown } = this.source;
    const others = shown.dimensions.map((about, axis) => axis).filter((axis) => axis !== this.x && axis !== this.y && shown.shape[axis] > 1);
    const choices = others.length ? others : [this.x, this.y];
    const time = choices.find((axis) => shown.dimensions[axis].role === "time");
    const along = choices.includes(this.along) || this.along === this.x || this.along === this.y ? this.along : time ?? choices[0];
    const at = this.at.map((index, axis) => (axis === this.y ? row : axis === this.x ? column : index));
    const select = h("select", { "aria-label": "Series along", onchange: () => {
      this.along = Number(select.value);
      state.update({ series: this.along });
      this.choose({ row, column });
    } }, shown.dimensions.map((about, axis) => shown.shape[axis] > 1 && h("option", { value: axis }, about.name)));
    select.value = String(along);
    const place = `${axes[this.y].labelAt(row)}, ${axes[this.x].labelAt(column)}`;
    const body = h("div", {}, h("p", { class: "dim", role: "status" }, "Reading the series…"));
    const close = h("button", { type: "button", "aria-label": "Close the series", onclick: () => {
      replace(this.chart);
      this.plane.cursor = null;
      this.plane.draw();
      state.update({ at: null, series: null });
    } }, "Close");
    replace(this.chart, h("div", { class: "series-head" }, h("h2", {}, `Series at ${place}`), h("label", {}, "along ", select), close), body);
    this.pointRead?.abort();
    this.pointRead = new AbortController();
    const signal = this.pointRead.signal;
    const read = async (more) => {
      try {
        const found = await series(this.source, along, at, signal, { ...this.accept, ...more });
        const draw = () => replace(body, lineChart(Math.max(320, body.clientWidth), 240, {
          axis: axes[along], values: found.values, stride: found.stride, units: shown.units,
          title: `${shown.title ?? shown.name} along ${axes[along].title}` }));
        draw();
        observed(body, draw);
      } catch (error) {
        if (!signal.aborted) replace(body, failure(error, read));
      }
    };
    await read();
  }

  /** The parts of the variable that can be saved. */
  parts() {
    const { shown } = this.source;
    const { rows, columns } = this.plane.visible();
    const here = shown.shape.map((length, axis) => (axis === this.y ? rows : axis === this.x ? columns : this.at[axis]));
    const all = here.map((part, axis) => (Array.isArray(part) ? part : [0, shown.shape[axis]]));
    const size = [rows, columns].map(([start, stop]) => count(stop - start)).join(" × ");
    const offered = [[`what is shown (${size})`, selection(here)]];
    if (shown.shape.length > 2) offered.push(["this area, all positions", selection(all)]);
    offered.push(["the whole variable", selection(shown.shape.map((length) => [0, length]))]);
    return offered;
  }

  save() {
    const { shown } = this.source;
    const place = this.position.texts();
    savePicture(this.canvas, this.bar.element, { name: shown.name, title: [shown.title ?? shown.name, shown.units ? `(${shown.units})` : ""].filter(Boolean).join(" "), place });
  }
}

/** Whether the first row is the lowest: north is up, and so are heights; depths and pressures go down. */
function goesUp(axis) {
  const { role, positive } = axis.about;
  if (role === "vertical") return axis.direction > 0 ? positive !== "down" : positive === "down";
  return ["latitude", "y"].includes(role) && axis.direction > 0;
}

/** The height of a row as a multiple of the width of a column; null if the plane fills the space. */
function aspect(shown, x, y, xAxis, yAxis, isMap) {
  const distance = (axis) => Math.abs(axis.valueAt(axis.length - 1) - axis.valueAt(0)) / Math.max(1, axis.length - 1);
  const isPlan = isMap || (xAxis.about.role === "x" && yAxis.about.role === "y" && xAxis.about.units === yAxis.about.units);
  if (isPlan && xAxis.values && yAxis.values) {
    const ratio = distance(yAxis) / distance(xAxis);
    if (ratio > 0.05 && ratio < 20) return ratio;
  }
  const isPicture = [xAxis, yAxis].every((axis) => !axis.values || ["x", "y"].includes(axis.about.role));
  const ratio = shown.shape[x] / shown.shape[y];
  return isPicture && ratio > 0.2 && ratio < 8 ? 1 : null;
}

/** The transposed plane. */
function turned(data, rows, columns) {
  const made = new data.constructor(data.length);
  for (let row = 0; row < rows; row += 1) for (let column = 0; column < columns; column += 1) made[column * rows + row] = data[row * columns + column];
  return made;
}
