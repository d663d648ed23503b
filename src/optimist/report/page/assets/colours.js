// Colour maps as evenly spaced stops, dark or light enough in order to be read in grey too.

const MAPS = {
  // viridis, for values
  viridis:
    "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c 1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725",
  // magma reversed, without its black end: optimism, which fades into paper
  ember:
    "fcfdbf fddea0 febf84 fe9f6d fa7f5e f1605d de4968 c43c75 a8327d 8c2981 721f81 57157e 3b0f70",
  // Blues, for time spent
  blues: "f7fbff deebf7 c6dbef 9dcae1 6aaed6 4191c6 2070b4 08509b 08306b",
};

const stopsOf = Object.fromEntries(
  Object.entries(MAPS).map(([name, text]) => [
    name, text.split(" ").map((hex) => [0, 2, 4].map((from) => parseInt(hex.slice(from, from + 2), 16))),
  ]),
);

/** A scale from numbers to colours that stays the same along the slider. */
function scale(map, rows, log = false) {
  const numbers = rows.flat().filter((x) => x !== null);
  let low = 0, high = 0;
  for (const x of numbers) {
    low = Math.min(low, x);
    high = Math.max(high, x);
  }
  if (log) {
    low = high;
    for (const x of numbers) if (x > 0) low = Math.min(low, x);
    low = Math.max(low, high * LEAST_SHARE);
  }
  const place = (x) => {
    if (x <= low || !(high > low)) return 0;
    return log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
  };
  return { map, low, high, log, place };
}

/** How far below its largest number a log scale goes on; what is less has the last colour. */
const LEAST_SHARE = 1e-5;

/** Red, green and blue of a number. */
function colourAt(scale, x) {
  const stops = stopsOf[scale.map];
  const at = scale.place(x) * (stops.length - 1);
  const before = Math.min(Math.floor(at), stops.length - 2);
  return stops[before].map((c, k) => Math.round(c + (at - before) * (stops[before + 1][k] - c)));
}

function isDark([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue < 140;
}

/** A bar of the colours with a few numbers under it. */
function colourBar(scale) {
  const stops = stopsOf[scale.map].map((c) => `rgb(${c})`);
  const bar = element("div", { class: "ramp" });
  bar.style.background = `linear-gradient(to right, ${stops})`;
  const labels = element("div", { class: "labels" });
  for (const [x, text] of marks(scale)) {
    const label = element("span", {}, text);
    label.style.left = `${100 * scale.place(x)}%`;
    labels.append(label);
  }
  return element("div", { class: "bar" }, bar, labels);
}

function marks({ low, high, log }) {
  if (!(high > low)) return [[low, `${number(low, 3)} everywhere`]];
  if (!log) return [low, (low + high) / 2, high].map((x) => [x, number(x, 3)]);
  const middle = Math.sqrt(low * high);
  return [[low, `≤ ${number(low, 2)}`], [middle, number(middle, 2)], [high, number(high, 2)]];
}
