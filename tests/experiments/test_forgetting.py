"""Forgetting the history of a run bounds its memory and changes nothing that is learnt."""

import numpy as np
import pytest

from optimist import RmaxRaviUcb, envs
from optimist.agents.checkpoint import FILE
from optimist.core import Drifting, Switching

WORLD = envs.RandomLinear(3, 6, 2, gamma=0.8)
CONFIG = RmaxRaviUcb.Config(beta=0.3, eta=0.5, alpha=4.0, omega=2.0, updates=2)
TURNS = np.stack([WORLD.mdp.r, 1 - WORLD.mdp.r, np.full(WORLD.mdp.r.shape, 0.5)])

REWARDS = {
    "fixed": None,
    "switching": Switching(TURNS, every=7),
    "drifting": Drifting(TURNS[0], TURNS[1], episodes=50),
}
COLUMNS = ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension")
PARTS = (1, 12, 1, 30, 21, 5)


@pytest.fixture(params=REWARDS)
def rewards(request):
    return REWARDS[request.param]


def learner(rewards=None, stride=3):
    return RmaxRaviUcb(WORLD, config=CONFIG, rewards=rewards, seed=4, stride=stride)


def reloaded(agent, folder):
    agent.save(folder)
    return RmaxRaviUcb.load(folder, WORLD, rewards=agent.rewards)


def test_what_is_learnt_stays(rewards, state_of):
    whole, agent = learner(rewards), learner(rewards)
    history = whole.learn(sum(PARTS))
    agent.forget()  # before anything was learnt
    for episodes in PARTS:
        first = agent.episodes
        part = agent.learn(episodes)
        agent.forget()
        assert part.first == first
        for name in COLUMNS:
            expected = getattr(history, name)[first : first + episodes]
            np.testing.assert_array_equal(getattr(part, name), expected)
        here = (history.evaluated >= first) & (history.evaluated < first + episodes)
        np.testing.assert_array_equal(part.evaluated, history.evaluated[here])
        np.testing.assert_array_equal(part.policies, history.policies[here])
        np.testing.assert_array_equal(
            part.rewards[part.chosen], history.rewards[history.chosen][first : first + episodes]
        )
    assert state_of(agent) == state_of(whole)


def test_the_history_begins_after_what_was_forgotten(rewards):
    """Its values are those under the rewards of their own episodes."""
    agent, whole = learner(rewards), learner(rewards)
    everything = whole.learn(40)
    agent.learn(13)
    agent.forget()
    with pytest.raises(ValueError, match="it was forgotten"):
        _ = agent.history
    agent.learn(20)
    agent.learn(7)
    assert agent.history.first == 13
    np.testing.assert_array_equal(agent.history.steps, everything.steps[13:])
    np.testing.assert_array_equal(agent.history.table()["episode"], np.arange(13, 40))
    late = everything.evaluated >= 13
    np.testing.assert_allclose(agent.history.values(), everything.values()[late], atol=1e-12)
    agent.forget()
    agent.forget()
    agent.learn(1)
    assert agent.history.first == 40


def test_a_saved_learner_goes_on_bit_for_bit(rewards, tmp_path, state_of):
    """Saved right after forgetting, or some episodes later."""
    agent, steps = learner(rewards), 0
    assert agent.steps == 0
    for episodes, late in [(part, late) for late in (0, 9) for part in PARTS]:
        steps += agent.learn(episodes).steps.sum()
        agent.forget()
        if late:
            steps += agent.learn(late).steps.sum()
        again = reloaded(agent, tmp_path)
        assert state_of(again) == state_of(agent)
        assert again.steps == steps
        one, other = agent.learn(11), again.learn(11)
        steps += one.steps.sum()
        assert state_of(again) == state_of(agent)
        for part in ((one, other), (agent.history, again.history)):
            assert part[0].first == part[1].first
            for name in (*COLUMNS, "evaluated", "policies"):
                np.testing.assert_array_equal(getattr(part[0], name), getattr(part[1], name))
            np.testing.assert_array_equal(*(p.rewards[p.chosen] for p in part))
            np.testing.assert_array_equal(*(p.regrets() for p in part if len(p.evaluated)))


def test_memory_does_not_grow(rewards, tmp_path):
    agent, sizes = learner(rewards, stride=1), []
    for _ in range(4):
        agent.learn(100)
        agent.forget()
        agent.save(tmp_path)
        sizes.append((tmp_path / FILE).stat().st_size // 100)  # digits of counts aside
    assert len(set(sizes)) == 1
    agent.learn(100)
    agent.save(tmp_path)
    assert (tmp_path / FILE).stat().st_size > 2 * 100 * sizes[0]
