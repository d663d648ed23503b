"""Trajectories on disk: what is written is read again, logs of other tools too, and no others."""

import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pandas
import pytest
from reference.refusals import assert_refuses

from optimist import envs
from optimist.errors import FileError, TooLarge
from optimist.imitation import FeatureDataset, TrajectoryDataset

SUFFIXES = [".npz", ".parquet", ".csv"]
STATES = TrajectoryDataset([[0, 3, 1], [2]], gamma=0.1 + 0.2)
PAIRS = replace(STATES, actions=[1, 0, 2, 0])
SEEN = TrajectoryDataset([[(0.1 + 0.2, -0.0), (5e-324, 1 / 3)], [(1e150, -1e-17)]], gamma=0.9)
SCALARS = TrajectoryDataset([[0.5, 0.25], [1 / 3]])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("data", [STATES, PAIRS, SEEN], ids=["states", "pairs", "observations"])
def test_a_dataset_comes_back(tmp_path, suffix, data):
    path = tmp_path / f"expert{suffix}"
    data.save(path)
    loaded = TrajectoryDataset.load(str(path))
    if suffix == ".csv":
        assert loaded.gamma is None
        loaded = replace(loaded, gamma=data.gamma)
    assert loaded == data
    assert loaded.states.dtype == data.states.dtype
    assert loaded.states.tobytes() == data.states.tobytes()


def test_observations_of_any_shape_come_back_from_npz_alone(tmp_path):
    images = TrajectoryDataset(np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5))
    images.save(tmp_path / "images.npz")
    assert TrajectoryDataset.load(tmp_path / "images.npz") == images
    for suffix in (".csv", ".parquet"):
        with pytest.raises(ValueError, match=r"shape \(4, 5\) must be saved as \.npz"):
            images.save(tmp_path / f"images{suffix}")
    SCALARS.save(tmp_path / "scalars.npz")
    assert TrajectoryDataset.load(tmp_path / "scalars.npz") == SCALARS


def test_one_row_a_step(tmp_path):
    PAIRS.save(tmp_path / "expert.csv")
    text = "episode,t,state,action\n0,0,0,1\n0,1,3,0\n0,2,1,2\n1,0,2,0\n"
    assert (tmp_path / "expert.csv").read_text() == text
    PAIRS.save(tmp_path / "expert.parquet")
    frame = pandas.read_parquet(tmp_path / "expert.parquet")
    assert frame.dtypes.astype(str).to_dict() == dict.fromkeys(
        ("episode", "t", "state", "action"), "int64"
    )
    SEEN.save(tmp_path / "seen.csv")
    first = (tmp_path / "seen.csv").read_text().splitlines()[0]
    assert first == "episode,t,state_0,state_1"


# Logs of other tools


def test_a_log_in_any_order_with_other_columns(tmp_path):
    frame = pandas.DataFrame(
        {
            "reward": np.linspace(0, 1, 4),
            "action": [2, 0, 1, 0],
            "t": [2, 0, 0, 1],
            "episode": [7, 3, 7, 7],
            "state": [1, 2, 0, 3],
        }
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet", index=False)
    frame.set_index(["episode", "t"]).to_parquet(tmp_path / "index.parquet")
    for name in ("log.csv", "log.parquet", "index.parquet"):
        found = TrajectoryDataset.load(tmp_path / name)
        assert found == TrajectoryDataset([[2], [0, 3, 1]], [[0], [1, 0, 2]])


def test_rows_and_columns_of_a_map(tmp_path):
    """The log of the issue: four columns that are no features."""
    path, world = tmp_path / "log.csv", envs.GridWorld("S.\n#G")
    path.write_text("episode,t,row,column\n0,0,0,0\n0,1,0,1\n0,2,1,1\n1,0,0,0\n")
    loaded = TrajectoryDataset.load(path, states=["row", "column"])
    assert loaded.states.tolist() == [[0, 0], [0, 1], [1, 1], [0, 0]]
    assert loaded.in_world(world) == TrajectoryDataset([[0, 1, 2], [0]], gamma=0.9)
    with pytest.raises(FileError, match=r"no column state; name those .* states=\['row', 'column'"):
        TrajectoryDataset.load(path)
    swapped = TrajectoryDataset.load(path, states=["column", "row"])
    with pytest.raises(ValueError, match=r"episode 0, t = 1: a position .*; got \(1, 0\)"):
        swapped.in_world(world)


def test_arrays_of_a_user(tmp_path):
    np.savez(tmp_path / "a.npz", states=[0, 1, 2], lengths=[1, 2], actions=[0, 0, 1], more=[1])
    loaded = TrajectoryDataset.load(tmp_path / "a.npz")
    assert loaded == TrajectoryDataset([[0], [1, 2]], [[0], [0, 1]])


# Files that are refused


def test_files_of_the_other_kind_name_their_reader(tmp_path):
    for suffix in SUFFIXES:
        path = tmp_path / f"expert{suffix}"
        PAIRS.save(path)
        with pytest.raises(FileError, match=r"expert.*not features: .*TrajectoryDataset\.load"):
            FeatureDataset.load(path)
        FeatureDataset([[1.0, 0.5]]).save(path)
        with pytest.raises(FileError, match=r"expert.*FeatureDataset\.load reads features"):
            TrajectoryDataset.load(path)


def test_logs_that_are_refused(tmp_path):
    path = tmp_path / "log.csv"

    def load(given):
        text, states = given if isinstance(given, tuple) else (given, None)
        path.write_text(text)
        TrajectoryDataset.load(path, states)

    head = "episode,t,state\n"
    table = [
        ("", "it is empty"),
        ("episode,state\n0,1\n", "its columns are 'episode', 'state': trajectories have one row"),
        ("0,0,3\n0,1,4\n", "its columns are '1', '2', '3': trajectories have one row per step"),
        (head + "0,0,1\n0,2,1\n", "episode 0 must have the times t = 0, ..., 1, .*got 2 where 1"),
        (head + "4,1,1\n4,2,1\n", "episode 4 must have the times t = 0, .*; got 1 where 0"),
        (head + "0,0,1\n1,0,1\n1,0,2\n", "episode 1 .* 2 rows; got 0 where 1 was expected"),
        (head + "0,0,1\n0,0.5,1\n", "column 't' must hold whole numbers; got 0.5 in row 1"),
        (head + "1e300,0,1\n", r"column 'episode' must hold whole numbers; got 1e\+300 in row 0"),
        (head + "0,0,-1\n", r"states\[0\] must be in .*; got -1"),
        (head + "0,0,left\n", "line 2: column state must be a number; got 'left'"),
        (head + "0,0,nan\n", "line 2: column state must be a finite number"),
        (head.replace("state", "t") + "0,0,0\n", "different names; got 't' twice"),
        ("episode,t,state,action\n0,0,1,0.5\n", "column 'action' must hold whole numbers; got 0.5"),
        ("episode,t,state,action\n0,0,1,-1\n", r"actions\[0\] must be in .*; got -1"),
        ("episode,t,state,action\n0,0,1,\n", "column action must be a number; got nothing"),
        ("episode,t,state_0,state_2\n0,0,1,1\n", "it has no column state"),
        ((head + "0,0,1\n", ["row"]), r"'state'; states must be some of them; got \['row'\]"),
        ((head + "0,0,1\n", []), r"states must be some of them; got \[\]"),
    ]
    assert_refuses(load, *[(given, FileError, f"{path}.*{message}") for given, message in table])


def test_archives_that_are_refused(tmp_path):
    path = tmp_path / "log.npz"

    def load(arrays):
        np.savez(path, **arrays)  # which pickles objects
        TrajectoryDataset.load(path)

    table = [
        ({"states": [0]}, "must hold the arrays states and lengths; got states"),
        ({"states": [0], "lengths": [2]}, "lengths must sum to the 1 states; got 2"),
        ({"states": [0], "lengths": [0.5]}, "lengths must hold .* numbers; got float64"),
        ({"states": [0], "lengths": [-1, 2]}, r"lengths\[0\] must be in .*; got -1"),
        ({"states": ["a"], "lengths": [1]}, "array states must hold real numbers; got <U1"),
        (
            {"states": [0], "lengths": [1], "actions": [0, 1]},
            r"actions must have shape .*; got \(2,\)",
        ),
        ({"states": np.array([None]), "lengths": [1]}, "is not a npz file, or it is damaged"),
    ]
    assert_refuses(load, *[(arrays, FileError, f"{path}.*{message}") for arrays, message in table])
    np.savez(path, states=[0], lengths=[1])
    with pytest.raises(FileError, match="it has the array states"):
        TrajectoryDataset.load(path, states=["row"])


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_file_that_was_cut_off_or_changed_anywhere(tmp_path, suffix):
    """A changed bit is noticed or of no account, or takes the header, and gamma with it."""
    path = tmp_path / f"expert{suffix}"
    PAIRS.save(path)
    data = path.read_bytes()
    for length in range(0, len(data), 37):
        path.write_bytes(data[:length])
        with pytest.raises(FileError, match="expert"):
            TrajectoryDataset.load(path)
    rng, noticed = np.random.default_rng(0), 0
    for position in range(0, len(data), 5):
        damaged = bytearray(data)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            loaded = TrajectoryDataset.load(path)
        except FileError:
            noticed += 1
        else:
            assert loaded.gamma in (None, PAIRS.gamma)
            assert replace(loaded, gamma=PAIRS.gamma) == PAIRS
    assert noticed > len(data) / 20


def test_a_newer_format_and_a_foreign_header(tmp_path, monkeypatch):
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    with monkeypatch.context() as patch:
        patch.setattr("optimist.imitation.trajectory_files.FORMAT", 2)
        PAIRS.save(one)
    with pytest.raises(FileError, match="it has format 2; this version reads format 1"):
        TrajectoryDataset.load(one)
    PAIRS.save(one)
    replace(PAIRS, actions=[0, 0, 0, 0]).save(other)
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        parts = {name: a.read(name) for name in a.namelist()} | {
            "optimist.npy": b.read("optimist.npy")
        }
    with zipfile.ZipFile(one, "w") as mixed:
        for name, part in parts.items():
            mixed.writestr(name, part)
    with pytest.raises(FileError, match="it was altered after it was written"):
        TrajectoryDataset.load(one)


def test_a_small_file_that_asks_for_much_memory(tmp_path, monkeypatch):
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, states=np.zeros(10**6, int), lengths=np.array([10**6]))
    monkeypatch.setenv("OPTIMIST_MAX_BYTES", "1e7")
    with pytest.raises(TooLarge, match="its array states would need"):
        TrajectoryDataset.load(path)


def test_pandas_is_not_imported(tmp_path):
    """Importing it takes longer than most files."""
    code = """
import sys
from optimist.imitation import TrajectoryDataset
for path in sys.argv[1:]:
    TrajectoryDataset([[1]]).save(path)
    TrajectoryDataset.load(path)
assert "pandas" not in sys.modules
"""
    paths = [str(tmp_path / f"expert{suffix}") for suffix in SUFFIXES]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
