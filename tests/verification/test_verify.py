"""Verifying: nothing that should hold fails, and what fails is told and counted."""

import json

import numpy as np
import pytest

from optimist.agents import Configuration
from optimist.cli import main
from optimist.envs import CombinationLock, RandomLinear, RiverSwim
from optimist.features import Table
from optimist.theory import parameters
from optimist.verification import Run, of_worlds, record, verify
from optimist.verification.statement import Comparison, at_most, equal, join
from optimist.verification.verify import (
    CHANGING,
    IMITATION,
    NUMBERS,
    OF_IMITATIONS,
    OF_NUMBERS,
    OF_RUNS,
    PRACTICE,
    THEOREM,
    VALID,
    find,
)

ALL = (*OF_RUNS, *OF_IMITATIONS, *OF_NUMBERS)


@pytest.fixture(scope="module")
def report():
    return verify(RiverSwim(4, gamma=0.8), K=200)


def test_nothing_is_violated_and_nothing_left_out(report):
    assert report.violations == []
    assert [s.findings[0].key for s in report.by_statement()] == [s.key for s in ALL]
    assert {f.setting for f in report.findings} == {
        THEOREM, VALID, CHANGING, PRACTICE, IMITATION, NUMBERS,
    }  # fmt: skip
    assert all(summary.cases > 0 for summary in report.by_statement())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "world", [RandomLinear(d=4, n_states=10, n_actions=3, gamma=0.7), CombinationLock(4)], ids=repr
)
def test_nor_elsewhere(world, seed):
    assert verify(world, K=60, seed=seed).violations == []


def test_the_practical_bonuses_are_not_valid_and_that_is_reported(report):
    validity = next(s for s in report.by_statement() if s.findings[0].key == "eq:validity-bonuses")
    assert validity.broken_in_practice > 0.1
    assert not validity.violated
    assert [f.setting for f in validity.due] == [THEOREM]


def test_valid_bonuses_are_due_where_they_are_valid_only(report):
    for f in report.findings:
        if f.key == "lem:qmax":
            assert f.due == (f.setting in (THEOREM, VALID, CHANGING))


def test_without_a_bound_on_m_the_bonuses_of_the_theorem_are_invalid():
    """Assumption 1 bounds ||phi|| from above alone; scaled down, the ridge drowns the data."""
    world, c = RiverSwim(4, gamma=0.8), 1e-7
    K, delta = 200, 0.01
    Phi = c * np.eye(8).reshape(4, 2, 8)
    W_max = float(np.linalg.norm(world.mdp.r)) / c
    config = Configuration.theory(K, 8, 2, 0.8, B=1, W_max=W_max, delta=delta)
    assert config.beta == parameters.beta(K, 8, 0.8, 1, W_max, 1, delta)
    run = Run(record(world.mdp, Table(Phi), config, K), delta, theorem=True)
    assert not run.valid


def test_a_violation_is_found_told_and_an_exit_code(monkeypatch, capsys):
    wrong = of_worlds.STATEMENTS.all[0].check

    def broken(run):
        claim = wrong(run)
        return Comparison(claim.smaller + 1e-3, claim.larger, claim.equal)

    object.__setattr__(of_worlds.STATEMENTS.all[0], "check", broken)
    try:
        assert main(["verify", "RiverSwim", "--world.n", "3", "--world.gamma", "0.7", "--K", "20"])
        out = capsys.readouterr().out
        assert "VIOLATED: eq:flow in RiverSwim(n=3, gamma=0.7) (theorem)" in out
        assert "lem:qmax" in out
    finally:
        object.__setattr__(of_worlds.STATEMENTS.all[0], "check", wrong)


def test_json_has_every_finding(capsys):
    assert main(["verify", "LowerK", "--K", "20", "--seed", "1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["K"], data["delta"], data["seed"], data["violations"]) == (20, 0.01, 1, 0)
    assert {row["key"] for row in data["findings"]} == {s.key for s in ALL}
    assert all(row["cases"] >= row["broken"] >= 0 for row in data["findings"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--K", "5"], "at least 8"),
        (["RiverSwin"], "RiverSwim"),
        (["RiverSwim", "--delta", "2"], "delta"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(arguments, sentence, capsys):
    assert main(["verify", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_rounding_is_no_violation_and_no_number_is():
    assert not at_most([1.0, 2.0 + 1e-12], 2.0).broken.any()
    assert at_most([np.nan], [1.0]).broken.all()
    assert at_most([np.inf], [1.0]).broken.all()
    assert not equal(1e-17, 0.0, unit=1.0).broken.any()
    assert equal(1e-17, 0.0).broken.all()
    both = join(at_most(1.0, 2.0), at_most([5.0, 3.0], 4.0, unit=9.0))
    assert (both.broken.tolist(), both.scale) == ([False, True, False], 9.0)


def test_a_statement_that_says_nothing_is_no_finding(practice):
    regret = next(s for s in OF_RUNS if s.key == "lem:bound-regret-plus")
    assert find(regret, practice, "", PRACTICE, due=False) is None
