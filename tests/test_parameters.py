"""Worlds and agents as plain data and back, and which data are refused."""

import json
import math
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimist.agents import Optimist, RaviUcb, Rmax, RmaxRaviUcb
from optimist.core import Never, Novelty, Sigmoid, Threshold, Truncation, VarianceBonus, Variant
from optimist.envs import WORLDS, DeepSea, GridWorld, Gym, RandomTabular, RiverSwim
from optimist.errors import DataError
from optimist.experiments.learners import CONFIGS, ImitationConfig
from optimist.experiments.toml import write_toml
from optimist.imitation import Ball, Box, Simplex
from optimist.parameters import did_you_mean, from_plain, to_plain

# Parameters of every type: that every parameter is kept is in experiments/test_specification.py

SHARE, NUMBER, POSITIVE = st.floats(0, 1), st.floats(0, 1e300), st.floats(1e-300, 1e300)
UNBOUNDED = POSITIVE | st.just(math.inf)
SIGMOIDS = st.builds(Sigmoid, UNBOUNDED, st.floats(-9, 9))
ASCENSIONS = SIGMOIDS | st.builds(Threshold, SHARE) | st.sampled_from([Truncation(), Never()])
WEIGHTS = (
    st.builds(Ball, st.floats(1e-3, 1e3))
    | st.builds(Box, st.floats(-9, 0), st.floats(1, 9))
    | st.builds(Simplex, st.floats(1e-3, 1e3))
)
PLAYERS = st.builds(Optimist.Config, v_max=POSITIVE) | st.builds(
    RmaxRaviUcb.Config, NUMBER, UNBOUNDED, UNBOUNDED, ridge=POSITIVE | st.none()
)
MADE = {
    "RandomTabular": st.builds(
        RandomTabular, st.integers(3, 9), st.integers(1, 3), st.integers(1, 3), SHARE,
        st.integers(0, 2**70), st.floats(0, 0.999),
    ),
    "GridWorld": st.builds(
        GridWorld, st.sampled_from(["SG", "\n S#O\n ..G\n", "S\r\nG"]), SHARE
    ),
    "Gym": st.builds(
        Gym, st.just("CartPole-v1"), geometric=st.none() | st.booleans(), memory=POSITIVE,
        value_bound=st.none() | POSITIVE, when_full=st.sampled_from(["thin", "error"]),
    ),
    "VariantAgent": st.builds(
        Variant, UNBOUNDED, ascension=ASCENSIONS, ridge=POSITIVE | st.none(),
        bonus=st.builds(VarianceBonus, NUMBER), updates=st.integers(1, 2**53 - 1),
        lazy=st.booleans(),
    ) | st.builds(Variant, POSITIVE, ascension=st.just(Novelty())),
    "FraIL": st.builds(
        ImitationConfig, WEIGHTS, PLAYERS, st.booleans(),
        st.integers(1, 2**60).map(float) | st.just(math.inf),
        st.sampled_from(["states", "pairs", "linear"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_everything_comes_back_from_its_parameters(name):
    @settings(max_examples=50)
    @given(MADE[name])
    def check(made):
        plain = to_plain(made)
        text = json.dumps(plain, allow_nan=False)
        for data in (plain, json.loads(text), tomllib.loads(write_toml(plain))):
            back = from_plain(type(made), data)
            assert back == made
            assert json.dumps(to_plain(back)) == text

    check()


def test_parameters_that_are_not_given_have_their_defaults():
    for kind in (*WORLDS.values(), *CONFIGS.values()):
        assert from_plain(kind, {}) == kind()
    made = from_plain(RmaxRaviUcb.Config, {"beta": 2, "alpha": 3})
    assert made == RmaxRaviUcb.Config(beta=2.0, alpha=3.0)


# Values


def test_a_dataclass_among_the_parameters_is_a_table_or_a_name():
    """The table that was read is left alone."""
    for told, ascension in (
        ("Never", Never()),
        ({"kind": "Truncation"}, Truncation()),
        ({"kind": "Threshold", "level": 2}, Threshold(2.0)),
        ({"omega": 1.5, "kind": "Sigmoid", "alpha": "inf"}, Sigmoid(math.inf, 1.5)),
        ({"kind": "Sigmoid", "alpha": math.inf, "omega": 0}, Sigmoid(math.inf, 0.0)),
    ):
        data = {"ascension": dict(told) if isinstance(told, dict) else told}
        made = from_plain(Variant, data)
        assert made.ascension == ascension
        assert to_plain(made)["ascension"]["kind"] == type(ascension).__name__
        assert data == {"ascension": told}
    made = from_plain(ImitationConfig, {"player": {"kind": "RmaxRaviUcb", "ridge": 0.01}})
    assert made.player == RmaxRaviUcb.Config(ridge=0.01)
    assert to_plain(made)["player"]["kind"] == "RmaxRaviUcb"


def test_infinity_and_none_are_texts_in_plain_data():
    for infinity in (math.inf, "inf"):
        made = from_plain(Variant, {"eta": infinity})
        assert made.eta == math.inf
        assert to_plain(made)["eta"] == "inf"
    for none in ("none", "None"):
        made = from_plain(Variant, {"ridge": none})
        assert made.ridge is None
        assert to_plain(made)["ridge"] == "none"


def test_equal_parameters_are_the_same_text():
    for one, other in (
        (from_plain(RiverSwim, {"gamma": 0}), RiverSwim(gamma=0.0)),
        (RiverSwim(6, gamma=-0.0), RiverSwim(6, gamma=0.0)),
        (RiverSwim(np.int64(6)), RiverSwim(6)),
        (DeepSea(4, slip=np.float32(0.5)), DeepSea(4, slip=0.5)),
        (RaviUcb.Config(beta=1), RaviUcb.Config(beta=1.0)),
        (Sigmoid(alpha=4, omega=2), Sigmoid(4.0, 2.0)),
    ):
        assert one == other
        assert json.dumps(to_plain(one)) == json.dumps(to_plain(other))


def test_a_function_cannot_be_written():
    with pytest.raises(DataError, match="reward_map is a function: it cannot be written as data"):
        to_plain(Gym("CartPole-v1", reward_map=abs))


# Refusals


def refused(kind, data, path, message):
    """Data are refused at a path, with a message that begins so."""
    with pytest.raises(DataError) as caught:
        from_plain(kind, data, ("top",))
    assert caught.value.path == ("top", *path)
    assert str(caught.value).startswith(message)


def test_a_value_of_another_type_is_refused_where_it_is():
    for kind, key, value, wanted in (
        (RiverSwim, "gamma", True, "a number"),
        (RiverSwim, "gamma", "0.9", "a number"),
        (RiverSwim, "gamma", "none", "a number"),
        (RiverSwim, "gamma", [0.9], "a number"),
        (RiverSwim, "gamma", {}, "a number"),
        (RiverSwim, "n", 6.0, "a whole number"),
        (RiverSwim, "n", True, "a whole number"),
        (RiverSwim, "n", "inf", "a whole number"),
        (GridWorld, "layout", 5, "text"),
        (Variant, "ridge", True, 'a number or "none"'),
        (Variant, "eta", "Infinity", "a number"),
        (Variant, "eta", "nan", "a number"),
        (Variant, "anytime", 1, "true or false"),
        (Variant, "anytime", "true", "true or false"),
        (
            Variant,
            "ascension",
            3,
            "Sigmoid or Contraction or Truncation or Threshold or Never or Novelty or Confidence",
        ),
    ):
        refused(kind, {key: value}, (key,), f"{key} must be {wanted}; got {value!r}")


def test_an_impossible_value_is_refused_where_it_is():
    for kind, key, value, message in (
        (RiverSwim, "gamma", "inf", "RiverSwim: gamma must be a finite number; got inf"),
        (RiverSwim, "gamma", math.nan, "RiverSwim: gamma must be a finite number; got nan"),
        (RiverSwim, "gamma", 1.5, "RiverSwim: gamma must be in [0, 1); got 1.5"),
        (RiverSwim, "gamma", 10**400, "gamma = 10000000000000000000... is too large"),
        (RiverSwim, "n", 1, "RiverSwim: n must be at least 2; got 1"),
        (Variant, "eta", "-inf", "Variant: eta must be positive (infinity is greedy); got -inf"),
        (GridWorld, "layout", "S?G", "GridWorld: layout: line 1, column 2 of the map is '?'"),
        (GridWorld, "layout", "S..", "GridWorld: layout: the map needs at least one start S"),
    ):
        refused(kind, {key: value}, (key,), message)


def test_a_table_in_a_table_is_refused_where_it_is_wrong():
    for value, path, message in (
        (
            {},
            (),
            "ascension needs a kind: one of Sigmoid, Contraction, Truncation, Threshold, Never",
        ),
        (
            {"alpha": 1},
            (),
            "ascension needs a kind: one of Sigmoid, Contraction, Truncation, Threshold, Never",
        ),
        ("sigmod", (), "ascension must be one of its kinds; got 'sigmod': did you mean 'Sigmoid'?"),
        ({"kind": {"a": 1}}, (), "ascension must be one of its kinds; got {'a': 1}: there are"),
        ("Sigmoid", (), "Sigmoid needs alpha and omega"),
        ({"kind": "Sigmoid", "alpha": 1}, (), "Sigmoid needs omega"),
        ({"kind": "Threshold", "visits": 3}, ("visits",), "Threshold has no parameter 'visits': "),
        ({"kind": "Threshold", "level": "3"}, ("level",), "level must be a number; got '3'"),
        ({"kind": "Threshold", "level": -1}, ("level",), "Threshold: level must not be negative"),
    ):
        refused(Variant, {"ascension": value}, ("ascension", *path), message)


def test_an_unknown_parameter_is_refused_with_the_nearest_one():
    nearest = "RiverSwim has no parameter 'gama': did you mean 'gamma'? It has n, gamma"
    refused(RiverSwim, {"n": 6, "gama": 0.9}, ("gama",), nearest)
    refused(
        Rmax.Config, {"zzz": 1}, ("zzz",), "Rmax has no parameter 'zzz': it has visits, updates"
    )
    refused(Gym, {"id": "CartPole-v1", "reward": "abs"}, ("reward",), "Gym has no parameter")


def test_an_error_about_several_parameters_is_at_the_one_that_it_names():
    """A default that does not fit is an error of the table."""
    data = {"ascension": "Never", "anytime": True}
    refused(Variant, data, ("anytime",), "Variant: anytime needs a Sigmoid")
    refused(WORLDS["LowerK"], {"gamma": 0.99}, (), "LowerK: epsilon must be in")


def test_a_world_that_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", "1e10")
    message = "RiverSwim with 100,000,000 states and 2 actions would need 30.0 GB"
    refused(RiverSwim, {"n": 10**8}, (), message)


def test_an_error_names_a_dataclass_by_the_given_name():
    for data, message in (
        ({"beta": 1}, "R-max has no parameter"),
        ({"visits": 0}, "R-max: visits"),
    ):
        with pytest.raises(DataError, match=f"^{message}"):
            from_plain(Rmax.Config, data, name="R-max")


def test_the_nearest_name_is_offered_if_one_is_near():
    assert did_you_mean("DEEPSEE", WORLDS).startswith("did you mean 'DeepSea'? It has RiverSwim, ")
    assert did_you_mean("zzz", ["one", "two"]) == "it has one, two"
