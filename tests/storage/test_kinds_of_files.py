"""What a file holds is said in it, and it is not taken for anything else."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from optimist import RaviUcb, RmaxRaviUcb, load_policy
from optimist.agents.checkpoint import FILE
from optimist.core import TablePolicy, storage
from optimist.errors import FileError


def test_a_learner_is_not_a_policy(make, settings, tmp_path):
    make(settings["one-hot"](), episodes=5).save(tmp_path)
    with pytest.raises(FileError, match="holds a learner, not a policy"):
        load_policy(tmp_path / FILE)


def test_a_policy_is_not_a_learner(make, settings, tmp_path):
    setting = settings["one-hot"]()
    make(setting, episodes=5).policy.save(tmp_path / FILE)
    with pytest.raises(FileError, match="holds a softmax policy, not a RmaxRaviUcb"):
        RmaxRaviUcb.load(tmp_path, setting[0])


def test_one_learner_is_not_another(make, settings, tmp_path):
    mdp, features = settings["one-hot"]()
    make((mdp, features), episodes=5).save(tmp_path)
    with pytest.raises(FileError, match="holds a RmaxRaviUcb, not a RaviUcb"):
        RaviUcb.load(tmp_path, mdp)
    RaviUcb(mdp).save(tmp_path)
    with pytest.raises(FileError, match="holds a RaviUcb, not a RmaxRaviUcb"):
        RmaxRaviUcb.load(tmp_path, mdp)


def test_a_folder_without_a_learner(mdp, tmp_path):
    with pytest.raises(FileNotFoundError, match=FILE):
        RmaxRaviUcb.load(tmp_path, mdp)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        RmaxRaviUcb.load(tmp_path / "nowhere", mdp)


OVERSIZED = """
import os, resource, sys
from optimist.core.storage import read
from optimist.errors import FileError
resource.setrlimit(resource.RLIMIT_DATA, (2**32, 2**32))
os.truncate(sys.argv[1], 2**36)
try:
    read(sys.argv[1])
except FileError:
    print("refused")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")
def test_a_huge_file_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "p"
    TablePolicy(np.ones((1, 1))).save(path)
    command = [sys.executable, "-c", OVERSIZED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout == "refused\n", done.stderr


@pytest.mark.skipif(os.name != "posix", reason="permissions as on POSIX")
def test_others_may_read_what_the_user_lets_them(tmp_path):
    path, plain = tmp_path / "p", tmp_path / "plain"
    TablePolicy(np.ones((1, 1))).save(path)
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.fixture
def round_trip(tmp_path):
    def through_disk(array):
        storage.write(
            tmp_path / "a", "numbers", {"say": "é", "n": 3}, {"a": array, "b": np.ones(2)}
        )
        header, arrays = storage.read(tmp_path / "a")
        assert header["say"] == "é"
        assert header["n"] == 3
        np.testing.assert_array_equal(arrays["b"], np.ones(2))
        return arrays["a"]

    return through_disk


LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: a.transpose(2, 0, 1),
    "strided": lambda a: a[::2, 1:, ::-1],
    "backwards": lambda a: a[::-1, ::-1, ::-1],
    "broadcast": lambda a: np.broadcast_to(a[:, :1, :1], a.shape),
    "empty": lambda a: a[:0],
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "integers": lambda a: np.asfortranarray((100 * a).astype(np.int64)),
    "truths": lambda a: (a > 0).T,
    "single precision": lambda a: a.astype(np.float32).T,
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "no axes": lambda a: np.array(a.sum()),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_survive_however_they_lie_in_memory(round_trip, name):
    array = LAYOUTS[name](np.random.default_rng(0).normal(size=(4, 3, 2)))
    found = round_trip(array)
    assert found.shape == array.shape
    assert found.dtype.kind == array.dtype.kind
    np.testing.assert_array_equal(found, array)


def test_special_numbers_survive(round_trip):
    array = np.array([np.inf, -np.inf, np.nan, -0.0, 5e-324, 1.7976931348623157e308])
    assert round_trip(array).tobytes() == array.tobytes()
