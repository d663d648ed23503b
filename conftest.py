"""Examples run in a folder of their own, so that the files they write are not left lying about."""

import pytest


@pytest.fixture(autouse=True)
def _examples_in_a_folder_of_their_own(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path_factory.mktemp("example"))
