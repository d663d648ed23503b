"""Stable-Baselines3 in studies by steps; tests that run it need its package."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import optimist as opt
from optimist.envs import Gym
from optimist.errors import RunsFailed, StudyError
from optimist.experiments import Study, open_results, run
from optimist.experiments.execute import Task, execute

Theirs = opt.StableBaselines.Config
CART = Gym("CartPole-v1", gamma=0.98)
PPO = Theirs("PPO", n_steps=32, batch_size=16, n_epochs=2, policy_kwargs={"net_arch": [8, 8]})
AGENTS = {"DQN": Theirs("DQN", learning_starts=50, buffer_size=1000), "PPO": PPO, "R": opt.Rmax}
STUDY = Study({"cart": CART}, AGENTS, steps=300, seeds=2)


# Without the package


def test_a_study_comes_back_from_its_text():
    again = Study.parse(STUDY.text)
    assert again.agents["PPO"] == PPO
    assert again.runs == STUDY.runs
    assert (
        Study({"cart": CART}, {"a": opt.StableBaselines}, steps=9).configurations["a"] == Theirs()
    )
    assert replace(PPO, algorithm="A2C").hyperparameters == PPO.hyperparameters
    assert Theirs("DQN", {"tau": 1}, gradient_steps=2) == Theirs("DQN", tau=1, gradient_steps=2)


def test_hyperparameters_are_keys_of_the_table_and_a_list_is_a_grid():
    text = """
        steps = 100
        [worlds.cart]
        world = "Gym"
        id = "CartPole-v1"
        [agents."DQN {learning_rate}"]
        agent = "StableBaselines"
        algorithm = "DQN"
        learning_rate = [0.001, 0.01]
        policy_kwargs = {net_arch = [[64, 64]]}
    """
    shape = {"policy_kwargs": {"net_arch": [64, 64]}}
    assert Study.parse(text).agents == {
        "DQN 0.001": Theirs("DQN", learning_rate=0.001, **shape),
        "DQN 0.01": Theirs("DQN", learning_rate=0.01, **shape),
    }
    with pytest.raises(StudyError, match="line 9: StableBaselines: seed must be left out"):
        Study.parse(text.replace("learning_rate = [0.001, 0.01]", "seed = 3"))
    with pytest.raises(StudyError, match="line 6: StableBaselines needs a study by steps"):
        Study.parse(text.replace("steps", "episodes"))


def test_the_example_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "study.md").read_text(encoding="utf-8")
    study = Study.parse(re.search(r"```toml\n(# steps\.toml\n.*?)```", page, re.DOTALL)[1])
    assert (study.unit, study.lengths) == ("steps", {"lake": 20_000, "cart": 20_000})
    assert list(study.agents) == [
        *("Optimist", "Q-learning", "DQN, 0.001", "DQN, 0.0001", "PPO"),
    ]
    first = study.configurations["DQN, 0.001"]
    assert first == Theirs("DQN", learning_rate=1e-3, policy_kwargs={"net_arch": [64, 64]})


def test_what_a_file_cannot_hold_is_refused():
    for given, message in (
        ({"learning_rate": lambda left: left}, "learning_rate must be text, a number, a boolean"),
        ({"policy_kwargs": {"net_arch": (8, 8)}}, r"policy_kwargs\.net_arch must be .*; got \(8"),
        ({"policy_kwargs": {"sizes": [8, None]}}, r"policy_kwargs\.sizes\.1 must be"),
    ):
        with pytest.raises(ValueError, match=message):
            Study({"cart": CART}, {"a": Theirs("PPO", **given)}, steps=9)
    for name in ("env", "gamma", "seed", "total_timesteps"):
        with pytest.raises(ValueError, match=f"{name} must be left out: it is that of the world"):
            Theirs("PPO", **{name: 1})
    with pytest.raises(TypeError, match="algorithm must be its name; got 3"):
        Theirs(3)
    with pytest.raises(TypeError, match="hyperparameters must be a dict; got 3"):
        Theirs("DQN", 3)
    with pytest.raises(ValueError, match="needs a study by steps"):
        Study({"river": opt.envs.RiverSwim()}, {"a": opt.StableBaselines}, episodes=9)


def test_without_the_package_a_study_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(StudyError, match=r"the agent 'DQN' cannot be run.*'optimist\[sb3\]'"):
        run(STUDY, tmp_path / "out")
    assert open_results(tmp_path / "out").study.runs == STUDY.runs


# With it


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    pytest.importorskip("stable_baselines3")
    return run(STUDY, tmp_path_factory.mktemp("study") / "out", jobs=1)


def test_they_learn_beside_ours_and_leave_curves_only(results, bytes_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)  # results do not need it
    again = open_results(results.folder.path)
    for r in again.finished:
        left = set(bytes_of(again.folder.of(r).path))
        ours = {"agent.safetensors", "policy.safetensors"} if r.agent == "R" else set()
        assert left == {"curves.parquet", "result.json", "specification.json", *ours}
    assert [row["agent"] for row in again.table()] == list(AGENTS)
    for agent in AGENTS:
        cell = again.cell("cart", agent)
        assert cell.at[-1] == 300
        assert (cell.curves["return"] > 5).all()
    assert len(np.unique(again.cell("cart", "PPO").averages)) == 2
    assert again.report().exists()


def test_a_run_is_that_of_the_agent_with_the_steps_of_the_study(results):
    spec = next(r.spec for r in STUDY.runs if r.agent == "PPO")
    agent = opt.StableBaselines(
        CART, "PPO", seed=spec.seed, total_timesteps=300, **PPO.hyperparameters
    )
    history = agent.learn(steps=300, show_progress=False)
    learner = spec.learner()
    learner.learn(steps=300, show_progress=False)
    assert learner.model._total_timesteps == 300
    assert learner.model.gamma == 0.98
    found = results.folder.of(STUDY.runs[1]).result
    assert (found["episodes"], found["steps"]) == (len(history.reward), agent.steps)
    curves = results.folder.of(STUDY.runs[1]).curves
    assert curves["return"][-1] in history.reward


def test_processes_give_the_same_bytes(results, bytes_of, run_folders, tmp_path):
    """With another number of threads of torch too."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        run(STUDY, tmp_path / "serial", executor="serial")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    run(STUDY, tmp_path / "two", jobs=2)
    folders = (
        run_folders(STUDY, out)
        for out in (results.folder.path, tmp_path / "two", tmp_path / "serial")
    )
    for one, *others in zip(*folders, strict=True):
        assert all(bytes_of(other) == bytes_of(one) for other in others)


@pytest.mark.parametrize("name", ["DQN", "PPO"])
def test_an_interrupted_run_begins_again(name, results, bytes_of, tmp_path, monkeypatch):
    r = next(r for r in STUDY.runs if r.agent == name)
    usual = opt.StableBaselines.learn

    def interrupted(agent, *arguments, **options):
        if agent.steps > 100:
            raise KeyboardInterrupt
        return usual(agent, *arguments, **options)

    monkeypatch.setattr(opt.StableBaselines, "learn", interrupted)
    task = Task(r.spec, str(tmp_path / r.spec.id), 0.0)
    with pytest.raises(KeyboardInterrupt):
        execute(task)
    monkeypatch.undo()
    assert execute(task) == ("finished", "")
    assert bytes_of(tmp_path / r.spec.id) == bytes_of(results.folder.of(r).path)


def test_a_wrong_name_is_refused_before_anything_runs(tmp_path):
    pytest.importorskip("stable_baselines3")
    for config, message in (
        (Theirs("QDN"), "algorithm must be 'DQN', 'PPO' or 'A2C'"),
        (Theirs("DQN", learning_rat=0.1), "DQN has no parameter 'learning_rat': did you mean"),
    ):
        with pytest.raises(StudyError, match=message):
            run(replace(STUDY, agents={"a": config}), tmp_path / "out")


def test_a_wrong_value_fails_with_a_sentence(tmp_path):
    pytest.importorskip("stable_baselines3")
    several = replace(STUDY, worlds={"cart": replace(CART, parallel=2)}, agents={"a": Theirs()})
    with pytest.raises(RunsFailed, match="plays one environment; got 2"):
        run(several, tmp_path / "out", jobs=1)
