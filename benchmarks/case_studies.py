"""What features are worth in the case studies: ``python -m benchmarks.case_studies``.

It prints the tables of docs/case-studies/stock-keeping.md and call-centre.md: what `Optimist` has
lost, exactly, with features of several kinds, over some seeds. It takes about ten minutes.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when BLAS is loaded, so before NumPy is imported

from collections.abc import Callable
from typing import Any

import numpy as np

import optimist as opt
from optimist.checks import FloatArray, IntArray
from optimist.envs import Inventory, Queue
from optimist.features import RBF, FeatureMap, StateFeatures, Table, Tiles

DAYS, SHIFTS = (100, 1_000, 5_000), (10, 100, 1_000)
SHOP_SEEDS, QUEUE_SEEDS = 3, 20
UNIT = ([0.0], [1.0])
Losses = tuple[IntArray, FloatArray]
"""When each episode ended, and what its policy has lost, in money."""


def of_stock(shop: Inventory, psi: Callable[[FloatArray], FloatArray]) -> FeatureMap:
    """Features psi of the stock after the delivery, and of the bill."""
    stock = np.arange(shop.capacity + 1)
    filled = np.maximum.outer(stock, stock)
    bought = filled - stock[:, None]
    bill = np.stack([bought > 0, bought / shop.capacity], axis=-1)
    return Table(np.concatenate([psi(filled[..., None] / shop.capacity), bill], axis=-1))


def of_line(queue: Queue, psi: Callable[[FloatArray], FloatArray]) -> FeatureMap:
    """Features psi of the line with who was accepted, one copy for each pace of service."""
    door, line = np.divmod(np.arange(queue.mdp.n_states), queue.capacity + 1)
    accept, fast = np.arange(4) % 2, np.arange(4) // 2
    joins = accept & ((door > 0) & (line < queue.capacity))[:, None]
    there = psi((line[:, None] + joins)[..., None] / queue.capacity)
    both = np.eye(2)[fast][:, :, None] * there[..., None, :]  # [X, A, 2, d]
    return Table(both.reshape(*joins.shape, -1))


def each(capacity: int) -> Callable[[FloatArray], FloatArray]:
    """One feature for each number of units."""
    return lambda share: np.eye(capacity + 1)[np.rint(share[..., 0] * capacity).astype(int)]


def sell(shop: Inventory, features: FeatureMap | None, days: int, seed: int) -> Losses:
    """Play it as an environment: demand and money are known by samples alone."""
    env = opt.envs.GeometricReset(shop.make(), gamma=shop.gamma)
    agent = opt.Optimist(env, features, gamma=shop.gamma, seed=seed)
    stock = np.arange(shop.capacity + 1)
    policies = [agent.policy.probabilities(stock)]

    def keep(agent: Any) -> None:
        policies.append(agent.policy.probabilities(stock))

    history = agent.learn(steps=days, callback=keep, show_progress=False)
    lost = shop.mdp.suboptimality(np.array(policies[:-1])) / shop.mdp.reward_map.scale
    return np.cumsum(history.steps), lost


def serve(queue: Queue, features: FeatureMap | None, shifts: int, seed: int) -> Losses:
    """Play it as a finite world, whose prices are known."""
    agent = opt.Optimist(queue, features, seed=seed, stride=1)
    history = agent.learn(shifts, show_progress=False)
    lost = history.regrets() / queue.mdp.reward_map.scale
    return np.arange(1, shifts + 1), lost


def main() -> None:
    """Print both tables."""
    kinds: dict[str, Callable[[int], StateFeatures | Callable[[FloatArray], FloatArray] | None]]
    kinds = {
        "one-hot": lambda capacity: None,
        "exact": each,
        "6 bumps": lambda capacity: RBF(UNIT, 6),
        "11 bumps": lambda capacity: RBF(UNIT, 11),
        "21 bumps": lambda capacity: RBF(UNIT, 21),
        "21 tiles": lambda capacity: Tiles(UNIT, 21),
    }
    shops = (Inventory(), Inventory(capacity=200, demand=25.0, delivery=100.0))
    queues = (Queue(), Queue(capacity=60))
    worlds: list[tuple[Any, Any, Any, tuple[int, ...], str, int]]
    worlds = [(shop, of_stock, sell, DAYS, "days", SHOP_SEEDS) for shop in shops]
    worlds += [(queue, of_line, serve, SHIFTS, "shifts", QUEUE_SEEDS) for queue in queues]
    for world, features_of, play, ends, unit, seeds in worlds:
        numbers = " | ".join(f"{n:,}" for n in ends)
        print(f"\n{world}\n\n| features | d | lost in {numbers} {unit} | each of the last tenth |")
        print("|---" * (3 + len(ends)) + "|")
        for name, kind in kinds.items():
            psi = kind(world.capacity)
            if name == "exact" and world.capacity == 200:
                continue  # hundreds of dense features take hours
            phi = None if psi is None else features_of(world, psi)
            rows = []
            for seed in range(seeds):
                at, lost = play(world, phi, ends[-1], seed)
                so_far = [lost[: np.searchsorted(at, n) + 1].sum() for n in ends]
                rows.append([*so_far, lost[-max(1, len(lost) // 10) :].mean()])
            *sums, last = np.mean(rows, axis=0)
            cells = [f"{x:,.0f}" for x in sums]
            dim = world.features.dim if phi is None else phi.dim
            print(f"| {name} | {dim:,} | {' | '.join(cells)} | {last:.1f} |", flush=True)


if __name__ == "__main__":
    main()
