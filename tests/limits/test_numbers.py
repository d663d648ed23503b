"""Numbers in studies, features and calls are measured before anything of their size is made."""

import re
from typing import Any

import numpy as np
import pytest

import optimist as opt
from optimist import features, limits
from optimist.cli import main
from optimist.errors import OptimistError, TooLarge
from optimist.imitation.recording import record_pairs
from optimist.verification import record

BOX = ([0.0], [1.0])
RIVER = opt.envs.RiverSwim(6)


@pytest.fixture(autouse=True)
def megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.VARIABLE, "1e6")


def a_study(**given: Any) -> opt.Study:
    agents: Any = {"one": opt.RmaxRaviUcb, "two": opt.RaviUcb}
    return opt.Study(**{"worlds": {"river": RIVER}, "agents": agents, "episodes": 10} | given)


@pytest.mark.parametrize("seeds", [10**9, range(10**9)])
def test_a_study_of_too_many_seeds(seeds: Any) -> None:
    said = r"^2,000,000,000 runs \(1,000,000,000 seeds x 1 worlds x 2 agents\) would need 20\.0 TB"
    with pytest.raises(TooLarge, match=said):
        a_study(seeds=seeds)


def test_a_study_of_too_many_rows() -> None:
    with pytest.raises(TooLarge, match="the curves of 1,000,000,000,000 episodes with stride 1 "):
        a_study(episodes=10**12, stride=1)
    a_study(episodes=10**4)  # is evaluated some 400 times


GRID = """
episodes = 10
[worlds.river]
world = "RiverSwim"
n = 6

[agents.a]
agent = "RaviUcb"
"""


def test_a_grid_is_counted_before_it_is_made() -> None:
    values = list(range(1, 1001))
    lists = f"beta = {values}\nupdates = {values}\nridge = {values}\n"
    with pytest.raises(OptimistError, match=r"5,000,000,000 runs .* x 1,000,000,000 agents\)"):
        opt.Study.parse(GRID + lists)


def test_seeds_in_a_file_are_found_in_its_line() -> None:
    with pytest.raises(OptimistError, match=r"^study, line 1: 1,000,000,000 runs"):
        opt.Study.parse("seeds = 1_000_000_000\n" + GRID)


def test_a_large_table_for_posterior_sampling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.VARIABLE, "1e8")
    world = opt.envs.RiverSwim(10**5)
    with pytest.raises(TooLarge, match=r"^tables of 100,000 states .* need 320\.0 GB"):
        opt.Psrl(world)
    with pytest.raises(TooLarge, match=r"^tables of 100,000 states .* need 320\.0 GB"):
        a_study(worlds={"river": world}, agents={"p": opt.Psrl})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: features.OneHot(10**6, 2)(0, 0), "1 vectors of 2,000,000 features"),
        (lambda: features.Tiles(BOX, 100)([[0.5]] * 2000), "2,000 vectors of 100 features"),
        (lambda: features.Tiles(BOX, 1, tilings=10**8), "100,000,000 tilings"),
        (lambda: features.RBF(BOX, 10**6)([0.5]), "1 vectors of 1,000,000 features"),
        (
            lambda: features.Fourier(BOX, 10**9, np.random.default_rng(0)),
            "1,000,000,000 frequencies",
        ),
        (lambda: opt.envs.Gym("MountainCar-v0", "fourier:999999999"), "999,999,999 frequencies"),
        (
            lambda: opt.envs.Gym("MountainCar-v0", parallel=10**9),
            "1,000,000,000 environments side by side",
        ),
        (
            lambda: opt.RmaxRaviUcb(RIVER.make(), gamma=0.9, geometric=True, memory=1e15),
            r"memory = 1e\+15 bytes",
        ),
        (
            lambda: opt.RmaxRaviUcb(RIVER, stride=0).learn(10**9),
            "the history of 1,000,000,000 episodes",
        ),
        (
            lambda: opt.RmaxRaviUcb(RIVER, stride=1).learn(5000),
            "the history of 5,000 episodes and 5,001 policies of 12 numbers",
        ),
        (
            lambda: record(RIVER.mdp, RIVER.features, opt.Configuration.practical(), K=10**9),
            "recording 1,000,000,000 episodes of 6 states",
        ),
        (
            lambda: record_pairs(RIVER, RIVER.mdp.uniform_policy, 10**5, np.random.default_rng(0)),
            "drawing 100,000 pairs",
        ),
    ],
)
def test_a_number_that_asks_for_too_much(make: Any, said: str) -> None:
    with pytest.raises(TooLarge, match=rf"^{said} would need .*; the limit is 1\.0 MB"):
        make()


def test_a_learner_with_a_large_covariance() -> None:
    world = opt.envs.RandomTabular(20, 2)
    phi = features.Table(np.ones((20, 2, 300)))
    with pytest.raises(
        TooLarge, match=r"^learning 20 states and 2 actions with 300 features would"
    ):
        opt.RmaxRaviUcb(world, phi)


@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", "RiverSwim", "--seeds", "1000000000"],
        ["learn", "RiverSwim", "--episodes", "1000000000000000"],
        ["learn", "gym:MountainCar-v0", "--features", "fourier:999999999"],
        ["verify", "RiverSwim", "--K", "1000000000"],
        ["expert", "RiverSwim", "--out", "e.npz", "--samples", "1e15"],
    ],
)
def test_the_command_line_says_so_in_one_line(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert re.fullmatch(r"optimist: .* would need .* of memory; the limit is 1\.0 MB .*\n", err)
    assert not out
