"""Gymnasium's toy-text environments, against value iteration over their own tables."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.refusals import assert_refuses
from reference.solves import as_table

from optimist.mdp import FiniteMDP

LAKES = [
    {"map_name": name, "is_slippery": slippery}
    for name in ("4x4", "8x8")
    for slippery in (True, False)
]
ENVIRONMENTS = [
    *(("FrozenLake-v1", options) for options in LAKES),
    ("Taxi-v4", {}),
    ("CliffWalking-v1", {}),
    ("CliffWalking-v1", {"is_slippery": True}),
]


def value_iteration(table, gamma, sweeps):
    """Plain value iteration over env.unwrapped.P: no bootstrap after a terminated transition."""
    V = [0.0] * len(table)
    for _ in range(sweeps):
        V = [
            max(
                sum(p * (reward + (not done) * gamma * V[y]) for p, y, reward, done in outcomes)
                for outcomes in table[x].values()
            )
            for x in range(len(table))
        ]
    return np.array(V)


@pytest.mark.parametrize(("name", "options"), ENVIRONMENTS)
def test_the_mdp_is_that_of_the_table_and_has_its_optimal_values(name, options):
    env, gamma = gymnasium.make(name, **options), 0.9
    table, start = env.unwrapped.P, np.asarray(env.unwrapped.initial_state_distrib)
    mdp = FiniteMDP.from_gymnasium(env, gamma)
    n_states, n_actions = len(table), len(table[0])
    assert mdp.r.shape == (n_states + 1, n_actions)
    assert_array_equal(mdp.nu0, [*start, 0])

    kernel = as_table(mdp.kernel, mdp)
    assert_allclose(kernel.sum(axis=-1), 1, rtol=0, atol=1e-15)
    for x, actions in table.items():
        for a, outcomes in actions.items():
            mean = sum(p * reward for p, _, reward, _ in outcomes)
            ends = sum(p for p, _, _, done in outcomes if done)
            assert mdp.r[x, a] == pytest.approx(mean, rel=1e-14, abs=1e-15)
            assert kernel[x, a, -1] == pytest.approx(ends, rel=0, abs=1e-15)

    # The last state is absorbing and pays nothing.
    assert_array_equal(kernel[-1], np.eye(n_states + 1)[[-1] * n_actions])
    assert_array_equal(mdp.r[-1], 0)

    V = value_iteration(table, gamma, sweeps=330)
    close = 1e-10 * max(1, np.abs(V).max())
    assert_allclose(mdp.optimal().V, [*V, 0], rtol=0, atol=close)
    assert mdp.optimal().value == pytest.approx(start @ V, rel=0, abs=close)


def test_small_environments_are_dense_and_large_ones_sparse():
    lake = FiniteMDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), 0.9)
    taxi = FiniteMDP.from_gymnasium(gymnasium.make("Taxi-v4"), 0.9)
    assert repr(lake) == "FiniteMDP(states=17, actions=4, gamma=0.9)"
    assert repr(taxi) == "FiniteMDP(states=501, actions=6, gamma=0.9, sparse)"


def test_a_hole_and_the_goal_are_one_absorbing_state_with_their_mean_reward():
    lake = FiniteMDP.from_gymnasium(gymnasium.make("FrozenLake-v1", map_name="8x8"), 0.9)
    up = 3  # left of the goal: slips left, up into a hole, or right onto the goal
    assert lake.P[62, up, -1] == pytest.approx(2 / 3, abs=1e-15)
    assert lake.transition_rewards[62, up, -1] == pytest.approx(1 / 2, abs=1e-15)
    assert lake.r[62, up] == pytest.approx(1 / 3, abs=1e-15)


def test_the_walk_along_the_cliff_takes_thirteen_steps():
    for gamma in (0.9, 0.99):
        mdp = FiniteMDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), gamma)
        assert mdp.optimal().value == pytest.approx(-(1 - gamma**13) / (1 - gamma), rel=1e-12)
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
        (fake({0: {0: [half]}}, [1]), ValueError, r"^P\[0, 0\] sums to 0.5"),
        (fake({0: {0: [unpaid]}}, [1]), ValueError, r"^env.unwrapped.P rewards\[0\] is nan"),
        (gymnasium.make("CartPole-v1"), TypeError, explanation),
    )
