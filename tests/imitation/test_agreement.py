"""The engine computes what Algorithm 2 says, episode by episode."""

from dataclasses import replace

import numpy as np
import pytest
from reference import algorithm_2 as plain
from reference.comparison import assert_close, assert_same_episode

from optimist import RmaxRaviUcb
from optimist.imitation import Ball, Box, FraIL, FraILConfig, Simplex

EPISODES = 120

PLAYER = RmaxRaviUcb.Config(0.3, 1.0, 4.0, 2.0, ridge=0.01, updates=1)
BUSY = RmaxRaviUcb.Config(0.5, 3.0, 8.0, 4.0, ridge=0.01, updates=3)
CONFIGURATIONS = {
    "ball": FraILConfig(Ball(0.7), PLAYER),
    "box": FraILConfig(Box(-0.5, 1.0), BUSY),
    "simplex": FraILConfig(Simplex(2.0), replace(PLAYER, ridge=1.0)),
}


def transcribed(il):
    """The transcription of an imitator that has not played yet."""
    weights, c, x = il.config.weights, il.variant, np.arange(il.mdp.n_states)
    project = {
        "Ball": lambda w: plain.project_ball(w, weights.radius),
        "Box": lambda w: plain.project_box(w, weights.low, weights.high),
        "Simplex": lambda w: plain.project_simplex(w, weights.total),
    }[type(weights).__name__]
    Phi, Phi_r = (phi.all_actions(x) for phi in (il.features, il.reward_features))
    step = il.W_max / (il.reward_features.bound * np.sqrt(il.K))
    player = {name: getattr(c, name) for name in ("eta", "ridge", "updates")}
    player |= {"beta": c.bonus.beta, "alpha": c.ascension.alpha, "omega": c.ascension.omega}
    return plain.FraILTranscription(
        il.mdp, Phi, Phi_r, il.expert.mean, project, step, il.shift, il.R_max, il.config.fresh,
        seed=il.seed, **player,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "name", "fresh"),
    [
        ("states", "ball", False),
        ("states", "simplex", True),
        ("pairs", "box", True),
        ("pairs", "simplex", False),
        ("dense", "ball", True),
        ("dense", "box", False),
        ("both dense", "simplex", True),
        ("both dense", "ball", False),
        ("grid", "box", False),
        ("grid", "ball", True),
    ],
)
def test_the_engine_agrees_with_the_pseudocode(settings, setting, name, fresh):
    """All pairs of a setting or a class of weights with a way to draw occur."""
    mdp, phi_r, phi_P, expert = settings[setting]
    config = replace(CONFIGURATIONS[name], fresh=fresh)
    il = FraIL(mdp, expert, phi_r, phi_P, config=config, K=EPISODES, seed=8, stride=1)
    other, states, moved = transcribed(il), np.arange(mdp.n_states), 0
    Phi_r = il.reward_features.all_actions(states)
    for k in range(EPISODES):
        pi, before = other.state["pi"].copy(), other.w
        history = il.learn(1)
        other.episode()
        x, a = other.pair
        assert history.pairs[0] == x * mdp.n_actions + a
        assert history.rollouts[0] == other.rollout_steps
        assert_same_episode(history, il.diagnostics, other)
        assert_close(history.policies[0], pi, k)
        assert_close(history.weights[0], other.w, k)
        assert_close(il.last_reward_weights, other.w, k)
        assert_close(il.reward_weights, other.w_sum / (k + 1), k)
        assert_close(Phi_r @ il.last_reward_weights + il.shift, other.r[:-1], k)
        moved += not np.allclose(before, other.w)
    assert moved > 10
    assert 3 < other.e < EPISODES  # both cases of the test for a new epoch occurred
    assert_close(il.policy.probabilities(states), other.state["pi"])
