"""Gymnasium's toy-text worlds, against value iteration over their own tables."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP

WORLDS = {
    "FrozenLake 4x4": ("FrozenLake-v1", {"map_name": "4x4"}),
    "FrozenLake 4x4, not slippery": ("FrozenLake-v1", {"map_name": "4x4", "is_slippery": False}),
    "FrozenLake 8x8": ("FrozenLake-v1", {"map_name": "8x8"}),
    "FrozenLake 8x8, not slippery": ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}),
    "Taxi": ("Taxi-v4", {}),
    "CliffWalking": ("CliffWalking-v1", {}),
    "CliffWalking, slippery": ("CliffWalking-v1", {"is_slippery": True}),
}


@pytest.fixture(scope="module", params=WORLDS.values(), ids=WORLDS.keys())
def env(request):
    name, options = request.param
    return gymnasium.make(name, **options)


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


def test_optimal_values_are_those_of_value_iteration(env):
    gamma = 0.9
    V = value_iteration(env.unwrapped.P, gamma, sweeps=330)
    mdp = FiniteMDP.from_gymnasium(env, gamma)
    best = mdp.optimal()
    close = 1e-10 * max(1, np.abs(V).max())
    np.testing.assert_allclose(best.V[:-1], V, rtol=0, atol=close)
    start = np.asarray(env.unwrapped.initial_state_distrib)
    assert best.value == pytest.approx(start @ V, rel=0, abs=close)
    np.testing.assert_array_equal(mdp.nu0, [*start, 0])


def test_rows_are_distributions_and_the_last_state_absorbs_for_nothing(env):
    mdp = FiniteMDP.from_gymnasium(env, 0.9)
    n_states, n_actions = len(env.unwrapped.P), len(env.unwrapped.P[0])
    assert mdp.r.shape == (n_states + 1, n_actions)
    np.testing.assert_allclose(mdp.kernel.sum(axis=1), 1, rtol=0, atol=1e-15)
    last = mdp.kernel[-n_actions:]
    last = last.toarray() if sp.issparse(last) else last
    np.testing.assert_array_equal(last[:, :-1], 0)
    np.testing.assert_array_equal(last[:, -1], 1)
    np.testing.assert_array_equal(mdp.r[-1], 0)
    assert mdp.optimal().V[-1] == 0


def test_mean_rewards_and_terminations_are_those_of_the_table(env):
    mdp = FiniteMDP.from_gymnasium(env, 0.9)
    kernel = mdp.kernel.toarray() if sp.issparse(mdp.kernel) else mdp.kernel
    n_actions = mdp.n_actions
    for x, actions in env.unwrapped.P.items():
        for a, outcomes in actions.items():
            mean = sum(p * reward for p, _, reward, _ in outcomes)
            ends = sum(p for p, _, _, done in outcomes if done)
            assert mdp.r[x, a] == pytest.approx(mean, rel=1e-14, abs=1e-15)
            assert kernel[x * n_actions + a, -1] == pytest.approx(ends, rel=0, abs=1e-15)


def test_small_worlds_are_dense_and_large_ones_sparse():
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


@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_the_walk_along_the_cliff_takes_thirteen_steps(gamma):
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
    np.testing.assert_array_equal(mdp.P[:, 0], [[0.5, 0.5], [1, 0]])
    np.testing.assert_array_equal(mdp.transition_rewards[0, 0], [1, 4])
    np.testing.assert_array_equal(mdp.r, [[2.5], [2]])
    assert mdp.reward_range == (1, 4)  # what cannot happen is not paid


def test_a_table_that_is_no_kernel_is_refused():
    table = {0: {0: [(0.5, 0, 1.0, False)]}}
    with pytest.raises(ValueError, match=r"^P\[0, 0\] sums to 0.5"):
        FiniteMDP.from_gymnasium(fake(table, [1]), 0.5)
    table = {0: {0: [(1.0, 0, np.nan, False)]}}
    with pytest.raises(ValueError, match=r"^env.unwrapped.P rewards\[0\] is nan"):
        FiniteMDP.from_gymnasium(fake(table, [1]), 0.5)


def test_a_world_without_a_table_is_refused_with_an_explanation():
    env = gymnasium.make("CartPole-v1")
    explanation = r"^CartPoleEnv exposes no transition table: .*env.unwrapped.P and .*toy-text"
    with pytest.raises(TypeError, match=explanation):
        FiniteMDP.from_gymnasium(env, 0.9)
