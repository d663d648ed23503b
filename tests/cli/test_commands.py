"""What the commands do and print."""

import json
import math

import numpy as np
import pytest

import optimist as opt
from optimist.experiments import run_folder
from optimist.experiments.learners import LEARNERS
from optimist.parameters import to_plain

RMAX = "R-max (Rmax): visits 2, updates 100"


def test_sweep_prints_what_was_lost_and_by_whom(optimist, study):
    code, out, err = optimist("sweep", study, "--out", "rivers", "--jobs", 1)
    assert (code, err) == (0, "")
    for word in ("Two rivers (3 seeds)", "river 3", "river 5", "twice", "R-max", "uniform play"):
        assert word in out
    assert "optimist report rivers" in out
    assert out.splitlines()[-3:-1] == [
        "twice (RmaxRaviUcb): beta 0.5, eta 10, alpha 18.4207, omega 9.21034, r_max 1, ridge 1, "
        "updates 10, observe_last False, anytime False, lazy False, v_max none",
        RMAX,
    ]


def test_json_holds_what_the_results_say(as_json, done):
    found = as_json("resume", done)
    results = opt.open_results(done)
    assert found["runs"] == found["finished"] == 12
    assert found["failures"] == []
    twice = {"agent": "RmaxRaviUcb", **to_plain(opt.RmaxRaviUcb.Config())}
    rmax = {"agent": "Rmax", "visits": 2, "updates": 100}
    assert found["agents"] == {"twice": twice, "R-max": rmax}
    assert found["table"] == json.loads(json.dumps(list(results.table())))
    row = found["table"][0]
    cell = results.cell("river 3", "twice")
    assert row["average"] == pytest.approx(cell.averages.mean(), rel=1e-12)
    assert row["average_low"] <= row["average"] <= row["average_high"]


def test_what_is_finished_is_not_run_again(optimist, done, monkeypatch):
    monkeypatch.setattr("optimist.experiments.sweep.execute", None)
    before = {f: f.stat().st_mtime_ns for f in done.glob("runs/*/*")}
    assert optimist("resume", done)[0] == 0
    assert {f: f.stat().st_mtime_ns for f in done.glob("runs/*/*")} == before


def test_a_study_that_has_grown_keeps_its_runs(optimist, as_json, study, done):
    before = {f: f.read_bytes() for f in done.glob("runs/*/*")}
    study.write_text(study.read_text().replace("seeds = 3", "seeds = 4"))
    assert as_json("sweep", study, "--out", done, "--jobs", 1)["finished"] == 16
    assert {f: f.read_bytes() for f in before} == before


def test_learn_is_a_study_of_one_world_and_one_agent(as_json):
    found = as_json(
        *("learn", "RiverSwim", "--world.n", 4, "--agent", "Psrl", "--agent.alpha", 2),
        *("--agent.lazy", "--episodes", 50, "--seeds", 2, "--jobs", 1),
        *("--out", "one", "--policy", "p.safetensors"),
    )
    assert [row["agent"] for row in found["table"]] == ["Psrl"]
    study = opt.open_results("one").study
    assert study.worlds == {"RiverSwim": opt.envs.RiverSwim(4)}
    assert study.configurations == {"Psrl": opt.Psrl.Config(alpha=2.0, lazy=True)}
    spec = study.runs[0].spec
    agent = opt.Psrl(spec.world, config=spec.agent, seed=spec.seed, stride=spec.stride)
    agent.learn(50)
    learnt = opt.load_policy("p.safetensors")
    np.testing.assert_array_equal(learnt.probabilities([0, 1, 2, 3]), agent.policy.table)


def test_learn_without_a_folder_leaves_nothing_behind(optimist, tmp_path):
    code, out, _ = optimist("learn", "RiverSwim", "--episodes", 20, "--seeds", 1, "--jobs", 1)
    assert code == 0
    for line in (
        "one seed: no interval\n",
        "(1 seed)",
        "\nOptimist: r_max 1, v_max none, delta none\n",
    ):
        assert line in out
    assert list(tmp_path.iterdir()) == []


def test_sweep_says_how_the_subject_does_against_the_best_peer(optimist, as_json, study):
    study.write_text('subject = "twice"\nheld_out = ["river 5"]\n' + study.read_text())
    code, out, _ = optimist("sweep", study, "--out", "rivers", "--jobs", 1)
    assert code == 0
    assert "twice is lowest or within 1.2 times the best peer on " in out
    assert "of 2 worlds" in out
    assert "of the 1 held out" in out
    assert "chosen in hindsight" in out
    counts = as_json("sweep", study, "--out", "rivers", "--jobs", 1)["peers"]["counts"]
    assert counts["all"]["worlds"] == 2


def test_report_writes_one_page_and_figures(optimist, as_json, done):
    written = as_json("report", done, "--pdf", "--png")["written"]
    assert written[0] == str(done / "report.html")
    assert {f.rpartition(".")[2] for f in written} == {"html", "pdf", "png"}
    for file in written:
        assert (done.parent / file).stat().st_size > 1000
    code, out, _ = optimist("report", done, "--out", "elsewhere.html")
    assert code == 0
    assert out.splitlines()[0] == "elsewhere.html"
    assert out.splitlines()[-1] == RMAX


def test_report_of_nothing(optimist, study):
    folder = study.parent / "empty"
    folder.mkdir()
    (folder / "study.toml").write_text(study.read_text())
    code, _, err = optimist("report", folder)
    assert code == 2
    assert "no run of" in err
    assert "has finished" in err


def test_compare_shows_the_better_agent_and_its_interval(optimist, as_json, done):
    found = as_json("compare", done)
    assert [w["world"] for w in found] == ["river 3", "river 5"]
    a, b = found[0]["pairs"]
    assert (a["agent"], a["over"]) == ("twice", "R-max")
    assert a["value"] + b["value"] == pytest.approx(1)
    losses = [opt.open_results(done).cell("river 3", n).averages for n in ("twice", "R-max")]
    wins = np.sign(losses[1][None] - losses[0][:, None])
    assert a["value"] == pytest.approx((wins.mean() + 1) / 2)
    code, out, _ = optimist("compare", done)
    assert code == 0
    assert "better than R-max" in out
    assert out.splitlines()[-1] == RMAX


def test_compare_tells_the_agents_of_several_studies_apart(optimist, as_json, done, study):
    other = study.read_text().replace("visits = 2", "visits = 4").replace("n = [3, 5]", "n = [5]")
    study.write_text(other)
    assert optimist("sweep", study, "--out", "other", "--jobs", 1)[0] == 0
    found = as_json("compare", "rivers", "other")
    five = next(w for w in found if w["world"] == "river 5")
    names = [f"{a} ({f})" for f in ("rivers", "other") for a in ("twice", "R-max")]
    assert list(five["agents"]) == names
    assert five["agents"]["R-max (other)"] == {"agent": "Rmax", "visits": 4, "updates": 100}
    out = optimist("compare", "rivers", "other")[1]
    assert out.splitlines()[-1] == "R-max (other) (Rmax): visits 4, updates 100"
    assert len(five["pairs"]) == 12
    # The same specification is the same run, so it is neither better nor worse than itself.
    same = [p for p in five["pairs"] if {p["agent"], p["over"]} == {names[0], names[2]}]
    assert all(p["value"] == 0.5 for p in same)


def test_envs_are_solved_exactly(as_json):
    for found in as_json("envs"):
        world = opt.envs.WORLDS[found["world"]]()
        assert found["optimal"] == pytest.approx(world.mdp.optimal().value, rel=1e-12)
        assert found["certificate"] < 1e-10


def test_agents_are_listed_with_their_defaults(optimist, as_json):
    found = {a["agent"]: a["parameters"] for a in as_json("agents")}
    assert list(found) == list(LEARNERS.shipped)
    assert found["Rmax"] == {"visits": 5, "updates": 100}
    assert found["RmaxRaviUcb"]["updates"] == opt.RmaxRaviUcb.Config().updates
    assert "bonus (FixedBonus: beta 0.5)" in optimist("agents")[1]


def test_demo_learns_shows_and_reports(optimist, monkeypatch, study):
    monkeypatch.setattr("optimist.cli.demo.STUDY", str(study))
    code, out, _ = optimist("demo", "--out", "first", "--jobs", 1)
    assert code == 0
    assert "2 worlds x 2 agents x 3 seeds" in out
    page = study.parent / "first" / "report.html"
    assert page.resolve().as_uri() in out
    assert page.exists()
    assert "finished before" not in out
    code, out, _ = optimist("demo", "--out", "first", "--jobs", 1)
    assert code == 0
    assert "they have all finished before; delete first" in out


def test_a_failed_run_is_reported_and_the_others_finish(optimist, study, monkeypatch):
    """Exit code 1, the reason on the error output, and everything else finished."""
    usual = run_folder.RunFolder.note_environment

    def fail_for_rmax(self, now):
        if self.specification.plain["agent"]["agent"] == "Rmax":
            raise RuntimeError("no luck today")
        usual(self, now)

    with monkeypatch.context() as patched:
        patched.setattr(run_folder.RunFolder, "note_environment", fail_for_rmax)
        code, out, err = optimist("sweep", study, "--out", "f", "--jobs", 1, "--json")
    assert code == 1
    found = json.loads(out)
    assert found["finished"] == 6
    assert len(found["failures"]) == 6
    assert "failed: R-max in river 3, seed 0: RuntimeError: no luck today" in err
    data = opt.open_results("f").data
    assert len(data.failures) == 6
    assert list(data.worlds[0].estimates) == ["twice"]
    code, out, _ = optimist("resume", "f", "--jobs", 1, "--json")  # failed runs are tried again
    assert code == 0
    assert json.loads(out)["finished"] == 12


def test_the_folder_of_a_study_has_its_name_and_curves_go_to_tensorboard(optimist, study):
    assert optimist("sweep", study, "--jobs", 1, "--tensorboard", "logs")[0] == 0
    assert (study.parent / "runs" / "rivers" / "study.toml").read_text() == study.read_text()
    written = list((study.parent / "logs").glob("*/*/seed */events*"))
    assert len(written) == 12
    from tensorboardX.proto.event_pb2 import Event

    curves = opt.open_results("runs/rivers").cell("river 3", "R-max")
    at = {}
    data = next(f for f in written if "river 3/R-max/seed 0" in str(f)).read_bytes()
    while data:  # records: length, checksum, event, checksum
        size = int.from_bytes(data[:8], "little")
        event = Event.FromString(data[12 : 12 + size])
        for value in event.summary.value:
            at.setdefault(value.tag, {})[event.step] = value.simple_value
        data = data[16 + size :]
    assert list(at["regret"]) == curves.at.tolist()
    np.testing.assert_allclose(list(at["regret"].values()), curves.curves["regret"][0], rtol=1e-6)
    assert not math.isnan(at["bonus"][1])


def test_learn_until_it_is_certified(optimist, as_json, tmp_path):
    world = ("learn", "RiverSwim", "--world.n", 3, "--world.gamma", 0.5, "--agent", "Prover")
    found = as_json(*world, "--until", "30%", "--seeds", 2, "--policy", "p.safetensors")
    assert found["until"] == 0.3
    assert len(found["runs"]) == 2
    best = opt.envs.RiverSwim(3, gamma=0.5).mdp.optimal().value
    for run in found["runs"]:
        assert run["share"] <= 0.3
        assert run["lower"] <= best <= run["upper"]
    kept = opt.load_policy("p.safetensors").certificate
    assert kept.upper == found["runs"][0]["upper"]
    code, out, _ = optimist(*world, "--until", "1%", "--episodes", 50, "--seeds", 1)
    assert code == 1
    assert "until certified within 0.01" in out
    for bad, sentence in (
        (("--until", "5"), "--until must be a share of the optimum, such as 5% or 0.05; got 5"),
        (("--until", "5%", "--out", "x"), "--out must not be given with --until"),
        (("--until", "5%", "--live"), "--live must not be given with --until"),
        (("--until", "5%", "--record", "x.gif"), "--record must not be given with --until"),
        (("--until", "5%", "--delta", 2), r"delta must be in (0, 1); got 2"),
    ):
        code, _, err = optimist(*world, *bad)
        assert code == 2
        assert sentence in err
    assert [path.name for path in tmp_path.iterdir()] == ["p.safetensors"]
