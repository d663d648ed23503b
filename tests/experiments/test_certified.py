"""Studies that ask for certificates."""

import re

import numpy as np
import pytest

import optimist as opt
from optimist import envs
from optimist.errors import FileError, StudyError
from optimist.experiments import Specification, Study
from optimist.experiments.certified import COLUMNS, first_within
from optimist.experiments.curves import write_curves
from optimist.experiments.learners import ImitationConfig
from optimist.report.data import LEVELS
from optimist.report.page import render

RIVER = envs.RiverSwim(4, gamma=0.8)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Prover has certificates in both worlds, R-max where features are one-hot, FRA-IL nowhere."""
    study = Study(
        worlds={"river": RIVER, "linear": envs.RandomLinear(3, 8, 2)},
        agents={"Prover": opt.Prover, "R-max": opt.Rmax, "FRA-IL": ImitationConfig(samples=50)},
        episodes=1500,
        seeds=2,
        stride=30,
        certify=0.1,
    )
    return opt.run(study, tmp_path_factory.mktemp("certified"), jobs=1)


def curves_of(results, world, agent, seed=0):
    [run] = [r for r in results.finished if (r.world, r.agent, r.index) == (world, agent, seed)]
    return results.folder.of(run).curves


def test_it_asks_before_each_policy_that_is_evaluated_and_changes_nothing_else(results):
    curves = curves_of(results, "river", "Prover")
    [run] = [r for r in results.study.runs if (r.world, r.agent, r.index) == ("river", "Prover", 0)]
    agent, best = run.spec.learner(), (-np.inf, np.inf)
    for k, lower, upper in zip(curves["episode"], curves["lower"], curves["upper"], strict=True):
        if k > 1:
            agent.learn(int(k) - 1 - agent.episodes)
        fresh = agent.certificate(0.1)
        agent.forget()  # the search begins anew: it ends within 1% of the gap
        best = max(best[0], fresh.lower), min(best[1], fresh.upper)
        assert (lower, upper) == pytest.approx(best, abs=0.02 * fresh.gap)
    plain = Study({"river": RIVER}, {"Prover": opt.Prover}, 1500, seeds=2, stride=30)
    without = curves_of(opt.run(plain, jobs=1), "river", "Prover")
    assert set(curves) - set(without) == set(COLUMNS)
    for name, column in without.items():
        np.testing.assert_array_equal(curves[name], column)


def test_the_bounds_hold_and_never_get_worse(results):
    optimal = RIVER.mdp.optimal().value
    for agent in ("Prover", "R-max"):
        for seed in (0, 1):
            lower, upper, value = (curves_of(results, "river", agent, seed)[c] for c in COLUMNS)
            assert (lower <= value + 1e-12).all()
            assert (value <= optimal + 1e-9).all()
            assert (optimal <= upper).all()
            assert (np.diff(lower) >= 0).all()
            assert (np.diff(upper) <= 0).all()
            assert upper[-1] - lower[-1] < 0.9 * (upper[0] - lower[0])


def test_who_has_no_certificates_says_why(results):
    river, linear = results.data.worlds
    assert list(river.certified) == ["Prover", "R-max"]
    assert list(linear.certified) == ["Prover"]
    assert river.uncertified.keys() == {"FRA-IL"}
    assert linear.uncertified["R-max"].startswith("a certificate needs the counts of transitions")
    text = re.sub(r"\s+", " ", render(results.data))
    assert f"R-max has no certificate: {linear.uncertified['R-max']}." in text
    assert "lower" not in curves_of(results, "linear", "R-max")


def test_first_episodes_are_those_of_all_rows(results):
    found = results.data.worlds[0].certified["Prover"]
    optimal = RIVER.mdp.optimal().value
    for seed in (0, 1):
        curves = curves_of(results, "river", "Prover", seed)
        share = 1 - curves["lower"] / curves["upper"]
        lost = 1 - curves["certified_value"] / optimal
        for j, level in enumerate(LEVELS):
            for numbers, firsts in ((share, found.certified), (lost, found.truly)):
                good = [bool((numbers[i:] <= level).all()) for i in range(len(numbers))]
                first = curves["episode"][good.index(True)] if any(good) else np.nan
                np.testing.assert_equal(firsts[seed, j], first)
    assert not np.isnan(found.truly).any()
    assert not (found.certified < found.truly).any()


def test_being_within_means_from_then_on():
    at = np.array([1, 5, 9])
    shares = np.array([[0.1, 0.3, 0.1], [0.1, 0.1, 0.1], [0.1, 0.1, 0.3]])
    np.testing.assert_equal(first_within(at, shares, (0.2,)), [[9.0], [1.0], [np.nan]])


def test_the_text_of_a_study_keeps_it_and_others_are_as_they_were(results):
    study = results.study
    again = Study.parse(study.text)
    assert (again.certify, again.runs) == (0.1, study.runs)
    spec = study.runs[0].spec
    assert Specification.from_plain(spec.plain) == spec
    plain = Specification(spec.world, spec.agent, spec.episodes, spec.stride, spec.seed)
    assert "certify" not in plain.plain
    assert plain.id != spec.id


@pytest.mark.parametrize(
    ("certify", "sentence"),
    [
        ("2", r"line 2: certify must be in \(0, 1\); got 2"),
        ('"yes"', "line 2: certify must hold real numbers; got <U3"),
    ],
)
def test_a_delta_that_is_none_is_refused(certify, sentence):
    text = f'episodes = 10\ncertify = {certify}\n[worlds.w]\nworld = "RiverSwim"\n'
    with pytest.raises(StudyError, match=sentence):
        Study.parse(f'{text}[agents.a]\nagent = "Prover"\n')


def test_a_gymnasium_environment_has_no_certificates():
    with pytest.raises(ValueError, match="certify must be left out with a Gymnasium environment"):
        Study({"lake": envs.Gym("FrozenLake-v1")}, {"a": opt.Rmax}, 10, certify=0.05)


def test_curves_without_some_of_the_bounds_are_damaged(tmp_path):
    study = Study({"river": RIVER}, {"Prover": opt.Prover}, 60, seeds=1, stride=30, certify=0.1)
    results = opt.run(study, tmp_path, jobs=1)
    [run] = study.runs
    folder = results.folder.of(run)
    good = folder.curves
    without = {name: column for name, column in good.items() if name != "certified_value"}
    for damaged in ({**good, "upper": good["upper"] * np.nan}, without):
        write_curves(folder.path / "curves.parquet", damaged, run.spec.id)
        with pytest.raises(FileError, match="its rows do not match the run"):
            folder.check_numbers(run.spec)
