"""Every shipped world."""

import pytest

from optimist.envs import WORLDS, World


@pytest.fixture(scope="session", params=WORLDS.values(), ids=WORLDS.keys())
def world(request: pytest.FixtureRequest) -> World:
    return request.param()
