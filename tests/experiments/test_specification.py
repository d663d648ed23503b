"""A run as data: what it is known by, and what its seed depends on."""

import json
import math
import re
import tomllib
from dataclasses import fields, replace

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation

from optimist.agents import (
    AGENTS,
    Cfpo,
    Optimist,
    OptimisticVI,
    RaviUcb,
    Rmax,
    RmaxRaviUcb,
    StableBaselines,
)
from optimist.core import (
    Contraction,
    FixedBonus,
    Never,
    Sigmoid,
    Threshold,
    Truncation,
    VarianceBonus,
    Variant,
)
from optimist.envs import (
    WORLDS,
    DeepSea,
    FourRooms,
    GridWorld,
    Gym,
    Maze,
    RandomMixture,
    RiverSwim,
)
from optimist.errors import DataError
from optimist.experiments import Specification
from optimist.experiments.learners import CONFIGS, ImitationConfig
from optimist.experiments.specification import (
    default_stride,
    derived_seed,
    digest,
    read_agent,
    read_world,
)
from optimist.experiments.toml import write_toml
from optimist.imitation import Box, FraIL, OgaIL, Simplex

# Another value of every parameter of every world and every agent, each possible by itself

OTHERS = {
    "RiverSwim": {"n": 7, "gamma": 0.5},
    "DeepSea": {"n": 7, "slip": 0.1, "gamma": 0.5},
    "GridWorld": {"layout": "S.G", "slip": 0.2, "gamma": 0.5},
    "FourRooms": {"slip": 0.2, "gamma": 0.5},
    "Maze": {"slip": 0.2, "gamma": 0.5},
    "CombinationLock": {"n": 7, "n_actions": 3, "seed": 1, "gamma": 0.5},
    "SixArms": {"gamma": 0.5},
    "RandomLinear": {"d": 3, "n_states": 30, "n_actions": 2, "seed": 1, "gamma": 0.5},
    "RandomTabular": {
        "n_states": 30, "n_actions": 2, "successors": 5, "paying": 0.3, "seed": 1, "gamma": 0.5
    },
    "RandomMixture": {
        "d": 2, "n_states": 30, "n_actions": 2, "successors": 5, "paying": 0.3, "seed": 1,
        "gamma": 0.5,
    },
    "ResetCliff": {
        "n": 7, "n_actions": 3, "m": 30, "pairs": True, "seed": 1, "gamma": 0.5
    },
    "StandardImitation": {"n": 7, "n_actions": 3, "seed": 1, "gamma": 0.5},
    "Inventory": {
        "capacity": 7, "demand": 2.0, "price": 3.0, "cost": 1.0, "delivery": 2.0, "holding": 0.1,
        "gamma": 0.5,
    },
    "Queue": {
        "capacity": 7, "routine": 0.2, "urgent": 0.2, "slow": 0.1, "fast": 0.2,
        "pays_routine": 1.0, "pays_urgent": 2.0, "waiting": 0.1, "help": 0.5, "gamma": 0.5,
    },
    "Warehouse": {"walkway": 2.0, "slip": 0.2, "gamma": 0.5},
    "ToyText": {"name": "FrozenLake8x8-v1", "options": "is_slippery=false", "gamma": 0.5},
    "LowerK": {"n_actions": 5, "special": 1, "epsilon": 0.01, "gamma": 0.5},
    "LowerTauE": {
        "member": 1, "n_actions": 5, "special": 1, "epsilon": 0.01, "w_max": 0.5, "gamma": 0.5
    },
    "Gym": {
        "id": "CartPole-v1", "features": "tiles:5", "gamma": 0.9, "repeat": 3, "geometric": True,
        "low": -2.0, "high": 1.0, "options": "goal_velocity=0.01", "parallel": 2,
        "value_bound": 9.0, "memory": 1e6, "when_full": "error",
    },
    "Optimist": {"r_max": 2.0, "v_max": 5.0, "delta": 0.1},
    "RmaxRaviUcb": {
        "beta": 2.0, "eta": math.inf, "alpha": math.inf, "omega": 1.0, "r_max": 2.0,
        "ridge": None, "updates": 3, "observe_last": True, "anytime": True, "lazy": True,
        "v_max": 5.0,
    },
    "VariantAgent": {
        "eta": math.inf, "bonus": VarianceBonus(2.0), "ascension": Sigmoid(math.inf, 1.0),
        "r_max": 2.0, "ridge": None, "updates": 3, "observe_last": True, "midway": True,
        "anytime": True, "lazy": True, "v_max": 5.0, "tolerance": 0.5,
    },
    "Cfpo": {
        "beta": 2.0, "eta": 1.0, "alpha": 2.0, "omega": 1.0, "r_max": 2.0, "ridge": 0.5,
        "updates": 3, "tolerance": 0.5,
    },
    "RaviUcb": {"beta": 2.0, "eta": math.inf, "ridge": 1.0, "updates": 3},
    "OptimisticVI": {"beta": 2.0, "ridge": 1.0, "updates": 3},
    "Rmax": {"visits": 2, "updates": 3},
    "Prover": {"delta": 0.1},
    "Psrl": {"alpha": 2.0, "lazy": True, "updates": 3},
    "Ucbvi": {"c": 2.0, "updates": 3},
    "LsviUcb": {"beta": 2.0, "ridge": 0.5, "updates": 3},
    "Rlsvi": {"sigma": 2.0, "ridge": 0.5, "lazy": True, "updates": 3},
    "OptimisticQ": {"c": 2.0},
    "QLearning": {"epsilon": 0.5, "step": 0.25, "power": 1.0},
    "HashedQLearning": {"rate": 0.1, "features": "tiles:4", "epsilon": 0.5, "initial": 1.0},
    "CountBonus": {"rate": 0.1, "features": "tiles:4", "c": 1.0},
    "FraIL": {
        "weights": Box(-1.0, 1.0), "player": RmaxRaviUcb.Config(), "fresh": True,
        "samples": 100.0, "features": "pairs",
    },
    "Mobile": {"c": 0.5, "delta": 0.2, "trajectories": 7, "length": 9},
    "MbTail": {
        "c": 0.5, "delta": 0.2, "backward": 8, "copy": True, "trajectories": 7, "length": 9
    },
    "Oal": {
        "bonus": 0.5, "policy_step": 2.0, "cost_step": 2.0, "trajectories": 7, "length": 9
    },
    "ForwardAIL": {"literal": True, "cut": 0.1, "trajectories": 7, "length": 9},
    "Ilarl": {
        "weights": Box(-1.0, 1.0), "batch": 7, "eta": 1.0, "beta": 0.5, "ridge": 0.5,
        "samples": 100.0, "features": "pairs",
    },
    "OgaIL": {
        "table": True, "weights": Box(-1.0, 1.0), "policy_step": 1.0, "kappa": 0.5, "ridge": 0.5,
        "tolerance": 0.5, "sweeps": 7, "samples": 100.0, "features": "pairs",
    },
}  # fmt: skip


def changed(name, made):
    """All that differ from what was made in one parameter."""
    assert set(OTHERS[name]) == {f.name for f in fields(made) if f.metadata.get("plain", True)}
    return [replace(made, **{key: value}) for key, value in OTHERS[name].items()]


ASCENSIONS = [
    *(Truncation(), Never(), Threshold(1.0), Threshold(2.0)),
    *(Sigmoid(1.0, 2.0), Contraction(1.0, 2.0)),
]
PLAYERS = [Optimist.Config(v_max=2.0), RmaxRaviUcb.Config(beta=2.0), Cfpo.Config()]
CAR = Gym("MountainCar-v0", low=-1.0, high=0.0)

WORLD, AGENT = RiverSwim(6), Rmax.Config()
SPEC = Specification(WORLD, AGENT, episodes=100, stride=1, seed=0)
BY_STEPS = Specification(CAR, AGENT, episodes=None, stride=1, seed=0, steps=100)

OURS = {name: kind for name, kind in CONFIGS.items() if name != "StableBaselines"}
THEIRS = [
    AGENT, StableBaselines.Config(), StableBaselines.Config("PPO"),
    StableBaselines.Config("DQN", learning_rate=0.5, policy_kwargs={"net_arch": [8, 8]}),
    StableBaselines.Config("DQN", {"learning_rate": 0.5, "policy_kwargs": {"net_arch": [8]}}),
]  # fmt: skip


def of(agent):
    """The specification of an agent; OGAIL needs a mixture of known kernels."""
    world = RandomMixture(d=2) if isinstance(agent, OgaIL.Config) else WORLD
    return replace(SPEC, agent=agent, world=world)


EVERY = [
    *(replace(SPEC, world=kind()) for kind in WORLDS.values()),
    *(replace(SPEC, world=world) for name in WORLDS for world in changed(name, WORLDS[name]())),
    *(replace(SPEC, world=world) for world in (Gym("MountainCar-v0"), CAR, *changed("Gym", CAR))),
    *(of(kind()) for name, kind in OURS.items() if name != "Rmax"),
    *(of(agent) for name in OURS for agent in changed(name, OURS[name]())),
    *(replace(BY_STEPS, agent=agent) for agent in THEIRS),
    replace(BY_STEPS, steps=101),
    *(replace(SPEC, agent=Variant(ascension=ascension)) for ascension in ASCENSIONS),
    *(replace(SPEC, agent=ImitationConfig(weights=Simplex(total))) for total in (1.0, 2.0)),
    *(replace(SPEC, agent=ImitationConfig(player=player)) for player in PLAYERS),
    replace(SPEC, world=Maze(gamma=FourRooms().gamma)),
    replace(SPEC, episodes=101),
    replace(SPEC, stride=2),
    replace(SPEC, seed=1),
]


def standard(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not standard JSON")

    return json.loads(text, parse_constant=refuse)


def test_a_specification_comes_back_from_standard_json_and_from_toml():
    for spec in EVERY:
        for data in (standard(json.dumps(spec.plain)), tomllib.loads(write_toml(spec.plain))):
            back = Specification.from_plain(data)
            assert back == spec
            assert back.id == spec.id


def test_runs_that_differ_have_different_names():
    assert len({spec.id for spec in EVERY}) == len(EVERY)


def test_a_name_does_not_change_from_one_version_to_the_next():
    assert SPEC.id == "6b42373e12bc4f96"
    config = Variant(eta=math.inf, bonus=FixedBonus(1), ascension=Sigmoid(4.0, 2.0), ridge=None)
    spec = Specification(GridWorld("S.G", slip=0.0), config, episodes=10, stride=2, seed=2**62)
    assert spec.id == "a8554e43b4d369a0"


def test_the_order_of_keys_does_not_matter():
    def backwards(data):
        items = reversed(data.items()) if isinstance(data, dict) else None
        return data if items is None else {key: backwards(value) for key, value in items}

    spec = Specification(DeepSea(4), Variant(), episodes=10, stride=1, seed=0)
    again = backwards(spec.plain)
    assert list(again) != list(spec.plain)
    assert Specification.from_plain(again).id == spec.id


def test_the_same_numbers_of_another_type_are_the_same_run():
    one = Specification(RiverSwim(6, gamma=0), RaviUcb.Config(beta=1), 10, 1, 0)
    other = Specification(RiverSwim(6, gamma=0.0), RaviUcb.Config(beta=1.0), np.int64(10), 1, 0)
    assert one == other
    assert one.id == other.id


def test_nan_has_no_name():
    with pytest.raises(ValueError, match="not JSON compliant"):
        digest({"gamma": math.nan})


def test_plain_data_have_every_parameter():
    assert SPEC.plain == {
        "format": 2,
        "world": {"world": "RiverSwim", "n": 6, "gamma": 0.99},
        "agent": {"agent": "Rmax", "visits": 5, "updates": 100},
        "episodes": 100,
        "stride": 1,
        "seed": 0,
    }


@pytest.mark.parametrize("name", AGENTS)
def test_the_learner_is_what_the_specification_says(name):
    others = {**OTHERS[name], **({"bonus": FixedBonus(2.0)} if name == "VariantAgent" else {})}
    config = CONFIGS[name](**others)
    learner = Specification(RiverSwim(4), config, episodes=10, stride=7, seed=5).learner()
    assert type(learner) is AGENTS[name]
    assert learner.mdp.n_states == 4
    assert (learner.stride, learner.seed, learner.config) == (7, 5, config)
    other = AGENTS[name](RiverSwim(4), config=config, seed=5, stride=7)
    np.testing.assert_array_equal(learner.learn(20).steps, other.learn(20).steps)


@pytest.mark.parametrize(
    ("features", "dim", "samples"),
    [("states", 4, 50), ("pairs", 8, math.inf), ("linear", 8, 50)],
)
def test_an_imitator_observes_an_optimal_policy(features, dim, samples):
    config = ImitationConfig(samples=samples, features=features, player=RmaxRaviUcb.Config())
    spec = Specification(RiverSwim(4), config, episodes=10, stride=7, seed=5)
    learner = spec.learner()
    assert type(learner) is FraIL
    assert (learner.K, learner.stride, learner.seed, learner.config) == (10, 7, 5, config)
    assert (learner.expert.size, learner.expert.dim) == (samples, dim)
    mdp = RiverSwim(4).mdp
    Phi = learner.reward_features.all_actions(np.arange(4))
    exact = mdp.feature_expectations(mdp.optimal().policy, Phi)
    # Each of the features is 0 or 1, so that the error of a mean is at most 1/2 over sqrt n.
    error = 0.0 if math.isinf(samples) else 4.5 * 0.5 / np.sqrt(samples)
    np.testing.assert_allclose(learner.expert.mean, exact, rtol=0, atol=error + 1e-12)
    again, other = spec.learner(), replace(spec, seed=6).learner()
    np.testing.assert_array_equal(learner.expert.mean, again.expert.mean)
    np.testing.assert_array_equal(learner.learn(5).steps, again.learn(5).steps)
    assert (learner.expert.mean != other.expert.mean).any() == math.isfinite(samples)


def test_an_imitation_that_cannot_be_run_is_refused():
    for change, message in (
        ({"samples": 0.0}, "samples must be at least 1; got 0"),
        ({"samples": -math.inf}, "samples must be a whole number or inf; got -inf"),
        ({"samples": 1.5}, "samples must be a whole number or inf; got 1.5"),
        ({"samples": math.nan}, "samples must be a whole number or inf; got nan"),
        ({"features": "state"}, "features must be one of states, pairs, linear; got 'state'"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            ImitationConfig(**change)


# Refusals


def test_a_specification_that_cannot_be_run_is_refused():
    for change, message in (
        ({"format": 1}, "format must be 2; got 1"),
        ({"sede": 3}, "missing or unknown: sede"),
        ({"episodes": 0}, "episodes must be at least 1; got 0"),
        ({"episodes": "10"}, "episodes must be a whole number; got '10'"),
        ({"stride": 0}, "stride must be at least 1; got 0"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
        ({"seed": True}, "seed must be a whole number; got True"),
        ({"world": {"world": "RiverSwin"}}, "there is no world 'RiverSwin'"),
        ({"agent": {"agent": "Rmax", "beta": 1}}, "Rmax has no parameter 'beta'"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            Specification.from_plain({**SPEC.plain, **change})
    for key in SPEC.plain:
        with pytest.raises(ValueError, match=key):
            Specification.from_plain({k: v for k, v in SPEC.plain.items() if k != key})


def test_worlds_and_agents_may_be_given_in_several_ways():
    for world, same in ((RiverSwim, RiverSwim()), (gymnasium.make("Taxi-v4"), Gym("Taxi-v4"))):
        assert replace(SPEC, world=world).plain == replace(SPEC, world=same).plain
    assert replace(SPEC, agent=Rmax).plain == replace(SPEC, agent=Rmax.Config()).plain
    for world in ("RiverSwim", 3, None):
        with pytest.raises(TypeError, match=r"^world must be a World, a FiniteMDP, .*; got "):
            replace(SPEC, world=world)
    with pytest.raises(TypeError, match="every run makes its own environment: give a function"):
        replace(SPEC, world=Gym(FlattenObservation(Gym("CartPole-v1").make())))
    for agent in ("Rmax", WORLD, None):
        with pytest.raises(TypeError, match=r"agent must be an agent, its configuration.*got"):
            replace(SPEC, agent=agent)


def test_an_error_in_a_table_says_where():
    for read, data, path, message in (
        (read_world, {"n": 6}, (), "world is missing: give one of RiverSwim, DeepSea, "),
        (read_world, {"world": "riversim"}, ("world",), "there is no world 'riversim': did you"),
        (read_world, {"world": "zzz"}, ("world",), "there is no world 'zzz': there are RiverSwim"),
        (read_world, {"world": {"a": 1}}, ("world",), "there is no world {'a': 1}: there are "),
        (read_world, {"world": "SixArms", "n": 1}, ("n",), "SixArms has no parameter 'n': it has"),
        (read_world, {"world": "DeepSea", "n": 1}, ("n",), "DeepSea: n must be at least 2; got 1"),
        (read_agent, {"world": "Rmax"}, (), "agent is missing: give one of Optimist, RmaxRaviUcb"),
        (read_agent, {"agent": "Rmx"}, ("agent",), "there is no agent 'Rmx': did you mean 'Rmax'"),
        (read_agent, {"agent": "Rmax", "visits": 0}, ("visits",), "Rmax: visits must be at"),
    ):
        with pytest.raises(DataError) as caught:
            read(data, ("top",))
        assert caught.value.path == ("top", *path)
        assert str(caught.value).startswith(message)


def test_a_table_that_was_read_is_left_as_it_was():
    table = {"world": "RiverSwim", "n": 4}
    assert read_world(table) == RiverSwim(4)
    assert table == {"world": "RiverSwim", "n": 4}


# Seeds


def test_seeds_differ_between_worlds_agents_numbers_and_studies():
    worlds = [RiverSwim(6), RiverSwim(7), FourRooms(gamma=0.9), Maze(gamma=0.9)]
    agents = [
        *(AGENT, Rmax.Config(visits=2), OptimisticVI.Config(), RaviUcb.Config()),
        *(RmaxRaviUcb.Config(), RmaxRaviUcb.Config(beta=2), Optimist.Config()),
    ]
    studies, numbers = [0, 1, 2**32, 2**64], [0, 1, 2, 2**32]
    seeds = [
        derived_seed(s, i, w, a) for s in studies for i in numbers for w in worlds for a in agents
    ]
    assert len(set(seeds)) == len(seeds)


def test_a_seed_does_not_change_from_one_version_to_the_next():
    assert derived_seed(0, 0, WORLD, AGENT) == 5375714754361472683
    assert derived_seed(3, 2**40, FourRooms(), Variant()) == 5826777388451534081


def test_seeds_fit_into_what_every_file_format_holds():
    seeds = np.array([derived_seed(0, i, WORLD, AGENT) for i in range(200)], dtype=object)
    assert all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)
    assert 0.4 < np.mean([seed > 2**62 for seed in seeds]) < 0.6


def test_about_400_policies_are_evaluated_by_default():
    strides = {1: 1, 400: 1, 799: 1, 800: 2, 10**6: 2500}
    assert {episodes: default_stride(episodes) for episodes in strides} == strides
