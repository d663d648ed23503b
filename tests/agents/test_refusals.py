"""Worlds, features and parameters that cannot be are refused with a sentence."""

import gymnasium
import numpy as np
import pytest
from reference.refusals import assert_refuses

from optimist import (
    FiniteMDP,
    LsviUcb,
    Optimist,
    OptimisticVI,
    Psrl,
    RaviUcb,
    Rlsvi,
    Rmax,
    RmaxRaviUcb,
    Ucbvi,
    envs,
)
from optimist.agents import VariantAgent
from optimist.core import FixedBonus, Sigmoid, Threshold, Variant
from optimist.features import OneHot, OneHotState, PerAction, Table

RIVER = envs.RiverSwim(6, gamma=0.9)
INFINITY, NAN = float("inf"), float("nan")


def test_rewards_out_of_range():
    """A larger bound takes larger rewards."""
    mdps = [FiniteMDP(np.ones((1, 2, 1)), [[0.0, r]], [1.0], gamma=0.5) for r in (-0.5, 1.5)]
    assert RmaxRaviUcb(mdps[1], r_max=5.0).learn(10).steps.size == 10
    said = r"rewards\[0, 1\] must be in \[0, r_max\] = \[0, 1\]; got {}\. FiniteMDP\.affine"
    cases = [(mdp, ValueError, said.format(mdp.r[0, 1])) for mdp in mdps]
    assert_refuses(lambda mdp: Optimist(mdp).learn(1), *cases)


def test_features_of_other_states_or_actions():
    others = OneHot(5, 2), OneHot(7, 2), PerAction(OneHotState(5), 2)
    tables = Table(np.ones((5, 2, 3))), Table(np.ones((7, 2, 3)))
    assert_refuses(
        lambda features: Optimist(RIVER, features),
        (OneHot(6, 3), ValueError, r"the features have .*3 actions, the world has .*2"),
        ("onehot", TypeError, "features must be a FeatureMap; got"),
        *((features, ValueError, "state") for features in (*others, *tables)),
    )


WRONG = [
    ({"eta": 0.0}, r"eta must be positive.*; got 0\.0"),
    ({"eta": -1.0}, r"eta must be positive.*; got -1\.0"),
    ({"eta": NAN}, "eta must be positive.*; got nan"),
    ({"beta": -0.5}, r"beta must not be negative; got -0\.5"),
    ({"beta": INFINITY}, "beta must be a finite number; got inf"),
    ({"beta": NAN}, "beta must be a finite number; got nan"),
    ({"alpha": 0.0}, r"alpha must be positive .*; got 0\.0"),
    ({"omega": INFINITY}, "omega must be a finite number; got inf"),
    ({"r_max": 0.0}, "r_max must be positive; got 0"),
    ({"r_max": INFINITY}, "r_max must be a finite number; got inf"),
    ({"ridge": 0.0}, "ridge must be positive; got 0"),
    ({"ridge": -1.0}, "ridge must be positive; got -1"),
    ({"updates": 0}, "updates must be at least 1; got 0"),
    ({"v_max": 0.0}, "v_max must be positive; got 0"),
    ({"v_max": 11.0}, r"v_max must be at most R_max H = 10; got 11"),
    ({"seed": -1}, "seed must be at least 0; got -1"),
    ({"stride": -1}, "stride must be at least 0; got -1"),
    ({"v_max": 1.0, "value_bound": 2.0}, "value_bound = 2 and v_max = 1: give one"),
]
UPDATES = (Psrl, Ucbvi, Rlsvi, LsviUcb, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb)
LAKE = gymnasium.make("FrozenLake-v1")
REFUSED = [
    *((lambda a=a: a(RIVER, updates=0), ValueError, "at least 1; got 0") for a in UPDATES),
    (lambda: Rmax(RIVER, updates=2.5), TypeError, r"updates must be a whole number; got 2\.5"),
    (lambda: Variant(ascension=1), TypeError, "ascension must be one of Sigmoid, Contraction"),
    (lambda: Variant(ascension=Threshold(1), anytime=True), ValueError, "anytime needs a Sigmoid"),
    (lambda: Threshold(-0.1), ValueError, r"level must not be negative; got -0\.1"),
    (lambda: Threshold(NAN), ValueError, "level must be a finite number; got nan"),
    (lambda: Rmax(RIVER, visits=0), ValueError, "visits must be at least 1; got 0"),
    (lambda: Optimist(RIVER).learn(-1), ValueError, "at least 1; got -1"),
    # The nearest right name is given; what an environment defines, a finite world refuses.
    (lambda: RmaxRaviUcb(RIVER, betta=1.0), TypeError, "no parameter 'betta': did you mean 'beta'"),
    (lambda: Psrl(RIVER, beta=1.0), TypeError, "Psrl has no parameter 'beta': .*[iI]t has alpha"),
    (lambda: Optimist(RIVER, gamma=0.9), TypeError, "gamma= .* only; RiverSwim already defines"),
    (lambda: Optimist(LAKE, rewards=object()), TypeError, "rewards= applies to finite worlds"),
    (lambda: Optimist(3), TypeError, "must be a World, FiniteMDP, Gym or gymnasium.Env; got int"),
    (lambda: RmaxRaviUcb(RIVER, config=Rmax.Config()), TypeError, "must be a RmaxRaviUcbConfig, "),
]


def test_parameters_out_of_range_and_names_of_none():
    cases = [(wrong, ValueError, message) for wrong, message in WRONG]
    assert_refuses(lambda wrong: RmaxRaviUcb(RIVER, **wrong).learn(1), *cases)
    assert_refuses(lambda make: make(), *REFUSED)


def test_parameters_take_the_place_of_those_of_a_configuration():
    config = RmaxRaviUcb.Config(beta=2.0, updates=3)
    agent = RmaxRaviUcb(RIVER, config=config, beta=0.25)
    assert agent.config == RmaxRaviUcb.Config(beta=0.25, updates=3)
    bounded = Optimist(RIVER, value_bound=3.0)
    bounded.learn(20)
    assert bounded.diagnostics.V.max() <= 3


def test_states_that_there_are_not():
    agent = Optimist(RIVER)
    agent.learn(5)
    with pytest.raises(ValueError, match=r"state must be in .*; got 6"):
        agent.predict(6)


def test_a_variant_is_refused_where_its_bonus_has_no_closed_form():
    noise = Rlsvi.Config().variant()
    with pytest.raises(TypeError, match="random bonuses"):
        VariantAgent(gymnasium.make("FrozenLake-v1"), config=noise)
    sigmoid = Variant(bonus=FixedBonus(0.1), ascension=Sigmoid(2.0, 1.0))
    assert VariantAgent(RIVER, config=sigmoid).config == sigmoid
