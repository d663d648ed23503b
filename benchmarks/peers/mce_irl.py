"""MCE-IRL of the `imitation` library on a finite MDP: a peer, in an environment of its own.

Its dependencies are not ours, torch among them, so it is run by another Python, made once::

    python3 -m venv peers
    peers/bin/pip install torch==2.13.0+cpu imitation==1.0.1

and then ``peers/bin/python benchmarks/peers/mce_irl.py mdps.npz policies.npz``. The first file
holds n worlds, P [n, X, A, X] and nu0 [n, X], their gamma, and targets [n, X], occupancies of an
expert's states that sum to one; the second gets the time-indexed policies, [n, T, X, A]. One line
of JSON is printed.

The library's setting is a finite horizon, and with a discount below one it trains on the occupancy
of the undiscounted soft policy but returns the discounted one. So the world gets one more state,
absorbing, which is entered from every pair with probability 1 - gamma, and there is no discount:
visits of the old states up to time T are then H mu, and those of the new one T + 1 less their sum.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

import argparse
import json
import math
import time
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from imitation.algorithms.mce_irl import MCEIRL  # type: ignore[import-not-found]
from imitation.rewards.reward_nets import BasicRewardNet  # type: ignore[import-not-found]
from numpy.typing import NDArray
from seals.base_envs import TabularModelPOMDP  # type: ignore[import-not-found]

FloatArray = NDArray[np.float64]

CUT = 0.02
"""gamma^T is at most this, as in the expert's trajectories."""

ITERATIONS, RATE = 300, 0.1
"""Steps of Adam and their rate. The library's 1,000 at 0.01 take longer and lose more."""


def with_an_end(P: FloatArray, nu0: FloatArray, gamma: float) -> Any:
    """The world with one more state, for an undiscounted horizon T; rewards are not looked at."""
    n_states, n_actions, _ = P.shape
    kernel = np.zeros((n_states + 1, n_actions, n_states + 1))
    kernel[:-1, :, :-1] = gamma * P
    kernel[:-1, :, -1] = 1 - gamma
    kernel[-1, :, -1] = 1
    return TabularModelPOMDP(
        transition_matrix=kernel,
        observation_matrix=np.eye(n_states + 1, dtype=np.float32),
        reward_matrix=np.zeros(n_states + 1),
        horizon=math.ceil(math.log(1 / CUT) / (1 - gamma)),
        initial_state_dist=np.append(nu0, 0.0),
    )


def imitate(env: Any, target: FloatArray, gamma: float) -> FloatArray:
    """The policy of the old states, [T, X, A]."""
    visits = target * (1 - gamma ** (env.horizon + 1)) / (1 - gamma)
    demonstrations = np.append(visits, env.horizon + 1 - visits.sum())
    linear: Any = {"hid_sizes": [], "use_action": False, "use_next_state": False, "use_done": False}
    torch.manual_seed(0)
    learner = MCEIRL(
        demonstrations,
        env,
        BasicRewardNet(env.observation_space, env.action_space, **linear),
        np.random.default_rng(0),
        optimizer_kwargs={"lr": RATE},
        log_interval=None,
    )
    learner.train(ITERATIONS)
    pi: FloatArray = learner.policy.pi[:, :-1]
    return pi


def main() -> None:
    parser = argparse.ArgumentParser(description="MCE-IRL of the imitation library.")
    parser.add_argument("mdps", help="an .npz of P, nu0, gamma and targets")
    parser.add_argument("policies", help="the .npz to write")
    args = parser.parse_args()

    with np.load(args.mdps) as file:
        worlds = zip(*(file[name] for name in ("P", "nu0", "targets")), strict=True)
        gamma = float(file["gamma"])
    begin = time.process_time()
    found = [imitate(with_an_end(P, nu0, gamma), target, gamma) for P, nu0, target in worlds]
    seconds = (time.process_time() - begin) / len(found)
    np.savez(args.policies, pi=np.array(found))
    print(json.dumps({"seconds": seconds, "version": version("imitation")}))


if __name__ == "__main__":
    main()
