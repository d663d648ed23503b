"""Files of learners that somebody altered and signed again are refused, or do no harm."""

import subprocess
import sys
from pathlib import Path

ATTACK = Path(__file__).with_name("attack.py")


def test_no_altered_learner_does_harm():
    """Of whole numbers in arrays all cases; of the others some: `attack.py` alone tries all."""
    command = [sys.executable, str(ATTACK), "25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"after {last}: {done.stderr}"
