// The coordinates of one dimension: its values by index, and indices by value.
import { latitude, longitude, number, ticks } from "./format.js";

export class Axis {
  /** `about` describes the dimension; `read` has values of every `stride`-th index, or is null. */
  constructor(about, read) {
    this.about = about;
    this.length = about.length;
    this.values = read?.values ?? null;
    this.labels = read?.labels ? withoutMidnight(read.labels) : null;
    this.stride = read?.stride ?? 1;
    this.direction = this.values ? direction(this.values) : 1;
  }

  get title() {
    const { label, name, units } = this.about;
    if (!this.values) return `${name} (index)`;
    return this.labels || !units || this.isGeographic ? label ?? name : `${label ?? name} (${units})`;
  }

  get isGeographic() {
    return this.about.role === "longitude" || this.about.role === "latitude";
  }

  /** The coordinate at an index, which may be between two. */
  valueAt(index) {
    if (!this.values) return index;
    const place = index / this.stride;
    const low = Math.max(0, Math.min(this.values.length - 1, Math.floor(place)));
    const high = Math.min(this.values.length - 1, low + 1);
    const [a, b] = [this.values[low], this.values[high]];
    return a === null || b === null ? a : a + (b - a) * Math.min(1, Math.max(0, place - low));
  }

  /** The index, possibly between two, of a coordinate; null outside of the cells, which reach half a step beyond it. */
  indexOf(value) {
    if (!this.values || !this.direction) return null;
    let [low, high] = [0, this.values.length - 1];
    const [sign, last] = [this.direction, high];
    if (high < 1) return null;
    const before = sign * (this.values[0] - value);
    const behind = sign * (value - this.values[last]);
    const first = before / Math.abs(this.values[1] - this.values[0]);
    const final = behind / Math.abs(this.values[last] - this.values[last - 1]);
    if (before > 0) return first <= 0.5 ? -first * this.stride : null;
    if (behind > 0) return final <= 0.5 ? (last + final) * this.stride : null;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (sign * this.values[middle] <= sign * value) low = middle;
      else high = middle;
    }
    return (low + (value - this.values[low]) / (this.values[high] - this.values[low] || 1)) * this.stride;
  }

  /** The coordinate at an index as text. */
  labelAt(index) {
    if (this.labels) return this.labels[Math.round(index / this.stride)] ?? "";
    if (!this.values) return `index ${index}`;
    return this.written(this.valueAt(index));
  }

  written(value) {
    if (value === null) return "missing";
    if (this.about.role === "longitude") return longitude(value);
    if (this.about.role === "latitude") return latitude(value);
    return this.values && this.about.units ? `${number(value)} ${this.about.units}` : number(value);
  }

  /** Marks between two indices: the place in indices, and a short text. */
  marks(from, to, wanted) {
    const [first, last] = [Math.max(0, from), Math.min(this.length - 1, to)];
    if (this.labels || !this.values || !this.direction) {
      const step = Math.max(1, ticks(0, Math.max(1, last - first), wanted)[1] ?? 1);
      const found = [];
      for (let at = Math.ceil(first / step) * step; at <= last; at += Math.ceil(step)) {
        found.push([at, this.labels ? this.labels[Math.round(at / this.stride)] ?? "" : String(at)]);
      }
      return found;
    }
    const ends = [this.valueAt(first), this.valueAt(last)].sort((a, b) => a - b);
    const round = this.isGeographic ? degrees(ends[0], ends[1], wanted) : ticks(ends[0], ends[1], wanted);
    return round.map((value) => [this.indexOf(value), this.isGeographic ? this.written(value) : number(value)])
      .filter(([index]) => index !== null);
  }
}

/** 1 if values ascend, -1 if they descend, 0 if neither. */
function direction(values) {
  const sign = Math.sign(values[values.length - 1] - values[0]);
  for (let at = 1; at < values.length; at += 1) {
    if (!(sign * (values[at] - values[at - 1]) > 0)) return values.length === 1 ? 1 : 0;
  }
  return sign || 1;
}

/** Degrees that maps are marked with. */
function degrees(low, high, wanted) {
  const step = [1, 2, 5, 10, 15, 30, 45, 60, 90].find((size) => (high - low) / size <= wanted);
  if (!step || high - low < 3) return ticks(low, high, wanted);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
  return found;
}

/** Dates without the time of day if it is midnight in all of them. */
function withoutMidnight(labels) {
  const midnight = /[ T]00:00(:00)?Z?$/;
  return labels.every((label) => midnight.test(label) || !label.includes(":")) ? labels.map((label) => label.replace(midnight, "")) : labels;
}
