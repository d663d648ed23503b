"""The notebooks of the documentation run from a clean kernel, and are kept with small outputs."""

import runpy
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NAMES = [path.stem for path in sorted(FOLDER.glob("*.ipynb"))]

CELLS, LINES, OUTPUT, WHOLE = 30, 25, 150_000, 400_000
"""The most cells, lines of a text, characters of an output, and bytes of a notebook."""


def outputs(book):
    return [cell.outputs for cell in book.cells if cell.cell_type == "code"]


def kinds(book):
    """What each cell shows: names of streams and of formats."""
    return [
        [sorted(one.data) if "data" in one else one.get("name") for one in shown]
        for shown in outputs(book)
    ]


def texts(one):
    return [one.text] if "text" in one else list(one.get("data", {}).values())


@pytest.fixture
def execute(monkeypatch, tmp_path):
    """A function that executes a notebook in a folder of its own."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    return lambda path: runpy.run_path(str(FOLDER / "execute.py"))["execute"](path, tmp_path)


def test_there_are_six():
    assert len(NAMES) == 6


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what runs kernels
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_gives_its_stored_outputs(name, execute):
    path = FOLDER / f"{name}.ipynb"
    kept = nbformat.read(path, as_version=4)
    assert len(kept.cells) < CELLS
    assert path.stat().st_size < WHOLE
    book = execute(path)
    assert kinds(book) == kinds(kept)
    for shown in outputs(kept) + outputs(book):
        for one in shown:
            assert one.output_type != "error"
            assert one.get("name") != "stderr"  # no warnings
            assert all(len(text) < OUTPUT for text in texts(one))
            plain = one.get("text") or one.data["text/plain"]
            assert plain.count("\n") < LINES
    for shown in outputs(kept):
        for text in (text for one in shown for text in texts(one)):
            assert not any(place in text for place in ("/home/", "/root", "/work", "/tmp"))
