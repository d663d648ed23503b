"""The subject of a study, the families of its agents and the worlds held out."""

import dataclasses

import pytest

import optimist as opt
from optimist.experiments import Study, StudyError

RIVER = {"river": opt.envs.RiverSwim(3)}

TEXT = """\
title = "t"
{top}
episodes = 10
[worlds."river {{n}}"]
world = "RiverSwim"
n = [3, 4]
[agents.twice]
agent = "RmaxRaviUcb"
[agents.once]
agent = "RaviUcb"
beta = [1, 3]
[agents."R-max, {{visits}} visits"]
agent = "Rmax"
visits = [1, 2]
{last}
"""


def parse(top="", last=""):
    return Study.parse(TEXT.format(top=top, last=last), "my.toml")


def test_the_settings_of_a_grid_are_one_family_which_may_be_named():
    families = {
        "twice": "twice",
        "once, beta 1": "once",
        "once, beta 3": "once",
        "R-max, 1 visits": "R-max, {visits} visits",
        "R-max, 2 visits": "R-max, {visits} visits",
    }
    assert parse().family == families
    named = {"R-max, 1 visits": "R-max", "R-max, 2 visits": "R-max"}
    assert parse(last='family = "R-max"').family == {**families, **named}


def test_a_subject_and_worlds_held_out_change_no_run():
    without, study = parse(), parse('subject = "twice"\nheld_out = ["river 4"]')
    assert (without.subject, list(without.held_out)) == (None, [])
    assert (study.subject, list(study.held_out)) == ("twice", ["river 4"])
    assert study.runs == without.runs


def test_the_text_keeps_subject_families_and_worlds_held_out():
    read = parse('subject = "twice"\nheld_out = ["river 4"]', 'family = "R-max"')
    made = dataclasses.replace(read, seeds=2)  # has no source, and spells all out
    again = Study.parse(made.text)
    assert 'family = "once"' in made.text
    assert (again.subject, list(again.held_out)) == ("twice", ["river 4"])
    assert again.family == made.family == read.family
    assert again.runs == made.runs


def test_the_text_of_a_study_without_a_subject_does_not_mention_one():
    study = Study(RIVER, {"a": opt.Rmax}, 5)
    assert not any(word in study.text for word in ("subject", "held_out", "family"))


def test_errors_in_a_file_name_the_line():
    for top, line, message in (
        ("subject = 5", 2, "subject must be a string; got 5"),
        ('subject = "twce"', 2, "subject must be one of the agents; got 'twce': did you mean "
                                "'twice'? The agents are twice, once, R-max, {visits} visits"),
        ('subject = "once, beta 1"', 2, "subject must be one of the agents; got 'once, beta 1'"),
        ('subject = "once"', 2, "the subject must have one setting, as it is compared "
                                "untuned with tuned peers; 'once' has 2"),
        ('held_out = ["river 3"]', 2, "held_out needs a subject"),
        ('subject = "twice"\nheld_out = "river 3"', 3, "held_out must be a list of names"),
        ('subject = "twice"\nheld_out = ["rivr 3"]', 3, "held_out must name worlds; got 'rivr 3': "
         "did you mean 'river 3'? The worlds are river 3, river 4"),
        ('subject = "twice"\nheld_out = [7]', 3, "held_out must name worlds; got 7"),
        ('subject = "twice"\nheld_out = ["river 3", "river 3"]', 3, "held_out must name each"),
        ('subjct = "twice"', 2, "there is no key 'subjct': did you mean 'subject'?"),
    ):  # fmt: skip
        with pytest.raises(StudyError) as caught:
            parse(top)
        assert str(caught.value).startswith(f"my.toml, line {line}: {message}")


def test_families_and_subjects_that_do_not_fit_are_refused():
    for families, error, message in (
        (
            {"c": "x"},
            ValueError,
            "keys of families must be agents; got 'c': the agents are a, b",
        ),
        ({"a": 5}, TypeError, "family must be a string; got 5"),
        (["a"], TypeError, "families must be a mapping of agents"),
        ({"a": "x", "b": "x"}, ValueError, "the subject must have one setting, .*; 'x' has 2"),
    ):
        with pytest.raises(error, match=message):
            Study(RIVER, {"a": opt.Rmax, "b": opt.RaviUcb}, 5, subject="x", families=families)
    with pytest.raises(StudyError, match="family must be a string; got 3"):
        parse(last="family = 3")
    with pytest.raises(ValueError, match="the subject must have peers; there is no agent but 'a'"):
        Study(RIVER, {"a": opt.Rmax}, 5, subject="a")
