// The section on optimism: boards of one run, a slider over its episodes, and a cell's numbers.

const STEP_MILLISECONDS = 550;

const KEYS_TO_MOVES = { ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowDown: [1, 0], ArrowLeft: [0, -1] };

let view = null; // of the selected world

function startOptimism() {
  watchers.push((name) => {
    if (name === "world") showOptimism();
  });
  showOptimism();
}

function showOptimism() {
  view?.pause();
  const { name, picture } = data.worlds[state.world];
  const runs = picture?.runs.filter((run) => run.episodes.length) ?? [];
  const View = picture?.axes ? MapView : OptimismView;
  view = runs.length ? new View({ ...picture, runs }, view?.run.agent) : null;
  const nothing = element("p", { class: "quiet" }, "There is no picture of this world.");
  byId("optimism-of-world").replaceChildren(element("h3", {}, name), ...(view ? view.elements : [nothing]));
}

class OptimismView {
  /** The picture of a world, at first of the given agent if it has a run there. */
  constructor(picture, agent) {
    this.picture = picture;
    this.chosen = this.firstCell();
    this.makeSteering();
    this.runs.value = Math.max(0, picture.runs.findIndex((run) => run.agent === agent));
    const label = "Boards; the arrow keys move from cell to cell";
    this.panels = element("div", { class: "panels", tabindex: 0, role: "application", "aria-label": label });
    this.readout = element("div", { class: "readout", "aria-live": "polite" });
    const meanings = Object.entries(SYMBOLS)
      .filter(([symbol]) => picture.board.some((line) => line.includes(symbol)))
      .map(([, [mark, meaning]]) => `${mark} ${meaning}`);
    this.elements = [this.steering, this.panels, element("p", { class: "notes" }, meanings.join(" · "))];
    this.listen();
    this.showRun();
  }

  firstCell() {
    const { cells, board } = this.picture;
    return Math.max(0, cells.findIndex(([row, column]) => board[row][column] === "s"));
  }

  makeSteering() {
    const { runs } = this.picture;
    const several = new Set(runs.map((run) => run.agent)).size < runs.length;
    const names = runs.map((run) => (several ? `${run.agent}, seed ${run.seed}` : run.agent));
    this.runs = element("select", { id: "run" }, ...names.map((name, i) => element("option", { value: i }, name)));
    const range = { type: "range", min: 0, step: 1 };
    this.slider = element("input", { ...range, id: "episode", "aria-label": "Episodes played" });
    this.status = element("output", { for: "episode", id: "episode-said" });
    this.play = element("button", { type: "button", class: "play", id: "play" }, "Play");
    this.steering = element("div", { class: "steering" },
      element("label", {}, "Agent ", this.runs),
      element("div", { class: "slider" }, this.play, this.slider, this.status));
  }

  listen() {
    this.runs.addEventListener("change", () => this.showRun());
    this.slider.addEventListener("input", () => {
      this.pause();
      this.showEpisode();
    });
    this.play.addEventListener("click", () => (this.timer ? this.pause() : this.start()));
    for (const kind of ["pointerover", "click"]) {
      this.panels.addEventListener(kind, (event) => {
        const x = event.target.dataset?.state;
        if (x !== undefined) this.choose(Number(x));
      });
    }
    this.panels.addEventListener("keydown", (event) => {
      const move = KEYS_TO_MOVES[event.key];
      if (!move) return;
      event.preventDefault();
      this.choose(neighbour(this.picture.cells, this.chosen, move));
    });
  }

  /** Show the boards of the selected run, with scales for all its episodes. */
  showRun() {
    this.pause();
    this.run = this.picture.runs[this.runs.value];
    const last = this.run.episodes.length - 1;
    this.slider.max = last;
    this.slider.value = this.index === undefined ? Math.ceil(last / 2) : Math.min(this.index, last);
    this.imitates = this.run.difference !== null;
    const { order, scales } = this.arrangement();
    this.readout.classList.toggle("across", this.imitates);
    this.drawn = [];
    this.panels.replaceChildren(...order.map((key) => {
      return key === "readout" ? this.readout : this.makePanel(key, scales[key]);
    }));
    this.showEpisode();
  }

  /** The order of the boards, and their scales. */
  arrangement() {
    const { run, imitates, picture: { optimal } } = this;
    return imitates ? { order: IMITATOR, scales: scalesOfImitator(run, optimal) }
      : { order: EXPLORER, scales: scalesOfExplorer(run, optimal) };
  }

  about(panel) {
    return (this.imitates && panel.ofImitator) || panel.about;
  }

  makePanel(key, colours) {
    const panel = PANELS[key];
    const about = this.about(panel);
    const log = colours && (colours.log || colours.least) ? "; log colours" : "";
    const caption = [element("b", {}, panel.title), " ", element("span", { class: "quiet" }, about + log)];
    const figure = element("figure", { class: "panel", "data-panel": key }, element("figcaption", {}, ...caption));
    if (!colours) {
      figure.append(element("p", { class: "absent" }, panel.absent));
      return figure;
    }
    const board = new Board(this.picture, key);
    const bar = colourBar(colours);
    bar.style.maxWidth = `max(${board.svg.style.maxWidth}, 13rem)`;
    figure.append(board.svg, bar);
    this.drawn.push({ key, colours, board });
    return figure;
  }

  showEpisode() {
    this.index = Number(this.slider.value);
    const played = this.run.episodes[this.index];
    const many = `after ${number(played)} episode${played === 1 ? "" : "s"}`;
    this.status.textContent = played === 0 ? "before the first episode" : many;
    this.slider.setAttribute("aria-valuetext", this.status.textContent);
    const { still, policies } = this.beside();
    for (const { key, colours, board } of this.drawn) {
      board.show(still[key] ?? this.run[key][this.index], colours, policies[key]);
    }
    this.choose(this.chosen);
  }

  /** The boards that do not change along the slider, and the policies drawn as arrows. */
  beside() {
    const best = this.picture.optimal, policy = this.run.policy[this.index];
    const still = { optimal: best.value, expert: best.occupancy };
    const policies = { value: policy, optimal: best.policy, expert: best.policy };
    if (this.imitates) policies.occupancy = policy;
    return { still, policies };
  }

  /** Frame a cell on all boards and show its numbers. */
  choose(x) {
    this.chosen = x;
    for (const { board } of this.drawn) board.choose(x);
    this.readout.replaceChildren(
      ...this.place(x),
      element("dl", {}, ...this.numbersOf(x).map(([name, text]) =>
        element("div", {}, element("dt", {}, name), element("dd", { "data-number": name }, text)))),
      element("p", { class: "hint" }, "Point at a cell of any board, or move with the arrow keys."),
    );
  }

  /** A number of a cell at the selected episode. */
  now(key, x) {
    return number(this.run[key] ? this.run[key][this.index][x] : null);
  }

  place(x) {
    const [row, column] = this.picture.cells[x];
    return [element("b", {}, `State ${x}`), ` in row ${row + 1}, column ${column + 1}`];
  }

  numbersOf(x) {
    const { run, index, picture } = this;
    const now = (key) => this.now(key, x);
    const best = this.imitates ? "expert" : "optimal";
    const lines = [
      ["value", now("value") + (this.imitates ? "" : ` (optimal ${number(picture.optimal.value[x])})`)],
      ["bonus", now("bonus")],
      ["heaven", now("ascension")],
      ["occupancy", `${now("occupancy")} (${best} ${number(picture.optimal.occupancy[x])})`],
      ["plays", plays(run.policy[index][x], picture.moves)],
      [`${best} play`, plays(picture.optimal.policy[x], picture.moves)],
    ];
    if (this.imitates) lines.splice(4, 0, ["difference", now("difference")]);
    return lines;
  }

  start() {
    if (Number(this.slider.value) >= this.run.episodes.length - 1) this.slider.value = 0;
    this.showEpisode();
    this.play.textContent = "Pause";
    this.timer = setInterval(() => {
      this.slider.value = this.index + 1;
      this.showEpisode();
      if (this.index >= this.run.episodes.length - 1) this.pause();
    }, STEP_MILLISECONDS);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }
}

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
