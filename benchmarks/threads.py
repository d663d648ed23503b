"""Would sweeps of a finite world on two threads pay? ``python -m benchmarks.threads``.

Empty grids all of whose states have been met. An update in parts of some thousand states, first all
regressions and then all improvements, on one thread and on two, against the same update in one
call; and against an update in rounds (`optimist.core.rounds`), on one thread, where there are any.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import optimist as opt
from benchmarks import scale
from benchmarks.timing import best_of
from optimist.agents.driver import RunSettings
from optimist.agents.finite_driver import FiniteDriver
from optimist.core.compiler import entry_point
from optimist.core.counts import regress_counts, targets
from optimist.core.frame import call_with, frame
from optimist.core.iteration import add_update, back_up
from optimist.core.learning import update

STATES, UPDATES = 4096, 30


@entry_point
def in_one_call(me: Any, n: int) -> None:
    """So many updates."""
    for _ in range(n):
        update(me, me.rule.eta)


@entry_point
def regress_part(me: Any, first: int, last: int) -> None:
    """The first half of an update of some states."""
    gamma, v = me.rule.gamma, me.epoch.prior[0]["v"]
    regress_counts(me, targets(me, 0), gamma, gamma * v, first, last, me.epoch.theta)


@entry_point
def improve_part(me: Any, first: int, last: int) -> None:
    """The second."""
    rule, epoch, Q = me.rule, me.epoch, me.data.Q
    add_update(rule.eta, epoch.theta, epoch.Theta, first * Q.shape[1], last * Q.shape[1])
    back_up(rule, rule.eta, me.states, rule.heaven, False, first, last, Q, 0)


@entry_point
def in_rounds(me: Any, n: int) -> None:
    """So many updates, in one round or several."""
    call_with(me.play_round, me, n)


def driver_in(world: opt.envs.World, config: Any) -> FiniteDriver:
    """A driver after an episode, for which every transition was seen once before."""
    driver = FiniteDriver(world.mdp, None, config.variant(), RunSettings(config, 0, 0))
    driver.data.counts[:] = 1.0
    driver.regression.Lambda[:, 0, 0] += np.diff(driver.simulator.first)
    driver.learn_some(1)
    return driver


def milliseconds(driver: FiniteDriver) -> list[float]:
    """An update in one call, in parts, in parts on two threads, and in rounds if there are any."""
    me = driver.learner(driver.rule(0))
    given, X = frame(me), me.states.V.size
    parts = [(first, min(first + STATES, X)) for first in range(0, X, STATES)]

    def in_parts() -> None:
        for half in (regress_part, improve_part):
            list(pool.map(partial(half, given), *zip(*parts, strict=True)))

    in_one_call(given, 1)
    found = [best_of(5, lambda: in_one_call(given, 5))[0] / 5]
    for threads in (1, 2):
        with ThreadPoolExecutor(threads) as pool:
            in_parts()
            found.append(best_of(5, in_parts)[0])
    if me.rounds.total.size:
        found.append(best_of(3, lambda: in_rounds(given, UPDATES))[0] / UPDATES)
    return [1e3 * seconds for seconds in found]


def main() -> None:
    """Print the table."""
    print("| states met | agent | an update, ms | in parts | on two threads | in rounds |")
    print("|---" * 6 + "|")
    for side in (100, 300, 1000):
        for agent in (opt.RmaxRaviUcb, opt.Optimist):
            found = milliseconds(driver_in(scale.grid(side), agent.Config()))
            cells = [f"{each:.2f}" for each in found] + ["-"] * (4 - len(found))
            print(f"| {side**2:,} | {agent.__name__} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
