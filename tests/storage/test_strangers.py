"""Files of learners that somebody altered and signed again are refused, or do no harm."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from optimist import RmaxRaviUcb, load_policy
from optimist.agents.checkpoint import FILE
from optimist.core import FixedBonus, Sigmoid, SoftmaxPolicy, TablePolicy, storage
from optimist.errors import FileError, TooLarge
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
    agent = RmaxRaviUcb(gymnasium.make("FrozenLake-v1"), **terms)
    agent.learn(12)
    agent.save(tmp_path)
    n_states = len(agent.diagnostics.V)
    write_altered(tmp_path / FILE, "links.source", 7, 2**40)
    said = rf"^{re.escape(str(tmp_path / FILE))}: links.source\[7\] must be in \[0, {n_states}\); "
    with pytest.raises(FileError, match=f"{said}got 1099511627776$"):
        RmaxRaviUcb.load(tmp_path, gymnasium.make("FrozenLake-v1"), **terms)


@pytest.mark.parametrize(
    ("name", "place"),
    [("drawn.clock", 4), ("history.chosen", 3), ("stats.Lambda", (0, 0, 0)), ("iterate.prior", 0)],
)
def test_a_refused_file_leaves_the_learner_as_it_was(settings, make, same, name, place, tmp_path):
    setting = settings["one-hot"]()
    make(setting, episodes=20).save(tmp_path)
    write_altered(tmp_path / FILE, name, place, -5)
    agent, other = make(setting, episodes=3), make(setting, episodes=3)
    with pytest.raises(FileError):
        agent.restore(tmp_path)
    for each in (agent, other):
        each.learn(5)
    same.check(agent, other)


@pytest.mark.parametrize("episodes", [0, 1])
def test_a_learner_can_be_saved_at_any_time(settings, make, same, episodes, tmp_path):
    agent = make(settings["dense"](), episodes=episodes)
    agent.save(tmp_path)
    again = type(agent).load(tmp_path, *settings["dense"]())
    for each in (agent, again):
        each.learn(5)
    same.check(agent, again)
    np.testing.assert_array_equal(agent.diagnostics.V, again.diagnostics.V)


POLICIES = {
    "one-hot": ({}, {}, None),
    "eta nan": ({"eta": "nan"}, {}, "eta must be positive; got nan"),
    "eta negative": ({"eta": "-1.0"}, {}, "eta must be positive; got -1.0"),
    "eta 0": ({"eta": "0.0"}, {}, "eta must be positive; got 0.0"),
    "eta a number": ({"eta": 1.0}, {}, "eta must be of the type str; got 1.0"),
    "updates": ({"updates": -1}, {}, "updates must be a whole number in .*; got -1"),
    "updates true": ({"updates": True}, {}, "updates must be a whole number in .*; got True"),
    "gamma": ({"gamma": 1.0}, {}, r"gamma = 1 is outside \[0, 1\)"),
    "heaven": ({"heaven": float("nan")}, {}, "heaven must be of the type float; got nan"),
    "bonus": ({"bonus": ["FixedBonus", "nan"]}, {}, "beta is nan; it must be a finite number"),
    "bonus of three": ({"bonus": ["FixedBonus", "1", "1"]}, {}, "takes 2 positional arguments"),
    "ascension": ({"ascension": ["Sigmoid", "nan", "1"]}, {}, "alpha = nan must be positive"),
    "no features": ({"features": {"kind": "OneHot"}}, {}, "OneHot must have the keys"),
    "actions": ({"n_actions": 2.0}, {}, "n_actions must be a whole number"),
    "a field more": ({"more": 1}, {}, "'more' must not be in it"),
    "moments": ({"bonus": ["VarianceBonus", "0.3"]}, {}, "moments is missing"),
    "Lambda nan": ({}, {"Lambda": np.full((4, 1, 1), np.nan)}, r"Lambda\[0, 0, 0\] must be"),
    "Lambda 0": ({}, {"Lambda": np.zeros((4, 1, 1))}, r"Lambda\[0, 0, 0\] must be .*; got 0.0"),
    "Lambda negative": ({}, {"Lambda": -np.ones((4, 1, 1))}, r"Lambda\[0, 0, 0\] must be"),
    "Lambda missing": ({}, {"Lambda": None}, "Lambda is missing"),
    "Lambda of others": ({}, {"Lambda": np.ones((3, 1, 1))}, r"must have the shape \(4, 1, 1\)"),
    "Theta": ({}, {"Theta": np.array([0, np.inf, 0, 0])}, r"Theta\[1\] must be in"),
    "Theta whole": ({}, {"Theta": np.zeros(4, dtype=np.int64)}, "Theta must hold float64"),
    "rewards": ({}, {"rewards": np.ones((2, 3))}, r"rewards must have the shape \(2, 2\)"),
    "prior": ({}, {"prior": np.full(8, -1.0)}, r"prior\[0\] must be"),
    "an array more": ({}, {"more": np.zeros(1)}, "'more' must not be in it"),
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_is_none(name, tmp_path):
    fields, arrays, wrong = POLICIES[name]
    path = tmp_path / "p"
    SoftmaxPolicy(
        Theta=np.zeros(4),
        Lambda=np.ones((4, 1, 1)),
        updates=1,
        eta=1.0,
        bonus=FixedBonus(0.1),
        ascension=Sigmoid(2.0, 1.0),
        heaven=10.0,
        features=OneHot(2, 2),
    ).save(path)
    header, before = storage.read(path)
    now = {n: a for n, a in {**before, **arrays}.items() if a is not None}
    storage.write(path, header.pop("kind"), {**header, **fields}, now)
    if wrong is None:
        assert load_policy(path).predict(0) == 0
    else:
        with pytest.raises(FileError, match=f"{re.escape(str(path))}: .*{wrong}"):
            load_policy(path)


@pytest.mark.parametrize(
    ("Lambda", "wrong"),
    [
        (np.array([[[2.0, 1.0], [0.9, 2.0]]]), "must be symmetric"),
        (np.array([[[1.0, 2.0], [2.0, 1.0]]]), "must be positive definite"),
        (np.array([[[1.0, np.nan], [np.nan, 1.0]]]), r"Lambda\[0, 0, 1\] must be in"),
    ],
)
def test_a_dense_covariance_that_is_none(Lambda, wrong, tmp_path):
    features = Table(np.ones((3, 2, 2)))
    policy = SoftmaxPolicy(
        np.zeros(2), Lambda, 1, 1.0, FixedBonus(0.1), Sigmoid(2.0, 1.0), 10.0, features
    )
    policy.save(tmp_path / "p")
    with pytest.raises(FileError, match=wrong):
        load_policy(tmp_path / "p", features)


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ([[0.5, 0.6]], r"table\[0\] sums to 1.1"),
        ([[1.0, 0.0], [-0.5, 1.5]], r"table\[1, 0\] must be in"),
        ([[np.nan, 1.0]], r"table\[0, 0\] must be in"),
        ([0.5, 0.5], "table must have the shape"),
    ],
)
def test_a_table_that_is_no_policy(table, wrong, tmp_path):
    TablePolicy(np.array(table)).save(tmp_path / "p")
    with pytest.raises(FileError, match=wrong):
        load_policy(tmp_path / "p")


@pytest.mark.parametrize(
    "features",
    [
        {"kind": "OneHot", "n_states": 10**9, "n_actions": 2},
        {
            "kind": "StateOnly",
            "psi": {"kind": "OneHotState", "n_states": 4},
            "n_actions": 10**9,
        },
        {
            "kind": "PerAction",
            "psi": {
                "kind": "Tiles",
                "box": {"low": [0.0], "high": [1.0], "outside": "error"},
                "bins": [1],
                "tilings": 10**9,
            },
            "n_actions": 2,
        },
    ],
)
def test_features_of_an_absurd_size_take_no_memory(features, monkeypatch):
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", "1e9")
    with pytest.raises(TooLarge, match="would need"):
        from_description(features)
