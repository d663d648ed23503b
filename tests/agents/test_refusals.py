"""What does not fit together is refused, with a message that says what is wrong."""

import numpy as np
import pytest

from optimist import (
    Configuration,
    FiniteMDP,
    LsviUcb,
    OptimisticVI,
    Psrl,
    Rlsvi,
    RmaxRaviUcb,
    Ucbvi,
    envs,
)
from optimist.core import Sigmoid, Threshold
from optimist.features import OneHot, OneHotState, PerAction, Table

RIVER = envs.RiverSwim(6, gamma=0.9)
NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize("r", [[[0.0, -0.1]], [[0.5, 1.1]]])
def test_rewards_out_of_range(r):
    mdp = FiniteMDP(np.ones((1, 2, 1)), r, [1.0], gamma=0.5)
    with pytest.raises(ValueError, match=r"\[0, r_max\] = \[0, 1\].*affine"):
        RmaxRaviUcb(mdp).learn(1)


def test_a_larger_bound_takes_larger_rewards():
    mdp = FiniteMDP(np.ones((1, 2, 1)), [[0.0, 5.0]], [1.0], gamma=0.5)
    config = Configuration(eta=1.0, beta=1.0, ascension=Sigmoid(2.0, 1.0), r_max=5.0)
    assert RmaxRaviUcb(mdp, config=config).learn(10).steps.size == 10


def test_features_of_other_actions():
    with pytest.raises(ValueError, match=r"the features have .*3 actions, the world has .*2"):
        RmaxRaviUcb(RIVER, OneHot(6, 3))


@pytest.mark.parametrize(
    "features",
    [
        OneHot(5, 2),
        OneHot(7, 2),
        Table(np.ones((5, 2, 3))),
        Table(np.ones((7, 2, 3))),
        PerAction(OneHotState(5), 2),
    ],
    ids=["fewer one-hot", "more one-hot", "fewer rows", "more rows", "fewer per action"],
)
def test_features_of_other_states(features):
    with pytest.raises(ValueError, match="state"):
        RmaxRaviUcb(RIVER, features)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"eta": 0.0}, r"eta = 0\.0 must be positive"),
        ({"eta": -1.0}, r"eta = -1\.0 must be positive"),
        ({"eta": NAN}, "eta = nan must be positive"),
        ({"beta": -0.5}, r"beta = -0\.5 must not be negative"),
        ({"beta": INFINITY}, "beta is inf; it must be a finite number"),
        ({"beta": NAN}, "beta is nan; it must be a finite number"),
        ({"r_max": 0.0}, "r_max = 0 must be positive"),
        ({"r_max": INFINITY}, "r_max is inf; it must be a finite number"),
        ({"ridge": 0.0}, "ridge = 0 must be positive"),
        ({"ridge": -1.0}, "ridge = -1 must be positive"),
        ({"updates": 0}, "updates = 0 must be at least 1"),
    ],
)
def test_bad_configurations(wrong, message):
    usual = {"eta": 1.0, "beta": 1.0, "ascension": Sigmoid(2.0, 1.0)}
    with pytest.raises(ValueError, match=message):
        Configuration(**{**usual, **wrong})


@pytest.mark.parametrize("peer", [Psrl, Ucbvi, Rlsvi, LsviUcb, OptimisticVI])
def test_bad_configurations_of_peers(peer):
    with pytest.raises(ValueError, match="updates = 0 must be at least 1"):
        peer(RIVER, config=peer.Config(updates=0))


def test_updates_are_whole_numbers():
    with pytest.raises(TypeError, match=r"updates = 2\.5 is not a whole number"):
        Configuration(eta=1.0, beta=1.0, ascension=Sigmoid(2.0, 1.0), updates=2.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sigmoid(0.0, 1.0), r"alpha = 0\.0 must be positive"),
        (lambda: Sigmoid(NAN, 1.0), "alpha = nan must be positive"),
        (lambda: Sigmoid(1.0, INFINITY), "omega is inf; it must be a finite number"),
        (lambda: Threshold(-0.1), r"level = -0\.1 must not be negative"),
        (lambda: Threshold(NAN), "level is nan; it must be a finite number"),
        (lambda: Threshold.after(0), "visits = 0 must be at least 1"),
    ],
)
def test_bad_ascension_functions(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed = -1 must be at least 0"),
        ({"stride": -1}, "stride = -1 must be at least 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        RmaxRaviUcb(RIVER, **options)


def test_a_negative_number_of_episodes():
    with pytest.raises(ValueError, match="episodes = -1 must be at least"):
        RmaxRaviUcb(RIVER).learn(-1)


def test_states_that_there_are_not():
    agent = RmaxRaviUcb(RIVER)
    agent.learn(5)
    with pytest.raises(ValueError, match="state = 6 is outside"):
        agent.predict(6)
