// The boards: their titles, their order and their colours.

const PANELS = {
  value: {
    title: "Value", about: "optimistic values, with the policy",
    ofImitator: "values of the rewards that it constructs, with the policy",
    ofMap: "optimistic values, with rewards scaled to [0, R_max]",
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
    ofImitator: "exact occupancy of its policy, with arrows",
  },
  expert: { title: "Expert", about: "exact occupancy of the expert's policy, with arrows" },
  visits: { title: "Visits", about: "how often it was near; sum over actions" },
  difference: { title: "Difference", about: "red: more often than the expert; blue: less often" },
};

/** The order of the boards: an agent's values beside the optimal ones, or an imitator beside its expert. */
const EXPLORER = ["value", "optimal", "readout", "bonus", "ascension", "occupancy"];
const IMITATOR = ["occupancy", "expert", "difference", "readout", "value", "bonus", "ascension"];

/** In a Gymnasium environment no optimum is known. */
const MAPPED = ["value", "bonus", "readout", "ascension", "visits"];

/** The agent's values and the optimal ones share a scale. */
function scalesOfExplorer({ value, bonus, ascension, occupancy }, best) {
  const values = scale("viridis", [...value, best.value], needsLog(value, best.value));
  return {
    value: values, optimal: values, bonus: bonus && scale("ember", bonus),
    ascension: ascension && scale("ember", ascension), occupancy: scale("blues", occupancy, true),
  };
}

/** Imitator and expert share a scale. Values of constructed rewards need not include zero. */
function scalesOfImitator({ episodes, value, bonus, ascension, occupancy, difference }, best) {
  const times = scale("blues", [...occupancy, best.occupancy], true);
  const played = value.filter((_, i) => episodes[i] > 0);
  const least = played.flat().reduce((low, x) => (x === null ? low : Math.min(low, x)), Infinity);
  return {
    occupancy: times, expert: times, difference: signedScale("coolwarm", difference),
    value: scale("viridis", played, false, Number.isFinite(least) ? least : 0),
    bonus: bonus && scale("ember", bonus, true), ascension: ascension && scale("ember", ascension, true),
  };
}

/** Values of scaled rewards need not include zero either. */
function scalesOfMaps({ value, bonus, ascension, visits }) {
  const least = value.flat().reduce((low, x) => (x === null ? low : Math.min(low, x)), Infinity);
  return {
    value: scale("viridis", value, false, Number.isFinite(least) ? least : 0),
    bonus: scale("ember", bonus), ascension: scale("ember", ascension), visits: scale("blues", visits, true),
  };
}

/** Whether values begin so far above the optimal ones that a linear scale would show these all dark. */
function needsLog(values, optimal) {
  const range = (numbers) => numbers.filter((x) => x !== null)
    .reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [0, 0]);
  const [low, high] = range(values.flat()), [lowest, highest] = range(optimal);
  return low >= 0 && lowest >= 0 && high > FAR * highest;
}

const FAR = 3;
