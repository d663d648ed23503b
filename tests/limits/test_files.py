"""Files that need far more memory than they have bytes are refused before it is taken."""

import io
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from optimist import limits
from optimist.core import TablePolicy, storage
from optimist.errors import FileError, OptimistError, TooLarge
from optimist.experiments import Study
from optimist.experiments.curves import read_curves
from optimist.experiments.run_folder import RunFolder
from optimist.imitation.dataset import FeatureDataset

ROWS = 300_000


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A limit of a megabyte, and an error if much more is taken."""
    monkeypatch.setenv(limits.VARIABLE, "1e6")
    tracemalloc.start()
    yield
    _, taken = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 40e6  # what the bombs themselves are made of


def a_bomb(folder: Path, suffix: str) -> Path:
    path = folder / f"expert{suffix}"
    zeros = np.zeros(ROWS)
    if suffix == ".npz":
        np.savez_compressed(path, features=zeros[:, None])
    elif suffix == ".parquet":
        pq.write_table(pa.table({"phi_0": zeros}), path)
    else:
        path.write_text("0\n" * (ROWS // 10))
    assert path.stat().st_size < 1e5
    return path


def test_a_small_file_of_many_zeros(tmp_path: Path) -> None:
    for suffix in (".npz", ".parquet", ".csv"):
        path = a_bomb(tmp_path, suffix)
        with pytest.raises(TooLarge, match=rf"{path}: .* would need .* the limit is 1\.0 MB"):
            FeatureDataset.load(path)
    path = a_bomb(tmp_path, ".parquet")
    with pytest.raises(TooLarge, match=rf"{path}: a table of 300,000 rows .* need 9\.6 MB"):
        read_curves(path, "one")


def test_texts_are_no_numbers_however_long(tmp_path: Path) -> None:
    """A dictionary of one long text, repeated: its length is not in the footer."""
    path = tmp_path / "expert.parquet"
    pq.write_table(pa.table({"phi": pa.array(["x" * 1000] * 5000)}), path)
    with pytest.raises(FileError, match="'phi' must hold real numbers; got string"):
        FeatureDataset.load(path)


def npy(shape: tuple[int, ...]) -> bytes:
    """The beginning of an array of float64 that claims this shape."""
    buffer = io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, claim)
    return buffer.getvalue()


def test_an_array_that_claims_more_than_there_is(tmp_path: Path) -> None:
    path = tmp_path / "expert.npz"
    for rows in (2**50, 30):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("features.npy", npy((rows, 1)) + bytes(16))
        with pytest.raises(FileError, match="is cut off"):
            FeatureDataset.load(path)


def test_compression_that_cannot_be_bounded(tmp_path: Path) -> None:
    """Python reads bz2 and lzma by whole blocks: four kilobytes may become gigabytes."""
    path = tmp_path / "expert.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("features.npy", npy((2, 1)) + bytes(16))
    with pytest.raises(FileError, match="must be stored or deflated, as NumPy does"):
        FeatureDataset.load(path)


def test_a_sparse_file(tmp_path: Path) -> None:
    """A learner of a gigabyte that takes no room on the disk; its header is right."""
    path = tmp_path / "policy.safetensors"
    header = b'{"table":{"dtype":"F64","shape":[125000000],"data_offsets":[0,1000000000]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with path.open("r+b") as file:
        file.truncate(8 + len(header) + 10**9)
    with pytest.raises(TooLarge, match=rf"reading {path} would need 2\.0 GB"):
        storage.read(path)
    TablePolicy(np.ones((1, 1))).save(path)
    storage.read(path)


def test_long_texts(tmp_path: Path) -> None:
    file = tmp_path / "failure.json"
    file.write_text("[" + "[]," * 20_000 + "[]]")
    with pytest.raises(OptimistError, match=rf"reading {file} would need 1\.8 MB"):
        RunFolder(tmp_path).read_json("failure.json")
    study = tmp_path / "study.toml"
    study.write_text("#" * 50_000)
    with pytest.raises(OptimistError, match=rf"reading {study} would need 1\.5 MB"):
        Study.read(study)
