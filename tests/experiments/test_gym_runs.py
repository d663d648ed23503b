"""Runs in Gymnasium environments: what they leave, and that a kill changes none of it."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from optimist import Rmax, RmaxRaviUcb, Study, envs, load_policy, run
from optimist.envs import Gym
from optimist.errors import RunsFailed
from optimist.experiments import Specification
from optimist.experiments.curves import read_curves, write_curves
from optimist.experiments.execute import Task, execute, marks
from optimist.experiments.maps import SIDE, centres
from optimist.experiments.run_folder import RunFolder
from optimist.report.data import plain

LAKE = Gym("FrozenLake-v1", gamma=0.95)
CAR = Gym("MountainCar-v0", features="tiles:6", repeat=8)
PRACTICAL = RmaxRaviUcb.Config()
RUNS = {
    "lake": Specification(LAKE, PRACTICAL, 25, stride=4, seed=3),
    "geometric": Specification(replace(LAKE, geometric=True), Rmax.Config(), 9, stride=1, seed=1),
    "side by side": Specification(replace(LAKE, parallel=3), PRACTICAL, 12, stride=5, seed=2),
    "car": Specification(CAR, PRACTICAL, 5, stride=2, seed=0),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    known = {}

    def folder(name):
        if name not in known:
            path = tmp_path_factory.mktemp("run") / RUNS[name].id
            assert execute(Task(RUNS[name], str(path), 0.0)).state == "finished"
            known[name] = RunFolder(path)
        return known[name]

    return folder


def played(spec):
    """The learner, and the columns of all episodes, when it is played from mark to mark."""
    agent = spec.learner()
    ends = marks(spec.episodes, spec.stride)[1:]
    parts = [agent.learn(int(end) - agent.episodes, show_progress=False) for end in ends]
    names = ("steps", "reward", "epoch", "optimistic_value", "bonus", "ascension")
    return agent, {n: np.concatenate([getattr(part, n) for part in parts]) for n in names}


@pytest.mark.parametrize("name", RUNS)
def test_curves_result_and_policy_are_those_of_the_learner(name, finished):
    """Rows are means over windows of episodes; the policy needs neither learner nor environment."""
    spec, curves = RUNS[name], finished(name).curves
    agent, columns = played(spec)
    ends = [*range(spec.stride, spec.episodes, spec.stride), spec.episodes]
    assert curves["episode"].tolist() == ends
    assert list(curves) == [
        *("episode", "steps", "epoch", "return", "optimistic_value", "bonus", "ascension")
    ]
    for i, end in enumerate(ends):
        window = slice(i * spec.stride, end)
        assert curves["steps"][i] == columns["steps"][:end].sum()
        assert curves["epoch"][i] == columns["epoch"][end - 1]
        assert curves["return"][i] == pytest.approx(columns["reward"][window].mean())
        for column in ("optimistic_value", "bonus", "ascension"):
            assert curves[column][i] == pytest.approx(columns[column][window].mean())
    found = finished(name).read_json("result.json")
    late = columns["reward"][(spec.episodes - 1) // spec.stride * spec.stride :]  # of < 20 windows
    plane = [[-1.2, 0.6], [-0.07, 0.07]] if spec.world.id == "MountainCar-v0" else None
    assert found.pop("plane") == (plane and [pytest.approx(ends) for ends in plane])
    assert found == {
        "run": spec.id,
        "actions": 3 if plane else 4,
        "episodes": spec.episodes,
        "steps": int(columns["steps"].sum()),
        "mean_return": pytest.approx(columns["reward"].mean()),
        "final_return": pytest.approx(late.mean()),
        "states": len(agent.diagnostics.V),
        "played": agent.played,
    }
    policy = load_policy(finished(name).path / "policy.safetensors")
    seen = np.arange(16) if name != "car" else centres(CAR)[::50]
    np.testing.assert_array_equal(policy.probabilities(seen), agent.policy.probabilities(seen))


def test_maps_are_the_beliefs_at_each_mark(finished):
    """Where observations are no plane there are no maps."""
    assert not (finished("lake").path / "snapshots.safetensors").exists()
    maps, spec = finished("car").shots(RUNS["car"].world), RUNS["car"]
    agent = spec.learner()
    assert maps.episodes.tolist() == sorted({0, *marks(spec.episodes, spec.stride).tolist()})
    for i, episodes in enumerate(maps.episodes):
        if episodes:
            agent.learn(int(episodes) - agent.episodes, show_progress=False)
        seen = agent.believe(centres(CAR))
        np.testing.assert_array_equal(maps.value[i], seen.value)
        np.testing.assert_array_equal(maps.bonus[i], seen.bonus.mean(axis=1))
        np.testing.assert_array_equal(maps.ascension[i], seen.ascension.mean(axis=1))
        np.testing.assert_array_equal(maps.visits[i], seen.visits.sum(axis=1))
        np.testing.assert_array_equal(maps.action[i], seen.policy.argmax(axis=1))
    assert maps.visits[-1].max() > 1


def test_the_first_dimension_goes_right_and_the_second_up():
    x, y = centres(CAR).reshape(SIDE, SIDE, 2).transpose(2, 0, 1)
    assert (np.diff(x, axis=1) > 0).all()
    assert (np.diff(y, axis=0) < 0).all()
    assert (x[0] == x[-1]).all()
    assert (y[:, 0] == y[:, -1]).all()
    np.testing.assert_allclose([x.mean(), y.mean()], [-0.3, 0.0], atol=1e-7)
    assert all(CAR.observation_space.contains(point) for point in np.float32(centres(CAR)))


@pytest.mark.usefixtures("hasty_disk")
@pytest.mark.parametrize("name", RUNS)
def test_a_kill_at_any_change_of_the_folder(name, start, whole, bytes_of, tmp_path):
    spec = RUNS[name]
    for n in range(1, 200, 5):
        folder = tmp_path / str(n)
        first = start(spec, folder, at=n)
        if first.state == "finished":
            break
        assert first.state == "killed", first.message
        assert execute(Task(spec, str(folder), 0.0)).state == "finished"
        assert bytes_of(folder) == whole(spec), n
    assert n > 20


def test_lost_curves_are_noticed(tmp_path, monkeypatch):
    spec, usual = RUNS["lake"], RmaxRaviUcb.learn

    def interrupted(agent, *arguments, **options):
        if agent.episodes >= 12:
            raise KeyboardInterrupt
        return usual(agent, *arguments, **options)

    monkeypatch.setattr(RmaxRaviUcb, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        execute(Task(spec, str(tmp_path / "run"), 0.0))
    monkeypatch.undo()
    file = tmp_path / "run" / "checkpoint.parquet"
    rows = {name: column[:-1] for name, column in read_curves(file, spec.id).items()}
    write_curves(file, rows, spec.id)
    state, message = execute(Task(spec, str(tmp_path / "run"), 0.0))
    assert (state, "the curves end before the agent's checkpoint" in message) == ("finished", True)


# Studies


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A study of both kinds of worlds, finished."""
    study = Study(
        worlds={"river": envs.RiverSwim(3), "lake": replace(LAKE, options="is_slippery=false")},
        agents={"twice": RmaxRaviUcb, "R-max": Rmax.Config(visits=2)},
        episodes=30,
        seeds=3,
        stride=2,
    )
    return run(study, tmp_path_factory.mktemp("mixed") / "out", jobs=1)


def test_a_cell_is_made_of_the_curves_of_its_seeds(mixed):
    cell = mixed.cell("lake", "twice")
    runs = [r for r in mixed.study.runs if (r.world, r.agent) == ("lake", "twice")]
    tables = [mixed.folder.of(r).curves for r in runs]
    np.testing.assert_array_equal(cell.curves["return"], [t["return"] for t in tables])
    np.testing.assert_allclose(cell.averages, [t["return"].mean() for t in tables])
    np.testing.assert_allclose(cell.finals, [t["return"][-1] for t in tables])
    assert cell.estimates["mean_return"].value == pytest.approx(cell.averages.mean())
    assert cell.estimates["final_return"].value == pytest.approx(cell.finals.mean())
    assert cell.averages.max() > 0


def test_a_table_has_the_measures_of_both_kinds(mixed):
    table = mixed.table()
    assert all(list(row) == list(table[0]) for row in table)
    for row in table:
        known = {name for name in ("average", "slope", "mean_return") if row[name] == row[name]}
        assert known == ({"average", "slope"} if row["world"] == "river" else {"mean_return"})
    assert "mean_return" in str(table)


def test_a_table_of_one_kind_has_its_measures_only(tmp_path):
    short = Study({"lake": LAKE}, {"R-max": Rmax}, 4, seeds=1, stride=3)  # the last row is of one
    lake = run(short, jobs=1).table()
    assert list(lake[0])[3:] == [
        *("mean_return", "mean_return_low", "mean_return_high"),
        *("final_return", "final_return_low", "final_return_high"),
    ]
    river = run(Study({"r": envs.RiverSwim(3)}, {"R-max": Rmax}, 4, seeds=1), jobs=1).table()
    assert not [name for name in river[0] if "return" in name]


def test_the_higher_return_is_the_better(mixed):
    a, b = (mixed.cell("lake", agent).averages for agent in ("twice", "R-max"))
    wins = (a[:, None] > b).mean() + (a[:, None] == b).mean() / 2
    assert mixed.improvement("lake", "twice", "R-max").value == pytest.approx(wins)
    assert wins != 0.5


def test_curves_that_are_shown_are_means_since_the_point_before(mixed, monkeypatch):
    monkeypatch.setattr("optimist.experiments.summary.POINTS", 3)
    world = next(w for w in mixed.data.worlds if w.name == "lake")
    curves, cell = world.curves["twice"], mixed.cell("lake", "twice")
    edges = [0, *np.searchsorted(cell.at, curves.episode) + 1]
    assert len(curves.episode) < len(cell.at)
    steps = [mixed.folder.of(r).curves["steps"] for r in mixed.finished
             if (r.world, r.agent) == ("lake", "twice")]  # fmt: skip
    np.testing.assert_allclose(curves.steps, np.mean(steps, axis=0)[np.array(edges[1:]) - 1])
    for k, (begin, end) in enumerate(pairwise(edges)):
        means = cell.curves["return"][:, begin:end].mean(axis=1)
        np.testing.assert_allclose(curves.of["return"].seeds[:, k], means)
        assert curves.of["return"].mean.value[k] == pytest.approx(means.mean())
    assert json.dumps(plain(world), allow_nan=False)


def test_an_environment_that_pays_what_was_not_declared_fails_with_a_sentence(tmp_path):
    study = Study({"car": replace(CAR, low=0, high=1)}, {"R-max": Rmax}, 3, seeds=1)
    with pytest.raises(RunsFailed, match="the environment paid -8"):
        run(study, tmp_path / "out", jobs=1)
