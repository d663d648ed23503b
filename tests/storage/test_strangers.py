"""Files of learners that somebody altered and signed again are refused, or do no harm."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from optimist import RmaxRaviUcb
from optimist.agents.checkpoint import FILE
from optimist.core import storage
from optimist.errors import FileError

ATTACK = Path(__file__).with_name("attack.py")


def test_no_altered_learner_does_harm():
    """Of whole numbers in arrays all cases; of the others some: `attack.py` alone tries all."""
    command = [sys.executable, str(ATTACK), "25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"after {last}: {done.stderr}"


def write_altered(path, name, place, number):
    header, arrays = storage.read(path)
    arrays[name] = arrays[name].copy()
    arrays[name][place] = number
    storage.write(path, header.pop("kind"), header, arrays)


def test_the_error_names_the_file_the_entry_and_its_range(tmp_path):
    terms = {"gamma": 0.9, "geometric": False}
    agent = RmaxRaviUcb(gymnasium.make("FrozenLake-v1"), **terms)
    agent.learn(12)
    agent.save(tmp_path)
    n_states = len(agent.diagnostics.V)
    write_altered(tmp_path / FILE, "links.source", 7, 2**40)
    said = rf"^{re.escape(str(tmp_path / FILE))}: links.source\[7\] must be in \[0, {n_states}\); "
    with pytest.raises(FileError, match=f"{said}got 1099511627776$"):
        RmaxRaviUcb.load(tmp_path, gymnasium.make("FrozenLake-v1"), **terms)


@pytest.mark.parametrize(
    ("name", "place"),
    [("drawn.clock", 4), ("history.chosen", 3), ("stats.Lambda", (0, 0, 0)), ("iterate.prior", 0)],
)
def test_a_refused_file_leaves_the_learner_as_it_was(settings, make, same, name, place, tmp_path):
    setting = settings["one-hot"]()
    make(setting, episodes=20).save(tmp_path)
    write_altered(tmp_path / FILE, name, place, -5)
    agent, other = make(setting, episodes=3), make(setting, episodes=3)
    with pytest.raises(FileError):
        agent.restore(tmp_path)
    for each in (agent, other):
        each.learn(5)
    same.check(agent, other)


@pytest.mark.parametrize("episodes", [0, 1])
def test_a_learner_can_be_saved_at_any_time(settings, make, same, episodes, tmp_path):
    agent = make(settings["dense"](), episodes=episodes)
    agent.save(tmp_path)
    again = type(agent).load(tmp_path, *settings["dense"]())
    for each in (agent, again):
        each.learn(5)
    same.check(agent, again)
    np.testing.assert_array_equal(agent.diagnostics.V, again.diagnostics.V)
