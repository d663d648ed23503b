"""The engine computes what Algorithm 2 says, episode by episode."""

from dataclasses import replace

import numpy as np
import pytest

from optimist import RmaxRaviUcb
from optimist.imitation import Ball, Box, FeatureDataset, FraIL, FraILConfig, Simplex

EPISODES = 120

CONFIGURATIONS = {
    "ball": FraILConfig(Ball(0.7), RmaxRaviUcb.Config(0.3, 1.0, 4.0, 2.0, ridge=0.01, updates=1)),
    "box": FraILConfig(
        Box(-0.5, 1.0), RmaxRaviUcb.Config(0.5, 3.0, 8.0, 4.0, ridge=0.01, updates=3)
    ),
    "simplex": FraILConfig(Simplex(2.0), RmaxRaviUcb.Config(0.3, 1.0, 4.0, 2.0, updates=1)),
}


def transcribed(plain, il, seed):
    """The transcription of an imitator that has not played yet."""
    weights, c, x = il.config.weights, il.variant, np.arange(il.mdp.n_states)
    project = {
        "Ball": lambda w: plain.project_ball(w, weights.radius),
        "Box": lambda w: plain.project_box(w, weights.low, weights.high),
        "Simplex": lambda w: plain.project_simplex(w, weights.total),
    }[type(weights).__name__]
    return plain.FraILTranscription(
        il.mdp,
        il.features.all_actions(x),
        il.reward_features.all_actions(x),
        il.expert.mean,
        project,
        step=il.W_max / (il.reward_features.bound * np.sqrt(il.K)),
        shift=il.shift,
        R_max=il.R_max,
        fresh=il.config.fresh,
        eta=c.eta,
        beta=c.bonus.beta,
        alpha=c.ascension.alpha,
        omega=c.ascension.omega,
        ridge=c.ridge,
        updates=c.updates,
        seed=seed,
    )


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
def test_the_engine_agrees_with_the_pseudocode(settings, setting, name, fresh, plain):
    """All pairs of a setting or a class of weights with a way to draw occur."""
    mdp, phi_r, phi_P, expert = settings[setting]
    config = replace(CONFIGURATIONS[name], fresh=fresh)
    il = FraIL(mdp, expert, phi_r, phi_P, config=config, K=EPISODES, seed=8, stride=1)
    other = transcribed(plain, il, seed=8)
    Phi_r = il.reward_features.all_actions(np.arange(mdp.n_states))
    moved = 0
    for k in range(EPISODES):
        pi, before = other.pi.copy(), other.w
        history = il.learn(1)
        other.episode()
        x, a = other.pair
        assert history.steps[0] == other.steps
        assert history.pairs[0] == x * mdp.n_actions + a
        assert history.rollouts[0] == other.rollout_steps
        assert history.epoch[0] == other.e

        def close(actual, expected, k=k):
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9, err_msg=f"at {k}")

        close(history.policies[0], pi[:-1])
        close(history.weights[0], other.w)
        close(il.last_reward_weights, other.w)
        close(il.reward_weights, other.w_sum / (k + 1))
        close(Phi_r @ il.last_reward_weights + il.shift, other.r[:-1])
        close(il.diagnostics.V, other.V[:-1])
        close(il.diagnostics.pi, other.pi[:-1])
        close(history.sup_q[0], other.sup_q)
        moved += not np.allclose(before, other.w)
    assert moved > 10
    assert 3 < other.e < EPISODES  # both cases of the test for a new epoch occurred
    states = np.arange(mdp.n_states)
    np.testing.assert_allclose(il.policy.probabilities(states), other.pi[:-1], rtol=0, atol=1e-9)


def test_one_call_is_as_good_as_many(settings):
    for mdp, phi_r, phi_P, _ in settings.values():
        rng = np.random.default_rng(0)
        expert = FeatureDataset.from_rollouts(mdp, mdp.uniform_policy, phi_r, 30, rng)
        at_once, in_turn = (
            FraIL(mdp, expert, phi_r, phi_P, K=40, seed=1, stride=3) for _ in range(2)
        )
        at_once.learn(40)
        for _ in range(40):
            in_turn.learn(1)
        for name in ("pairs", "weights", "policies", "sup_q"):
            a, b = getattr(at_once.history, name), getattr(in_turn.history, name)
            np.testing.assert_array_equal(a, b)
