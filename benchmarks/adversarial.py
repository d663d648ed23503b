"""Regret under rewards that change, against the best fixed policy: docs/results/changing.png.

Run it with ``python -m benchmarks.adversarial``. Rewards are 1 in one of two far corners of a 5 x 5
room without absorbing cells; who picks the corner differs.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when BLAS is loaded, so before NumPy is imported

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed

import optimist as opt
from optimist.checks import FloatArray
from optimist.core import Adversary, Drifting, Rewards, Switching

K, SEEDS, STRIDE = 40_000, 5, 20
CORNERS = (4, 20)
CONFIG = opt.RmaxRaviUcb.Config(beta=0.3, eta=0.1, updates=1).variant()
"""A small learning rate, as in the theorem: at eta = 10 an adversary is always a step ahead."""


def room() -> opt.FiniteMDP:
    """The default room, with its goal turned into an ordinary cell."""
    mdp = opt.envs.GridWorld().mdp
    P = np.array(mdp.P)
    P[24] = np.eye(25)[[19, 24, 24, 23]]
    return opt.FiniteMDP(P, np.zeros((25, 4)), mdp.nu0, mdp.gamma)


def chooser(name: str, mdp: opt.FiniteMDP) -> Rewards:
    """Who picks the rewards."""
    corners = np.zeros((2, 25, 4))
    for i, cell in enumerate(CORNERS):
        corners[i, cell] = 1
    if name == "switching every 500 episodes":
        return Switching(corners, every=500)
    if name == "drifting from one to the other":
        return Drifting(corners[0], corners[1], episodes=K)
    return Adversary(mdp, corners)


def mean_regret(name: str, seed: int) -> FloatArray:
    """The regret per episode up to each of the policies that were kept."""
    mdp = room()
    agent = opt.agents.VariantAgent(
        mdp, config=CONFIG, rewards=chooser(name, mdp), seed=seed, stride=STRIDE
    )
    regrets = agent.learn(K).regrets()
    mean: FloatArray = np.cumsum(regrets) / np.arange(1, len(regrets) + 1)
    return mean


def main() -> None:
    """Draw the curves and print where they end."""
    names = (
        "switching every 500 episodes",
        "drifting from one to the other",
        "the corner that pays least, every episode",
    )
    jobs = [delayed(mean_regret)(name, seed) for name in names for seed in range(SEEDS)]
    curves = np.array(Parallel(n_jobs=-1)(jobs)).reshape(len(names), SEEDS, -1)
    fig, ax = plt.subplots(figsize=(6.4, 3.8), constrained_layout=True)
    episodes = STRIDE * np.arange(1, curves.shape[2] + 1)
    for name, runs, style in zip(names, curves, ("-", "--", "-."), strict=True):
        (line,) = ax.plot(episodes, runs.mean(axis=0), style, label=name)
        ax.fill_between(
            episodes, runs.min(axis=0), runs.max(axis=0), alpha=0.2, color=line.get_color()
        )
        ends = [runs.mean(axis=0)[len(episodes) * q // 10 - 1] for q in (1, 3, 10)]
        print(f"{name}: regret per episode after K/10, 3K/10, K:", *(f"{e:.3f}" for e in ends))
    ax.axhline(0, color="grey", lw=0.8)
    ax.set_xlabel("episodes")
    ax.set_ylabel("regret per episode")
    ax.legend(frameon=False, title="rewards")
    fig.savefig(Path(__file__).parents[1] / "docs" / "results" / "changing.png", dpi=130)


if __name__ == "__main__":
    main()
