"""A bound on the values is part of a run: a learner cannot be loaded with another one."""

import gymnasium
import numpy as np
import pytest

from optimist import Optimist, RaviUcb, envs
from optimist.agents.checkpoint import FILE
from optimist.core import storage
from optimist.errors import FileError

RIVER = envs.RiverSwim(4, gamma=0.9)


@pytest.mark.parametrize("kind", [Optimist, RaviUcb])
def test_a_value_bound_must_be_given_again(kind, tmp_path):
    for world, told in ((RIVER, {}), (gymnasium.make("FrozenLake-v1"), {"gamma": 0.9})):
        agent = kind(world, value_bound=2.0, **told)
        agent.learn(5)
        agent.save(tmp_path)
        for wrong in ({}, {"value_bound": 3.0}):
            with pytest.raises(FileError, match=r"v_max or value_bound was 2\.0, is"):
                kind.load(tmp_path, world, **wrong, **told)
        assert kind.load(tmp_path, world, value_bound=2.0, **told).episodes == 5


def test_a_bound_above_the_largest_value_is_refused_before_learning():
    with pytest.raises(ValueError, match=r"v_max must be at most R_max H = 10; got 11"):
        Optimist(RIVER, v_max=11.0)


@pytest.mark.parametrize("group", ["epoch", "drawn"])
def test_a_heaven_that_pays_is_refused_where_its_worth_is_not_learnt(group, tmp_path):
    """Compiled code would read an array that is not there."""
    agent = RaviUcb(RIVER)
    agent.learn(5)
    agent.save(tmp_path)
    header, arrays = storage.read(tmp_path / FILE)
    arrays[f"{group}.prior.pays"] = np.array([True])
    storage.write(tmp_path / FILE, header.pop("kind"), header, arrays)
    with pytest.raises(FileError, match=f"{group}.prior.pays must be False"):
        RaviUcb.load(tmp_path, RIVER)
