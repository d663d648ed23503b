"""Examples run in a folder of their own, so that the files they write are not left lying about.

Data that lie beside a page are copied there.

Tests that compare bytes or exact arrays are marked ``bits``: they have to pass on every processor,
and `make test-other-processor` runs them as on another one.
"""

import shutil
from collections.abc import Iterator
from types import CodeType, FunctionType

import hypothesis
import pytest

collect_ignore_glob = ["docs/*.py", "docs/build/*", "docs/reference/api/*"]
collect_ignore = [f"docs/reference/{name}.md" for name in ("changes", "contributing", "paper")]
"""What `make docs` writes, and how it is made."""

hypothesis.settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy machine")

EXACT = {
    *("array_equal", "assert_array_equal", "tobytes", "read_bytes", "hexdigest", "tolist"),
    *("bytes_of", "same"),  # fixtures that compare
}
"""Whatever uses one of these names compares exactly."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and _compares_exactly(item.function):
            item.add_marker("bits")


def _compares_exactly(test: FunctionType) -> bool:
    """Whether a test does, or a function of its file that it calls."""
    test = getattr(getattr(test, "hypothesis", None), "inner_test", test)  # below its `given`
    names, there = set(_names(test.__code__)), test.__globals__
    beside = [there[name] for name in names & there.keys()]
    called = [f for f in beside if isinstance(f, FunctionType) and f.__globals__ is there]
    return not EXACT.isdisjoint(names.union(*(_names(f.__code__) for f in called)))


def _names(code: CodeType) -> Iterator[str]:
    """The names in a function, those of functions inside it too."""
    yield from (*code.co_names, *code.co_varnames)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@pytest.fixture(autouse=True)
def _examples_in_a_folder_of_their_own(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if isinstance(request.node, pytest.DoctestItem):
        folder = tmp_path_factory.mktemp("example")
        for data in request.node.path.parent.glob("*.csv"):  # which lie beside a page
            shutil.copy(data, folder)
        monkeypatch.chdir(folder)
