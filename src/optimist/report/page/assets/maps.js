// Maps of a Gymnasium environment: beliefs of an agent about the plane of observations.

class MapView extends OptimismView {
  firstCell() {
    const { board } = this.picture;
    return Math.floor(board.length / 2) * board[0].length + Math.floor(board[0].length / 2);
  }

  arrangement() {
    return { order: MAPPED, scales: scalesOfMaps(this.run) };
  }

  about(panel) {
    return panel.ofMap ?? panel.about;
  }

  beside() {
    return { still: {}, policies: {} };
  }

  place(x) {
    const [across, up] = observationAt(this.picture, x);
    return [element("b", {}, `Observation (${number(across, 3)}, ${number(up, 3)})`)];
  }

  numbersOf(x) {
    return [
      ["value", this.now("value", x)],
      ["bonus", this.now("bonus", x)],
      ["heaven", this.now("ascension", x)],
      ["visits", this.now("visits", x)],
      ["plays", `action ${this.run.action[this.index][x]}`],
    ];
  }
}

/** The centre of a cell: columns follow the first dimension, rows the second from the top. */
function observationAt({ axes: [[left, right], [bottom, top]], board, cells }, x) {
  const [row, column] = cells[x];
  const across = (column + 0.5) / board[0].length, down = (row + 0.5) / board.length;
  return [left + across * (right - left), top + down * (bottom - top)];
}

const AXES = { left: 2.6, below: 2.6 }; // room for labels, in cells

/** The ends of the axes of a map, beside it. */
function axisLabels({ axes: [[left, right], [bottom, top]] }, columns, rows) {
  const label = (text, x, y, anchor, turned) => {
    const place = turned ? { transform: `translate(${x} ${y}) rotate(-90)` } : { x, y };
    return svg("text", { class: "axis", "text-anchor": anchor, ...place }, text);
  };
  const y = rows + 1.9, x = -0.8;
  return [
    label(number(left, 3), 0, y, "start"), label("observation[0]", columns / 2, y, "middle"),
    label(number(right, 3), columns, y, "end"),
    label(number(bottom, 3), x, rows, "start", true), label("observation[1]", x, rows / 2, "middle", true),
    label(number(top, 3), x, 0, "end", true),
  ];
}
