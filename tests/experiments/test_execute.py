"""A run in its folder: what is written, what it depends on, and what is never done twice."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from optimist import OptimisticVI, RaviUcb, Rmax, envs, load_policy
from optimist.agents import Optimist, VariantAgent
from optimist.errors import FailureWarning, RunsFailed
from optimist.experiments import Study, environment, open_results, run
from optimist.experiments.execute import Task, execute
from optimist.experiments.run_folder import RunFolder


def carried_out(spec, folder, checkpoint_seconds=0.0):
    assert execute(Task(spec, str(folder), checkpoint_seconds)).state == "finished"
    return RunFolder(folder)


# What is in the folder


FILES = {
    *("specification.json", "environment.json", "curves.parquet", "policy.safetensors"),
    *("agent.safetensors", "result.json", "lock"),
}


def test_a_finished_run_leaves_its_curves_its_result_its_policy_and_its_learner(spec, tmp_path):
    folder = carried_out(spec, tmp_path / spec.id)
    assert {path.name for path in folder.path.iterdir()} - {"snapshots.safetensors"} == FILES
    assert (folder.finished, folder.failure, folder.specification) == (True, None, spec)
    assert folder.specification.id == folder.path.name
    found, curves, mdp = folder.result, folder.curves, spec.world.mdp
    lost = curves["suboptimality"]
    every = np.interp(np.arange(1, curves["episode"][-1] + 1), curves["episode"], lost)
    assert (found["episodes"], found["steps"]) == (spec.episodes, curves["steps"][-1])
    assert found["optimal"] == pytest.approx(mdp.optimal().value, rel=1e-12)
    assert found["uniform"] == pytest.approx(float(mdp.value(mdp.uniform_policy)), rel=1e-12)
    assert found["regret"] == pytest.approx(every.sum(), rel=1e-12)
    assert found["average_suboptimality"] == pytest.approx(every.mean(), rel=1e-12)
    last = lost[-max(1, len(lost) // 10) :]
    assert found["final_suboptimality"] == pytest.approx(last.mean(), rel=1e-12)
    agent = spec.learner()
    agent.learn(spec.episodes)
    features = getattr(agent, "features", None)  # a tabular agent has none
    policy = load_policy(folder.path / "policy.safetensors", features)
    states = np.arange(mdp.n_states)
    np.testing.assert_array_equal(policy.probabilities(states), agent.policy.probabilities(states))
    again = spec.learner()
    again.restore(folder.path)
    assert (again.episodes, again.steps) == (agent.episodes, agent.steps)
    np.testing.assert_array_equal(again.learn(20).sup_q, agent.learn(20).sup_q)


# What the bytes depend on


@pytest.mark.usefixtures("hasty_disk")
def test_checkpoints_change_nothing(spec, whole, bytes_of, tmp_path):
    for checkpoint_seconds in (0.0, 0.01, 1e9):
        folder = carried_out(spec, tmp_path / str(checkpoint_seconds), checkpoint_seconds)
        assert bytes_of(folder.path) == whole(spec)


STUDY = Study(
    worlds={"river": envs.RiverSwim(5), "sea": envs.DeepSea(4)},
    agents={"R-max": Rmax, "optimistic": OptimisticVI},
    episodes=60,
    seeds=2,
)


def test_alone_in_a_study_or_beside_others_a_run_is_the_same(whole, bytes_of, tmp_path):
    results = run(STUDY, tmp_path, jobs=2)
    assert len(results.finished) == len(STUDY.runs) == 8
    for r in STUDY.runs:
        assert bytes_of(results.folder.of(r).path) == whole(r.spec)


def test_runs_of_another_study_are_left_alone(tmp_path):
    results = run(STUDY, tmp_path, jobs=1)
    before = states(tmp_path / "runs")
    other = Study({"river": envs.RiverSwim(5)}, {"R-max": Rmax}, episodes=60, seeds=[1, 2])
    assert len(run(other, tmp_path, jobs=1).finished) == 2
    after = states(tmp_path / "runs")
    assert before.items() <= after.items()
    folders = {path.parent for path in after} - {tmp_path / "runs"}  # which holds the lock
    assert len(folders) == len(results.finished) + 1  # seed 1 was there


# What is never done twice


def states(folder):
    """Which files there are, and when each was changed."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in files}


@pytest.fixture
def poisoned(monkeypatch):
    """Nobody can learn any more."""

    def die(*arguments, **options):
        raise AssertionError("somebody learns")

    monkeypatch.setattr(VariantAgent, "__init__", die)
    monkeypatch.setattr(VariantAgent, "learn", die)


def test_a_finished_run_is_not_touched(specs, tmp_path, request):
    spec = specs["river"]
    carried_out(spec, tmp_path / "run")
    before = states(tmp_path)
    request.getfixturevalue("poisoned")
    carried_out(spec, tmp_path / "run")
    assert states(tmp_path) == before


def test_a_finished_study_is_not_run_again(tmp_path, request):
    table = run(STUDY, tmp_path, jobs=1).table()
    before = states(tmp_path / "runs")
    request.getfixturevalue("poisoned")
    assert run(STUDY, tmp_path, jobs=1).table() == table
    assert states(tmp_path / "runs") == before


def test_parameters_have_to_fit_the_worlds_of_the_study_only(tmp_path):
    """Here v_max is above R_max H in the world on which the loops are compiled."""
    config = Optimist.Config(v_max=500)
    study = Study({"river": envs.RiverSwim(4, gamma=0.999)}, {"": config}, episodes=3, seeds=1)
    assert len(run(study, tmp_path, jobs=1).finished) == 1


def test_whole_numbers_are_found_again(tmp_path):
    study = Study({"river": envs.RiverSwim(4)}, {"": RaviUcb.Config(beta=1)}, episodes=5, seeds=1)
    run(study, tmp_path, jobs=1)
    assert len(open_results(tmp_path).finished) == 1


def test_only_what_is_missing_is_run(tmp_path, monkeypatch):
    few = Study(STUDY.worlds, STUDY.agents, episodes=60, seeds=1)
    run(few, tmp_path, jobs=1)
    before, begun = states(tmp_path / "runs"), []
    usual = VariantAgent.learn

    def learn(agent, episodes, **options):
        if agent.episodes == 0:
            begun.append(agent)
        return usual(agent, episodes, **options)

    monkeypatch.setattr(VariantAgent, "learn", learn)
    run(STUDY, tmp_path, jobs=1)
    assert len(begun) == 4 + 2  # and one of each agent for the compiler
    assert before.items() <= states(tmp_path / "runs").items()


def test_a_run_goes_on_from_its_checkpoint(specs, whole, bytes_of, tmp_path, monkeypatch):
    spec, usual, begins = specs["grid"], VariantAgent.learn, []

    def learn(agent, episodes, **options):
        begins.append(agent.episodes)
        if agent.episodes == 200 and begins.count(200) == 1:
            raise KeyboardInterrupt
        return usual(agent, episodes, **options)

    monkeypatch.setattr(VariantAgent, "learn", learn)
    with pytest.raises(KeyboardInterrupt):
        carried_out(spec, tmp_path / "run")
    assert RunFolder(tmp_path / "run").progress == 200
    begins.append(-1)
    carried_out(spec, tmp_path / "run")
    assert begins[begins.index(-1) + 1] == 200
    assert bytes_of(tmp_path / "run") == whole(spec)


# Failures


def test_a_failed_run_is_reported_and_retried(whole, bytes_of, tmp_path, monkeypatch):
    def fail(agent):
        raise FloatingPointError("the river\nhas run dry")

    with monkeypatch.context() as patch:
        patch.setattr(OptimisticVI, "forget", fail)
        with pytest.warns(FailureWarning, match=r"^4 of 8 runs failed; the first, .*dry$"):
            results = run(STUDY, tmp_path, executor="serial")
    assert {r.agent for r in results.finished} == {"R-max"}
    assert {r.agent for r in results.failures} == {"optimistic"}
    assert set(results.failures.values()) == {"FloatingPointError: the river has run dry"}
    one = results.folder.of(next(iter(results.failures)))
    assert "in fail" in one.read_json("failure.json")["details"]
    results = run(STUDY, tmp_path, executor="serial")
    assert (len(results.finished), results.failures) == (8, {})
    for r in STUDY.runs:
        assert bytes_of(results.folder.of(r).path) == whole(r.spec)  # so failure.json is gone


def test_all_runs_fail(tmp_path, monkeypatch):
    monkeypatch.setattr(Rmax, "forget", lambda agent: 1 / 0)
    study = Study(STUDY.worlds, {"R-max": Rmax}, 5, seeds=1)
    with pytest.raises(
        RunsFailed, match=r"^2 of 2 runs failed; the first, R-max in .*: Zero"
    ) as it:
        run(study, tmp_path, executor="serial")
    assert list(it.value.results.failures) == list(study.runs)


def test_a_worker_that_does_not_see_the_folder(specs, tmp_path):
    task = Task(specs["sea"], str(tmp_path / "elsewhere" / "run"))
    with pytest.raises(FileNotFoundError, match="a cluster must share the folder"):
        execute(task)
    assert not (tmp_path / "elsewhere").exists()


def test_hash_seed_and_locale_change_no_byte(specs, whole, bytes_of, tmp_path):
    code = "import json, sys; from optimist.experiments.execute import *\n"
    code += "data, folder = json.loads(sys.argv[1])\n"
    code += "execute(Task(Specification.from_plain(data), folder))"
    task = json.dumps([specs["pairs"].plain, str(tmp_path / "run")])
    other = {"PYTHONHASHSEED": "7", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, "-c", code, task], env={**os.environ, **other}, check=True)
    assert bytes_of(tmp_path / "run") == whole(specs["pairs"])


# What it ran on


def test_the_environment_has_versions_commit_and_machine(specs, tmp_path):
    folder = carried_out(specs["sea"], tmp_path / "run")
    (found,) = folder.read_json("environment.json")
    assert found["numpy"] == np.__version__
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["cores"] == str(os.cpu_count())
    for name in ("optimist", "commit", "cpu", "system", "scipy", "numba", "pyarrow"):
        assert found[name], name


def test_each_environment_is_noted_once(specs, tmp_path, monkeypatch):
    spec, folder = specs["sea"], RunFolder(tmp_path / "run")
    here = environment.environment()
    there = {**here, "cpu": "another"}
    for now in (here, here, there, here, there):
        monkeypatch.setattr("optimist.experiments.execute.environment", lambda now=now: now)
        carried_out(spec, folder.path)
        (folder.path / "result.json").unlink()
        (folder.path / "agent.safetensors").unlink()  # begun anew
    assert folder.read_json("environment.json") == [here, there]


def test_the_commit_of_a_checkout(tmp_path, monkeypatch, capfd):
    """It is unknown without a checkout, and in one that does not have the package's files."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    file = tmp_path / "src" / "package" / "module.py"
    file.parent.mkdir(parents=True)
    file.write_text("")
    monkeypatch.setattr(environment, "__file__", str(file))

    def git(*words):
        who = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert environment.commit() == "unknown"
    git("init")
    (file.parent / "theirs").touch()
    git("add", str(file.parent / "theirs"))
    git("commit", "-m", "one")
    assert environment.commit() == "unknown"
    git("add", ".")
    git("commit", "-m", "two")
    head = git("rev-parse", "HEAD")
    assert environment.commit() == head
    file.write_text("changed")
    assert environment.commit() == f"{head} with changes"
    assert capfd.readouterr() == ("", "")


# What is shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_an_agent_shows_progress_if_asked_and_a_run_never(specs, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    Rmax(envs.RiverSwim(4)).learn(5, show_progress=False)
    carried_out(specs["river"], tmp_path / "run")
    assert sys.stderr.getvalue() == ""
    Rmax(envs.RiverSwim(4)).learn(5, show_progress=True)
    assert "learning" in sys.stderr.getvalue()


def test_episodes_that_are_just_being_written_count_as_none(tmp_path):
    folder = RunFolder(tmp_path)
    assert folder.progress == 0
    (tmp_path / "progress").write_text("")
    assert folder.progress == 0
    (tmp_path / "progress").write_text("17")
    assert folder.progress == 17


def test_json_is_for_people_and_for_every_reader(tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_json("a.json", {"é": [1, 0.1]})
    text = (tmp_path / "a.json").read_text()
    assert json.loads(text) == folder.read_json("a.json") == {"é": [1, 0.1]}
    with pytest.raises(ValueError):
        folder.write_json("b.json", float("nan"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
