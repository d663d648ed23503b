"""A dataset's file that was cut off, altered or put together is refused, and never believed."""

import zipfile

import numpy as np
import pytest

from optimist.errors import FileError
from optimist.imitation.dataset import FeatureDataset

ROWS = np.random.default_rng(0).normal(size=(7, 3))


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_file_cut_off_anywhere(tmp_path, suffix):
    path = tmp_path / f"expert{suffix}"
    FeatureDataset(ROWS, gamma=0.9).save(path)
    data = path.read_bytes()
    for length in range(0, len(data), 13):
        path.write_bytes(data[:length])
        with pytest.raises(FileError, match="expert"):
            FeatureDataset.load(path)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_bit_changed_anywhere(tmp_path, suffix):
    """It is noticed, or it is of no account: no other rows are ever read."""
    path = tmp_path / f"expert{suffix}"
    FeatureDataset(ROWS, gamma=0.9).save(path)
    data = path.read_bytes()
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
            assert np.array_equal(loaded.features, ROWS)
            assert not loaded.exact
    assert noticed > len(data) / 12


def test_a_newer_format_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "expert.npz"
    with monkeypatch.context() as patch:
        patch.setattr("optimist.imitation.dataset_files.FORMAT", 2)
        FeatureDataset(ROWS).save(path)
    with pytest.raises(FileError, match="it has format 2; this version reads format 1"):
        FeatureDataset.load(path)


def test_rows_under_a_foreign_header_are_refused(tmp_path):
    """As when an array inside an archive is replaced."""
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    FeatureDataset(ROWS).save(one)
    FeatureDataset(ROWS / 2).save(other)
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        parts = {"features.npy": a.read("features.npy"), "optimist.npy": b.read("optimist.npy")}
    with zipfile.ZipFile(one, "w") as mixed:
        for name, part in parts.items():
            mixed.writestr(name, part)
    with pytest.raises(FileError, match="it was altered after it was written"):
        FeatureDataset.load(one)
