"""What a history says is what happened."""

import numpy as np
import pytest

from optimist import envs
from optimist.agents import Optimist, VariantAgent
from optimist.core import FixedBonus, Sequence, Sigmoid, Variant

WORLDS = {
    "one-hot": envs.GridWorld("S..\n.#.\n.OG", gamma=0.9),
    "dense": envs.RandomLinear(4, 10, 3, gamma=0.9),
}
CONFIG = Variant(eta=2.0, bonus=FixedBonus(0.3), ascension=Sigmoid(8.0, 4.0), updates=2)


@pytest.fixture(params=WORLDS)
def world(request):
    return WORLDS[request.param]


def replayed(mdp, policies, seed):
    """The pairs of each episode, from the policies and the stream of random numbers alone."""
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])

    def draw(p):
        return min(int((np.cumsum(p) <= rng.random()).sum()), len(p) - 1)

    P = mdp.P if isinstance(mdp.P, np.ndarray) else mdp.P.toarray().reshape(*mdp.r.shape, -1)
    x, episodes = draw(mdp.nu0), []
    for pi in policies:
        pairs = [(x, draw(pi[x]))]
        while rng.random() < mdp.gamma:
            x = draw(P[pairs[-1]])
            pairs.append((x, draw(pi[x])))
        x = draw(mdp.nu0)
        episodes.append(pairs)
    return episodes


def test_steps_and_rewards_are_those_of_the_policies_that_were_kept(world):
    history = VariantAgent(world, config=CONFIG, seed=6, stride=1).learn(300)
    episodes = replayed(world.mdp, history.policies, seed=6)
    np.testing.assert_array_equal(history.steps, [len(pairs) for pairs in episodes])
    sums = [sum(world.mdp.r[pair] for pair in pairs) for pairs in episodes]
    np.testing.assert_allclose(history.reward, sums, rtol=0, atol=1e-12)
    assert history.reward.max() > 0


@pytest.mark.parametrize("stride", [1, 3, 10])
def test_every_so_many_policies_are_kept(world, stride):
    agent = VariantAgent(world, config=CONFIG, stride=stride)
    np.testing.assert_array_equal(agent.learn(25).evaluated, np.arange(0, 25, stride))
    later = np.arange(25, 60)
    np.testing.assert_array_equal(agent.learn(35).evaluated, later[later % stride == 0])
    np.testing.assert_array_equal(agent.history.evaluated, np.arange(0, 60, stride))


def test_the_policy_that_is_kept_is_the_one_that_will_be_played(world):
    agent = VariantAgent(world, config=CONFIG, stride=1)
    agent.learn(30)
    coming = agent.policy.probabilities(np.arange(world.mdp.n_states))
    np.testing.assert_allclose(agent.learn(1).policies[0], coming, rtol=0, atol=1e-9)


def test_values_are_exact(world):
    history = VariantAgent(world, config=CONFIG, stride=5).learn(200)
    P = world.mdp.kernel if isinstance(world.mdp.kernel, np.ndarray) else world.mdp.kernel.toarray()
    values = []
    for pi in history.policies:
        P_pi = np.einsum("xa,xay->xy", pi, P.reshape(*pi.shape, -1))
        V = np.linalg.solve(
            np.eye(len(pi)) - world.mdp.gamma * P_pi, (pi * world.mdp.r).sum(axis=1)
        )
        values.append(world.mdp.nu0 @ V)
    np.testing.assert_allclose(history.values(), values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(history.values(), world.mdp.value(history.policies), atol=1e-9)


def test_regrets_are_what_values_lack(world):
    history = VariantAgent(world, config=CONFIG, stride=5).learn(200)
    best = world.mdp.optimal().value
    np.testing.assert_allclose(history.regrets(), best - history.values(), rtol=0, atol=1e-9)
    assert (history.regrets() >= -1e-9).all()
    mean = (best - history.values()).mean() / best
    assert history.suboptimality() == pytest.approx(mean, abs=1e-9)


def test_a_later_part_is_evaluated_by_itself(world):
    """Whether or not its first episode is one whose policy is kept."""
    agent = VariantAgent(world, config=CONFIG, stride=10)
    agent.learn(25)
    part = agent.learn(40)
    np.testing.assert_array_equal(part.evaluated, [30, 40, 50, 60])
    np.testing.assert_allclose(part.values(), world.mdp.value(part.policies), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(part.policies, agent.history.policies[3:])


def test_changing_rewards_are_evaluated_each_in_its_episode(world):
    """Against the best fixed policy for all of them, in any part of a run."""
    mdp = world.mdp
    rewards = np.random.default_rng(0).random((60, *mdp.r.shape))
    agent = VariantAgent(world, config=CONFIG, rewards=Sequence(rewards), stride=10)
    agent.learn(25)
    for first, history in [(25, agent.learn(35)), (0, agent.history)]:
        played = [mdp.with_rewards(rewards[k]) for k in history.evaluated]
        values = [m.value(pi) for m, pi in zip(played, history.policies, strict=True)]
        best = mdp.with_rewards(rewards[first:].mean(axis=0)).optimal().policy
        lacking = [m.value(best) for m in played] - np.array(values)
        np.testing.assert_allclose(history.values(), values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(history.regrets(), lacking, rtol=0, atol=1e-9)


def test_episodes_and_epochs_are_counted(world):
    agent = VariantAgent(world, config=CONFIG)
    assert agent.episodes == 0
    history = agent.learn(120)
    assert agent.episodes == 120
    assert history.epoch[0] == 1
    assert set(np.diff(history.epoch)) == {0, 1}
    assert history.steps.min() >= 1


def test_lengths_are_geometric(world):
    steps = VariantAgent(world, config=CONFIG, seed=1).learn(20_000).steps
    gamma = world.mdp.gamma
    spread = np.sqrt(gamma) / (1 - gamma) / np.sqrt(steps.size)
    assert abs(steps.mean() - 1 / (1 - gamma)) < 4 * spread
    assert abs((steps == 1).mean() - (1 - gamma)) < 4 * np.sqrt(gamma * (1 - gamma) / steps.size)


def test_a_table_counts_the_episodes_of_the_whole_run():
    agent = Optimist(envs.RiverSwim(6, gamma=0.9), seed=1)
    agent.learn(30)
    later = agent.learn(20).table()
    np.testing.assert_array_equal(later["episode"], np.arange(30, 50))
    whole = agent.history.table()
    for name, column in later.items():
        np.testing.assert_array_equal(whole[name][30:], column)
