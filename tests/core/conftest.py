"""Every setting in turn."""

import pytest
from reference.settings import SETTINGS


@pytest.fixture(params=SETTINGS)
def setting(request):
    """An MDP and its features."""
    return SETTINGS[request.param]()
