"""Make a table or figure of the documentation anew: ``python -m benchmarks.results NAME``.

The names and commands are those of the table in docs/results/index.md. Without a name they are
listed.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "index.md"


def commands() -> dict[str, list[str]]:
    """The words of each command, by the name of its result."""
    rows = re.findall(r"^\| ([\w-]+) \| `([^`]+)` \|", PAGE.read_text(encoding="utf-8"), re.M)
    return {name: shlex.split(command) for name, command in rows}


def main() -> int:
    """List the results, or make one."""
    known = commands()
    if len(sys.argv) == 1:
        for name, words in known.items():
            print(f"{name:20} {shlex.join(words)}")
        return 0
    (name,) = sys.argv[1:]
    if name not in known:
        print(f"there is no result {name!r}: there are {', '.join(known)}", file=sys.stderr)
        return 2
    return subprocess.run(known[name], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
