"""What the paper proves, from the command line."""

import pytest

import optimist as opt
from optimist.envs import WORLDS
from optimist.theory import rates
from optimist.theory.literature import TABLE


def test_it_says_what_explain_says(optimist):
    code, out, err = optimist("theory", "RiverSwim", "--world.gamma", 0.9, "--K", 500)
    assert (code, err) == (0, "")
    found = opt.theory.explain(opt.envs.RiverSwim(gamma=0.9), 500)
    assert "RiverSwim, K = 500, delta = 0.1" in out
    assert found.sizes in out
    for row in (*found.parameter_rows, *found.bound_rows):
        assert all(cell in out for cell in row)
    assert all(sentence in out for sentence in found.sentences)


def test_json_holds_the_explanation(as_json):
    found = as_json("theory", "RiverSwim", "--world.n", 4, "--delta", 0.2)
    wanted = opt.theory.explain(opt.envs.RiverSwim(4), 1000, delta=0.2).as_data()
    assert found == {**wanted, "notes": list(wanted["notes"])}


@pytest.mark.parametrize("world", WORLDS)
def test_every_world_is_explained(as_json, world):
    found = as_json("theory", world)
    assert found["world"] == world
    assert found["nontrivial_from"] > 1e15


def test_the_rates_need_no_world(optimist, as_json):
    code, out, _ = optimist("theory", "--rates")
    assert code == 0
    for rate in rates.RATES:
        assert f" {rate.formula} " in out
    for row in TABLE:
        assert f" {row.algorithm} " in out
        assert f" {row.mdp_formula} " in out
    found = as_json("theory", "--rates")
    assert "value" not in found["rates"][0]
    assert [row["expert"] for row in found["literature"]] == [row.expert_formula for row in TABLE]


def test_the_rates_have_values_in_a_world(optimist, as_json):
    found = as_json("theory", "RiverSwim", "--world.gamma", 0.9, "--rates")
    assert found["rates"][2]["value"] == rates.regret(1000, 12, 2, 0.9)
    assert found["rates"][4]["value"] == rates.episodes(found["epsilon"], 12, 2, 0.9)
    code, out, _ = optimist("theory", "RiverSwim", "--world.gamma", 0.9, "--rates")
    assert code == 0
    assert " 57,787 " in out


def test_without_a_world_it_says_how_to_ask(optimist):
    code, out, _ = optimist("theory")
    assert code == 0
    assert "usage: optimist theory WORLD" in out
    assert "RandomLinear" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["riverswim"], "did you mean 'RiverSwim'?"),
        (["--json"], "the world comes first, before --json"),
        (["RiverSwim", "--K", 7], "K = 7 must be at least 8"),
        (["RiverSwim", "--delta", 1.5], "delta = 1.5 must be below 1"),
        (["RiverSwim", "--detla", 0.1], "--delta"),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(optimist, arguments, message):
    code, out, err = optimist("theory", *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not out
