// Start with the parts that need no plotly. `window.optimist` is the only global name of the page.

const optimist = { data, state, drawn: null };
window.optimist = optimist;
startControls();
if (data.worlds.length) {
  showWorld();
  startOptimism();
  optimist.ready = startCharts();
}
