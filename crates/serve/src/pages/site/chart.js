// Lines and histograms as SVG.
import { announce, h, s } from "./dom.js";
import { number, ticks } from "./format.js";

const MARGIN = { left: 62, right: 12, top: 10, bottom: 30 };

/** Values along an axis. `line`: axis, values, first index and stride, title, units. */
export function lineChart(width, height, line) {
  const { axis, values, start = 0, stride = 1, units } = line;
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return h("p", { class: "dim" }, "All values are missing.");
  let [low, high] = [Infinity, -Infinity];
  for (const value of finite) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low === high) {
    const around = (Math.abs(low) || 1) * 0.05;
    [low, high] = [Math.max(low - around, -Number.MAX_VALUE), Math.min(high + around, Number.MAX_VALUE)];
  }
  const [w, tall] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
  const x = (at) => MARGIN.left + (values.length > 1 ? (at / (values.length - 1)) * w : w / 2);
  const y = (value) => MARGIN.top + (1 - fraction(value, low, high)) * tall;
  const across = axis.marks(start, start + (values.length - 1) * stride, w / 90)
    .map(([index, text]) => [x((index - start) / stride), text]);
  let free = -Infinity;
  const kept = across.filter(([place, text]) => {
    const half = text.length * 3.4;
    if (place - half < free + 6) return false;
    free = place + half;
    return true;
  });
  const mark = s("circle", { r: 3.5, class: "mark", visibility: "hidden" });
  const told = h("p", { class: "reading mono" }, "\u00a0");
  const picture = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", tabindex: "0", role: "img",
    "aria-label": `${line.title}: ${values.length} values from ${number(low)} to ${number(high)} ${units ?? ""}. Arrow keys read single values.` },
    ticks(low, high, tall / 40).map((value) => [
      s("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value), class: "grid" }),
      s("text", { x: MARGIN.left - 6, y: y(value) + 3.5, "text-anchor": "end" }, number(value))]),
    kept.map(([place, text]) => s("text", { x: Math.min(Math.max(place, text.length * 3), width - text.length * 3.2), y: height - 12, "text-anchor": "middle" }, text)),
    s("path", { d: outline(values, x, y, w), class: "curve" }),
    finite.length < 60 && Array.from(values, (value, at) => Number.isFinite(value) && s("circle", { cx: x(at), cy: y(value), r: 2, class: "dot" })),
    mark);
  let place = -1;
  const read = (at, isKey) => {
    place = Math.min(values.length - 1, Math.max(0, at));
    const value = values[place];
    const text = `${axis.labelAt(start + place * stride)}: ${number(value)} ${Number.isFinite(value) ? units ?? "" : ""}`;
    told.textContent = text;
    if (isKey) announce(text);
    if (Number.isFinite(value)) {
      mark.setAttribute("cx", x(place));
      mark.setAttribute("cy", y(value));
    }
    mark.setAttribute("visibility", Number.isFinite(value) ? "visible" : "hidden");
  };
  picture.addEventListener("pointermove", (event) => {
    const at = (event.clientX - picture.getBoundingClientRect().left - MARGIN.left) / w;
    read(Math.round(at * (values.length - 1)));
  });
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    read(place + step, true);
    event.preventDefault();
  });
  return h("figure", {}, h("figcaption", {}, line.title), picture, told);
}

/** The path of a line with gaps where values are missing; where there are more values than pixels, their extent. */
function outline(values, x, y, width) {
  const every = Math.max(1, Math.floor(values.length / (width * 2)));
  const parts = [];
  let isDown = false;
  const point = (at) => {
    const value = values[at];
    if (!Number.isFinite(value)) {
      isDown = false;
      return;
    }
    parts.push(`${isDown ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`);
    isDown = true;
  };
  for (let at = 0; at < values.length; at += every) {
    if (every === 1) {
      point(at);
      continue;
    }
    let [least, most] = [at, at];
    for (let next = at; next < Math.min(values.length, at + every); next += 1) {
      if (values[next] < values[least] || !Number.isFinite(values[least])) least = next;
      if (values[next] > values[most] || !Number.isFinite(values[most])) most = next;
    }
    [least, most].sort((a, b) => a - b).forEach(point);
  }
  return parts.join("");
}

/** Where a value is between two others, from 0 to 1. Differences of large numbers are infinite. */
function fraction(value, low, high) {
  const by = Number.isFinite(high - low) ? 1 : 2;
  return (value / by - low / by) / (high / by - low / by);
}

/** How often values are in each of `BINS` parts of a range. */
const BINS = 56;
export function histogram(arrays, low, high) {
  const counts = new Array(BINS).fill(0);
  let [below, above, missing, total] = [0, 0, 0, 0];
  for (const array of arrays) {
    for (const value of array) {
      total += 1;
      if (Number.isNaN(value)) missing += 1;
      else if (value < low) below += 1;
      else if (value > high) above += 1;
      else counts[Math.min(BINS - 1, Math.floor(fraction(value, low, high) * BINS))] += 1;
    }
  }
  const most = Math.max(1, ...counts);
  const part = (amount) => (total ? `${((100 * amount) / total).toFixed(1)} %` : "");
  const bars = counts.map((amount, at) => {
    const height = amount ? Math.max(1, (amount / most) * 46) : 0;
    return s("rect", { x: at * 5, y: 46 - height, width: 4.4, height });
  });
  const text = `${part(below)} below, ${part(above)} above, ${part(missing)} missing`;
  return h("figure", { class: "histogram" },
    s("svg", { viewBox: `0 0 ${BINS * 5} 46`, preserveAspectRatio: "none", role: "img", "aria-label": `Histogram of the shown values: ${text}` }, bars),
    h("figcaption", { class: "dim" }, text));
}
