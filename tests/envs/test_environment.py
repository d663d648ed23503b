"""A world played one step at a time: what its steps return, refuse and draw from its arrays."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from reference.refusals import assert_refuses
from reference.solves import as_table
from reference.statistics import check_counts

from optimist.envs import DeepSea, GridWorld, LowerK, LowerTauE, RandomLinear, RiverSwim, World
from optimist.mdp import FiniteMDP


def play(world, steps, seed=11):
    """Uniform play with a reset every 50 steps: (state, action, next state, reward) of each."""
    env, n_actions = world.make(), world.mdp.n_actions
    played = []
    state, _ = env.reset(seed=seed)
    for t, action in enumerate(np.random.default_rng(1).integers(n_actions, size=steps).tolist()):
        after, reward, *_ = env.step(action)
        played.append((state, action, after, reward))
        state = after if t % 50 < 49 else env.reset()[0]
    return played


def test_different_seeds_make_different_trajectories():
    trajectories = [play(RandomLinear(), 200, seed) for seed in range(5)]
    assert len({tuple(steps) for steps in trajectories}) == 5


def test_a_reset_without_a_seed_goes_on_with_the_stream():
    env = RandomLinear().make()
    first = [env.reset(seed=1)[0], *(env.reset()[0] for _ in range(20))]
    assert len(set(first)) > 1
    assert first == [env.reset(seed=1)[0], *(env.reset()[0] for _ in range(20))]


def test_steps_repeat_with_the_seed_return_plain_numbers_and_never_end(world):
    assert play(world, 200, seed=3) == play(world, 200, seed=3)
    env = world.make()
    state, info = env.reset(seed=0)
    assert info == {}
    for t in range(100):
        after, reward, terminated, truncated, info = env.step(t % world.mdp.n_actions)
        assert (type(state), type(after), type(reward)) == (int, int, float)
        assert (terminated, truncated, info) == (False, False, {})


def test_actions_may_be_any_whole_number():
    for action in (1, np.int64(1), np.int8(1), np.array(1), True):
        env = DeepSea(4).make()
        env.reset(seed=0)
        assert env.action_space.contains(action)
        assert env.step(action) == (2, 0.0, False, False, {})


def test_bad_actions_are_refused_and_do_not_move():
    env, other = RandomLinear().make(), RandomLinear().make()
    assert env.reset(seed=0) == other.reset(seed=0)
    bad = [-1, 5, 1.0, "1", None, np.array([1]), np.float64(0)]
    assert_refuses(
        env.step, *((action, ValueError, "action must be in 0, ..., 4; got ") for action in bad)
    )
    assert env.step(0) == other.step(0)
    with pytest.raises(RuntimeError, match=r"step\(\) was called before reset\(\)"):
        RiverSwim().make().step(0)


def test_even_the_extreme_draws_are_possible_ones(world):
    """Entries of probability zero before and after the others are never drawn."""
    for number in (0.0, 0.5, 1 - 2**-53):
        env = world.make()
        env.np_random = SimpleNamespace(random=lambda number=number: number)
        state, _ = env.reset()
        assert world.mdp.nu0[state] > 0
        for t in range(50):
            action = t % world.mdp.n_actions
            after, *_ = env.step(action)
            assert np.asarray(world.mdp.kernel)[state * world.mdp.n_actions + action, after] > 0
            state = after


# The states and rewards that are drawn are those of the arrays.

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
    kernel = as_table(world.mdp.kernel, world.mdp)
    counts = np.zeros(kernel.shape)
    for x, a, after, _ in play(world, steps=12_000):
        counts[x, a, after] += 1
    check_counts(counts.reshape(-1, world.mdp.n_states), kernel.reshape(-1, world.mdp.n_states))


@pytest.mark.parametrize("by_transition", [False, True])
def test_every_storage_draws_the_same_states_and_pays_the_rewards_of_the_table(by_transition):
    """A sparse row holds the probabilities of the dense one in the same order."""
    from_dense = play(Drawn("dense", by_transition), steps=2_000)
    for x, a, after, reward in from_dense:
        assert reward == REWARDS[x, a, after if by_transition else 0]
    for storage in STORAGES[1:]:
        assert play(Drawn(storage, by_transition), steps=2_000) == from_dense
    # And they are indeed stored so.
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
