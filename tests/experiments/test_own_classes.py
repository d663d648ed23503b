"""Worlds, environments and agents of a user's own in a study, and its results without them."""

import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control import CartPoleEnv
from reference import own
from reference.own import Cautious, EpsilonGreedy, Ring, Shy, lake

from optimist import FiniteMDP, FraIL, Optimist, Study, open_results, run
from optimist.agents import Rmax
from optimist.envs import ArrayWorld, Gym, RiverSwim
from optimist.errors import DataError, StudyError
from optimist.experiments import Specification
from optimist.experiments.execute import Task, execute
from optimist.experiments.learners import UnknownAgent, config_of
from optimist.experiments.worlds import keep, study_world

TESTS = Path(__file__).parents[1]

WORLDS = {"ring": Ring(6), "mdp": Ring(4).mdp, "lake": lake}
AGENTS = {"greedy": EpsilonGreedy(epsilon=0.2), "cautious": Cautious.Config(c=0.3), "us": Optimist}


def study(**changes):
    return Study(**{"worlds": WORLDS, "agents": AGENTS, "episodes": 20, "seeds": 2, **changes})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study that was run in this process, and its folder."""
    out = tmp_path_factory.mktemp("own") / "out"
    return out, run(study(), out, executor="serial")


def python(code, *arguments, path=TESTS):
    """What a new process prints that has not imported anything of ours."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(path)!r})\n{code}"]
    command += map(str, arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_own_classes_run_and_are_measured(folder):
    _, results = folder
    assert not results.failures
    assert len(results.finished) == 18
    rows = {(row["world"], row["agent"]): row for row in results.table()}
    assert 0 < rows["ring", "greedy"]["average"] < 1
    assert rows["ring", "us"]["final"] < rows["ring", "greedy"]["final"]
    assert 0 <= rows["lake", "greedy"]["mean_return"] <= 1
    direct = Cautious(Ring(6), c=0.3, seed=results.finished[1].spec.seed, stride=1)
    cell = results.cell("ring", "cautious")
    lost = direct.learn(20).regrets() / Ring(6).mdp.optimal().value
    np.testing.assert_array_equal(cell.curves["suboptimality"][0], lost)


READ = """
import optimist as opt, json
results = opt.open_results(sys.argv[1])
table = results.table().columns("world", "agent", "seeds", "average", "mean_return")
report = results.report()
assert "reference" not in sys.modules, "it was imported"
print(json.dumps([[str(v) for v in row.values()] for row in table]))
"""


def test_results_are_read_and_shown_without_the_classes(folder):
    out, results = folder
    shown = json.loads(python(READ, out))
    columns = ("world", "agent", "seeds", "average", "mean_return")
    expected = [[str(v) for v in row.values()] for row in results.table().columns(*columns)]
    assert shown == expected
    page = (out / "report.html").read_text()
    assert "reference.own:EpsilonGreedy" in page
    assert results.study.runs[0].spec.plain["agent"]["source"] in page


def test_an_unknown_agent_can_be_shown_and_not_run(folder, tmp_path):
    text = (folder[0] / "study.toml").read_text().replace("reference.own:E", "not_there:E")
    (tmp_path / "worlds").symlink_to(folder[0] / "worlds")
    with pytest.raises(StudyError, match="must not be a symbolic link"):
        Study.parse(text.replace("own:Ring", "gone:Ring"), folder=tmp_path, load=False)
    read = Study.parse(text, folder=folder[0], load=False)
    assert isinstance(read.configurations["greedy"], UnknownAgent)
    with pytest.raises(DataError, match="--import not_there on the command line"):
        run(read, tmp_path / "out", executor="serial")


def test_the_study_in_the_folder_is_the_study(folder):
    out, results = folder
    again = open_results(out).study
    assert again.runs == results.study.runs
    assert [r.spec.id for r in again.runs] == [r.spec.id for r in results.study.runs]
    kept = Study.parse(
        (out / "study.toml").read_text().replace("reference.own:Ring", "gone:Ring"), folder=out
    )
    assert isinstance(kept.worlds["ring"], ArrayWorld)
    assert kept.worlds["ring"].board == Ring(6).board
    np.testing.assert_array_equal(kept.worlds["ring"].mdp.r, Ring(6).mdp.r)


CHANGES = (
    ("", ""),
    ("n - 1, 2", "n - 2, 2"),
    ("* best", "* (best + 0)"),
    ("c: float = 0.5", "c: float = 1.0"),
)


def test_a_changed_class_is_a_new_run(tmp_path, monkeypatch):
    """And nothing else of its file is part of a run's identity."""
    monkeypatch.syspath_prepend(tmp_path)
    source = Path(own.__file__).read_text()
    found = []
    for n, change in enumerate(CHANGES):
        (tmp_path / f"mine{n}.py").write_text(source.replace(*change, 1))
        module = __import__(f"mine{n}")
        agents = {"a": module.EpsilonGreedy, "b": module.Cautious}
        first, second = study(worlds={"w": module.Ring(5)}, agents=agents, seeds=1).runs
        tables = first.spec.plain["world"], first.spec.plain["agent"], second.spec.plain["agent"]
        found.append([table.get("arrays", table.get("source")) for table in tables])
    was, *changed = found
    assert [[a == b for a, b in zip(was, now, strict=True)] for now in changed] == [
        [False, True, True],
        [True, False, True],
        [True, True, False],
    ]


@pytest.mark.parametrize("executor", ["joblib", "dask", "ray"])
def test_every_executor_gives_the_same_bytes(executor, folder, bytes_of, tmp_path, request):
    if executor == "ray":
        request.getfixturevalue("ray_environment")
    _, expected = folder
    results = run(study(), tmp_path, jobs=2, executor=executor)
    assert not results.failures
    for r in expected.study.runs:
        assert bytes_of(results.folder.of(r).path) == bytes_of(expected.folder.of(r).path)


@pytest.mark.usefixtures("hasty_disk")
def test_killed_at_random_moments_and_continued(start, whole, bytes_of, tmp_path):
    rng, kills = random.Random(0), 0
    specs = [
        Specification(Ring(6), EpsilonGreedy(epsilon=0.2), 200, stride=3, seed=1),
        Specification(lake, EpsilonGreedy(), 200, stride=3, seed=2),
        Specification(Ring(4).mdp, Cautious, 200, stride=3, seed=3),
    ]
    keep(study_world(Ring(4).mdp), tmp_path)
    for attempt in range(30):
        spec, folder = specs[attempt % 3], tmp_path / "runs" / str(attempt)
        folder.parent.mkdir(exist_ok=True)
        first = start(spec, folder, at=rng.randrange(1, 60))
        if first.state != "finished":
            assert first.state == "killed", first.message
            assert execute(Task(spec, str(folder), checkpoint_seconds=0)).state == "finished"
            kills += 1
        assert bytes_of(folder) == whole(spec)
    assert kills > 10


SCRIPT = """
import optimist as opt
{source}

if __name__ == "__main__":
    worlds = {{"ring": Ring(6), "mdp": Ring(4).mdp, "lake": lake}}
    agents = {{"greedy": EpsilonGreedy(epsilon=0.2), "cautious": Cautious.Config(c=0.3)}}
    study = opt.Study(worlds, agents, episodes=20, seeds=2)
    print(len(opt.run(study, "out", jobs=2, executor="{executor}").finished))
"""


@pytest.mark.parametrize("executor", ["joblib", "dask", "ray", "notebook"])
def test_classes_of_a_script_are_sent_to_workers(executor, tmp_path, request):
    """Guarded by ``__main__``; those of a notebook have no file."""
    if executor == "ray":
        request.getfixturevalue("ray_environment")
    kind = "joblib" if executor == "notebook" else executor
    source = SCRIPT.format(source=Path(own.__file__).read_text(), executor=kind)
    (tmp_path / "script.py").write_text(source)
    how = ["-c", source] if executor == "notebook" else ["script.py"]
    for _ in range(2):  # the second time everything is there
        done = subprocess.run(
            [sys.executable, *how], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.stdout.strip() == "12", done.stderr
    assert len(list((tmp_path / "out" / "runs").glob("*/result.json"))) == 12
    read = "import optimist as opt; print(len(opt.open_results(sys.argv[1]).table()))"
    assert python(read, tmp_path / "out").strip() == "6"


TOML = """
episodes = 10
seeds = 1
[worlds.ring]
world = "reference.own:Ring"
n = [4, 6]
[worlds.file]
world = "two.npz"
[worlds.lake]
world = "reference.own:lake"
gamma = 0.9
[agents.mine]
agent = "reference.own:EpsilonGreedy"
epsilon = 0.3
[agents.cautious]
agent = "reference.own:Cautious"
"""


def test_a_toml_file_names_modules_and_files(tmp_path):
    mdp = FiniteMDP([[[0, 1], [1, 0]], [[0, 1], [1, 0]]], [[0, 0], [1, 0]], [1, 0], gamma=0.9)
    np.savez(tmp_path / "two.npz", P=mdp.P, r=mdp.r, nu0=mdp.nu0, gamma=mdp.gamma)
    (tmp_path / "study.toml").write_text(TOML)
    read = Study.read(tmp_path / "study.toml")
    assert read.worlds["ring, n 6"] == Ring(6)
    assert read.worlds["lake"].gamma == 0.9
    assert read.configurations == {"mine": EpsilonGreedy(0.3), "cautious": Cautious.Config()}
    results = run(read, tmp_path / "out", executor="serial")
    assert len(results.finished) == 8
    assert open_results(tmp_path / "out").study.runs == read.runs
    for change, message in (
        (("own:Ring", "own:Rong"), "line 5: the module reference.own has no 'Rong'"),
        (("own:Ring", "nowhere:Ring"), "line 5: .*--import reference.nowhere"),
        (("n = [4, 6]", "m = 4"), "line 6: .*Ring has no parameter 'm': it has n, gamma"),
        (("two.npz", "three.npz"), "line 8: .*three.npz cannot be read"),
        (("epsilon = 0.3", "epsilom = 0.3"), "did you mean 'epsilon'"),
        (("epsilon = 0.3", 'epsilon = "x"'), "epsilon must be a number; got 'x'"),
    ):
        (tmp_path / "study.toml").write_text(TOML.replace(*change))
        with pytest.raises(StudyError, match=message):
            Study.read(tmp_path / "study.toml")


def test_an_imitator_gets_the_data_of_an_optimal_expert(tmp_path):
    agents = {"exact": Shy, "sampled": config_of(Shy)(samples=50, shyness=0.1), "ours": FraIL}
    made = study(worlds={"ring": Ring(5)}, agents=agents, seeds=1, episodes=40)
    results = run(made, tmp_path, executor="serial")
    errors = {a: results.cell("ring", a).curves["matching_error"] for a in agents}
    assert made.runs[1].spec.plain["agent"]["samples"] == 50
    assert all(np.isfinite(error).all() for error in errors.values())
    assert open_results(tmp_path).study.runs == made.runs
    with pytest.raises(ValueError, match="Shy imitates an optimal expert in a study; none is"):
        study(worlds={"lake": lake}, agents={"shy": Shy})


def test_environments_are_given_in_several_ways():
    made = study(
        worlds={
            "made": gymnasium.make("FrozenLake-v1", is_slippery=False, map_name="8x8"),
            "limited": gymnasium.make("FrozenLake-v1", max_episode_steps=7),
            "function": lake,
            "class": CartPoleEnv,
            "world": RiverSwim,
        },
        agents={"a": Rmax},
    )
    limited, eight = made.worlds["limited"], made.worlds["made"]
    assert isinstance(made.worlds["world"], RiverSwim)
    assert eight.make().unwrapped.desc.shape == (8, 8)
    assert limited.make().spec.max_episode_steps == 7
    assert replace(limited, options="") == Gym("FrozenLake-v1")
    assert made.worlds["class"].n_actions == 2
    with pytest.raises(ValueError, match=r"must make a gymnasium\.Env; got 3"):
        study(worlds={"w": lambda: 3})
