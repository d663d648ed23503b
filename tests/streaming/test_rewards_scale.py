"""Rewards of any range are those of the paper after an affine map, and termination is worth 0."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from optimist import Configuration, RmaxRaviUcb, envs
from optimist.core import Never, Sigmoid, Threshold
from optimist.envs.repeat import ActionRepeat
from optimist.envs.reward_scale import RewardScale, known_range
from optimist.errors import BadEnvironment

# The map itself.


def test_the_range_is_mapped_onto_what_the_paper_assumes():
    scale = RewardScale((-3.0, 5.0), r_max=2.0, gamma=0.9)
    assert [scale(r) for r in (-3.0, 1.0, 5.0)] == [0.0, 1.0, 2.0]
    assert scale.terminal == pytest.approx(0.75 * 10)
    assert RewardScale(None, r_max=2.0, gamma=0.9)(0.5) == 0.5  # [0, R_max] stays as it is


def test_rounding_is_no_reward_outside():
    scale = RewardScale((0.0, 1.0), r_max=1.0, gamma=0.9)
    assert scale(1.0 + 1e-15) == 1.0
    assert scale(-1e-15) == 0.0


def test_a_reward_outside_is_named_with_the_range():
    with pytest.raises(BadEnvironment, match=r"paid 3, and \[-1, 0\] is declared: give its rewar"):
        RewardScale((-1.0, 0.0), r_max=1.0, gamma=0.9)(3.0)
    with pytest.raises(BadEnvironment, match=r"paid -1, and \[0, 1\] is what is taken for granted"):
        RewardScale(None, r_max=1.0, gamma=0.9)(-1.0)


def test_ranges_that_are_none():
    for low, high in ((1.0, 1.0), (1.0, 0.0)):
        with pytest.raises(ValueError, match="must go from low to high"):
            RewardScale((low, high), r_max=1.0, gamma=0.9)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            RewardScale((0.0, bad), r_max=1.0, gamma=0.9)


def test_termination_is_worth_0_for_ever():
    assert RewardScale((-1.0, 0.0), 1.0, 0.99).terminal == pytest.approx(100)
    assert RewardScale((0.0, 1.0), 1.0, 0.99).terminal == 0.0
    assert RewardScale(None, 1.0, 0.99, own=lambda r: (r + 10) / 20).terminal == pytest.approx(50)
    with pytest.raises(BadEnvironment, match=r"terminated.* 0 is outside .*\[1, 2\]: widen"):
        _ = RewardScale((1.0, 2.0), 1.0, 0.99).terminal


def test_a_map_of_ones_own():
    scale = RewardScale(None, r_max=1.0, gamma=0.5, own=lambda r: r**2)
    assert scale(-0.5) == 0.25
    with pytest.raises(BadEnvironment, match=r"reward_map made 4 of the reward 2, .* = \[0, 1\]"):
        scale(2.0)
    with pytest.raises(BadEnvironment, match="made nan of the reward 2"):
        RewardScale(None, r_max=1.0, gamma=0.5, own=lambda r: np.nan)(2.0)
    with pytest.raises(TypeError, match="reward_range or reward_map, not both"):
        RewardScale((0.0, 1.0), r_max=1.0, gamma=0.5, own=float)


# What environments are known to pay.

TAXI = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"
RANGES = {
    "FrozenLake-v1": (0.0, 1.0),
    "CliffWalking-v1": (-100.0, 0.0),
    TAXI: (-10.0, 20.0),
    "MountainCar-v0": (-1.0, 0.0),
    "Acrobot-v1": (-1.0, 0.0),
    "CartPole-v1": (0.0, 1.0),
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges_that_are_known(name):
    def make():
        return gymnasium.make(name)

    low, high = RANGES[name]
    assert known_range(make()) == (low, high)
    assert known_range(ActionRepeat(make(), times=3)) == (3 * low, 3 * high)
    assert known_range(ActionRepeat(ActionRepeat(make(), 2), 2)) == (4 * low, 4 * high)
    assert known_range(SyncVectorEnv([make, make])) == (low, high)
    doubled = gymnasium.wrappers.TransformReward(make(), lambda r: 2 * r)
    assert known_range(doubled) is None
    assert known_range(gymnasium.wrappers.TimeLimit(doubled, 5)) is None
    assert known_range(ActionRepeat(doubled, 2)) is None


@pytest.mark.parametrize("name", RANGES)
def test_what_is_paid_lies_in_the_range_known(name):
    env = gymnasium.make(name)
    low, high = known_range(env)
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(300):
        _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert low <= reward <= high
        if terminated or truncated:
            env.reset()


def test_the_range_of_a_vector_of_its_own_kind():
    env = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point")
    assert known_range(env) == (0.0, 1.0)


def test_worlds_of_this_library_tell_their_range():
    world = envs.SixArms(gamma=0.9)
    low, high = known_range(world.make())
    assert low == 0.0
    assert high == world.mdp.r.max()


class Loop(gymnasium.Env):
    """A walk round six states that pays by state and action, and never terminates.

    Rewards are ``scale`` times those of a plain one, plus ``shift``.
    """

    observation_space, action_space = spaces.Discrete(6), spaces.Discrete(3)
    table = np.random.default_rng(5).random((6, 3))

    def __init__(self, scale=1.0, shift=0.0, reward_range=None):
        self.scale, self.shift = scale, shift
        if reward_range is not None:
            self.reward_range = reward_range

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.t = int(self.np_random.integers(6)), 0
        return self.x, {}

    def step(self, action):
        reward = self.table[self.x, action]
        self.x = int(self.x + action + self.np_random.integers(2)) % 6
        self.t += 1
        return self.x, self.scale * reward + self.shift, False, self.t == 8, {}


def test_an_environment_may_declare_its_range():
    assert known_range(Loop(reward_range=(2.0, 3.0))) == (0.0, 3.0)  # and 0, for its end
    assert known_range(Loop(reward_range=(-np.inf, np.inf))) is None
    assert known_range(Loop()) is None


def test_wrappers_that_change_rewards_hide_the_range():
    env = gymnasium.wrappers.NormalizeReward(gymnasium.make("CartPole-v1"))
    assert known_range(env) is None


def test_wrappers_within_processes_of_their_own_hide_the_range():
    wrap = partial(ActionRepeat, times=4)
    env = gymnasium.make_vec("MountainCar-v0", 1, vectorization_mode="async", wrappers=[wrap])
    try:
        assert known_range(env) in (None, (-4.0, 0.0))
    finally:
        env.close()


def learner(env, config=None, **terms):
    given = {"gamma": 0.9, "geometric": False, **terms}
    return RmaxRaviUcb(env, config=config or Configuration.practical(), seed=4, **given)


def test_the_range_known_is_the_range_used():
    for given, used in ((None, (-100.0, 0.0)), ((-200, 50), (-200.0, 50.0))):
        agent = learner(gymnasium.make("CliffWalking-v1"), reward_range=given)
        assert agent.terms["reward_range"] == used
        agent.learn(1)
        kept, (low, high) = agent.transitions, used
        paid = set(np.round(kept.paid / kept.weight, 12))
        assert paid <= {round((r - low) / (high - low), 12) for r in (-1, -100)}
    with pytest.raises(TypeError, match="not both"):
        learner(Loop(), reward_range=(0, 1), reward_map=float)


@pytest.mark.parametrize("scale_and_shift", [(7.0, 0.0), (1.0, -3.0), (0.01, 20.0), (30.0, -100.0)])
@pytest.mark.parametrize("r_max", [1.0, 5.0])
def test_an_affine_map_of_rewards_that_never_end_changes_nothing(scale_and_shift, r_max):
    scale, shift = scale_and_shift
    config = Configuration.practical(r_max=r_max)
    plain = learner(Loop(), config, reward_range=(0.0, 1.0))
    mapped = learner(Loop(scale, shift), config, reward_range=(shift, shift + scale))
    one, other = plain.learn(80), mapped.learn(80)
    np.testing.assert_array_equal(one.epoch, other.epoch)
    np.testing.assert_allclose(scale * one.reward + shift * one.steps, other.reward, atol=1e-8)
    for column in ("optimistic_value", "sup_q", "bonus", "ascension"):
        np.testing.assert_allclose(getattr(one, column), getattr(other, column), atol=1e-9)
    x = np.arange(6)
    np.testing.assert_allclose(
        plain.policy.probabilities(x), mapped.policy.probabilities(x), rtol=0, atol=1e-9
    )


def test_r_max_rescales_values_and_no_more():
    """With bonuses in proportion and eta in inverse proportion, all values are twice as large."""
    one = learner(Loop(), Configuration(4.0, 0.3, Sigmoid(4.0, 2.0)), reward_range=(0, 1))
    config = Configuration(2.0, 0.6, Sigmoid(2.0, 2.0), r_max=2.0)
    other = learner(Loop(), config, reward_range=(0, 1))
    for agent in (one, other):
        agent.learn(60)
    x = np.arange(6)
    np.testing.assert_allclose(2 * one.believe(x).value, other.believe(x).value, atol=1e-9)
    np.testing.assert_allclose(one.believe(x).policy, other.believe(x).policy, atol=1e-9)


class TwoSteps(gymnasium.Env):
    """0, then 1, then the end; each step costs 1."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2)
    cost = -1.0

    def reset(self, *, seed=None, options=None):
        self.x = 0
        return 0, {}

    def step(self, action):
        self.x += 1
        return min(self.x, 1), self.cost, self.x == 2, False, {}


EXACT = Configuration(np.inf, 0.0, Never(), ridge=1e-9, updates=3)


@pytest.mark.parametrize("r_max", [1.0, 4.0])
def test_where_steps_cost_the_end_is_heaven(r_max):
    """[-1, 0] becomes [0, 1]: steps pay 0, the end pays 1 for ever, and V = gamma^k R_max H."""
    config = Configuration(np.inf, 0.0, Never(), ridge=1e-9, updates=3, r_max=r_max)
    agent = learner(TwoSteps(), config, gamma=0.9, reward_range=(-1, 0))
    agent.learn(30)
    np.testing.assert_allclose(
        agent.believe([1, 0]).value, r_max * 10 * 0.9 ** np.array([1, 2]), rtol=1e-6
    )


def test_in_a_wider_range_the_end_is_worth_what_0_is():
    agent = learner(TwoSteps(), EXACT, gamma=0.9, reward_range=(-3, 1))
    agent.learn(30)
    end = 10 * 0.75
    np.testing.assert_allclose(
        agent.believe([1, 0]).value, [0.5 + 0.9 * end, 0.95 + 0.81 * end], rtol=1e-6
    )


def test_a_range_without_0_is_refused_when_an_episode_terminates():
    agent = learner(Loop(shift=5.0), reward_range=(5, 6))
    agent.learn(20)  # none does
    agent = learner(TwoSteps(), reward_range=(-2, -0.5))
    with pytest.raises(
        BadEnvironment, match=r"terminated.* outside .*\[-2, -0.5\]: widen reward_r"
    ):
        agent.learn(5)
    assert agent.episodes == 0
    assert agent.transitions.weight.size == 0
    np.testing.assert_array_equal(agent.diagnostics.b, 0.0)


def test_a_reward_map_says_what_the_end_is_worth():
    def own(reward):
        return {-1.0: 0.25, 0.0: 0.5}[reward]

    agent = learner(TwoSteps(), EXACT, gamma=0.5, reward_map=own)
    agent.learn(30)
    end = 0.5 * 2
    np.testing.assert_allclose(
        agent.believe([1, 0]).value, [0.25 + 0.5 * end, 0.375 + 0.25 * end], rtol=1e-6
    )
    assert agent.history.reward.tolist() == [-2.0] * 30  # in the environment's own units


def test_a_reward_map_that_leaves_the_range_is_named():
    agent = learner(TwoSteps(), reward_map=lambda r: r)
    with pytest.raises(BadEnvironment, match="reward_map made -1 of the reward -1"):
        agent.learn(5)


# Rewards that are known.


def test_known_rewards_are_in_the_environments_units():
    agent = learner(
        TwoSteps(), EXACT, gamma=0.9, reward_range=(-3, 1),
        reward=lambda x: np.full((len(x), 2), -1.0),
    )  # fmt: skip
    agent.learn(30)
    end = 10 * 0.75
    np.testing.assert_allclose(
        agent.believe([1, 0]).value, [0.5 + 0.9 * end, 0.95 + 0.81 * end], rtol=1e-6
    )


def test_known_rewards_take_the_place_of_those_paid():
    """After every pair was tried often, both find the values of the MDP."""
    config = Configuration(np.inf, 0.0, Threshold.after(30, 1e-9), ridge=1e-9, updates=50)
    known = learner(Loop(), config, reward_range=(0, 1), reward=lambda x: Loop.table[x])
    estimated = learner(Loop(), config, reward_range=(0, 1))
    x = np.arange(6)
    V = np.zeros(6)
    for _ in range(300):
        P = np.array([[(V[(y + a) % 6] + V[(y + a + 1) % 6]) / 2 for a in range(3)] for y in x])
        V = (Loop.table + 0.9 * P).max(axis=1)
    for agent in (known, estimated):
        agent.learn(200)
        assert agent.believe(x).visits.min() >= 30
        np.testing.assert_allclose(agent.believe(x).value, V, rtol=0.05)
    assert not known.transitions.paid.any()
    assert estimated.transitions.paid.any()


def test_known_rewards_have_to_be_of_all_actions_and_in_the_range():
    agent = learner(Loop(), reward_range=(0, 1), reward=lambda x: np.zeros(len(x)))
    with pytest.raises(BadEnvironment, match=r"reward has shape \(1,\); it must have shape \(1, 3"):
        agent.learn(1)
    agent = learner(Loop(), reward_range=(0, 1), reward=lambda x: np.full((len(x), 3), 2.0))
    with pytest.raises(BadEnvironment, match=r"2, and \[0, 1\] is declared"):
        agent.learn(1)


# Action repeat.


def test_a_repeated_action_pays_the_sum_and_ends_with_the_episode():
    env = ActionRepeat(gymnasium.make("MountainCar-v0", max_episode_steps=10), times=4)
    env.reset(seed=0)
    steps = [env.step(1) for _ in range(3)]
    assert [s[1] for s in steps] == [-4.0, -4.0, -2.0]
    assert [s[3] for s in steps] == [False, False, True]
    for bad in (0, 1.5):
        with pytest.raises((ValueError, TypeError), match="times"):
            ActionRepeat(gymnasium.make("MountainCar-v0"), times=bad)


def test_repeated_actions_are_learnt_with():
    def make():
        return ActionRepeat(gymnasium.make("MountainCar-v0"), times=5)

    for env in (make(), SyncVectorEnv([make, make], autoreset_mode=AutoresetMode.SAME_STEP)):
        agent = RmaxRaviUcb(env, "tiles:6", Configuration.practical(), seed=0, gamma=0.95)
        assert agent.terms["reward_range"] == (-5.0, 0.0)
        assert agent.learn(4).steps.max() <= 40
