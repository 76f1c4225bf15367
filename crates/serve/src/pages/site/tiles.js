// The tiles of a plane: which are held, which are being read, and their pictures.

/** Tiles that are held, of at most 65,536 values each. */
const HELD = 192;
/** Reads at the same time. */
const READS = 4;

export class TileStore {
  constructor(arrived, failed) {
    this.arrived = arrived;
    this.failed = failed;
    this.tiles = new Map();
    this.wanted = [];
    this.slice = null;
    this.drawn = null;
    this.version = 0;
  }

  close() {
    this.tiles.forEach((tile) => tile.controller?.abort());
    this.tiles.clear();
    this.wanted = [];
    this.slice = null;
  }

  /** The slice that is wanted from now on. The previous one is shown until it is complete. */
  setSlice(key, read) {
    this.slice = key;
    this.read = read;
    this.drawn ??= key;
  }

  forgetPictures() {
    this.version += 1;
  }

  /** Reads these places of the slice; reads of others end. */
  want(places) {
    this.wanted = places.map((place) => ({ place, key: `${this.slice}|${place.ky},${place.kx}|${place.ty},${place.tx}` }));
    const keys = new Set(this.wanted.map((wanted) => wanted.key));
    for (const [key, tile] of this.tiles) {
      if (!tile.data && !tile.error && !keys.has(key)) {
        tile.controller.abort();
        this.tiles.delete(key);
      }
    }
    this.next();
  }

  next() {
    let reading = [...this.tiles.values()].filter((tile) => !tile.data && !tile.error).length;
    for (const { key, place } of this.wanted) {
      const held = this.tiles.get(key);
      if (held) {
        // The last used ones are the last of the map.
        this.tiles.delete(key);
        this.tiles.set(key, held);
      } else if (reading < READS) {
        reading += 1;
        this.start(key, place);
      }
    }
    this.settle();
    for (const [key, tile] of this.tiles) {
      if (this.tiles.size <= HELD) break;
      if (tile.data && !this.wanted.some((wanted) => wanted.key === key)) this.tiles.delete(key);
    }
  }

  async start(key, place) {
    const tile = { slice: this.slice, place, controller: new AbortController(), data: null };
    this.tiles.set(key, tile);
    try {
      const { shape, data } = await this.read(place.rows, place.columns, tile.controller.signal);
      if (this.tiles.get(key) !== tile) return;
      Object.assign(tile, { data, height: shape[0], width: shape[1] });
    } catch (error) {
      if (this.tiles.get(key) !== tile) return;
      tile.error = error;
      this.failed(error, () => this.again());
    }
    this.next();
    this.arrived();
  }

  /** Reads again what failed. */
  again() {
    for (const [key, tile] of this.tiles) if (tile.error) this.tiles.delete(key);
    this.next();
  }

  get isComplete() {
    return this.wanted.length > 0 && this.wanted.every(({ key }) => this.tiles.get(key)?.data);
  }

  get progress() {
    return [this.wanted.filter(({ key }) => this.tiles.get(key)?.data).length, this.wanted.length];
  }

  /** Shows the new slice once it is complete. */
  settle() {
    const isShown = [...this.tiles.values()].some((tile) => tile.slice === this.drawn && tile.data);
    if (this.isComplete || !isShown) this.drawn = this.slice;
  }

  /** The tiles to draw, coarse ones first. */
  shown() {
    const found = [...this.tiles.values()].filter((tile) => tile.data && tile.slice === this.drawn);
    return found.sort((a, b) => b.place.ky + b.place.kx - a.place.ky - a.place.kx);
  }

  /** The values of the tiles that are wanted and there. */
  values() {
    return this.wanted.map(({ key }) => this.tiles.get(key)?.data).filter(Boolean);
  }

  /** The value that is shown at a cell, of the finest tile. */
  valueAt(row, column) {
    const holds = ({ rows, columns }) => row >= rows.start && row < rows.stop && column >= columns.start && column < columns.stop;
    const tile = this.shown().filter((shown) => holds(shown.place)).pop();
    if (!tile) return { row, column, value: undefined };
    const { rows, columns } = tile.place;
    const [y, x] = [Math.floor((row - rows.start) / rows.stride), Math.floor((column - columns.start) / columns.stride)];
    return { row: rows.start + y * rows.stride, column: columns.start + x * columns.stride, value: tile.data[y * tile.width + x], stride: [rows.stride, columns.stride] };
  }

  /** The picture of a tile in the present colours. */
  picture(tile, colourOf, flipX, flipY) {
    if (tile.version === this.version && tile.canvas) return tile.canvas;
    const { width, height, data } = tile;
    tile.canvas ??= new OffscreenCanvas(width, height);
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let row = 0; row < height; row += 1) {
      const from = row * width;
      const to = (flipY ? height - 1 - row : row) * width;
      for (let column = 0; column < width; column += 1) {
        pixels[to + (flipX ? width - 1 - column : column)] = colourOf(data[from + column]);
      }
    }
    tile.canvas.getContext("2d").putImageData(image, 0, 0);
    tile.version = this.version;
    return tile.canvas;
  }
}
