"""The exact solver against its peers, as ratios in one run on one BLAS thread: ``make bench``.

Each time is the best of several runs, and each pair is checked to agree before it is timed.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import optimist as opt
from benchmarks.timing import best_of
from optimist.checks import FloatArray
from optimist.mdp.optimum import find_optimum

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from quantecon.markov import DiscreteDP

OPEN_FIELD = "\n".join(["S" + "." * 99] + ["." * 100] * 98 + ["." * 99 + "G"])

AGREE = 1e-9
"""How far two solvers may be apart, relative to the largest value."""


def random_mdp(rng: np.random.Generator, n: int, n_actions: int, successors: int) -> opt.FiniteMDP:
    """A random MDP stored dense, each pair leading to this many states."""
    P = np.zeros((n, n_actions, n))
    for x in range(n):
        for a in range(n_actions):
            after = rng.choice(n, size=successors, replace=False)
            P[x, a, after] = rng.dirichlet(np.ones(successors))
    return opt.FiniteMDP(P, rng.random((n, n_actions)), np.full(n, 1 / n), gamma=0.99)


def peer(mdp: opt.FiniteMDP) -> Any:
    """The same MDP as quantecon's DiscreteDP, in the form that suits its storage."""
    if isinstance(mdp.kernel, np.ndarray):
        return DiscreteDP(mdp.r, mdp.P, mdp.gamma)
    states, actions = np.divmod(np.arange(mdp.r.size), mdp.n_actions)
    kernel = sp.csr_matrix(mdp.kernel)
    return DiscreteDP(mdp.r.ravel(), kernel, mdp.gamma, states, actions)


def peer_time(mdp: opt.FiniteMDP, V: FloatArray) -> tuple[float, int, str]:
    """Seconds and iterations of quantecon's policy iteration until its values agree with ours.

    On worlds with equally good actions its policies keep changing by rounding, and it stops only
    at its limit of iterations. It is then given the fewest iterations, out of powers of two, with
    which its values are right: less than a user would have to wait.
    """
    program = peer(mdp)
    limit = 250  # quantecon's own
    solve = partial(program.solve, method="policy_iteration")
    seconds, result = best_of(2, partial(solve, max_iter=limit))
    if result.num_iter < limit:
        _agree(result.v, V)
        return seconds, result.num_iter, "policy settles"
    for few in (2**i for i in range(1, 12)):
        seconds, result = best_of(1, partial(solve, max_iter=few))
        if np.abs(result.v - V).max() <= AGREE * np.abs(V).max():
            return seconds, result.num_iter, f"ties flip, unsettled at {limit}"
    raise AssertionError("quantecon did not reach the values")


def _agree(found: FloatArray, expected: FloatArray) -> None:
    gap = np.abs(found - expected).max() / np.abs(expected).max()
    if gap > AGREE:
        raise AssertionError(f"the solvers differ by {gap:.1e} of the largest value")


def optima(console: Console) -> None:
    """The optimum of three large MDPs."""
    rng = np.random.default_rng(0)
    worlds = {
        "X = 1,000, A = 10, dense rows": random_mdp(rng, 1000, 10, successors=1000),
        "X = 1,000, A = 10, 5 successors, stored dense": random_mdp(rng, 1000, 10, successors=5),
        "100 x 100 slippery grid, sparse": opt.envs.GridWorld(OPEN_FIELD, gamma=0.99).mdp,
    }
    table = Table(title="Exact optimum: quantecon's policy iteration against ours", box=SIMPLE)
    for heading in ("world", "quantecon", "ours", "ratio", "residual", "quantecon's iterations"):
        table.add_column(heading)
    for name, mdp in worlds.items():
        ours, best = best_of(3, partial(find_optimum, mdp.dynamics, mdp.r, mdp.nu0))
        theirs, iterations, how = peer_time(mdp, best.V)
        table.add_row(
            name,
            f"{theirs:.3f} s",
            f"{ours:.3f} s",
            f"{theirs / ours:.1f}x",
            f"{best.residual:.0e}",
            f"{iterations}, {how}",
        )
    console.print(table)


def batches(console: Console) -> None:
    """A thousand policies at once against one at a time."""
    rng = np.random.default_rng(1)
    worlds = {
        "RiverSwim 20": opt.envs.RiverSwim(20).mdp,
        "Maze, 97 states": opt.envs.Maze().mdp,
        "FourRooms, 104 states": opt.envs.FourRooms().mdp,
        "DeepSea 20, 211 states": opt.envs.DeepSea(20).mdp,
        "random, 100 states, 3 successors": random_mdp(rng, 100, 4, successors=3),
        "random, 100 states, dense rows": random_mdp(rng, 100, 4, successors=100),
    }
    table = Table(title="1,000 policies: one at a time against a batch, per policy", box=SIMPLE)
    for heading in ("world", "what", "one at a time", "batch", "ratio"):
        table.add_column(heading)
    for name, mdp in worlds.items():
        policies = rng.dirichlet(np.ones(mdp.n_actions), size=(1000, mdp.n_states))
        for what, solve in (("value", mdp.value), ("occupancy", mdp.occupancy)):
            solve(policies)  # plans the elimination, which is remembered
            together, batch = best_of(3, partial(solve, policies))
            apart, single = best_of(2, partial(one_at_a_time, solve, policies))
            _agree(batch, np.array(single))
            table.add_row(
                name,
                what,
                f"{1e3 * apart:.0f} us",
                f"{1e3 * together:.1f} us",
                f"{apart / together:.1f}x",
            )
    console.print(table)


def one_at_a_time(solve: Callable[[FloatArray], Any], policies: FloatArray) -> list[Any]:
    """What a batch does, policy by policy."""
    return [solve(pi) for pi in policies]


def main() -> None:
    """Print both tables."""
    console = Console(width=120)
    optima(console)
    batches(console)


if __name__ == "__main__":
    main()
