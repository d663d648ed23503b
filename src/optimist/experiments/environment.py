"""What a run ran on: versions, commit and machine."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

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
        "commit": _commit(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def _commit() -> str:
    """The commit of this package if it runs from a checkout, and whether that was changed."""
    here = Path(__file__).parent
    git = ["git", "-C", str(here)]
    try:
        head = subprocess.run(
            [*git, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10
        )
        tracked = subprocess.run(
            [*git, "ls-files", "--error-unmatch", __file__], capture_output=True
        )
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", str(here.parent)])
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    if head.returncode or tracked.returncode:  # no checkout, or that of somebody else
        return "unknown"
    return head.stdout.strip() + (" with changes" if changed.returncode else "")


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
