"""Worlds and agents of other people on the command line, files of MDPs, and presets."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import optimist as opt
from optimist.envs import ArrayWorld
from optimist.experiments.learners import UnknownAgent

MODULE = "my_ring"
SOURCE = """\
from dataclasses import dataclass

import gymnasium
import numpy as np
import optimist as opt


@dataclass(frozen=True)
class Ring(opt.envs.World):
    n: int = 5
    \"\"\"how many states there are\"\"\"
    gamma: float = 0.9  # how much the future counts

    def build(self):
        here = np.arange(self.n)
        moves = [(0, here, 1.0), (1, (here + 1) % self.n, 0.8), (1, here, 0.2)]
        r = np.repeat(here[:, None] == self.n - 1, 2, axis=1)
        return opt.FiniteMDP(opt.mdp.build_kernel(2, moves), r, np.eye(self.n)[0], self.gamma)


@dataclass
class Lazy(opt.Algorithm):
    epsilon: float = 0.5
    \"\"\"probability of moving on\"\"\"

    def start(self, problem):
        self.shape = np.array([problem.n_states, problem.n_actions])

    def act(self, state, rng):
        return int(rng.random() < self.epsilon)

    def observe(self, state, action, reward, next_state, terminated):
        pass

    def policy(self):
        return np.tile([1 - self.epsilon, self.epsilon], (self.shape[0], 1))


@dataclass
class Coin(opt.Algorithm):
    def act(self, state, rng):
        return int(rng.integers(2))

    def observe(self, state, action, reward, next_state, terminated):
        pass

    def policy(self):
        return None


def lake(**how):
    return gymnasium.make("FrozenLake-v1", **how)
"""
SHORT = ("--episodes", 20, "--seeds", 2, "--jobs", 1)


@pytest.fixture
def module(optimist, tmp_path, monkeypatch):
    """A module in the current folder, which is not on the path of the command."""
    (tmp_path / f"{MODULE}.py").write_text(SOURCE)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
    yield
    sys.modules.pop(MODULE, None)


@pytest.mark.usefixtures("module")
def test_a_world_and_an_algorithm_of_ones_own(optimist, as_json):
    own = ("learn", f"{MODULE}:Ring", "--agent", f"{MODULE}:Lazy")
    code, out, _ = optimist(*own, "--help")
    assert code == 0
    shown = " ".join(out.replace("│", "").split())
    assert "how many states there are (default: 5)" in shown
    assert "how much the future counts (default: 0.9)" in shown
    assert "probability of moving on" in out
    found = as_json(*own, "--world.n", 4, "--agent.epsilon", 0.25, *SHORT, "--out", "one")
    [row] = found["table"]
    mdp = sys.modules[MODULE].Ring(4).mdp
    lost = mdp.suboptimality(np.tile([0.75, 0.25], (4, 1))) / mdp.optimal().value
    assert row["average"] == pytest.approx(lost)
    study = opt.open_results("one").study
    assert study.worlds[f"{MODULE}:Ring"] == sys.modules[MODULE].Ring(4)
    assert study.configurations[f"{MODULE}:Lazy"].epsilon == 0.25


@pytest.mark.usefixtures("module")
def test_the_report_of_an_agent_of_ones_own(optimist):
    assert optimist("learn", "RiverSwim", "--agent", f"{MODULE}:Lazy", *SHORT, "--out", "o")[0] == 0
    code, out, _ = optimist("report", "o")
    assert code == 0
    assert f"{MODULE}:Lazy: epsilon 0.5, source " in out


@pytest.mark.usefixtures("module")
def test_worker_processes_find_it(as_json):
    own = ("learn", f"{MODULE}:Ring", "--agent", f"{MODULE}:Lazy")
    assert as_json(*own, "--episodes", 20, "--seeds", 2, "--jobs", 2)["finished"] == 2


@pytest.mark.usefixtures("module")
def test_every_command_about_a_world_takes_it(optimist, as_json):
    ring = f"{MODULE}:Ring"
    assert as_json("theory", ring, "--world.n", 4)["d"] == 8
    assert optimist("expert", ring, "--world.n", 4, "--out", "e.npz")[0] == 0
    imitated = as_json("imitate", ring, "--world.n", 4, "--expert", "e.npz", "--episodes", 20)
    assert imitated["dimension"] == 4
    assert as_json("verify", ring, "--world.n", 3, "--K", 20)["K"] == 20


@pytest.mark.usefixtures("module")
def test_a_function_that_makes_an_environment(as_json):
    for name in (f"gym:{MODULE}:lake", f"{MODULE}:lake"):
        found = as_json("learn", name, "--gamma", 0.95, "--options", "is_slippery=false", *SHORT)
        assert found["table"][0]["world"] == name


@pytest.mark.usefixtures("module")
def test_an_algorithm_without_a_table_of_its_policy(optimist):
    learn = ("learn", "gym:CartPole-v1", "--agent", f"{MODULE}:Coin", *SHORT)
    assert optimist(*learn)[0] == 0
    code, _, err = optimist(*learn, "--policy", "p.safetensors")
    assert code == 2
    assert err == f"optimist: the policy of {MODULE}:Coin cannot be saved in a file\n"


@pytest.mark.usefixtures("module")
def test_a_study_names_it_and_results_are_read_without_it(as_json, refused, tmp_path):
    (tmp_path / "mine.toml").write_text(
        f'episodes = 20\nseeds = 2\n[worlds.ring]\nworld = "{MODULE}:Ring"\n'
        f'[agents.lazy]\nagent = "{MODULE}:Lazy"\n'
    )
    sweep = ("sweep", "mine.toml", "--out", "mine", "--jobs", 1)
    refused([(sweep, f"--import {MODULE}")])
    assert MODULE not in sys.modules
    table = as_json(*sweep, "--import", MODULE)["table"]
    del sys.modules[MODULE]
    assert json.loads(json.dumps(list(opt.open_results("mine").table()))) == table
    [compared] = as_json("compare", "mine")
    assert compared["agents"]["lazy"]["epsilon"] == 0.5
    assert MODULE not in sys.modules
    study = opt.open_results("mine").study
    assert isinstance(study.worlds["ring"], ArrayWorld)
    assert isinstance(study.configurations["lazy"], UnknownAgent)
    run = opt.open_results("mine").finished[0]
    (tmp_path / "mine" / "runs" / run.spec.id / "result.json").unlink()
    refused([(("resume", "mine", "--jobs", 1), f"--import {MODULE}")])
    assert as_json("resume", "mine", "--jobs", 1, "--import", MODULE)["table"] == table


def test_entry_points_are_names(tmp_path):
    """A package declares them; they are loaded to run something, and not to read results."""
    (tmp_path / f"{MODULE}.py").write_text(f"print('imported')\n{SOURCE}")
    declared = tmp_path / f"{MODULE}-1.0.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {MODULE}\nVersion: 1.0\n")
    (declared / "entry_points.txt").write_text(
        f"[optimist.worlds]\nRing = {MODULE}:Ring\n[optimist.agents]\nLazy = {MODULE}:Lazy\n"
    )
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))

    def call(*words):
        done = subprocess.run(
            [sys.executable, "-m", "optimist", *map(str, words)],
            env={**os.environ, "PYTHONPATH": path},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    out = call("learn", "Ring", "--world.n", 4, "--agent", "Lazy", *SHORT, "--out", "kept")
    assert "Lazy in Ring (2 seeds)" in out
    assert call("compare", "kept").splitlines()[0].strip() == "Ring"  # nothing was imported
    next((tmp_path / "kept").glob("runs/*/result.json")).unlink()
    assert "imported" in call("resume", "kept", "--jobs", 1)
    assert len(list((tmp_path / "kept").glob("runs/*/result.json"))) == 2
    listed = call("agents").splitlines()
    assert any(line.split()[:1] == ["Lazy"] for line in listed)
    assert any(line.split()[:1] == ["Ring"] for line in call("envs").splitlines())


def test_an_mdp_in_a_file(as_json, refused, tmp_path):
    mdp = opt.envs.RiverSwim(4).mdp
    arrays = {"P": np.asarray(mdp.P), "r": mdp.r, "nu0": mdp.nu0, "gamma": mdp.gamma}
    np.savez(tmp_path / "river.npz", **arrays)
    lists = {name: np.asarray(array).tolist() for name, array in arrays.items()}
    (tmp_path / "river.json").write_text(json.dumps(lists))
    rows = [as_json("learn", f"river.{s}", *SHORT)["table"][0] for s in ("npz", "json")]
    assert rows[0] == {**rows[1], "world": "river.npz"}
    assert as_json("theory", "river.npz")["optimum"] == mdp.optimal().value
    refused([(["learn", "river.npz", "--world.n", 3], "--world.n")])


def test_a_preset_depends_on_the_world_and_the_episodes(optimist, as_json, refused):
    learn = ("learn", "RiverSwim", "--world.n", 3, "--agent", "RmaxRaviUcb", "--preset", "theory")
    world = opt.envs.RiverSwim(3)
    wanted = opt.RmaxRaviUcb.theory(world, K=20).config
    assert wanted != opt.RmaxRaviUcb.theory(world, K=21).config
    for flags, updates in (((), wanted.updates), (("--agent.updates", 7), 7)):
        found = as_json(*learn, *SHORT, *flags)["agents"]["RmaxRaviUcb"]
        assert found["beta"] == wanted.beta
        assert found["updates"] == updates
    assert "--preset {none,theory}" in optimist(*learn, "--help")[1]
    refused([((*learn, "--episodes", 7), "K must be at least 8; got 7")])
