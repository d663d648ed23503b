"""Recording an expert and imitating it, as their users call the commands."""

import json

import numpy as np
import pytest

import optimist as opt
from optimist.features import OneHotState, StateOnly
from optimist.imitation import FeatureDataset, FraIL, FraILConfig

SMALL = ("--world.layout", "S..\n.#.\n..G")
IMITATE = ("imitate", "GridWorld", *SMALL, "--expert", "good.npz")
WORLD = opt.envs.GridWorld("S..\n.#.\n..G")


def record(optimist, file, *flags):
    code, out, err = optimist("expert", "GridWorld", *SMALL, "--out", file, *flags)
    assert code == 0, err
    return out


@pytest.mark.parametrize("suffix", ["parquet", "npz", "csv"])
def test_an_optimal_expert_is_recorded(optimist, suffix, tmp_path):
    out = record(optimist, f"expert.{suffix}", "--samples", 500)
    assert out == (
        f"expert.{suffix}: 500 samples of 8 features (states) of an optimal policy in GridWorld\n"
    )
    data = FeatureDataset.load(tmp_path / f"expert.{suffix}")
    assert (data.size, data.dim) == (500, 8)
    exact = WORLD.mdp.state_occupancy(WORLD.mdp.optimal().policy)
    assert np.abs(data.mean - exact).max() < 4.5 * 0.5 / np.sqrt(500)


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
    assert "8, 1,000 samples" in out
    policy = opt.load_policy(tmp_path / "policy.safetensors")
    il = FraIL(WORLD, FeatureDataset.load(tmp_path / "expert.parquet"), seed=3)
    il.learn(600)
    x = np.arange(8)
    np.testing.assert_array_equal(policy.probabilities(x), il.policy.probabilities(x))


def test_the_numbers_are_those_of_the_library(optimist, as_json):
    record(optimist, "expert.npz", "--samples", "inf")
    found = as_json(
        *("imitate", "GridWorld", *SMALL, "--expert", "expert.npz", "--episodes", 400),
        *("--agent.weights.radius", 2, "--agent.updates", 5),
    )
    best = WORLD.mdp.optimal()
    phi = StateOnly(OneHotState(8), 4)
    expert = FeatureDataset.from_policy(WORLD, best.policy, phi)
    config = FraILConfig(opt.imitation.Ball(2.0), updates=5)
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
    assert (found["episodes"], found["steps"]) == (400, int(history.steps.sum()))
    assert found["samples"] is None


def test_both_policies_and_the_weights_are_written(optimist, as_json, tmp_path):
    record(optimist, "expert.npz", "--samples", "inf")
    found = as_json(
        *("imitate", "GridWorld", *SMALL, "--expert", "expert.npz", "--episodes", 90),
        *("--policy", "last.safetensors", "--output", "drawn.safetensors"),
        *("--weights", "simplex:2"),
    )
    il = FraIL(
        WORLD,
        FeatureDataset.load(tmp_path / "expert.npz"),
        config=FraILConfig(opt.imitation.Simplex(2.0)),
    )
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
        learn(self, episodes // 2, show_progress)
        raise KeyboardInterrupt

    monkeypatch.setattr(FraIL, "learn", interrupted)
    code, out, err = optimist(
        "imitate", "GridWorld", *SMALL, "--expert", "expert.npz", "--episodes", 80
    )
    assert code == 130
    assert "interrupted after 40 episodes" in err
    assert "FRA-IL in GridWorld, 40 episodes" in out


def test_recorded_is_said_as_json(optimist):
    said = json.loads(record(optimist, "e.csv", "--samples", 7, "--json"))
    assert said == {"out": "e.csv", "samples": 7, "dimension": 8}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["expert", "GridWord", "--out", "e.npz"], "did you mean 'GridWorld'?"),
        (["expert", "GridWorld"], "--out"),
        (["expert", "GridWorld", "--out", "e.npz", "--samples", "0"], "samples = 0 must be at"),
        (["expert", "GridWorld", "--out", "e.npz", "--samples", "0.5"], "not a whole number"),
        (["expert", "GridWorld", "--out", "e.xls"], ".parquet"),
        (["expert", "GridWorld", "--out", "e.csv", "--samples", "inf"], "exact"),
        (["expert", "GridWorld", "--out", "e.npz", "--policy", "no.safetensors"], "no.safetensors"),
        (["expert", "GridWorld", "--out", "e.npz", "--features", "actions"], "actions"),
        (["expert", "GridWorld", "--out", "nowhere/e.npz"], "there is no folder nowhere"),
        (["expert", "GridWorld", "--out", "e.npz", "--policy", "."], "No such device"),
        (["expert", "FourRooms", "--out", "e.npz", "--policy", "small.safetensors"], "8 states"),
        (["imitate", "GridWorld", "--expert", "good.npz", "--policy", "no/p"], "no folder no"),
        ([*IMITATE, "--weights", "bal:1"], "ball:RADIUS"),
        ([*IMITATE, "--weights", "ball:1:2"], "ball:RADIUS"),
        ([*IMITATE, "--weights", "ball:-1"], "be positive"),
        (["imitate", "GridWorld"], "--expert"),
        (["imitate", "GridWorld", "--expert", "no.parquet"], "no.parquet"),
        (["imitate", "RiverSwim", "--expert", "good.npz"], "has 8 features a row, and this world"),
        (["imitate", "--expert", "good.npz", "GridWorld"], "the world comes first"),
        (["expert", "GridWorld", "--out", "e.npz", "--samples", "1e15"], "of memory; the limit is"),
        (
            [
                *("imitate", "GridWorld", *SMALL, "--expert", "good.npz", "--weights", "box"),
                *("--agent.weights.radius", "2"),
            ],
            "either --weights or --agent.weights.radius",
        ),
        (["imitate", "GridWorld", *SMALL, "--expert", "good.npz", "--world.gamma", "0.5"], "0.9"),
        (["imitate", "GridWorld", *SMALL, "--expert", "good.npz", "--episodes", "0"], "episodes"),
        (["imitate", "GridWorld", *SMALL, "--expert", "good.npz", "--agent.beta=-1"], "beta"),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(optimist, arguments, message):
    record(optimist, "good.npz", "--samples", 10)
    opt.core.TablePolicy(WORLD.mdp.uniform_policy).save("small.safetensors")
    code, out, err = optimist(*arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err


def test_an_imitator_is_an_agent_like_others(as_json):
    found = as_json(
        *("learn", "GridWorld", *SMALL, "--agent", "FraIL", "--agent.samples", 100),
        *("--seeds", 2, "--episodes", 300, "--jobs", 1),
    )
    [row] = found["table"]
    assert (row["agent"], row["seeds"]) == ("FraIL", 2)
    assert 0 < row["final"] < row["average"] < 1
