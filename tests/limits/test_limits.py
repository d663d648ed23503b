"""The limit on memory: where it comes from, and what is said of what exceeds it."""

import pytest

from optimist import limits
from optimist.errors import OptimistError, TooLarge


def test_the_variable_overrides_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.VARIABLE, "1e6")
    limits.need(1e6, "a thing")
    with pytest.raises(TooLarge, match=r"a thing would need 1.1 MB .* limit is 1.0 MB .* = 1e6"):
        limits.need(1.1e6, "a thing")


@pytest.mark.parametrize("given", ["much", "0", "-1", "nan", ""])
def test_a_wrong_variable_is_a_sentence(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.VARIABLE, given)
    with pytest.raises(OptimistError, match=f"OPTIMIST_MAX_BYTES must be .* got '{given}'"):
        limits.need(1, "a thing")


def test_without_it_free_memory_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    limits.need(1, "a thing")
    with pytest.raises(TooLarge, match="half of the free memory"):
        limits.need(1e15, "a thing")
