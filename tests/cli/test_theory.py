"""``optimist theory``: the paper's bounds on the command line."""

import optimist as opt
from optimist.cli.theory import bound_rows, parameter_rows, sentences, sizes_line
from optimist.envs import WORLDS
from optimist.theory import explain, rates
from optimist.theory.literature import TABLE, measured

RIVER = opt.envs.RiverSwim(6, gamma=0.9)
PRACTICE = {"beta": 0.5, "eta": 10.0, "updates": 10, "ridge": 1.0, "K": 10_000}


def test_it_says_what_explain_says(optimist):
    code, out, err = optimist("theory", "RiverSwim", "--world.gamma", 0.9, "--K", 500)
    assert (code, err) == (0, "")
    found = explain(RIVER, 500)
    assert "RiverSwim, K = 500, delta = 0.1" in out
    assert sizes_line(found) in out
    for row in (*parameter_rows(found), *bound_rows(found)):
        assert all(cell in out for cell in row)
    assert all(sentence in out for sentence in sentences(found))


def test_the_rows_hold_the_numbers():
    found = explain(RIVER, 1000)
    assert sizes_line(found) == "d = 12, A = 2, H = 10, B = 1, W_max = 1, R_max = 1"
    theorem, practice = ({row[0]: row[i] for row in parameter_rows(found)} for i in (1, 2))
    assert (theorem["beta"], theorem["updates"], theorem["ridge"]) == ("126,644", "1", "1")
    assert [*practice.values()] == ["0.5", "10", "9.21", "18.4", "10", "1", "", "", "", ""]
    assert [*practice][:6] == ["beta", "eta", "omega", "alpha", "updates", "ridge"]
    terms = {row[0]: row[1] for row in bound_rows(found)}
    assert list(terms) == [*found.bound.terms, "total", "epoch_starts", "mended", "trivial"]
    assert (terms["heaven_chance"], terms["mended"], terms["trivial"]) == (
        "4.8e17",
        "1.4e19",
        "10,000",
    )


def test_the_sentences_say_what_the_bound_is_worth():
    share, trivial, accuracy = sentences(explain(RIVER, 1000))
    assert "heaven_chance is 82% of the printed bound at K = 1,000; with probability 0.6" in share
    assert "from K = 3.5e22 episodes on; at K = 1,000 it is 1.4e15 times" in trivial
    assert accuracy.startswith("It guarantees an average regret of 10% of V* = 1.304")
    later = sentences(explain(RIVER, 10**30))[1]
    assert later.endswith("% of the trivial one.")
    assert "from K" not in later


def test_notes_are_sentences_and_a_world_without_rewards_has_no_guarantee():
    found = explain(RIVER.mdp.with_rewards(0 * RIVER.mdp.r), 1000)
    assert len(found.notes) == 2
    assert sentences(found)[2:] == list(found.notes)


def test_json_holds_the_explanation_and_the_practical_parameters(as_json):
    found = as_json("theory", "RiverSwim", "--world.n", 4, "--delta", 0.2)
    wanted = explain(opt.envs.RiverSwim(4), 1000, delta=0.2).as_data()
    assert found == {**wanted, "practice": PRACTICE, "notes": []}


def test_every_world_is_explained(as_json):
    for world in WORLDS:
        found = as_json("theory", world)
        assert found["world"] == world
        assert found["nontrivial_from"] > 1e15, world


def test_the_rates_need_no_world(optimist, as_json):
    code, out, _ = optimist("theory", "--rates")
    assert code == 0
    for rate in rates.RATES:
        assert f" {rate.formula} " in out
    for row in TABLE:
        assert f" {row.algorithm} " in out
        assert f" {row.learner} " in out
        assert f" {row.mdp_formula} " in out
    assert out.count("as the table implies, and as measured in three worlds") == 3
    found = as_json("theory", "--rates")
    assert "value" not in found["rates"][0]
    assert [tuple(row["found"]) for row in found["measured"]] == [row.found for row in measured()]
    assert [row["expert"] for row in found["literature"]] == [row.expert_formula for row in TABLE]


def test_the_rates_have_values_in_a_world(optimist, as_json):
    found = as_json("theory", "RiverSwim", "--world.gamma", 0.9, "--rates")
    assert found["rates"][2]["value"] == rates.regret(1000, 12, 2, 0.9)
    assert found["rates"][4]["value"] == rates.episodes(found["epsilon"], 12, 2, 0.9)
    code, out, _ = optimist("theory", "RiverSwim", "--world.gamma", 0.9, "--rates")
    assert code == 0
    assert " 57,787 " in out


def test_a_mistake_gives_a_one_line_error(refused):
    refused(
        [
            (["theory", "riverswim"], "did you mean 'RiverSwim'?"),
            (["theory"], "name a world, as in `optimist theory RiverSwim`, or give --rates"),
            (["theory", "--json"], "name a world"),
            (["theory", "RiverSwim", "--K", 7], "K must be at least 8; got 7"),
            (["theory", "RiverSwim", "--delta", 1.5], "delta must be below 1; got 1.5"),
            (["theory", "RiverSwim", "--detla", 0.1], "--delta"),
        ]
    )
