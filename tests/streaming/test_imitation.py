"""FRA-IL in an environment computes what it computes on the same episodes of a finite world."""

import gymnasium
import numpy as np
import pytest

from optimist import FraIL, envs
from optimist.features import Concatenation, OneHot, OneHotState, PerAction, StateOnly, Table, Tiles
from optimist.imitation import Ball, Box, FeatureDataset, FraILConfig
from optimist.imitation.streaming import embedding, with_rewards


def expert_of(mdp):
    states = StateOnly(OneHotState(mdp.n_states), mdp.n_actions)
    return FeatureDataset.from_policy(mdp, mdp.optimal().policy, states)


def test_the_same_episodes_give_the_same_player_and_policy(lend):
    mdp = envs.GridWorld("S..\n.#.\n.OG", gamma=0.9).mdp
    expert, config = expert_of(mdp), FraILConfig(updates=2)
    env = lend(mdp, observe_last=False)
    options = {"config": config, "K": 200, "seed": 4}
    finite = FraIL(mdp, expert, stride=0, **options)
    stream = FraIL(env, expert, gamma=0.9, **options)
    env.generator = stream.rng
    for k in range(200):
        one, other = finite.learn(1), stream.learn(1)
        assert one.steps[0] == other.steps[0], k
        np.testing.assert_allclose(
            finite.last_reward_weights, stream.last_reward_weights, rtol=0, atol=1e-9
        )
        seen, it = stream.believe(np.arange(mdp.n_states)), finite.diagnostics
        np.testing.assert_allclose(seen.value, it.V, rtol=0, atol=1e-9)
        np.testing.assert_allclose(seen.policy, it.pi, rtol=0, atol=1e-9)
    np.testing.assert_allclose(finite.reward_weights, stream.reward_weights, rtol=0, atol=1e-9)
    states = np.arange(mdp.n_states)
    np.testing.assert_allclose(
        stream.policy.probabilities(states), finite.policy.probabilities(states), rtol=0, atol=1e-9
    )


def test_it_imitates_where_episodes_terminate():
    """The lake's goal ends an episode; the expert's data stay there, and so does the learner."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=-1)
    gamma, states = 0.9, StateOnly(OneHotState(16), 4)
    route = {0: 1, 4: 1, 8: 2, 9: 1, 13: 2, 14: 2}
    table = np.full((16, 4), 0.25)
    for x, a in route.items():
        table[x] = np.eye(4)[a]
    rng = np.random.default_rng(0)
    expert = FeatureDataset.from_rollouts(env, table, states, 2000, rng, gamma=gamma)
    il = FraIL(env, expert, gamma=gamma, seed=0)
    il.learn(600)
    assert int(np.argmax(il.reward_weights)) == 15
    found = FeatureDataset.from_rollouts(env, il.policy, states, 2000, rng, gamma=gamma)
    assert np.linalg.norm(found.mean - expert.mean) < 0.15
    assert np.linalg.norm(expert.mean) > 0.4


def test_rewards_that_are_paid_are_not_looked_at():
    class Loud(gymnasium.RewardWrapper):
        def reward(self, reward):
            return 1e6

    expert = expert_of(envs.RiverSwim(4, gamma=0.9).mdp)
    runs = []
    for wrap in (lambda env: env, Loud):
        il = FraIL(wrap(envs.RiverSwim(4, gamma=0.9).make()), expert, gamma=0.9, seed=1)
        il.learn(50)
        runs.append((il.reward_weights, il.policy.Theta))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])


def test_a_time_limit_is_refused_when_it_cuts_off():
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=3)
    expert = FeatureDataset(np.full((5, 16), 1 / 16))
    with pytest.raises(RuntimeError, match="cut an episode off before its geometric end"):
        FraIL(env, expert, gamma=0.9, seed=0).learn(200)


@pytest.mark.parametrize("term", ["reward", "reward_map", "reward_range"])
def test_nothing_is_said_of_rewards(term):
    env = envs.RiverSwim(4, gamma=0.9).make()
    expert = expert_of(envs.RiverSwim(4, gamma=0.9).mdp)
    with pytest.raises(TypeError, match=f"{term} is about rewards that are paid"):
        FraIL(env, expert, gamma=0.9, **{term: None})


def test_geometric_resets_are_needed():
    env = envs.RiverSwim(4, gamma=0.9).make()
    expert = expert_of(envs.RiverSwim(4, gamma=0.9).mdp)
    with pytest.raises(ValueError, match="FRA-IL needs geometric resets"):
        FraIL(env, expert, gamma=0.9, geometric=False)
    with pytest.raises(ValueError, match="fresh rollouts are for finite worlds"):
        FraIL(env, expert, gamma=0.9, config=FraILConfig(fresh=True))


BOX = ([0.0, 0.0], [1.0, 1.0])


@pytest.mark.parametrize(
    ("phi_r", "phi_P"),
    [
        (StateOnly(OneHotState(4), 2), OneHot(4, 2)),
        (OneHot(4, 2), OneHot(4, 2)),
        (StateOnly(Tiles(BOX, 2), 3), PerAction(Tiles(BOX, 2), 3)),
        (StateOnly(Tiles(BOX, 3), 3), PerAction(Tiles(BOX, 2), 3)),
        (PerAction(Tiles(BOX, 3), 3), Concatenation(OneHot(4, 3), PerAction(Tiles(BOX, 3), 3))),
    ],
)
def test_rewards_are_linear_in_the_features(phi_r, phi_P):
    phi = with_rewards(phi_r, phi_P)
    w = np.random.default_rng(0).normal(size=phi_r.dim)
    E = embedding(phi_r, phi)
    if isinstance(phi, Concatenation) and isinstance(phi.phi_r, OneHot):
        rows, expected = phi.phi_P, phi_r  # the first part is of other observations
        x = np.random.default_rng(1).random((20, 2))
        np.testing.assert_allclose(
            rows.all_actions(x) @ (E @ w)[phi.phi_r.dim :], expected.all_actions(x) @ w
        )
        return
    discrete = isinstance(phi_P, OneHot)
    x = np.arange(4) if discrete else np.random.default_rng(1).random((20, 2))
    np.testing.assert_allclose(phi.all_actions(x) @ (E @ w), phi_r.all_actions(x) @ w, atol=1e-12)


@pytest.mark.parametrize("weights", [Ball(1.0), Box(0.0, 1.0)])
def test_it_goes_on_from_a_folder(tmp_path, weights):
    world = envs.RiverSwim(4, gamma=0.9)
    expert, config = expert_of(world.mdp), FraILConfig(weights=weights)

    def new():
        return FraIL(world.make(), expert, config=config, K=60, seed=3, gamma=0.9)

    whole, part = new(), new()
    part.learn(30)
    part.save(tmp_path)
    again = FraIL.load(tmp_path, world.make(), expert, config=config, gamma=0.9)
    for il in (whole, again):
        il.learn(30)
    whole.learn(30)
    np.testing.assert_array_equal(whole.reward_weights, again.reward_weights)
    np.testing.assert_array_equal(whole.policy.Theta, again.policy.Theta)


def test_rewards_are_linear_in_a_part_of_the_features():
    phi_r, part = StateOnly(OneHotState(4), 2), OneHot(4, 2)
    phi = Concatenation(Table(np.random.default_rng(0).random((4, 2, 3))), part)
    w = np.arange(4.0)
    rows = phi.all_actions(np.arange(4)) @ (embedding(phi_r, phi) @ w)
    np.testing.assert_allclose(rows, np.repeat(w[:, None], 2, axis=1), atol=1e-12)
