"""A file that is truncated, altered, oversized or foreign is refused, and never believed."""

import hashlib
import json
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save, save_file

from optimist import Configuration, RmaxRaviUcb, load_policy
from optimist.agents.checkpoint import FILE
from optimist.core import TablePolicy, Truncation, storage
from optimist.errors import FileError


@pytest.fixture(params=["softmax policy", "table policy", "learner"])
def stored(request, make, settings, tmp_path):
    """The path of a whole file, and the function that reads it."""
    setting = settings["one-hot"]()
    path = tmp_path / FILE
    if request.param == "learner":
        make(setting, episodes=30).save(tmp_path)
        return path, lambda: RmaxRaviUcb.load(tmp_path, setting[0])
    config = Configuration(eta=0.5, beta=0.3, ascension=Truncation())
    options = {"config": config} if request.param == "table policy" else {}
    make(setting, episodes=30, **options).policy.save(path)
    return path, lambda: load_policy(path)


def some(n, most=400):
    """All numbers below n, or many of them."""
    rng = np.random.default_rng(n)
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def test_the_file_as_it_was_written_is_read(stored):
    path, read = stored
    data = path.read_bytes()
    read()
    path.write_bytes(data)
    read()


def test_a_file_cut_off_anywhere(stored):
    path, read = stored
    data = path.read_bytes()
    for length in some(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FileError):
            read()


def test_a_single_bit_changed_anywhere(stored):
    path, read = stored
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for position in some(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(FileError):
            read()


def test_a_byte_replaced_anywhere(stored):
    """Blanks at the end of the header may become other blanks, which says the same."""
    path, read = stored
    data = path.read_bytes()
    rng = np.random.default_rng(1)
    for position in some(len(data)):
        damaged = bytearray(data)
        damaged[position] = (damaged[position] + int(rng.integers(1, 256))) % 256
        if data[position] == ord(" ") and damaged[position] in b"\t\n\r":
            continue
        path.write_bytes(damaged)
        with pytest.raises(FileError):
            read()


def test_bytes_inserted_removed_and_exchanged(stored):
    path, read = stored
    data = path.read_bytes()
    rng = np.random.default_rng(2)
    for _ in range(200):
        i, j = sorted(rng.integers(1, len(data), 2))
        for damaged in (
            data[:i] + rng.bytes(j - i + 1) + data[i:],
            data[:i] + data[j + 1 :],
            data[j:] + data[:j],
        ):
            path.write_bytes(damaged)
            with pytest.raises(FileError):
                read()


@pytest.mark.parametrize("more", [1, 8, 100_000])
def test_a_file_that_is_too_long(stored, more):
    path, read = stored
    path.write_bytes(path.read_bytes() + bytes(more))
    with pytest.raises(FileError):
        read()


def test_noise(stored):
    path, read = stored
    rng = np.random.default_rng(3)
    for length in [*range(40), *rng.integers(40, 5000, 200)]:
        path.write_bytes(rng.bytes(int(length)))
        with pytest.raises(FileError):
            read()


@pytest.mark.parametrize("declared", [0, 1, 2**20, 2**31, 2**62, 2**63, 2**64 - 1])
def test_a_header_that_says_it_is_long(stored, declared):
    path, read = stored
    path.write_bytes(declared.to_bytes(8, "little") + path.read_bytes()[8:])
    with pytest.raises(FileError):
        read()


def test_a_directory_and_nothing_at_all(stored):
    path, read = stored
    path.unlink()
    with pytest.raises(FileNotFoundError, match=path.name):
        read()
    path.mkdir()
    with pytest.raises((FileError, OSError)):
        read()


def test_files_of_others(stored):
    path, read = stored
    numbers = {"Theta": np.ones(4), "Lambda": np.ones((4, 1, 1)), "table": np.ones((2, 1))}
    save_file(numbers, path)
    with pytest.raises(FileError, match=r"is not a file of optimist, or it is damaged"):
        read()
    save_file(numbers, path, metadata={"optimist": "a good one"})
    with pytest.raises(FileError):
        read()
    with path.open("wb") as file:
        np.savez(file, **numbers)
    with pytest.raises(FileError):
        read()
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header", "{}")
    with pytest.raises(FileError):
        read()
    path.write_text(json.dumps({"kind": "table policy"}))
    with pytest.raises(FileError):
        read()


def forged(text, arrays, digest=None):
    """A file with any header, and its right digest unless another is given."""
    sha = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        sha.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        sha.update(arrays[name].tobytes())
    return save(arrays, metadata={"optimist": f"{digest or sha.hexdigest()} {text}"})


def test_a_format_of_the_future(stored):
    path, read = stored
    header, arrays = storage.read(path)
    path.write_bytes(forged(json.dumps(header), arrays))
    read()
    path.write_bytes(forged(json.dumps({**header, "format": 2}), arrays))
    with pytest.raises(FileError, match="has format 2; this version reads format 1"):
        read()


@pytest.mark.parametrize(
    "text", ["", "[]", "1", "null", "{}", '{"format": 1}', "[" * 100_000, '{"a":' * 100_000]
)
def test_a_header_that_says_nothing(stored, text):
    path, read = stored
    path.write_bytes(forged(text, {"table": np.ones((1, 1))}))
    with pytest.raises(FileError):
        read()


def test_numbers_of_another_kind_are_noticed(tmp_path):
    """The same bytes under another name, shape or type are other numbers."""
    path = tmp_path / "p"
    TablePolicy(np.full((2, 2), 0.5)).save(path)
    data = path.read_bytes()
    for old, new in ((b'"F64"', b'"I64"'), (b"[2,2]", b"[4,1]"), (b'"table"', b'"tabel"')):
        assert data.count(old) == 1
        path.write_bytes(data.replace(old, new))
        with pytest.raises(FileError, match="altered"):
            load_policy(path)
