"""The kinds of kernels that solvers are tried on."""

import pytest
from reference.mdps import KINDS


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param
