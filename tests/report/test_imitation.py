"""Imitators in the data of a report, its figures and its page."""

import numpy as np
import pytest

import optimist as opt
from optimist.experiments.learners import ImitationConfig
from optimist.report.figures import curves_figure
from optimist.report.page import render

EPISODES = 40


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two imitators, of states and of pairs, and one who knows the rewards."""
    agents = {
        "states": ImitationConfig(),
        "pairs": ImitationConfig(features="pairs", samples=50),
        "R-max": opt.Rmax,
    }
    worlds = {"grid": opt.envs.GridWorld(), "line": opt.envs.RandomLinear(3, 8, 2)}
    study = opt.Study(worlds, agents, EPISODES, seeds=3, stride=1)
    return opt.run(study, tmp_path_factory.mktemp("study"), jobs=1)


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """The same study without imitators."""
    study = opt.Study({"grid": opt.envs.GridWorld()}, {"R-max": opt.Rmax}, EPISODES, seeds=1)
    return opt.run(study, tmp_path_factory.mktemp("without"), jobs=1)


@pytest.mark.parametrize(("world", "agent"), [("grid", "states"), ("line", "pairs")])
def test_matching_errors_are_those_of_the_curves_and_their_means_so_far(results, world, agent):
    runs = [r for r in results.finished if (r.world, r.agent) == (world, agent)]
    error = np.array([results.folder.of(r).curves["matching_error"] for r in runs])
    assert error.shape == (3, EPISODES)
    cell = results.cell(world, agent)
    np.testing.assert_array_equal(cell.curves["matching_error"], error)
    average = [[row[: k + 1].mean() for k in range(EPISODES)] for row in error]
    np.testing.assert_allclose(cell.curves["average_matching_error"], average)
    [shown] = [w.curves[agent] for w in results.data.worlds if w.name == world]
    at = shown.episode - 1
    for name, numbers in (("matching_error", error), ("average_matching_error", average)):
        expected = np.array(numbers)[:, at]
        band = shown.of[name].mean
        np.testing.assert_allclose(band.value, expected.mean(axis=0))
        assert (band.low <= band.value).all()
        assert (band.value <= band.high).all()
        assert band.high.max() <= expected.max() * (1 + 1e-12)
        np.testing.assert_allclose(shown.of[name].seeds, expected)


def test_the_expert_is_the_optimum_and_differences_are_from_it(results):
    grid, line = results.data.worlds
    assert line.picture is None
    expert = grid.picture.optimum.occupancy
    assert expert.sum() == pytest.approx(1)
    runs = {run.agent: run for run in grid.picture.runs}
    assert runs["R-max"].difference is None
    for agent in ("states", "pairs"):
        difference = runs[agent].difference
        np.testing.assert_allclose(difference, runs[agent].occupancy - expert, atol=1e-12)
        assert (difference.min(axis=1) < 0).all()
        assert (difference.max(axis=1) > 0).all()
    # With phi_r(x, a) = e_x the matching error is their length; the next episode plays the policy.
    run = runs["states"]
    before = [(i, k) for i, k in enumerate(run.episodes) if k < EPISODES]
    assert len(before) > 3
    errors = results.cell("grid", "states").curves["matching_error"][0]
    for i, k in before:
        assert np.linalg.norm(run.difference[i]) == pytest.approx(errors[k])


def test_rounding_errors_are_no_differences(results, monkeypatch):
    assert np.abs(results.data.worlds[0].picture.runs[0].difference).max() < 1
    monkeypatch.setattr("optimist.experiments.summary.ROUNDING", 1.0)
    [run, *_] = opt.open_results(results.folder.path).data.worlds[0].picture.runs
    assert not np.any(run.difference)


def test_other_agents_have_no_matching_error(results, without):
    for data in (results.data, without.data):
        assert set(data.worlds[0].curves["R-max"].of) == {"regret", "suboptimality"}


def test_a_study_with_imitators_has_their_figures_and_one_without_has_none(
    results, without, tmp_path
):
    figure = results.plot("matching_error", "xy")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["grid", "line"]
    names = [path.stem for path in results.figures(tmp_path / "with", ("svg",))]
    assert names == [
        *("regret", "suboptimality", "matching-error", "average-matching-error", "summary"),
        *("optimism-grid", "imitation-grid-states", "imitation-grid-pairs"),
    ]
    names = [path.stem for path in without.figures(tmp_path / "without", ("svg",))]
    assert names == ["regret", "suboptimality", "summary", "optimism-grid"]
    with pytest.raises(ValueError, match="'regret', 'suboptimality'; got 'matching_error'"):
        without.plot("matching_error")


def test_matching_errors_are_drawn_for_imitators_alone_where_there_are_some(sample, same):
    data = sample(imitators=("Careful",))
    del data.worlds[1].curves["Careful"]  # which failed there
    figure = curves_figure(data, "matching_error")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Room", "River"]
    for ax, i in zip(figure.axes, (0, 2), strict=True):
        same(ax, [data.worlds[i].curves["Careful"]], "matching_error")
    looks = [ax.lines[0].get_color() for ax in figure.axes]
    regret = curves_figure(data, "regret").axes[0].lines[1]
    assert set(looks) == {regret.get_color()}  # an agent looks alike in all figures


def test_only_a_page_with_imitators_mentions_them(results, without):
    for result, there in ((results, True), (without, False)):
        page = render(result.data)
        html = page[page.index("<body>") : page.index('<script type="application/json"')]
        for said in ("mitator", "atching error", 'id="matching_error"'):
            assert (said in html) == there
