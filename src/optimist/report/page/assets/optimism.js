// The section on optimism: boards of one or two runs, a slider over their episodes, and a cell's numbers.

const STEP_MILLISECONDS = 550;

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
  view = runs.length ? new View({ ...picture, runs }, view?.agents) : null;
  const nothing = element("p", { class: "quiet" }, "There is no picture of this world.");
  byId("optimism-of-world").replaceChildren(element("h3", {}, name), ...(view ? view.elements : [nothing]));
}

/** Boards of one run, or of two side by side, which share the slider, the scales and the chosen cell. */
class View {
  /** The picture of a world, at first of the given agents if they have runs there. */
  constructor(picture, agents) {
    this.picture = picture;
    this.chosen = firstCell(picture);
    this.makeSteering();
    const find = (agent) => picture.runs.findIndex((run) => run.agent === agent);
    const optimistic = picture.runs.findIndex((run) => run.bonus || run.ascension);
    this.run.value = agents && find(agents[0]) >= 0 ? find(agents[0]) : Math.max(0, optimistic);
    this.beside.value = agents?.[1] && find(agents[1]) >= 0 ? find(agents[1]) : "";
    const label = "Boards; the arrow keys move from cell to cell";
    this.panels = element("div", { class: "panels", tabindex: 0, role: "application", "aria-label": label });
    this.readout = element("div", { class: "readout", "aria-live": "polite" });
    const meanings = Object.entries(SYMBOLS)
      .filter(([symbol]) => picture.board.some((line) => line.includes(symbol)))
      .map(([, [mark, meaning]]) => `${mark} ${meaning}`);
    this.elements = [this.steering, this.panels, element("p", { class: "notes" }, meanings.join(" · "))];
    this.listen();
    this.index = picture.runs[this.run.value].opening;
    this.showRuns();
  }

  get agents() {
    return this.runs.map((run) => run.agent);
  }

  makeSteering() {
    const { runs } = this.picture;
    const several = new Set(runs.map((run) => run.agent)).size < runs.length;
    const choices = () => runs.map(({ agent, seed }, i) =>
      element("option", { value: i }, several ? `${agent}, seed ${seed}` : agent));
    this.run = element("select", { id: "run", autocomplete: "off" }, ...choices());
    const nobody = element("option", { value: "" }, "nobody");
    this.beside = element("select", { id: "beside", autocomplete: "off" }, nobody, ...choices());
    const range = { type: "range", min: 0, step: 1, autocomplete: "off" };
    this.slider = element("input", { ...range, id: "episode", "aria-label": "Episodes played" });
    this.status = element("output", { for: "episode", id: "episode-said" });
    this.play = element("button", { type: "button", class: "play", id: "play" }, "Play");
    this.steering = element("div", { class: "steering" },
      element("label", {}, "Agent ", this.run),
      ...(runs.length > 1 ? [element("label", {}, "beside ", this.beside)] : []),
      element("div", { class: "slider" }, this.play, this.slider, this.status));
  }

  listen() {
    for (const select of [this.run, this.beside]) select.addEventListener("change", () => this.showRuns());
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

  /** Show the boards of the selected runs, with scales for all their episodes. */
  showRuns() {
    this.pause();
    const chosen = [this.run.value, this.beside.value].filter((i) => i !== "");
    this.runs = chosen.map((i) => this.picture.runs[i]);
    this.kind = kindOf(this.picture, this.runs);
    this.last = Math.max(...this.runs.map((run) => run.episodes.length)) - 1;
    this.slider.max = this.last;
    this.slider.value = Math.min(this.index, this.last);
    const two = this.runs.length > 1;
    this.panels.classList.toggle("two", two);
    this.readout.classList.toggle("across", two || this.kind === "imitator");
    this.readout.style.setProperty("--runs", this.runs.length);
    this.drawn = [];
    this.panels.replaceChildren(...ORDER[this.kind].map((key) => (key === "readout" ? this.readout : this.makePanel(key))));
    this.showEpisode();
  }

  /** The moment of a run that is shown; a shorter run stays at its end. */
  moment(run) {
    return Math.min(this.index, run.episodes.length - 1);
  }

  makePanel(key) {
    const { title, absent, ...about } = PANELS[key];
    const colours = scaleOf(key, this.kind, this.runs, this.picture.optimum);
    const log = colours && (colours.log || colours.least) ? "; log colours" : "";
    const said = element("span", { class: "quiet" }, (about[this.kind] ?? about.about) + log);
    const boards = element("div", { class: "boards" });
    const still = key === "optimal" || key === "expert"; // the same for all agents
    for (const run of still ? this.runs.slice(0, 1) : this.runs) {
      const side = element("div", {});
      if (this.runs.length > 1 && !still) side.append(element("span", { class: "who" }, run.agent));
      if (still || run[key]) {
        const board = new Board(this.picture, key);
        side.append(board.svg);
        this.drawn.push({ key, colours, board, run });
      } else {
        side.append(element("p", { class: "absent" }, absent));
      }
      boards.append(side);
    }
    const caption = element("figcaption", {}, element("b", {}, title), " ", said);
    const figure = element("figure", { class: "panel", "data-panel": key }, caption, boards);
    if (colours) {
      const bar = colourBar(colours);
      const width = this.drawn.at(-1).board.svg.style.maxWidth;
      bar.style.maxWidth = `max(${this.runs.length > 1 ? `calc(2 * ${width})` : width}, 13rem)`;
      figure.append(bar);
    }
    return figure;
  }

  showEpisode() {
    this.index = Number(this.slider.value);
    const [run] = this.runs.filter(({ episodes }) => episodes.length > this.last);
    const played = run.episodes[this.index];
    const many = `after ${number(played)} episode${played === 1 ? "" : "s"}`;
    this.status.textContent = played === 0 ? "before the first episode" : many;
    this.slider.setAttribute("aria-valuetext", this.status.textContent);
    const best = this.picture.optimum;
    for (const { key, colours, board, run } of this.drawn) {
      const moment = this.moment(run), policy = run.policy?.[moment];
      const still = { optimal: best?.value, expert: best?.occupancy }[key];
      const arrows = key === "value" || (key === "occupancy" && this.kind === "imitator") ? policy : null;
      board.show(still ?? run[key][moment], colours, still ? best.policy : arrows);
    }
    this.choose(this.chosen);
  }

  /** Frame a cell on all boards and show its numbers. */
  choose(x) {
    this.chosen = x;
    for (const { board } of this.drawn) board.choose(x);
    const columns = this.runs.map((run) => this.numbersOf(run, x));
    const names = this.runs.length > 1 ? [element("div", { class: "whose" }, element("dt", {}),
      ...this.runs.map((run) => element("dd", {}, run.agent)))] : [];
    const lines = columns[0].map(([name], i) => element("div", {}, element("dt", {}, name),
      ...columns.map((column) => element("dd", { "data-number": name }, column[i][1]))));
    this.readout.replaceChildren(
      ...placeOf(this.picture, x), element("dl", {}, ...names, ...lines),
      element("p", { class: "hint" }, "Point at a cell of any board, or move with the arrow keys."),
    );
  }

  /** The numbers of a cell in a run at the selected episode, with their names. */
  numbersOf(run, x) {
    const moment = this.moment(run), { optimum, moves } = this.picture;
    const now = (key) => number(run[key] ? run[key][moment][x] : null);
    const lines = [["value", now("value")], ["bonus", now("bonus")], ["heaven", now("ascension")]];
    if (this.kind === "map") {
      return [...lines, ["visits", now("visits")], ["plays", `action ${run.action[moment][x]}`]];
    }
    const imitates = this.kind === "imitator", best = imitates ? "expert" : "optimal";
    if (!imitates) lines[0][1] += ` (optimal ${number(optimum.value[x])})`;
    lines.push(["occupancy", `${now("occupancy")} (${best} ${number(optimum.occupancy[x])})`]);
    if (imitates) lines.push(["difference", now("difference")]);
    return [...lines, ["plays", plays(run.policy[moment][x], moves)], [`${best} play`, plays(optimum.policy[x], moves)]];
  }

  start() {
    if (Number(this.slider.value) >= this.last) this.slider.value = 0;
    this.showEpisode();
    this.play.textContent = "Pause";
    this.timer = setInterval(() => {
      this.slider.value = this.index + 1;
      this.showEpisode();
      if (this.index >= this.last) this.pause();
    }, STEP_MILLISECONDS);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }
}
