"""Worlds nobody here wrote: the default configuration in seven Gymnasium environments.

Each line is one environment, five seeds. The learnt policy is played for 100 episodes, its most
likely actions; so are uniform play, the optimum where the environment exposes its tables, and what
tabular Q-learning (epsilon-greedy, .1 and .1, zero at first) has learnt on the same cells from as
many steps. Run by hand: ``python -m benchmarks.environments``, half an hour on two cores.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import optimist as opt
from optimist.checks import FloatArray
from optimist.core import FixedBonus, Threshold, Variant
from optimist.features import FeatureMap, default_name, features_named

GAMMA = 0.99
SEEDS = 5
EVALUATION = 100
SETTINGS = {
    "optimist": opt.Optimist.Config().variant(),
    "step": Variant(
        eta=100.0,
        bonus=FixedBonus(0.01),
        ascension=Threshold.after(5, ridge=1e-4),
        ridge=1e-4,
        updates=10,
    ),
    "paper": opt.RmaxRaviUcb.Config().variant(),
}
"""The agent without a knob, a step of five visits with a small bonus, and Algorithm 1."""

LONGEST = 1000
"""Where an environment has no time limit, an evaluation stops here."""


class Task(NamedTuple):
    """An environment, and how many episodes of it are played."""

    name: str
    id: str
    options: dict[str, Any]
    episodes: int
    repeat: int = 1
    features: str | None = None
    hidden: bool = False  # the range of rewards is not to be known

    def make(self) -> Any:
        """The environment."""
        env = gymnasium.make(self.id, **self.options)
        if self.hidden:  # rewards may be changed by this wrapper, for all that is known
            env = gymnasium.wrappers.TransformReward(env, float)
        return env if self.repeat == 1 else opt.envs.ActionRepeat(env, self.repeat)


TASKS = (
    Task("FrozenLake-v1 4x4", "FrozenLake-v1", {}, 2000),
    Task("FrozenLake-v1 8x8", "FrozenLake-v1", {"map_name": "8x8"}, 5000),
    Task("CliffWalking-v1", "CliffWalking-v1", {}, 500),
    Task("Taxi-v4", "Taxi-v4", {}, 2000),
    Task("MountainCar-v0", "MountainCar-v0", {}, 500),
    Task("Acrobot-v1", "Acrobot-v1", {}, 500),
    Task("CartPole-v1", "CartPole-v1", {}, 500),
)
MORE = (
    Task("MountainCar-v0, rbf:12", "MountainCar-v0", {}, 500, features="rbf:12"),
    Task("MountainCar-v0, tiles:4*4", "MountainCar-v0", {}, 500, features="tiles:4*4"),
    Task("MountainCar-v0, tiles:20, repeat 4", "MountainCar-v0", {}, 500, 4, "tiles:20"),
    Task("Acrobot-v1, repeat 4", "Acrobot-v1", {}, 500, 4),
    Task("CartPole-v1, fourier:100", "CartPole-v1", {}, 500, features="fourier:100"),
)
"""The same with other features, or with action repeat: not the default."""


class Line(NamedTuple):
    """The returns of one seed."""

    played: float  # over the run
    late: float  # over its last fifth
    learnt: float
    q_learning: float
    uniform: float
    optimum: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--only", default="", help="the tasks whose names hold this")
    parser.add_argument("--more", action="store_true", help="other features and action repeat")
    parser.add_argument("--config", default="optimist", choices=SETTINGS, help="the configuration")
    parser.add_argument("--unknown-range", action="store_true", help="the range is to be learnt")
    given = parser.parse_args()
    tasks = [t for t in (MORE if given.more else TASKS) if given.only in t.name]
    tasks = [t._replace(hidden=given.unknown_range) for t in tasks]
    columns = "environment", "episodes", "uniform", "Q-learning", "learnt (worst seed)"
    print("|", " | ".join([*columns, "over the run, its last fifth", "optimum"]), "|")
    print("|---|---|---|---|---|---|---|", flush=True)
    with ProcessPoolExecutor(2) as pool:
        for task in tasks:
            n = given.seeds
            lines = list(pool.map(run, [task] * n, range(n), [given.config] * n))
            mean = Line(*np.mean(lines, axis=0))
            worst = min(line.learnt for line in lines)
            optimum = "" if np.isnan(mean.optimum) else f"{mean.optimum:.2f}"
            print(
                f"| {task.name} | {task.episodes:,} | {mean.uniform:.2f} | {mean.q_learning:.2f} | "
                f"{mean.learnt:.2f} ({worst:.2f}) | {mean.played:.2f}, {mean.late:.2f} | "
                f"{optimum} |",
                flush=True,
            )


def run(task: Task, seed: int, setting: str) -> Line:
    """Learn an environment, and play what was learnt and what it is compared to."""
    env = task.make()
    name = task.features or default_name(env.observation_space)
    phi = features_named(name, env.observation_space, int(env.action_space.n))
    config = SETTINGS[setting]
    agent = opt.agents.VariantAgent(env, phi, config=config, seed=seed, gamma=GAMMA)
    history = agent.learn(task.episodes, show_progress=False)
    policy, rng = agent.policy, np.random.default_rng(seed)
    tabular = phi.blocks == phi.dim
    Q = q_learning(task.make(), phi, agent.steps, rng) if tabular else np.zeros(phi.dim)
    optimum = np.nan
    if hasattr(env.unwrapped, "P"):
        best = opt.FiniteMDP.from_gymnasium(env, GAMMA).optimal().policy
        optimum = play(task, lambda x: int(np.argmax(best[x])), seed)
    return Line(
        history.mean_return(),
        history.mean_return(last=task.episodes // 5),
        play(task, policy.predict, seed),
        play(task, lambda x: int(np.argmax(Q[phi.in_blocks(x)[1]])), seed) if tabular else np.nan,
        play(task, lambda x: int(rng.integers(phi.n_actions)), seed),
        optimum,
    )


def play(task: Task, act: Any, seed: int) -> float:
    """The mean return of a way to act."""
    env, total = task.make(), 0.0
    for episode in range(EVALUATION):
        x, _ = env.reset(seed=10_000 * (seed + 1) if episode == 0 else None)
        for _ in range(LONGEST):
            x, reward, terminated, truncated, _ = env.step(act(x))
            total += float(reward)
            if terminated or truncated:
                break
    return total / EVALUATION


def q_learning(env: Any, phi: FeatureMap, steps: int, rng: np.random.Generator) -> FloatArray:
    """The values of pairs after so many steps of tabular Q-learning."""
    Q = np.zeros(phi.dim)
    x, _ = env.reset(seed=int(rng.integers(2**31)))
    pairs, age = phi.in_blocks(x)[1], 0
    for _ in range(steps):
        a = int(rng.integers(phi.n_actions)) if rng.random() < 0.1 else _first(Q[pairs], rng)
        x, reward, terminated, truncated, _ = env.step(a)
        after, age = phi.in_blocks(x)[1], age + 1
        worth = 0.0 if terminated else Q[after].max()
        Q[pairs[a]] += 0.1 * (float(reward) + GAMMA * worth - Q[pairs[a]])
        pairs = after
        if terminated or truncated or age >= LONGEST:
            x, _ = env.reset()
            pairs, age = phi.in_blocks(x)[1], 0
    return Q


def _first(values: FloatArray, rng: np.random.Generator) -> int:
    """The best action, any of several."""
    return int(rng.choice(np.flatnonzero(values == values.max())))


if __name__ == "__main__":
    main()
