"""Datasets on disk: what is written is read again, files of other tools too, and no others."""

import subprocess
import sys
import zipfile

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference.refusals import assert_refuses

from optimist.errors import FileError
from optimist.imitation.dataset import FeatureDataset

SUFFIXES = [".npz", ".parquet", ".csv"]


def rows(n=7, d=3):
    """Numbers with all their digits, and some that formats are tempted to change."""
    features = np.random.default_rng(0).normal(size=(n, d))
    features[0] = [-0.0, 5e-324, 1 / 3]
    features[1] = [1e150, 0.1 + 0.2, -1e-17]
    return features


def equal_bits(one, other):
    return one.shape == other.shape and one.tobytes() == other.tobytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_come_back_bit_for_bit_and_survive_a_write_that_fails(tmp_path, suffix, monkeypatch):
    dataset, path = FeatureDataset(rows()), tmp_path / f"expert{suffix}"
    with pytest.raises(FileNotFoundError, match="expert"):
        FeatureDataset.load(path)
    dataset.save(path)
    assert equal_bits(FeatureDataset.load(str(path)).features, dataset.features)

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space left"):
        FeatureDataset([[1.0]]).save(path)
    assert FeatureDataset.load(path) == dataset
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_what_is_declared_comes_back(tmp_path, suffix):
    path = tmp_path / f"expert{suffix}"
    for dataset in (
        FeatureDataset([[0.1, 0.2]], bound=1 / 3, gamma=0.99, exact=True),
        FeatureDataset([[0.1, 0.2]], exact=True),
        FeatureDataset(rows(), bound=1.5e150, gamma=0.1 + 0.2),
    ):
        dataset.save(path)
        loaded = FeatureDataset.load(path)
        assert loaded == dataset
        assert loaded.size == dataset.size


def test_csv_holds_the_rows_alone(tmp_path):
    path = tmp_path / "expert.csv"
    FeatureDataset([[1.0, 0.5]], bound=3, gamma=0.9).save(path)
    assert path.read_text() == "phi_0,phi_1\n1.0,0.5\n"
    assert FeatureDataset.load(path) == FeatureDataset([[1.0, 0.5]])
    with pytest.raises(ValueError, match=r"an exact dataset must be saved as .npz or .parquet"):
        FeatureDataset([[1.0]], exact=True).save(tmp_path / "exact.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["expert.csv"]


def test_other_suffixes(tmp_path):
    paths = [tmp_path / name for name in ("expert.pkl", "expert", "expert.npy", "expert.CSV")]
    table = [(path, ValueError, r"must end in \.npz, \.parquet, \.csv; got") for path in paths]
    assert_refuses(FeatureDataset([[1.0]]).save, *table)
    for path in paths:
        path.write_bytes(b"")
    assert_refuses(FeatureDataset.load, *table)


# Files of other tools


def test_columns_named_as_in_the_file(tmp_path):
    path = tmp_path / "expert.parquet"
    FeatureDataset(rows()).save(path)
    frame = pandas.read_parquet(path)
    assert list(frame.columns) == ["phi_0", "phi_1", "phi_2"]
    assert equal_bits(np.ascontiguousarray(frame.to_numpy()), rows())


def test_frames_of_numbers(tmp_path):
    """In the order of their columns, whatever kind of numbers they hold."""
    frame = pandas.DataFrame(
        {"z": [1, 2], "a": [0.5, 0.1], "n": np.array([3, 4], "uint8"), "f": np.float16([0.5, 2])}
    )
    frame.to_parquet(tmp_path / "expert.parquet")
    frame.to_csv(tmp_path / "expert.csv", index=False)
    for name in ("expert.parquet", "expert.csv"):
        loaded = FeatureDataset.load(tmp_path / name)
        assert loaded.features.tolist() == [[1, 0.5, 3, 0.5], [2, 0.1, 4, 2]]
        assert (loaded.gamma, loaded.exact) == (None, False)


def test_parquet_of_several_row_groups_and_of_truth_values(tmp_path):
    table = pa.table({"x": np.arange(10.0), "n": np.arange(10)})
    path = tmp_path / "expert.parquet"
    pq.write_table(table, path, row_group_size=3)
    assert FeatureDataset.load(path).features.tolist() == [[i, i] for i in range(10)]
    pandas.DataFrame({"seen": [True, False], "x": [0.5, 1.0]}).to_parquet(path)
    assert FeatureDataset.load(path).features.tolist() == [[1, 0.5], [0, 1]]


def test_npz_of_a_user(tmp_path):
    path = tmp_path / "expert.npz"
    for arrays in ({"x": [[1, 2]]}, {"features": [[1, 2]], "actions": [0]}):
        np.savez_compressed(path, **arrays)
        assert FeatureDataset.load(path) == FeatureDataset([[1.0, 2.0]])


def test_csv_of_a_user(tmp_path):
    """With a header or without, of Windows, with a byte order mark, quoted."""
    path = tmp_path / "expert.csv"
    for text in (
        "a,b\n1,2\n0.5,-3e2\n",
        "1,2\n0.5,-3e2\n",
        "1,2\r\n0.5,-3e2\r\n\r\n",
        "\ufeff1.0, 2\n.5,-300",
        '"a","b"\n"1","2"\n0.5,-300\n',
        "speed,2\n1,2\n0.5,-300\n",  # a name may be a number beside others
    ):
        path.write_bytes(text.encode())
        assert FeatureDataset.load(path).features.tolist() == [[1, 2], [0.5, -300]]


# Files that are refused


def test_csv_that_is_refused(tmp_path):
    path = tmp_path / "expert.csv"

    def load(text):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        FeatureDataset.load(path)

    table = [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b\n", "it is empty"),
        ("a,b\n1,2\n3\n", "line 3 must have 2 cells, as line 1; got 1"),
        ("1,2\n3,4,5\n", "line 2 must have 2 cells, as line 1; got 3"),
        ("a,b\n1,2\n\n3,4\n", "line 3 must have 2 cells, as line 1; got 0"),
        ("a,b\n1,left\n", "line 2: column b must be a number; got 'left'"),
        ("a,b\n1,\n", "line 2: column b must be a number; got nothing"),
        ("1,2\n3,x\n", "line 2: column 2 must be a number; got 'x'"),
        ("a,b\n1,1_0\n", "line 2: column b must be a number; got '1_0'"),
        ("a,b\n1e400,2\n", "line 2: column a must be a finite number; got 1e400"),
        ("1,nan\n3,4\n", "line 1: column 2 must be a finite number; got nan"),
        ("a,b\n1,2\n3,-inf\n", "line 3: column b must be a finite number; got -inf"),
        ("a;b\n1;2\n", "line 2: column a;b must be a number; got '1;2'"),
        (",a\n0,0.5\n1,0.25\n", "column 1 has no name in line 1.*index=False"),
        ("0,1,2,3\n0.5,0.5,0,0\n", "line 1, 0,1,2,..., may be a row or the default names"),
        ("0,1\n0.5,0.5\n", "line 1, 0,1, may be a row or the default names"),
        (b"\xff\xfe\x00a", "is not a csv file, or it is damaged"),
        (b"PK\x03\x04\x00\x00", "it is empty"),
        (b'"' + b"1" * 200_000, "is not a csv file, or it is damaged"),
    ]
    assert_refuses(load, *[(text, FileError, f"{path}.*{message}") for text, message in table])


def test_frames_that_are_refused(tmp_path):
    path = tmp_path / "expert.parquet"
    index = pandas.DataFrame({"x": [0.5, 1.0]}, index=[4, 7])
    null = {"x": [1, 2], "y": pandas.array([1, None], "Int64")}

    def load(content):
        pandas.DataFrame(content).to_parquet(path)
        FeatureDataset.load(path)

    table = [
        ({"x": [1.0], "name": ["a"]}, "column 'name' must hold real numbers; got .*string"),
        (null, "column 'y' must hold finite numbers; got null in row 1"),
        ({"x": [1.0, 2.0, np.inf]}, "column 'x' must hold finite numbers; got inf in row 2"),
        ({"x": [2**53 + 1]}, "'x' does not fit into floats"),
        (
            {"t": pandas.to_datetime(["2020-01-01"])},
            "column 't' must hold real numbers; got timestamp",
        ),
        ({"x": np.empty(0)}, "it is empty: 0 rows and 1 columns"),
        ({}, "it is empty"),
        (index, "column '__index_level_0__' is the index of a pandas frame"),
        (index.rename_axis("id"), "column 'id' is the index of a pandas frame"),
    ]
    assert_refuses(
        load, *[(content, FileError, f"{path}.*{message}") for content, message in table]
    )


def test_npz_that_is_refused(tmp_path):
    path = tmp_path / "expert.npz"

    def load(arrays):
        np.savez(path, **arrays)  # which pickles objects
        FeatureDataset.load(path)

    table = [
        ({"a": [[1.0]], "b": [[2.0]]}, "one array, or one called features; got a, b"),
        ({}, "one called features; got none"),
        ({"features": ["left"]}, "array features must hold real numbers; got <U4"),
        ({"x": [1.0, 2.0]}, r"array x must be \[rows, features\]; got shape \(2,\)"),
        ({"x": np.empty((0, 2))}, r"features must be \[n, d\] .*; got shape \(0, 2\)"),
        ({"x": [[1.0, np.nan]]}, r"features\[0, 1\] must be a finite number; got nan"),
        ({"x": np.array([[None]])}, "is not a npz file, or it is damaged"),
    ]
    assert_refuses(load, *[(arrays, FileError, f"{path}.*{message}") for arrays, message in table])
    with path.open("wb") as file:
        np.save(file, rows())
    with pytest.raises(FileError, match="is not a npz file"):
        FeatureDataset.load(path)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_file_that_was_cut_off_or_changed_anywhere(tmp_path, suffix):
    """A changed bit is noticed, or it is of no account: no other rows are ever read."""
    path, features = tmp_path / f"expert{suffix}", np.random.default_rng(0).normal(size=(7, 3))
    FeatureDataset(features, gamma=0.9).save(path)
    data = path.read_bytes()
    for length in range(0, len(data), 13):
        path.write_bytes(data[:length])
        with pytest.raises(FileError, match="expert"):
            FeatureDataset.load(path)
    rng = np.random.default_rng(0)
    noticed = 0
    for position in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            loaded = FeatureDataset.load(path)
        except FileError:
            noticed += 1
        else:
            assert np.array_equal(loaded.features, features)
            assert not loaded.exact
    assert noticed > len(data) / 12


def test_a_newer_format_and_rows_under_a_foreign_header_are_refused(tmp_path, monkeypatch):
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    with monkeypatch.context() as patch:
        patch.setattr("optimist.imitation.dataset_files.FORMAT", 2)
        FeatureDataset(rows()).save(one)
    with pytest.raises(FileError, match="it has format 2; this version reads format 1"):
        FeatureDataset.load(one)
    FeatureDataset(rows()).save(one)
    FeatureDataset(rows() / 2).save(other)
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        parts = {"features.npy": a.read("features.npy"), "optimist.npy": b.read("optimist.npy")}
    with zipfile.ZipFile(one, "w") as mixed:
        for name, part in parts.items():
            mixed.writestr(name, part)
    with pytest.raises(FileError, match="it was altered after it was written"):
        FeatureDataset.load(one)


def test_pandas_is_not_imported(tmp_path):
    """Importing it takes longer than most files."""
    code = """
import sys
from optimist.imitation.dataset import FeatureDataset
for path in sys.argv[1:]:
    FeatureDataset([[1.0]]).save(path)
    FeatureDataset.load(path)
assert "pandas" not in sys.modules
"""
    paths = [str(tmp_path / f"expert{suffix}") for suffix in SUFFIXES]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
