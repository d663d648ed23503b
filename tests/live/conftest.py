"""Frames of tests do not depend on how busy the machine is."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _all_frames_are_affordable():
    with pytest.MonkeyPatch.context() as patch:
        for share in ("SHARE", "WATCHED_SHARE"):
            patch.setattr(f"optimist.live.feed.{share}", 1e9)
        yield
