"""A study on a page, from its files alone."""

import json

import numpy as np
import pytest

import optimist as opt
from optimist.live import Feed, StudySource
from optimist.live.recording import record

WORLDS = {"<b>grid</b>": opt.envs.GridWorld(), "river": opt.envs.RiverSwim(6)}
AGENTS = {"R-max": opt.Rmax, "Optimist": opt.Optimist}


@pytest.fixture(scope="module")
def study():
    return opt.Study(WORLDS, AGENTS, 40, seeds=2)


@pytest.fixture(scope="module")
def done(study, tmp_path_factory):
    """The folder of a study that has been run, and what its page showed meanwhile."""
    folder = tmp_path_factory.mktemp("study") / "of others"
    tables = []

    class Peeking(Feed):
        peeked = False

        def look(self, agent, columns, bar):
            super().look(agent, columns, bar)
            if agent.episodes >= 20 and not self.peeked:
                self.peeked = True
                source = StudySource(folder)
                tables.append(json.loads(source.table))
                source.close()

    opt.run(study, folder, checkpoint_seconds=0, live=lambda run: Peeking(total=40))
    return folder, tables


def test_the_table_fills(done, study):
    _, tables = done
    assert len(tables) == len(study.runs)
    for k, table in enumerate(tables):
        states = [run["state"] for row in table["rows"] for run in row["runs"]]
        assert states.count("ended") == k
        assert states.count("learning") == 1
        assert states.count("waiting") == len(study.runs) - k - 1
    going = [r for row in tables[0]["rows"] for r in row["runs"] if r["state"] == "learning"]
    assert 0 < going[0]["done"] < 1
    assert going[0]["id"] == tables[0]["first"]


def test_the_page_has_what_the_results_have(done):
    folder, _ = done
    source, results = StudySource(folder), opt.open_results(folder)
    table = json.loads(source.table)
    for row in table["rows"]:
        cell = results.cell(row["world"], row["agent"])
        assert float(row["score"]) == pytest.approx(100 * cell.averages.mean(), rel=0.01)
    for run in results.finished:
        feed = source.feed(run.spec.id)
        feed.refresh()
        curves = results.folder.of(run).curves
        frames = list(feed.frames)
        assert [f.episodes for f in frames] == results.shots(run).episodes[1:].tolist()
        assert frames[-1].numbers["regret"] == curves["regret"][-1]
        np.testing.assert_array_equal(frames[-1].boards["value"], results.shots(run).value[-1])
        feed.refresh()
        assert len(feed.frames) == len(frames)
        head = json.loads(feed.head)
        assert head["title"] == f"{run.agent} in {run.world}, seed {run.index}"
        assert head["picture"]["board"] == list(run.spec.world.board)
    assert source.feed("other") is None
    source.close()


def test_damaged_files_are_reported_and_others_are_shown(done, tmp_path, study):
    folder, _ = done
    run, other = study.runs[:2]
    source = StudySource(folder)
    file = source.folder.of(run).path / "snapshots.safetensors"
    kept = file.read_bytes()
    try:
        file.write_bytes(kept[:-8])
        feed, fine = source.feed(run.spec.id), source.feed(other.spec.id)
        feed.refresh()
        fine.refresh()
        assert "damaged" in feed.trouble or "holds" in feed.trouble
        assert len(feed.frames) == 0
        assert len(fine.frames) > 5
    finally:
        file.write_bytes(kept)
    feed.refresh()
    assert (feed.trouble, len(feed.frames) > 5) == ("", True)
    source.close()


def test_links_are_not_followed(done, study):
    folder, _ = done
    source = StudySource(folder)
    feed = source.feed(study.runs[1].spec.id)
    file = source.folder.of(study.runs[1]).path / "curves.parquet"
    moved = file.with_name("elsewhere")
    file.rename(moved)
    try:
        file.symlink_to(moved)
        feed.refresh()
        assert "link" in feed.trouble
    finally:
        file.unlink()
        moved.rename(file)
    source.close()


def test_only_the_folder_of_a_study_is_watched(tmp_path):
    with pytest.raises(opt.errors.StudyError, match=r"no study\.toml"):
        StudySource(tmp_path)


def test_environments_have_maps(tmp_path):
    car = opt.envs.Gym("MountainCar-v0", gamma=0.95, features="tiles:6")
    study = opt.Study({"car": car}, {"Optimist": opt.Optimist}, 4, seeds=1)
    opt.run(study, tmp_path, jobs=1)
    source = StudySource(tmp_path)
    feed = source.feed("")
    feed.refresh()
    assert json.loads(feed.head)["picture"]["axes"][1] == pytest.approx([-0.07, 0.07])
    *_, last = feed.frames
    assert last.numbers["return"] < 0
    assert last.action.shape == last.boards["visits"].shape == (1600,)
    source.close()


# Recordings


@pytest.fixture(scope="module")
def recorded():
    feed = Feed(steady=True)
    opt.Optimist(opt.envs.GridWorld(), seed=0).learn(6, live=feed, show_progress=False)
    return feed


def test_a_gif_has_every_frame(recorded, tmp_path):
    from PIL import Image

    record(recorded, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as picture:
        assert picture.n_frames == len(recorded.frames) == 6
        first = np.asarray(picture.convert("RGB"))
        picture.seek(5)
        last = np.asarray(picture.convert("RGB"))
    assert first.shape == last.shape
    assert (first != last).any()


def test_an_mp4_is_written(recorded, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    record(recorded, tmp_path / "a.mp4")
    assert (tmp_path / "a.mp4").read_bytes()[4:8] == b"ftyp"


def test_a_refused_recording_gives_the_reason(recorded, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"\.gif or \.mp4"):
        record(recorded, tmp_path / "a.avi")
    with pytest.raises(ValueError, match="no frames"):
        record(Feed(), tmp_path / "a.gif")
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(ImportError, match=r"optimist\[live\].*\.gif"):
        record(recorded, tmp_path / "a.mp4")
