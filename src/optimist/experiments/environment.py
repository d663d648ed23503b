"""The environment of a run: versions, commit and machine."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import optimist

PACKAGES = ("numpy", "scipy", "numba", "gymnasium", "pyarrow", "safetensors")


@cache
def environment() -> dict[str, str]:
    """Versions, commit and machine of this process.

    Examples
    --------
    >>> sorted(environment())[:5]
    ['commit', 'cores', 'cpu', 'gymnasium', 'numba']
    """
    found = {
        "optimist": optimist.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpu": _cpu(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def processor() -> str:
    """The kind of processor, in terms of the instructions that the numerical libraries use.

    Two processes with the same library versions and the same kind compute the same bytes.
    """
    import numba  # slow to import
    from llvmlite.binding import get_host_cpu_name

    built: Any = np.show_config(mode="dicts")
    found = " ".join(built["SIMD Extensions"].get("found", ())) or "baseline"
    libraries = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    blas = " ".join(sorted({lib.get("architecture", lib["internal_api"]) for lib in libraries}))
    config: Any = numba.config
    compiled_for = config.CPU_NAME or get_host_cpu_name()
    return f"{platform.machine()}; NumPy {found}; BLAS {blas}; numba {compiled_for}"


def commit() -> str:
    """The git commit of this package, with a note if files were changed; else "unknown"."""
    here = Path(__file__).parent

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = ["git", "-C", str(here), *arguments]
        return subprocess.run(words, capture_output=True, text=True, timeout=10)

    try:
        head = git("rev-parse", "HEAD")
        tracked = git("ls-files", "--error-unmatch", __file__)
        if head.returncode or tracked.returncode:  # no checkout, or one of another project
            return "unknown"
        changed = git("diff", "--quiet", "HEAD", "--", str(here.parent)).returncode
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return head.stdout.strip() + (" with changes" if changed else "")


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
