"""Files of learners that somebody altered and signed again are refused, or do no harm."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from reference.variants import softmax_policy

from optimist import envs, load_policy
from optimist.agents import Optimist, VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.core import FixedBonus, Sigmoid, TablePolicy, Variant, storage
from optimist.errors import Diverged, FileError, TooLarge
from optimist.features import OneHot, Table, from_description

ATTACK = Path(__file__).with_name("attack.py")


def test_no_altered_learner_does_harm():
    """Of whole numbers in arrays all cases; of the others some: `attack.py` alone tries all."""
    command = [sys.executable, str(ATTACK), "25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"after {last}: {done.stderr}"


def write_altered(path, name, place, number):
    header, arrays = storage.read(path)
    arrays[name] = arrays[name].copy()
    arrays[name][place] = number
    storage.write(path, header.pop("kind"), header, arrays)


def test_the_error_names_the_file_the_entry_and_its_range(tmp_path):
    terms = {"gamma": 0.9, "geometric": False}
    agent = Optimist(gymnasium.make("FrozenLake-v1"), **terms)
    agent.learn(12)
    agent.save(tmp_path)
    n_states = len(agent.diagnostics.V)
    write_altered(tmp_path / FILE, "links.source", 7, 2**40)
    said = rf"^{re.escape(str(tmp_path / FILE))}: links.source\[7\] must be in \[0, {n_states}\); "
    with pytest.raises(FileError, match=f"{said}got 1099511627776$"):
        Optimist.load(tmp_path, gymnasium.make("FrozenLake-v1"), **terms)


def test_divergence_from_large_numbers_is_distinguished_from_a_bug(tmp_path):
    """Each is in its range; together they make values grow until they are no longer finite."""
    world = envs.RandomLinear(4, 6, 2, gamma=0.8)
    variant = Variant(bonus=FixedBonus(0.3), ascension=Sigmoid(4.0, 2.0))
    agent = VariantAgent(world, config=variant, seed=3)
    agent.learn(6)
    agent.save(tmp_path)
    write_altered(tmp_path / FILE, "data.sums", (3, 2), 1e99)
    with pytest.raises(Diverged, match="values have diverged: they must be finite"):
        VariantAgent.load(tmp_path, world).learn(20)


def test_a_refused_file_leaves_the_learner_as_it_was(settings, make, same, tmp_path):
    setting = settings["one-hot"]()
    agent, other = make(setting, episodes=3), make(setting, episodes=3)
    for name, place in {
        "drawn.clock.updates": 0,
        "history.chosen": 3,
        "regression.Lambda": (0, 0, 0),
        "epoch.prior.novel": 0,
    }.items():
        make(setting, episodes=20).save(tmp_path)
        write_altered(tmp_path / FILE, name, place, -5)
        with pytest.raises(FileError, match=re.escape(name)):
            agent.restore(tmp_path)
    for each in (agent, other):
        each.learn(5)
    same(agent, other)


def bonus(kind, **numbers):
    return {"bonus": {"kind": kind, **numbers}}


PRIOR = {"novel": 0.0, "expected": 0.0}
POLICIES = [  # fields and arrays that are other, and the complaint
    ({"eta": "nan"}, {}, "eta must be a number; got 'nan'"),
    ({"eta": -1.0}, {}, "eta must be positive; got -1.0"),
    ({"eta": 0.0}, {}, "eta must be positive; got 0.0"),
    ({"eta": True}, {}, "eta must be of the type"),
    ({"updates": -1}, {}, "updates must be a whole number in .*; got -1"),
    ({"updates": True}, {}, "updates must be a whole number in .*; got True"),
    ({"gamma": 1.0}, {}, r"gamma must be in \[0, 1\); got 1"),
    ({"heaven": float("nan")}, {}, "heaven must be of the type float; got nan"),
    (bonus("FixedBonus", beta=float("nan")), {}, "beta must be a finite number; got nan"),
    (bonus("FixedBonus", beta=1.0, c=1.0), {}, "FixedBonus has no parameter 'c'"),
    (bonus("Unheard"), {}, "bonus must be one of its kinds; got 'Unheard'"),
    ({"bonus": ["FixedBonus", 1.0]}, {}, "bonus must be of the type dict"),
    (
        {"ascension": {"kind": "Sigmoid", "alpha": -1.0, "omega": 1.0}}, {},
        "alpha must be positive .*; got -1.0",
    ),
    ({"features": {"kind": "OneHot"}}, {}, "OneHot must have the keys"),
    ({"n_actions": 2.0}, {}, "n_actions must be a whole number"),
    ({"more": 1}, {}, "'more' must not be in it"),
    (bonus("VarianceBonus", c=0.3), {}, "moments is missing"),
    ({"ascension": {"kind": "Novelty"}}, {}, "concentration is missing"),
    ({"ridge": 0.0}, {}, "ridge must be positive; got 0"),
    ({"prior": {**PRIOR, "novel": -1.0}}, {}, r"novel must be in \[0, 1e\+100\]; got -1"),
    ({"prior": {"novel": 0.0}}, {}, "expected is missing"),
    ({}, {"Lambda": np.full((4, 1, 1), np.nan)}, r"Lambda\[0, 0, 0\] must be"),
    ({}, {"Lambda": np.zeros((4, 1, 1))}, r"Lambda\[0, 0, 0\] must be .*; got 0.0"),
    ({}, {"Lambda": -np.ones((4, 1, 1))}, r"Lambda\[0, 0, 0\] must be"),
    ({}, {"Lambda": None}, "Lambda is missing"),
    ({}, {"Lambda": np.ones((3, 1, 1))}, r"must have the shape \(4, 1, 1\)"),
    ({}, {"Theta": np.array([0, np.inf, 0, 0])}, r"Theta\[1\] must be in"),
    ({}, {"Theta": np.zeros(4, dtype=np.int64)}, "Theta must hold float64"),
    ({}, {"rewards": np.ones((2, 3))}, r"rewards must have the shape \(2, 2\)"),
    ({}, {"more": np.zeros(1)}, "'more' must not be in it"),
]  # fmt: skip


def test_an_altered_policy_is_refused(tmp_path):
    path = tmp_path / "p"
    softmax_policy(np.zeros(4), np.ones((4, 1, 1)), OneHot(2, 2)).save(path)
    header, before = storage.read(path)
    kind = header.pop("kind")
    storage.write(path, kind, header, before)
    assert load_policy(path).predict(0) == 0
    for fields, arrays, wrong in POLICIES:
        now = {n: a for n, a in {**before, **arrays}.items() if a is not None}
        storage.write(path, kind, {**header, **fields}, now)
        with pytest.raises(FileError, match=f"{re.escape(str(path))}: .*{wrong}"):
            load_policy(path)
    features = Table(np.ones((3, 2, 2)))  # a covariance that is none, a table that is no policy

    def dense_policy(Lambda):
        return softmax_policy(np.zeros(2), np.array([Lambda]), features)

    for policy, wrong in (
        (dense_policy([[2.0, 1.0], [0.9, 2.0]]), "must be symmetric"),
        (dense_policy([[1.0, 2.0], [2.0, 1.0]]), "must be positive definite"),
        (dense_policy([[1.0, np.nan], [np.nan, 1.0]]), r"Lambda\[0, 0, 1\] must be in"),
        (TablePolicy(np.array([[0.5, 0.6]])), r"table\[0\] must sum to 1 within 1e-08; got 1.1"),
        (TablePolicy(np.array([[1.0, 0.0], [-0.5, 1.5]])), r"table\[1, 0\] must be in"),
        (TablePolicy(np.array([[np.nan, 1.0]])), r"table\[0, 0\] must be in"),
        (TablePolicy(np.array([0.5, 0.5])), "table must have the shape"),
    ):
        policy.save(path)
        with pytest.raises(FileError, match=wrong):
            load_policy(path, features)


BOX = {"low": [0.0], "high": [1.0], "outside": "error"}
TILES = {"kind": "Tiles", "box": BOX, "bins": [1], "tilings": 10**9}


def test_features_of_an_absurd_size_take_no_memory(monkeypatch):
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", "1e9")
    one_hot = {"kind": "OneHotState", "n_states": 4}
    for features in (
        {"kind": "OneHot", "n_states": 10**9, "n_actions": 2},
        {"kind": "StateOnly", "psi": one_hot, "n_actions": 10**9},
        {"kind": "PerAction", "psi": TILES, "n_actions": 2},
    ):
        with pytest.raises(TooLarge, match="would need"):
            from_description(features)
