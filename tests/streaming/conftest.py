"""Settings of every structure, and the numbers of states that an agent keeps."""

import numpy as np
import pytest
from reference import settings as reference

SETTINGS = {name: reference.SETTINGS[name] for name in ("river", "grid", "random", "blocks")}
SETTINGS["dense"] = lambda: reference.table(8, 3.0)


@pytest.fixture(params=SETTINGS)
def setting(request):
    """An MDP and its features."""
    return SETTINGS[request.param]()


@pytest.fixture
def settings():
    return SETTINGS


@pytest.fixture
def numbers_of():
    """The numbers of observations among the states that an agent keeps, -1 where it keeps none."""

    def find(agent, observations):
        kept, numbers = agent.transitions, []
        known = {
            (p.tobytes(), b.tobytes()): x for x, (p, b) in enumerate(zip(*kept[:2], strict=True))
        }
        for x in np.asarray(observations):  # one by one, as they were met: batches round otherwise
            phi, block = agent.features.in_blocks(x[None])
            phi = np.broadcast_to(phi, (*block.shape, phi.shape[-1]))
            numbers.append(known.get((phi.tobytes(), block.tobytes()), -1))
        return np.array(numbers)

    return find
