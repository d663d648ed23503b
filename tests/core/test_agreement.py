"""The engine computes what the pseudocode says, episode by episode."""

import numpy as np
import pytest

from optimist.agents import VariantAgent
from optimist.core import FixedBonus, Sequence, Sigmoid, Variant

EPISODES = 200

CONFIGURATIONS = {
    "plain": Variant(eta=1.0, bonus=FixedBonus(0.3), ascension=Sigmoid(4.0, 2.0)),
    "cautious": Variant(
        eta=0.01, bonus=FixedBonus(1.0), ascension=Sigmoid(1.0, 3.0), observe_last=True
    ),
    "busy": Variant(
        eta=3.0, bonus=FixedBonus(0.5), ascension=Sigmoid(8.0, 4.0), r_max=2.0, ridge=0.1, updates=3
    ),
    "bold": Variant(
        eta=300.0, bonus=FixedBonus(0.1), ascension=Sigmoid(18.0, 9.0), ridge=0.1, observe_last=True
    ),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_engine_agrees_with_the_pseudocode(setting, name, transcribe, follow):
    mdp, features = setting
    agent = VariantAgent(mdp, features, config=CONFIGURATIONS[name], seed=4)
    other = follow(agent, transcribe(agent, seed=4, logarithms=name == "bold"), EPISODES)
    assert 3 < other.e < EPISODES / 2  # both cases of the test for a new epoch occurred
    assert len(other.D) > EPISODES


def test_rewards_may_change_after_every_episode(setting, transcribe, follow):
    mdp, features = setting
    rewards = np.random.default_rng(2).random((80, *mdp.r.shape))
    config = CONFIGURATIONS["plain"]
    agent = VariantAgent(mdp, features, config=config, rewards=Sequence(rewards), seed=3)
    follow(agent, transcribe(agent, seed=3, rewards=rewards), 80)


def test_the_two_forms_of_the_transcription_agree(settings_by_name, transcribe):
    agent = VariantAgent(*settings_by_name["random"](), config=CONFIGURATIONS["busy"])
    printed, logs = transcribe(agent), transcribe(agent, logarithms=True)
    for _ in range(50):
        printed.episode()
        logs.episode()
    np.testing.assert_allclose(printed.V, logs.V, rtol=0, atol=1e-9)
    np.testing.assert_allclose(printed.pi, logs.pi, rtol=0, atol=1e-9)


def test_heaven_stays_worth_r_max_for_ever(setting, transcribe):
    """The engine need not carry heaven along: the pseudocode never changes its value."""
    agent = VariantAgent(*setting, config=CONFIGURATIONS["busy"])
    other = transcribe(agent)
    for _ in range(50):
        other.episode()
    np.testing.assert_allclose(other.V[-1], 2.0 * agent.mdp.horizon, rtol=1e-12)
    np.testing.assert_allclose(other.pi[-1], 1 / agent.mdp.n_actions, rtol=1e-12)


def test_the_first_episode_is_played_uniformly_and_expects_nothing(setting, plain):
    mdp, features = setting
    agent = VariantAgent(mdp, features, config=CONFIGURATIONS["plain"], seed=2, stride=1)
    history = agent.learn(1)
    pairs, _ = plain.Interaction(mdp, 2, False).episode(mdp.uniform_policy)
    assert history.steps[0] == len(pairs)
    np.testing.assert_array_equal(history.policies[0], mdp.uniform_policy)
    assert history.optimistic_value[0] == history.bonus[0] == history.ascension[0] == 0


def test_values_are_carried_over_into_a_new_epoch(settings_by_name, transcribe):
    """One update from V = 0 could not reach what a carried V reaches."""
    mdp, features = settings_by_name["random"]()
    config = Variant(eta=1.0, bonus=FixedBonus(0.0), ascension=Sigmoid(1.0, 30.0))
    agent = VariantAgent(mdp, features, config=config)
    history = agent.learn(EPISODES)
    first_of_epoch = np.flatnonzero(np.diff(history.epoch) > 0)[3:] + 1
    assert first_of_epoch.size > 3
    assert (history.sup_q[first_of_epoch] > 1.5).all()  # V = 0 would give max r at most
    assert mdp.r.max() <= 1


def test_the_statistics_are_those_of_all_data(setting, transcribe, follow):
    agent = VariantAgent(*setting, config=CONFIGURATIONS["busy"], seed=1)
    other = follow(agent, transcribe(agent, seed=1), 60)
    found = agent.diagnostics
    blocks, size, _ = found.Lambda.shape
    full = np.zeros((blocks * size, blocks * size))
    for b in range(blocks):
        part = slice(b * size, (b + 1) * size)
        full[part, part] = found.Lambda[b]
    np.testing.assert_allclose(full, other.Lambda, rtol=0, atol=1e-9)
    expected = np.linalg.slogdet(other.Lambda)[1]
    np.testing.assert_allclose(found.log_det, expected, rtol=0, atol=1e-9)
    b = agent.mdp.gamma * sum(other.Phi[x, a] * found.V[y] for x, a, y in other.D)
    np.testing.assert_allclose(found.b, b, rtol=0, atol=1e-9)
    assert agent.steps == sum(agent.history.steps)
