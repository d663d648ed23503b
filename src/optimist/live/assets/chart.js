// Small line charts that are drawn anew with every frame.

const ROOM = { left: 46, right: 8, top: 8, bottom: 22, height: 170 };

class Chart {
  constructor({ title, about, lines }) {
    this.lines = lines;
    this.now = element("span", { class: "now" });
    this.svg = svg("svg", { height: ROOM.height, role: "img", "aria-label": title });
    const caption = element("figcaption", {}, element("b", {}, title), " ", element("span", { class: "quiet" }, about), this.now);
    this.figure = element("figure", { class: "panel" }, caption, this.svg);
  }

  /** Draw the lines, and mark where the shown frame is. */
  draw(store, shown, log, still) {
    const drawn = this.lines
      .map((line) => ({ ...line, points: line.level === undefined ? store.points(line.key) : [] }))
      .filter((line) => line.points.length);
    this.figure.hidden = !drawn.length;
    if (!drawn.length) return;
    const width = this.svg.clientWidth || 300;
    const xs = drawn.flatMap((line) => line.points.map((p) => p[0])).filter((x) => !log || x > 0);
    const levels = this.lines.filter((line) => line.level && still[line.level] != null);
    const ys = [...drawn.flatMap((line) => line.points.map((p) => p[1])), ...levels.map((line) => still[line.level])];
    const x = axis(Math.min(...xs), Math.max(...xs), [ROOM.left, width - ROOM.right], log);
    const y = axis(Math.min(0, ...ys), Math.max(...ys), [ROOM.height - ROOM.bottom, ROOM.top], false);
    const parts = [];
    for (const tick of y.ticks) {
      parts.push(svg("line", { class: "grid", x1: ROOM.left, x2: width - ROOM.right, y1: y(tick), y2: y(tick) }));
      parts.push(svg("text", { x: ROOM.left - 6, y: y(tick) + 3.5, "text-anchor": "end" }, short(tick)));
    }
    for (const tick of x.ticks) {
      const anchor = x(tick) > width - ROOM.right - 14 ? "end" : "middle";
      parts.push(svg("text", { x: x(tick), y: ROOM.height - 6, "text-anchor": anchor }, short(tick)));
    }
    const floor = ROOM.height - ROOM.bottom;
    parts.push(svg("path", { class: "axis-line", d: `M${ROOM.left} ${ROOM.top}V${floor}H${width - ROOM.right}` }));
    for (const { level, colour } of levels) {
      const at = y(still[level]);
      parts.push(svg("line", { class: "line", x1: ROOM.left, x2: width - ROOM.right, y1: at, y2: at, stroke: colour, "stroke-dasharray": "5 4" }));
    }
    const until = shown ? shown.episodes : Infinity;
    for (const { points, colour } of drawn) {
      const path = (some) => some.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
      const seen = points.filter(([a]) => a <= until && (!log || a > 0));
      parts.push(svg("path", { class: "line coming", stroke: colour, d: path(points.filter(([a]) => !log || a > 0)) }));
      parts.push(svg("path", { class: "line", stroke: colour, d: path(seen) }));
      if (seen.length) {
        const [a, b] = seen.at(-1);
        parts.push(svg("circle", { cx: x(a), cy: y(b), r: 3, fill: colour }));
      }
    }
    if (shown && (!log || shown.episodes > 0)) {
      parts.push(svg("line", { class: "cursor", x1: x(shown.episodes), x2: x(shown.episodes), y1: ROOM.top, y2: floor }));
    }
    this.svg.setAttribute("viewBox", `0 0 ${width} ${ROOM.height}`);
    this.svg.replaceChildren(...parts);
    this.tell(shown, still);
  }

  /** The numbers of the shown frame, which are the legend too. */
  tell(shown, still) {
    const told = [];
    for (const { key, level, name, colour } of this.lines) {
      const value = level ? still[level] : shown?.numbers[key];
      if (value == null) continue;
      const mark = element("span", { class: level ? "key dashed" : "key" });
      mark.style.borderColor = colour;
      told.push(element("span", { "data-now": key ?? level }, mark, `${name} ${number(value)}`));
    }
    this.now.replaceChildren(...told);
    this.svg.setAttribute("aria-label", told.map((t) => t.textContent).join(", "));
  }
}

/** A scale with its ticks. */
function axis(low, high, [from, to], log) {
  if (!(high > low)) [low, high] = log ? [low / 1.2, low * 1.2] : [low - 0.5, low + 0.5];
  const share = log
    ? (v) => Math.log(v / low) / Math.log(high / low)
    : (v) => (v - low) / (high - low);
  const place = (v) => from + (to - from) * share(v);
  place.ticks = log ? decades(low, high) : steps(low, high, Math.abs(to - from) > 250 ? 6 : 4);
  return place;
}

function steps(low, high, about) {
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9) + 1e-12; k++) ticks.push(k * step);
  return ticks;
}

function decades(low, high) {
  const few = Math.log10(high / low) > 2.2 ? [1] : Math.log10(high / low) > 1 ? [1, 3] : [1, 2, 3, 5];
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) {
    for (const m of few) if (m * 10 ** e >= low && m * 10 ** e <= high) ticks.push(m * 10 ** e);
  }
  return ticks;
}

/** A number for a tick. */
function short(x) {
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(x) >= unit) return `${Number((x / unit).toPrecision(3))}${letter}`.replace("-", "−");
  }
  return String(Number(x.toPrecision(3))).replace("-", "−");
}
