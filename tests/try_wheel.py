"""Install the wheel in a folder into a new environment, with its dependencies, and use it.

``make dist`` runs it: the demo with its report, a shipped study, an expert and an imitation, a
policy. It takes a few minutes, most of them to compile.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = """
optimist --version
optimist demo --out demo
optimist sweep imitation --seeds 1 --episodes 20 --out imitation
optimist learn RiverSwim --episodes 50 --seeds 1 --policy river.safetensors
optimist expert GridWorld --samples 50 --out expert.parquet
optimist imitate GridWorld --expert expert.parquet --episodes 50
optimist theory RiverSwim
"""
MADE = ("demo/report.html", "imitation/study.toml", "river.safetensors", "expert.parquet")


def main() -> None:
    """Build the environment, and run the commands in an empty folder."""
    (wheel,) = Path(sys.argv[1]).resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        bin_folder = Path(folder) / "environment" / "bin"
        subprocess.run([sys.executable, "-m", "venv", bin_folder.parent], check=True)
        pip = [bin_folder / "python", "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", wheel], check=True)
        there = Path(folder) / "there"
        there.mkdir()
        for line in COMMANDS.strip().splitlines():
            print(f"$ {line}", flush=True)
            name, *words = line.split()
            subprocess.run([bin_folder / name, *words], cwd=there, check=True)
        for made in MADE:
            assert (there / made).stat().st_size > 0, made
    print(f"{wheel.name} works")


if __name__ == "__main__":
    main()
