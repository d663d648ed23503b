"""Features in which the transitions are not linear can make values grow without bound."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from reference.environments import Episodic
from reference.variants import variant

from optimist import FraIL
from optimist.agents import VariantAgent
from optimist.core import Threshold
from optimist.errors import BadEnvironment, Diverged
from optimist.features import PerAction, StateFeatures, StateOnly
from optimist.imitation import FeatureDataset

STREAMING = variant(100.0, 0.01, Threshold.after(2, 1e-4), ridge=1e-4, updates=10)


class TwoStates(Episodic):
    """From the first state to the second, where the episode is cut off, or terminates, or stays."""

    n_actions = 1

    def __init__(self, ends=False, cut=True):
        self.ends, self.cut = ends, cut

    def move(self, action):
        self.x = 1
        return 1.0, self.ends, self.cut


class HalfAndOne(StateFeatures):
    """phi = 1/2 and 1: least squares doubles the value of what comes next (Tsitsiklis, Van Roy)."""

    def __init__(self, scale=1.0):
        super().__init__(dim=1, bound=1.0, blocks=1)
        self.table = scale * np.array([[0.5], [1.0]])

    def __call__(self, observations):
        return self.table[np.asarray(observations)]


def test_values_without_bound_are_refused_with_a_sentence():
    phi = PerAction(HalfAndOne(), n_actions=1)
    fixed = STREAMING  # nothing bounds its values
    agent = VariantAgent(TwoStates(), phi, config=fixed, gamma=0.99, geometric=False)
    with pytest.raises(Diverged, match=r"far above heaven, 100: transitions are not linear"):
        agent.learn(300)
    history = agent.history
    assert len(history.steps) == agent.episodes > 1
    assert np.isfinite(history.sup_q).all()
    assert np.isfinite(agent.policy.probabilities(np.arange(2))).all()


def test_a_bound_on_values_that_termination_is_above():
    config, told = replace(STREAMING, v_max=10.0), {"low": -1.0, "high": 1.0, "geometric": False}
    agent = VariantAgent(TwoStates(ends=True), config=config, gamma=0.99, **told)
    with pytest.raises(BadEnvironment, match=r"termination is worth 50 .* v_max = 10 bounds no"):
        agent.learn(1)
    assert agent.episodes == 0


def test_reward_features_keep_to_their_bound():
    expert = FeatureDataset(np.full((3, 1), 0.5))
    phi_r = StateOnly(HalfAndOne(scale=3.0), n_actions=1)
    il = FraIL(TwoStates(cut=False), expert, phi_r, PerAction(HalfAndOne(), 1), gamma=0.5)
    with pytest.raises(BadEnvironment, match=r"a row of norm (1\.5|3), above the bound B = 1"):
        il.learn(5)


def test_imitators_play_one_environment():
    env = gymnasium.vector.SyncVectorEnv(
        [TwoStates] * 2, autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED
    )
    expert = FeatureDataset(np.full((3, 2), 0.5))
    with pytest.raises(ValueError, match="FRA-IL plays one environment"):
        FraIL(env, expert, gamma=0.5)
