// Coastlines in the indices of a map. The server sends points of longitude and latitude, with NaN between lines.
import { bytes } from "./api.js";

const held = new Map();

async function points(detail) {
  if (!held.has(detail)) held.set(detail, bytes("coastlines", { detail }).then((found) => new Float32Array(found)));
  try {
    return await held.get(detail);
  } catch (error) {
    held.delete(detail);
    throw error;
  }
}

/** A path whose coordinates are indices of columns and rows. */
export async function coastlines(xAxis, yAxis) {
  const span = Math.abs(xAxis.valueAt(xAxis.length - 1) - xAxis.valueAt(0));
  const found = await points(span > 60 ? "coarse" : "fine");
  const path = new Path2D();
  const edge = span / Math.max(1, xAxis.length - 1);
  const west = Math.min(xAxis.valueAt(0), xAxis.valueAt(xAxis.length - 1)) - edge;
  const east = Math.max(xAxis.valueAt(0), xAxis.valueAt(xAxis.length - 1)) + edge;
  // Longitudes of the data may be of 0 to 360 or of -180 to 180: each line is drawn wherever it is in them.
  for (let turn = Math.floor((west - 180) / 360) * 360; turn <= east + 180; turn += 360) {
    let isDown = false;
    for (let at = 0; at + 1 < found.length; at += 2) {
      const [longitude, latitude] = [found[at] + turn, found[at + 1]];
      const column = Number.isNaN(longitude) || longitude < west || longitude > east ? null : xAxis.indexOf(longitude);
      const row = column === null ? null : yAxis.indexOf(latitude);
      if (row === null) {
        isDown = false;
        continue;
      }
      if (isDown) path.lineTo(column + 0.5, row + 0.5);
      else path.moveTo(column + 0.5, row + 0.5);
      isDown = true;
    }
  }
  return path;
}
