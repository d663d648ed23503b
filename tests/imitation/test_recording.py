"""The pairs of rollouts that stop geometrically are independent draws from mu(pi)."""

import gymnasium
import numpy as np
import pytest
import scipy.sparse as sp
from gymnasium.wrappers import TimeLimit
from reference.environments import Episodic
from reference.refusals import assert_refuses
from reference.statistics import check_counts

from optimist.core import TablePolicy
from optimist.envs import FourRooms, GeometricReset, RiverSwim
from optimist.features import OneHot, OneHotState, StateOnly
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.recording import record_pairs
from optimist.mdp import FiniteMDP


def random_mdp(gamma=0.8, absorbing=False, sparse=False):
    """Five states with impossible transitions and starts; the last may be absorbing."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(5, 0.5), size=(5, 3))
    P[:, :, [0, 3]] *= rng.random((5, 3, 2)) < 0.5  # at the border of a row, and within
    if absorbing:
        P[4] = np.eye(5)[4]
    P /= P.sum(axis=-1, keepdims=True)
    kernel = sp.csr_array(P.reshape(15, 5)) if sparse else P
    return FiniteMDP(kernel, np.zeros((5, 3)), [0.0, 0.5, 0.2, 0.3, 0.0], gamma)


PI = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0], [0.6, 0.4, 0.0]])
"""A policy with actions that it never plays, first, last and in between."""


def check_occupancy(states, actions, mu):
    """Pearson's test that the pairs were drawn from mu."""
    counts = np.zeros(mu.shape)
    np.add.at(counts, (states, actions), 1)
    check_counts(counts.ravel(), mu.ravel())


def test_pairs_of_a_finite_mdp():
    for gamma, sparse in ((0.0, False), (0.5, True), (0.95, False), (0.95, True)):
        mdp = random_mdp(gamma, sparse=sparse)
        pairs = record_pairs(mdp, PI, 50_000, np.random.default_rng(1))
        check_occupancy(*pairs, mdp.occupancy(PI))
    world = FourRooms()
    policy = 0.5 * world.mdp.optimal().policy + 0.5 * world.mdp.uniform_policy
    pairs = record_pairs(world, policy, 200_000, np.random.default_rng(1))
    check_occupancy(*pairs, world.mdp.occupancy(policy))


def test_pairs_are_independent():
    """Of one another: pairs of neighbouring draws have the product of the occupancies."""
    mdp = random_mdp(0.95)
    x, _ = record_pairs(mdp, PI, 50_000, np.random.default_rng(2))
    nu = mdp.state_occupancy(PI)
    check_occupancy(x[::2], x[1::2], np.outer(nu, nu))


def test_the_ends_of_the_unit_interval_draw_nothing_impossible():
    """Only once in 2^53 draws, but then too."""

    class Same(np.random.Generator):
        def random(self, size):
            return np.full(size, self.number)

    rng = Same(np.random.PCG64(0))
    for rng.number, pair in ((0.0, (1, 0)), (1 - 2**-53, (3, 2))):
        states, actions = record_pairs(random_mdp(gamma=0), PI, 5, rng)
        assert set(zip(states, actions, strict=True)) == {pair}


def test_pairs_are_the_same_for_the_same_seed_and_rows_are_their_features():
    mdp, phi = random_mdp(), OneHot(5, 3)

    def draw(policy, seed):
        return record_pairs(mdp, policy, 100, np.random.default_rng(seed))

    states, actions = draw(PI, 3)
    for policy in (PI, TablePolicy(PI)):
        np.testing.assert_array_equal((states, actions), draw(policy, 3))
    assert (states != draw(PI, 4)[0]).any()
    dataset = FeatureDataset.from_rollouts(mdp, PI, phi, 100, np.random.default_rng(3))
    np.testing.assert_array_equal(dataset.features, phi(states, actions))
    assert (dataset.gamma, dataset.bound, dataset.size) == (0.8, 1.0, 100)


# Gymnasium environments


class Ending(Episodic):
    """An MDP whose last state terminates, and which may have a limit of steps."""

    n_states, n_actions = 5, 3

    def __init__(self, mdp, limit=None):
        self.mdp, self.limit = mdp, limit

    def start(self):
        return int(self.np_random.choice(5, p=self.mdp.nu0))

    def move(self, action):
        assert self.x != 4, "the process is over"
        self.x = int(self.np_random.choice(5, p=self.mdp.P[self.x, action]))
        return 0.0, self.x == 4, self.t == self.limit


def test_pairs_of_an_environment():
    """A state that ends it is absorbing, and the policy acts there too."""
    mdp = random_mdp(0.7, absorbing=True)
    assert mdp.state_occupancy(PI)[4] > 0.2
    for policy in (PI, TablePolicy(PI)):
        pairs = record_pairs(Ending(mdp), policy, 4_000, np.random.default_rng(5), gamma=0.7)
        check_occupancy(*pairs, mdp.occupancy(PI))
    world = RiverSwim(4, gamma=0.8)
    pi = np.array([[0.3, 0.7]] * 4)
    pairs = record_pairs(world.make(), pi, 2_000, np.random.default_rng(6), gamma=0.8)
    check_occupancy(*pairs, world.mdp.occupancy(pi))


def test_a_dataset_of_an_environment():
    phi = StateOnly(OneHotState(4), n_actions=2)
    pi, rng = np.full((4, 2), 0.5), np.random.default_rng(7)
    dataset = FeatureDataset.from_rollouts(RiverSwim(4).make(), pi, phi, 20, rng, gamma=0.5)
    assert (dataset.gamma, dataset.size, dataset.dim) == (0.5, 20, 4)
    assert (dataset.features.sum(axis=1) == 1).all()


def test_observations_that_are_arrays():
    env = gymnasium.make("CartPole-v1", max_episode_steps=-1)

    class Coin:
        def probabilities(self, states):
            return np.array([0.5, 0.5])

    states, actions = record_pairs(env, Coin(), 30, np.random.default_rng(8), gamma=0.9)
    assert states.shape == (30, 4)
    assert actions.shape == (30,)
    assert len(np.unique(states, axis=0)) == 30


def test_observations_that_are_written_over():
    class Counting(gymnasium.Env):
        """Counts its resets in one and the same array."""

        observation_space = gymnasium.spaces.Box(0, 100, (1,))
        action_space = gymnasium.spaces.Discrete(1)
        count = np.zeros(1)

        def reset(self, *, seed=None, options=None):
            self.count += 1
            return self.count, {}

    class Only:
        def probabilities(self, states):
            return [1.0]

    states, _ = record_pairs(Counting(), Only(), 5, np.random.default_rng(0), gamma=0)
    assert states.tolist() == [[1], [2], [3], [4], [5]]


def test_the_seed_of_an_environment_decides():
    env, pi = RiverSwim(4).make(), np.full((4, 2), 0.5)

    def draw(**options):
        return record_pairs(env, pi, 50, np.random.default_rng(0), gamma=0.9, **options)

    np.testing.assert_array_equal(draw(seed=1), draw(seed=1))
    assert (draw(seed=1)[0] != draw(seed=2)[0]).any()
    np.testing.assert_array_equal(draw(), draw())  # drawn from rng


def test_a_rollout_that_is_cut_off_is_refused_and_an_unreached_limit_is_not():
    for env in (Ending(random_mdp(), limit=3), TimeLimit(RiverSwim(5).make(), 3)):
        pi = np.full((5, env.action_space.n), 1 / env.action_space.n)
        with pytest.raises(ValueError, match=r"truncated rollout \d+ after \d+ steps.*time limit"):
            record_pairs(env, pi, 200, np.random.default_rng(0), gamma=0.9)
    # With gamma = 0 no rollout takes a second step.
    env = Ending(random_mdp(), limit=1)
    states, _ = record_pairs(env, PI, 200, np.random.default_rng(0), gamma=0)
    assert set(states) == {1, 2, 3}


def test_geometric_resets_do_not_cut_rollouts_off():
    """Whatever their gamma is, the pairs are those of the endless process."""
    pi = np.full((5, 2), 0.5)
    pairs = [
        record_pairs(env, pi, 200, np.random.default_rng(0), gamma=0.9)
        for env in (RiverSwim(5).make(), GeometricReset(RiverSwim(5).make(), 0.5))
    ]
    np.testing.assert_array_equal(*pairs)


def test_what_cannot_be_recorded():
    def environment(**spaces):
        env = Ending(random_mdp())
        vars(env).update(spaces)
        return {"world": env, "gamma": 0.5}

    only = "gamma, seed and absorbing apply to Gymnasium environments only"
    actions = "actions must be 0, ..., A - 1; got the space"
    mixed, box = gymnasium.spaces.Dict(), gymnasium.spaces.Box(0, 1)
    shifted = gymnasium.spaces.Discrete(3, start=1)
    table = [
        ({"world": "RiverSwim"}, TypeError, "must be a World or a FiniteMDP; got 'RiverSwim'"),
        ({"samples": 0}, ValueError, "samples must be at least 1; got 0"),
        ({"samples": 2.5}, TypeError, r"samples must be a whole number; got 2\.5"),
        ({"rng": 3}, TypeError, "rng must be a Generator, .*; got 3"),
        ({"gamma": 0.9}, TypeError, only),
        ({"seed": 1}, TypeError, only),
        ({"absorbing": 4}, TypeError, only),
        ({"world": RiverSwim(5).make()}, TypeError, "no discount factor: give gamma="),
        ({"policy": np.ones((5, 3))}, ValueError, r"policy\[0\] must sum to 1 within 1e-08; got 3"),
        ({"policy": TablePolicy(PI[:4])}, ValueError, "the world's 5 states; got 4 states"),
        (environment(observation_space=mixed), TypeError, "observations must be arrays; got"),
        (environment(action_space=box), TypeError, actions),
        (environment(action_space=shifted), TypeError, actions),
        (
            {**environment(), "policy": PI[:, :2]},
            ValueError,
            r"policy must have shape .*; got \(5, 2\)",
        ),
        (
            {**environment(), "policy": TablePolicy(PI * 0.9)},
            ValueError,
            r"pi\(. \| x\) must sum to",
        ),
    ]
    good = {"world": random_mdp(), "policy": PI, "samples": 5}
    good["rng"] = np.random.default_rng(0)
    assert_refuses(lambda change: record_pairs(**good | change), *table)
