"""``optimist warmup``: compile the code of learning in advance."""

import time

from optimist.agents import Optimist, Prover, Psrl
from optimist.cli import OK
from optimist.cli.flags import Warmup
from optimist.experiments.learners import compile_learner
from optimist.imitation import FraIL

PARTS = {
    "finite worlds": (Optimist, False),
    "environments": (Optimist, True),
    "imitation": (FraIL, False),
    "tabular peers": (Psrl, False),
    "certificates": (Prover, False),
}
"""One learner of each compiled part, and whether it plays an environment."""


def main(given: Warmup) -> int:
    for name, (kind, streams) in PARTS.items():
        started = time.perf_counter()
        compile_learner(kind, streams)
        print(f"{name}: {time.perf_counter() - started:.1f} s", flush=True)
    return OK
