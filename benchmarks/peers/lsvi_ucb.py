"""rlberry-scool's LSVI-UCB on a finite MDP, timed: a peer, in an environment of its own.

Its dependencies are not ours, so it is run by another Python (3.10 or 3.11), made once::

    python3 -m venv peers
    peers/bin/pip install rlberry-scool==0.7.3 rlberry==0.7.3 gymnasium==0.29.1 numpy==2.2.6

and then ``peers/bin/python benchmarks/peers/lsvi_ucb.py mdp.npz EPISODES [HORIZON]``, where the
file holds P [X, A, X], r [X, A], nu0 [X], gamma and Phi [X, A, d]. One line of JSON is printed.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import argparse
import json
import time
from importlib.metadata import version
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from rlberry_scool.agents.linear import LSVIUCBAgent  # type: ignore[import-not-found]

FloatArray = NDArray[np.float64]


class TabularEnv(gymnasium.Env[int, int]):
    """A finite MDP that never ends, simulated as cheaply as may be: the agent is what is timed."""

    def __init__(self, P: FloatArray, r: FloatArray, nu0: FloatArray) -> None:
        n_states, n_actions = r.shape
        self.observation_space: Any = gymnasium.spaces.Discrete(n_states)
        self.action_space: Any = gymnasium.spaces.Discrete(n_actions)
        self.reward_range = (0.0, float(r.max()))  # the agent scales its bonus by it
        self.rewards = r
        self.start = to_thresholds(nu0)
        self.thresholds = to_thresholds(P)
        self.state = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self._draw(self.start)
        return self.state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        reward = float(self.rewards[self.state, action])
        self.state = self._draw(self.thresholds[self.state, action])
        return self.state, reward, False, False, {}

    def _draw(self, thresholds: FloatArray) -> int:
        return int(thresholds.searchsorted(self.np_random.random(), side="right"))


class TableOfFeatures:
    """The feature map (x, a) -> Phi[x, a], with the two members that the agent uses."""

    def __init__(self, Phi: FloatArray) -> None:
        self.Phi = Phi
        self.shape = Phi.shape[2:]

    def map(self, observation: int, action: int) -> FloatArray:
        row: FloatArray = self.Phi[observation, action]
        return row


def to_thresholds(probabilities: FloatArray) -> FloatArray:
    """The cumulative distribution along the last axis, which ends at exactly one."""
    cumulative: FloatArray = probabilities.cumsum(axis=-1)
    return cumulative / cumulative[..., -1:]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time rlberry-scool's LSVI-UCB on a finite MDP.")
    parser.add_argument("mdp", help="an .npz of P, r, nu0, gamma and Phi")
    parser.add_argument("episodes", type=int)
    parser.add_argument("horizon", type=int, nargs="?", help="by default round(1 / (1 - gamma))")
    args = parser.parse_args()

    with np.load(args.mdp) as file:
        P, r, nu0, Phi = (file[name] for name in ("P", "r", "nu0", "Phi"))
        gamma = float(file["gamma"])
    agent = LSVIUCBAgent(
        TabularEnv(P, r, nu0),
        horizon=args.horizon or round(1 / (1 - gamma)),
        feature_map_fn=lambda _env: TableOfFeatures(Phi),
        gamma=gamma,
        seeder=0,
    )
    agent.set_writer(None)  # no log, whose time would count
    begin = time.perf_counter()
    agent.fit(budget=args.episodes)
    seconds = time.perf_counter() - begin

    result = {
        "episodes": args.episodes,
        "steps": agent.total_time_steps,
        "seconds": seconds,
        "version": version("rlberry-scool"),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
