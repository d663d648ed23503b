// Colour maps as evenly spaced stops; their lightness is monotone, so they can be read in grey.

const MAPS = {
  // viridis, for values
  viridis:
    "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c 1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725",
  // magma reversed, without its black end, for optimism, which fades into the background
  ember:
    "fcfdbf fddea0 febf84 fe9f6d fa7f5e f1605d de4968 c43c75 a8327d 8c2981 721f81 57157e 3b0f70",
  // coolwarm, for differences: zero is grey, unlike the background
  coolwarm:
    "3b4cc0 4e68d8 6282ea 779af7 8db0fe a3c2fe b9d0f9 ccd9ed dddcdc ecd3c5 f5c4ac f7b093 f4987a eb7d62 dd5f4b ca3b37 b40426",
  // Blues, for occupancies and visits
  blues: "f7fbff deebf7 c6dbef 9dcae1 6aaed6 4191c6 2070b4 08509b 08306b",
};

const stopsOf = Object.fromEntries(
  Object.entries(MAPS).map(([name, text]) => [
    name, text.split(" ").map((hex) => [0, 2, 4].map((from) => parseInt(hex.slice(from, from + 2), 16))),
  ]),
);

/** A scale from numbers to colours, fixed along the slider; it includes `least`. */
function scale(map, rows, log = false, least = 0) {
  const numbers = rows.flat().filter((x) => x !== null);
  let low = least, high = least;
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

/** A scale for differences: linear around zero in its middle, logarithmic on both sides. */
function signedScale(map, rows) {
  let high = 0;
  for (const x of rows.flat()) high = Math.max(high, Math.abs(x)); // null counts as 0
  const least = high * LEAST_DIFFERENCE;
  const place = (x) => {
    if (high === 0) return 0.5;
    const size = Math.abs(x) / least;
    const share = (size <= 1 ? size : 1 + Math.log10(size)) / (1 - Math.log10(LEAST_DIFFERENCE));
    return 0.5 + 0.5 * Math.sign(x) * Math.min(1, share); // rounding may exceed 1
  };
  return { map, low: -high, high, least, place };
}

/** The scale of differences is linear below this share of the largest. */
const LEAST_DIFFERENCE = 1e-2;

/** The least number of a log scale as a share of its largest; lower numbers have its colour. */
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

function marks({ low, high, log, least }) {
  if (!(high > low)) return [[low, `${number(Math.abs(low), 3)} everywhere`]];
  if (least) return [low, -least, 0, least, high].map((x) => [x, number(x, 2)]);
  if (!log) return [low, (low + high) / 2, high].map((x) => [x, number(x, 3)]);
  const middle = Math.sqrt(low * high);
  return [[low, `≤ ${number(low, 2)}`], [middle, number(middle, 2)], [high, number(high, 2)]];
}
