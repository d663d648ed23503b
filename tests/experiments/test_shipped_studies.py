"""The studies that come with the package."""

import math
from collections import Counter

import pytest

from optimist.agents import AGENTS, Optimist, RaviUcb, Rmax, RmaxRaviUcb
from optimist.envs import WORLDS
from optimist.experiments import Study, shipped_studies
from optimist.experiments.learners import agent_name
from optimist.imitation import IMITATORS

SHIPPED = shipped_studies()


def test_there_are_six():
    assert list(SHIPPED) == [
        "certificates",
        "exploration",
        "imitation",
        "quick",
        "rivals",
        "sensitivity",
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_study_has_a_description_and_distinct_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study.read(name)
    assert study.title[0].isupper()
    assert study.description.endswith(".")
    assert study.text == SHIPPED[name]
    assert not [name for name in (*study.worlds, *study.agents) if "{" in name]  # slots are filled
    assert len(study.runs) == len(study.worlds) * len(study.agents) * len(study.numbers)
    assert len({run.spec.id for run in study.runs}) == len(study.runs)
    assert len({run.spec.seed for run in study.runs}) == len(study.runs)


def test_quick_compares_the_agent_with_the_algorithm_of_the_paper_and_two_older_ones():
    study = Study.read("quick")
    assert list(study.worlds) == ["RiverSwim", "DeepSea", "FourRooms", "Maze"]
    assert study.agents == {
        "Optimist": Optimist.Config(),
        "RMAX-RAVI-UCB": RmaxRaviUcb.Config(),
        "RAVI-UCB": RaviUcb.Config(),
        "R-max": Rmax.Config(),
    }


def test_sensitivity_varies_one_parameter_of_the_paper_at_a_time():
    """The default is there once, so that every line of a figure has it."""
    agents = Study.read("sensitivity").agents
    assert list(agents) == [
        *("beta 0.1", "beta 0.2", "beta 0.3", "beta 0.5", "beta 1", "beta 2"),
        *("eta 0.1", "eta 1", "eta 100", "1 updates", "3 updates", "30 updates"),
    ]
    default = RmaxRaviUcb.Config()
    assert agents["beta 0.5"] == default
    for config in agents.values():
        differing = [name for name, value in vars(config).items() if value != vars(default)[name]]
        assert len(differing) == (config != default)


def test_exploration_is_about_the_agent_without_a_knob_and_has_a_grid_over_each_peer():
    study = Study.read("exploration")
    assert study.configurations[study.subject] == Optimist.Config()
    assert next(iter(study.agents)) == study.subject
    assert study.held_out
    kinds = {family: set() for family in study.family.values()}
    for name, config in study.configurations.items():
        kinds[study.family[name]].add(agent_name(config))
    assert all(len(names) == 1 for names in kinds.values())
    found = Counter(agent_name(config) for config in study.configurations.values())
    # Prover explores for its certificate; Cfpo is a policy player, beside those of FraIL.
    assert set(found) == set(AGENTS) - {"RmaxRaviUcb", "VariantAgent", "Prover", "Cfpo"}
    assert found.pop("Optimist") == 1
    assert min(found.values()) >= 3


def test_exploration_has_every_world_but_those_of_lower_bounds_imitation_and_case_studies():
    """And its names say the discount factors."""
    study = Study.read("exploration")
    assert {type(world).__name__ for world in study.worlds.values()} == set(WORLDS) - {
        *("LowerK", "LowerTauE", "RandomMixture", "ResetCliff", "StandardImitation"),
        *("Inventory", "Queue", "Warehouse"),
    }
    for name, world in study.worlds.items():
        assert name.endswith(f", {world.gamma:g}".replace("0.", "."))


def test_imitation_shows_more_and_more_of_the_expert_and_then_the_rewards():
    study = Study.read("imitation")
    *imitators, rewarded = study.configurations.values()
    assert [config.samples for config in imitators] == [100, 1000, math.inf]
    assert rewarded == Optimist.Config()
    assert list(study.agents)[:3] == [f"FRA-IL, {n} samples" for n in ("100", "1000", "inf")]


def test_rivals_has_every_imitator_that_plays_and_then_the_rewards():
    study = Study.read("rivals")
    *imitators, rewarded = study.agents.values()
    assert [agent_name(config) for config in imitators] == [
        name for name, kind in IMITATORS.items() if kind.plays
    ]
    assert rewarded == Optimist.Config()


def test_certificates_compares_agents_that_count_with_the_prover_and_with_uniform_play():
    study = Study.read("certificates")
    assert len(study.worlds) == 8
    assert study.certify == 0.05
    *players, prover, uniform = (agent_name(config) for config in study.agents.values())
    assert players == ["Optimist", "RmaxRaviUcb", "Rmax", "Psrl", "Ucbvi"]
    assert prover == "Prover"
    assert uniform == "QLearning"
    assert study.agents["uniform play"].epsilon == 1


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
