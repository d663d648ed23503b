"""Examples run in a folder of their own, so that the files they write are not left lying about.

And compiled code is compiled anew when any file of its room has changed: the compiler's cache looks
at the file of a function alone, and not at those of the functions it calls.
"""

from pathlib import Path

import pytest

CORE = Path(__file__).parent / "src" / "optimist" / "core"


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # the workers of a parallel run begin after this
        return
    changed = max(file.stat().st_mtime for file in CORE.glob("*.py"))
    for cached in CORE.glob("__pycache__/*.nb[ic]"):
        if cached.stat().st_mtime < changed:
            cached.unlink()


@pytest.fixture(autouse=True)
def _examples_in_a_folder_of_their_own(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path_factory.mktemp("example"))
