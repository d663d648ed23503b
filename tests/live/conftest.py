"""Frames of tests do not depend on how busy the machine is."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _all_frames_are_affordable():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("optimist.live.feed.ALLOWANCE_SECONDS", 1e9)
        yield
