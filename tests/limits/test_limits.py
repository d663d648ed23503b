"""The limit on memory: where it comes from, and what the error says."""

from pathlib import Path

import pytest

from optimist import limits
from optimist.errors import OptimistError, TooLarge


def test_the_variable_overrides_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.VARIABLE, "1e6")
    limits.need(1e6, "a thing")
    with pytest.raises(TooLarge, match=r"a thing would need 1.1 MB .* limit is 1.0 MB .* = 1e6"):
        limits.need(1.1e6, "a thing")
    for given in ("much", "0", "-1", "nan", ""):
        monkeypatch.setenv(limits.VARIABLE, given)
        with pytest.raises(OptimistError, match=f"OPTIMIST_MAX_BYTES must be .* got '{given}'"):
            limits.need(1, "a thing")


def test_without_it_free_memory_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    limits.need(1, "a thing")
    with pytest.raises(TooLarge, match="half of the free memory"):
        limits.need(1e15, "a thing")
    with pytest.raises(TooLarge, match=r"a thing would need 1\.0e\+81 EB"):
        limits.need(10**400, "a thing")  # no float is as large


V2 = ("", "memory.max", "memory.current")
V1 = ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes")


@pytest.mark.parametrize(
    ("version", "group", "at"),
    [(V2, "/", "."), (V1, "/job/step", "job"), (V2, "/of/host", ".")],
)
def test_a_container_has_less(
    version: tuple[str, str, str],
    group: str,
    at: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limit is set on its control group or on a parent; file pages count as free."""
    controller, most, used = version
    folder = tmp_path / "sys/fs/cgroup" / controller / at
    folder.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 90000 kB\nMemAvailable:  40000 kB\n")
    (tmp_path / "proc/self/cgroup").write_text(f"7:cpu:/\n0:{controller}:{group}\n")
    monkeypatch.setattr(limits, "SYSTEM", tmp_path)
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    with pytest.raises(TooLarge, match=r"the limit is 20\.5 MB \(half"):  # of the machine
        limits.need(1e9, "a thing")
    (folder / most).write_text("30000000\n")
    (folder / used).write_text("20000000\n")
    (folder / "memory.stat").write_text("anon 16000000\ninactive_file 4000000\n")
    limits.need(7e6, "a thing")
    with pytest.raises(TooLarge, match=r"the limit is 7\.0 MB \(half"):
        limits.need(7.1e6, "a thing")
