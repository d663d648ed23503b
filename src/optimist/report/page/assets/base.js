// State. The scripts of this folder are joined into one module, so nothing is global.

const data = JSON.parse(document.getElementById("data").textContent);

/** Whether the runs are of so many steps; otherwise they are of so many episodes. */
const bySteps = Object.values(data.tracks)[0].by === "step";

const state = {
  world: data.opening, theme: "auto", over: bySteps ? "steps" : "episode", x: "linear", y: "linear", centre: "mean", seeds: "band",
  hidden: new Set(),
};
const watchers = [];

/** Set a control and notify all watchers. */
function change(name, value) {
  state[name] = value;
  for (const watch of watchers) watch(name);
}
