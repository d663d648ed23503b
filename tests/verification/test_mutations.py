"""Every check can fail: a mutation of the run, of the analysis or of the world breaks each one."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from optimist.theory import ascension, concentration, parameters
from optimist.verification import Run, of_lower_bounds
from optimist.verification.verify import OF_IMITATIONS, OF_NUMBERS, OF_RUNS

CHECKS = {s.key: s.check for s in (*OF_RUNS, *OF_IMITATIONS, *OF_NUMBERS)}


def holds(key, subject=None):
    claim = CHECKS[key](subject)
    assert claim is not None
    assert claim.slack.size
    return not claim.broken.any()


def changed(run, **arrays):
    """The run with some arrays of its trace replaced."""
    return Run(replace(run.trace, **arrays), run.delta, run.theorem)


def reset(run, **parameters):
    """The run with other parameters written over those that it was made with."""
    return changed(run, config=replace(run.trace.config, **parameters))


def computed(run, **values):
    """The run with some derived quantities replaced."""
    other = Run(run.trace, run.delta, run.theorem)
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


def never_explored(run):
    """Epochs not counted, bonuses forgotten, a tiny step: nothing pays for the regret."""
    t = run.trace
    played = np.broadcast_to(1 - run.best, t.played.shape)
    played = played / played.sum(axis=2, keepdims=True)
    none = changed(run, epoch=0 * t.epoch, CB=0 * t.CB, p=0 * t.p, played=played)
    return reset(none, eta=1e-12)


MUTATIONS = {
    # Occupancies, augmented worlds and biases
    "eq:flow": lambda run: computed(run, mu=run.mu * run.gamma),
    "lem:from-ev-to-q": lambda run: computed(run, mu=run.trace.mdp.occupancy(run.best)[None]),
    "eq:regret": lambda run: computed(run, regret=run.gamma * run.regret),
    "sec:OAMDP": lambda run: reset(run, r_max=0.05),
    "lem:mass-reduced": lambda run: changed(run, p=-run.trace.p),
    "eq:decomposition": lambda run: reparted(run, regret_plus=-run.parts.regret_plus),
    "lem:reward-bias-bound": lambda run: computed(
        changed(run, p=run.trace.p / 1000), parts=run.parts
    ),
    "lem:model-bias-bounds": lambda run: reparted(
        run, model_bias_learner=-run.parts.model_bias_learner
    ),
    # Algorithm 1
    "alg:covariance": lambda run: changed(run, pairs=run.trace.pairs[::-1]),
    "line-alg:epoch": no_epochs,
    "line-alg:bonuses": lambda run: changed(run, CB=run.trace.CB / 2),
    "line-alg:pplus": lambda run: changed(run, p=1 - run.trace.p),
    "line-alg:transf": lambda run: changed(run, V=run.trace.V / run.gamma),
    "alg:values": lambda run: changed(run, log_before=run.trace.log_after),
    "alg:policy": lambda run: changed(run, log_after=run.trace.log_before),
    "alg:order": lambda run: changed(run, V=spoilt(run.trace.V, -1)),
    "MN23 Lemma C.1": lambda run: changed(run, V_next=run.gamma * run.trace.V_next),
    "alg:play": lambda run: changed(run, cumulative=run.trace.cumulative[::-1]),
    "alg:draws": lambda run: changed(run, begins=run.trace.begins + 1),
    # Bonuses, values, ascension
    "Cauchy and Schwarz": lambda run: changed(run, CB=run.trace.CB / 10),
    "lem:iterates-in-class": lambda run: changed(run, V_next=run.trace.V_next / (1 - run.gamma)),
    "eq:validity-bonuses": lambda run: changed(run, CB=run.trace.CB / 10),
    "eq:validity-plus": lambda run: changed(run, CB=run.trace.CB / 10),
    "lem:bound-q, lower": lambda run: changed(
        run, Q=run.trace.Q - 2 * (1 - run.trace.p) * run.trace.CB
    ),
    "lem:bound-q, upper": lambda run: changed(
        run, Q=run.trace.Q + 2 * (1 - run.trace.p) * run.trace.CB
    ),
    "lem:qmax": lambda run: changed(run, Q=run.trace.Q / (1 - run.gamma)),
    "lem:lse-lipschitz": lambda run: changed(run, V_next=run.eta * run.trace.V_next),
    "lem:sigmoid-bound2": lambda run: changed(run, p=0 * run.trace.p),
    # Covariance
    "lem:lmax": lambda run: changed(run, at=0 * run.trace.at),
    "lemma:number-epochs-bound": lambda run: changed(run, epoch=20 * run.trace.epoch),
    "lem:det-elliptical-bound": lambda run: changed(run, CB=1.1 * run.trace.CB),
    "doubling": no_epochs,
    "lem:bound-elliptical-potential": lambda run: computed(run, potentials=3 * run.potentials),
    "bonuses along the path": lambda run: changed(run, CB=2 * run.trace.CB),
    "trace and determinant": lambda run: computed(run, log_det_end=3 * run.log_det_end),
    "lem:expectation-to-highprob": lambda run: computed(run, mu=100 * run.H * run.mu),
    "lem:expected-bonuses-bound": lambda run: reset(run, beta=run.beta / 1e4),
    # Regret
    "policies move slowly": lambda run: changed(
        run, log_before=run.trace.log_after - [1e7] + [[[0.0, 1e7]]]
    ),
    "regularised values": lambda run: reset(run, eta=2 * run.eta),
    "drift": lambda run: changed(run, Q=run.trace.Q * [[1e5], [0], [0], [0]]),
    "Delta*_k, flow": lambda run: computed(run, mu_plus_best=run.gamma * run.mu_plus_best),
    "Delta*_k": lambda run: changed(run, Q=run.trace.Q - 2 * (1 - run.trace.p) * run.trace.CB),
    "epoch of the comparator": lambda run: changed(run, V_next=run.trace.V_next - 0.1),
    "Delta_k": lambda run: changed(run, Q=run.trace.Q + 4 * (1 - run.trace.p) * run.trace.CB),
    "epochs of the learner": lambda run: changed(run, Q=run.trace.Q - 1e9),
    "Delta*": lambda run: changed(run, V=run.trace.V - 1e5),
    "Delta": lambda run: changed(run, V=run.trace.V + 1e9),
    "lem:bound-regret-plus": never_explored,
    "thm:main-full, first display": never_explored,
}


@pytest.mark.parametrize("key", MUTATIONS)
def test_a_mutated_run_breaks_it(key, valid):
    assert holds(key, valid)
    assert not holds(key, MUTATIONS[key](valid))


def test_the_main_theorem_can_fail(chain):
    run = chain["theorem"]
    assert holds("thm:main-full", run)
    assert not holds("thm:main-full", computed(run, regret=1e30 * run.regret))


def test_the_regression_of_the_theorem_can_be_off_by_more_than_beta(chain):
    run = chain["theorem"]
    assert holds("E_V,alg", run)
    assert not holds("E_V,alg", reset(run, beta=run.beta / 1e6))


def test_ascending_where_bonuses_are_small_breaks_the_bound_on_ascension(practice):
    assert holds("lem:sigmoid-bound", practice)
    everywhere = changed(practice, p=np.ones_like(practice.trace.p))
    assert not holds("lem:sigmoid-bound", everywhere)


def test_without_its_gamma_the_simulation_lemma_is_wrong_as_in_the_paper(valid, monkeypatch):
    assert holds("eq:hope-decomp", valid)
    monkeypatch.setattr(Run, "gamma", 1.0)
    assert not holds("eq:hope-decomp", computed(valid, parts=valid.parts))


def test_without_its_horizon_the_divergence_of_occupancies_is_too_large(valid, monkeypatch):
    assert holds("lem:ineq-kl-entropy", valid)
    monkeypatch.setattr(Run, "H", 1.0)
    assert not holds("lem:ineq-kl-entropy", valid)


def reweighed(run, weights):
    return replace(run, history=replace(run.history, weights=weights))


IMITATIONS = {
    "eq:dec": lambda run: replace(run, w_true=2 * run.w_true),
    "alg:fra": lambda run: reweighed(run, run.history.weights[::-1].copy()),
    "rewards of FRA-IL": lambda run: reweighed(run, 10 * run.history.weights),
    "OGD": lambda run: reweighed(run, -run.history.weights),
    "regret^w in three terms": lambda run: replace(run, w_true=2 * run.w_true),
    "expert's features": lambda run: replace(run, tau_E=10**6),
    "OGD, as printed": lambda run: reweighed(run, -100 * run.history.weights),
    "thm:reward_regret_bound": lambda run: replace(
        run, history=replace(run.history, policies=run.history.policies[:, :, ::-1].copy(),
                             weights=-1e6 * run.history.weights),
    ),
}  # fmt: skip


@pytest.mark.parametrize("key", IMITATIONS)
def test_a_mutated_imitation_breaks_it(key, imitation):
    assert holds(key, imitation)
    assert not holds(key, IMITATIONS[key](imitation))


def third(function):
    return lambda *given: function(*given) / 3


FUNCTIONS = {
    "lem:sigmoid-bound, everywhere": (ascension, "sigmoid_bound"),
    "lem:sigmoid-bound2, everywhere": (ascension, "largest_kept_bonus_exact"),
    "lemma:beta_bound": (concentration, "fixed_point"),
    "lem:lmax, exactly": (parameters, "longest_episode"),
}


@pytest.mark.parametrize("key", FUNCTIONS)
def test_a_third_of_a_bound_is_too_little(key, monkeypatch):
    assert holds(key)
    module, name = FUNCTIONS[key]
    monkeypatch.setattr(module, name, third(getattr(module, name)))
    assert not holds(key)


def test_a_beta_of_twenty_times_less_is_not_enough(monkeypatch):
    assert holds("lem:uniform-event-holds")
    beta = parameters.beta
    monkeypatch.setattr(parameters, "beta", lambda *given: beta(*given) / 20)
    assert not holds("lem:uniform-event-holds")


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
    elsewhere = {
        "thm:main-full",
        "E_V,alg",
        "lem:sigmoid-bound",
        "eq:hope-decomp",
        "lem:ineq-kl-entropy",
        "lem:uniform-event-holds",
    }
    assert set(CHECKS) == {*MUTATIONS, *IMITATIONS, *FUNCTIONS, *LOWER, *elsewhere}
