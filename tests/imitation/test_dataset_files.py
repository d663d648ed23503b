"""Datasets on disk: what is written is read again, files of other tools too, and no others."""

import subprocess
import sys

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from optimist.errors import FileError
from optimist.imitation.dataset import FeatureDataset

SUFFIXES = [".npz", ".parquet", ".csv"]


def rows(n=7, d=3):
    """Numbers with all their digits, and some that formats are tempted to change."""
    features = np.random.default_rng(0).normal(size=(n, d))
    features[0] = [-0.0, 5e-324, 1 / 3]
    features[1] = [1e150, 0.1 + 0.2, -1e-17]
    return features


@pytest.fixture(params=SUFFIXES)
def suffix(request):
    return request.param


def equal_bits(one, other):
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def test_rows_come_back_bit_for_bit(tmp_path, suffix):
    dataset = FeatureDataset(rows())
    path = tmp_path / f"expert{suffix}"
    dataset.save(path)
    assert equal_bits(FeatureDataset.load(str(path)).features, dataset.features)
    assert FeatureDataset.load(path) == dataset
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize(
    "dataset",
    [
        FeatureDataset([[0.1, 0.2]], bound=1 / 3, gamma=0.99, exact=True),
        FeatureDataset([[0.1, 0.2]], exact=True),
        FeatureDataset(rows(), bound=1.5e150, gamma=0.1 + 0.2),
    ],
    ids=["exact", "exact without gamma", "samples"],
)
def test_what_is_declared_comes_back(tmp_path, suffix, dataset):
    path = tmp_path / f"expert{suffix}"
    dataset.save(path)
    loaded = FeatureDataset.load(path)
    assert loaded == dataset
    assert loaded.size == dataset.size


def test_csv_holds_the_rows_alone(tmp_path):
    path = tmp_path / "expert.csv"
    FeatureDataset([[1.0, 0.5]], bound=3, gamma=0.9).save(path)
    assert path.read_text() == "phi_0,phi_1\n1.0,0.5\n"
    assert FeatureDataset.load(path) == FeatureDataset([[1.0, 0.5]])


def test_csv_cannot_be_exact(tmp_path):
    with pytest.raises(ValueError, match="a csv file cannot say that its row is exact"):
        FeatureDataset([[1.0]], exact=True).save(tmp_path / "expert.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["expert.pkl", "expert", "expert.npy", "expert.CSV"])
def test_other_suffixes(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(ValueError, match=r"ends in \.npz, \.parquet, \.csv"):
        FeatureDataset([[1.0]]).save(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"ends in \.npz, \.parquet, \.csv"):
        FeatureDataset.load(path)


def test_a_file_that_is_not_there(tmp_path, suffix):
    with pytest.raises(FileNotFoundError, match="expert"):
        FeatureDataset.load(tmp_path / f"expert{suffix}")


def test_an_older_file_survives_a_write_that_fails(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"expert{suffix}"
    dataset = FeatureDataset(rows())
    dataset.save(path)

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space left"):
        FeatureDataset([[1.0]]).save(path)
    assert FeatureDataset.load(path) == dataset
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


# Files of other tools


def test_columns_named_as_in_the_file(tmp_path):
    path = tmp_path / "expert.parquet"
    FeatureDataset(rows()).save(path)
    frame = pandas.read_parquet(path)
    assert list(frame.columns) == ["phi_0", "phi_1", "phi_2"]
    assert equal_bits(np.ascontiguousarray(frame.to_numpy()), rows())


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_frames_of_numbers(tmp_path, suffix):
    """In the order of their columns, whatever kind of numbers they hold."""
    frame = pandas.DataFrame(
        {"z": [1, 2], "a": [0.5, 0.1], "n": np.array([3, 4], "uint8"), "f": np.float16([0.5, 2])}
    )
    path = tmp_path / f"expert{suffix}"
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_csv(path, index=False)
    loaded = FeatureDataset.load(path)
    assert loaded.features.tolist() == [[1, 0.5, 3, 0.5], [2, 0.1, 4, 2]]
    assert (loaded.gamma, loaded.exact) == (None, False)


def test_a_file_of_several_row_groups(tmp_path):
    table = pa.table({"x": np.arange(10.0), "n": np.arange(10)})
    path = tmp_path / "expert.parquet"
    pq.write_table(table, path, row_group_size=3)
    assert FeatureDataset.load(path).features.tolist() == [[i, i] for i in range(10)]


def test_truth_values_are_numbers_in_parquet(tmp_path):
    path = tmp_path / "expert.parquet"
    pandas.DataFrame({"seen": [True, False], "x": [0.5, 1.0]}).to_parquet(path)
    assert FeatureDataset.load(path).features.tolist() == [[1, 0.5], [0, 1]]


@pytest.mark.parametrize("arrays", [{"x": [[1, 2]]}, {"features": [[1, 2]], "actions": [0]}])
def test_npz_of_a_user(tmp_path, arrays):
    path = tmp_path / "expert.npz"
    np.savez_compressed(path, **arrays)
    assert FeatureDataset.load(path) == FeatureDataset([[1.0, 2.0]])


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n0.5,-3e2\n",
        "1,2\n0.5,-3e2\n",
        "1,2\r\n0.5,-3e2\r\n\r\n",
        "\ufeff1.0, 2\n.5,-300",
        '"a","b"\n"1","2"\n0.5,-300\n',
    ],
    ids=["header", "none", "of Windows", "byte order mark", "quoted"],
)
def test_csv_of_a_user(tmp_path, text):
    path = tmp_path / "expert.csv"
    path.write_bytes(text.encode())
    assert FeatureDataset.load(path).features.tolist() == [[1, 2], [0.5, -300]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b\n", "it is empty"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, line 1 has 2"),
        ("1,2\n3,4,5\n", "line 2 has 3 cells, line 1 has 2"),
        ("a,b\n1,2\n\n3,4\n", "line 3 has 0 cells"),
        ("a,b\n1,left\n", "line 2 has 'left' in column b; it must be a number"),
        ("a,b\n1,\n", "line 2 has nothing in column b"),
        ("1,2\n3,x\n", "line 2 has 'x' in column 2"),
        ("a,b\n1,1_0\n", "line 2 has '1_0' in column b"),
        ("a,b\n1e400,2\n", "line 2 has 1e400 in column a; it must be a finite number"),
        ("1,nan\n3,4\n", "line 1 has nan in column 2; it must be a finite number"),
        ("a,b\n1,2\n3,-inf\n", "line 3 has -inf in column b"),
        ("a;b\n1;2\n", "line 2 has '1;2' in column a;b"),
        (",a\n0,0.5\n1,0.25\n", "column 1 has no name in line 1.*index=False"),
        ("0,1,2,3\n0.5,0.5,0,0\n", "line 1, 0,1,2,..., may be a row or the names"),
        ("0,1\n0.5,0.5\n", "line 1, 0,1, may be a row or the names"),
        (b"\xff\xfe\x00a", "is not a csv file, or it is damaged"),
        (b"PK\x03\x04\x00\x00", "expert.csv"),
        (b'"' + b"1" * 200_000, "is not a csv file, or it is damaged"),
    ],
)
def test_csv_that_is_refused(tmp_path, text, message):
    path = tmp_path / "expert.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FileError, match=message) as error:
        FeatureDataset.load(path)
    assert str(path) in str(error.value)


def refused_frames():
    index = pandas.DataFrame({"x": [0.5, 1.0]}, index=[4, 7])
    return {
        "text": ({"x": [1.0], "name": ["a"]}, "column 'name' holds .*string, not real numbers"),
        "null": ({"x": [1, 2], "y": pandas.array([1, None], "Int64")}, "'y' has nothing in row 1"),
        "nan": ({"x": [1.0, 2.0, np.inf]}, "'x' has inf in row 2; it must be a finite number"),
        "large": ({"x": [2**53 + 1]}, "'x' does not fit into floats"),
        "date": ({"t": pandas.to_datetime(["2020-01-01"])}, "column 't' holds timestamp"),
        "no rows": ({"x": np.empty(0)}, "it is empty: 0 rows and 1 columns"),
        "no columns": ({}, "it is empty"),
        "index": (index, "column '__index_level_0__' is the index of a pandas frame"),
        "named index": (index.rename_axis("id"), "column 'id' is the index of a pandas frame"),
    }


@pytest.mark.parametrize(
    "which",
    ["text", "null", "nan", "large", "date", "no rows", "no columns", "index", "named index"],
)
def test_frames_that_are_refused(tmp_path, which):
    content, message = refused_frames()[which]
    path = tmp_path / "expert.parquet"
    pandas.DataFrame(content).to_parquet(path)
    with pytest.raises(FileError, match=message) as error:
        FeatureDataset.load(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": [[1.0]], "b": [[2.0]]}, "one array, or one called features; it holds a, b"),
        ({}, "it holds none"),
        ({"features": ["left"]}, "array features holds <U4, not real numbers"),
        ({"x": [1.0, 2.0]}, r"array x has shape \(2,\)"),
        ({"x": np.empty((0, 2))}, "features has no rows"),
        ({"x": [[1.0, np.nan]]}, r"features\[0, 1\] is nan"),
        ({"x": np.array([[None]])}, "is not a npz file, or it is damaged"),
    ],
)
def test_npz_that_is_refused(tmp_path, arrays, message):
    path = tmp_path / "expert.npz"
    np.savez(path, **arrays)  # which pickles objects
    with pytest.raises(FileError, match=message) as error:
        FeatureDataset.load(path)
    assert str(path) in str(error.value)


def test_one_array_is_no_archive(tmp_path):
    with (tmp_path / "expert.npz").open("wb") as file:
        np.save(file, rows())
    with pytest.raises(FileError, match="is not a npz file"):
        FeatureDataset.load(tmp_path / "expert.npz")


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


def test_a_name_may_be_a_number_beside_others(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("speed,2\n0.25,0.5\n")
    np.testing.assert_array_equal(FeatureDataset.load(path).features, [[0.25, 0.5]])
