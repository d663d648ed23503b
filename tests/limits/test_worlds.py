"""Worlds say how much memory they would need before any of it is taken."""

import re
import tracemalloc
from collections.abc import Callable

import pytest

from optimist import envs, limits
from optimist.cli import main
from optimist.errors import TooLarge

LARGE = {
    "DeepSea": {"n": 10**5},
    "RiverSwim": {"n": 10**9},
    "CombinationLock": {"n": 10**9},
    "RandomTabular": {"n_states": 10**6},
    "RandomLinear": {"d": 10**9},
    "LowerK": {"n_actions": 10**6},
    "LowerTauE": {"n_actions": 10**6},
    "GridWorld": {"layout": "S" + "." * 2000 + "G"},
}
"""Parameters of worlds that need more than a megabyte."""

COMMANDS = {
    "learn": [],
    "theory": [],
    "verify": [],
    "expert": ["--out", "e.npz"],
    "imitate": ["--expert", "e.npz"],
}


@pytest.fixture
def megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.VARIABLE, "1e6")


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.usefixtures("megabyte")
def test_a_world_that_is_too_large_is_not_built(name: str) -> None:
    with pytest.raises(TooLarge, match=rf"^{name} with .* would need .* the limit is 1\.0 MB"):
        envs.WORLDS[name](**LARGE[name])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_so_in_one_line(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    flags = COMMANDS[command]
    assert main([command, "DeepSea", "--world.n", "100000", *flags]) == 2
    out, err = capfd.readouterr()
    said = r"optimist: DeepSea with 5,000,050,001 states and 2 actions would need 1.5 TB of memory;"
    assert re.fullmatch(said + r" the limit is .*\n", err)
    assert not out


@pytest.mark.parametrize(
    ("build", "bytes_needed"),
    [
        (lambda: envs.RiverSwim(50_000), 15e6),
        (lambda: envs.DeepSea(300), 13.5e6),
        (lambda: envs.RandomTabular(300, 4), 18e6),
        (lambda: envs.RandomLinear(50, 300, 4), 21e6),
        (lambda: envs.LowerK(300), 18e6),
        (lambda: envs.GridWorld("S" + 20_000 * "." + "G"), 16e6),
    ],
)
def test_a_world_takes_about_what_was_said(
    build: Callable[[], object], bytes_needed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limits.VARIABLE, str(bytes_needed * 0.98))
    with pytest.raises(TooLarge):
        build()
    monkeypatch.setenv(limits.VARIABLE, str(bytes_needed * 1.02))
    tracemalloc.start()
    build()
    _, taken = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.3 * bytes_needed < taken < 1.3 * bytes_needed
