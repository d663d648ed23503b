"""A study on one core and on all of them, as a ratio in one run: ``python -m benchmarks.sweep``.

Both go through the command line, with processes that start cold, as a user's do; the compiler's
cache is warm. The runs of both are compared byte for byte.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from loky import cpu_count

STUDY = "quick"


def sweep(folder: Path, jobs: int) -> float:
    """The seconds that the study takes."""
    command = [sys.executable, "-m", "optimist", "sweep", STUDY, "--out", str(folder)]
    begin = time.perf_counter()
    subprocess.run([*command, "--jobs", str(jobs)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Print the two times and their ratio."""
    with tempfile.TemporaryDirectory() as made:
        one, all_cores = Path(made, "one"), Path(made, "all")
        sweep(Path(made, "warm"), cpu_count())
        alone = sweep(one, 1)
        together = sweep(all_cores, cpu_count())
        for file in sorted(one.glob("runs/*/curves.parquet")):
            same = all_cores / file.relative_to(one)
            if same.read_bytes() != file.read_bytes():
                raise SystemExit(f"{file.parent.name} differs")
        ratio = alone / together
        print(f"{STUDY}: {alone:.1f} s on 1 core, {together:.1f} s on {cpu_count()}: {ratio:.2f}x")


if __name__ == "__main__":
    main()
