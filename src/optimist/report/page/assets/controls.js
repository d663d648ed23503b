// Controls: the world, visible agents and scales; sorting and copying.

/** A sample of an agent's line, as in the tables. */
function swatch(agent) {
  const line = svg("line", { x1: 1, x2: 31, y1: 4, y2: 4, stroke: agent.colour, "stroke-width": 2.5 });
  if (agent.dash !== "solid") line.setAttribute("stroke-dasharray", agent.dash.replaceAll("px", ""));
  return svg("svg", { class: "swatch", viewBox: "0 0 32 8", "aria-hidden": "true" }, line);
}

function startControls() {
  for (const input of document.querySelectorAll("[data-state]")) {
    const read = () => (input.dataset.state === "world" ? Number(input.value) : input.value);
    // After a reload the browser may restore earlier choices.
    if (input.checked || input.matches("select")) state[input.dataset.state] = read();
    input.addEventListener("change", () => change(input.dataset.state, read()));
  }
  for (const link of document.querySelectorAll("[data-choose]")) {
    link.addEventListener("click", () => chooseWorld(Number(link.dataset.choose)));
  }
  for (const button of document.querySelectorAll(".results thead button")) {
    button.addEventListener("click", () => sortBy(button.closest("th")));
  }
  byId("copy").addEventListener("click", copySpecification);
  startLegend();
  watchers.push((name) => {
    if (name === "world") showWorld();
    if (name === "hidden") showLegend();
    if (name === "theme") document.documentElement.dataset.theme = state.theme;
  });
}

/** Select a world from outside the picker, and update the picker. */
function chooseWorld(i) {
  const select = document.querySelector("select[data-state=world]");
  if (select) select.value = i;
  const radio = document.querySelector(`input[data-state=world][value="${i}"]`);
  if (radio) radio.checked = true;
  change("world", i);
}

function showWorld() {
  for (const article of document.querySelectorAll("article[data-world]")) {
    article.hidden = Number(article.dataset.world) !== state.world;
  }
  const { name, track } = data.worlds[state.world];
  for (const part of document.querySelectorAll("[data-track]")) part.hidden = part.dataset.track !== track;
  for (const heading of document.querySelectorAll("[data-world-name]")) heading.textContent = name;
}

function startLegend() {
  const legend = byId("legend");
  data.agents.forEach((agent, i) => {
    const button = element("button", { type: "button", "data-agent": i }, swatch(agent), agent.name);
    button.addEventListener("click", () => {
      const hidden = new Set(state.hidden);
      if (!hidden.delete(i)) hidden.add(i);
      change("hidden", hidden);
    });
    legend.append(button);
  });
  if (data.agents.length > 2) {
    for (const [text, hidden] of [["all", []], ["none", data.agents.keys()]]) {
      const button = element("button", { type: "button", class: "all" }, text);
      button.addEventListener("click", () => change("hidden", new Set(hidden)));
      legend.append(button);
    }
  }
  showLegend();
}

function showLegend() {
  for (const button of document.querySelectorAll("#legend [data-agent]")) {
    button.setAttribute("aria-pressed", !state.hidden.has(Number(button.dataset.agent)));
  }
}

/** Sort a table by a column, ascending and then descending; missing numbers come last. */
function sortBy(heading) {
  const table = heading.closest("table");
  const column = [...heading.parentNode.children].indexOf(heading);
  const up = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows].map((row) => {
    const value = row.cells[column].dataset.value;
    return { row, value: value === undefined ? null : Number(value) };
  });
  rows.sort((a, b) => {
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
    return up ? a.value - b.value : b.value - a.value;
  });
  table.tBodies[0].append(...rows.map((entry) => entry.row));
}

async function copySpecification() {
  const text = byId("specification-text");
  try {
    await navigator.clipboard.writeText(text.textContent);
    byId("copy").textContent = "Copied";
  } catch {
    // Some browsers deny the clipboard to pages opened from disk.
    getSelection().selectAllChildren(text);
    byId("copy").textContent = "Selected: press Ctrl-C";
  }
}
