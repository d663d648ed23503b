"""``history.plot()``, ``agent.show()`` and the figures that a notebook shows by itself."""

import gymnasium
import numpy as np
import pytest
from matplotlib.figure import Figure as PlainFigure

import optimist as opt
from optimist.display.notebook import Page

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def agent():
    agent = opt.Optimist(opt.envs.GridWorld("S..\n.#.\n..G", gamma=0.8), seed=0, stride=3)
    agent.learn(100)
    return agent


@pytest.fixture
def ax():
    return PlainFigure().add_subplot()


def line_of(figure):
    [line] = figure.axes[0].lines
    return np.array(line.get_data())


def test_regret_is_the_sum_of_what_was_lost(agent):
    history = agent.history
    figure = history.plot()
    x, y = line_of(figure)
    assert (x == history.evaluated + 1).all()
    lost = np.interp(np.arange(1, 101), x, history.regrets())  # between policies that were kept
    assert y == pytest.approx(np.cumsum(lost)[x.astype(int) - 1])
    assert figure.axes[0].get_ylabel() == "cumulative regret"
    share = line_of(history.plot("suboptimality", log="xy"))[1]
    positive = history.regrets() > 0
    value = agent.mdp.optimal().value
    assert share[positive] == pytest.approx((history.regrets() / value)[positive])


def test_columns_are_plotted_as_means_over_windows(agent):
    x, y = line_of(agent.history.plot("steps"))
    assert (x == np.arange(1, 101)).all()
    assert (y == agent.history.steps).all()
    longer = opt.Optimist(opt.envs.RiverSwim(3), seed=0)
    longer.learn(30)
    history = longer.learn(1000)
    x, y = line_of(history.plot("steps"))
    assert len(x) == 200
    assert x[0] == 30 + 5
    assert x[-1] == 1030
    assert y == pytest.approx(history.steps.reshape(200, 5).mean(axis=1))


def test_returns_of_an_environment_and_errors_of_an_imitator(agent):
    lake = opt.Optimist(gymnasium.make("FrozenLake-v1"), gamma=0.9, seed=0)
    history = lake.learn(10)
    assert (line_of(history.plot())[1] == history.reward).all()
    with pytest.raises(AttributeError, match="regret is not available"):
        history.plot("regret")
    world = opt.envs.GridWorld("S.G")
    expert = opt.imitation.TrajectoryDataset([[0, 1, 2]])
    history = opt.FraIL(world, expert, seed=0).learn(30)
    assert line_of(history.plot())[1] == pytest.approx(history.matching_errors())


def test_axes_of_ones_own_are_drawn_into_and_returned(agent, ax):
    assert agent.history.plot(ax=ax, label="mine", color="red") is ax
    assert agent.history.plot("suboptimality", ax=ax, label="yours") is ax
    assert [line.get_label() for line in ax.lines] == ["mine", "yours"]
    assert ax.lines[0].get_color() == "red"
    other = PlainFigure().add_subplot()
    assert agent.show("value", ax=other) is other
    assert len(other.collections) == 3  # the map, the values, the arrows


def test_boards_are_those_of_the_diagnostics(agent):
    now = agent.diagnostics
    figure = agent.show()
    titles = {ax.get_title(): ax for ax in figure.axes if ax.get_title()}
    assert [*titles] == ["value", "bonus", "heaven", "occupancy"]
    cells = agent.show("heaven").axes[0].collections[1].get_array()
    assert cells.mask.sum() == 1  # the wall
    p = now.p.mean(axis=1)
    assert cells.compressed() == pytest.approx(np.maximum(p, p.max() / 1e3))
    occupancy = agent.mdp.state_occupancy(now.pi)
    shown = titles["occupancy"].collections[1].get_array().compressed()
    assert shown == pytest.approx(np.maximum(occupancy, occupancy.max() / 1e3))


def test_peers_and_imitators_show_what_they_have(agent):
    psrl = opt.Psrl(opt.envs.RiverSwim(4), seed=0)
    psrl.learn(20)
    titles = [ax.get_title() for ax in psrl.show().axes if ax.get_title()]
    assert "occupancy" in titles
    assert "heaven" not in titles
    expert = opt.imitation.TrajectoryDataset([[0, 1, 2]], actions=[[1, 1, 1]])
    cloner = opt.BehaviouralCloning(opt.envs.GridWorld("S.G"), expert)
    cloner.learn()
    assert [ax.get_title() for ax in cloner.show().axes if ax.get_title()] == ["occupancy"]


def test_what_cannot_be_drawn(agent, ax):
    with pytest.raises(ValueError, match="what must be one of 'value', 'bonus', 'heaven'"):
        agent.show("values")
    with pytest.raises(ValueError, match="ax= takes one board: give what="):
        agent.show(ax=ax)
    with pytest.raises(ValueError, match="the world must have a map to be shown"):
        opt.Optimist(opt.envs.RandomTabular(5)).show()
    with pytest.raises(ValueError, match="the world must have a map to be shown"):
        opt.Optimist(agent.mdp).show()
    with pytest.raises(ValueError, match="what must be 'regret' or a column: 'steps', 'reward'"):
        agent.history.plot("value")
    with pytest.raises(ValueError, match="log must be '', 'x', 'y' or 'xy'; got 'log'"):
        agent.history.plot(log="log")


@pytest.fixture(scope="module")
def results():
    worlds = {"<i>one</i>": opt.envs.RiverSwim(3), "two": opt.envs.RiverSwim(4)}
    return opt.run(opt.Study(worlds, {"R-max": opt.Rmax}, 20, seeds=2), jobs=1)


def test_figures_show_as_pictures(agent, results):
    for figure in (agent.history.plot(), agent.show(), results.plot()):
        data, about = figure._repr_mimebundle_(include=None, exclude=None)
        assert data["image/png"].startswith(PNG)
        assert data["text/plain"].startswith("<Figure size")
        assert 300 < about["image/png"]["width"] < 900


def test_one_world_of_a_study(results, ax):
    [panel] = results.plot("suboptimality", world="two").axes
    assert panel.get_title("left") == "two"
    assert results.plot("regret", world="two", ax=ax) is ax
    drawn, panel = ax.lines[0].get_ydata(), results.plot("regret", world="two").axes[0]
    assert (drawn == panel.lines[0].get_ydata()).all()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["R-max"]
    with pytest.raises(ValueError, match=r"ax= takes the panel of one world, of 2: give world="):
        results.plot(ax=ax)
    with pytest.raises(ValueError, match="world must be one of '<i>one</i>', 'two'; got 'three'"):
        results.plot(world="three")


def test_a_page_is_shown_in_a_frame_that_holds_all_of_it(results, tmp_path):
    page = results.report(tmp_path / "page.html")
    assert isinstance(page, Page)
    assert page == tmp_path / "page.html"
    html = page._repr_html_()
    frame, _, rest = html.partition('srcdoc="')
    text, _, rest = rest.partition('"')
    assert "<iframe" in frame
    assert 'sandbox="allow-scripts allow-downloads"' in rest
    assert "<" not in text
    assert text.count("&lt;") == page.read_text().count("<")
