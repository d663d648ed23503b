"""The studies that come with the package."""

import math
from collections import Counter

import pytest

from optimist.agents import AGENTS
from optimist.envs import WORLDS
from optimist.experiments import Study, shipped_studies
from optimist.experiments.specification import agent_name, world_name

SHIPPED = shipped_studies()


def test_there_are_four():
    assert list(SHIPPED) == ["exploration", "imitation", "quick", "sensitivity"]


@pytest.fixture(params=SHIPPED)
def study(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Study.read(request.param)


def test_it_says_what_it_is_and_for_what(study):
    assert study.title[0].isupper()
    assert study.description.endswith(".")
    assert study.text in SHIPPED.values()


def test_its_runs_are_all_different(study):
    assert len(study.runs) == len(study.worlds) * len(study.agents) * len(study.numbers)
    assert len({run.spec.id for run in study.runs}) == len(study.runs)
    assert len({run.spec.seed for run in study.runs}) == len(study.runs)


def test_no_slot_of_a_name_is_left_empty(study):
    assert not [name for name in (*study.worlds, *study.agents) if "{" in name]


def test_the_names_of_quick_and_of_sensitivity():
    assert list(Study.read("quick").worlds) == ["RiverSwim", "DeepSea", "FourRooms", "Maze"]
    assert list(Study.read("sensitivity").agents) == [
        *("beta 0.1", "beta 0.2", "beta 0.3", "beta 0.5", "beta 1", "beta 2"),
        *("eta 0.1", "eta 1", "eta 100", "1 updates", "3 updates", "30 updates"),
    ]


def test_sensitivity_varies_one_parameter_at_a_time_of_the_paper():
    """And the default is among them once, so that every line of a figure has it."""
    configs = list(Study.read("sensitivity").agents.values())
    default = AGENTS["RmaxRaviUcb"].Config.practical()
    assert configs.count(default) == 1


def test_exploration_has_every_agent():
    study = Study.read("exploration")
    assert {agent_name(config) for config in study.agents.values()} == set(AGENTS)


def test_exploration_has_every_world_but_the_hard_families_of_the_paper():
    """And its names say the discount factors."""
    study = Study.read("exploration")
    assert {world_name(world) for world in study.worlds.values()} == set(WORLDS) - {
        *("LowerK", "LowerTauE")
    }
    for name, world in study.worlds.items():
        assert name.endswith(f", {world.gamma:g}".replace("0.", "."))


def test_exploration_has_the_default_once_and_a_grid_over_each_peer():
    names = list(Study.read("exploration").agents)
    assert names[0] == "RMAX-RAVI-UCB"
    peers = Counter(name.partition(",")[0] for name in names[1:])
    assert len(peers) == len(AGENTS) - 1
    assert min(peers.values()) >= 3


def test_exploration_is_about_the_agent_as_it_comes():
    study = Study.read("exploration")
    assert study.configurations[study.subject] == AGENTS["RmaxRaviUcb"].Config.adaptive()
    assert study.held_out


def test_imitation_shows_more_and_more_of_the_expert_and_then_the_rewards():
    study = Study.read("imitation")
    *imitators, rewarded = study.configurations.values()
    assert [config.samples for config in imitators] == [100, 1000, math.inf]
    assert agent_name(rewarded) == "RmaxRaviUcb"
    assert list(study.agents)[:3] == [f"FRA-IL, {n} samples" for n in ("100", "1000", "inf")]


def test_a_file_of_the_same_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = SHIPPED["quick"].replace('title = "A quick look"', 'title = "Mine"')
    (tmp_path / "quick").write_text(text)
    assert Study.read("quick").title == "Mine"


def test_a_folder_of_the_same_name_does_not_hide_it(tmp_path, monkeypatch):
    """As `optimist sweep quick --out quick` leaves it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quick").mkdir()
    assert Study.read("quick").title == "A quick look"
