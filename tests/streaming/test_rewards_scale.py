"""Rewards of any range are those of the paper after an affine map, and termination is worth 0."""

from dataclasses import replace
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from reference.comparison import assert_close
from reference.environments import Episodic
from reference.refusals import assert_refuses
from reference.variants import variant

from optimist import RmaxRaviUcb, envs
from optimist.agents import VariantAgent
from optimist.core import Never, Sigmoid, Threshold
from optimist.envs.repeat import ActionRepeat
from optimist.envs.reward_scale import RewardScale, known_range
from optimist.errors import BadEnvironment

# The map itself.


def test_the_range_is_mapped_onto_what_the_paper_assumes():
    scale = RewardScale((-3.0, 5.0), r_max=2.0, gamma=0.9)
    assert [scale(r) for r in (-3.0, 1.0, 5.0)] == [0.0, 1.0, 2.0]
    assert scale.terminal == pytest.approx(0.75 * 10)
    plain = RewardScale(None, r_max=2.0, gamma=0.9)  # [0, R_max] stays as it is
    # Rounding is no reward outside.
    assert [plain(r) for r in (0.5, 2.0 + 1e-15, -1e-15)] == [0.5, 2.0, 0.0]
    own = RewardScale(None, r_max=1.0, gamma=0.5, own=lambda r: r**2)
    assert own(-0.5) == 0.25


def test_termination_is_worth_0_for_ever():
    assert RewardScale((-1.0, 0.0), 1.0, 0.99).terminal == pytest.approx(100)
    assert RewardScale((0.0, 1.0), 1.0, 0.99).terminal == 0.0
    assert RewardScale(None, 1.0, 0.99, own=lambda r: (r + 10) / 20).terminal == pytest.approx(50)
    with pytest.raises(BadEnvironment, match=r"terminated.* 0 is outside .*\[1, 2\]: widen"):
        _ = RewardScale((1.0, 2.0), 1.0, 0.99).terminal


REFUSED = [  # the range, a map of one's own, a reward, and what is said of it
    ((-1.0, 0.0), None, 3.0, r"paid 3, and \[-1, 0\] is declared: give low= and high="),
    (None, None, -1.0, r"paid -1, and \[0, 1\] is the range assumed"),
    (None, np.square, 2.0, r"reward_map made 4 of the reward 2, .* = \[0, 1\]"),
    (None, lambda r: np.nan, 2.0, "made nan of the reward 2"),
]
RANGES_THAT_ARE_NONE = [
    ((1.0, 1.0), ValueError, "low must be less than high; got 1 and 1"),
    ((1.0, 0.0), ValueError, "low must be less than high; got 1 and 0"),
    ((0.0, np.nan), ValueError, "high must be a finite number; got nan"),
    ((-np.inf, 0.0), ValueError, "low must be a finite number; got -inf"),
]


def test_rewards_outside_the_range_and_invalid_ranges_are_refused():
    for declared, own, reward, sentence in REFUSED:
        scale = RewardScale(declared, r_max=1.0, gamma=0.9, own=own)
        with pytest.raises(BadEnvironment, match=sentence):
            scale(reward)
    assert_refuses(lambda low_high: RewardScale(low_high, 1.0, 0.9), *RANGES_THAT_ARE_NONE)
    with pytest.raises(TypeError, match="low and high or reward_map, not both"):
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
    env = make()  # what is paid lies in the range
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(300):
        _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert low <= reward <= high
        if terminated or truncated:
            env.reset()


class Loop(Episodic):
    """A walk round six states that pays by state and action, and never terminates.

    Rewards are ``scale`` times those of a plain one, plus ``shift``.
    """

    n_states, n_actions = 6, 3
    table = np.random.default_rng(5).random((6, 3))

    def __init__(self, scale=1.0, shift=0.0, declared=None):
        self.scale, self.shift = scale, shift
        if declared is not None:
            self.reward_range = declared

    def start(self):
        return int(self.np_random.integers(6))

    def move(self, action):
        reward = self.table[self.x, action]
        self.x = int(self.x + action + self.np_random.integers(2)) % 6
        return self.scale * reward + self.shift, False, self.t == 8


def test_other_environments_whose_range_is_known_or_not():
    world = envs.SixArms(gamma=0.9)
    wrap = partial(ActionRepeat, times=4)
    hidden = gymnasium.make_vec("MountainCar-v0", 1, vectorization_mode="async", wrappers=[wrap])
    try:
        for env, expected in (
            (Loop(declared=(2.0, 3.0)), (0.0, 3.0)),  # and 0, for its end
            (Loop(declared=(-np.inf, np.inf)), None),
            (Loop(), None),
            (world.make(), (0.0, world.mdp.r.max())),
            (gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point"), (0, 1)),
            (gymnasium.wrappers.NormalizeReward(gymnasium.make("CartPole-v1")), None),
            (hidden, None),  # in a process of its own
        ):
            assert known_range(env) == expected, env
    finally:
        hidden.close()


def learner(env, config=None, **told):
    config = config or RmaxRaviUcb.Config().variant()
    return VariantAgent(env, config=config, seed=4, **{"gamma": 0.9, "geometric": False, **told})


def test_the_range_known_is_the_range_used():
    for given, used in (({}, (-100.0, 0.0)), ({"low": -200, "high": 50}, (-200.0, 50.0))):
        agent = learner(gymnasium.make("CliffWalking-v1"), **given)
        assert (agent.environment.low, agent.environment.high) == used
        agent.learn(1)
        kept, (low, high) = agent.transitions, used
        paid = set(np.round(kept.paid / kept.weight, 12))
        assert paid <= {round((r - low) / (high - low), 12) for r in (-1, -100)}
    with pytest.raises(TypeError, match="not both"):
        learner(Loop(), low=0, high=1, reward_map=float)


@pytest.mark.parametrize(
    ("scale", "shift", "r_max"),
    [(7.0, 0.0, 1.0), (1.0, -3.0, 5.0), (0.01, 20.0, 1.0), (30, -100, 5)],
)
def test_an_affine_map_of_rewards_that_never_end_changes_nothing(scale, shift, r_max):
    config = RmaxRaviUcb.Config(r_max=r_max).variant()
    plain = learner(Loop(), config, low=0.0, high=1.0)
    mapped = learner(Loop(scale, shift), config, low=shift, high=shift + scale)
    one, other = plain.learn(80), mapped.learn(80)
    np.testing.assert_array_equal(one.epoch, other.epoch)
    assert_close(scale * one.reward + shift * one.steps, other.reward, atol=1e-8)
    for column in ("optimistic_value", "sup_q", "bonus", "ascension"):
        assert_close(getattr(one, column), getattr(other, column), column)
    x = np.arange(6)
    assert_close(plain.policy.probabilities(x), mapped.policy.probabilities(x))


def test_r_max_rescales_values_and_no_more():
    """With bonuses in proportion and eta in inverse proportion, all values are twice as large."""
    config, doubled = variant(4.0), variant(2.0, 0.6, Sigmoid(2.0, 2.0), r_max=2.0)
    one, other = (learner(Loop(), c, low=0, high=1) for c in (config, doubled))
    for agent in (one, other):
        agent.learn(60)
    seen, twice = (agent.believe(np.arange(6)) for agent in (one, other))
    assert_close(2 * seen.value, twice.value)
    assert_close(seen.policy, twice.policy)


class TwoSteps(Episodic):
    """0, then 1, then the end; each step costs 1."""

    def move(self, action):
        self.x = 1
        return -1.0, self.t == 2, False


EXACT = variant(np.inf, 0.0, Never(), ridge=1e-9, updates=3)


def test_the_end_is_worth_what_0_is():
    """Where steps cost it is heaven: [-1, 0] becomes [0, 1], and V = gamma^k R_max H."""

    def own(reward):
        return {-1.0: 0.25, 0.0: 0.5}[reward]

    def known(x):
        return np.full((len(x), 2), -1.0)

    wider = {"low": -3, "high": 1}
    for r_max, told, pays, end in (
        (1.0, {"low": -1, "high": 0}, 0.0, 10.0),
        (4.0, {"low": -1, "high": 0}, 0.0, 40.0),
        (1.0, wider, 0.5, 7.5),
        (1.0, {**wider, "reward": known}, 0.5, 7.5),  # in the environment's units
        (1.0, {"gamma": 0.5, "reward_map": own}, 0.25, 1.0),
    ):
        agent = learner(TwoSteps(), replace(EXACT, r_max=r_max), **told)
        agent.learn(30)
        gamma = agent.environment.gamma
        V = [pays + gamma * end, pays + gamma * pays + gamma**2 * end]
        np.testing.assert_allclose(agent.believe([1, 0]).value, V, rtol=1e-6)
        assert agent.history.reward.tolist() == [-2.0] * 30  # in the environment's own units


def test_a_range_without_0_is_refused_when_an_episode_terminates():
    agent = learner(Loop(shift=5.0), low=5, high=6)
    agent.learn(20)  # none does
    agent = learner(TwoSteps(), low=-2, high=-0.5)
    with pytest.raises(BadEnvironment, match=r"terminated.* outside .*\[-2, -0.5\]: widen low and"):
        agent.learn(5)
    assert agent.episodes == 0
    assert agent.transitions.weight.size == 0
    np.testing.assert_array_equal(agent.diagnostics.b, 0.0)


# Rewards that are known.


def test_known_rewards_take_the_place_of_those_paid():
    """After every pair was tried often, both find the values of the MDP."""
    config = replace(EXACT, ascension=Threshold.after(30, 1e-9), updates=50)
    known = learner(Loop(), config, low=0, high=1, reward=lambda x: Loop.table[x])
    estimated = learner(Loop(), config, low=0, high=1)
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
    agent = learner(Loop(), low=0, high=1, reward=lambda x: np.zeros(len(x)))
    with pytest.raises(BadEnvironment, match=r"reward must have shape \(1, 3.*; got \(1,\)"):
        agent.learn(1)
    agent = learner(Loop(), low=0, high=1, reward=lambda x: np.full((len(x), 3), 2.0))
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
        agent = RmaxRaviUcb(env, "tiles:6", seed=0, gamma=0.95)
        assert (agent.environment.low, agent.environment.high) == (-5.0, 0.0)
        assert agent.learn(4).steps.max() <= 40


def test_a_bound_below_the_value_of_termination_is_refused():
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent = RmaxRaviUcb(lake, gamma=0.9, low=-1, high=1, v_max=1.0)  # 0 for ever is mapped to 5
    with pytest.raises(BadEnvironment, match=r"termination is worth 5 .* v_max = 1 bounds no"):
        agent.learn(50)
