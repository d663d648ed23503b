"""The paper's statements about any MDP, policies and ascension functions, to 1e-10."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference.mdps import draw_mdp, draw_policies

from optimist.mdp import FiniteMDP, augment, decompose_regret, with_heaven

SLACK = 1e-10


@dataclass(frozen=True)
class Case:
    mdp: FiniteMDP
    pi: np.ndarray
    other: np.ndarray
    p: np.ndarray
    r_max: float

    @property
    def up(self):
        return augment(self.mdp, self.p, self.r_max)


def draw(seed, n_states, n_actions, gamma, r_max, ascends):
    rng = np.random.default_rng(seed)
    mdp = draw_mdp(rng, n_states, n_actions, gamma)
    r = r_max * rng.choice([0, 1, rng.random()], size=mdp.r.shape)
    u = rng.random(mdp.r.shape)
    p = {
        "never": 0 * u,
        "rarely": 0.01 * u,
        "often": u,
        "always": 0 * u + 1,
        "here and there": rng.choice([0.0, 0.0, 0.5, 1.0], size=u.shape),
    }[ascends]
    return Case(mdp.with_rewards(r), *draw_policies(rng, 2, n_states, n_actions), p, r_max)


cases = st.builds(
    draw,
    seed=st.integers(0, 2**32 - 1),
    n_states=st.integers(1, 6),
    n_actions=st.integers(1, 4),
    gamma=st.sampled_from([0.0, 0.5, 0.9, 0.99, 0.999]) | st.floats(0, 0.999),
    r_max=st.sampled_from([1.0, 0.25, 3.0]),
    ascends=st.sampled_from(["never", "rarely", "often", "always", "here and there"]),
)


def over_cases(test):
    return settings(max_examples=100)(given(cases)(test))


def inner(mu, f):
    return float((mu * f).sum())


@over_cases
def test_proposition_flow(case):
    """E' mu = gamma P' mu + (1 - gamma) nu0, and mu is a distribution."""
    for mdp, pi in ((case.mdp, case.pi), (case.up, with_heaven(case.pi))):
        mu = mdp.occupancy(pi)
        inflow = mdp.gamma * mu.ravel() @ mdp.kernel + (1 - mdp.gamma) * mdp.nu0
        assert_allclose(mu.sum(axis=1), inflow, rtol=0, atol=SLACK)
        assert mu.min() >= -SLACK
        assert abs(mu.sum() - 1) <= SLACK


@over_cases
def test_lemma_mass_reduced(case):
    """mu+(pi) <= mu(pi) off heaven."""
    up_mu = case.up.occupancy(with_heaven(case.pi))[:-1]
    assert (up_mu <= case.mdp.occupancy(case.pi) + SLACK).all()


@over_cases
def test_augmented_values_are_optimistic(case):
    """V+ >= V and Q+ >= Q (Section 2.2); optimal values too."""
    up, pi = case.up, with_heaven(case.pi)
    most = case.r_max * up.horizon
    slack = max(SLACK, 1e-12 * most)  # values of 3,000 have no more digits
    assert (up.V(pi)[:-1] >= case.mdp.V(case.pi) - slack).all()
    assert (up.Q(pi)[:-1] >= case.mdp.Q(case.pi) - slack).all()
    assert (up.optimal().V[:-1] >= case.mdp.optimal().V - slack).all()
    assert up.V(pi).max() <= most + slack


@over_cases
def test_lemma_reward_bias_bound(case):
    """reward-bias <= R_max <mu(pi_k), p_k+>."""
    for star in (case.other, None):
        parts = decompose_regret(case.mdp, case.pi, case.p, case.r_max, comparator=star)
        assert parts.reward_bias[0] <= case.r_max * parts.mean_ascension[0] + SLACK


@over_cases
def test_lemma_model_bias_bounds(case):
    """0 <= model-bias <= R_max H <mu(pi), p+>; the coupling proof gives a further factor gamma."""
    parts = decompose_regret(case.mdp, case.pi, case.p, case.r_max, comparator=case.other)
    for pi, bias in (
        (case.pi, parts.model_bias_learner[0]),
        (case.other, parts.model_bias_comparator[0]),
    ):
        bound = case.r_max * case.mdp.horizon * inner(case.mdp.occupancy(pi), case.p)
        assert -SLACK <= bias <= case.mdp.gamma * bound + SLACK <= bound + SLACK


@over_cases
def test_model_bias_by_the_simulation_lemma(case):
    """model-bias = gamma <mu+, p+ (R_max H - P V)> with V of r+ in the original MDP."""
    mdp, up = case.mdp, case.up
    parts = decompose_regret(mdp, case.pi, case.p, case.r_max, comparator=case.other)
    PV = mdp.P @ mdp.with_rewards(up.r[:-1]).V(case.pi)
    up_mu = up.occupancy(with_heaven(case.pi))[:-1]
    bias = mdp.gamma * inner(up_mu, case.p * (case.r_max * mdp.horizon - PV))
    assert parts.model_bias_learner[0] == pytest.approx(bias, rel=0, abs=SLACK)


@over_cases
def test_lemma_from_ev_to_q(case):
    """<mu(pi), E V> = <mu(pi), Q> for any Q and V(x) = E_pi Q(x, A)."""
    Q = np.random.default_rng(0).normal(size=case.pi.shape)
    V = (case.pi * Q).sum(axis=1)
    mu = case.mdp.occupancy(case.pi)
    assert inner(mu, V[:, None]) == pytest.approx(inner(mu, Q), rel=0, abs=SLACK)


@over_cases
def test_performance_difference_lemma(case):
    """(1 - gamma) <nu0, V^pi - V^pi'> = <mu(pi), Q^pi' - E V^pi'>."""
    mdp = case.mdp
    gap = (1 - mdp.gamma) * (mdp.value(case.pi) - mdp.value(case.other))
    advantage = mdp.Q(case.other) - mdp.V(case.other)[:, None]
    assert gap == pytest.approx(inner(mdp.occupancy(case.pi), advantage), rel=0, abs=SLACK)


def kl(p, q):
    """KL(p || q) summed over the last axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 1e-14, p * np.log(p / q), 0).sum(axis=-1)


@over_cases
def test_lemma_ineq_kl_entropy(case):
    """KL(mu(pi) || mu(pi')) <= H <nu(pi), KL(pi || pi')>."""
    mdp, pi = case.mdp, case.pi
    other = 0.9 * case.other + 0.1 * pi  # so that both sides are finite
    mu, mu_other = mdp.occupancy(pi), mdp.occupancy(other)
    bound = mdp.horizon * mdp.state_occupancy(pi) @ kl(pi, other)
    assert kl(mu.ravel(), mu_other.ravel()) <= bound + SLACK


def test_the_lower_bound_of_the_alternative_proof_is_too_high():
    """With r = R_max the model bias is 0, so it is not at least R_max <mu+, p+>."""
    mdp = FiniteMDP([[[1.0]]], [[1.0]], [1.0], 0.5)
    parts = decompose_regret(mdp, [[1.0]], [[0.5]], r_max=1)
    up_mu = augment(mdp, [[0.5]]).occupancy(with_heaven([[1.0]]))
    assert parts.model_bias_learner[0] == pytest.approx(0, abs=1e-15)
    assert up_mu[0, 0] * 0.5 == pytest.approx(1 / 3, abs=1e-15)
