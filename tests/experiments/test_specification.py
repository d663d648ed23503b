"""A run as data: what it is known by, and what its seed depends on."""

import json
import math
import re
from dataclasses import fields, replace

import numpy as np
import pytest

from optimist.agents import AGENTS, Configuration, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb
from optimist.core import Never, Sigmoid, Threshold, Truncation, VarianceBonus
from optimist.envs import WORLDS, DeepSea, FourRooms, GridWorld, Maze, RiverSwim
from optimist.errors import DataError
from optimist.experiments import Specification
from optimist.experiments.learners import CONFIGS, ImitationConfig
from optimist.experiments.specification import (
    agent_name,
    default_stride,
    derived_seed,
    digest,
    read_agent,
    read_world,
)
from optimist.imitation import Box, FraIL, Simplex

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
    "ToyText": {"name": "FrozenLake8x8-v1", "options": "is_slippery=false", "gamma": 0.5},
    "LowerK": {"n_actions": 5, "special": 1, "epsilon": 0.01, "gamma": 0.5},
    "LowerTauE": {
        "member": 1, "n_actions": 5, "special": 1, "epsilon": 0.01, "w_max": 0.5, "gamma": 0.5
    },
    "RmaxRaviUcb": {
        "eta": math.inf, "beta": 2.0, "ascension": Sigmoid(math.inf, 1.0), "r_max": 2.0,
        "ridge": None, "updates": 3, "observe_last": True, "anytime": True, "lazy": True,
        "v_max": 5.0, "bonus": VarianceBonus(2.0), "tolerance": 0.5,
    },
    "RaviUcb": {"beta": 2.0, "eta": math.inf, "ridge": 1.0, "updates": 3},
    "OptimisticVI": {"beta": 2.0, "ridge": 1.0, "updates": 3},
    "Rmax": {"visits": 2, "updates": 3},
    "Psrl": {"alpha": 2.0, "lazy": True, "updates": 3},
    "Ucbvi": {"c": 2.0, "updates": 3},
    "LsviUcb": {"beta": 2.0, "ridge": 0.5, "updates": 3},
    "Rlsvi": {"sigma": 2.0, "ridge": 0.5, "lazy": True, "updates": 3},
    "OptimisticQ": {"c": 2.0},
    "QLearning": {"epsilon": 0.5, "step": 0.25, "power": 1.0},
    "FraIL": {
        "weights": Box(-1.0, 1.0), "beta": 2.0, "eta": math.inf, "ascension": Never(),
        "ridge": 0.5, "updates": 3, "fresh": True, "samples": 100.0, "features": "pairs",
        "bonus": VarianceBonus(2.0), "tolerance": 0.5,
    },
}  # fmt: skip


def changed(name, made):
    """All that differ from what was made in one parameter."""
    assert set(OTHERS[name]) == {f.name for f in fields(made)}
    fixed = {"bonus": {"beta": 0.0}}  # a bonus is given in the place of beta
    return [
        replace(made, **{key: value, **fixed.get(key, {})}) for key, value in OTHERS[name].items()
    ]


ASCENSIONS = [Truncation(), Never(), Threshold(1.0), Threshold(2.0), Sigmoid(1.0, 2.0)]

DEFAULTS = {name: read_agent({"agent": name}) for name in CONFIGS}
FIXED = {
    name: read_agent({"agent": name, **({"beta": 0.5} if name in ("RmaxRaviUcb", "FraIL") else {})})
    for name in CONFIGS
}
"""The same with the paper's bonus, where there is another."""

WORLD, AGENT = RiverSwim(6), Rmax.Config()
SPEC = Specification(WORLD, AGENT, episodes=100, stride=1, seed=0)

EVERY = [
    *(replace(SPEC, world=kind()) for kind in WORLDS.values()),
    *(replace(SPEC, world=world) for name in WORLDS for world in changed(name, WORLDS[name]())),
    *(replace(SPEC, agent=agent) for agent in DEFAULTS.values() if agent != AGENT),
    *(replace(SPEC, agent=agent) for name in CONFIGS for agent in changed(name, FIXED[name])),
    *(replace(SPEC, agent=replace(DEFAULTS["RmaxRaviUcb"], ascension=a)) for a in ASCENSIONS),
    *(replace(SPEC, agent=replace(DEFAULTS["FraIL"], weights=Simplex(t))) for t in (1.0, 2.0)),
    replace(SPEC, world=Maze(gamma=FourRooms().gamma)),
    replace(SPEC, episodes=101),
    replace(SPEC, stride=2),
    replace(SPEC, seed=1),
]


def standard(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not standard JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("spec", EVERY, ids=lambda spec: spec.id)
def test_a_specification_comes_back_from_standard_json(spec):
    back = Specification.from_plain(standard(json.dumps(spec.plain)))
    assert back == spec
    assert back.id == spec.id


def test_whatever_differs_is_known_by_another_name():
    assert len({spec.id for spec in EVERY}) == len(EVERY)


def test_a_name_does_not_change_from_one_version_to_the_next():
    assert SPEC.id == "fec5a20e8279039b"
    config = Configuration(eta=math.inf, beta=1, ascension=Sigmoid(4.0, 2.0), ridge=None)
    spec = Specification(GridWorld("S.G", slip=0.0), config, episodes=10, stride=2, seed=2**62)
    assert spec.id == "76bdc16beebc91ff"


def test_what_was_run_before_there_was_a_ridge_keeps_its_name_and_its_meaning():
    """Both names are those that these runs had when the covariance began at the identity."""
    before = {
        "cc98cb266bbd0f8a": RaviUcb.Config(beta=1.0, ridge=1.0),
        "f40982201c604622": OptimisticVI.Config(beta=1.0, ridge=1.0),
    }
    for name, config in before.items():
        spec = replace(SPEC, agent=config)
        assert spec.id == name
        assert "ridge" not in spec.plain["agent"]
        assert Specification.from_plain(spec.plain) == spec
        assert "ridge" in replace(SPEC, agent=type(config)()).plain["agent"]


def test_the_order_of_keys_does_not_matter():
    def backwards(data):
        items = reversed(data.items()) if isinstance(data, dict) else None
        return data if items is None else {key: backwards(value) for key, value in items}

    spec = Specification(DeepSea(4), Configuration.practical(), episodes=10, stride=1, seed=0)
    again = backwards(spec.plain)
    assert list(again) != list(spec.plain)
    assert Specification.from_plain(again).id == spec.id


def test_the_same_numbers_of_another_type_are_the_same_run():
    one = Specification(RiverSwim(6, gamma=0), RaviUcb.Config(beta=1), 10, 1, 0)
    other = Specification(RiverSwim(6, gamma=0.0), RaviUcb.Config(beta=1.0), np.int64(10), 1, 0)
    assert one == other
    assert one.id == other.id


def test_what_is_not_a_number_has_no_name():
    with pytest.raises(ValueError, match="not JSON compliant"):
        digest({"gamma": math.nan})


def test_every_parameter_is_spelt_out():
    assert SPEC.plain == {
        "format": 1,
        "world": {"world": "RiverSwim", "n": 6, "gamma": 0.99},
        "agent": {"agent": "Rmax", "visits": 5, "updates": 100},
        "episodes": 100,
        "stride": 1,
        "seed": 0,
    }


@pytest.mark.parametrize("name", AGENTS)
def test_the_learner_is_what_the_specification_says(name):
    told = {key: value for key, value in OTHERS[name].items() if key != "bonus"}
    config = replace(FIXED[name], **told)
    learner = Specification(RiverSwim(4), config, episodes=10, stride=7, seed=5).learner()
    assert type(learner) is AGENTS[name]
    assert learner.mdp.n_states == 4
    assert (learner.stride, learner.seed) == (7, 5)
    choice = isinstance(learner.config, Configuration) and name != "RmaxRaviUcb"
    assert learner.config == (config.rule() if choice else config)
    other = AGENTS[name](RiverSwim(4), config=config, seed=5, stride=7)
    np.testing.assert_array_equal(learner.learn(20).steps, other.learn(20).steps)


@pytest.mark.parametrize("samples", [50, math.inf])
@pytest.mark.parametrize(("features", "dim"), [("states", 4), ("pairs", 8), ("linear", 8)])
def test_an_imitator_is_shown_an_optimal_policy(samples, features, dim):
    config = ImitationConfig(samples=samples, features=features, updates=3)
    spec = Specification(RiverSwim(4), config, episodes=10, stride=7, seed=5)
    learner = spec.learner()
    assert type(learner) is FraIL
    assert (learner.K, learner.stride, learner.seed, learner.config.updates) == (10, 7, 5, 3)
    assert (learner.expert.size, learner.expert.dim) == (samples, dim)
    mdp = RiverSwim(4).mdp
    x = np.arange(4)
    Phi = learner.reward_features.all_actions(x)
    exact = mdp.feature_expectations(mdp.optimal().policy, Phi)
    # Each of the features is 0 or 1, so that the error of a mean is at most 1/2 over sqrt n.
    error = 0.0 if math.isinf(samples) else 4.5 * 0.5 / np.sqrt(samples)
    np.testing.assert_allclose(learner.expert.mean, exact, rtol=0, atol=error + 1e-12)
    np.testing.assert_array_equal(learner.learn(5).steps, spec.learner().learn(5).steps)


def test_another_seed_shows_other_samples_and_the_same_seed_the_same():
    config = ImitationConfig(samples=30)
    one, two, other = (
        Specification(RiverSwim(4), config, 10, 7, seed).learner().expert.mean for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 0.0}, "samples = 0 must be at least 1"),
        ({"samples": -math.inf}, "samples = -inf is not a whole number"),
        ({"samples": 1.5}, "samples = 1.5 is not a whole number, nor inf"),
        ({"samples": math.nan}, "samples = nan is not a whole number"),
        ({"features": "state"}, "features = 'state' is none of states, pairs, linear"),
    ],
)
def test_an_imitation_that_cannot_be_is_refused(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ImitationConfig(**change)


# Refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "a specification of format 2, not 1"),
        ({"sede": 3}, "sede"),
        ({"episodes": 0}, "episodes = 0 must be at least 1"),
        ({"episodes": 10.0}, "episodes = 10.0 is not a whole number"),
        ({"episodes": "10"}, "episodes = '10' is not a whole number"),
        ({"stride": 0}, "stride = 0 must be at least 1"),
        ({"seed": -1}, "seed = -1 must be at least 0"),
        ({"seed": True}, "seed = True is not a whole number"),
        ({"world": {"world": "RiverSwin"}}, "there is no world 'RiverSwin'"),
        ({"agent": {"agent": "Rmax", "beta": 1}}, "Rmax has no parameter 'beta'"),
    ],
)
def test_a_specification_that_cannot_be_run_is_refused(change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Specification.from_plain({**SPEC.plain, **change})


@pytest.mark.parametrize("key", SPEC.plain)
def test_a_specification_without_one_of_its_parts_is_refused(key):
    with pytest.raises(ValueError, match=key):
        Specification.from_plain({k: v for k, v in SPEC.plain.items() if k != key})


class Stream(RiverSwim):
    """A world of one's own, which no other machine knows."""


@pytest.mark.parametrize("world", [Stream(6), RiverSwim, "RiverSwim"])
def test_a_world_that_is_not_shipped_is_refused(world):
    with pytest.raises(TypeError, match="is not a shipped world: RiverSwim, DeepSea"):
        Specification(world, AGENT, episodes=1, stride=1, seed=0)


@pytest.mark.parametrize("agent", [Rmax, "Rmax", WORLD, None])
def test_an_agent_is_its_configuration(agent):
    with pytest.raises(TypeError, match="is not the configuration of an agent: RmaxRaviUcb, "):
        agent_name(agent)


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({"n": 6}, (), "world is missing: one of RiverSwim, DeepSea, "),
        (
            {"world": "riversim"},
            ("world",),
            "there is no world 'riversim': did you mean 'RiverSwim'",
        ),
        ({"world": "zzz"}, ("world",), "there is no world 'zzz': there are RiverSwim, "),
        ({"world": 6}, ("world",), "there is no world 6: there are RiverSwim, "),
        ({"world": {"a": 1}}, ("world",), "there is no world {'a': 1}: there are "),
        ({"world": "SixArms", "n": 1}, ("n",), "SixArms has no parameter 'n': it has gamma"),
        ({"world": "DeepSea", "n": 1}, ("n",), "DeepSea: n = 1 must be at least 2"),
    ],
)
def test_an_error_in_the_table_of_a_world_says_where(data, path, message):
    with pytest.raises(DataError) as caught:
        read_world(data, ("top",))
    assert caught.value.path == ("top", *path)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({"world": "Rmax"}, (), "agent is missing: one of RmaxRaviUcb, RaviUcb, "),
        ({"agent": "Rmx"}, ("agent",), "there is no agent 'Rmx': did you mean 'Rmax'? There are "),
        ({"agent": "Rmax", "visits": 0}, ("visits",), "Rmax: visits = 0 must be at least 1"),
        ({"agent": "Rmax", "beta": 0}, ("beta",), "Rmax has no parameter 'beta': it has visits, "),
    ],
)
def test_an_error_in_the_table_of_an_agent_says_where(data, path, message):
    with pytest.raises(DataError) as caught:
        read_agent(data, ("top",))
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
        *(RmaxRaviUcb.Config.practical(), RmaxRaviUcb.Config.practical(beta=2)),
    ]
    studies, numbers = [0, 1, 2**32, 2**64], [0, 1, 2, 2**32]
    seeds = [
        derived_seed(s, i, w, a) for s in studies for i in numbers for w in worlds for a in agents
    ]
    assert len(set(seeds)) == len(seeds)


def test_a_seed_does_not_change_from_one_version_to_the_next():
    assert derived_seed(0, 0, WORLD, AGENT) == 5375714754361472683
    assert derived_seed(3, 2**40, FourRooms(), Configuration.practical()) == 3915104977584499451


def test_seeds_fit_into_what_every_file_format_holds():
    seeds = np.array([derived_seed(0, i, WORLD, AGENT) for i in range(200)], dtype=object)
    assert all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)
    assert 0.4 < np.mean([seed > 2**62 for seed in seeds]) < 0.6


# Strides


@pytest.mark.parametrize(
    ("episodes", "stride"), [(1, 1), (400, 1), (799, 1), (800, 2), (10**6, 2500)]
)
def test_some_400_policies_are_evaluated(episodes, stride):
    assert default_stride(episodes) == stride
