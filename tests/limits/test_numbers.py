"""Worlds, studies, features and calls are measured before anything of their size is made."""

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest

import optimist as opt
from optimist import envs, features, limits
from optimist.cli import main
from optimist.errors import OptimistError, TooLarge
from optimist.imitation.recording import record_pairs
from optimist.verification import record

BOX = ([0.0], [1.0])
RIVER = envs.RiverSwim(6)


@pytest.fixture(autouse=True)
def megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.VARIABLE, "1e6")


def a_study(**given: Any) -> opt.Study:
    agents: Any = {"one": opt.RmaxRaviUcb, "two": opt.RaviUcb}
    return opt.Study(**{"worlds": {"river": RIVER}, "agents": agents, "episodes": 10} | given)


def test_a_study_of_too_many_runs_or_rows() -> None:
    said = r"^2,000,000,000 runs \(1,000,000,000 seeds x 1 worlds x 2 agents\) would need 20\.0 TB"
    for seeds in (10**9, range(10**9)):
        with pytest.raises(TooLarge, match=said):
            a_study(seeds=seeds)
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


def test_a_study_in_a_file_is_counted_before_it_is_made() -> None:
    values = list(range(1, 1001))
    lists = f"beta = {values}\nupdates = {values}\nridge = {values}\n"
    with pytest.raises(OptimistError, match=r"5,000,000,000 runs .* x 1,000,000,000 agents\)"):
        opt.Study.parse(GRID + lists)
    with pytest.raises(OptimistError, match=r"^study, line 1: 1,000,000,000 runs"):
        opt.Study.parse("seeds = 1_000_000_000\n" + GRID)


def test_a_large_table_for_posterior_sampling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.VARIABLE, "1e8")
    world = envs.RiverSwim(10**5)
    for make in (
        lambda: opt.Psrl(world),
        lambda: a_study(worlds={"river": world}, agents={"p": opt.Psrl}),
    ):
        with pytest.raises(TooLarge, match=r"^tables of 100,000 states .* need 320\.0 GB"):
            make()


TOO_LARGE: list[tuple[Any, str]] = [
    (lambda: envs.DeepSea(n=10**5), "DeepSea with .*"),
    (lambda: envs.RiverSwim(n=10**9), "RiverSwim with .*"),
    (lambda: envs.CombinationLock(n=10**9), "CombinationLock with .*"),
    (lambda: envs.RandomTabular(n_states=10**6), "RandomTabular with .*"),
    (
        lambda: opt.imitation.TrajectoryDataset.from_rollouts(
            RIVER, RIVER.mdp.uniform_policy, 10**8, np.random.default_rng(0), length=100
        ),
        "100,000,000 trajectories of 100 steps",
    ),
    (lambda: envs.RandomMixture(d=10**6), "RandomMixture with .*"),
    (lambda: envs.ResetCliff(n=10**6), "ResetCliff with .*"),
    (lambda: envs.StandardImitation(n=10**9), "StandardImitation with .*"),
    (lambda: envs.RandomLinear(d=10**9), "RandomLinear with .*"),
    (lambda: envs.LowerK(n_actions=10**6), "LowerK with .*"),
    (lambda: envs.LowerTauE(n_actions=10**6), "LowerTauE with .*"),
    (lambda: envs.GridWorld(layout="S" + "." * 2000 + "G"), "GridWorld with .*"),
    (lambda: features.OneHot(10**6, 2)(0, 0), "1 vectors of 2,000,000 features"),
    (lambda: features.Tiles(BOX, 100)([[0.5]] * 2000), "2,000 vectors of 100 features"),
    (lambda: features.Tiles(BOX, 1, tilings=10**8), "100,000,000 tilings"),
    (lambda: features.RBF(BOX, 10**6)([0.5]), "1 vectors of 1,000,000 features"),
    (lambda: features.Fourier(BOX, 10**9, np.random.default_rng(0)), "1,000,000,000 frequencies"),
    (lambda: envs.Gym("MountainCar-v0", "fourier:999999999"), "999,999,999 frequencies"),
    (lambda: envs.Gym("MountainCar-v0", parallel=10**9), "1,000,000,000 environments side by side"),
    (
        lambda: opt.RmaxRaviUcb(RIVER.make(), gamma=0.9, geometric=True, memory=1e15),
        r"memory = 1e\+15 bytes",
    ),
    (
        lambda: opt.RmaxRaviUcb(envs.RandomTabular(20, 2), features.Table(np.ones((20, 2, 300)))),
        "learning 20 states and 2 actions with 300 features",
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
        lambda: record(RIVER.mdp, RIVER.features, opt.RmaxRaviUcb.Config(), K=10**9),
        "recording 1,000,000,000 episodes of 6 states",
    ),
    (
        lambda: record_pairs(RIVER, RIVER.mdp.uniform_policy, 10**5, np.random.default_rng(0)),
        "drawing 100,000 pairs",
    ),
]


def test_too_large_requests_are_refused() -> None:
    for make, said in TOO_LARGE:
        with pytest.raises(TooLarge, match=rf"^{said} would need .*; the limit is 1\.0 MB"):
            make()


SEA = ["DeepSea", "--world.n", "100000"]
SEA_NEEDS = "DeepSea with 5,000,050,001 states and 2 actions would need 1.5 TB"


def test_the_command_line_says_so_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments, said in [
        (["learn", *SEA], SEA_NEEDS),
        (["theory", *SEA], SEA_NEEDS),
        (["verify", *SEA], SEA_NEEDS),
        (["expert", *SEA, "--out", "e.npz"], SEA_NEEDS),
        (["imitate", *SEA, "--expert", "e.npz"], SEA_NEEDS),
        (["learn", "RiverSwim", "--seeds", "1000000000"], ".* would need .*"),
        (["learn", "RiverSwim", "--episodes", "1000000000000000"], ".* would need .*"),
        (["learn", "gym:MountainCar-v0", "--features", "fourier:999999999"], ".* would need .*"),
        (["verify", "RiverSwim", "--K", "1000000000"], ".* would need .*"),
        (["expert", "RiverSwim", "--out", "e.npz", "--samples", "1e15"], ".* would need .*"),
    ]:
        assert main(arguments) == 2
        out, err = capfd.readouterr()
        assert re.fullmatch(rf"optimist: {said} of memory; the limit is 1\.0 MB .*\n", err)
        assert not out


def test_a_world_takes_about_the_announced_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[Any, float]] = [
        (lambda: envs.RiverSwim(50_000), 15e6),
        (lambda: envs.DeepSea(300), 13.5e6),
        (lambda: envs.RandomTabular(300, 4), 18e6),
        (lambda: envs.RandomLinear(50, 300, 4), 21e6),
        (lambda: envs.LowerK(300), 18e6),
        (lambda: envs.GridWorld("S" + 20_000 * "." + "G"), 16e6),
    ]
    for build, bytes_needed in said:
        monkeypatch.setenv(limits.VARIABLE, str(bytes_needed * 0.98))
        with pytest.raises(TooLarge):
            build()
        monkeypatch.setenv(limits.VARIABLE, str(bytes_needed * 1.02))
        tracemalloc.start()
        build()
        _, taken = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert 0.3 * bytes_needed < taken < 1.3 * bytes_needed
