"""Each chooser's arithmetic, and what learners make of wrong answers."""

import numpy as np
import pytest
from reference.variants import variant

from optimist.agents import Optimist
from optimist.core import Adversary, Drifting, Fixed, Sequence, Switching
from optimist.core.rewards import FOR_EVER


@pytest.fixture
def candidates(mdp):
    return np.random.default_rng(4).random((3, *mdp.r.shape))


def test_a_sequence_is_followed_and_fixed_rewards_stay(mdp, candidates):
    chooser = Sequence(candidates)
    for episode in (2, 0, 1):
        r, hold = chooser.choose(episode, mdp.uniform_policy)
        np.testing.assert_array_equal(r, candidates[episode])
        assert hold == 1
    with pytest.raises(ValueError, match="there are rewards for 3 episodes, not for more"):
        chooser.choose(3, mdp.uniform_policy)
    for episode in (0, 1, 10**9):
        r, hold = Fixed(mdp.r).choose(episode, mdp.uniform_policy)
        np.testing.assert_array_equal(r, mdp.r)
        assert hold == FOR_EVER


@pytest.mark.parametrize("every", [1, 2, 5])
def test_switching_takes_turns(mdp, candidates, every):
    chooser = Switching(candidates, every)
    turns = np.arange(40) // every % 3
    for k in range(30):
        r, hold = chooser.choose(k, mdp.uniform_policy)
        np.testing.assert_array_equal(r, candidates[turns[k]])
        assert 1 <= hold <= every
        assert (turns[k : k + hold] == turns[k]).all()


def test_drifting_goes_straight_and_stays(mdp, candidates):
    chooser = Drifting(candidates[0], candidates[1], episodes=8)
    told = [chooser.choose(k, mdp.uniform_policy) for k in range(12)]
    np.testing.assert_array_equal(told[0][0], candidates[0])
    share = np.arange(9)[:, None, None] / 8
    expected = (1 - share) * candidates[0] + share * candidates[1]
    np.testing.assert_allclose([r for r, _ in told[:9]], expected, rtol=0, atol=1e-15)
    assert [hold for _, hold in told[:8]] == [1] * 8
    for r, hold in told[8:]:
        np.testing.assert_array_equal(r, candidates[1])
        assert hold == FOR_EVER


def test_the_adversary_picks_what_pays_the_policy_least(mdp, candidates):
    rng = np.random.default_rng(0)
    chooser, picked = Adversary(mdp, candidates, every=4), set()
    for episode in range(60):
        policy = rng.dirichlet(np.full(3, 0.2), size=6)
        values = [mdp.with_rewards(r).value(policy) for r in candidates]
        r, hold = chooser.choose(episode, policy)
        worst = int(np.argmin(values))
        np.testing.assert_array_equal(r, candidates[worst])
        assert hold == 4
        picked.add(worst)
    assert len(picked) > 1
    assert Adversary(mdp, candidates).choose(0, policy)[1] == 1  # it chooses anew by default


def test_turns_of_no_length_are_refused(mdp, candidates):
    for wrong in (0, -1):
        for name, make in (
            ("every", lambda n: Switching(candidates, n)),
            ("every", lambda n: Adversary(mdp, candidates, n)),
            ("episodes", lambda n: Drifting(candidates[0], candidates[1], n)),
        ):
            with pytest.raises(ValueError, match=rf"{name} must be at least 1"):
                make(wrong)
        agent = Optimist(mdp, rewards=Own(mdp.r, wrong))
        with pytest.raises(ValueError, match="episodes"):
            agent.learn(5)


def test_a_sequence_that_runs_out_keeps_what_was_learnt(setting, make, same):
    mdp, _ = setting
    r = np.random.default_rng(0).random((20, *mdp.r.shape))
    agent = make(setting, rewards=Sequence(r), stride=1)
    with pytest.raises(ValueError, match="there are rewards for 20 episodes, not for more"):
        agent.learn(30)
    same(agent, make(setting, rewards=Sequence(r), stride=1, episodes=20))
    assert agent.history.regrets().shape == (20,)
    agent.rewards = Fixed(r[0])
    assert agent.learn(5).steps.size == 5


@pytest.mark.parametrize(
    ("r_max", "wrong", "said"),
    [
        (1.0, -0.1, r"rewards\[4, 1\] must be in \[0, r_max\] = \[0, 1\]; got -0.1"),
        (2.5, 2.6, r"rewards\[4, 1\] must be in \[0, r_max\] = \[0, 2.5\]; got 2.6"),
        (1.0, np.nan, r"rewards\[4, 1\] must be a finite number; got nan"),
        (1.0, np.inf, r"rewards\[4, 1\] must be a finite number; got inf"),
    ],
)
def test_wrong_rewards_are_named(mdp, make, r_max, wrong, said):
    r = np.random.default_rng(0).random((20, *mdp.r.shape))
    r[12, 4, 1] = wrong
    agent = make((mdp, None), variant(r_max=r_max), rewards=Sequence(r))
    with pytest.raises(ValueError, match=said):
        agent.learn(20)
    assert agent.episodes == 12
    assert len(agent.history.rewards) == 12


def test_rewards_of_a_wrong_shape(mdp):
    for shape in [(6,), (3, 6), (6, 2), (1, 6, 3), ()]:
        agent = Optimist(mdp, rewards=Fixed(np.zeros(shape)))
        with pytest.raises(ValueError, match=r"rewards must have shape \(6, 3\)"):
            agent.learn(1)
        assert agent.episodes == 0


def test_rounding_at_the_ends_of_the_range_is_forgiven(mdp):
    r = np.zeros((6, 3))
    r[0], r[1] = 1 + 1e-15, -1e-15
    assert Optimist(mdp, rewards=Fixed(r)).learn(5).steps.size == 5


class Own:
    """A chooser of a user's own, whose rewards hold for a number of episodes."""

    def __init__(self, r, hold):
        self.r, self.hold, self.asked = r, hold, []

    def choose(self, episode, policy):
        assert len(self.asked) < 50, "asked for ever"
        self.asked.append(episode)
        np.testing.assert_allclose(policy.sum(axis=1), 1)
        return self.r, self.hold


def test_a_chooser_is_asked_when_its_rewards_have_run_out_and_not_before(setting, make, same):
    choosers = [Own(setting[0].r, 7) for _ in range(2)]
    whole = make(setting, rewards=choosers[0], episodes=40)
    parts = make(setting, rewards=choosers[1])
    for episodes in (3, 3, 10, 24):
        parts.learn(episodes)
    assert choosers[0].asked == [0, 7, 14, 21, 28, 35]
    assert choosers[1].asked == choosers[0].asked
    same(whole, parts)


def test_rewards_that_a_chooser_changes_in_place_are_noticed(mdp):
    chooser = Own(np.zeros((6, 3)), 1)
    agent = Optimist(mdp, rewards=chooser)
    agent.learn(3)
    chooser.r += 0.5
    agent.learn(2)
    np.testing.assert_array_equal(agent.history.chosen, [0, 0, 0, 1, 1])
    assert agent.history.rewards[0].max() == 0
    assert agent.history.rewards[1].min() == 0.5
