"""Write the log of a case study: ``python docs/case-studies/record_trips.py`` makes trips.csv.

Four drivers make 30 trips each through `Warehouse`. The log has where they were, a row a step, and
not what they did.
"""

from pathlib import Path

import numpy as np

import optimist as opt
from optimist.checks import FloatArray

TRIPS, STEPS, SEED = 30, 60, 0


def drivers(world: opt.envs.Warehouse) -> dict[int, FloatArray]:
    """The policies of the drivers, [X, A], by number."""
    mdp = world.mdp
    good = mdp.optimal().policy
    cost = mdp.reward_map.inverse(mdp.r)
    below = np.array([world.position(x)[0] == 9 for x in range(mdp.n_states)])
    above = mdp.with_rewards(cost - 5.0 * below[:, None]).affine()
    return {
        1: good,  # the good operator, around the walkway by the way below it
        2: 0.85 * good + 0.15 * mdp.uniform_policy,  # the same, not always
        3: opt.envs.Warehouse(walkway=0.0).mdp.optimal().policy,  # across the walkway
        4: above.optimal().policy,  # around it by the way above
    }


def rows() -> list[str]:
    """The lines of the file."""
    world, rng = opt.envs.Warehouse(), np.random.default_rng(SEED)
    lines, trip = ["driver,episode,t,row,column"], 0
    for driver, policy in drivers(world).items():
        log = opt.imitation.TrajectoryDataset.from_rollouts(world, policy, TRIPS, rng, STEPS)
        for path in log:
            for t, state in enumerate(path.states):
                row, column = world.position(int(state))
                lines.append(f"{driver},{trip},{t},{row},{column}")
            trip += 1
    return lines


if __name__ == "__main__":
    text = "\n".join(rows()) + "\n"
    Path(__file__).with_name("trips.csv").write_text(text, encoding="utf-8")
