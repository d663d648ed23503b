"""Which spaces have features, and whether the wrappers that errors name do help."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces, wrappers
from reference.refusals import assert_refuses

from optimist.features import count_actions, default_name, features_named
from optimist.features.spaces import parts_of

BITS = spaces.MultiBinary(2)
GRID = spaces.MultiDiscrete([3, 4])
POINT = spaces.Box(0.0, 1.0, ())
SHIFTED = spaces.Discrete(3, start=1)
IMAGE = spaces.Box(0, 255, (8, 8, 3), np.uint8)
PAIR = spaces.Tuple([spaces.Discrete(3), spaces.Box(0.0, 1.0, (2,))])
NAMED = spaces.Dict({"place": spaces.Discrete(3), "speed": spaces.Box(0.0, 1.0, (1,))})


class Still(gymnasium.Env):
    """An environment of any spaces in which nothing happens."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        assert action in self.action_space
        return self.observation_space.sample(), 0.0, False, False, {}


def test_parts_follow_the_order_of_sorted_keys_and_their_starts():
    nested = spaces.Dict(
        b=spaces.MultiDiscrete([[2, 3], [4, 5]], start=np.array([[0, 1], [2, 3]])),
        a=spaces.Tuple([SHIFTED, BITS]),
    )
    parts = parts_of(nested)
    assert parts == ((1, 0, 0, 0, 1, 2, 3), (3, 2, 2, 2, 3, 4, 5))
    assert parts.combinations == 3 * 2 * 2 * 2 * 3 * 4 * 5
    for space in (IMAGE, POINT, PAIR, NAMED, spaces.Text(5), spaces.Tuple([]), None):
        assert parts_of(space) is None


def test_one_hot_features_tell_all_observations_apart():
    for space in (GRID, BITS, SHIFTED, spaces.Dict(x=GRID, y=spaces.Tuple([BITS, SHIFTED]))):
        assert default_name(space) == "onehot"
        phi = features_named("onehot", space, 2)
        assert phi.dim == 2 * parts_of(space).combinations
        space.seed(0)
        seen = {}
        for _ in range(300):
            x = space.sample()
            seen[repr(x)] = tuple(phi.in_blocks(x)[1].tolist())
            assert phi.all_actions(x).sum() == 2
        assert len(set(seen.values())) == len(seen)


def test_spaces_without_default_features_give_a_remedy():
    assert_refuses(
        default_name,
        (PAIR, TypeError, "holds real numbers: .*FlattenObservation.*StateFeatures.*'distinct'"),
        (NAMED, TypeError, "holds real numbers"),
        (POINT, TypeError, "holds real numbers"),
        (None, TypeError, "a space of Gymnasium; got None"),
    )
    large = spaces.MultiDiscrete([1000, 1000])
    for space in (IMAGE, spaces.Text(5), large, spaces.Tuple([IMAGE, BITS])):
        assert default_name(space) == "distinct"


def test_other_actions_are_refused():
    shifted, wrapper = spaces.Discrete(3, start=-1), r"gymnasium\.wrappers\."
    number = wrapper + "TransformAction can number its actions"
    assert_refuses(
        count_actions,
        (spaces.Box(-1.0, 1.0), TypeError, rf"got Box.*; {wrapper}DiscretizeAction makes"),
        (shifted, TypeError, r"numbered from 0; got Discrete.*lambda a: a \+ -1, gymna"),
        (GRID, TypeError, rf"got MultiDiscrete.*; {number}.*unravel_index"),
        (BITS, TypeError, rf"got MultiBinary.*; {number}"),
        (PAIR, TypeError, rf"got Tuple.*; {number}"),
        (4, TypeError, r"got 4; give a space of Gymnasium, such as env.action_space"),
    )
    assert type(count_actions(spaces.Discrete(4))) is int


def with_actions(function, n):
    """Wrap an environment so that it has n actions, which a function maps to its own."""
    return lambda env: wrappers.TransformAction(env, function, spaces.Discrete(n))


@pytest.mark.parametrize(
    ("space", "wrap"),
    [(space, wrappers.FlattenObservation) for space in (GRID, BITS, PAIR, NAMED, IMAGE, POINT)],
)
def test_the_wrappers_that_are_named_help_with_observations(space, wrap):
    env = wrap(Still(space, spaces.Discrete(2)))
    phi = features_named(default_name(env.observation_space), env.observation_space, 2)
    for observation in (env.reset()[0], env.step(1)[0]):
        assert phi.all_actions(observation).shape == (2, phi.dim)


@pytest.mark.parametrize(
    ("space", "wrap"),
    [
        (spaces.Box(-1.0, 1.0, (1,)), lambda env: wrappers.DiscretizeAction(env, 12)),
        (GRID, with_actions(lambda a: np.array(np.unravel_index(a, (3, 4))), 12)),
        (spaces.Discrete(12, start=1), with_actions(lambda a: a + 1, 12)),
    ],
)
def test_the_wrappers_that_are_named_help_with_actions(space, wrap):
    env = wrap(Still(spaces.Discrete(2), space))
    assert count_actions(env.action_space) == 12
    env.reset()
    for action in range(12):
        env.step(action)
