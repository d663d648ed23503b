"""Gymnasium's toy-text environments, against their own tables."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses
from reference.solves import as_table

from optimist.mdp import FiniteMDP

ENVIRONMENTS = [
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False}),
    ("FrozenLake-v1", {"map_name": "8x8"}),
    ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}),
    ("Taxi-v4", {}),
    ("CliffWalking-v1", {}),
    ("CliffWalking-v1", {"is_slippery": True}),
]


@pytest.mark.parametrize(("name", "options"), ENVIRONMENTS)
def test_the_mdp_is_that_of_the_table(name, options):
    """A terminated transition leads to an added state, which is absorbing and pays nothing."""
    env = gymnasium.make(name, **options)
    table, start = env.unwrapped.P, env.unwrapped.initial_state_distrib
    mdp = FiniteMDP.from_gymnasium(env, 0.9)
    end, n_actions = len(table), len(table[0])
    P, r = np.zeros((end + 1, n_actions, end + 1)), np.zeros((end + 1, n_actions))
    P[end, :, end] = 1
    for x, a in np.ndindex(end, n_actions):
        for probability, after, reward, terminated in table[x][a]:
            P[x, a, end if terminated else after] += probability
            r[x, a] += probability * reward
    assert_allclose(as_table(mdp.kernel, mdp), P, rtol=0, atol=1e-15)
    assert_allclose(mdp.r, r, rtol=1e-14, atol=1e-15)
    assert_array_equal(mdp.nu0, [*start, 0])
    assert mdp.gamma == 0.9


def test_small_environments_are_dense_and_large_ones_sparse():
    lake = FiniteMDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), 0.9)
    taxi = FiniteMDP.from_gymnasium(gymnasium.make("Taxi-v4"), 0.9)
    assert repr(lake) == "FiniteMDP(states=17, actions=4, gamma=0.9)"
    assert repr(taxi) == "FiniteMDP(states=501, actions=6, gamma=0.9, sparse)"
    assert taxi.reward_range == (-10, 20)


def test_the_walk_along_the_cliff_takes_thirteen_steps():
    mdp = FiniteMDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), 0.9)
    assert mdp.optimal().value == pytest.approx(-(1 - 0.9**13) / 0.1, rel=1e-12)
    assert mdp.reward_range == (-100, 0)  # the absorbing state's 0 is a reward too


def fake(table, start):
    bare = SimpleNamespace(P=table, initial_state_distrib=start)
    return SimpleNamespace(unwrapped=bare)


def test_outcomes_that_merge_pay_their_mean():
    table = {
        0: {0: [(0.25, 1, 8.0, False), (0.25, 1, 0.0, False), (0.5, 0, 1.0, False)]},
        1: {0: [(1.0, 0, 2.0, False), (0.0, 1, 99.0, False)]},
    }
    mdp = FiniteMDP.from_gymnasium(fake(table, [1, 0]), 0.5)
    assert mdp.n_states == 2  # nothing terminates, so no state is added
    assert_array_equal(mdp.P[:, 0], [[0.5, 0.5], [1, 0]])
    assert_array_equal(mdp.transition_rewards[0, 0], [1, 4])
    assert_array_equal(mdp.r, [[2.5], [2]])
    assert mdp.reward_range == (1, 4)  # what cannot happen is not paid


def test_a_bad_table_is_refused_and_so_is_an_environment_without_one():
    explanation = r"^CartPoleEnv exposes no transition table: .*env.unwrapped.P and .*toy-text"
    half, unpaid = (0.5, 0, 1.0, False), (1.0, 0, np.nan, False)
    assert_refuses(
        lambda env: FiniteMDP.from_gymnasium(env, 0.5),
        (
            fake({0: {0: [half]}}, [1]),
            ValueError,
            r"^P\[0, 0\] must sum to 1 within 1e-08; got 0.5",
        ),
        (
            fake({0: {0: [unpaid]}}, [1]),
            ValueError,
            r"^env.unwrapped.P rewards\[0\] must be a finite number; got nan",
        ),
        (gymnasium.make("CartPole-v1"), TypeError, explanation),
    )
