// Traces for plotly from the curves of a world.

/** The lines, bands and seeds of all agents, and the number of points that a log axis cannot show. */
function traces(world, quantity, chosen) {
  const bands = [], seeds = [], lines = [];
  const leftOut = { lines: 0, bands: 0 };
  data.agents.forEach((agent, i) => {
    const curves = world.curves[agent.name];
    const curve = curves?.of[quantity.key];
    if (!curve) return; // only imitators have matching errors
    const visible = !chosen.hidden.has(i);
    const { value, low, high } = (chosen.centre === "iqm" && curve.iqm) || curve.mean;
    const x = curves[chosen.over];
    const canShow = (k, y) =>
      y !== null && (chosen.x !== "log" || x[k] > 0) && (chosen.y !== "log" || y > 0);
    const shown = (ys) => ys.map((y, k) => (canShow(k, y) ? y : null));
    const common = { type: "scatter", mode: "lines", visible, connectgaps: false };

    const text = value.map((y, k) => withInterval(quantity, y, low[k], high[k]));
    lines.push({
      ...common, x: [...x], y: shown(value), customdata: text, name: plain(agent.name),
      meta: { agent: i, part: "line" }, hovertemplate: "%{customdata}",
      line: { color: agent.colour, dash: agent.dash, width: 2.2 },
    });

    const area = band(x, low, high, canShow);
    bands.push({
      ...common, x: area.x, y: area.y, fill: "toself", fillcolor: faint(agent.colour, 0.17),
      line: { width: 0 }, hoverinfo: "skip", meta: { agent: i, part: "band" },
    });

    if (chosen.seeds === "each") {
      const each = curve.seeds;
      seeds.push({
        ...common, x: each.flatMap(() => [...x, null]), y: each.flatMap((ys) => [...shown(ys), null]),
        line: { color: faint(agent.colour, 0.5), width: 0.8 }, hoverinfo: "skip",
        meta: { agent: i, part: "seeds" },
      });
    }
    if (visible) {
      leftOut.lines += value.filter((y, k) => y !== null && !canShow(k, y)).length;
      leftOut.bands += area.leftOut;
    }
  });
  return { traces: [...bands, ...seeds, ...lines], leftOut };
}

/** The outline of a band, piece by piece: along the upper edge, and back along the lower. */
function band(x, low, high, canShow) {
  const outline = { x: [], y: [], leftOut: 0 };
  let piece = [];
  const close = () => {
    if (!piece.length) return;
    const back = [...piece].reverse();
    if (outline.x.length) {
      outline.x.push(null);
      outline.y.push(null);
    }
    outline.x.push(...piece.map((k) => x[k]), ...back.map((k) => x[k]));
    outline.y.push(...piece.map((k) => high[k]), ...back.map((k) => low[k]));
    piece = [];
  };
  x.forEach((_, k) => {
    const known = low[k] !== null && high[k] !== null;
    if (known && canShow(k, low[k])) {
      piece.push(k);
    } else {
      outline.leftOut += known;
      close();
    }
  });
  close();
  return outline;
}

function withInterval(quantity, value, low, high) {
  const form = FORMS[quantity.form];
  return form(value) + (low === null ? "" : ` [${form(low)}, ${form(high)}]`);
}

/** The range of a log axis: at most DECADES, so that rounding errors do not stretch it. */
function logRange(drawn) {
  let low = Infinity, high = 0;
  for (const trace of drawn) {
    if (!trace.visible || trace.meta.part === "seeds") continue;
    for (const y of trace.y) {
      if (y === null) continue;
      low = Math.min(low, y);
      high = Math.max(high, y);
    }
  }
  if (high === 0) return null;
  const floor = high * 10 ** -DECADES;
  const bottom = Math.log10(Math.max(low, floor)), top = Math.log10(high);
  const margin = 0.04 * Math.max(top - bottom, 0.5);
  return { cut: low < floor ? floor : null, decades: top - bottom, range: [bottom - margin, top + margin] };
}

const DECADES = 6;

/** Escape markup, which plotly would interpret. */
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function faint(hex, opacity) {
  const part = (from) => parseInt(hex.slice(from, from + 2), 16);
  return `rgba(${part(1)},${part(3)},${part(5)},${opacity})`;
}
