"""The rates side by side, the samples of imitation, and the table of Appendix C."""

import math
from functools import partial

import numpy as np

from optimist.imitation import IMITATORS
from optimist.theory import imitation, rates, regret, sample_complexity
from optimist.theory.literature import TABLE, Problem

LOG = math.log(8)

close = partial(np.testing.assert_allclose, rtol=1e-12, atol=0)


def test_the_rates_at_one_point():
    """H = 4, d = 3, A = 8."""
    close(rates.regret_in_abstract(100, 3, 0.75), math.sqrt(27 * 128 * 100))
    introduction = 4 * math.sqrt(27 * 100) + 4**1.75 * math.sqrt(3 * 100 * LOG)
    close(rates.regret_in_introduction(100, 3, 8, 0.75), introduction)
    theorem = math.sqrt(27 * 64 * 100) + math.sqrt(3 * 512 * 100 * LOG)
    close(rates.regret(100, 3, 8, 0.75), theorem)
    close(rates.episodes(0.1, 3, 8, 0.75), 100 * (64 * 27 + 512 * 3 * LOG))
    close(rates.steps(0.1, 3, 8, 0.75), 100 * (256 * 27 + 2048 * 3 * LOG))
    close(rates.samples_in_introduction(0.1, 3, 8, 0.75), 100 * (64 * 27 + 128 * 3 * LOG))
    close(rates.fra_il_episodes(0.1, 3, 8, 0.75), 100 * 27 * 512 * LOG)
    close(rates.fra_il_expert_samples(0.1, 0.75, 5.0), 100 * 25 * 16)
    close(rates.least_episodes(0.1, 3, 0.75), 100 * 3 * 16)


def test_which_follow_from_which():
    gamma, d = np.meshgrid([0.5, 0.99], [2, 50])
    A = np.where(d == 2, 3, 10)
    H, K, eps = 1 / (1 - gamma), 1e6, 0.01
    theorem = rates.regret(K, d, A, gamma)
    close(rates.regret_in_introduction(H * K, d, A, gamma), theorem)
    assert (theorem <= 2 * rates.regret_in_abstract(H * K, d, gamma)).all()  # log A <= d^2 here
    enough = rates.episodes(eps, d, A, gamma)
    average = rates.regret(enough, d, A, gamma) / enough
    assert ((eps <= average) & (average <= math.sqrt(2) * eps)).all()
    assert (enough <= 2 * rates.fra_il_episodes(eps, d, A, gamma)).all()  # log A >= 1 here
    introduction = rates.samples_in_introduction(eps, d, A, gamma)
    assert (introduction < enough).all()
    assert (introduction <= rates.steps(eps, d, A, gamma) / H).all()
    gain = rates.fra_il_episodes(eps, d, 3, gamma) / rates.least_episodes(eps, d, gamma)
    close(gain, d**2 * H**2.5 * math.log(3))  # what Section 5 says can be gained


def test_explicit_constants_have_the_rate_of_the_corollary():
    """Where the two leading terms are all there is, four times as many for half of epsilon."""
    sizes = {"d": 12, "n_actions": 2, "gamma": 0.9, "B": 1, "W_max": 1}
    for epsilon in (1e-6, 1e-9):
        plain = rates.episodes(epsilon, 12, 2, 0.9)
        explicit = sample_complexity.episodes_needed(epsilon, **sizes)
        log = math.log(explicit)
        assert (8 * 4) ** 2 * log**2 < explicit / plain < (8 * 2 * 8 * 20) ** 2 * log**4


def test_the_list_of_rates_says_what_the_functions_say():
    at = (0.1, 1000.0, 3, 8, 0.75, 5.0)
    names = {"d": 3, "H": 4.0, "T": 4000, "K": 1000, "A": 8, "W_max": 5, "eps": 0.1}
    assert len(rates.RATES) == 10
    for rate in rates.RATES:
        close(rate.at(*at), read(rate.formula, **names))


def read(formula, **names):
    """A formula as it is printed, worked out."""
    code = formula.replace("{", "(").replace("}", ")").replace("^", "**").replace("log A", "log(A)")
    out = []
    for token in code.split(" "):
        joins = out and out[-1][-1] not in "+/" and token[0] not in "+/"
        out.append(("* " if joins else "") + token)
    return eval(" ".join(out), {"sqrt": math.sqrt, "log": math.log, **names})


def test_the_table_of_the_literature_row_by_row():
    p = Problem(
        epsilon=0.1, H=4.0, d=3.0, n_states=7.0, n_actions=5.0, W_max=2.0, log_policies=11.0,
        log_values=13.0, log_rewards=17.0, log_models=19.0,
    )  # fmt: skip
    expected = {
        "Behavioural cloning": [(16 * 11 / 0.01, None), (16 * 7 / 0.1, None), (16 * 3 / 0.1, None)],
        "Mimic-MD": [(8 * 7 / 0.1, None)],
        "OAL": [(16 * 7 / 0.01, 256 * 49 * 5 / 0.01)],
        "MB-TAIL": [(8 * 7 / 0.1, 64 * 49 * 5 / 0.01)],
        "FAIL": [(256 * 24 / 0.01, 256 * 24 / 0.01)],
        "Mobile": [(16 * 17 / 0.01, 1024 * 19 / 0.01)],
        "OGAIL": [(64 * 9 / 0.01, 256 * 27 / 0.01)],
        "ILARL": [(3 * 16 / 0.01, 27 * 65536 / 0.0001)],
        "FRA-IL": [(4 * 16 / 0.01, 27 * 512 / 0.01)],
        "Lower bound": [(4 * 16 / 0.01, 3 * 16 / 0.01)],
    }
    assert len(TABLE) == 12
    for row in TABLE:
        expert, mdp = expected[row.algorithm].pop(0)
        close(row.expert(p), expert, rtol=1e-9)
        assert (row.mdp is None) == (mdp is None) == (row.mdp_formula == "-")
        if row.mdp is not None:
            close(row.mdp(p), mdp, rtol=1e-9)
    assert not any(expected.values())
    kinds = {row.algorithm: row.features_only for row in TABLE}
    assert [a for a, kind in kinds.items() if kind == "states"] == ["FAIL", "Mobile"]
    features = ["OGAIL", "ILARL", "FRA-IL", "Lower bound"]
    assert [a for a, kind in kinds.items() if kind == "yes"] == features


def test_every_row_has_its_learner():
    named = list(dict.fromkeys(row.learner for row in TABLE))
    assert named == [*IMITATORS, ""]  # in the same order
    assert [row.algorithm for row in TABLE if not row.learner] == ["Lower bound"]
    for row in TABLE[:-1]:
        learner = IMITATORS[row.learner]
        assert learner.plays == (row.mdp is not None), row.learner
        assert {"no": "pairs", "yes": "features"}.get(row.features_only, "states") == learner.sees
        assert learner.needs_deterministic == ("deterministic" in row.setting), row.learner
        assert learner.needs_kernel == ("known P" in row.setting), row.learner


def test_what_fra_il_needs_meets_its_guarantee():
    epsilon, d, A, gamma, B, W, R = 0.5, 6, 3, 0.8, 1.5, 2.0, 6.0
    needs = imitation.samples_needed(epsilon, d, A, gamma, B, W, R)
    K, H = needs.K, 5.0
    lost = 6 * needs.delta * H * R
    lost += 24 * H * W * B * math.sqrt(math.log(1 / needs.delta) / needs.tau_E)
    lost += 10 * H * (B * W + R) * math.sqrt(math.log(1 / needs.delta) / K)
    lost += regret.regret_bound(K, d, A, gamma, B, W, R, needs.delta).mended / K
    close(lost, epsilon, rtol=1e-6)
    close(needs.delta, imitation.delta_for(epsilon / 4, gamma, R, events=6))
    close(imitation.delta_for(0.3, 0.9, R_max=2.0), 0.3 * 0.1 / 6)
    K, tau_E = round(needs.K), math.ceil(needs.tau_E)
    rewards = imitation.reward_regret_bound(K, gamma, B, W, R, tau_E, needs.delta) / K
    assert 0.999 * epsilon / 4 < rewards < 1.001 * epsilon / 4  # nearly all of it is the expert's


def test_units_of_imitation():
    """Rewards times c: bounds times c."""
    for bound in (imitation.reward_regret_bound, imitation.reward_regret_bound_sharp):
        one, four = (bound(100, 0.9, 2.0, 3.0 * c, 5.0 * c, 40, 0.1) for c in (1, 4))
        close(four, 4 * one)
