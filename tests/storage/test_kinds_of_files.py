"""What a file holds is said in it, and it is not taken for anything else."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from optimist import RaviUcb, load_policy
from optimist.agents import VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.core import TablePolicy, storage
from optimist.errors import FileError


def test_a_learner_is_no_policy_and_no_other_learner(make, settings, tmp_path):
    mdp, features = settings["one-hot"]()
    agent = make((mdp, features), episodes=5)
    agent.save(tmp_path)
    with pytest.raises(FileError, match="holds a learner, not a policy"):
        load_policy(tmp_path / FILE)
    with pytest.raises(FileError, match="holds a VariantAgent, not a RaviUcb"):
        RaviUcb.load(tmp_path, mdp)
    agent.policy.save(tmp_path / FILE)
    with pytest.raises(FileError, match="holds a softmax policy, not a VariantAgent"):
        VariantAgent.load(tmp_path, mdp)


def test_a_folder_without_a_learner(mdp, tmp_path):
    with pytest.raises(FileNotFoundError, match=FILE):
        VariantAgent.load(tmp_path, mdp)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        VariantAgent.load(tmp_path / "nowhere", mdp)


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


LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: a.transpose(2, 0, 1),
    "strided": lambda a: a[::2, 1:, ::-1],
    "broadcast": lambda a: np.broadcast_to(a[:, :1, :1], a.shape),
    "empty": lambda a: a[:0],
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "integers": lambda a: np.asfortranarray((100 * a).astype(np.int64)),
    "truths": lambda a: (a > 0).T,
    "single precision": lambda a: a.astype(np.float32).T,
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "no axes": lambda a: np.array(a.sum()),
    "special": lambda a: np.array([np.inf, -np.inf, np.nan, -0.0, 5e-324, 1.7976931348623157e308]),
}


def test_arrays_survive_however_they_lie_in_memory(tmp_path):
    usual = np.random.default_rng(0).normal(size=(4, 3, 2))
    arrays = {name: lay(usual) for name, lay in LAYOUTS.items()}
    storage.write(tmp_path / "a", "numbers", {"say": "é", "n": 3}, arrays)
    header, found = storage.read(tmp_path / "a")
    assert (header["say"], header["n"]) == ("é", 3)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].shape == array.shape, name
        assert found[name].dtype.kind == array.dtype.kind, name
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    assert found["special"].tobytes() == arrays["special"].tobytes()
