// A map or image of two dimensions on a canvas. Numbers come in tiles with strides chosen for the zoom; colours are given
// to them here, so that another range or other colours need no request.
import { TileStore } from "./tiles.js";

const TILE = 256;
const MARGIN = { left: 62, right: 10, top: 8, bottom: 26 };
const MAX_ZOOM_PIXELS = 48;

export class Plane {
  /** `hooks`: moved(cell), chosen(cell), viewed(view), loaded(), failed(error, retry). */
  constructor(host, canvas, hooks) {
    this.host = host;
    this.canvas = canvas;
    this.hooks = hooks;
    this.view = { u: 0, v: 0, z: 1 };
    this.cursor = null;
    this.tiles = new TileStore(() => this.arrived(), (error, retry) => hooks.failed(error, retry));
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
  }

  close() {
    this.observer.disconnect();
    this.tiles.close();
  }

  /** The grid: numbers of rows and columns, which way they go, and the ratio of their distances. */
  setGrid({ rows, columns, flipX, flipY, aspect, xAxis, yAxis, lines }) {
    Object.assign(this, { rows, columns, flipX, flipY, aspect, xAxis, yAxis, lines });
    this.view = { u: columns / 2, v: rows / 2, z: 1 };
    this.cursor = null;
    this.resize();
  }

  /** What is shown: a key of the slice, and `read(rows, columns, signal)`. */
  setSlice(key, read) {
    this.tiles.setSlice(key, read);
    this.refresh();
  }

  setColours(colourOf) {
    this.colourOf = colourOf;
    this.tiles.forgetPictures();
    this.draw();
  }

  setView({ u, v, z }) {
    const most = Math.max(1, MAX_ZOOM_PIXELS / Math.min(this.fit.x, this.fit.y));
    const zoom = Math.min(most, Math.max(1, z));
    const keep = (centre, length, pixels, fit) => {
      const half = pixels / (2 * fit * zoom);
      return half * 2 >= length ? length / 2 : Math.min(length - half, Math.max(half, centre));
    };
    this.view = { u: keep(u, this.columns, this.inner.w, this.fit.x), v: keep(v, this.rows, this.inner.h, this.fit.y), z: zoom };
    this.hooks.viewed(this.view);
    this.refresh();
  }

  resize() {
    if (!this.rows || !this.host.clientWidth) return;
    const width = this.host.clientWidth;
    const most = Math.max(260, window.innerHeight * 0.64);
    const inner = width - MARGIN.left - MARGIN.right;
    const wanted = this.aspect ? (inner * this.rows * this.aspect) / this.columns : inner * 0.5;
    const height = Math.round(Math.min(most, Math.max(200, wanted)) + MARGIN.top + MARGIN.bottom);
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.canvas.style.height = `${height}px`;
    this.inner = { x: MARGIN.left, y: MARGIN.top, w: inner, h: height - MARGIN.top - MARGIN.bottom };
    const fit = { x: this.inner.w / this.columns, y: this.inner.h / this.rows };
    if (this.aspect) {
      fit.x = Math.min(fit.x, this.inner.h / (this.rows * this.aspect));
      fit.y = fit.x * this.aspect;
    }
    this.fit = fit;
    this.refresh();
  }

  /** Pixels per index. */
  get step() {
    return { x: this.fit.x * this.view.z * (this.flipX ? -1 : 1), y: this.fit.y * this.view.z * (this.flipY ? -1 : 1) };
  }
  xOf(column) {
    return this.inner.x + this.inner.w / 2 + (column - this.view.u) * this.step.x;
  }
  yOf(row) {
    return this.inner.y + this.inner.h / 2 + (row - this.view.v) * this.step.y;
  }
  columnOf(x) {
    return (x - this.inner.x - this.inner.w / 2) / this.step.x + this.view.u;
  }
  rowOf(y) {
    return (y - this.inner.y - this.inner.h / 2) / this.step.y + this.view.v;
  }

  /** The visible part: first and last index of rows and columns, the last not included. */
  visible() {
    const { x, y, w, h } = this.inner;
    const columns = [this.columnOf(x), this.columnOf(x + w)].sort((a, b) => a - b);
    const rows = [this.rowOf(y), this.rowOf(y + h)].sort((a, b) => a - b);
    const cut = ([low, high], length) => [Math.max(0, Math.floor(low + 1e-6)), Math.min(length, Math.ceil(high - 1e-6))];
    return { rows: cut(rows, this.rows), columns: cut(columns, this.columns) };
  }

  /** Powers of two: the stride of rows and of columns at which there is about one value a pixel. */
  level() {
    const power = (pixels) => Math.max(0, Math.floor(Math.log2(1 / (Math.abs(pixels) * this.ratio)) + 0.3));
    return [power(this.step.y), power(this.step.x)];
  }

  /** Requests the tiles that are visible, those in the middle first. */
  refresh() {
    if (!this.inner || !this.tiles.slice) return;
    const [ky, kx] = this.level();
    const { rows, columns } = this.visible();
    const wanted = [];
    const [high, wide] = [TILE * 2 ** ky, TILE * 2 ** kx];
    for (let ty = Math.floor(rows[0] / high); ty * high < rows[1]; ty += 1) {
      for (let tx = Math.floor(columns[0] / wide); tx * wide < columns[1]; tx += 1) {
        const distance = Math.hypot((ty + 0.5) * high - this.view.v, (tx + 0.5) * wide - this.view.u);
        wanted.push({ ky, kx, ty, tx, distance, rows: span(ty * high, high, this.rows, ky), columns: span(tx * wide, wide, this.columns, kx) });
      }
    }
    wanted.sort((a, b) => a.distance - b.distance);
    this.tiles.want(wanted);
    this.draw();
  }

  arrived() {
    this.draw();
    this.hooks.loaded();
  }

  draw() {
    if (!this.inner || !this.colourOf) return;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const context = this.canvas.getContext("2d");
    const { x, y, w, h } = this.inner;
    const style = getComputedStyle(this.canvas);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.save();
    const box = this.device(0, 0, this.columns, this.rows);
    const frame = [x, y, w, h].map((value) => Math.round(value * this.ratio));
    context.beginPath();
    context.rect(...frame);
    context.clip();
    context.beginPath();
    context.rect(...box);
    context.clip();
    context.fillStyle = style.getPropertyValue("--missing");
    context.fillRect(...frame);
    context.imageSmoothingEnabled = false;
    for (const tile of this.tiles.shown()) {
      const picture = this.tiles.picture(tile, this.colourOf, this.flipX, this.flipY);
      const { rows, columns } = tile.place;
      context.drawImage(picture, ...this.device(columns.start, rows.start, picture.width * columns.stride, picture.height * rows.stride));
    }
    this.paintLines(context, style);
    this.paintCursor(context, style);
    context.restore();
    this.paintAxes(context, style);
  }

  /** A rectangle of indices in pixels of the device. */
  device(column, row, columns, rows) {
    const xs = [this.xOf(column), this.xOf(column + columns)].map((value) => Math.round(value * this.ratio)).sort((a, b) => a - b);
    const ys = [this.yOf(row), this.yOf(row + rows)].map((value) => Math.round(value * this.ratio)).sort((a, b) => a - b);
    return [xs[0], ys[0], Math.max(1, xs[1] - xs[0]), Math.max(1, ys[1] - ys[0])];
  }

  paintLines(context, style) {
    if (!this.lines) return;
    context.save();
    context.setTransform(this.ratio * this.step.x, 0, 0, this.ratio * this.step.y, this.xOf(0) * this.ratio, this.yOf(0) * this.ratio);
    context.lineJoin = "round";
    // Dark lines with a light edge are seen on every colour.
    for (const [colour, width] of [[style.getPropertyValue("--coast-edge"), 2.6], [style.getPropertyValue("--coast"), 1]]) {
      context.lineWidth = width / Math.abs(this.step.x);
      context.strokeStyle = colour;
      context.stroke(this.lines);
    }
    context.restore();
  }

  paintCursor(context, style) {
    if (!this.cursor) return;
    const { row, column } = this.cursor;
    const [x, y] = [this.xOf(column + 0.5), this.yOf(row + 0.5)].map((value) => Math.round(value * this.ratio) + 0.5);
    for (const [colour, width] of [[style.getPropertyValue("--ground"), 3], [style.getPropertyValue("--ink"), 1]]) {
      context.strokeStyle = colour;
      context.lineWidth = width * this.ratio;
      context.beginPath();
      context.arc(x, y, 5 * this.ratio, 0, 2 * Math.PI);
      const [near, far] = [5 * this.ratio, 12 * this.ratio];
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        context.moveTo(x + dx * near, y + dy * near);
        context.lineTo(x + dx * far, y + dy * far);
      }
      context.stroke();
    }
  }

  paintAxes(context, style) {
    const { x, y, w, h } = this.inner;
    const { rows, columns } = this.visible();
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.font = style.getPropertyValue("--axis-font");
    context.fillStyle = style.getPropertyValue("--dim");
    context.strokeStyle = style.getPropertyValue("--line");
    const [left, top, wide, high] = this.device(0, 0, this.columns, this.rows).map((value) => value / this.ratio);
    const frame = { x: Math.max(x, left), y: Math.max(y, top), right: Math.min(x + w, left + wide), bottom: Math.min(y + h, top + high) };
    context.strokeRect(frame.x + 0.5, frame.y + 0.5, frame.right - frame.x - 1, frame.bottom - frame.y - 1);
    context.textAlign = "center";
    context.textBaseline = "top";
    let free = -Infinity;
    const across = this.xAxis.marks(columns[0], columns[1], w / 80).sort((a, b) => this.xOf(a[0]) - this.xOf(b[0]));
    for (const [at, text] of across) {
      const place = this.xOf(at + 0.5);
      const half = context.measureText(text).width / 2;
      if (place - half < free + 8 || place < frame.x || place > frame.right) continue;
      const shifted = Math.min(Math.max(place, half), x + w + MARGIN.right - half);
      context.fillText(text, shifted, frame.bottom + 6);
      context.fillRect(place, frame.bottom, 1, 4);
      free = shifted + half;
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    free = -Infinity;
    const down = this.yAxis.marks(rows[0], rows[1], h / 45).sort((a, b) => this.yOf(a[0]) - this.yOf(b[0]));
    for (const [at, text] of down) {
      const place = this.yOf(at + 0.5);
      if (place < free + 14 || place < frame.y || place > frame.bottom) continue;
      context.fillText(text, frame.x - 7, place);
      context.fillRect(frame.x - 4, place, 4, 1);
      free = place;
    }
  }

  /** The value at a cell, with the cell that the shown sample is of. */
  valueAt(row, column) {
    const held = row >= 0 && column >= 0 && row < this.rows && column < this.columns;
    return held ? this.tiles.valueAt(row, column) : null;
  }

  listen() {
    const canvas = this.canvas;
    let drag = null;
    const cellOf = (event) => {
      const box = canvas.getBoundingClientRect();
      return { column: Math.floor(this.columnOf(event.clientX - box.left)), row: Math.floor(this.rowOf(event.clientY - box.top)) };
    };
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, y: event.clientY, view: this.view, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.inner) return;
      if (!drag) return this.hooks.moved(this.valueAt(cellOf(event).row, cellOf(event).column));
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      drag.moved ||= Math.hypot(dx, dy) > 4;
      if (drag.moved) this.setView({ ...drag.view, u: drag.view.u - dx / this.step.x, v: drag.view.v - dy / this.step.y });
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.choose(cellOf(event));
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => this.hooks.moved(null));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      this.zoom(2 ** (-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** Zooms so that the place at `x`, `y` (the middle by default) stays. */
  zoom(factor, x = this.inner.x + this.inner.w / 2, y = this.inner.y + this.inner.h / 2) {
    const [column, row] = [this.columnOf(x), this.rowOf(y)];
    const before = this.view;
    const most = Math.max(1, MAX_ZOOM_PIXELS / Math.min(this.fit.x, this.fit.y));
    const z = Math.min(most, Math.max(1, before.z * factor));
    const part = before.z / z;
    this.setView({ u: column + (before.u - column) * part, v: row + (before.v - row) * part, z });
  }

  choose({ row, column }) {
    if (row < 0 || column < 0 || row >= this.rows || column >= this.columns) return;
    this.cursor = { row, column };
    this.draw();
    this.hooks.chosen(this.cursor);
  }

  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "+" || event.key === "=") this.zoom(2);
    else if (event.key === "-") this.zoom(0.5);
    else if (event.key === "0") this.setView({ u: this.columns / 2, v: this.rows / 2, z: 1 });
    else if (event.key === "Enter" && this.cursor) this.hooks.chosen(this.cursor);
    else if (steps[event.key]) {
      const [ky, kx] = this.level();
      const [dx, dy] = steps[event.key];
      const from = this.cursor ?? { row: Math.floor(this.view.v), column: Math.floor(this.view.u) };
      const move = (at, by, power, flip, length) => Math.min(length - 1, Math.max(0, at + by * 2 ** power * (flip ? -1 : 1)));
      const many = event.shiftKey ? 10 : 1;
      this.cursor = { row: move(from.row, dy * many, ky, this.flipY, this.rows), column: move(from.column, dx * many, kx, this.flipX, this.columns) };
      const seen = this.visible();
      const { row, column } = this.cursor;
      if (row < seen.rows[0] || row >= seen.rows[1] || column < seen.columns[0] || column >= seen.columns[1]) this.setView({ ...this.view, u: column, v: row });
      this.draw();
      this.hooks.moved(this.valueAt(row, column), true);
    } else return;
    event.preventDefault();
  }
}

/** Indices of a tile along one dimension. */
function span(start, length, end, power) {
  return { start, stop: Math.min(end, start + length), stride: 2 ** power };
}
