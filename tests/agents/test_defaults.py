"""The defaults: studies, `--help` and the documents rely on them, so a change has to be meant."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from optimist import FraIL, envs, imitation
from optimist.agents import AGENTS, Optimist
from optimist.core import Contraction, FixedBonus, NoiseBonus, Sigmoid, Threshold, Truncation

DEFAULTS = {
    "RaviUcb": {"beta": 0.3, "eta": 10.0, "ridge": 0.01, "updates": 10},
    "OptimisticVI": {"beta": 0.3, "ridge": 0.01, "updates": 10},
    "Rmax": {"visits": 5, "updates": 100},
    "Cfpo": {
        "beta": 0.1, "eta": 30.0, "alpha": 4 * (1 + math.log(10_000)), "omega": math.log(10_000),
        "r_max": 1.0, "ridge": 0.1, "updates": 1000, "tolerance": 1e-3,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_parameters_of_special_cases(name):
    assert asdict(AGENTS[name].Config()) == DEFAULTS[name]


GREEDY = {"eta": math.inf, "ascension": Truncation()}
VARIANTS = {
    "RmaxRaviUcb": (
        {"beta": 2.0, "alpha": 3.0, "omega": 1.0},
        {"eta": 10.0, "bonus": FixedBonus(2.0), "ascension": Sigmoid(3.0, 1.0), "ridge": 1.0},
    ),
    "RaviUcb": (
        {"beta": 2.0},
        {"bonus": FixedBonus(2.0), "ascension": Truncation(), "ridge": 0.01},
    ),
    "OptimisticVI": ({"beta": 2.0}, {**GREEDY, "bonus": FixedBonus(2.0)}),
    "Cfpo": (
        {"beta": 2.0, "alpha": 3.0, "omega": 1.0, "updates": 7},
        {"bonus": FixedBonus(2.0), "ascension": Contraction(3.0, 1.0), "updates": 7},
    ),
    "LsviUcb": ({"beta": 2.0}, {**GREEDY, "bonus": FixedBonus(2.0), "lazy": True}),
    "Rlsvi": ({"sigma": 2.0}, {**GREEDY, "bonus": NoiseBonus(2.0), "lazy": False}),
    "Rmax": (
        {"visits": 3},
        {"eta": math.inf, "bonus": FixedBonus(0.0), "ascension": Threshold.after(3)},
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_an_agent_is_the_variant_that_transcriptions_are_compared_with(name):
    given, expected = VARIANTS[name]
    variant = AGENTS[name].Config(**given).variant()
    assert {field: getattr(variant, field) for field in expected} == expected


@pytest.mark.parametrize("name", AGENTS)
def test_seed_and_stride(name):
    agent = AGENTS[name](envs.RiverSwim(3, gamma=0.9))
    assert (agent.seed, agent.stride) == (0, 10)


def test_imitation():
    world = envs.RiverSwim(3, gamma=0.9)
    expert = imitation.FeatureDataset(np.eye(world.features.dim)[:1])
    il = FraIL(world, expert, reward_features=world.features)
    assert (il.seed, il.stride) == (0, 10)
    assert imitation.Ball() == imitation.Ball(radius=1.0)


def test_the_agent_without_a_knob():
    found = asdict(Optimist.Config().variant())
    assert found["bonus"] == {"c": 0.015}
    assert found["ascension"] == {}
    assert {n: found[n] for n in ("eta", "updates", "tolerance", "ridge")} == {
        "eta": 10.0, "updates": 100, "tolerance": 1e-4, "ridge": None,
    }  # fmt: skip
