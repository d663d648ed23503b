"""A file that is truncated, altered, oversized or foreign is refused, and never believed."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest
from reference.variants import VARIANTS
from safetensors.numpy import save

from optimist import load_policy
from optimist.agents import VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.core import TablePolicy, storage
from optimist.errors import FileError


@pytest.fixture(params=["softmax policy", "table policy", "learner"])
def stored(request, make, settings, tmp_path):
    """The path of a whole file, and the function that reads it."""
    setting = settings["one-hot"]()
    path = tmp_path / FILE
    if request.param == "learner":
        make(setting, episodes=30).save(tmp_path)
        return path, lambda: VariantAgent.load(tmp_path, setting[0])
    config = VARIANTS["truncation" if request.param == "table policy" else "sigmoid"]
    make(setting, config, episodes=30).policy.save(path)
    return path, lambda: load_policy(path)


def some(n, rng, most=300):
    """All numbers below n, or many of them."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def damages(data):
    """Ways to damage a file, and what it is then."""
    rng = np.random.default_rng(0)
    for length in some(len(data), rng):
        yield f"cut off after {length} bytes", data[:length]
    for place in some(len(data), rng):
        for mask in (1 << int(rng.integers(8)), int(rng.integers(1, 256))):  # a bit, and any
            damaged = bytearray(data)
            damaged[place] ^= mask
            if data[place] == ord(" ") and damaged[place] in b"\t\n\r":
                continue  # blanks at the end of the header may become other blanks
            yield f"byte {place} with {mask}", bytes(damaged)
    for _ in range(100):
        i, j = sorted(rng.integers(1, len(data), 2))
        yield f"bytes inserted at {i}", data[:i] + rng.bytes(j - i + 1) + data[i:]
        yield f"bytes {i} to {j} removed", data[:i] + data[j + 1 :]
        yield f"exchanged at {j}", data[j:] + data[:j]
    for more in (1, 8, 100_000):
        yield f"{more} bytes too long", data + bytes(more)
    for length in [*range(40), *rng.integers(40, 5000, 100)]:
        yield f"{length} bytes of noise", rng.bytes(int(length))
    for declared in (0, 1, 2**20, 2**31, 2**62, 2**63, 2**64 - 1):
        yield f"a header of {declared} bytes", declared.to_bytes(8, "little") + data[8:]


def test_a_damaged_file_is_refused(stored):
    path, read = stored
    data = path.read_bytes()
    for what, damaged in damages(data):
        path.write_bytes(damaged)
        try:
            read()
        except FileError:
            continue
        pytest.fail(f"{what}: the file was read")
    path.write_bytes(data)
    read()


def test_a_directory_and_nothing_at_all(stored):
    path, read = stored
    path.unlink()
    with pytest.raises(FileNotFoundError, match=path.name):
        read()
    path.mkdir()
    with pytest.raises((FileError, OSError)):
        read()


def forged(text, arrays):
    """A file with any header, and its right digest."""
    sha = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        sha.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        sha.update(arrays[name].tobytes())
    return save(arrays, metadata={"optimist": f"{sha.hexdigest()} {text}"})


def test_files_of_others(stored):
    path, read = stored
    numbers = {"Theta": np.ones(4), "Lambda": np.ones((4, 1, 1)), "table": np.ones((2, 1))}
    path.write_bytes(save(numbers))
    with pytest.raises(FileError, match=r"is not a file of optimist, or it is damaged"):
        read()
    npz, archive = io.BytesIO(), io.BytesIO()
    np.savez(npz, **numbers)
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("header", "{}")
    texts = ["", "[]", "1", "null", "{}", '{"format": 2}', "[" * 100_000, '{"a":' * 100_000]
    for data in (
        save(numbers, metadata={"optimist": "a good one"}),
        npz.getvalue(),
        archive.getvalue(),
        json.dumps({"kind": "table policy"}).encode(),
        *(forged(text, {"table": np.ones((1, 1))}) for text in texts),
    ):
        path.write_bytes(data)
        with pytest.raises(FileError):
            read()


def test_a_format_of_another_version(stored):
    path, read = stored
    header, arrays = storage.read(path)
    path.write_bytes(forged(json.dumps(header), arrays))
    read()
    for other in (2, 4):
        path.write_bytes(forged(json.dumps({**header, "format": other}), arrays))
        with pytest.raises(FileError, match=f"has format {other}; this version reads format 3"):
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
