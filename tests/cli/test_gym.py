"""Gymnasium environments on the command line: ``gym:ID``."""

import sys
from pathlib import Path

import numpy as np
import pytest

import optimist as opt
from optimist.envs import Gym

LAKE = ("learn", "gym:FrozenLake-v1", "--options", "is_slippery=false", "--gamma", 0.95)
SHORT = ("--episodes", 40, "--seeds", 2, "--jobs", 1)


def test_learn_prints_returns_and_nothing_of_losses(optimist, tmp_path):
    code, out, err = optimist(*LAKE, *SHORT, "--tensorboard", "board")
    assert (code, err) == (0, "")
    for word in ("Optimist in gym:FrozenLake-v1 (2 seeds)", "environment", "return:", " to "):
        assert word in out
    for word in ("lost", "growth", "uniform play", "one seed"):
        assert word not in out
    assert list((tmp_path / "board").rglob("events.*"))
    assert "one seed: no interval" in optimist(*LAKE, "--seeds", 1, "--episodes", 3, "--jobs", 1)[1]


def test_every_parameter_is_a_flag(as_json):
    found = as_json(
        *("learn", "gym:MountainCar-v0", "--episodes", 3, "--seeds", 2, "--jobs", 1),
        *("--features", "tiles:4", "--gamma", 0.9, "--repeat", 8, "--geometric", True),
        *("--low", -8, "--high", 0, "--options", "goal_velocity=0.01", "--parallel", 2),
        *("--value-bound", -1, "--agent", "RaviUcb", "--agent.beta", 2),
        *("--out", "car", "--policy", "p.safetensors"),
    )
    assert [row["world"] for row in found["table"]] == ["gym:MountainCar-v0"]
    results = opt.open_results("car")
    [world] = results.study.worlds.values()
    options = "goal_velocity=0.01"
    assert world == Gym("MountainCar-v0", "tiles:4", 0.9, 8, True, -8.0, 0.0, options, 2, -1.0)
    assert results.study.configurations["RaviUcb"] == opt.RaviUcb.Config(beta=2)
    cell = results.cell("gym:MountainCar-v0", "RaviUcb")
    assert found["table"][0]["mean_return"] == pytest.approx(cell.averages.mean())
    policy = opt.load_policy("p.safetensors")
    assert policy.probabilities(np.array([[-0.5, 0.0]])).shape == (1, 3)


def test_help_lists_the_flags_and_how_to_name_an_environment(optimist):
    assert "gym:ID" in optimist("learn", "--help")[1]
    assert "    optimist learn gym:MountainCar-v0" in optimist("learn", "--help")[1]
    code, out, _ = optimist("learn", "gym:MountainCar-v0", "--help")
    assert code == 0
    for flag in ("features", "gamma", "repeat", "geometric", "low", "high", "options", "parallel"):
        assert f"--{flag} " in out
    assert "--agent.v-max" in out
    options = out.partition("show this help")[2]
    for flag in ("world", "id", "reward", "reward-map", "source", "preset"):
        assert f"--{flag} " not in options


def test_a_mistake_gives_a_one_line_error(refused):
    expert = ["expert", "gym:FrozenLake-v1", "--out", "e.parquet"]
    table = [
        (["gym:MountanCar-v0"], "Did you mean: `MountainCar`?"),
        (["gym:MountanCar-v0", "--help"], "Did you mean: `MountainCar`?"),
        (["gym:"], "unknown to Gymnasium"),
        (["gym:Pendulum-v1"], "actions must be Discrete"),
        (["gym:FrozenLake-v1", "--features", "tiles:3"], "those of Discrete(16) are 'onehot'"),
        (["gym:FrozenLake-v1", "--low", "1"], "low is given and high is not"),
        (["gym:FrozenLake-v1", "--options", "slip=1"], "'slip'"),
        (["gym:FrozenLake-v1", "--agent", "FraIL"], "FraIL imitates an optimal expert"),
        (["gym:FrozenLake-v1", "--agent", "Rmx"], "did you mean 'Rmax'?"),
        (["gym:FrozenLake-v1", "--world.n", "4"], "--world.n"),
        (["gym:FrozenLake-v1", "--policy", "no/where.safetensors"], "there is no folder no"),
        (["FrozenLake-v1"], "Gymnasium's is gym:FrozenLake-v1"),
    ]
    refused((["learn", *arguments], sentence) for arguments, sentence in table)
    refused([(expert, "the world must be finite; gym:FrozenLake-v1 is a Gymnasium environment")])


def test_a_failure_names_no_file_that_is_gone(optimist):
    wrong = ("--low", 5, "--high", 6, "--episodes", 3, "--seeds", 1, "--jobs", 1)
    code, _, err = optimist("learn", "gym:CartPole-v1", *wrong)
    assert code == 1
    assert "the environment paid 1, and [5, 6] is declared" in err
    assert "--low and --high" in err
    assert "failure.json" not in err
    code, _, err = optimist("learn", "gym:CartPole-v1", *wrong, "--out", "kept")
    assert code == 1
    assert "failure.json" in err


STUDY = """\
seeds = 2
episodes = 40

[worlds.river]
world = "RiverSwim"
n = 3

[worlds.lake]
world = "Gym"
id = "FrozenLake-v1"
gamma = 0.95
options = "is_slippery=false"

[agents.twice]
agent = "RmaxRaviUcb"

[agents.R-max]
agent = "Rmax"
visits = 2
"""


def test_a_study_of_both_kinds(optimist, as_json, tmp_path):
    """Its tables, its comparison and its report have losses of the one and returns of the other."""
    (tmp_path / "mixed.toml").write_text(STUDY)
    code, out, err = optimist("sweep", "mixed.toml", "--out", "mixed", "--jobs", 1)
    assert (code, err) == (0, "")
    losses, _, returns = out.partition("environment")
    assert "uniform play" in losses
    assert ("river" in losses, "lake" in losses) == (True, False)
    assert ("river" in returns, "lake" in returns) == (False, True)
    results = opt.open_results("mixed")
    a, b = (results.cell("lake", agent).averages for agent in ("twice", "R-max"))
    chance = (a[:, None] > b).mean() + (a[:, None] == b).mean() / 2
    assert chance != 0.5
    river, lake = as_json("compare", "mixed")
    assert (river["world"], lake["world"]) == ("river", "lake")
    first = lake["pairs"][0]
    assert (first["agent"], first["over"]) == ("twice", "R-max")
    assert first["value"] == pytest.approx(chance)
    before, _, after = optimist("compare", "mixed")[1].partition("lake")
    assert "lost" in before
    assert "return" in after
    assert as_json("report", "mixed", "--png")["written"][0] == str(Path("mixed", "report.html"))
    names = {path.name for path in (tmp_path / "mixed" / "figures").iterdir()}
    assert {"regret.png", "return.png"} <= names


def test_a_study_of_so_many_steps(optimist, as_json):
    short = (*LAKE, "--steps", 300, "--seeds", 2, "--jobs", 1)
    found = as_json(*short, "--policy", "p.safetensors", "--out", "lake")
    assert opt.load_policy("p.safetensors").probabilities(np.arange(16)).shape == (16, 4)
    results = opt.open_results("lake")
    assert (results.study.unit, set(results.study.lengths.values())) == ("steps", {300})
    (row,) = found["table"]
    assert row["mean_return"] == results.table()[0]["mean_return"]
    code, out, _ = optimist("resume", "lake", "--jobs", 1)
    assert code == 0
    assert "return: mean over the steps of the undiscounted sum" in out
    assert "at the end: over the last tenth of the steps" in out
    assert optimist("compare", "lake")[0] == 0


def test_a_sweep_may_be_given_another_length(as_json, refused):
    Path("s.toml").write_text(
        'steps = 100000\n[worlds.lake]\nworld = "Gym"\nid = "FrozenLake-v1"\n'
        '[agents.R]\nagent = "Rmax"\n[agents.Q]\nagent = "HashedQLearning"\n'
    )
    look = ("sweep", "s.toml", "--seeds", 1, "--jobs", 1)
    assert as_json(*look, "--steps", 200, "--out", "short")["finished"] == 2
    assert opt.open_results("short").study.lengths == {"lake": 200}
    assert as_json(*look, "--episodes", 3, "--out", "few")["finished"] == 2
    assert opt.open_results("few").study.unit == "episodes"
    refused([((*look, "--steps", 5, "--episodes", 5), "exactly one of episodes and steps")])


def test_steps_where_they_do_not_apply_are_refused(refused):
    lake, theirs = ("learn", "gym:FrozenLake-v1"), ("--agent", "StableBaselines")
    refused(
        [
            (("learn", "RiverSwim", "--steps", 100), "which have 100 steps in the mean"),
            ((*lake, "--steps", 0), "steps must be at least 1; got 0"),
            ((*lake, "--steps", 9, "--episodes", 9), "exactly one of episodes and steps"),
            ((*lake, "--episodes", 0), "episodes must be at least 1; got 0"),
            ((*lake, *theirs), "StableBaselines needs a study by steps"),
        ]
    )


def test_without_stable_baselines_it_says_what_to_install(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    theirs = ("learn", "gym:CartPole-v1", "--agent", "StableBaselines", "--steps", 100)
    refused([(theirs, "pip install 'optimist[sb3]'")])
