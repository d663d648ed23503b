"""Studies by steps: the points of their curves, and that a kill changes none of them."""

from dataclasses import dataclass, replace

import gymnasium
import numpy as np
import pytest
from reference.own import EpsilonGreedy

import optimist as opt
from optimist.envs import Gym
from optimist.experiments import Specification, Study, open_results, run
from optimist.experiments.curves import read_curves
from optimist.experiments.execute import Task, execute, marks
from optimist.experiments.measures import BySteps, step_points
from optimist.experiments.run_folder import RunFolder
from optimist.report.figures import curves_figure
from optimist.report.page import render

LAKE = Gym("FrozenLake-v1", gamma=0.95)
CAR = Gym("MountainCar-v0", features="tiles:6", repeat=8)


def by_steps(world, agent, steps, seed=0):
    return Specification(world, agent, episodes=None, stride=1, seed=seed, steps=steps)


RUNS = {
    "lake": by_steps(LAKE, opt.RmaxRaviUcb.Config(), 230, seed=3),
    "geometric": by_steps(replace(LAKE, geometric=True), opt.Rmax.Config(), 99, seed=1),
    "side by side": by_steps(replace(LAKE, parallel=3), opt.Optimist.Config(), 150, seed=2),
    "car": by_steps(CAR, opt.Rmax.Config(), 70),
    "plain Python": by_steps(LAKE, opt.HashedQLearning(), 120),
}


# Points


def rows(ends, returns):
    n = len(ends)
    return {
        "episode": np.arange(1, n + 1),
        "steps": np.array(ends),
        "epoch": np.arange(n) // 2,
        "return": np.array(returns, dtype=np.float64),
    }


def test_a_point_is_the_mean_of_the_episodes_that_ended_since_the_one_before(monkeypatch):
    monkeypatch.setattr("optimist.experiments.measures.POINTS", 5)
    found = BySteps(LAKE, 100).completed(rows([10, 20, 21, 60, 100], [1, 3, 8, 5, 7]))
    assert found["steps"].tolist() == [20, 40, 60, 80, 100]
    assert found["episode"].tolist() == [2, 3, 4, 4, 5]
    assert found["return"].tolist() == [2, 8, 5, 7, 7]  # from 60 to 80 the last one was under way
    assert found["epoch"].tolist() == [0, 1, 1, 2, 2]


def test_a_point_without_an_end_has_the_episode_that_was_under_way(monkeypatch):
    """At the beginning too; the episode that goes beyond the last point counts for that one."""
    monkeypatch.setattr("optimist.experiments.measures.POINTS", 4)
    found = BySteps(LAKE, 80).completed(rows([50, 58, 95], [4, 6, 9]))
    assert found["steps"].tolist() == [20, 40, 60, 80]
    assert found["episode"].tolist() == [0, 0, 2, 3]
    assert found["return"].tolist() == [4, 4, 5, 9]
    (only,) = {tuple(x) for x in [BySteps(LAKE, 80).completed(rows([200], [3]))["return"]]}
    assert only == (3, 3, 3, 3)


def test_points_of_a_run_that_goes_on_do_not_change(monkeypatch):
    """TensorBoard writes them meanwhile, each once."""
    monkeypatch.setattr("optimist.experiments.measures.POINTS", 10)
    ends = np.array([3, 9, 10, 37, 38, 70, 104])
    whole = rows(ends, np.arange(7.0) ** 2)
    track, last = BySteps(LAKE, 100), BySteps(LAKE, 100).completed(whole)
    for n in range(1, 8):
        found = track.completed({name: column[:n] for name, column in whole.items()})
        assert found["steps"].tolist() == [x for x in range(10, 101, 10) if x <= ends[n - 1]]
        for name, column in found.items():
            np.testing.assert_array_equal(column, last[name][: len(column)], name)


@pytest.mark.parametrize("steps", [1, 7, 99, 100, 101, 1234, 10**9])
def test_there_are_a_hundred_points_and_at_most_one_a_step(steps):
    points = step_points(steps)
    assert len(points) == min(100, steps)
    assert points[-1] == steps
    gaps = np.diff(points, prepend=0)
    assert gaps.min() >= 1
    assert gaps.max() - gaps.min() <= 1


def test_a_mean_is_over_the_steps_and_not_over_the_episodes(monkeypatch):
    monkeypatch.setattr("optimist.experiments.measures.POINTS", 20)
    track = BySteps(LAKE, 200)
    ends = [*range(1, 101), 200]  # a hundred short episodes that earn 0, and a long one
    mean, late = track.means(track.completed(rows(ends, [0] * 100 + [10])))
    assert (mean, late) == (5, 10)


# Runs


@pytest.mark.parametrize("name", RUNS)
def test_curves_are_those_of_the_learner_that_learns_from_mark_to_mark(name, tmp_path):
    spec = RUNS[name]
    assert execute(Task(spec, str(tmp_path / spec.id), 0.0)).state == "finished"
    folder, agent, ends = RunFolder(tmp_path / spec.id), spec.learner(), []
    for mark in marks(spec.steps, 1)[1:]:
        if mark > agent.steps:
            before = agent.steps
            history = agent.learn(steps=int(mark) - before, show_progress=False)
            ends += (before + np.cumsum(history.steps)).tolist()
            assert ends[-1] == agent.steps or name == "side by side"
            ends[-1] = agent.steps  # those of episodes that were dropped too
    ends, returns = np.array(ends), agent.history.reward
    curves, before = folder.curves, 0
    assert curves["steps"].tolist() == step_points(spec.steps).tolist()
    for at, episode, shown in zip(
        *(curves[n] for n in ("steps", "episode", "return")), strict=True
    ):
        last = at == spec.steps
        window = (ends > before) & (last | (ends <= at))
        assert episode == (len(ends) if last else (ends <= at).sum())
        mean = returns[window].mean() if window.any() else returns[ends > at][0]
        assert shown == pytest.approx(mean, rel=1e-12)
        before = at
    found = folder.result
    assert (found["episodes"], found["steps"]) == (agent.episodes, agent.steps)
    assert ends[-1] == agent.steps >= spec.steps > ends[-2]
    assert (folder.path / "policy.safetensors").exists()
    assert folder.specification == spec
    folder.check(spec)


@pytest.mark.usefixtures("hasty_disk")
@pytest.mark.parametrize("name", RUNS)
def test_a_kill_at_any_change_of_the_folder(name, start, whole, bytes_of, tmp_path):
    spec = RUNS[name]
    for n in range(1, 300, 7):
        folder = tmp_path / str(n)
        first = start(spec, folder, at=n)
        if first.state == "finished":
            break
        assert first.state == "killed", first.message
        assert execute(Task(spec, str(folder), 0.0)).state == "finished"
        assert bytes_of(folder) == whole(spec), n
    assert n > 20


def test_damaged_curves_are_noticed(tmp_path):
    spec = RUNS["lake"]
    execute(Task(spec, str(tmp_path / spec.id)))
    folder = RunFolder(tmp_path / spec.id)
    track, path = BySteps(LAKE, spec.steps), tmp_path / "curves.parquet"
    good = folder.curves
    track.check(good, spec, path)
    for bad in (
        {**good, "steps": good["steps"] + 1},
        {**good, "episode": good["episode"].astype(float)},
        {**good, "return": np.where(good["steps"] > 90, np.nan, good["return"])},
        {name: column[:-1] for name, column in good.items()},
    ):
        with pytest.raises(opt.errors.FileError, match="its rows do not match the run"):
            track.check(bad, spec, path)


# Agents that cannot be saved


@dataclass(frozen=True)
class FleetingConfig:
    visits: int = 2

    def variant(self):
        return opt.Rmax.Config(visits=self.visits).variant()


class Fleeting(opt.agents.VariantAgent):
    """R-max as somebody would ship it who cannot save it."""

    Config = FleetingConfig
    can_be_saved = False

    def save(self, folder):
        raise AssertionError("it was saved")


def test_an_agent_that_cannot_be_saved_begins_again(tmp_path, monkeypatch, bytes_of):
    """It leaves its curves and its maps, but neither a checkpoint nor a policy."""
    spec, calls, usual = by_steps(CAR, FleetingConfig(), 70), [], Fleeting.learn
    saved = by_steps(CAR, opt.Rmax.Config(visits=2), 70, spec.seed)

    def interrupted(agent, *arguments, **options):
        calls.append(agent.steps)
        if agent.steps > 30:
            raise KeyboardInterrupt
        return usual(agent, *arguments, **options)

    monkeypatch.setattr(Fleeting, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        execute(Task(spec, str(tmp_path / "run"), 0.0))
    left = {path.name for path in (tmp_path / "run").iterdir()}
    assert left == {"specification.json", "environment.json", "progress", "lock"}
    monkeypatch.undo()
    assert execute(Task(spec, str(tmp_path / "run"), 0.0)) == ("finished", "")
    execute(Task(spec, str(tmp_path / "whole")))
    assert bytes_of(tmp_path / "run") == bytes_of(tmp_path / "whole")
    assert set(bytes_of(tmp_path / "run")) == {
        *("curves.parquet", "result.json", "snapshots.safetensors", "specification.json"),
    }
    execute(Task(saved, str(tmp_path / "saved")))
    one, other = (read_curves(tmp_path / n / "curves.parquet", s.id)
                  for n, s in (("run", spec), ("saved", saved)))  # fmt: skip
    for name, column in one.items():
        np.testing.assert_array_equal(column, other[name], name)


# Studies


AGENTS = {"R-max": opt.Rmax, "Q": opt.HashedQLearning(), "own": EpsilonGreedy()}
STUDY = Study({"lake": LAKE, "cart": Gym("CartPole-v1", features="tiles:3")}, {"R-max": opt.Rmax},
              steps={"lake": 300, "cart": 150}, seeds=3)  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run(STUDY, tmp_path_factory.mktemp("study") / "out", jobs=1)


def test_a_study_by_steps_comes_back_from_its_text():
    again = Study.parse(STUDY.text)
    assert (again.unit, again.lengths) == ("steps", {"lake": 300, "cart": 150})
    assert again.runs == STUDY.runs
    assert "episodes" not in STUDY.text
    assert "stride" not in STUDY.text
    assert {r.spec.seed for r in replace(STUDY, steps=77).runs} == {r.spec.seed for r in STUDY.runs}


def test_the_seeds_have_the_same_points_and_different_episodes(results):
    cell = results.cell("lake", "R-max")
    assert cell.at.tolist() == step_points(300).tolist()
    assert (cell.steps == cell.at).all()
    assert cell.curves["return"].shape == cell.episodes.shape == (3, 100)
    assert len(set(cell.episodes[:, -1])) > 1
    np.testing.assert_allclose(cell.averages, cell.curves["return"].mean(axis=1))
    np.testing.assert_allclose(cell.finals, cell.curves["return"][:, -10:].mean(axis=1))
    row = results.table()[0]
    assert row["mean_return"] == pytest.approx(cell.averages.mean())


def test_every_executor_gives_the_same_bytes(results, bytes_of, run_folders, tmp_path):
    run(STUDY, tmp_path / "out", jobs=2)
    folders = (run_folders(STUDY, out) for out in (results.folder.path, tmp_path / "out"))
    for one, other in zip(*folders, strict=True):
        assert bytes_of(one) == bytes_of(other)


def test_figures_and_page_speak_of_steps(results):
    figure = results.plot("return")
    assert figure.get_supxlabel() == "steps"
    line = figure.axes[0].get_lines()[0]
    assert line.get_xdata()[-1] == 300
    other = curves_figure(results.data, "return", over="episodes")
    assert other.get_supxlabel() == "episode, mean over the seeds"
    at = results.cell("lake", "R-max").episodes.mean(axis=0)
    assert other.axes[0].get_lines()[0].get_xdata()[-1] == at[-1]
    page = render(results.data)
    for words in ("300 steps, 3 seeds", "150 steps, 3 seeds", "over the last tenth of the steps"):
        assert words in page
    assert "tenth of the episodes" not in page
    assert 'value="steps" checked' in page


def test_runs_of_episodes_and_of_steps_are_not_compared(results, tmp_path, capsys):
    from optimist.cli.compare import collect

    episodes = run(Study({"lake": LAKE}, {"R-max": opt.Rmax}, 300, seeds=1), jobs=1)
    out = results.folder.path
    places, _ = collect({out: open_results(out), episodes.folder.path: episodes})
    assert [len(cells) for _, cells in places.values()] == [1, 1, 1]


def test_mistakes_give_one_line_errors():
    river = opt.envs.RiverSwim()
    worlds, agents = {"w": LAKE}, {"a": opt.Rmax}
    for given, message in (
        ({"episodes": 3, "steps": 3}, "exactly one of episodes and steps must be given; got both"),
        ({}, "exactly one of episodes and steps must be given; got none"),
        ({"steps": 0}, "steps must be at least 1; got 0"),
        ({"steps": 2.5}, "steps must be a whole number; got 2.5"),
        ({"steps": {"v": 3}}, "steps must have a number for each world: w"),
        ({"steps": 3, "stride": 2}, "stride must not be given in a study by steps"),
        (
            {"steps": 3, "worlds": {"w": river}},
            "RiverSwim is finite: give episodes, which have 100",
        ),
        ({"steps": 10**15}, "the curves of 1,000,000,000,000,000 steps .* would need"),
        ({"steps": 3, "agents": {"a": opt.FraIL}}, "FraIL imitates an optimal expert"),
    ):
        with pytest.raises((ValueError, TypeError, opt.errors.TooLarge), match=message):
            Study(**{"worlds": worlds, "agents": agents, **given})
    for wrong, message in (
        ({"episodes": 5}, "got both"),
        ({"steps": None}, "got none"),
        ({"stride": 2}, "stride must be 1"),
        ({"world": river}, "RiverSwim is finite"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(RUNS["lake"], **wrong)


WORLD = '[worlds.w]\nworld = "Gym"\nid = "FrozenLake-v1"\n'
AGENT = '[agents.a]\nagent = "Rmax"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"steps = 5\nepisodes = 5\n{WORLD}{AGENT}", "line 2: exactly one of episodes and steps"),
        (f"steps = 5\n{WORLD}episodes = 5\n{AGENT}", "line 5: exactly one of episodes and steps"),
        (f"episodes = 5\n{WORLD}steps = 5\n{AGENT}", "line 1: exactly one of episodes and steps"),
        (f"steps = 0\n{WORLD}{AGENT}", "line 1: steps must be at least 1; got 0"),
        (f"steps = 5\nstride = 2\n{WORLD}{AGENT}", "line 2: stride must not be given"),
        (f'steps = 5\n[worlds.w]\nworld = "Maze"\n{AGENT}', "line 2: steps must be those of a Gym"),
        (f"{WORLD}steps = 5\n[worlds.v]\nworld = 'Maze'\n{AGENT}", "world 'v' needs steps, in its"),
    ],
)
def test_mistakes_in_a_file_give_their_line(text, message):
    with pytest.raises(opt.errors.StudyError) as caught:
        Study.parse(text)
    assert message in str(caught.value)


def test_a_world_may_have_its_own_steps_and_they_may_be_a_grid():
    study = Study.parse(f"{WORLD}steps = [5, 10]\n{AGENT}")
    assert study.lengths == {"w, steps 5": 5, "w, steps 10": 10}


def test_an_episode_that_never_ends_within_the_steps():
    """It ends where the environment ends it, and every point has its return."""
    study = Study({"car": gymnasium.make("MountainCar-v0")}, {"R-max": opt.Rmax}, steps=9, seeds=1)
    found = run(study, jobs=1)
    assert found.cell("car", "R-max").curves["return"].tolist() == [[-200.0] * 9]
    assert found.folder.of(study.runs[0]).result["steps"] == 200
