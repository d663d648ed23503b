"""`verify`: no statement that should hold fails, and failures are counted and reported."""

import json
from dataclasses import replace

import numpy as np
import pytest

from optimist.agents import RmaxRaviUcb
from optimist.cli import main
from optimist.cli.verify import verdict_of
from optimist.envs import CombinationLock, RandomLinear, RiverSwim
from optimist.features import Table
from optimist.mdp import FiniteMDP, LinearMDP
from optimist.theory import parameters
from optimist.verification import (
    RecordedRun,
    Statements,
    Summary,
    at_most,
    equal,
    join,
    record,
    verify,
)
from optimist.verification.findings import Setting
from optimist.verification.of_values import largest_errors, largest_regression_errors, validity
from optimist.verification.verify import (
    OF_IMITATIONS,
    OF_NUMBERS,
    OF_PROVEN,
    OF_RUNS,
    covered_run,
    find,
    of_run,
    runs,
)

ALL = (*OF_RUNS, *OF_IMITATIONS, *OF_PROVEN, *OF_NUMBERS)


@pytest.fixture(scope="module")
def report():
    return verify(RiverSwim(4, gamma=0.8), K=200)


def test_nothing_is_violated_and_nothing_left_out(report):
    assert report.violations == []
    assert [s.findings[0].key for s in report.by_statement()] == [s.key for s in ALL]
    settings = (Setting.THEOREM, Setting.VALID, Setting.CHANGING, Setting.PRACTICE)
    others = (Setting.IMITATION, Setting.PROVEN, Setting.NUMBERS)
    assert {f.setting for f in report.findings} == {*settings, *others}
    assert [play.setting for play in report.runs] == list(settings)
    assert all(summary.cases > 0 for summary in report.by_statement())


ONE_STATE = FiniteMDP(np.ones((1, 1, 1)), [[0.5]], [1], gamma=0.5)
NO_FUTURE = FiniteMDP(np.ones((1, 3, 1)), [[0.0, 1.0, 3.0]], [1], gamma=0.0)
NO_REWARDS = FiniteMDP(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2)), [0, 1, 0], gamma=0.99)
DENSE = RandomLinear(d=4, n_states=10, n_actions=3, gamma=0.7)


@pytest.mark.parametrize(
    ("world", "K", "seed"),
    [(DENSE, 60, 0), (DENSE, 60, 1), (CombinationLock(4), 60, 2), (ONE_STATE, 30, 0),
     (NO_FUTURE, 30, 0), (NO_REWARDS, 30, 0)],
)  # fmt: skip
def test_nothing_is_violated_in_other_worlds(world, K, seed):
    assert verify(world, K=K, seed=seed).violations == []


def test_the_practical_bonuses_are_not_valid_and_that_is_reported(report):
    validity = next(s for s in report.by_statement() if s.findings[0].key == "eq:validity-bonuses")
    assert validity.broken_in_practice > 0.1
    assert validity.violations(report.delta) == []
    assert [f.setting for f in validity.due] == [Setting.THEOREM]


def test_the_bonuses_of_the_theorem_are_beyond_all_values(report):
    """No values could break them, all pairs lead to heaven, and play is uniform; not otherwise."""
    theorem, *others = report.runs
    assert theorem.idle
    assert (theorem.p_least, theorem.p_most) == (1.0, 1.0)
    assert theorem.from_uniform < 1e-12
    assert not any(play.idle for play in others)
    vacuous = {f.key: f.vacuous for f in report.findings if f.setting == Setting.THEOREM}
    for key in ("eq:validity-bonuses", "E_V,alg", "epochs of the learner", "drift"):
        assert vacuous[key]
    assert not vacuous["lem:bound-q, lower"]


@pytest.fixture(scope="module")
def covered():
    return covered_run(100, 0.01, 0)


def test_with_a_beta_for_all_values_bonuses_are_valid_and_could_be_invalid(covered):
    found = {f.key: f for f in of_run(covered, "", Setting.COVERED)}
    for key in ("eq:validity-bonuses", "E_V,alg"):
        assert (found[key].due, found[key].broken, found[key].vacuous) == (True, 0, False)
    larger = replace(covered.trace, CB=300 * covered.trace.CB)
    assert validity(replace(covered, trace=larger)).vacuous


def test_errors_are_at_most_the_largest_possible(covered):
    """Over values and next states that are drawn anew, of the same pairs."""
    rng = np.random.default_rng(0)
    t = covered.trace
    errors, of_regression = largest_errors(covered), largest_regression_errors(covered)
    for _ in range(20):
        V = covered.Q_max * rng.choice([-1.0, 1.0], size=t.V.shape)
        seen = np.where(t.seen >= 0, rng.integers(t.mdp.n_states, size=len(t.seen)), -1)
        other = RecordedRun(replace(t, V=V, seen=seen), covered.delta)
        error = np.abs(other.PV - other.PV_hat)
        assert (error <= errors[t.episode] * (1 + 1e-9)).all()
        assert (other.regression_errors <= of_regression[t.episode] * (1 + 1e-9)).all()
    assert error.max() > 0.5 * errors.max()


def test_statements_that_need_valid_bonuses_are_due_where_bonuses_are_valid(report):
    due = {f.setting for f in report.findings if f.key == "lem:qmax" and f.due}
    assert due == {Setting.THEOREM, Setting.VALID, Setting.CHANGING}


def test_without_a_bound_on_m_the_bonuses_of_the_theorem_are_invalid():
    """Assumption 1 bounds ||phi|| from above alone; scaled down, the ridge drowns the data."""
    world, c = RiverSwim(4, gamma=0.8), 1e-7
    K, delta = 200, 0.01
    Phi = c * np.eye(8).reshape(4, 2, 8)
    W_max = float(np.linalg.norm(world.mdp.r)) / c
    config = RmaxRaviUcb.Config.theory(K, 8, 2, 0.8, B=1, W_max=W_max, delta=delta)
    assert config.beta == parameters.beta(K, 8, 0.8, 1, W_max, 1, delta)
    run = RecordedRun(record(world.mdp, Table(Phi), config, K), delta, theorem=True)
    assert not run.valid


def test_a_violation_is_printed_and_sets_the_exit_code(monkeypatch, capsys):
    flow = OF_RUNS[0]

    def broken(run):
        claim = flow.check(run)
        return replace(claim, smaller=claim.smaller + 1e-3)

    changed = [replace(flow, check=broken), *OF_RUNS[1:]]
    monkeypatch.setitem(of_run.__globals__, "OF_RUNS", changed)
    assert main(["verify", "RiverSwim", "--world.n", "3", "--world.gamma", "0.7", "--K", "20"])
    out = capsys.readouterr().out
    assert "VIOLATED: eq:flow in RiverSwim(n=3, gamma=0.7) (theorem)" in out
    assert "lem:qmax" in out
    assert "theorem: p+ = 1 everywhere and play is uniform, in 1 of 1 runs" in out


def test_json_has_every_finding(capsys):
    assert main(["verify", "LowerK", "--K", "20", "--seed", "1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["K"], data["delta"], data["seed"], data["violations"]) == (20, 0.01, 1, 0)
    assert {row["key"] for row in data["findings"]} == {s.key for s in ALL}
    assert all(row["cases"] >= row["broken"] >= 0 for row in data["findings"])
    assert {run["setting"] for run in data["runs"]} >= {Setting.THEOREM, Setting.PRACTICE}
    assert all(0 <= run["p_least"] <= run["p_most"] <= 1 for run in data["runs"])


def test_mistakes_give_one_line_errors(capsys):
    for arguments, sentence in (
        (["--K", "5"], "K must be at least 8; got 5"),
        (["RiverSwin"], "did you mean 'RiverSwim'"),
        (["RiverSwim", "--delta", "2"], "delta must be in (0, 1/2); got 2"),
        (["RiverSwim", "--seed", "-1"], "seed must be at least 0; got -1"),
    ):
        assert main(["verify", *arguments]) == 2
        assert sentence in capsys.readouterr().err


def test_rounding_breaks_no_claim_and_nan_does():
    assert not at_most([1.0, 2.0 + 1e-12], 2.0).broken.any()
    assert at_most([np.nan], [1.0]).broken.all()
    assert at_most([np.inf], [1.0]).broken.all()
    assert not equal(1e-17, 0.0, unit=1.0).broken.any()
    assert equal(1e-17, 0.0).broken.all()
    both = join(at_most(1.0, 2.0), at_most([5.0, 3.0], 4.0, unit=9.0))
    assert both.broken.tolist() == [False, True, False]
    np.testing.assert_allclose(both.rounding, [2e-9, 9e-9, 9e-9])
    assert both.share == pytest.approx(-0.2)


def test_a_statement_says_what_its_check_says_and_makes_one_claim():
    mine = Statements("Mine")

    @mine.add("key", "nowhere", applies=lambda number: number > 0)
    def check(number):
        """x <= 2
        and x <= 3

        For every x.
        """
        yield at_most(number, 2.0)
        yield at_most(number, 3.0)

    mine.add("other", "nowhere", "x < 4")(check)
    assert [statement.says for statement in mine.all] == ["x <= 2 and x <= 3", "x < 4"]
    assert mine.all[0].check(2.5).broken.tolist() == [True, False]
    assert mine.all[0].check(-1.0) is None


def test_a_claim_that_no_learner_could_break_is_vacuous():
    assert at_most([1.0, 2.0], [5.0, 4.0], trivial=4.0).vacuous
    assert not at_most([1.0, 2.0], [5.0, 4.0], trivial=[4.0, 4.5]).vacuous
    assert not at_most(1.0, 5.0).vacuous


def test_a_failure_by_chance_is_no_violation(report):
    """A statement that holds with probability 1 - delta may fail once, not everywhere."""
    lmax = next(s for s in report.by_statement() if s.findings[0].key == "lem:lmax")
    unlucky = [replace(f, broken=1) for f in lmax.findings]
    once, always = Summary((unlucky[0], *lmax.findings[1:])), Summary(tuple(unlucky))
    assert once.violations(0.01) == []
    assert len(always.violations(0.01)) == len(unlucky) == 4
    assert verdict_of(once) == "bad luck"


def test_every_run_has_random_numbers_of_its_own():
    lengths = [run.lengths.tolist() for _, run in runs(RiverSwim(3, gamma=0.7), 30, 0.01, 0)]
    assert len({tuple(length) for length in lengths}) == len(lengths) == 4
    other = dict(runs(RiverSwim(3, gamma=0.8), 30, 0.01, 0))[Setting.PRACTICE]
    assert other.lengths.tolist() not in lengths


def test_the_long_run_says_something_about_the_regret(long):
    found = {f.key: f for f in of_run(long, "", Setting.LONG)}
    for key in ("lem:bound-regret-plus", "epochs of the learner", "drift"):
        assert (found[key].due, found[key].broken, found[key].vacuous) == (True, 0, False)


def test_settings_that_could_not_be_tried_are_notes():
    river = RiverSwim(3, gamma=0.8).mdp
    P = np.asarray(river.P)
    Phi, M, w = np.eye(6).reshape(3, 2, 6), P.reshape(6, 3), river.r.ravel()
    tiny = LinearMDP(1e-6 * Phi, 1e6 * M, 1e6 * w, river.nu0, gamma=0.8)
    report = verify(tiny, K=30)
    assert report.violations == []
    assert [note.split(":")[0] for note in report.notes] == [
        f"{tiny!r} ({setting})" for setting in (Setting.VALID, Setting.CHANGING)
    ]


def test_a_statement_that_does_not_apply_is_no_finding(practice):
    regret = next(s for s in OF_RUNS if s.key == "lem:bound-regret-plus")
    assert find(regret, practice, "", Setting.PRACTICE, due=False) is None
