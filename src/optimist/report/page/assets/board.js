// A board: the cells of a world coloured by a number of each state, with arrows for a policy.

const SYMBOLS = { s: ["S", "start"], $: ["G", "goal"], x: ["×", "pit"] };

const SHORTEST = 0.03; // probabilities below this have no arrow

class Board {
  constructor(picture, name) {
    const rows = picture.board.length;
    const columns = Math.max(...picture.board.map((line) => line.length));
    this.picture = picture;
    const { left, below } = picture.axes ? AXES : { left: 0, below: 0 };
    // A unit is a cell; the margin is for frames.
    const viewBox = `${-left - 0.1} -0.1 ${columns + left + 0.2} ${rows + below + 0.2}`;
    this.svg = svg("svg", { class: picture.axes ? "board map" : "board", viewBox, "data-board": name });
    if (picture.axes) this.svg.append(...axisLabels(picture, columns, rows));
    this.svg.style.maxWidth = `${columns * 44}px`;
    this.rects = new Map();
    this.owner = stateOfEachCell(picture);
    picture.board.forEach((line, row) => {
      [...line].forEach((symbol, column) => this.addCell(symbol, row, column));
    });
    this.arrows = ["#ffffff", "#14161a"].map((stroke) => svg("path", { class: "arrows", stroke }));
    this.labels = picture.cells.flatMap(([row, column], x) => {
      const symbol = SYMBOLS[picture.board[row][column]];
      if (!symbol) return [];
      return [{ x, text: svg("text", { class: "mark", x: column + 0.2, y: row + 0.23 }, symbol[0]) }];
    });
    this.frames = ["chosen outer", "chosen"].map((name) => svg("rect", { class: name, width: 1, height: 1 }));
    this.svg.append(...this.arrows, ...this.labels.map((label) => label.text), ...this.frames);
  }

  addCell(symbol, row, column) {
    const x = this.owner.get(`${row},${column}`);
    if (x === undefined && symbol === " ") return;
    const kind = x !== undefined ? "cell" : symbol === "#" ? "wall" : "ground";
    const rect = svg("rect", { x: column, y: row, width: 1, height: 1, class: kind });
    if (x !== undefined) {
      rect.dataset.state = x;
      this.rects.set(x, [...(this.rects.get(x) ?? []), rect]);
    }
    this.svg.append(rect);
  }

  /** Colour the cells; a missing number leaves its cell empty. */
  show(values, scale, policy = null) {
    const dark = values.map((value, x) => {
      const colour = value === null ? null : colourAt(scale, value);
      for (const rect of this.rects.get(x) ?? []) {
        rect.classList.toggle("unknown", colour === null);
        rect.style.fill = colour ? `rgb(${colour.join(", ")})` : "";
      }
      return colour !== null && isDark(colour);
    });
    for (const label of this.labels) label.text.setAttribute("fill", dark[label.x] ? "#ffffff" : "#14161a");
    if (policy && this.picture.moves) this.drawArrows(policy, dark);
  }

  drawArrows(policy, dark) {
    const strokes = [[], []];
    this.picture.cells.forEach(([row, column], x) => {
      if (this.picture.board[row][column] === "=") return; // absorbing: the action does not matter
      policy[x].forEach((p, a) => {
        if (p >= SHORTEST) strokes[dark[x] ? 0 : 1].push(arrow(row, column, this.picture.moves[a], p));
      });
    });
    this.arrows.forEach((path, k) => path.setAttribute("d", strokes[k].join("")));
  }

  choose(x) {
    const [row, column] = this.picture.cells[x];
    for (const frame of this.frames) {
      frame.setAttribute("x", column);
      frame.setAttribute("y", row);
    }
  }
}

/** The state of each cell. Ground beside an absorbing state belongs to that state. */
function stateOfEachCell(picture) {
  const owner = new Map(picture.cells.map((cell, x) => [cell.join(","), x]));
  picture.board.forEach((line, row) => {
    for (let column = 1; column < line.length; column++) {
      const here = `${row},${column}`, left = owner.get(`${row},${column - 1}`);
      const goesOn = line[column] === "=" && line[column - 1] === "=" && left !== undefined;
      if (goesOn && !owner.has(here)) owner.set(here, left);
    }
  });
  return owner;
}

/** An arrow from the centre, as long as the action is likely; above 1/2 it also has a tail. */
function arrow(row, column, [down, right], p) {
  const size = Math.hypot(down, right) || 1; // staying is a dot
  const dy = down / size, dx = right / size;
  const at = (along, aside) => {
    const x = column + 0.5 + along * dx - aside * dy, y = row + 0.5 + along * dy + aside * dx;
    return `${x.toFixed(3)} ${y.toFixed(3)}`;
  };
  const tail = -0.3 * Math.max(0, 2 * p - 1), tip = 0.36 * p, head = 0.15 * p;
  return `M${at(tail, 0)}L${at(tip, 0)}M${at(tip - head, head)}L${at(tip, 0)}L${at(tip - head, -head)}`;
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

const KEYS_TO_MOVES = { ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowDown: [1, 0], ArrowLeft: [0, -1] };

/** The nearest cell in a direction, or the same if there is none. */
function neighbour(cells, x, [down, right]) {
  const [row, column] = cells[x];
  let nearest = x, least = Infinity;
  cells.forEach(([r, c], y) => {
    const along = (r - row) * down + (c - column) * right;
    const aside = Math.abs((r - row) * right) + Math.abs((c - column) * down);
    if (along > 0 && along + 2 * aside < least) [nearest, least] = [y, along + 2 * aside];
  });
  return nearest;
}

const WAYS = {
  "-1,0": "up", "0,1": "right", "1,0": "down", "0,-1": "left", "0,0": "stay",
  "1,-1": "down left", "1,1": "down right", "-1,-1": "up left", "-1,1": "up right",
};

/** The likely actions in words, most likely first. */
function plays(policy, moves) {
  return policy
    .map((p, a) => [p, moves ? WAYS[moves[a].join()] ?? `action ${a}` : `action ${a}`])
    .filter(([p]) => p >= 0.005)
    .sort((one, other) => other[0] - one[0])
    .slice(0, 4)
    .map(([p, way]) => `${way} ${p.toFixed(2)}`)
    .join(", ");
}

/** The cell that is chosen at first: a start, or the middle of a map. */
function firstCell({ cells, board, axes }) {
  if (axes) return Math.floor(board.length / 2) * board[0].length + Math.floor(board[0].length / 2);
  return Math.max(0, cells.findIndex(([row, column]) => board[row][column] === "s"));
}

/** What a cell stands for, and where it is. */
function placeOf(picture, x) {
  if (picture.axes) {
    const [across, up] = observationAt(picture, x);
    return [element("b", {}, `Observation (${number(across, 3)}, ${number(up, 3)})`)];
  }
  const [row, column] = picture.cells[x];
  return [element("b", {}, `State ${x}`), ` in row ${row + 1}, column ${column + 1}`];
}
