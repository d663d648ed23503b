"""A subject against the best of its peers, by cases small enough for a pencil."""

import math
import shutil

import numpy as np
import pytest

import optimist as opt
from optimist.experiments import Study, open_results
from optimist.experiments.peers import Played, in_all_worlds, in_world, setting_of
from optimist.experiments.statistics import ONE_SEED
from optimist.report.data import plain


def runs(*averages, setting="", final=0.0):
    return Played(setting, np.array(averages), np.full(len(averages), final))


def peers(*means, final=0.0):
    """A family with a setting for each mean."""
    return [runs(m, m, setting=f"beta {i}", final=final) for i, m in enumerate(means)]


def compared(own, *others, uniform=0.9, final=0.0, peers_final=0.0):
    """The subject at a mean, against families at others."""
    families = {f"peer {i}": peers(*o, final=peers_final) for i, o in enumerate(others)}
    return in_world({"own": [runs(own, own, final=final)], **families}, "own", uniform)


# In one world


def test_each_family_has_its_best_setting_by_mean_and_the_best_of_all_is_the_peer():
    found = compared(0.3, (0.5, 0.2, 0.4), (0.25, 0.6))
    assert {name: played.setting for name, played in found.families.items()} == {
        "own": "", "peer 0": "beta 1", "peer 1": "beta 0",
    }  # fmt: skip
    assert found.peer == "peer 0"
    assert found.ratio.value == pytest.approx(0.3 / 0.2)
    lucky, steady = runs(0.0, 0.8, setting="lucky"), runs(0.3, 0.3, setting="steady")
    found = in_world({"own": [runs(0.3)], "peer": [lucky, steady]}, "own", 0.9)
    assert found.families["peer"].setting == "steady"


def test_the_subject_is_lowest_within_or_behind():
    verdicts = [compared(x, (0.25, 0.9), (0.5,)).verdict for x in (0.1, 0.25, 0.2501, 0.299, 0.301)]
    assert verdicts == ["lowest", "lowest", "within", "within", "behind"]
    small = compared(0.001, (0.0008,))
    assert (small.ratio.value, small.verdict) == (pytest.approx(1.25), "behind")


def test_where_the_best_peer_loses_nothing_there_is_no_ratio():
    rounding = compared(5e-16, (-1e-16,), (3e-17,))  # errors of exact solves count as zero
    cases = {"behind": compared(1e-6, (0.0, 0.1)), "lowest": compared(0.0, (0.0,))}
    for verdict, found in (*cases.items(), ("lowest", rounding)):
        assert math.isnan(found.ratio.value)
        assert (found.ratio.note, found.verdict) == ("divided by zero: no ratio", verdict)


def test_intervals_resample_the_seeds_of_both():
    own, peer = runs(0.1, 0.3), runs(0.1, 0.2)
    found = in_world({"own": [own], "peer": [peer]}, "own", 0.9)
    assert found.ratio.value == pytest.approx(0.2 / 0.15)
    # Of four equally likely means each the extremes are those of one seed drawn twice.
    assert (found.ratio.low, found.ratio.high) == pytest.approx((0.5, 3.0))
    one = in_world({"own": [runs(0.1)], "peer": [peer]}, "own", 0.9)
    assert math.isnan(one.ratio.low)
    assert one.ratio.note == ONE_SEED


def test_failing_while_a_peer_succeeds_in_any_setting():
    """Uniform play loses 0.9: more than 0.45 is to fail, less than 0.09 to succeed."""
    cases = [(0.46, 0.08, True), (0.44, 0.08, False), (0.46, 0.10, False), (0.9, 0.9, False)]
    for final, peers_final, fails in cases:
        found = compared(0.5, (0.4,), final=final, peers_final=peers_final)
        assert found.fails_alone == fails
    slow, quick = runs(0.5, final=0.0, setting="slow"), runs(0.4, final=0.4, setting="quick")
    found = in_world({"own": [runs(0.6, final=0.6)], "peer": [quick, slow]}, "own", 0.9)
    assert found.families["peer"].setting == "quick"
    assert found.succeeded == ("peer",)
    assert found.fails_alone


# The subject is not tuned


def test_a_subject_of_two_settings_is_refused():
    with pytest.raises(ValueError, match="the subject must have one setting; 'own' has 2"):
        in_world({"own": peers(0.5, 0.1), "peer": peers(0.3)}, "own", 0.9)


def test_a_better_setting_of_the_same_algorithm_is_a_peer_and_not_the_subject(tmp_path):
    """Were the subject tuned over its family too, it would be lowest in both worlds."""
    text = """
        subject = "plain"
        episodes = 120
        seeds = 2
        [worlds."sea {n}"]
        world = "DeepSea"
        n = [4, 5]
        [agents.plain]
        agent = "Ucbvi"
        c = 1.0
        [agents.tuned]
        agent = "Ucbvi"
        c = [0.9, 0.03, 1.1]
    """
    results = opt.run(Study.parse(text), tmp_path, jobs=1)
    found = results.peers
    for world in found.worlds:
        own = results.cell(world.name, "plain").averages.mean()
        every = {c: results.cell(world.name, f"tuned, c {c}").averages.mean()
                 for c in ("0.9", "0.03", "1.1")}  # fmt: skip
        best = min(every, key=every.get)
        assert every[best] < own  # or else this shows nothing
        assert world.families["plain"].average.value == pytest.approx(own)
        assert world.families["tuned"].setting == f"c {best}"
        assert world.ratio.value == pytest.approx(own / every[best])
        assert world.verdict != "lowest"
    assert found.counts["all"]["lowest"] == 0
    assert plain(open_results(tmp_path).data.comparison) == plain(found)


# In all worlds


def three_worlds(held_out=(False, True, True)):
    losses = [(0.1, 0.2, 0.3), (0.22, 0.2, 0.3), (0.5, 0.4, 0.1)]
    found = [
        in_world(
            {"own": [runs(a, a)], "b": peers(b, 0.9), "c": peers(c)}, "own", 0.9, f"w{i}", held
        )
        for i, ((a, b, c), held) in enumerate(zip(losses, held_out, strict=True))
    ]
    return in_all_worlds("own", {"own": 1, "b": 2, "c": 1}, found)


def test_worlds_are_counted_by_group():
    assert three_worlds().counts == {
        "all": {"worlds": 3, "lowest": 1, "close": 2, "fails_alone": 0},
        "chosen": {"worlds": 1, "lowest": 1, "close": 1, "fails_alone": 0},
        "held_out": {"worlds": 2, "lowest": 0, "close": 1, "fails_alone": 0},
    }
    assert three_worlds().sentence == (
        "own is lowest or within 1.2 times the best peer on 2 of 3 worlds, and lowest on 1; "
        "of the 2 held out, on 1, and lowest on 0."
    )
    assert list(three_worlds((False,) * 3).counts) == ["all"]
    assert "held out" not in three_worlds((False,) * 3).sentence


def test_ranks_are_of_the_families_at_their_best():
    ranks = three_worlds().ranks
    assert {f: r.value for f, r in ranks["all"].items()} == pytest.approx(
        {"own": (1 + 2 + 3) / 3, "b": (2 + 1 + 2) / 3, "c": (3 + 3 + 1) / 3}
    )
    assert {f: r.value for f, r in ranks["held_out"].items()} == {"own": 2.5, "b": 1.5, "c": 2}


def test_a_world_where_a_family_has_not_finished_has_no_ranks():
    found = in_world({"own": [runs(0.1)], "b": [runs(0.2)], "c": []}, "own", 0.9, "w")
    comparison = in_all_worlds("own", {"own": 1, "b": 1, "c": 1}, [found])
    assert comparison.counts["all"]["lowest"] == 1
    assert comparison.ranks == {}
    families = comparison.worlds[0].families
    assert {name: family.ratio for name, family in families.items()} == {"own": 0.5, "b": 1}


def test_a_setting_is_the_name_without_the_family():
    assert setting_of("a, beta 1, eta 2", "a") == "beta 1, eta 2"
    assert setting_of("a", "a") == ""
    assert setting_of("gentle", "a") == "gentle"
    assert setting_of("ab", "a") == "ab"


# From a study


@pytest.fixture
def study():
    return Study(
        worlds={"river": opt.envs.RiverSwim(3), "sea": opt.envs.DeepSea(3)},
        agents={
            "twice": opt.RmaxRaviUcb,
            "once 1": opt.RaviUcb.Config(beta=1),
            "once 3": opt.RaviUcb.Config(beta=3),
        },
        episodes=20,
        seeds=2,
        subject="twice",
        held_out=["sea"],
        families={"once 1": "once", "once 3": "once"},
    )


def test_results_have_the_families_and_worlds_held_out(study, tmp_path):
    found = opt.run(study, tmp_path, jobs=1)
    assert found.peers.families == {"twice": 1, "once": 2}
    assert [(w.name, w.held_out) for w in found.peers.worlds] == [("river", False), ("sea", True)]
    # A family is shown by its best setting in each world, under its own name.
    assert [a.name for a in found.data.agents] == ["twice", "once"]
    assert all(len(world.estimates) == 2 for world in found.data.worlds)
    assert found.data.comparison.subject == "twice"
    again = open_results(tmp_path)  # from the text of the study
    assert plain(again.data.comparison) == plain(found.data.comparison)
    for run in study.runs:
        if run.world == "sea" and run.agent != "twice":  # then the subject has no peers there
            shutil.rmtree(found.folder.of(run).path)
    assert open_results(tmp_path).peers.left_out == ("sea",)


def test_without_a_subject_there_is_nothing_to_compare(tmp_path):
    study = Study({"river": opt.envs.RiverSwim(3)}, {"a": opt.Rmax, "b": opt.RaviUcb}, 5, 1)
    found = opt.run(study, tmp_path, jobs=1)
    assert found.peers is None
    assert found.data.comparison is None


def test_worlds_without_finished_runs_are_left_out(study, tmp_path):
    from optimist.experiments.study_folder import StudyFolder

    StudyFolder(tmp_path).prepare(study)
    found = open_results(tmp_path).peers
    assert found.left_out == ("river", "sea")
    assert found.sentence == "twice cannot be compared with its peers yet."
    assert found.ranks == {}
