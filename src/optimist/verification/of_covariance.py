"""Section 4.5 and Appendices B.5, F.2: epochs, the elliptical potential, and sums of bonuses."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from optimist.checks import FloatArray
from optimist.theory import bonuses, covariance, parameters
from optimist.verification.of_worlds import inner
from optimist.verification.run import RecordedRun
from optimist.verification.statement import Claim, Needs, Statements, at_most, join

STATEMENTS: Statements[RecordedRun] = Statements("Covariance, epochs, sums of bonuses")
add = STATEMENTS.add
with_unit_ridge = partial(add, applies=lambda run: run.ridge == 1)
on_E_L = partial(add, needs=Needs.CHANCE, applies=lambda run: run.event_L)


@add("lem:lmax", "Appendix B.6", needs=Needs.CHANCE)
def episodes_end(run: RecordedRun) -> Claim:
    """L_k <= L_max = H log(K / delta)"""
    return at_most(run.lengths, parameters.longest_episode(run.K, run.gamma, run.delta))


@add("lemma:number-epochs-bound", "Appendix F.2")
def few_epochs(run: RecordedRun) -> Claim:
    """E <= 1 + log2(det Lambda_T / det Lambda_1) <= 1 + d log2(1 + B^2 T / d) <= 5 d log(...)"""
    E, T = run.trace.epoch, run.recorded_so_far(1)
    by_determinant = 1 + (run.log_det_end - run.d * np.log(run.ridge)) / np.log(2)
    x = run.d * np.log(1 + run.B**2 * T / (run.ridge * run.d))
    enough = T >= 1  # the last step of the proof
    return join(
        at_most(E, by_determinant),
        at_most(by_determinant, 1 + x / np.log(2)),
        at_most((1 + x / np.log(2))[enough], 5 * x[enough]),
    )


@add("lem:det-elliptical-bound", "Appendix F.2")
def frozen_norms(run: RecordedRun) -> Claim:
    """||phi_t||^2 grows by max(1, det Lambda_t / det Lambda_{t_e}) at most, with Lambda_{t_e}^-1"""
    growth = np.exp(np.maximum(run.log_det - run.log_det_frozen[run.trace.at], 0))
    return at_most(_frozen_squares(run), growth * run.potentials)


@add("doubling", "Appendix B.5")
def doubling(run: RecordedRun) -> Claim:
    """within an epoch det Lambda_t <= 2 det Lambda_{t_e}"""
    return at_most(run.log_det, run.log_det_frozen[run.trace.at] + np.log(2))


@with_unit_ridge("lem:bound-elliptical-potential", "Appendix F.2")
def elliptical_potential(run: RecordedRun) -> Claim:
    """sum ||phi_t||^2 in Lambda_t^{-1}
    <= 2 B^2 log(det Lambda_T / det Lambda_1), over pairs seen
    """
    spent = run.recorded_so_far(run.potentials)
    return at_most(spent, covariance.elliptical_potential(run.log_det_end, run.B))


@with_unit_ridge("bonuses along the path", "Appendix B.5")
def bonuses_along_the_path(run: RecordedRun) -> Claim:
    """sum CB_k^2 <= 2 beta^2 sum ||phi_t||^2 <= 4 beta^2 B^2 log det Lambda_T, over pairs seen

    Also sum CB_k <= sqrt(T sum CB_k^2), by Cauchy and Schwarz.
    """
    squares = run.recorded_so_far(_frozen_squares(run))
    sums = run.recorded_so_far(np.sqrt(_frozen_squares(run)))
    potentials = run.recorded_so_far(run.potentials)
    return join(
        at_most(squares, 2 * potentials),
        at_most(2 * potentials, 2 * covariance.elliptical_potential(run.log_det_end, run.B)),
        at_most(sums, np.sqrt(run.recorded_so_far(1) * squares)),
    )


@with_unit_ridge("trace and determinant", "Appendix B.5")
def determinant(run: RecordedRun) -> Claim:
    """log det Lambda_T <= d log(1 + B^2 T / d)"""
    T = run.recorded_so_far(1)
    return at_most(run.log_det_end, parameters.log_determinant(T, run.d, run.B))


@on_E_L("lem:expectation-to-highprob", "Appendix B.5")
def from_paths_to_means(run: RecordedRun) -> Iterator[Claim]:
    """sum <mu(pi_k), f_k> <= 2 (1 - gamma) sum f_k(X_t, A_t) + 4 M log(2K / delta)^2, f = CB_{k-1}

    With the bonuses CB_{k-1}, since CB_k may depend on episode k itself.
    """
    first = run.beta * run.norms / np.sqrt(run.ridge)
    f = np.concatenate([first[None], run.trace.CB[:-1]])
    for power in (1, 2):
        played = run.in_episodes(f**power).sum()
        most = float(first.max()) ** power
        bound = bonuses.expectation_bound(played, most, run.K, run.gamma, run.delta)
        yield at_most(inner(run.mu, f**power).sum(), bound, trivial=run.K * most)


@on_E_L("lem:expected-bonuses-bound", "Section 4.5, mended")
def bonus_sums(run: RecordedRun) -> Claim | None:
    """sum <mu(pi_k), CB_k> <= 4 beta B (1 - gamma) / gamma sqrt(d T log(1 + B^2 T / d)) + ..."""
    if run.ridge != 1 or run.gamma == 0:
        return None
    given = (run.K, run.d, run.gamma, run.B, run.beta, run.delta)
    CB, largest = run.trace.CB, run.beta * run.B
    most = bonuses.bonus_sum(*given) + bonuses.bonus_sum_at_epoch_starts(*given)
    most_squares = bonuses.squared_bonus_sum(*given)
    most_squares += bonuses.squared_bonus_sum_at_epoch_starts(*given)
    return join(
        at_most(inner(run.mu, CB).sum(), most / run.gamma, trivial=run.K * largest),
        at_most(inner(run.mu, CB**2).sum(), most_squares / run.gamma, trivial=run.K * largest**2),
    )


def _frozen_squares(run: RecordedRun) -> FloatArray:
    """||phi_t||^2 in the norm of Lambda_{t_e}^{-1}, computed from the bonuses, [T]."""
    t = run.trace
    CB = t.CB.reshape(run.K, -1)[t.at, t.pairs]
    return np.asarray((CB / run.beta) ** 2)
