"""Worlds and agents as plain data and back, and what is refused on the way."""

import dataclasses
import json
import math
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimist.agents import AGENTS, Configuration
from optimist.core import Never, Novelty, Sigmoid, Threshold, Truncation, VarianceBonus
from optimist.envs import WORLDS, DeepSea, GridWorld, RiverSwim
from optimist.errors import DataError
from optimist.experiments.learners import CONFIGS
from optimist.experiments.parameters import did_you_mean, from_plain, grid, to_plain
from optimist.experiments.toml import write_toml
from optimist.imitation import Ball, Box, Simplex

RaviUcb, Rmax = AGENTS["RaviUcb"].Config, AGENTS["Rmax"].Config

# Any parameters of every world and every agent

GAMMA, PROBABILITY, SEED = st.floats(0, 0.999), st.floats(0, 1), st.integers(0, 2**70)
POSITIVE = st.floats(1e-300, 1e300)
LOWER = {"n_actions": st.integers(2, 4), "special": st.integers(0, 1), "gamma": st.floats(0.5, 0.9)}
EPSILON = st.floats(0, 0.1)
MAPS = st.sampled_from(["SG", "\n S#O\n ..G\n", "S\r\nG"])

PARAMETERS = {
    "RiverSwim": {"n": st.integers(2, 8), "gamma": GAMMA},
    "DeepSea": {"n": st.integers(2, 6), "slip": PROBABILITY, "gamma": GAMMA},
    "GridWorld": {"layout": MAPS, "slip": PROBABILITY, "gamma": GAMMA},
    "FourRooms": {"slip": PROBABILITY, "gamma": GAMMA},
    "Maze": {"slip": PROBABILITY, "gamma": GAMMA},
    "CombinationLock": {
        "n": st.integers(1, 5), "n_actions": st.integers(2, 4), "seed": SEED, "gamma": GAMMA
    },
    "SixArms": {"gamma": GAMMA},
    "RandomLinear": {
        "d": st.integers(1, 3), "n_states": st.integers(3, 9), "n_actions": st.integers(1, 3),
        "seed": SEED, "gamma": GAMMA,
    },
    "RandomTabular": {
        "n_states": st.integers(3, 9), "n_actions": st.integers(1, 3),
        "successors": st.integers(1, 3), "paying": PROBABILITY, "seed": SEED, "gamma": GAMMA,
    },
    "ToyText": {
        "name": st.sampled_from(["FrozenLake-v1", "CliffWalking-v1"]),
        "options": st.sampled_from(["", "is_slippery=false"]), "gamma": GAMMA,
    },
    "LowerK": {**LOWER, "epsilon": EPSILON},
    "LowerTauE": {**LOWER, "epsilon": EPSILON, "member": st.integers(0, 1), "w_max": st.just(0.5)},
    "RaviUcb": {
        "beta": st.floats(0, 1e300), "eta": POSITIVE, "ridge": POSITIVE, "updates": st.integers(1)
    },
    "OptimisticVI": {"beta": st.floats(0, 1e300), "ridge": POSITIVE, "updates": st.integers(1)},
    "Rmax": {"visits": st.integers(1, 2**60), "updates": st.integers(1)},
    "Psrl": {"alpha": POSITIVE, "lazy": st.booleans(), "updates": st.integers(1)},
    "Ucbvi": {"c": st.floats(0, 1e300), "updates": st.integers(1)},
    "LsviUcb": {"beta": st.floats(0, 1e300), "ridge": POSITIVE, "updates": st.integers(1)},
    "Rlsvi": {
        "sigma": POSITIVE, "ridge": POSITIVE, "lazy": st.booleans(),
        "updates": st.integers(1),
    },
    "OptimisticQ": {"c": st.floats(0, 1e300)},
    "QLearning": {"epsilon": PROBABILITY, "step": st.floats(1e-9, 1), "power": PROBABILITY},
}  # fmt: skip

SIGMOIDS = st.builds(Sigmoid, POSITIVE | st.just(math.inf), st.floats(-9, 9))
OTHERS = st.sampled_from([Truncation(), Never(), Novelty()])
ASCENSIONS = SIGMOIDS | st.builds(Threshold, PROBABILITY) | OTHERS


@st.composite
def configurations(draw):
    ascension = draw(ASCENSIONS)
    bonus = draw(st.none() | st.builds(VarianceBonus, st.floats(0, 1e300)))
    return Configuration(
        eta=draw(POSITIVE | st.just(math.inf)),
        beta=draw(st.floats(0, 1e300)) if bonus is None else 0.0,
        ascension=ascension,
        r_max=draw(POSITIVE),
        ridge=draw(POSITIVE | st.none()),
        updates=draw(st.integers(1)),
        observe_last=draw(st.booleans()),
        anytime=isinstance(ascension, Sigmoid) and draw(st.booleans()),
        bonus=bonus,
        tolerance=draw(st.floats(0, 0.5)),
    )


KINDS = {**WORLDS, **CONFIGS}

WEIGHTS = (
    st.builds(Ball, st.floats(1e-3, 1e3))
    | st.builds(Box, st.floats(-9, 0), st.floats(1, 9))
    | st.builds(Simplex, st.floats(1e-3, 1e3))
)
PARAMETERS["FraIL"] = {
    "weights": WEIGHTS,
    "beta": st.floats(0, 1e300),
    "eta": POSITIVE | st.just(math.inf),
    "ascension": ASCENSIONS,
    "ridge": POSITIVE,
    "updates": st.integers(1),
    "fresh": st.booleans(),
    "bonus": st.none(),
    "tolerance": st.floats(0, 0.5),
    "samples": st.integers(1, 2**60).map(float) | st.just(math.inf),
    "features": st.sampled_from(["states", "pairs", "linear"]),
}


def any_of(name):
    if name == "RmaxRaviUcb":
        return configurations()
    assert set(PARAMETERS[name]) == {f.name for f in dataclasses.fields(KINDS[name])}
    return st.builds(KINDS[name], **PARAMETERS[name])


@pytest.mark.parametrize("name", KINDS)
def test_everything_comes_back_from_its_parameters(name):
    @settings(max_examples=25)
    @given(any_of(name))
    def check(made):
        plain = to_plain(made)
        text = json.dumps(plain, allow_nan=False)
        for data in (plain, json.loads(text), tomllib.loads(write_toml(plain))):
            back = from_plain(KINDS[name], data)
            assert back == made
            assert json.dumps(to_plain(back)) == text

    check()


@pytest.mark.parametrize("name", KINDS)
def test_nothing_given_is_what_the_agent_or_the_world_is_by_default(name):
    kind = KINDS[name]
    default = Configuration.adaptive() if kind is Configuration else kind()
    assert from_plain(kind, {}) == default


def test_the_rest_of_a_configuration_is_the_practical_one():
    """Not the bare fields, which are the paper's: one update, for example."""
    made = from_plain(Configuration, {"beta": 2, "eta": 3, "r_max": 4})
    assert made == dataclasses.replace(Configuration.practical(), beta=2.0, eta=3.0, r_max=4.0)
    assert made.updates != Configuration(eta=1, beta=1, ascension=Never()).updates


# Values


@pytest.mark.parametrize(
    ("given", "ascension"),
    [
        ("Truncation", Truncation()),
        ("Never", Never()),
        ({"kind": "Never"}, Never()),
        ({"kind": "Truncation"}, Truncation()),
        ({"kind": "Threshold", "level": 2}, Threshold(2.0)),
        ({"omega": 1.5, "kind": "Sigmoid", "alpha": "inf"}, Sigmoid(math.inf, 1.5)),
        ({"kind": "Sigmoid", "alpha": math.inf, "omega": 0}, Sigmoid(math.inf, 0.0)),
    ],
)
def test_an_ascension_function_is_a_table_or_a_name(given, ascension):
    assert from_plain(Configuration, {"ascension": given}).ascension == ascension
    table = to_plain(dataclasses.replace(Configuration.practical(), ascension=ascension))
    assert table["ascension"]["kind"] == type(ascension).__name__


def test_tables_that_were_read_are_left_as_they_were():
    data = {"ascension": {"kind": "Threshold", "level": 2}}
    from_plain(Configuration, data)
    assert data == {"ascension": {"kind": "Threshold", "level": 2}}


@pytest.mark.parametrize("inf", [math.inf, "inf"])
def test_infinity_is_a_number_or_a_text(inf):
    assert from_plain(Configuration, {"eta": inf}).eta == math.inf


def test_infinity_is_a_text_in_plain_data():
    assert to_plain(Sigmoid(math.inf, 1.0)) == {"alpha": "inf", "omega": 1.0}


@pytest.mark.parametrize("none", ["none", "None"])
def test_nothing_is_a_text(none):
    made = from_plain(Configuration, {"ridge": none})
    assert made.ridge is None
    assert to_plain(made)["ridge"] == "none"


def test_a_whole_number_will_do_for_a_number():
    made = from_plain(RiverSwim, {"gamma": 0})
    assert (made.gamma, type(made.gamma)) == (0.0, float)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RiverSwim(6, gamma=0), RiverSwim(6, gamma=0.0)),
        (RiverSwim(6, gamma=-0.0), RiverSwim(6, gamma=0.0)),
        (RiverSwim(np.int64(6)), RiverSwim(6)),
        (DeepSea(4, slip=np.float32(0.5)), DeepSea(4, slip=0.5)),
        (RaviUcb(beta=1), RaviUcb(beta=1.0)),
        (Sigmoid(alpha=4, omega=2), Sigmoid(4.0, 2.0)),
    ],
    ids=repr,
)
def test_the_same_parameters_are_the_same_text(one, other):
    assert one == other
    assert json.dumps(to_plain(one)) == json.dumps(to_plain(other))


# Refusals


def refusal(kind, data):
    """Where an error is, and what it says."""
    with pytest.raises(DataError) as caught:
        from_plain(kind, data, ("top",))
    return caught.value.path, str(caught.value)


@pytest.mark.parametrize(
    ("kind", "key", "value", "message"),
    [
        (RiverSwim, "gamma", True, "gamma = True is not a number"),
        (RiverSwim, "gamma", "0.9", "gamma = '0.9' is not a number"),
        (RiverSwim, "gamma", "none", "gamma = 'none' is not a number"),
        (RiverSwim, "gamma", [0.9], "gamma = [0.9] is not a number"),
        (RiverSwim, "gamma", {}, "gamma = {} is not a number"),
        (RiverSwim, "n", 6.0, "n = 6.0 is not a whole number"),
        (RiverSwim, "n", True, "n = True is not a whole number"),
        (RiverSwim, "n", "6", "n = '6' is not a whole number"),
        (RiverSwim, "n", "inf", "n = 'inf' is not a whole number"),
        (GridWorld, "layout", 5, "layout = 5 is not text"),
        (Configuration, "ridge", True, 'ridge = True is not a number or "none"'),
        (Configuration, "ridge", "nothing", "ridge = 'nothing' is not a number or \"none\""),
        (Configuration, "eta", "Infinity", "eta = 'Infinity' is not a number"),
        (Configuration, "eta", "nan", "eta = 'nan' is not a number"),
        (Configuration, "anytime", 1, "anytime = 1 is not true or false"),
        (Configuration, "anytime", "true", "anytime = 'true' is not true or false"),
        (
            *(Configuration, "ascension", 3),
            "ascension = 3 is not Sigmoid or Truncation or Threshold or Never or Novelty",
        ),
    ],
)
def test_a_value_of_another_type_is_refused_where_it_is(kind, key, value, message):
    assert refusal(kind, {key: value}) == (("top", key), message)


@pytest.mark.parametrize(
    ("kind", "key", "value", "message"),
    [
        (RiverSwim, "gamma", "inf", "RiverSwim: gamma is inf; "),
        (RiverSwim, "gamma", math.nan, "RiverSwim: gamma is nan; "),
        (RiverSwim, "gamma", 1.5, "RiverSwim: gamma = 1.5 is outside [0, 1)"),
        (RiverSwim, "n", 1, "RiverSwim: n = 1 must be at least 2"),
        (Configuration, "ridge", 0, "Configuration: ridge = 0 must be positive"),
        (Configuration, "eta", "-inf", "Configuration: eta = -inf must be positive"),
        (GridWorld, "layout", "S?G", "GridWorld: layout: line 1, column 2 of the map is '?'"),
        (GridWorld, "layout", "S..", "GridWorld: layout: the map needs at least one start S"),
    ],
)
def test_an_impossible_value_is_refused_where_it_is(kind, key, value, message):
    path, said = refusal(kind, {"beta": 1, key: value} if kind is Configuration else {key: value})
    assert path == ("top", key)
    assert said.startswith(message)


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        ({}, [], "ascension: it needs a kind, of Sigmoid, Truncation, Threshold, Never"),
        ({"alpha": 1}, [], "ascension: it needs a kind, of Sigmoid, Truncation, Threshold, Never"),
        ("sigmod", [], "ascension: 'sigmod' is none of its kinds: did you mean 'Sigmoid'? "),
        ({"kind": 1}, [], "ascension: 1 is none of its kinds: it has Sigmoid, "),
        ({"kind": {"a": 1}}, [], "ascension: {'a': 1} is none of its kinds: it has Sigmoid, "),
        ("Sigmoid", [], "Sigmoid needs alpha and omega"),
        ({"kind": "Sigmoid", "alpha": 1}, [], "Sigmoid needs omega"),
        ({"kind": "Threshold", "visits": 3}, ["visits"], "Threshold has no parameter 'visits': "),
        ({"kind": "Threshold", "level": "3"}, ["level"], "level = '3' is not a number"),
        ({"kind": "Threshold", "level": -1}, ["level"], "Threshold: level = -1.0 must not be"),
    ],
)
def test_a_table_in_a_table_is_refused_where_it_is_wrong(value, path, message):
    where, said = refusal(Configuration, {"beta": 1, "ascension": value})
    assert where == ("top", "ascension", *path)
    assert said.startswith(message)


def test_an_unknown_parameter_is_refused_with_the_nearest_one():
    assert refusal(RiverSwim, {"n": 6, "gama": 0.9}) == (
        ("top", "gama"),
        "RiverSwim has no parameter 'gama': did you mean 'gamma'? It has n, gamma",
    )
    assert refusal(Rmax, {"zzz": 1}) == (
        ("top", "zzz"),
        "RmaxConfig has no parameter 'zzz': it has visits, updates",
    )


def test_parameters_that_do_not_go_together_are_refused_at_the_one_that_the_message_names():
    path, said = refusal(Configuration, {"ascension": "Never", "anytime": True})
    assert path == ("top", "anytime")
    assert said.startswith("Configuration: anytime chooses the numbers of a Sigmoid")


def test_a_default_that_does_not_fit_is_blamed_on_the_table():
    """The epsilon of LowerK is too large for this gamma, but nobody gave it."""
    path, said = refusal(WORLDS["LowerK"], {"gamma": 0.99})
    assert path == ("top",)
    assert said.startswith("LowerK: epsilon = 0.05 is outside")


def test_a_number_that_no_float_can_hold_is_refused():
    path, said = refusal(RiverSwim, {"gamma": 10**400})
    assert path == ("top", "gamma")
    assert said == "gamma = 10000000000000000000... is too large"


def test_a_world_that_this_machine_cannot_hold_is_refused(monkeypatch):
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", "1e10")
    path, said = refusal(RiverSwim, {"n": 10**8})
    assert path == ("top",)
    assert said.startswith("RiverSwim with 100,000,000 states and 2 actions would need 30.0 GB")


def test_an_error_calls_a_dataclass_as_it_was_told():
    with pytest.raises(DataError, match=r"^R-max has no parameter"):
        from_plain(Rmax, {"beta": 1}, name="R-max")
    with pytest.raises(DataError, match=r"^R-max: visits = 0"):
        from_plain(Rmax, {"visits": 0}, name="R-max")


# Grids


def test_lists_give_their_product_the_last_one_changing_first():
    tables = [table for table, _ in grid({"a": [1, 2], "b": 0, "c": ["x", "y"]})]
    assert tables == [
        {"a": 1, "b": 0, "c": "x"},
        {"a": 1, "b": 0, "c": "y"},
        {"a": 2, "b": 0, "c": "x"},
        {"a": 2, "b": 0, "c": "y"},
    ]


def test_lists_inside_tables_are_chosen_from_too():
    data = {"a": {"b": {"c": [1, 2]}, "d": 3}}
    assert list(grid(data)) == [
        ({"a": {"b": {"c": 1}, "d": 3}}, {"a.b.c": 1}),
        ({"a": {"b": {"c": 2}, "d": 3}}, {"a.b.c": 2}),
    ]
    assert data == {"a": {"b": {"c": [1, 2]}, "d": 3}}


def test_without_lists_there_is_one_choice():
    assert list(grid({"a": 1})) == [({"a": 1}, {})]
    assert list(grid({})) == [({}, {})]


def test_changing_one_table_of_a_grid_changes_no_other():
    (first, _), (second, _) = grid({"a": {"b": [1, 2]}})
    first["a"]["b"] = 5
    assert second == {"a": {"b": 2}}


def test_an_empty_list_is_refused_where_it_is():
    with pytest.raises(DataError, match="b is an empty list: there is nothing to run") as caught:
        list(grid({"a": {"b": []}, "c": [1]}))
    assert caught.value.path == ("a", "b")


# Names


def test_the_nearest_name_is_offered_whatever_its_case():
    assert did_you_mean("DEEPSEE", WORLDS).startswith("did you mean 'DeepSea'? It has RiverSwim, ")


def test_no_name_is_offered_where_none_is_near():
    assert did_you_mean("zzz", ["one", "two"]) == "it has one, two"
