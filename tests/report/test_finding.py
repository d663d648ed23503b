"""The finding in a sentence, and where the page opens."""

import math
from dataclasses import replace

import numpy as np
import pytest

from optimist.report.data import Recording, plain
from optimist.report.finding import finding, leaders, most_telling
from optimist.report.page import render

WORLDS, AGENTS = ("Room", "Sea", "River"), ("Bold", "Careful", "Idle")


@pytest.fixture
def study(sample, samples):
    """The function that makes a study from each world's values, with intervals of some width."""

    def made(*worlds, width=0.01, agents=AGENTS, seeds=4):
        data = sample(WORLDS[: len(worlds)], agents, seeds)
        for i, values in enumerate(worlds):
            for agent, x in zip(agents, values, strict=True):
                ends = (math.nan, math.nan) if seeds == 1 else (x - width, x + width)
                path = f"worlds.{i}.estimates.{agent}.average"
                data = samples.changed(data, path, samples.about(x, *ends))
        return data

    return made


def test_the_agent_that_leads_everywhere_is_named(study):
    assert finding(study((0.011, 0.049, 0.3), (0.1, 0.2, 0.3))) == (
        "Bold loses least in all 2 worlds: 1.1% of the optimal value in Room, where the next best, "
        "Careful, loses 4.9%."
    )
    assert finding(study((0.3, 0.2, 0.1))) == (
        "Idle loses least: 10.0% of the optimal value in Room, where the next best, Careful, loses "
        "20.0%."
    )


def test_other_leaders_and_ties_are_reported(study):
    told = finding(study((0.1, 0.5, 0.9), (0.3, 0.305, 0.9), (0.5, 0.1, 0.9)))
    assert told == (
        "Bold loses least in 1 of 3 worlds (Careful in 1): 10.0% of the optimal value in Room, "
        "where the next best, Careful, loses 50.0%; in Sea it is not distinguishable from Careful."
    )
    told = finding(study((0.1, 0.5, 0.9), (0.9, 0.505, 0.5), (0.3, 0.301, 0.302)))
    assert "in 1 of 3 worlds (Idle or Careful in 1)" in told
    assert told.endswith("; in River it is not distinguishable from the others.")


def test_nothing_is_claimed_if_all_intervals_overlap_or_there_is_one_seed(study):
    assert finding(study((0.1, 0.11, 0.9), (0.2, 0.2, 0.2), width=0.02)) == (
        "No agent is distinguishable from all others in any world: in Room, Bold loses 10.0% of "
        "the optimal value and Careful 11.0%."
    )
    told = finding(study((0.1, 0.11, 0.9), seeds=1))
    assert told.startswith("Bold loses least: 10.0%")
    assert told.endswith("loses 11.0% (one seed: the difference may be chance).")


def test_worlds_in_which_only_one_agent_has_finished_do_not_count(study):
    data = study((0.1, 0.5, 0.9), (0.1, 0.5, 0.9))
    for agent in ("Careful", "Idle"):
        del data.worlds[1].estimates[agent]
    assert finding(data).startswith("Bold loses least: 10.0% of the optimal value in Room")


def test_one_agent_and_no_agent(study, sample):
    assert (
        finding(study((0.25,), agents=("Bold",)))
        == "Bold loses 25.0% of the optimal value in Room."
    )
    data = sample()
    assert finding(replace(data, worlds=())) == ""
    bare = [replace(w, estimates={}, improvement={}, curves={}) for w in data.worlds]
    assert finding(replace(data, worlds=tuple(bare))) == ""
    assert 'id="finding"' not in render(replace(data, worlds=()))


def test_returns_have_a_sentence_of_their_own_and_higher_is_better(study, samples):
    world, data = samples.environment(AGENTS), study((0.1, 0.5, 0.9))
    numbers = [f"{world.scores[a].value:.1f}".replace("-", "\N{MINUS SIGN}") for a in AGENTS[:2]]
    own = (
        f"Bold earns most: {numbers[0]} an episode in Plane, where the next best, Careful, earns "
        f"{numbers[1]}."
    )
    assert finding(replace(data, worlds=(world,))) == own
    both = finding(replace(data, worlds=(*data.worlds, world)))
    assert both.startswith("Bold loses least")
    assert both.endswith(own)
    assert leaders(world) == ["Bold"]


def test_a_subject_has_its_own_sentence(sample, samples):
    peers = samples.comparison(WORLDS)
    assert finding(replace(sample(), comparison=peers)) == peers.sentence
    assert finding(replace(sample(), comparison=replace(peers, worlds=()))) == finding(sample())


def test_the_most_telling_world_has_the_largest_difference_and_a_picture(study, samples):
    data = study((0.1, 0.11, 0.12), (0.1, 0.2, 0.6), (0.0, 0.5, 0.9))
    assert most_telling(data) == 1  # River has no picture
    assert (
        most_telling(replace(data, worlds=tuple(replace(w, picture=None) for w in data.worlds)))
        == 2
    )
    plane = samples.environment(AGENTS)  # returns differ by less than a fifth
    assert most_telling(replace(data, worlds=(plane, *data.worlds[1:]))) == 1
    assert most_telling(replace(data, worlds=(plane, data.worlds[0]))) == 0
    assert most_telling(replace(data, worlds=())) == 0


def recording(*bonus, ascension=None):
    n = len(bonus)
    return Recording(
        "a", 0, np.arange(n), np.zeros((n, 2)), np.array(bonus, dtype=float), ascension
    )


def test_a_picture_opens_where_optimism_differs_between_the_states():
    assert recording([1, 1], [1, 0.5], [1, 0], [0.1, 0], [0, 0]).opening == 2
    assert recording([1, 1], [1, 0.05], [1, 0], [0.1, 0], [0, 0]).opening == 1  # with 90% of it
    assert recording([1, 0], [1, 0.5], [0.5, 0.4], [1, 0]).opening == 1  # not the first or last
    heaven = np.array([[1, 1], [1, 1], [1, 1], [1, 0], [0, 0]])
    assert recording(*[[0.0, 0.0]] * 5, ascension=heaven).opening == 3
    for n, middle in ((0, 0), (1, 0), (2, 1), (5, 2)):  # without optimism
        assert Recording("a", 0, np.arange(n), np.zeros((n, 2))).opening == middle


def test_missing_numbers_are_none_and_infinite_ones_are_refused():
    assert plain({"a": (1, math.nan, np.float64(1 / 3))}, digits=2) == {"a": [1, None, 0.33]}
    with pytest.raises(ValueError, match=r"a in the data must be finite, .*; got -inf"):
        plain({"a": np.array([-math.inf])})
