"""Every check can fail: a mutation of the run, of the analysis or of the world breaks each one."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from optimist.envs import RiverSwim
from optimist.imitation import ImitationHistory
from optimist.theory import ascension, concentration, parameters
from optimist.verification import RecordedRun, of_lower_bounds
from optimist.verification.of_confidence import play_proven
from optimist.verification.verify import OF_IMITATIONS, OF_NUMBERS, OF_PROVEN, OF_RUNS

CHECKS = {s.key: s.check for s in (*OF_RUNS, *OF_IMITATIONS, *OF_PROVEN, *OF_NUMBERS)}


def holds(key, subject=None):
    claim = CHECKS[key](subject)
    assert claim is not None
    assert claim.slack.size
    return not claim.broken.any()


def changed(run, **arrays):
    """The run with some arrays of its trace replaced."""
    return RecordedRun(replace(run.trace, **arrays), run.delta, run.theorem)


def reset(run, **parameters):
    """The run with other parameters written over those that it was made with."""
    return changed(run, config=replace(run.trace.config, **parameters))


def computed(run, **values):
    """The run with some derived quantities replaced."""
    other = RecordedRun(run.trace, run.delta, run.theorem)
    vars(other).update(values)
    return other


def reparted(run, **parts):
    return computed(run, parts=replace(run.parts, **parts))


def no_epochs(run):
    """The epoch rule skipped: all is one epoch, with the covariance of the first episode."""
    t = run.trace
    return changed(run, epoch=np.ones_like(t.epoch), frozen=t.frozen[:1])


def spoilt(array, where=0, by=1e-3):
    """One entry off by a little."""
    array = array.copy()
    array.flat[where] += by
    return array


MUTATIONS = {
    # Occupancies, augmented worlds and biases
    "eq:flow": lambda run: computed(run, mu=run.mu * run.gamma),
    "lem:from-ev-to-q": lambda run: computed(run, mu=run.trace.mdp.occupancy(run.best)[None]),
    "eq:regret": lambda run: computed(run, regret=run.gamma * run.regret),
    "sec:OAMDP": lambda run: reset(run, r_max=run.R_max / 2),
    "lem:mass-reduced": lambda run: changed(run, p=-run.trace.p),
    "eq:decomposition": lambda run: reparted(run, regret_plus=-run.parts.regret_plus),
    "lem:model-bias-bounds": lambda run: reparted(
        run, model_bias_learner=-run.parts.model_bias_learner
    ),
    # Algorithm 1
    "alg:covariance": lambda run: changed(run, pairs=run.trace.pairs[::-1]),
    "line-alg:epoch": no_epochs,
    "line-alg:bonuses": lambda run: changed(run, CB=run.trace.CB / 2),
    "line-alg:pplus": lambda run: changed(run, p=run.trace.p / 2),
    "line-alg:transf": lambda run: changed(run, V=run.trace.V / run.gamma),
    "alg:values": lambda run: changed(run, log_before=run.trace.log_after),
    "alg:policy": lambda run: changed(run, log_after=run.trace.log_before),
    "alg:order": lambda run: changed(run, V=spoilt(run.trace.V, -1)),
    "MN23 Lemma C.1": lambda run: changed(run, V_next=run.gamma * run.trace.V_next),
    "alg:play": lambda run: changed(run, cumulative=run.trace.cumulative[::-1]),
    "alg:draws": lambda run: changed(run, begins=run.trace.begins + 1),
    # Bonuses, values, ascension
    "Cauchy and Schwarz": lambda run: changed(run, CB=run.trace.CB / 2),
    "lem:iterates-in-class": lambda run: changed(run, V_next=2 * run.trace.V_next),
    "eq:validity-bonuses": lambda run: changed(run, CB=run.trace.CB / 2),
    "lem:bound-q, lower": lambda run: changed(run, Q=run.trace.Q - (1 - run.p) * run.CB),
    "lem:lse-lipschitz": lambda run: changed(run, V_next=2 * run.trace.V_next),
    "lem:sigmoid-bound2": lambda run: changed(run, p=run.trace.p / 2),
    # Covariance
    "lem:lmax": lambda run: computed(run, lengths=2 * run.lengths),
    "lemma:number-epochs-bound": lambda run: changed(run, epoch=2 * run.trace.epoch),
    "lem:det-elliptical-bound": lambda run: changed(run, CB=1.1 * run.trace.CB),
    "doubling": no_epochs,
    "lem:bound-elliptical-potential": lambda run: computed(run, potentials=2 * run.potentials),
    "bonuses along the path": lambda run: changed(run, CB=2 * run.trace.CB),
    "trace and determinant": lambda run: computed(run, log_det_end=2 * run.log_det_end),
    # Regret
    "regularised values": lambda run: reset(run, eta=2 * run.eta),
    "Delta*_k, flow": lambda run: computed(run, mu_plus_best=run.gamma * run.mu_plus_best),
    "Delta*_k": lambda run: changed(run, Q=run.trace.Q / 2),
    "epoch of the comparator": lambda run: changed(run, V_next=run.trace.V_next / 2),
    "Delta_k": lambda run: changed(run, Q=2 * run.trace.Q),
}


@pytest.mark.parametrize("key", MUTATIONS)
def test_a_mutated_run_breaks_it(key, valid):
    """Nothing is off by more than a factor of two."""
    assert holds(key, valid)
    assert not holds(key, MUTATIONS[key](valid))


ELSEWHERE = {
    "lem:reward-bias-bound": (
        "practice", lambda run: computed(changed(run, p=run.trace.p / 2), parts=run.parts)
    ),
    "lem:bound-q, upper": (
        "long", lambda run: changed(run, Q=run.trace.Q + (1 - run.p) * run.CB)
    ),
    "eq:validity-plus": ("long", lambda run: changed(run, CB=run.trace.CB / 2)),
    "lem:qmax": ("long", lambda run: changed(run, Q=2 * run.trace.Q)),
    "epochs of the learner": ("long", lambda run: changed(run, V=2 * run.trace.V)),
    "Delta": ("long", lambda run: changed(run, V=2 * run.trace.V)),
    "Delta*": ("bandit", lambda run: changed(run, V=run.trace.V / 2)),
    # All that can be lost is lost in every episode: that breaks these iff they are not vacuous.
    "lem:bound-regret-plus": (
        "long", lambda run: reparted(run, regret_plus=np.full(run.K, run.R_max))
    ),
    "thm:main-full, first display": (
        "long", lambda run: computed(run, regret=np.full(run.K, run.R_max * run.H))
    ),
    # So do bonuses that never shrink.
    "lem:expected-bonuses-bound": (
        "narrow",
        lambda run: changed(run, CB=np.broadcast_to(run.beta * run.norms, run.trace.CB.shape)),
    ),
    # What follows is loose by a constant factor in every run. A sum in the mean is compared with
    # twice that along the path, and a logarithm; p+ with twice its least.
    "lem:expectation-to-highprob": ("long", lambda run: computed(run, mu=4 * run.mu)),
    "lem:sigmoid-bound": ("timid", lambda run: changed(run, p=2.1 * run.trace.p)),
    # KL(pi_{k+1} || pi_k) is at most (eta range(Q))^2 / 8, and compared with 2 (eta ||Q||)^2.
    "policies move slowly": ("long", lambda run: reset(run, eta=run.eta / 8)),
    "drift": ("bandit", lambda run: reset(run, eta=run.eta / 16)),
    "drift, by Pinsker": ("bandit", lambda run: changed(run, Q=10 * run.trace.Q)),
}  # fmt: skip


@pytest.mark.parametrize("key", ELSEWHERE)
def test_it_can_fail_in_another_run(key, request):
    fixture, mutation = ELSEWHERE[key]
    run = request.getfixturevalue(fixture)
    assert holds(key, run)
    assert not CHECKS[key](run).vacuous
    assert not holds(key, mutation(run))


def test_the_main_theorem_is_vacuous_and_fails_above_its_bound(theorem):
    """No learner loses that much in so few episodes."""
    claim = CHECKS["thm:main-full"](theorem)
    assert holds("thm:main-full", theorem)
    assert claim.vacuous
    more = 1.01 * claim.larger[0] / theorem.regret.sum()
    assert not holds("thm:main-full", computed(theorem, regret=more * theorem.regret))


def test_half_of_a_beta_that_is_enough_for_the_regression_is_not(valid):
    assert holds("E_V,alg", reset(valid, beta=2 * valid.beta))
    assert not holds("E_V,alg", valid)


def test_without_its_gamma_the_simulation_lemma_is_wrong_as_in_the_paper(valid, monkeypatch):
    assert holds("eq:hope-decomp", valid)
    monkeypatch.setattr(RecordedRun, "gamma", 1.0)
    assert not holds("eq:hope-decomp", computed(valid, parts=valid.parts))


def test_without_its_horizon_the_divergence_of_occupancies_is_too_large(valid, monkeypatch):
    assert holds("lem:ineq-kl-entropy", valid)
    monkeypatch.setattr(RecordedRun, "H", 1.0)
    assert not holds("lem:ineq-kl-entropy", valid)


def replayed(run, **columns):
    """The imitation with some columns of its history replaced."""
    h = run.history
    return replace(
        run, history=ImitationHistory({**h.columns, **columns}, h.first, h.expert, h.mdp, h.Phi)
    )


IMITATIONS = {
    "eq:dec": lambda run: replace(run, w_true=2 * run.w_true),
    "alg:fra": lambda run: replayed(run, weights=run.history.weights[::-1]),
    "rewards of FRA-IL": lambda run: replayed(run, weights=2 * run.history.weights),
    "OGD": lambda run: replayed(run, weights=-run.history.weights),
    "regret^w in three terms": lambda run: replace(run, w_true=2 * run.w_true),
    # The expert's error is a sixth of its bound here, as chance has it, and the bounds on the
    # regret are for the worst of losses.
    "expert's features": lambda run: replace(run, tau_E=16**2 * run.tau_E),
    "OGD, as printed": lambda run: replayed(run, weights=-4 * run.history.weights),
    "thm:reward_regret_bound": lambda run: replayed(
        run, policies=run.history.policies[:, :, ::-1], weights=-16 * run.history.weights
    ),
}  # fmt: skip


@pytest.mark.parametrize("key", IMITATIONS)
def test_a_mutated_imitation_breaks_it(key, imitation):
    assert holds(key, imitation)
    assert not holds(key, IMITATIONS[key](imitation))


FUNCTIONS = {
    "lem:sigmoid-bound, everywhere": (ascension, "sigmoid_bound", 2.1),
    "lem:sigmoid-bound2, everywhere": (ascension, "largest_kept_bonus_exact", 2),
    "lemma:beta_bound": (concentration, "fixed_point", 2),
    "lem:lmax, exactly": (parameters, "longest_episode", 2),
    "lem:uniform-event-holds": (parameters, "beta", 13),  # the proof needs its root alone
}


@pytest.mark.parametrize("key", FUNCTIONS)
def test_half_of_a_bound_is_too_little(key, monkeypatch):
    assert holds(key)
    module, name, factor = FUNCTIONS[key]
    bound = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: bound(*given) / factor)
    assert not holds(key)


def unlucky(run):
    """At the end all transitions have led to the worst next state of their pair."""
    best, counts = run.mdp.optimal().V, run.counts.copy()
    for pair, first in enumerate(run.first):
        entries = np.arange(first, [*run.first, len(run.after)][pair + 1])
        worst = entries[best[run.after[entries]].argmin()]
        counts[-1, entries] = counts[-1, entries].sum() * (entries == worst)
    return replace(run, counts=counts)


def too_low(run):
    """The last values are just below the optimum."""
    return replace(run, V=np.append(run.V[:-1], [run.mdp.optimal().V - 1e-6], axis=0))


PROVEN = {"Bernstein": unlucky, "optimism": too_low}


@pytest.mark.parametrize("key", PROVEN)
def test_a_mutated_run_with_proven_constants_breaks_it(key):
    run = play_proven(RiverSwim(3, gamma=0.5).mdp, K=2000, delta=0.1, seed=0)
    assert holds(key, run)
    assert not holds(key, PROVEN[key](run))


LOWER = [s.key for s in of_lower_bounds.STATEMENTS.all]


@pytest.mark.parametrize("key", LOWER)
def test_another_epsilon_breaks_the_closed_forms(key, monkeypatch):
    assert holds(key)
    factor = 0.5 if "divergence" in key else 1.5

    def misread(world):
        names = ("gamma", "mdp", "expert", "special", "n_actions")
        same = {name: getattr(world, name) for name in names}
        return SimpleNamespace(**same, epsilon=factor * world.epsilon)

    families, pairs = list(of_lower_bounds.lower_k()), list(of_lower_bounds.pairs())
    monkeypatch.setattr(of_lower_bounds, "lower_k", lambda: map(misread, families))
    monkeypatch.setattr(of_lower_bounds, "pairs", lambda: [tuple(map(misread, p)) for p in pairs])
    assert not holds(key)


def test_every_check_has_a_mutation():
    alone = {"thm:main-full", "E_V,alg", "eq:hope-decomp", "lem:ineq-kl-entropy"}
    mutated = (MUTATIONS, ELSEWHERE, IMITATIONS, PROVEN, FUNCTIONS, LOWER)
    assert set(CHECKS) == alone.union(*mutated)
