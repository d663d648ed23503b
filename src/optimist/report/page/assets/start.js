// Begin: what needs no plotly first. `window.optimist` is the page's one name outside this module.

const optimist = { data, state, drawn: null };
window.optimist = optimist;
startControls();
if (data.worlds.length) {
  showWorld();
  startOptimism();
  optimist.ready = startCharts();
}
