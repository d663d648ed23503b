// The boards: their titles, their order and their colours.

const PANELS = {
  value: {
    title: "Value", about: "optimistic values, with the policy",
    imitator: "values of the rewards that it constructs, with the policy",
    map: "optimistic values, with rewards scaled to [0, R_max]",
  },
  optimal: { title: "Optimal value", about: "exact, with an optimal policy" },
  bonus: {
    title: "Bonus", about: "added to rewards where little is known; mean over actions",
    absent: "This agent has no bonuses.",
  },
  ascension: {
    title: "Heaven", about: "probability of an imagined ascent; mean over actions",
    absent: "This agent imagines no transitions to heaven.",
  },
  occupancy: {
    title: "Occupancy", about: "exact discounted occupancy of its policy",
    imitator: "exact occupancy of its policy, with arrows",
  },
  expert: { title: "Expert", about: "exact occupancy of the expert's policy, with arrows" },
  visits: { title: "Visits", about: "how often it was near; sum over actions" },
  difference: {
    title: "Difference", about: "red: more often than the expert; blue: less often",
    absent: "This agent imitates no expert.",
  },
};

/** The order of the boards. An agent's values are beside the optimal ones, an imitator is beside its expert. */
const ORDER = {
  explorer: ["value", "optimal", "readout", "bonus", "ascension", "occupancy"],
  imitator: ["occupancy", "expert", "difference", "readout", "value", "bonus", "ascension"],
  map: ["value", "bonus", "readout", "ascension", "visits"], // no optimum is known
};

/** What is shown of some runs: maps, or boards of imitators if one of them is. */
function kindOf(picture, runs) {
  if (picture.axes) return "map";
  return runs.some((run) => run.difference) ? "imitator" : "explorer";
}

/** The scale of a board for some runs, which share it; null if none of them has such numbers. */
function scaleOf(key, kind, runs, best) {
  const rows = (name) => runs.flatMap((run) => run[name] ?? []);
  if (key === "value" || key === "optimal") {
    if (kind === "explorer") return scale("viridis", [...rows("value"), best.value], needsLog(rows("value"), best.value));
    // Values of constructed or scaled rewards need not include zero.
    const played = runs.flatMap(({ episodes, value }) => value.filter((_, i) => kind === "map" || episodes[i] > 0));
    const least = played.flat().reduce((low, x) => (x === null ? low : Math.min(low, x)), Infinity);
    return scale("viridis", played, false, Number.isFinite(least) ? least : 0);
  }
  if (key === "occupancy" || key === "expert") {
    return scale("blues", [...rows("occupancy"), ...(kind === "imitator" ? [best.occupancy] : [])], true);
  }
  if (!rows(key).length) return null;
  if (key === "difference") return signedScale("coolwarm", rows(key));
  if (key === "visits") return scale("blues", rows(key), true);
  const most = runs.filter((run) => run[key]).map((run) => scale("ember", run[key]).high);
  return scale("ember", rows(key), kind === "imitator" || Math.max(...most) > FAR_APART * Math.min(...most));
}

const FAR_APART = 10; // two agents' bonuses need log colours

/** Whether values begin so far above the optimal ones that a linear scale would show these all dark. */
function needsLog(values, optimal) {
  const range = (numbers) => numbers.filter((x) => x !== null)
    .reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [0, 0]);
  const [low, high] = range(values.flat()), [lowest, highest] = range(optimal);
  return low >= 0 && lowest >= 0 && high > FAR * highest;
}

const FAR = 3;
