// Numbers, sizes and coordinates as text.
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function size(bytes) {
  if (bytes === null || bytes === undefined) return "";
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit + 1 < UNITS.length) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export const count = (number) => Number(number).toLocaleString("en").replaceAll(",", "\u2009");

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A number with `digits` significant digits, without needless zeros. */
export function number(value, digits = 6) {
  if (value === null || value === undefined || Number.isNaN(value)) return "missing";
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e6 || magnitude < 1e-4) {
    return Number.isInteger(value) && magnitude < 1e9 ? String(value) : value.toExponential(Math.max(0, digits - 3)).replace(/\.?0+e/, "e");
  }
  return String(Number(value.toPrecision(digits)));
}

export function longitude(value) {
  const east = ((((value + 180) % 360) + 360) % 360) - 180;
  const shown = number(Math.abs(east), 6);
  if (east === 0) return "0°";
  return Math.abs(east) === 180 ? "180°" : `${shown}°${east > 0 ? "E" : "W"}`;
}

export function latitude(value) {
  return value === 0 ? "0°" : `${number(Math.abs(value), 6)}°${value > 0 ? "N" : "S"}`;
}

export function date(seconds) {
  return seconds === null || seconds === undefined ? "" : new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** Round numbers from `low` to `high`, about `wanted` of them. */
export function ticks(low, high, wanted) {
  const span = high - low;
  if (span === Infinity && Number.isFinite(low) && Number.isFinite(high)) return [low, 0, high];
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9 && found.length < 100; at += 1) {
    found.push(Number((at * step).toPrecision(12)));
  }
  return found;
}
