// Ties the stream of frames to the boards, the charts and the controls.

const BLUE = "#0072B2", RED = "#D55E00", GREEN = "#009E73", PINK = "#CC79A7", GREY = "#888888";

const CHARTS = [
  { title: "Hope and truth", about: "what it hopes for at the start, and what its policy is worth exactly",
    lines: [{ key: "optimistic_value", name: "hopes for", colour: RED }, { key: "value", name: "gets", colour: BLUE }, { level: "optimal", name: "best", colour: GREY }],
    when: (has) => has("value") },
  { title: "Return", about: "of an episode, the mean since the frame before",
    lines: [{ key: "return", name: "return", colour: BLUE }], when: (has) => !has("value") },
  { title: "Regret", about: "value lost so far, summed over the episodes",
    lines: [{ key: "regret", name: "lost", colour: BLUE }], when: (has) => has("regret") },
  { title: "Hope", about: "its value of the first state, in scaled rewards",
    lines: [{ key: "optimistic_value", name: "hopes for", colour: RED }], when: (has) => !has("value") && has("optimistic_value") },
  { title: "Optimism on its way", about: "means along the latest episode",
    lines: [{ key: "ascension", name: "chance of heaven", colour: PINK }, { key: "bonus", name: "bonus", colour: RED }],
    when: (has) => has("bonus") },
  { title: "Epochs", about: "how often it has made a new policy",
    lines: [{ key: "epoch", name: "epochs", colour: GREEN }], when: (has) => has("epoch") },
];

const store = new Store();
const memory = remembered();
let head = { title: "", picture: null, optimal: null }, status = null, table = null;
let run = memory.run ?? "", log = true, charts = [], source = null, lost = false, due = false;
let awaited = memory.episodes ?? null; // the frame that was shown before a reload

const player = new Player(store, later);
const boards = new Boards(byId("panels"), chooseBoard);
const runs = new Runs(byId("table"), chooseRun);

/** What this tab has shown before it was loaded again. */
function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(location.pathname)) ?? {};
  } catch {
    return {};
  }
}

function remember() {
  const shown = { run, mode: player.mode, speed: player.speed, board: boards.only, episodes: player.frame?.episodes ?? null };
  try {
    sessionStorage.setItem(location.pathname, JSON.stringify(shown));
  } catch {
    // Some browsers refuse; a reload then begins with the first frame.
  }
}

// The stream

function open() {
  source?.close();
  const after = store.frames.at(-1)?.id ?? 0;
  source = new EventSource(`events?${new URLSearchParams({ run, after })}`);
  source.addEventListener("open", () => {
    lost = false;
    later();
  });
  source.addEventListener("error", () => {
    lost = true;
    later();
  });
  source.addEventListener("head", (event) => {
    const before = JSON.stringify(head.picture);
    head = JSON.parse(event.data);
    if (JSON.stringify(head.picture) !== before) boards.start(head.picture);
    later();
  });
  source.addEventListener("status", (event) => {
    status = JSON.parse(event.data);
    player.ended = status.state === "ended";
    player.come();
    later();
  });
  source.addEventListener("table", (event) => {
    table = JSON.parse(event.data);
    later();
  });
  source.addEventListener("message", (event) => {
    const shown = player.frame;
    store.add(Number(event.lastEventId), event.data);
    if (shown) player.at = Math.max(0, store.frames.includes(shown) ? store.frames.indexOf(shown) : store.indexOf(shown.episodes));
    if (awaited !== null) {
      if (store.frames.at(-1).episodes <= awaited) player.at = store.last;
      else awaited = null;
    }
    player.come();
    later();
  });
}

function chooseRun(id) {
  run = id;
  store.clear();
  player.at = -1;
  awaited = null;
  boards.start(null);
  if (player.mode === "pause") player.mode = "play";
  open();
  later();
}

function chooseBoard(key) {
  boards.only = key;
  boards.arrange();
  later();
}

// Drawing, at most once for each frame of the screen

function later() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    draw();
  });
}

function draw() {
  const frame = player.frame;
  byId("title").textContent = head.title || "Waiting for the run";
  document.title = head.title ? `${head.title} · optimist` : "optimist";
  tell();
  runs.show(table, run || table?.first);
  if (frame) boards.show(frame, store.ranges);
  else byId("boards").hidden = true;
  drawCharts(frame);
  steer(frame);
  remember();
}

function drawCharts(frame) {
  const has = (name) => store.frames.some((f) => f.numbers[name] != null);
  const wanted = store.frames.length ? CHARTS.filter((chart) => chart.when(has)) : [];
  if (wanted.map((c) => c.title).join() !== charts.map((c) => c.title).join()) {
    charts = wanted.map((about) => Object.assign(new Chart(about), { title: about.title }));
    byId("charts").replaceChildren(...charts.map((chart) => chart.figure));
  }
  byId("curves").hidden = !charts.length;
  for (const chart of charts) chart.draw(store, frame, log, { optimal: head.optimal });
}

const STATES = { waiting: "waiting for the first episode", learning: "learning", held: "held", ended: "finished", failed: "failed" };

function tell() {
  const said = byId("status");
  if (lost || !status) {
    said.dataset.state = lost ? "lost" : "waiting";
    said.textContent = lost ? "The run cannot be reached; what was seen stays. Trying again" : "Connecting";
    return;
  }
  said.dataset.state = status.state;
  const of = status.total ? ` of ${number(status.total)}` : "";
  const steps = status.steps ? `, ${number(status.steps)} steps` : "";
  const played = status.done ? `: ${number(status.done)}${of} ${status.unit}${steps}` : "";
  said.textContent = `${STATES[status.state] ?? status.state}${played}`;
  byId("trouble").hidden = !status.trouble;
  byId("trouble").textContent = status.trouble ? `There are no more frames. ${status.trouble}` : "";
}

function steer(frame) {
  const slider = byId("frame");
  slider.max = Math.max(0, store.last);
  slider.value = Math.max(0, player.at);
  const many = frame ? `episode ${number(frame.episodes)}` : "no frame yet";
  byId("frame-said").textContent = many;
  slider.setAttribute("aria-valuetext", many);
  byId("play").textContent = player.playing ? "Pause" : "Play";
  byId("back").disabled = player.at <= 0;
  byId("forward").disabled = player.at >= store.last && player.ended === true;
  byId("latest").setAttribute("aria-pressed", player.mode === "latest");
  const hold = byId("hold");
  hold.hidden = !status?.controls || status.state === "ended";
  hold.setAttribute("aria-pressed", Boolean(status?.held));
  hold.textContent = status?.held ? "Let the run go on" : "Hold the run";
}

// Controls

async function forward() {
  if (player.step(1) && status?.held) await ask(run, { step: true });
  later();
}

function listen() {
  byId("play").addEventListener("click", () => player.set(player.playing ? "pause" : "play"));
  byId("back").addEventListener("click", () => player.step(-1));
  byId("forward").addEventListener("click", forward);
  byId("latest").addEventListener("click", () => player.set(player.mode === "latest" ? "pause" : "latest"));
  byId("hold").addEventListener("click", () => ask(run, { hold: !status.held }));
  byId("speed").addEventListener("change", (event) => {
    player.speed = Number(event.target.value);
  });
  byId("frame").addEventListener("input", (event) => {
    player.mode = "pause";
    player.waited = false;
    player.go(Number(event.target.value));
  });
  for (const input of document.querySelectorAll("[name=theme]")) {
    input.addEventListener("change", () => {
      document.documentElement.dataset.theme = input.value;
      later();
    });
  }
  for (const input of document.querySelectorAll("[name=axis]")) {
    input.addEventListener("change", () => {
      log = input.value === "log";
      later();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, button, a")) return;
    const act = { " ": () => byId("play").click(), ",": () => player.step(-1), ".": forward, l: () => byId("latest").click() }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  // A hidden tab needs no frames: browsers open six connections to a page, and tabs share them.
  document.addEventListener("visibilitychange", () => (document.hidden ? source?.close() : open()));
  addEventListener("resize", later);
}

player.mode = memory.mode ?? "play";
player.speed = memory.speed ?? 10;
boards.only = memory.board ?? (matchMedia("(max-width: 560px)").matches ? "value" : "all");
byId("speed").value = player.speed;
listen();
open();
