"""The subject of a study, the families of its agents and the worlds held out."""

import dataclasses

import pytest

import optimist as opt
from optimist.experiments import Study, StudyError

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


def test_the_settings_of_a_grid_are_one_family():
    assert parse().family == {
        "twice": "twice",
        "once, beta 1": "once",
        "once, beta 3": "once",
        "R-max, 1 visits": "R-max, {visits} visits",
        "R-max, 2 visits": "R-max, {visits} visits",
    }


def test_a_family_may_be_named():
    families = parse(last='family = "R-max"').family
    assert families["R-max, 2 visits"] == "R-max"
    assert families["twice"] == "twice"


def test_a_study_says_whom_it_is_about():
    study = parse('subject = "twice"\nheld_out = ["river 4"]')
    assert (study.subject, list(study.held_out)) == ("twice", ["river 4"])
    assert (parse().subject, list(parse().held_out)) == (None, [])


def test_subjects_change_no_run():
    assert parse('subject = "twice"\nheld_out = ["river 4"]').runs == parse().runs


def test_the_text_keeps_all_of_it():
    read = parse('subject = "twice"\nheld_out = ["river 4"]', 'family = "R-max"')
    made = dataclasses.replace(read, seeds=2)  # has no source, and spells all out
    again = Study.parse(made.text)
    assert 'family = "once"' in made.text
    assert (again.subject, list(again.held_out)) == ("twice", ["river 4"])
    assert again.family == made.family == read.family
    assert again.runs == made.runs


def test_the_text_of_a_study_without_a_subject_says_nothing_of_it():
    study = Study({"river": opt.envs.RiverSwim(3)}, {"a": opt.Rmax}, 5)
    assert not any(word in study.text for word in ("subject", "held_out", "family"))


@pytest.mark.parametrize(
    ("top", "line", "message"),
    [
        ("subject = 5", 2, "subject = 5 is not text"),
        ('subject = "twce"', 2, "subject = 'twce' is none of the agents: did you mean 'twice'? "
                                "The agents are twice, once, R-max, {visits} visits"),
        ('subject = "once, beta 1"', 2, "subject = 'once, beta 1' is none of the agents: "),
        ('subject = "once"', 2, "the subject 'once' has 2 settings: give it one, for it is "
                                "compared untuned with peers that are tuned"),
        ('held_out = ["river 3"]', 2, "held_out needs a subject, whose constants were not chosen"),
        ('subject = "twice"\nheld_out = "river 3"', 3, "held_out = 'river 3' is not a list of"),
        ('subject = "twice"\nheld_out = ["rivr 3"]', 3, "held_out names 'rivr 3', which is none of "
         "the worlds: did you mean 'river 3'? The worlds are river 3, river 4"),
        ('subject = "twice"\nheld_out = [7]', 3, "held_out names 7, which is none of the worlds"),
        ('subject = "twice"\nheld_out = ["river 3", "river 3"]', 3, "held_out = ['river 3', "),
        ('subjct = "twice"', 2, "there is no key 'subjct': did you mean 'subject'?"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_where_it_stands(top, line, message):
    with pytest.raises(StudyError) as caught:
        parse(top)
    assert str(caught.value).startswith(f"my.toml, line {line}: {message}")


def test_a_family_is_text():
    with pytest.raises(StudyError, match="family = 3 is not text"):
        parse(last="family = 3")


def test_a_subject_needs_peers():
    with pytest.raises(ValueError, match="the subject 'a' has no peers"):
        Study({"river": opt.envs.RiverSwim(3)}, {"a": opt.Rmax}, 5, subject="a")


@pytest.mark.parametrize(
    ("families", "error", "message"),
    [
        (
            {"c": "x"},
            ValueError,
            "families names the agent 'c', which is none: the agents are a, b",
        ),
        ({"a": 5}, TypeError, "family = 5 is not text"),
        (["a"], TypeError, "is not a mapping of agents to their families"),
        ({"a": "x", "b": "x"}, ValueError, "the subject 'x' has 2 settings"),
    ],
)
def test_families_that_cannot_be_are_refused(families, error, message):
    with pytest.raises(error, match=message):
        Study(
            {"river": opt.envs.RiverSwim(3)},
            {"a": opt.Rmax, "b": opt.RaviUcb},
            5,
            subject="x",
            families=families,
        )
