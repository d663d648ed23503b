"""Progress below the cell of a notebook."""

import types

import IPython.display
import pytest

import optimist as opt
from optimist.display import notebook


class Kernel:
    """Stands in for what shows outputs, and notes them."""

    def __init__(self, monkeypatch):
        self.shown = []
        monkeypatch.setattr(IPython.display, "display", self.display)
        shell = types.SimpleNamespace(kernel=self)
        monkeypatch.setattr("IPython.get_ipython", lambda: shell)

    def display(self, thing, display_id):
        assert display_id is True
        self.update(thing)
        return self

    def update(self, thing):
        self.shown.append((repr(thing), thing._repr_html_()))


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setattr(notebook, "LOOK_SECONDS", 0.0)
    return Kernel(monkeypatch)


def test_learning_is_shown_and_leaves_nothing(kernel):
    agent = opt.RmaxRaviUcb(opt.envs.RiverSwim(3, gamma=0.9))
    agent.learn(400)
    texts = [text for text, _ in kernel.shown]
    assert texts[0] == "learning 0%"
    assert texts[-2] == "learning 100%"
    assert kernel.shown[-1] == ("", "")
    assert 'value="400" max="400"' in kernel.shown[-2][1]
    kernel.shown.clear()
    agent.learn(5, show_progress=False)
    assert not kernel.shown


def test_the_bar_says_that_code_is_compiled(kernel, capsys):
    with notebook.Bar() as bar:
        bar.add_task("learning", total=10)
        notebook.announce("Compiling, once: about 20 s")
        assert kernel.shown[-1][0] == "Compiling, once: about 20 s"
        assert "value=" not in kernel.shown[-1][1]  # as nobody knows how far it is
        bar.advance(0, 5)
        assert kernel.shown[-1][0] == "learning 50%"
    notebook.announce("later")
    assert capsys.readouterr().err == "later\n"


def test_a_study_is_shown(kernel):
    opt.run(opt.Study({"r": opt.envs.RiverSwim(3)}, {"R-max": opt.Rmax}, 5, seeds=2), jobs=1)
    assert kernel.shown[1][0].startswith("0/2 runs")
    assert kernel.shown[-1] == ("", "")


def test_what_an_environment_is_called_is_text(kernel):
    with notebook.Bar() as bar:
        bar.add_task("<b>mine</b>")
        bar.advance(0, 1)
    assert "&lt;b&gt;mine" in kernel.shown[-2][1]
