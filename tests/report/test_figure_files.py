"""The files of figures: names, formats, and the same bytes each time."""

import re
import subprocess
import sys
from dataclasses import replace

import matplotlib
import pytest
from matplotlib.figure import Figure

from optimist.report.figures import save_figure, save_figures, summary_figure

KINDS = ("pdf", "png", "svg")


@pytest.fixture(scope="module")
def saved(sample, tmp_path_factory):
    """All figures in all formats, written twice: by default, and under a user's own settings."""
    data = sample(worlds=("Room",), agents=("Bold", "Careful"))
    folders = [tmp_path_factory.mktemp("figures") / "new" / name for name in ("plain", "dark")]
    before = dict(matplotlib.rcParams)
    paths = [save_figures(data, folders[0], KINDS)]
    assert dict(matplotlib.rcParams) == before
    mine = {"axes.facecolor": "black", "font.size": 20, "xtick.color": "red", "pdf.fonttype": 3}
    with matplotlib.rc_context(mine):
        before = dict(matplotlib.rcParams)
        paths.append(save_figures(data, folders[1], KINDS))
        assert dict(matplotlib.rcParams) == before  # the user's settings are left alone
    return paths


def test_all_figures_are_written(saved):
    folder = saved[0][0].parent
    names = ["regret", "suboptimality", "summary", "optimism-Room"]
    assert saved[0] == [folder / f"{name}.{kind}" for name in names for kind in KINDS]
    assert sorted(folder.iterdir()) == sorted(saved[0])
    starts = {".pdf": b"%PDF", ".png": b"\x89PNG", ".svg": b"<?xml"}
    for path in saved[0]:
        assert path.read_bytes().startswith(starts[path.suffix])


def test_the_same_data_give_the_same_bytes_whatever_the_settings(saved, sample, tmp_path):
    for plain, dark in zip(*saved, strict=True):
        assert plain.read_bytes() == dark.read_bytes()
    figure = summary_figure(sample())
    for kind in KINDS:
        once, twice = tmp_path / f"once.{kind}", tmp_path / f"twice.{kind}"
        save_figure(figure, once)
        save_figure(figure, twice)
        assert once.read_bytes() == twice.read_bytes()


def test_pdfs_hold_truetype_fonts_and_curves_and_no_file_holds_a_date(saved):
    for path in saved[0][:: len(KINDS)]:
        pdf = path.read_bytes()
        assert b"/FontFile2" in pdf  # a TrueType font file
        assert b"/CIDFontType2" in pdf
        assert b"/Type3" not in pdf
        assert b"Date" not in pdf
        assert b"/Subtype /Image" not in pdf or path.stem.startswith("optimism")
    for path in saved[0][2 :: len(KINDS)]:
        assert b"<dc:date>" not in path.read_bytes()


@pytest.fixture
def requested(monkeypatch):
    """Draw nothing; list the worlds and agents of which pictures of optimism were requested."""
    calls = []
    blank = Figure(figsize=(1, 1))

    def optimism(world, agent):
        calls.append((world.name, agent))
        return blank

    module = "optimist.report.figures"
    monkeypatch.setattr(f"{module}.optimism_figure", optimism)
    for name in ("curves_figure", "summary_figure"):
        monkeypatch.setattr(f"{module}.{name}", lambda *_, **__: blank)
    return calls


def test_pictures_show_the_first_run_with_bonuses(sample, requested, tmp_path):
    data = sample(worlds=("Room", "Sea", "Sea", "Maze", "Rooms"))
    picture, worlds = data.worlds[0].picture, list(data.worlds)
    for i, without in enumerate((["Bold"], [], ["Bold", "Careful", "Idle"])):
        runs = [replace(run, bonus=None) if run.agent in without else run for run in picture.runs]
        worlds[i] = replace(worlds[i], picture=replace(picture, runs=tuple(runs)))
    worlds[3] = replace(worlds[3], picture=replace(picture, runs=()))
    written = save_figures(replace(data, worlds=tuple(worlds)), tmp_path)
    assert requested == [("Room", "Careful"), ("Sea", "Bold"), ("Sea", "Bold")]
    names = [path.stem for path in written[6::2]]
    assert names == ["optimism-Room", "optimism-Sea", "optimism-Sea-2"]


@pytest.mark.usefixtures("requested")
def test_any_name_of_a_world_gives_a_unique_file_name(sample, tmp_path):
    names = ("../up", "a/b:c*?", "Fluß", "river", "River", "$", "100%", "x" * 300, "CON", "")
    data = sample(worlds=names, agents=("Bold",))
    worlds = tuple(replace(world, picture=data.worlds[0].picture) for world in data.worlds)
    written = save_figures(replace(data, worlds=worlds), tmp_path, formats=("svg",))[3:]
    assert len({path.name.lower() for path in written}) == len(names)
    for path in written:
        assert path.parent == tmp_path
        assert path.exists()
        assert re.fullmatch(r"optimism[A-Za-z0-9-]{0,90}\.svg", path.name)
    assert {"optimism-river.svg", "optimism-River-2.svg"} <= {path.name for path in written}


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "regret.pdf"
    path.write_text("before")
    figure = Figure(figsize=(1, 1))

    def fail(*_, **__):
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="no room"):
            save_figure(figure, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    save_figure(figure, path)
    assert path.read_bytes().startswith(b"%PDF")
    assert list(tmp_path.iterdir()) == [path]


def test_other_formats_are_refused_before_anything_is_written(sample, tmp_path):
    with pytest.raises(ValueError, match=r"formats must be some of pdf, svg, png; got .*jpg"):
        save_figures(sample(), tmp_path / "figures", ("pdf", "jpg"))
    assert not (tmp_path / "figures").exists()
    with pytest.raises(ValueError, match=r"path must end in .pdf, .svg or .png; got .*x.jpg"):
        save_figure(Figure(), tmp_path / "x.jpg")


def test_drawing_imports_matplotlib_but_not_pyplot(tmp_path):
    program = """
import sys
from optimist.report.figures import curves_figure, save_figure
assert not [name for name in sys.modules if name.startswith("matplotlib")]
from optimist.report.data import About, ReportData, ShownAgent, ShownWorld
from optimist.report.labels import VALUES
world = ShownWorld("Maze", About("", {}), VALUES, 1, 5, {}, {}, {})
data = ReportData("", "", "", "", 0.9, 9, "", {}, (ShownAgent("A", About("", {})),), (world,))
save_figure(curves_figure(data), sys.argv[1])
assert "matplotlib.figure" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program, tmp_path / "a.pdf"], check=True)
