"""What a history says is what happened."""

import numpy as np
import pytest
from reference.algorithm_1 import Interaction
from reference.comparison import assert_close
from reference.solves import plain_V
from reference.variants import variant

from optimist import envs
from optimist.agents import Optimist, VariantAgent
from optimist.core import Sequence, Sigmoid

WORLDS = {
    "one-hot": envs.GridWorld("S..\n.#.\n.OG", gamma=0.9),
    "dense": envs.RandomLinear(4, 10, 3, gamma=0.9),
}


@pytest.fixture(params=WORLDS)
def world(request):
    return WORLDS[request.param]


def learner(world, **options):
    return VariantAgent(world, config=variant(2.0, 0.3, Sigmoid(8.0, 4.0), updates=2), **options)


def test_steps_and_rewards_are_those_of_the_policies_that_were_kept(world):
    """Played again, from the policies and the stream of random numbers alone."""
    history, again = learner(world, seed=6, stride=1).learn(300), Interaction(world.mdp, 6, False)
    episodes = [again.episode(pi)[0] for pi in history.policies]
    np.testing.assert_array_equal(history.steps, [len(pairs) for pairs in episodes])
    sums = [sum(world.mdp.r[pair] for pair in pairs) for pairs in episodes]
    assert_close(history.reward, sums, atol=1e-12)
    assert history.reward.max() > 0


@pytest.mark.parametrize("stride", [1, 3, 10])
def test_every_so_many_policies_are_kept(world, stride):
    """A later part is evaluated by itself, whether or not the policy of its first is kept."""
    agent = learner(world, stride=stride)
    np.testing.assert_array_equal(agent.learn(25).evaluated, np.arange(0, 25, stride))
    part, later = agent.learn(35), np.arange(25, 60)
    np.testing.assert_array_equal(part.evaluated, later[later % stride == 0])
    assert_close(part.values(), world.mdp.value(part.policies))
    whole = agent.history
    np.testing.assert_array_equal(whole.evaluated, np.arange(0, 60, stride))
    np.testing.assert_array_equal(part.policies, whole.policies[-len(part.policies) :])


def test_values_are_exact_and_regrets_are_what_they_lack(world):
    mdp, history = world.mdp, learner(world, stride=5).learn(200)
    assert_close(history.values(), [mdp.nu0 @ plain_V(mdp, pi) for pi in history.policies])
    lacking = mdp.optimal().value - history.values()
    assert_close(history.regrets(), lacking)
    assert (history.regrets() >= -1e-9).all()
    assert_close(history.suboptimality(), lacking.mean() / mdp.optimal().value)


def test_changing_rewards_are_evaluated_each_in_its_episode(world):
    """Against the best fixed policy for all of them, in any part of a run."""
    mdp = world.mdp
    rewards = np.random.default_rng(0).random((60, *mdp.r.shape))
    agent = learner(world, rewards=Sequence(rewards), stride=10)
    agent.learn(25)
    for first, history in [(25, agent.learn(35)), (0, agent.history)]:
        played = [mdp.with_rewards(rewards[k]) for k in history.evaluated]
        values = [m.value(pi) for m, pi in zip(played, history.policies, strict=True)]
        best = mdp.with_rewards(rewards[first:].mean(axis=0)).optimal().policy
        assert_close(history.values(), values)
        assert_close(history.regrets(), [m.value(best) for m in played] - np.array(values))


def test_episodes_and_epochs_are_counted(world):
    agent = learner(world)
    assert agent.episodes == 0
    history = agent.learn(120)
    assert agent.episodes == 120
    assert history.epoch[0] == 1
    assert set(np.diff(history.epoch)) == {0, 1}
    assert history.steps.min() >= 1


def test_lengths_are_geometric(world):
    steps = learner(world, seed=1).learn(20_000).steps
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
