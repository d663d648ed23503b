"""What each constant and each piece of `Optimist` is worth: ``python -m benchmarks.constants``.

Each line is the rule with one constant changed or one piece taken out, in all worlds of the
exploration study and in LowerK, ten seeds: the mean loss over a run as a multiple of the default's,
in the geometric mean over worlds (with .002 added to both, because where all is learnt within three
episodes a ratio says nothing), with a 95% interval by a bootstrap over pairs of equal seeds; the
world in which it is largest; and the seeds that end more than 5% below the optimum.

Constants are compiled in, so each line is a process of its own. A quarter of an hour on two cores.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

from benchmarks.consistency import BELOW, losses, worlds
from benchmarks.exploration import paired_ratio

SEEDS = 10


class Line(NamedTuple):
    """A change of the rule: constants of `optimist.core` by name, and whether heaven is learnt."""

    name: str
    constants: Mapping[str, float] = MappingProxyType({})
    learns_heaven: bool = True


LINES = (
    Line("the default"),
    *(Line(f"c {c:g}", {"c": c}) for c in (0.0, 0.0075, 0.03)),
    *(Line(f"growth of p+ {g:g}", {"GROWTH": g}) for g in (0.0, 1.0, 4.0)),
    *(Line(f"tau {tau:g}", {"TAU": tau}) for tau in (0.0, 0.2, 0.8)),
    *(Line(f"odds {odds:g}", {"LOG_ODDS": math.log(odds)}) for odds in (3.0, 30.0, 1e6)),
    Line("one concentration for all states", {"STRENGTH": 1e9}),
    Line("heaven worth R_max H", learns_heaven=False),
)


def change(constants: Mapping[str, float]) -> None:
    """Set constants wherever a module of core has them, before anything is compiled."""
    import optimist.core.finite

    assert optimist.core.finite
    for name, module in list(sys.modules.items()):
        if name.startswith("optimist.core"):
            for constant in vars(module).keys() & constants.keys():
                setattr(module, constant, constants[constant])


def run(line: Line, world: Any, episodes: int, seed: int) -> tuple[float, float]:
    """The loss over a run, and over its last tenth."""
    from optimist.core import VarianceBonus

    change(line.constants)
    if "c" in line.constants:
        VarianceBonus.__init__.__defaults__ = (line.constants["c"],)
    return losses(world, episodes, seed, None if line.learns_heaven else world.mdp.horizon)


def measure(line: Line) -> None:
    """Print the losses of all runs of a line, [worlds, seeds, 2]."""
    cells = [(world, K, seed) for world, K in worlds().values() for seed in range(SEEDS)]
    found = Parallel(n_jobs=-1, max_nbytes=None)(delayed(run)(line, *cell) for cell in cells)
    print(json.dumps(np.reshape(found, (-1, SEEDS, 2)).tolist()))


def main() -> None:
    """Print the table, one process a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--line", type=int, help="print the losses of one line alone")
    given = parser.parse_args()
    if given.line is not None:
        measure(LINES[given.line])
        return
    names = list(worlds())
    print("| | loss, as a multiple | 95% | at most | below |\n" + "|---" * 5 + "|")
    default: Any = None
    for i, line in enumerate(LINES):
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "benchmarks.constants", "--line", str(i)]
            told = {**os.environ, "NUMBA_CACHE_DIR": cache}
            printed = subprocess.run(command, env=told, check=True, capture_output=True).stdout
        mean, end = np.moveaxis(np.array(json.loads(printed)), 2, 0)  # [worlds, seeds]
        default = mean if default is None else default
        ratio = paired_ratio(mean, default)
        worst = int(ratio.worlds.argmax())
        print(
            f"| {line.name} | {ratio.mean:.2f} | {ratio.low:.2f} - {ratio.high:.2f} | "
            f"{ratio.worlds[worst]:.1f}, {names[worst]} | {int((end > BELOW).sum())} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
