// The boards of the shown frame: values, optimism and visits, with the policy and a path.

const BOARDS = {
  value: { title: "Value", about: "what it hopes for from here on, with its policy", map: "viridis" },
  bonus: { title: "Bonus", about: "added to rewards where little is known", map: "ember" },
  ascension: { title: "Heaven", about: "chance of an imagined ascent to where all pays", map: "ember" },
  occupancy: { title: "Occupancy", about: "where its policy goes, exactly", map: "blues", log: true },
  visits: { title: "Visits", about: "how often it was there", map: "blues", log: true },
};

class Boards {
  constructor(place, choice) {
    this.place = place;
    this.choice = choice;
    this.only = "all";
    this.panels = new Map();
    this.readout = element("div", { class: "readout" });
    for (const kind of ["pointerover", "click"]) {
      place.addEventListener(kind, (event) => {
        const x = event.target.dataset?.state;
        if (x !== undefined) this.choose(Number(x));
      });
    }
    place.addEventListener("keydown", (event) => {
      const move = KEYS_TO_MOVES[event.key];
      if (!move || !this.picture) return;
      event.preventDefault();
      this.choose(neighbour(this.picture.cells, this.chosen, move));
    });
  }

  /** The world has become known, or is another. */
  start(picture) {
    this.picture = picture;
    this.panels.clear();
    this.place.replaceChildren();
    this.chosen = picture ? firstCell(picture) : 0;
    this.frame = null;
  }

  /** Show a frame; boards appear when a frame first has them. */
  show(frame, ranges) {
    this.frame = frame;
    const keys = [...Object.keys(BOARDS).filter((key) => ranges[key] && this.picture), ...(frame.picture ? ["picture"] : [])];
    if (keys.join() !== [...this.panels.keys()].join()) this.make(keys);
    byId("boards").hidden = !keys.length;
    for (const [key, panel] of this.panels) {
      if (this.only !== "all" && this.only !== key && keys.includes(this.only)) continue;
      if (key === "picture") {
        panel.image.src = `data:image/png;base64,${frame.picture}`;
        continue;
      }
      const values = frame.boards[key];
      if (!values) continue;
      this.colour(panel, key, ranges[key]);
      const arrows = key === arrowed(frame) && frame.policy ? rowsOf(frame.policy, values.length) : null;
      panel.board.show(values, panel.scale, arrows);
      trace(panel.trail, this.picture, frame);
    }
    byId("path-said").textContent = saidOfPath(frame);
    if (this.picture) this.choose(this.chosen);
  }

  make(keys) {
    this.panels.clear();
    for (const key of keys) this.panels.set(key, key === "picture" ? pictured() : this.panel(key));
    this.place.replaceChildren(...[...this.panels.values()].map((panel) => panel.figure), ...(this.picture ? [this.readout] : []));
    const names = ["all", ...keys];
    if (!names.includes(this.only)) this.only = "all";
    const choices = names.map((key) => {
      const input = element("input", { type: "radio", name: "board", value: key });
      input.checked = key === this.only;
      input.addEventListener("change", () => this.choice(key));
      const name = key === "all" ? "all" : key === "picture" ? "picture" : BOARDS[key].title.toLowerCase();
      return element("label", {}, input, element("span", {}, name));
    });
    byId("switch-board").replaceChildren(element("legend", {}, "Boards"), ...choices);
    byId("switch-board").hidden = keys.length < 2;
    this.arrange();
  }

  panel(key) {
    const { title, about, log } = BOARDS[key];
    const board = new Board(this.picture, key);
    const trail = ["trail", "trail inner"].map((name) => svg("polyline", { class: name }));
    trail.push(svg("circle", { class: "trail-end", r: this.picture.axes ? 0.6 : 0.2 }));
    board.svg.append(...trail);
    const bar = element("div", {});
    const said = element("span", { class: "quiet" }, about + (log ? "; log colours" : ""));
    const caption = element("figcaption", {}, element("b", {}, title), " ", said);
    const figure = element("figure", { class: "panel", "data-panel": key }, caption, board.svg, bar);
    return { figure, board, trail, bar, scale: null, range: "" };
  }

  /** The colours of a board, which are those of all its frames so far. */
  colour(panel, key, { least, positive, most }) {
    const range = [least, positive, most].join();
    if (range === panel.range) return;
    panel.range = range;
    const { map, log } = BOARDS[key];
    const numbers = log ? [Math.min(positive, most), most] : [least, most];
    panel.scale = scale(map, [numbers], Boolean(log), key === "value" && this.picture.axes ? least : 0);
    const bar = colourBar(panel.scale);
    panel.bar.replaceWith(bar);
    panel.bar = bar;
  }

  /** Show all boards, or one of them larger. */
  arrange() {
    for (const [key, panel] of this.panels) {
      panel.figure.hidden = this.only !== "all" && this.only !== key;
      if (panel.board) panel.board.svg.style.maxWidth = this.only === "all" ? `${columnsOf(this.picture) * 44}px` : "none";
    }
    this.place.classList.toggle("one", this.only !== "all");
    this.readout.classList.toggle("band", this.only === "all");
  }

  choose(x) {
    this.chosen = x;
    for (const { board } of this.panels.values()) board?.choose(x);
    const frame = this.frame;
    if (!frame) return;
    const lines = Object.entries(BOARDS)
      .filter(([key]) => frame.boards[key])
      .map(([key, { title }]) => [title.toLowerCase(), number(frame.boards[key][x])]);
    if (frame.policy) lines.push(["plays", plays(rowsOf(frame.policy, this.picture.cells.length)[x], this.picture.moves)]);
    if (frame.action) lines.push(["plays", `action ${frame.action[x]}`]);
    const pairs = lines.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", { "data-number": name }, value)));
    this.readout.replaceChildren(
      ...placeOf(this.picture, x), element("dl", {}, ...pairs),
      element("p", { class: "hint" }, "Point at a cell of any board, or move with the arrow keys."),
    );
  }
}

/** The board with the arrows of the policy: of imitators, which see no rewards, not the value. */
function arrowed({ boards }) {
  return boards.value ? "value" : "occupancy";
}

function pictured() {
  const image = element("img", { alt: "What the environment shows at the end of the episode" });
  const caption = element("figcaption", {}, element("b", {}, "Environment"), " ", element("span", { class: "quiet" }, "when the latest episode ended"));
  return { figure: element("figure", { class: "panel rendered", "data-panel": "picture" }, caption, image), image };
}

/** The path of a frame, as a line through the centres of its cells. */
function trace([outer, inner, end], picture, frame) {
  const places = frame.points
    ? frame.points.map((point) => cellAt(picture, point))
    : (frame.path ?? []).map((x) => picture.cells[x].map((c) => c + 0.5).reverse());
  const points = places.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
  for (const line of [outer, inner]) line.setAttribute("points", points);
  end.setAttribute("visibility", places.length ? "visible" : "hidden");
  if (!places.length) return;
  end.setAttribute("cx", places.at(-1)[0]);
  end.setAttribute("cy", places.at(-1)[1]);
}

/** Which episode the path is of. */
function saidOfPath({ episodes, points, path_of: next }) {
  if (points || next === episodes) return `The line is the path of episode ${number(episodes)}.`;
  return next ? `The line is the path of episode ${number(next)}, played with this policy.` : "";
}

/** Where an observation is on a map, in cells from its upper left corner. */
function cellAt({ axes: [[left, right], [bottom, top]], board }, [across, up]) {
  return [((across - left) / (right - left)) * board[0].length, ((top - up) / (top - bottom)) * board.length];
}

/** A table [X, A] of numbers that are one after the other. */
function rowsOf(flat, rows) {
  const n = flat.length / rows;
  return Array.from({ length: rows }, (_, x) => flat.slice(x * n, (x + 1) * n));
}

function columnsOf(picture) {
  return Math.max(...picture.board.map((line) => line.length));
}
