"""Worlds by their arrays, and MDPs in files."""

import json

import numpy as np
import pytest
from reference.own import Ring

from optimist import FiniteMDP, Optimist, envs
from optimist.envs import ArrayWorld, load_mdp
from optimist.envs.mdp_files import arrays_of_mdp
from optimist.errors import FileError
from optimist.testing import check_world

WORLDS = {
    "dense": ArrayWorld(envs.RandomTabular(6, 2).mdp),
    "linear": ArrayWorld(envs.RandomLinear(3, 8, 2).mdp),
    "sparse": ArrayWorld(envs.GridWorld().mdp),
    "drawn": ArrayWorld.of(Ring(6)),
    "rewards of transitions": ArrayWorld(
        FiniteMDP([[[0.5, 0.5]], [[0, 1]]], [[[0, 1]], [[1, 0]]], [1, 0], 0.9)
    ),
}


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_survives_as_its_arrays(name, tmp_path):
    world = WORLDS[name]
    again = ArrayWorld.from_arrays(json.loads(json.dumps(world.header)), world.arrays, tmp_path)
    assert again == world
    assert (again.board, again.moves) == (world.board, world.moves)
    assert again.position(1) == world.position(1)
    assert again.mdp.optimal().value == world.mdp.optimal().value
    Phi, same = (w.features.all_actions([0, 1]) for w in (world, again))
    np.testing.assert_array_equal(Phi, same)
    runs = [Optimist(w, seed=0).learn(30).regrets() for w in (world, again)]
    np.testing.assert_array_equal(*runs)
    np.savez(tmp_path / "mdp.npz", **arrays_of_mdp(world.mdp))
    assert ArrayWorld.load(tmp_path / "mdp.npz").digest == world.digest


def test_a_file_of_json(tmp_path):
    mdp = envs.RiverSwim(4).mdp
    P = np.asarray(mdp.kernel.todense() if hasattr(mdp.kernel, "todense") else mdp.kernel)
    data = {"P": P.reshape(4, 2, 4).tolist(), "r": mdp.r.tolist(), "nu0": mdp.nu0.tolist()}
    (tmp_path / "river.json").write_text(json.dumps({**data, "gamma": 0.99}))
    assert load_mdp(tmp_path / "river.json").optimal().value == mdp.optimal().value


def test_a_digest_is_of_every_array():
    mdp = envs.RandomTabular(4, 2).mdp
    given = {"P": np.asarray(mdp.P), "r": mdp.r, "nu0": mdp.nu0, "gamma": mdp.gamma}
    changes = [
        {},
        {"P": given["P"][:, ::-1]},
        {"r": mdp.r / 2},
        {"nu0": np.eye(4)[3]},
        {"gamma": 0.5},
    ]
    assert len({ArrayWorld(FiniteMDP(**{**given, **c})).digest for c in changes}) == 5


def test_files_that_are_no_mdp_are_refused(tmp_path):
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "half.json").write_text('{"P": [[[1]]], "r": [[0]]}')
    (tmp_path / "wrong.json").write_text('{"P": [[[2]]], "r": [[0]], "nu0": [1], "gamma": 0.9}')
    (tmp_path / "text.npz").write_text("no archive")
    np.savez(tmp_path / "pickled.npz", P=np.array([{}], dtype=object))
    for name, message in (
        ("list.json", "it must hold an object; got a list"),
        ("half.json", "has no 'nu0': an MDP has P, r, nu0, gamma"),
        ("wrong.json", "holds no MDP: P"),
        ("text.npz", "cannot be read as an MDP"),
        ("pickled.npz", "cannot be read as an MDP: .*allow_pickle"),
        ("missing.npz", "cannot be read as an MDP: .*No such file"),
        ("mdp.txt", "must be a .npz or .json file"),
    ):
        with pytest.raises(FileError, match=message):
            load_mdp(tmp_path / name)
    with pytest.raises(ValueError, match=r"rewards of ArrayWorld must lie in \[0, 1\]"):
        ArrayWorld(FiniteMDP([[[1.0]]], [[2.0]], [1], 0.5))


def test_a_world_of_arrays_is_a_world():
    world = ArrayWorld(Ring(5).mdp)
    assert world.make().reset(seed=0)[0] == 0
    assert len({world, ArrayWorld(Ring(5).mdp), ArrayWorld(Ring(6).mdp)}) == 2
    check_world(Ring(5))
