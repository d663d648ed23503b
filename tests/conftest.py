"""How two learners are compared, whatever they are made of; and where shared test code is."""

import sys
from pathlib import Path

import numpy as np
import pytest

from optimist.agents.checkpoint import FILE
from optimist.core import storage

sys.path.append(str(Path(__file__).parent))  # for `from reference.mdps import random_mdp`


@pytest.fixture(scope="session")
def state_of(tmp_path_factory):
    """All that decides how a learner goes on, as bytes by name: what it saves, but the history."""

    def found(agent):
        folder = tmp_path_factory.mktemp("state")
        agent.save(folder)
        header, arrays = storage.read(folder / FILE)
        parts = {
            name: array.tobytes()
            for name, array in arrays.items()
            if name != "chosen" and not name.startswith("history.")
        }
        now = {
            name: value.tobytes() if isinstance(value, np.ndarray) else value
            for name, value in vars(agent.diagnostics).items()
        }
        return {**parts, **now, "draws": repr(header["generators"]), "until": header["until"]}

    return found
