"""FRA-IL in an environment computes what it computes on the same episodes of a finite world."""

import gymnasium
import numpy as np
import pytest
from reference.comparison import assert_close
from reference.environments import SameDraws
from reference.experts import optimal_expert

from optimist import FraIL, Optimist, RmaxRaviUcb, envs
from optimist.features import Concatenation, OneHot, OneHotState, PerAction, StateOnly, Table, Tiles
from optimist.imitation import Ball, Box, FeatureDataset
from optimist.imitation.stream_imitation import embedding, with_rewards


@pytest.mark.parametrize("player", [RmaxRaviUcb.Config(ridge=0.01, updates=2), Optimist.Config()])
def test_the_same_episodes_give_the_same_player_and_policy(player):
    mdp = envs.GridWorld("S..\n.#.\n.OG", gamma=0.9).mdp
    expert, env = optimal_expert(mdp), SameDraws(mdp, observe_last=False)
    options = {"player": player, "K": 200, "seed": 4}
    finite = FraIL(mdp, expert, stride=0, **options)
    stream = FraIL(env, expert, gamma=0.9, **options)
    env.generator = stream.rng
    states = np.arange(mdp.n_states)

    for _ in range(200):
        one, other = finite.learn(1), stream.learn(1)
        assert (one.steps[0], one.epoch[0]) == (other.steps[0], other.epoch[0]), stream.episodes
        for column in ("optimistic_value", "bonus", "ascension"):
            assert_close(getattr(one, column), getattr(other, column), column)
        assert_close(finite.last_reward_weights, stream.last_reward_weights, "weights")
        pi = stream.policy.probabilities(states)
        assert_close(pi, finite.policy.probabilities(states), "policy")
        assert_close(pi, finite.diagnostics.pi, "policy")
    assert_close(finite.reward_weights, stream.reward_weights, "mean weights")


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


RIVER = envs.RiverSwim(4, gamma=0.9)


def test_rewards_that_are_paid_are_not_looked_at():
    class Loud(gymnasium.RewardWrapper):
        def reward(self, reward):
            return 1e6

    runs = []
    for env in (RIVER.make(), Loud(RIVER.make())):
        il = FraIL(env, optimal_expert(RIVER.mdp), gamma=0.9, seed=1)
        il.learn(50)
        runs.append((il.reward_weights, il.policy.Theta))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])


def test_a_time_limit_is_refused_when_it_cuts_off():
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=3)
    expert = FeatureDataset(np.full((5, 16), 1 / 16))
    with pytest.raises(RuntimeError, match="cut an episode off before its geometric end"):
        FraIL(env, expert, gamma=0.9, seed=0).learn(200)


def test_geometric_resets_of_the_environment_give_way_to_those_of_the_imitator():
    """Its own have the gamma that it is told, so the last pairs are those of an endless world."""
    name, expert = "optimist/RiverSwim-v0", optimal_expert(RIVER.mdp)
    runs = []
    for env in (RIVER.make(), gymnasium.make(name, n=4), gymnasium.make(name, n=4, gamma=0.5)):
        il = FraIL(env, expert, gamma=0.9, seed=1)
        il.learn(50)
        runs.append(il.reward_weights)
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])


def test_invalid_settings_of_an_imitation_are_refused():
    for error, sentence, told in (
        (
            TypeError,
            "reward= must not be given: FRA-IL ignores the rewards",
            {"reward": np.zeros_like},
        ),
        (
            TypeError,
            "reward_map= must not be given: FRA-IL ignores the rewards",
            {"reward_map": float},
        ),
        (
            TypeError,
            "low= must not be given: FRA-IL ignores the rewards",
            {"low": 0.0, "high": 1.0},
        ),
        (
            TypeError,
            "value_bound= must not be given: FRA-IL ignores the rewards",
            {"value_bound": 1.0},
        ),
        (ValueError, "FRA-IL needs geometric resets", {"geometric": False}),
        (ValueError, "fresh rollouts are for finite worlds", {"fresh": True}),
    ):
        with pytest.raises(error, match=sentence):
            FraIL(RIVER.make(), optimal_expert(RIVER.mdp), gamma=0.9, **told)


BOX = ([0.0, 0.0], [1.0, 1.0])
TABLE = Table(np.random.default_rng(0).random((4, 2, 3)))


@pytest.mark.parametrize(
    ("phi_r", "phi_P"),
    [
        (StateOnly(OneHotState(4), 2), OneHot(4, 2)),
        (OneHot(4, 2), OneHot(4, 2)),
        (StateOnly(Tiles(BOX, 2), 3), PerAction(Tiles(BOX, 2), 3)),
        (StateOnly(Tiles(BOX, 3), 3), PerAction(Tiles(BOX, 2), 3)),
        (StateOnly(OneHotState(4), 2), Concatenation(TABLE, OneHot(4, 2))),
        (OneHot(4, 2), Concatenation(TABLE, OneHot(4, 2))),
    ],
)
def test_rewards_are_linear_in_the_features(phi_r, phi_P):
    phi = with_rewards(phi_r, phi_P)
    w, E = np.random.default_rng(0).normal(size=phi_r.dim), embedding(phi_r, phi)
    boxed = isinstance(phi_P, PerAction)
    x = np.random.default_rng(1).random((20, 2)) if boxed else np.arange(4)
    np.testing.assert_allclose(phi.all_actions(x) @ (E @ w), phi_r.all_actions(x) @ w, atol=1e-12)


@pytest.mark.parametrize("weights", [Ball(1.0), Box(0.0, 1.0)])
def test_it_goes_on_from_a_folder(tmp_path, weights):
    def new():
        options = {"weights": weights, "K": 60, "seed": 3, "gamma": 0.9}
        return FraIL(RIVER.make(), optimal_expert(RIVER.mdp), **options)

    whole, part, again = new(), new(), new()
    part.learn(30)
    part.save(tmp_path)
    again.restore(tmp_path)
    again.learn(30)
    for _ in range(2):
        whole.learn(30)
    np.testing.assert_array_equal(whole.reward_weights, again.reward_weights)
    np.testing.assert_array_equal(whole.policy.Theta, again.policy.Theta)
