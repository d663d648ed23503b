// Charts: plotly is unpacked from the page and draws what the controls select.

let plotly = null;

/** Decompress and run plotly; compression makes the page two and a half times smaller. */
async function unpackPlotly() {
  const packed = atob(byId("plotly").textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const script = element("script", {}, await new Response(stream).text());
  document.head.append(script); // runs at once; the content policy lists its digest
  script.remove();
  plotly = window.Plotly;
  if (!plotly) throw new Error("the browser did not run plotly");
}

async function startCharts() {
  try {
    await unpackPlotly();
  } catch (error) {
    const why = `The charts could not be unpacked (${error.message}). They need a browser of 2023 or later; `
      + "the tables are complete without them.";
    for (const chart of document.querySelectorAll("#curves .chart")) {
      chart.replaceWith(element("p", { class: "failed" }, why));
    }
    byId("all-worlds").hidden = true;
    return;
  }
  startMultiples();
  watchers.push(drawCharts);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCharts);
  byId("all-worlds").addEventListener("toggle", drawCharts);
  startPrinting();
  await drawCharts();
}

function startMultiples() {
  data.worlds.forEach((world, i) => {
    const name = element("button", { type: "button", title: "Show this world" }, world.name);
    name.addEventListener("click", () => {
      chooseWorld(i);
      byId("curves").scrollIntoView();
    });
    const chart = element("div", { class: "chart", "data-multiple": i });
    byId("multiples").append(element("figure", {}, element("figcaption", {}, name), chart));
  });
}

/** Draw all visible charts; `window.optimist.drawn` resolves when they are done. */
function drawCharts() {
  const world = data.worlds[state.world];
  const there = Object.values(world.curves);
  // Matching errors need an imitator; a world without any curves has empty charts.
  const shown = data.tracks[world.track].quantities.filter(({ key }) =>
    byId(key) && (!there.length || there.some((curves) => curves.of[key])));
  for (const figure of document.querySelectorAll("[data-quantity]")) {
    figure.hidden = !shown.some(({ key }) => key === figure.dataset.quantity);
  }
  byId("switch-y").hidden = data.tracks[world.track].higher;
  const drawn = shown.map((quantity) => drawChart(byId(quantity.key), world, quantity));
  describeCharts(drawn);
  optimist.drawn = Promise.all([...drawn.map((chart) => chart.done), drawMultiples()]);
  return optimist.drawn;
}

/** The controls as they apply to a world: an axis of returns, which may be negative, is linear. */
function chosenIn(world) {
  return data.tracks[world.track].higher ? { ...state, y: "linear" } : state;
}

/** The quantity of the small charts. */
function mainOf(world) {
  const { main, quantities } = data.tracks[world.track];
  return quantities.find(({ key }) => key === main);
}

let turn = 0;

/** Draw the small charts one by one, so that the page stays responsive; for printing, all at once. */
async function drawMultiples() {
  const mine = ++turn;
  if (!byId("all-worlds").open || byId("all-worlds").hidden) return;
  for (const [i, world] of data.worlds.entries()) {
    if (!document.documentElement.dataset.printing) await new Promise((resume) => setTimeout(resume));
    if (mine !== turn) return;
    drawChart(document.querySelector(`[data-multiple="${i}"]`), world, mainOf(world), true);
  }
}

function drawChart(place, world, quantity, small = false) {
  const chosen = chosenIn(world);
  const { traces: drawn, leftOut } = traces(world, quantity, chosen);
  place.setAttribute("role", "group");
  const { name } = quantity;
  place.setAttribute("aria-label", `${name} in ${world.name}; the tables hold the totals`);
  const config = {
    responsive: true, displaylogo: false, displayModeBar: small ? false : "hover",
    // Listed explicitly: by default a button sends the data to plotly's servers.
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    showSendToCloud: false, plotlyServerURL: "",
    toImageButtonOptions: { format: "svg", filename: `${name} in ${world.name}` },
  };
  const fit = chosen.y === "log" ? logRange(drawn) : null;
  leftOut.below = fit?.cut ?? null;
  return { quantity, leftOut, done: plotly.react(place, drawn, layout(world, quantity, small, fit), config) };
}

function layout(world, quantity, small, fit) {
  const [ink, quiet, rule, paper] = ["--ink", "--quiet", "--rule", "--paper"].map(colourOf);
  const axis = {
    gridcolor: rule, linecolor: quiet, tickcolor: quiet, showline: true, zeroline: false,
    ticks: "outside", ticklen: 4, automargin: true, tickfont: { color: quiet },
  };
  const title = (text) => (small ? undefined : { text, standoff: 8, font: { color: quiet, size: 12.5 } });
  const steps = state.over === "steps";
  const ofSeeds = steps === bySteps ? "" : ", mean over the seeds";
  return {
    autosize: true,
    margin: small ? { l: 44, r: 6, t: 6, b: 26 } : { l: 60, r: 10, t: 10, b: 44 },
    font: { family: getComputedStyle(byId("legend")).fontFamily, size: small ? 11 : 12.5, color: ink },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
    hovermode: "x unified", modebar: { bgcolor: "rgba(0,0,0,0)", color: quiet, activecolor: ink },
    hoverlabel: { bgcolor: paper, bordercolor: rule, font: { color: ink, size: 12 }, namelength: 26 },
    // Hiding agents keeps the zoom; another world or scale resets it.
    uirevision: [world.name, quantity.key, state.over, state.x, state.y].join("\n"),
    xaxis: {
      ...axis, type: state.x, title: title(`${steps ? "steps" : "episode"}${ofSeeds}`), tickformat: "~s",
      rangemode: "tozero", hoverformat: ",.0f",
      unifiedhovertitle: { text: steps ? "%{x:,.0f} steps" : "episode %{x:,.0f}" },
    },
    yaxis: {
      ...axis, type: chosenIn(world).y, title: title(quantity.name),
      rangemode: data.tracks[world.track].higher ? "normal" : "tozero", tickformat: quantity.ticks,
      // On a short log axis there is room for 1, 2 and 5 of each decade.
      ...(fit && { range: fit.range, dtick: fit.decades < (small ? 1.5 : 2.5) ? "D2" : 1 }),
    },
    ...(document.documentElement.dataset.printing && PAPER[small ? "small" : "large"]),
  };
}

/** State which mean is drawn, and what a log axis leaves out. */
function describeCharts(charts) {
  const world = data.worlds[state.world];
  const centre = state.centre === "mean" ? "the mean" : "the interquartile mean";
  for (const said of document.querySelectorAll(`[data-quantity="${mainOf(world).key}"] [data-centre]`)) {
    said.textContent = centre;
  }
  const notes = [];
  const { x, y } = chosenIn(world);
  if (x === "log" || y === "log") {
    const sum = (key) => charts.reduce((total, { leftOut }) => total + leftOut[key], 0);
    const lines = sum("lines"), bands = sum("bands");
    notes.push("A logarithmic axis cannot show zero or less:", lines + bands === 0 ? "here nothing is left out." :
      `lines have gaps at ${number(lines)} such points, and bands at ${number(bands)} such lower ends.`);
  }
  const cut = charts.filter(({ leftOut }) => leftOut.below !== null);
  for (const { quantity, leftOut } of cut) {
    const { name, form } = quantity;
    notes.push(`${name[0].toUpperCase()}${name.slice(1)} below ${FORMS[form](leftOut.below, 2)} is off its axis.`);
  }
  if (cut.length) notes.push("A double click on the chart shows all of it.");
  byId("left-out").textContent = notes.join(" ");
}

// Charts have a fixed width, so they are drawn again for printing, in light colours.

const PAPER = { large: { width: 335, height: 260 }, small: { width: 220, height: 180 } };

function startPrinting() {
  const root = document.documentElement;
  let closed = [];
  addEventListener("beforeprint", () => {
    root.dataset.printing = "yes";
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
    drawCharts();
  });
  addEventListener("afterprint", () => {
    delete root.dataset.printing;
    for (const each of closed) each.open = false;
    drawCharts();
  });
}
