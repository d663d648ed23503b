"""What an episode costs as states and features grow: ``python -m benchmarks.scale``.

States: grids without walls, played from the middle at gamma .99 until 2,000 states have been met;
then the mean time of the next fifty episodes. The ratio is to the smallest grid, all of whose
states have been met by then.

Features: random linear MDPs of 200 states and 5 actions with dense features, gamma .9, one update
an episode. Actions: random worlds of 200 states, one-hot, gamma .9. Episodes: the same with 5
actions, after so many. A power is that of the first column between two rows.

One run, one thread; times are of the processor.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import argparse
import math
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import optimist as opt
from benchmarks.timing import best_of

MET, EPISODES = 2_000, 50

AGENTS: dict[str, Callable[..., Any]] = {
    "Optimist": opt.Optimist,
    "RmaxRaviUcb": opt.RmaxRaviUcb,
}


def grid(side: int) -> opt.envs.GridWorld:
    """An empty square, from its middle to a corner."""
    lines = [list("." * side) for _ in range(side)]
    lines[side // 2][side // 2], lines[-1][-1] = "S", "G"
    return opt.envs.GridWorld("\n".join(map("".join, lines)), gamma=0.99)


def states_met(agent: Any) -> int:
    """How many states were left at least once."""
    now = agent.diagnostics
    visits = (now.Lambda - now.ridge).reshape(now.V.size, -1)
    return int((visits.max(axis=1) > 0).sum())


def seconds_an_episode(make: Callable[..., Any], world: opt.envs.GridWorld) -> float:
    """The mean time of episodes after `MET` states have been met."""
    agent = make(world, seed=0, stride=0)
    while states_met(agent) < MET:
        agent.learn(10, show_progress=False)
    play = partial(agent.learn, EPISODES, show_progress=False)
    return best_of(1, play, time.process_time)[0] / EPISODES


def dense_seconds(d: int, episodes: int) -> float:
    """The mean time of an episode with d dense features, after three."""
    world = opt.envs.RandomLinear(d, n_states=200, n_actions=5, gamma=0.9)
    agent = opt.RmaxRaviUcb(world, updates=1, seed=0, stride=0)
    agent.learn(3, show_progress=False)
    play = partial(agent.learn, episodes, show_progress=False)
    return best_of(1, play, time.process_time)[0] / episodes


def actions_seconds(make: Callable[..., Any], n_actions: int) -> float:
    """The mean time of an episode with so many actions, after 5 A episodes."""
    agent = make(opt.envs.RandomTabular(200, n_actions, gamma=0.9), seed=0, stride=0)
    agent.learn(5 * n_actions, show_progress=False)
    play = partial(agent.learn, EPISODES, show_progress=False)
    return best_of(3, play, time.process_time)[0] / EPISODES


def later_seconds(make: Callable[..., Any], lengths: list[int]) -> list[float]:
    """The mean time of an episode after so many episodes, in one run."""
    agent = make(opt.envs.RandomTabular(200, 5, gamma=0.9), seed=0, stride=0)
    found = []
    for episodes in lengths:
        agent.learn(episodes - agent.episodes, show_progress=False)
        play = partial(agent.learn, EPISODES, show_progress=False)
        found.append(best_of(3, play, time.process_time)[0] / EPISODES)
    return found


def print_growth(name: str, sizes: list[int], seconds: list[float]) -> None:
    """Rows of a table, with the power of the size between each two."""
    for i, (size, each) in enumerate(zip(sizes, seconds, strict=True)):
        power = (
            f"{math.log(each / seconds[i - 1]) / math.log(size / sizes[i - 1]):.1f}" if i else ""
        )
        print(f"| {size:,} | {name} | {each * 1e3:.3f} | {power} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sides", type=int, nargs="*", default=[45, 100, 300, 1000])
    parser.add_argument("--features", type=int, nargs="*", default=[50, 200, 400, 1000, 2000])
    parser.add_argument("--actions", type=int, nargs="+", default=[2, 8, 32])
    parser.add_argument("--episodes", type=int, nargs="+", default=[1_000, 10_000])
    arguments = parser.parse_args()
    print("| states | agent | ms an episode | ratio | peak memory of the process, GB |")
    print("|---" * 5 + "|")
    first: dict[str, float] = {}
    for side in arguments.sides:
        world = grid(side)
        for name, make in AGENTS.items():
            seconds = seconds_an_episode(make, world)
            ratio = seconds / first.setdefault(name, seconds)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
            print(f"| {side**2:,} | {name} | {seconds * 1e3:.2f} | {ratio:.1f} | {peak:.1f} |")
    print("\n| d | agent | ms an episode | power |\n|---|---|---|---|")
    dense = [dense_seconds(d, episodes=200) for d in arguments.features]
    print_growth("RmaxRaviUcb", arguments.features, dense)
    for what, sizes in (("A", arguments.actions), ("K", arguments.episodes)):
        print(f"\n| {what} | agent | ms an episode | power |\n|---|---|---|---|")
        for name, make in AGENTS.items():
            each = (
                [actions_seconds(make, n_actions) for n_actions in sizes]
                if what == "A"
                else later_seconds(make, sizes)
            )
            print_growth(name, sizes, each)


if __name__ == "__main__":
    main()
