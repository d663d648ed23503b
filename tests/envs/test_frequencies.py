"""The states and rewards that are drawn are those of the arrays."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from reference.statistics import check_counts

from optimist.envs import DeepSea, GridWorld, LowerK, LowerTauE, RandomLinear, RiverSwim, World
from optimist.mdp import FiniteMDP

P = np.array(
    [
        [[0.0, 0.7, 0.3, 0.0], [0.25, 0.25, 0.25, 0.25]],
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]],
        [[0.1, 0.0, 0.9, 0.0], [0.0, 0.6, 0.0, 0.4]],
        [[0.4, 0.2, 0.4, 0.0], [0.0, 0.0, 0.0, 1.0]],
    ]
)
REWARDS = np.arange(32).reshape(4, 2, 4) / 31
"""r(x, a, x'), of which no two are alike."""


@dataclass(frozen=True)
class Drawn(World):
    """Four states, stored in one of three ways, paid by pairs or by transitions."""

    storage: str
    by_transition: bool

    def build(self):
        kernel = P
        if self.storage == "sparse":
            kernel = sp.csr_array(P.reshape(8, 4))
        elif self.storage == "sparse with zeros":
            kernel = sp.csr_array((P.ravel(), np.tile(np.arange(4), 8), np.arange(9) * 4))
        r = REWARDS if self.by_transition else REWARDS[:, :, 0]
        return FiniteMDP(kernel, r, [0.2, 0, 0.5, 0.3], 0.9)


STORAGES = ["dense", "sparse", "sparse with zeros"]


def play(world, steps, seed=11):
    """Uniform play with a reset every 50 steps: the counts [X, A, X], and what was paid."""
    mdp, env = world.mdp, world.make()
    counts = np.zeros((mdp.n_states, mdp.n_actions, mdp.n_states))
    paid = []
    state, _ = env.reset(seed=seed)
    for t, action in enumerate(np.random.default_rng(1).integers(mdp.n_actions, size=steps)):
        after, reward, *_ = env.step(int(action))
        counts[state, action, after] += 1
        paid.append((state, int(action), after, reward))
        state = after if t % 50 < 49 else env.reset()[0]
    return counts, paid


@pytest.mark.parametrize(
    "world",
    [
        *(Drawn(storage, by_transition=True) for storage in STORAGES),
        RiverSwim(4),
        GridWorld("S.#\n..G", slip=0.4),
        LowerK(epsilon=0.1, gamma=0.6),
        RandomLinear(3, 4, 2),
        DeepSea(3, slip=0.3),
    ],
    ids=repr,
)
def test_transitions_are_drawn_from_the_kernel(world):
    mdp = world.mdp
    counts, _ = play(world, steps=12_000)
    kernel = mdp.kernel if isinstance(mdp.kernel, np.ndarray) else mdp.kernel.toarray()
    check_counts(counts.reshape(-1, mdp.n_states), kernel)


@pytest.mark.parametrize("by_transition", [False, True])
def test_every_storage_draws_the_same_states_and_pays_the_rewards_of_the_table(by_transition):
    """A sparse row holds the probabilities of the dense one in the same order."""
    _, from_dense = play(Drawn("dense", by_transition), steps=2_000)
    for x, a, after, reward in from_dense:
        assert reward == REWARDS[x, a, after if by_transition else 0]
    for storage in STORAGES[1:]:
        assert play(Drawn(storage, by_transition), steps=2_000)[1] == from_dense


def test_the_kernels_are_stored_as_they_were_given():
    kernels = [Drawn(storage, by_transition=False).mdp.kernel for storage in STORAGES]
    assert isinstance(kernels[0], np.ndarray)
    assert [kernel.nnz for kernel in kernels[1:]] == [(P > 0).sum(), P.size]


@pytest.mark.parametrize(
    "world", [Drawn("dense", False), LowerTauE(), RandomLinear(3, 5, 2), GridWorld("S.S\nS.G")]
)
def test_episodes_start_from_the_initial_distribution(world):
    env = world.make()
    starts = [env.reset(seed=4)[0], *(env.reset()[0] for _ in range(4_000))]
    check_counts(np.bincount(starts, minlength=world.mdp.n_states), world.mdp.nu0)
