"""Run Python as on another processor: ``python tests/other_processor.py -m pytest -m bits``.

Vectorised code rounds differently from one kind of processor to the next. Here NumPy, the C
library, OpenBLAS and numba do without whatever this processor has above the baseline of x86-64.
"""

import os
import platform
import sys
from pathlib import Path

import numpy as np

CACHE = Path(__file__).parents[1] / ".numba_other_processor"


def environment() -> dict[str, str]:
    """The variables to set. NumPy names the features it has found: of others it would warn."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    variables = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CACHE_DIR": str(CACHE),
    }
    if platform.machine() in ("x86_64", "AMD64"):
        variables["OPENBLAS_CORETYPE"] = "Nehalem"
        variables["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"
    return variables


if __name__ == "__main__":
    os.execve(sys.executable, [sys.executable, *sys.argv[1:]], {**os.environ, **environment()})
