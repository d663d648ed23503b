// The runs of a study: a row for each world and agent, and a button for each seed.

class Runs {
  constructor(place, choice) {
    this.place = place;
    this.choice = choice;
    this.buttons = new Map();
  }

  show(table, chosen) {
    byId("study").hidden = !table;
    if (!table) return;
    const shape = table.rows.map((row) => [row.world, row.agent, row.runs.map((run) => run.id)].join()).join();
    if (shape !== this.shape) this.make(table, shape);
    table.rows.forEach((row, i) => {
      this.cells[i].textContent = row.score ?? "";
      for (const run of row.runs) {
        const button = this.buttons.get(run.id);
        button.dataset.state = run.state;
        button.style.setProperty("--done", `${(100 * run.done).toFixed(1)}%`);
        button.disabled = !run.shown;
        button.setAttribute("aria-pressed", run.id === chosen);
        button.setAttribute("aria-label", `${row.agent} in ${row.world}, seed ${run.seed}: ${run.said}`);
        button.title = run.said;
      }
    });
  }

  make(table, shape) {
    this.shape = shape;
    this.buttons.clear();
    this.cells = [];
    const head = element("thead", {}, element("tr", {}, ...["world", "agent", "runs, by seeds", table.measured].map((name) => element("th", { scope: "col" }, name))));
    const rows = table.rows.map((row, i) => {
      const seeds = row.runs.map((run) => {
        const button = element("button", { type: "button", class: "seed" }, element("span", {}, run.seed));
        button.addEventListener("click", () => this.choice(run.id));
        this.buttons.set(run.id, button);
        return button;
      });
      const score = element("td", { "data-label": table.measured });
      this.cells.push(score);
      const repeated = i > 0 && table.rows[i - 1].world === row.world;
      return element("tr", {}, element("th", { scope: "row" }, repeated ? "" : row.world), element("th", {}, row.agent),
        element("td", { class: "seeds", "data-label": "runs" }, ...seeds), score);
    });
    this.place.replaceChildren(head, element("tbody", {}, ...rows));
  }
}
