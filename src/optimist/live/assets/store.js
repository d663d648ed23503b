// The frames that have come so far, and which of them is shown.

const MOST_FRAMES = 600; // with more, every second one is left out, but for the latest
const RECENT = 64;

/** Numbers in base64, four bytes each; those that are not known are null. */
function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return Array.from(new Float32Array(bytes.buffer), (x) => (Number.isNaN(x) ? null : x));
}

class Store {
  constructor() {
    this.frames = [];
    this.every = 1; // of the numbers of frames that are kept, besides the latest
    this.ranges = {}; // of each board: least, least above zero, largest
  }

  get last() {
    return this.frames.length - 1;
  }

  clear() {
    this.frames = [];
    this.every = 1;
    this.ranges = {};
  }

  /** Add a frame that has come; how many were left out before the place of another. */
  add(id, text) {
    const frame = JSON.parse(text);
    frame.id = id;
    for (const [name, board] of Object.entries(frame.boards)) {
      frame.boards[name] = unpacked(board);
      this.widen(name, frame.boards[name]);
    }
    for (const name of ["policy", "action"]) if (frame[name]) frame[name] = unpacked(frame[name]);
    this.frames.push(frame);
    if (this.frames.length <= MOST_FRAMES) return;
    this.thin();
    while (this.frames.length > MOST_FRAMES / 2) {
      this.every *= 2;
      this.thin();
    }
  }

  thin() {
    const recent = this.frames.length - RECENT;
    this.frames = this.frames.filter((f, i) => i >= recent || (f.id - 1) % this.every === 0);
  }

  widen(name, values) {
    const range = (this.ranges[name] ??= { least: Infinity, positive: Infinity, most: -Infinity });
    for (const x of values) {
      if (x === null) continue;
      if (x < range.least) range.least = x;
      if (x > 0 && x < range.positive) range.positive = x;
      if (x > range.most) range.most = x;
    }
  }

  /** The frames from the first that have a number, as points. */
  points(name) {
    return this.frames.filter((f) => f.numbers[name] != null).map((f) => [f.episodes, f.numbers[name]]);
  }

  /** The index of the last frame of at most so many episodes. */
  indexOf(episodes) {
    return this.frames.findLastIndex((f) => f.episodes <= episodes);
  }
}
