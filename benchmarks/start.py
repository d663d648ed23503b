"""How long the first learning takes: ``python -m benchmarks.start``.

Everything is compiled once and kept on disk. Each row is a process of its own on one core: with an
empty cache, after those above it, and with a full one. The time to compile a function that adds one
is printed beside it, because machines differ.
"""

import os
import subprocess
import sys
import tempfile

from rich.console import Console
from rich.table import Table

TRIVIAL = """
@numba.njit
def plus_one(x):
    return x + 1
started = time.process_time()
plus_one(1)
"""
FINITE = "opt.Optimist(opt.envs.RiverSwim(6), seed=0).learn(10)"
ENVIRONMENT = 'opt.Optimist(gymnasium.make("CartPole-v1"), gamma=0.99, seed=0).learn(3)'
IMITATION = """
world = opt.envs.GridWorld()
phi_r = opt.features.StateOnly(opt.features.OneHotState(25), 4)
expert = opt.imitation.FeatureDataset.from_policy(world, world.mdp.optimal().policy, phi_r)
opt.FraIL(world, expert, seed=0).learn(10)
"""
PEERS = "opt.Psrl(opt.envs.RiverSwim(6), seed=0).learn(10)"
PARTS = {  # what is learnt, and the most seconds it should take with an empty cache
    "compiling a function that adds one": (TRIVIAL, None),
    "the first `learn` in a finite world": (FINITE, 8),
    "the first in an environment, more": (ENVIRONMENT, 5),
    "the first of FRA-IL, more": (IMITATION, 5),
    "the first of a tabular peer, more": (PEERS, None),
}


def seconds(code: str, cache: str) -> float:
    """How long some code takes in a process of its own, without the imports."""
    before = "import time, gymnasium, numba\nimport optimist as opt\nstarted = time.process_time()"
    after = "print(time.process_time() - started)"
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    found = subprocess.run(
        [sys.executable, "-c", f"{before}\n{code}\n{after}"],
        env={**os.environ, **one, "NUMBA_CACHE_DIR": cache},
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return float(found.stdout)


def main() -> None:
    """Print the table."""
    if hasattr(os, "sched_setaffinity"):  # one core, here and in the processes below
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    table = Table("what", "empty cache", "full cache", "aim")
    with tempfile.TemporaryDirectory() as cache:
        for what, (code, aim) in PARTS.items():
            cold, warm = seconds(code, cache), seconds(code, cache)
            table.add_row(what, f"{cold:.1f} s", f"{warm:.1f} s", f"{aim} s" if aim else "")
    Console().print(table)


if __name__ == "__main__":
    main()
