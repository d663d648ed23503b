"""A world of a user's own: a frozen dataclass with one method to write."""

from dataclasses import asdict, dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference.refusals import assert_refuses

from optimist.envs import World
from optimist.features import OneHot
from optimist.mdp import FiniteMDP
from optimist.testing import check_world


@dataclass(frozen=True)
class Corridor(World):
    """Walk to the right, where the end pays."""

    n: int = 45
    gamma: float = 0.9

    def build(self):
        here = np.arange(self.n)
        P = np.stack([np.eye(self.n)[np.maximum(here - 1, 0)], np.eye(self.n, k=1)], axis=1)
        P[-1, 1, -1] = 1
        return FiniteMDP(P, np.eye(self.n)[:, [0, -1]] * [0, 1], np.eye(self.n)[0], self.gamma)


class Coin(World):
    """No parameters, hence no dataclass of its own."""

    def build(self):
        return FiniteMDP([[[0.5, 0.5]]] * 2, [[0], [1]], [1, 0], 0.5)


@dataclass(frozen=True)
class Paid(World):
    """One state that may pay anything, by r(x, a) or by r(x, a, x')."""

    reward: float | list

    def build(self):
        return FiniteMDP([[[0.5, 0.5]], [[0.0, 1.0]]], self.reward, [1, 0], 0.5)


def test_it_is_solved_played_and_looked_at():
    world = Corridor(45)
    assert repr(world) == "Corridor(n=45, gamma=0.9)"
    assert asdict(world) == {"n": 45, "gamma": 0.9}
    assert_allclose(world.mdp.optimal().value, 0.9**44 / 0.1, rtol=1e-10)
    assert isinstance(world.features, OneHot)
    env = world.make("ansi")
    env.reset(seed=0)
    for _ in range(21):
        state, reward, *_ = env.step(1)
    assert (state, reward) == (21, 0.0)
    assert env.render() == "." * 20 + "\n.@" + "." * 18 + "\n....."
    check_world(world)


def test_a_world_without_parameters_needs_no_decorator():
    assert Coin() == Coin()
    assert asdict(Coin()) == {}
    assert Coin().board == ("..",)
    # V(0) = (V(0) + V(1)) / 4 and V(1) = 1 + V(0), by hand.
    assert_allclose(Coin().mdp.optimal().V, [0.5, 1.5], rtol=1e-10)
    with pytest.raises(TypeError, match=r"abstract method.*build"):
        World()


def test_rewards_outside_the_unit_interval_are_refused():
    message = r"rewards of Paid must lie in \[0, 1\]; got \[{}, {}\]"
    assert_refuses(
        Paid,
        ([[-0.1], [0.5]], ValueError, message.format("-0.1", "0.5")),
        ([[0.0], [1.5]], ValueError, message.format("0.0", "1.5")),
        # The mean over next states is 0.5, but 2 can be paid.
        ([[[-1.0, 2.0]], [[0.0, 0.0]]], ValueError, message.format("-1.0", "2.0")),
    )
    # A transition that cannot happen is never paid.
    assert Paid([[[0.0, 1.0]], [[7.0, 1.0]]]).mdp.reward_range == (0.0, 1.0)
