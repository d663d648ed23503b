"""The public checks pass on everything that is shipped, and notice what is broken."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import optimist as opt
from optimist.agents import AGENTS
from optimist.envs import WORLDS
from optimist.features import OneHot, OneHotState, StateFeatures, StateOnly
from optimist.testing import check_agent, check_features, check_imitator, check_world

RIVER = opt.envs.RiverSwim(4, gamma=0.9)


@pytest.mark.parametrize("name", WORLDS)
def test_every_world(name):
    check_world(WORLDS[name]())


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent(name):
    check_agent(AGENTS[name], RIVER)


@pytest.mark.parametrize("player", [opt.Optimist.Config(), opt.RmaxRaviUcb.Config(ridge=0.01)])
def test_every_player_of_an_imitator(player):
    phi_r = StateOnly(OneHotState(4), 2)
    data = opt.imitation.FeatureDataset.from_policy(RIVER, RIVER.mdp.optimal().policy, phi_r)
    check_imitator(lambda mdp: opt.FraIL(mdp, data, K=30, seed=1, player=player), RIVER)


def notices(message, check, *given, **more):
    with pytest.raises(AssertionError, match=message):
        check(*given, **more)


def test_a_world_that_pays_something_else_is_noticed():
    @dataclass(frozen=True)
    class Moody(opt.envs.World):
        calls: ClassVar[list[int]] = []

        def build(self):
            self.calls.append(1)
            P, r = np.eye(2)[:, None], np.array([[0.1 * len(self.calls)], [0.0]])
            return opt.FiniteMDP(P, r, [1.0, 0.0], gamma=0.5)

    notices("the same MDP again", check_world, Moody())


def test_features_that_declare_too_much_are_noticed():
    class Wrong(StateFeatures):
        def __init__(self, bound, blocks, scale):
            super().__init__(dim=2, bound=bound, blocks=blocks)
            self.scale = scale

        def __call__(self, observations):
            x = np.asarray(observations)
            return self.scale * np.stack([np.ones_like(x), x], axis=-1)

    x = np.array([0.5, 1.0])
    check_features(Wrong(2.0, 1, 1.0), x)
    notices("bound must be at least 1.41421; got 1", check_features, Wrong(1.0, 1, 1.0), x)
    notices("must be finite", check_features, Wrong(2.0, 1, np.nan), x)
    notices("in one of 2 blocks only", check_features, Wrong(2.0, 2, 1.0), x)

    class Shifted(OneHot):
        def all_actions(self, states):
            return super().all_actions(states)[..., ::-1, :]

    notices(r"phi\(x, 0\) must be row 0", check_features, Shifted(3, 2), np.arange(3))


def test_an_agent_that_draws_from_elsewhere_is_noticed():
    class Restless(opt.Rmax):
        count = 0

        def __init__(self, world, features=None, *, seed=0, **given):
            Restless.count += 1
            super().__init__(world, features, seed=seed + Restless.count, **given)

    notices("one seed must give the same bytes twice", check_agent, Restless, RIVER)


def test_an_imitator_that_sees_the_rewards_is_noticed():
    notices("the learner sees them", check_imitator, lambda mdp: opt.Optimist(mdp, seed=1), RIVER)
