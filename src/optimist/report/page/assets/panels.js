// What the boards show: their titles, which of them an agent has, and their colours.

const PANELS = {
  value: {
    title: "Value", about: "what the agent hopes for, with what it plays",
    ofImitator: "what it hopes for by the rewards that it makes up, with what it plays",
    ofMap: "what the agent hopes for, of rewards scaled to lie between 0 and R_max",
  },
  optimal: { title: "Optimal value", about: "the truth, with an optimal policy" },
  bonus: {
    title: "Bonus", about: "added to rewards where little is known; mean of the actions",
    absent: "This agent has no bonuses.",
  },
  ascension: {
    title: "Heaven", about: "probability of an imagined ascent; mean of the actions",
    absent: "This agent imagines no transitions to heaven.",
  },
  occupancy: {
    title: "Occupancy", about: "where its policy spends its discounted time, exactly",
    ofImitator: "where its policy spends its time, with what it plays",
  },
  expert: { title: "Expert", about: "where the policy it imitates spends its time, with what that plays" },
  visits: { title: "Visits", about: "how often it was near; sum of the actions" },
  difference: { title: "Difference", about: "red: it is there more than the expert; blue: less" },
};

/** What stands where: an agent's hopes beside the truth, or an imitator beside its expert. */
const EXPLORER = ["value", "optimal", "readout", "bonus", "ascension", "occupancy"];
const IMITATOR = ["occupancy", "expert", "difference", "readout", "value", "bonus", "ascension"];

/** In a Gymnasium environment no truth is known. */
const MAPPED = ["value", "bonus", "readout", "ascension", "visits"];

/** Hopes and truth share one scale, so that equal colours are equal values. */
function scalesOfExplorer({ value, bonus, ascension, occupancy }, best) {
  const values = scale("viridis", [...value, best.value], needsLog(value, best.value));
  return {
    value: values, optimal: values, bonus: bonus && scale("ember", bonus),
    ascension: ascension && scale("ember", ascension), occupancy: scale("blues", occupancy, true),
  };
}

/** Learner and expert share one scale. Values of rewards that are made up have no zero worth showing. */
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

/** Values of mapped rewards have no zero worth showing either. */
function scalesOfMaps({ value, bonus, ascension, visits }) {
  const least = value.flat().reduce((low, x) => (x === null ? low : Math.min(low, x)), Infinity);
  return {
    value: scale("viridis", value, false, Number.isFinite(least) ? least : 0),
    bonus: scale("ember", bonus), ascension: scale("ember", ascension), visits: scale("blues", visits, true),
  };
}

/** Where hopes began far above the truth, equal steps of colour would leave the truth all dark. */
function needsLog(hopes, truth) {
  const range = (numbers) => numbers.filter((x) => x !== null)
    .reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [0, 0]);
  const [leastHope, mostHope] = range(hopes.flat()), [leastTruth, mostTruth] = range(truth);
  return leastHope >= 0 && leastTruth >= 0 && mostHope > FAR * mostTruth;
}

const FAR = 3;
