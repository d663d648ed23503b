"""Section 4.3 and Appendix B.7: the regret in the augmented worlds, and the main theorem."""

import numpy as np

from optimist.checks import FloatArray
from optimist.theory import regret as bounds
from optimist.verification.of_worlds import divergence, inner
from optimist.verification.run import Run
from optimist.verification.statement import Comparison, Needs, Statements, at_most

STATEMENTS: Statements[Run] = Statements("Regret")
add = STATEMENTS.add
WHERE = "Appendix B.3"


@add("policies move slowly", WHERE, "KL(pi_{k+1} || pi_k)(x) <= 2 eta^2 ||Q_{k+1}||^2")
def slow_policies(run: Run) -> Comparison:
    t = run.trace
    sup = np.abs(t.Q).max(axis=(1, 2))[:, None]
    return at_most(divergence(t.log_after, t.log_before), 2 * (run.eta * sup) ** 2)


@add("Delta*", WHERE, "sum of Delta*_k <= E log A / eta + 2 E Q_max", Needs.VALID_BONUSES)
def comparator(run: Run) -> Comparison | None:
    if not run.one_update:
        return None
    earned = earned_plus(run, run.mu_plus_best)
    E = run.trace.epoch
    most = E * np.log(run.n_actions) / run.eta + 2 * E * run.Q_max
    return at_most(np.cumsum(earned - expected(run)), most)


@add(
    "Delta",
    WHERE,
    "sum of Delta_k <= 2 Q_max E + 2 Q_max^2 eta K sqrt(H) + 2 sum <mu(pi_k), (1 - p_k+) CB_k>",
    Needs.VALID_BONUSES,
)
def learner(run: Run) -> Comparison | None:
    if not run.one_update:
        return None
    k = np.arange(1, run.K + 1)
    most = 2 * run.Q_max * run.trace.epoch + 2 * run.Q_max**2 * run.eta * k * np.sqrt(run.H)
    most = most + 2 * np.cumsum(run.bonus_sums)
    return at_most(np.cumsum(expected(run) - earned_plus(run, run.mu_plus_played)), most)


@add(
    "lem:bound-regret-plus",
    "Section 4.3",
    "regret+_K <= E log A / eta + 4 Q_max E + 2 Q_max^2 eta K sqrt(H) + 2 sum <mu, (1 - p+) CB>",
    Needs.VALID_BONUSES,
)
def regret_plus(run: Run) -> Comparison | None:
    if not run.one_update:
        return None
    return at_most(np.cumsum(run.parts.regret_plus), regret_plus_bound(run))


@add(
    "thm:main-full, first display",
    "Appendix B.7",
    "regret_K / H <= 2 R_max H sum <mu(pi_k), p_k+> + the bound on regret+_K",
    Needs.VALID_BONUSES,
)
def first_display(run: Run) -> Comparison | None:
    if not run.one_update:
        return None
    ascended = np.cumsum(inner(run.mu, run.trace.p))
    most = 2 * run.R_max * run.H * ascended + regret_plus_bound(run)
    return at_most((1 - run.gamma) * np.cumsum(run.regret), most)


@add("thm:main-full", "Appendix B.7", "regret_K <= the bound with all its constants", Needs.THEOREM)
def main_theorem(run: Run) -> Comparison | None:
    if not run.theorem:
        return None
    bound = bounds.regret_bound(
        K=run.K,
        d=run.d,
        n_actions=run.n_actions,
        gamma=run.gamma,
        B=run.B,
        W_max=run.W_max,
        R_max=run.R_max,
        delta=run.delta,
    )
    return at_most(run.regret.sum(), bound.total)


def regret_plus_bound(run: Run) -> FloatArray:
    """The bound of Lemma bound-regret-plus after each episode, [K]."""
    return np.asarray(
        bounds.augmented_regret_bound(
            K=np.arange(1, run.K + 1),
            epochs=run.trace.epoch,
            eta=run.eta,
            Q_max=run.Q_max,
            bonus_sum=np.cumsum(run.bonus_sums),
            n_actions=run.n_actions,
            gamma=run.gamma,
        )
    )


def expected(run: Run) -> FloatArray:
    """(1 - gamma) <nu_0, V_k>: what the learner expects of an episode, [K]."""
    return np.asarray((1 - run.gamma) * run.trace.V @ run.trace.mdp.nu0)


def earned_plus(run: Run, mu: FloatArray) -> FloatArray:
    """<mu_k+, r_k+>, [K]; heaven pays R_max."""
    on_earth = inner(mu[:, :-1], run.r_plus_played)
    return np.asarray(on_earth + run.R_max * mu[:, -1].sum(axis=1))
