"""Recording an expert and imitating it, as their users call the commands."""

import json

import numpy as np
import pytest
from reference.experts import NEEDED, imitator

import optimist as opt
from optimist.core.timed import table_in
from optimist.features import OneHotState, StateOnly
from optimist.imitation import (
    IMITATORS,
    FeatureDataset,
    FraIL,
    FraILConfig,
    TrajectoryDataset,
)
from optimist.parameters import to_plain

SMALL = ("--world.layout", "S..\n.#.\n..G")
IMITATE = ("imitate", "GridWorld", *SMALL, "--expert", "good.npz")
EXPERT = ("expert", "GridWorld", "--out", "e.npz")
LOG = ("imitate", "GridWorld", *SMALL, "--expert", "log.csv")
WORLD = opt.envs.GridWorld("S..\n.#.\n..G")


def record(optimist, file, *flags):
    code, out, err = optimist("expert", "GridWorld", *SMALL, "--out", file, *flags)
    assert code == 0, err
    return out


def test_an_optimal_expert_is_recorded(optimist, tmp_path):
    exact = WORLD.mdp.state_occupancy(WORLD.mdp.optimal().policy)
    for name in ("expert.parquet", "expert.npz", "expert.csv"):
        shown = "500 samples of 8 features (states) of an optimal policy in GridWorld\n"
        assert record(optimist, name, "--samples", 500) == f"{name}: {shown}"
        data = FeatureDataset.load(tmp_path / name)
        assert (data.size, data.dim) == (500, 8)
        assert np.abs(data.mean - exact).max() < 4.5 * 0.5 / np.sqrt(500)
    said = json.loads(record(optimist, "e.csv", "--samples", 7, "--json"))
    assert said == {"out": "e.csv", "samples": 7, "dimension": 8}


def test_the_seed_decides_the_samples(optimist, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        record(optimist, f"{name}.npz", "--samples", 20, "--seed", seed)
    a, b, c = (FeatureDataset.load(tmp_path / f"{name}.npz").features for name in "abc")
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


def test_a_given_policy_is_recorded_exactly(optimist, tmp_path):
    left = np.tile([0.0, 0.0, 0.5, 0.5], (8, 1))
    opt.core.TablePolicy(left).save(tmp_path / "left.safetensors")
    flags = ("--policy", "left.safetensors", "--samples", "inf", "--features", "pairs")
    assert "the exact mean of 32 features (pairs)" in record(optimist, "left.npz", *flags)
    data = FeatureDataset.load(tmp_path / "left.npz")
    np.testing.assert_allclose(data.mean, WORLD.mdp.occupancy(left).ravel(), rtol=0, atol=1e-12)
    assert data.size == np.inf


def test_an_expert_is_imitated(optimist, tmp_path):
    record(optimist, "expert.parquet", "--samples", 1000)
    code, out, err = optimist(
        *("imitate", "GridWorld", *SMALL, "--expert", "expert.parquet"),
        *("--episodes", 600, "--policy", "policy.safetensors", "--seed", 3),
    )
    assert code == 0, err
    assert "FRA-IL in GridWorld, 600 episodes" in out
    line = (
        "weights (Ball: radius 1), player (Optimist: r_max 1, v_max none, delta none), fresh False"
    )
    assert out.splitlines()[-1] == f"FraIL: {line}"
    assert "8, 1,000 samples" in out
    policy = opt.load_policy(tmp_path / "policy.safetensors")
    il = FraIL(WORLD, FeatureDataset.load(tmp_path / "expert.parquet"), seed=3)
    il.learn(600)
    x = np.arange(8)
    np.testing.assert_array_equal(policy.probabilities(x), il.policy.probabilities(x))


def test_trajectories_are_recorded(optimist, tmp_path):
    flags = ("--trajectories", 20, "--seed", 3)
    expected = TrajectoryDataset.from_rollouts(
        WORLD, WORLD.mdp.optimal().policy, 20, np.random.default_rng([3, 1])
    )
    for name in ("expert.parquet", "expert.npz"):
        said = "20 trajectories of 40 steps, states and actions of an optimal policy in GridWorld\n"
        assert record(optimist, name, *flags) == f"{name}: {said}"
        assert TrajectoryDataset.load(tmp_path / name) == expected
    said = json.loads(record(optimist, "e.csv", *flags, "--length", 7, "--states-only", "--json"))
    assert said == {"out": "e.csv", "trajectories": 20, "length": 7, "actions": False}
    assert (
        TrajectoryDataset.load(tmp_path / "e.csv").contents == "20 trajectories of 7 steps, states"
    )


@pytest.mark.parametrize("features", ["states", "pairs"])
def test_trajectories_are_imitated(optimist, as_json, tmp_path, features):
    record(optimist, "expert.parquet", "--trajectories", 30)
    found = as_json(
        *("imitate", "GridWorld", *SMALL, "--expert", "expert.parquet", "--episodes", 100),
        *("--features", features),
    )
    phi = StateOnly(OneHotState(8), 4) if features == "states" else WORLD.features
    expert = TrajectoryDataset.load(tmp_path / "expert.parquet").features(phi)
    il = FraIL(WORLD, expert, phi)
    il.learn(100)
    assert found["samples"] == 30
    assert found["reward_weights"] == il.reward_weights.tolist()


def test_a_log_of_rows_and_columns_is_imitated(optimist, as_json, tmp_path):
    """Without actions, and without a gamma: the world has one."""
    record(optimist, "expert.csv", "--trajectories", 10, "--states-only")
    data = TrajectoryDataset.load(tmp_path / "expert.csv")
    lines = [
        f"{i},{t},{','.join(map(str, WORLD.position(int(x))))}"
        for i, path in enumerate(data)
        for t, x in enumerate(path.states)
    ]
    (tmp_path / "log.csv").write_text("\n".join(["episode,t,row,column", *lines]))
    how = ("--episodes", 50)
    of_states = as_json("imitate", "GridWorld", *SMALL, "--expert", "expert.csv", *how)
    of_map = as_json(
        *("imitate", "GridWorld", *SMALL, "--expert", "log.csv", "--states", "row,column", *how)
    )
    assert of_map == of_states


def test_the_numbers_are_those_of_the_library(optimist, as_json):
    record(optimist, "expert.npz", "--samples", "inf")
    found = as_json(
        *("imitate", "GridWorld", *SMALL, "--expert", "expert.npz", "--episodes", 400),
        *("--weights.radius", 2, "--player", "RmaxRaviUcb", "--player.updates", 5, "--fresh"),
    )
    best = WORLD.mdp.optimal()
    phi = StateOnly(OneHotState(8), 4)
    expert = FeatureDataset.from_policy(WORLD, best.policy, phi)
    config = FraILConfig(opt.imitation.Ball(2.0), opt.RmaxRaviUcb.Config(updates=5), fresh=True)
    il = FraIL(WORLD, expert, config=config, stride=1)
    history = il.learn(400)
    lost = 1 - WORLD.mdp.value(history.policies) / best.value
    assert found["lost_first"] == pytest.approx(lost[:100].mean(), abs=1e-9)
    assert found["lost_last"] == pytest.approx(lost[-100:].mean(), abs=1e-9)
    mixture = WORLD.mdp.state_occupancy(history.policies[-100:]).mean(axis=0)
    distance = np.linalg.norm(mixture - expert.mean)
    assert found["matching_error"] == pytest.approx(distance, abs=1e-9)
    estimate = history.estimated_matching_error(100)
    assert found["estimated_matching_error"] == pytest.approx(estimate, abs=1e-9)
    assert (found["W_max"], found["shift"], found["R_max"]) == (2.0, 2.0, 4.0)
    assert found["eta_r"] == pytest.approx(2 / 20)
    steps = int((history.steps + history.rollouts).sum())
    assert (found["episodes"], found["steps"], found["samples"]) == (400, steps, None)
    assert found["agents"] == {"FraIL": {"agent": "FraIL", **to_plain(config)}}


def test_both_policies_and_the_weights_are_written(optimist, as_json, tmp_path):
    record(optimist, "expert.npz", "--samples", "inf")
    found = as_json(
        *("imitate", "GridWorld", *SMALL, "--expert", "expert.npz", "--episodes", 90),
        *("--policy", "last.safetensors", "--output", "drawn.safetensors"),
        *("--weights", "Simplex", "--weights.total", 2),
    )
    expert = FeatureDataset.load(tmp_path / "expert.npz")
    il = FraIL(WORLD, expert, weights=opt.imitation.Simplex(2.0))
    il.learn(90)
    x = np.arange(8)
    for name, policy in (("last", il.policy), ("drawn", il.output)):
        loaded = opt.load_policy(tmp_path / f"{name}.safetensors")
        np.testing.assert_array_equal(loaded.probabilities(x), policy.probabilities(x))
    assert found["reward_weights"] == il.reward_weights.tolist()
    assert found["W_max"] == 2.0


def test_a_policy_with_features_is_recorded_in_its_linear_world(optimist):
    flags = ("--episodes", 20, "--seeds", 1, "--jobs", 1, "--policy", "p.safetensors")
    assert optimist("learn", "RandomLinear", "--world.n-states", 12, *flags)[0] == 0
    code, out, err = optimist(
        *("expert", "RandomLinear", "--world.n-states", 12, "--policy", "p.safetensors"),
        *("--features", "linear", "--out", "e.npz"),
    )
    assert code == 0, err
    assert "the policy in p.safetensors" in out


def test_what_was_learnt_before_an_interruption_is_shown(optimist, monkeypatch):
    record(optimist, "expert.npz", "--samples", "inf")
    learn = FraIL.learn

    def interrupted(self, episodes, show_progress=True):
        learn(self, episodes // 2, show_progress=show_progress)
        raise KeyboardInterrupt

    monkeypatch.setattr(FraIL, "learn", interrupted)
    code, out, err = optimist(
        "imitate", "GridWorld", *SMALL, "--expert", "expert.npz", "--episodes", 80
    )
    assert code == 130
    assert "interrupted after 40 episodes" in err
    assert "FRA-IL in GridWorld, 40 episodes" in out


def test_a_mistake_gives_a_one_line_error(optimist, refused):
    record(optimist, "good.npz", "--samples", 10)
    record(optimist, "log.csv", "--trajectories", 5, "--states-only")
    opt.core.TablePolicy(WORLD.mdp.uniform_policy).save("small.safetensors")
    table = [
        (["expert", "GridWord", "--out", "e.npz"], "did you mean 'GridWorld'?"),
        (["expert", "GridWorld"], "--out"),
        (
            ["expert", "GridWorld", "--out", "e.npz", "--samples", "0"],
            "samples must be at least 1; got 0",
        ),
        (
            ["expert", "GridWorld", "--out", "e.npz", "--samples", "0.5"],
            "a whole number or inf",
        ),
        (["expert", "GridWorld", "--out", "e.xls"], ".parquet"),
        (["expert", "GridWorld", "--out", "e.csv", "--samples", "inf"], "exact"),
        (["expert", "GridWorld", "--out", "e.npz", "--policy", "no.safetensors"], "no.safetensors"),
        (["expert", "GridWorld", "--out", "e.npz", "--features", "actions"], "actions"),
        (["expert", "GridWorld", "--out", "nowhere/e.npz"], "there is no folder nowhere"),
        (["expert", "GridWorld", "--out", "e.npz", "--policy", "."], "No such device"),
        (["expert", "FourRooms", "--out", "e.npz", "--policy", "small.safetensors"], "8 states"),
        (["imitate", "GridWorld", "--expert", "good.npz", "--policy", "no/p"], "no folder no"),
        ([*IMITATE, "--weights", "bal"], "there is no weights 'bal': did you mean 'Ball'?"),
        ([*IMITATE, "--weights", "Box", "--weights.radius", "1"], "--weights.radius"),
        ([*IMITATE, "--weights.radius=-1"], "be positive"),
        (["imitate", "GridWorld"], "--expert"),
        (["imitate", "GridWorld", "--expert", "no.parquet"], "no.parquet"),
        (
            ["imitate", "RiverSwim", "--expert", "good.npz"],
            "must have 6 features a row, the states of this world; got 8",
        ),
        (["imitate", "--expert", "good.npz", "GridWorld"], "the world comes first"),
        (["expert", "GridWorld", "--out", "e.npz", "--samples", "1e15"], "of memory; the limit is"),
        ([*IMITATE, "--player", "Rmax"], "there is no player 'Rmax': did you mean 'RmaxRaviUcb'?"),
        ([*IMITATE, "--player.r-mx", "2"], "--player.r-max"),
        (["imitate", "GridWorld", *SMALL, "--expert", "good.npz", "--world.gamma", "0.5"], "0.9"),
        ([*EXPERT, "--samples", "9", "--trajectories", "9"], "must not be given together"),
        ([*EXPERT, "--length", "9"], "--length and --states-only need --trajectories"),
        ([*EXPERT, "--states-only"], "--length and --states-only need --trajectories"),
        ([*EXPERT, "--trajectories", "0"], "trajectories must be at least 1; got 0"),
        ([*LOG, "--features", "pairs"], "5 trajectories of 40 steps, states, which FRA-IL cannot"),
        ([*LOG, "--features", "pairs"], "--features pairs needs actions; states does not"),
        ([*LOG, "--states", "row,column"], "'episode', 't', 'state'; states must be some of them"),
        ([*LOG, "--states", "t"], "states[8] must be in {0, ..., 7}; got 8"),
        (["imitate", "RiverSwim", "--expert", "log.csv"], "must be in {0, ..., 5}"),
        (["imitate", "GridWorld", *SMALL, "--expert", "good.npz", "--episodes", "0"], "episodes"),
        (["imitate", "GridWorld", *SMALL, "--expert", "good.npz", "--player.r-max=-1"], "r_max"),
    ]
    refused(table)


def test_an_imitator_is_an_agent_like_others(as_json):
    found = as_json(
        *("learn", "GridWorld", *SMALL, "--agent", "FraIL", "--agent.samples", 10_000),
        *("--seeds", 2, "--episodes", 300, "--jobs", 1),
    )
    [row] = found["table"]
    assert (row["agent"], row["seeds"]) == ("FraIL", 2)
    assert abs(row["final"]) < 0.01 < row["average"] < 1  # with 100 samples, .1 at the end


OTHERS = {name: kind for name, kind in IMITATORS.items() if name != "FraIL"}


@pytest.mark.parametrize("name", OTHERS)
def test_other_imitators_learn_from_trajectories(optimist, tmp_path, name):
    record(optimist, "expert.parquet", "--trajectories", 20)
    call = ("imitate", "GridWorld", *SMALL, "--expert", "expert.parquet", "--learner", name)
    flags = ("--episodes", 30, "--seed", 3, *(f"--{flag}" for flag in NEEDED.get(name, ())))
    code, out, err = optimist(*call, *flags, "--policy", "p.safetensors")
    assert code == 0, err
    data = TrajectoryDataset.load(tmp_path / "expert.parquet")
    il = imitator(OTHERS[name], WORLD, data, K=30, seed=3)
    il.learn(*([30] if il.plays else []))
    assert f"{name} in GridWorld " in out
    assert f" {il.episodes}, {il.steps}" in out
    policy = opt.load_policy(tmp_path / "p.safetensors")
    np.testing.assert_array_equal(table_in(WORLD.mdp, policy), table_in(WORLD.mdp, il.policy))
    code, out, err = optimist(*call, *flags, "--json")
    assert code == 0, err
    best, pi = WORLD.mdp.optimal().value, table_in(WORLD.mdp, il.output)
    assert json.loads(out)["lost_output"] == pytest.approx(1 - WORLD.mdp.value(pi) / best)


def test_data_that_other_imitators_cannot_use_are_refused(optimist):
    record(optimist, "good.npz", "--samples", 20)
    code, _, err = optimist(*IMITATE, "--learner", "MimicMD")
    assert code == 2
    assert "good.npz must hold trajectories, as MimicMD learns from them" in err
    record(optimist, "bare.npz", "--trajectories", 5, "--states-only")
    call = ("imitate", "GridWorld", *SMALL, "--expert", "bare.npz")
    code, _, err = optimist(*call, "--learner", "MimicMD")
    assert code == 2
    assert "expert must have actions, as MimicMD learns from them" in err
    code, _, err = optimist(*call, "--learner", "MimicMd")
    assert code == 2
    assert "there is no imitator 'MimicMd': did you mean 'MimicMD'" in err
    code, _, err = optimist(*call, "--learner", "Mobile", "--c", -1)
    assert code == 2
    assert "c must not be negative" in err
    code, _, err = optimist("imitate", "RiverSwim", *call[-2:], "--learner", "Mobile")
    assert code == 2
    assert "bare.npz holds 5 trajectories of 40 steps, states, which do not fit RiverSwim" in err


@pytest.mark.parametrize("learner", ["FraIL", "Mobile"])
def test_a_log_with_wrong_columns_is_not_taken_for_features(optimist, tmp_path, learner):
    """The sentence says what the file holds, and which flag would read it."""
    call = ("imitate", "GridWorld", *SMALL, "--expert", "log.csv", "--learner", learner)
    (tmp_path / "log.csv").write_text("episode,time,row\n0,0,1\n")
    code, _, err = optimist(*call)
    assert code == 2
    assert "columns are 'episode', 'time', 'row': trajectories have one row per step" in err
    (tmp_path / "log.csv").write_text("episode,t,row,column\n0,0,1,0\n")
    code, _, err = optimist(*call)
    assert code == 2
    assert "it has no column state; " in err
    assert "--states row,column" in err


def test_the_policy_player_may_be_cfpo_and_nothing_is_wider_than_80_columns(optimist):
    record(optimist, "good.npz", "--samples", 200)
    code, out, err = optimist(*IMITATE, "--player", "Cfpo", "--player.eta", 20, "--episodes", 50)
    assert code == 0, err
    assert "player (Cfpo: beta 0.1, eta 20," in out
    explained = out[out.index("lost: ") : out.index("FraIL: ")]
    assert max(map(len, explained.splitlines())) <= 80
