"""The peers as agents: they learn, stop and go on, refuse what is wrong, and join studies."""

import math
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from reference.refusals import assert_refuses

from optimist import (
    FiniteMDP,
    LsviUcb,
    OptimisticQ,
    Psrl,
    QLearning,
    Rlsvi,
    Study,
    Ucbvi,
    envs,
    load_policy,
)
from optimist.agents import AGENTS, Agent, History, interruption
from optimist.core import TablePolicy
from optimist.errors import FileError
from optimist.experiments import Specification
from optimist.experiments.execute import Task, execute, marks

RIVER = envs.RiverSwim(6, gamma=0.9)
TABULAR = (Psrl, Ucbvi, OptimisticQ, QLearning)
PEERS = (*TABULAR, Rlsvi, LsviUcb)
NAN = math.nan


@pytest.fixture(params=PEERS, ids=lambda peer: peer.__name__)
def peer(request):
    return request.param


def lost(peer, world, config, episodes=1000, seeds=2):
    """The mean over seeds of the average suboptimality."""
    runs = [peer(world, config=config, seed=seed).learn(episodes) for seed in range(seeds)]
    return np.mean([run.suboptimality() for run in runs])


# They learn

MOST = [  # that each of the peers loses; None where it cannot be expected to learn
    (envs.RiverSwim(6, gamma=0.9), (0.12, 0.1, 0.15, None, 0.12, 0.1)),
    (envs.RiverSwim(6, gamma=0.99), (0.05, 0.05, 0.1, None, 0.05, 0.05)),
    (envs.DeepSea(10), (0.2, 0.5, None, None, 0.15, 0.15)),
    (envs.RandomLinear(5, 40, 3), (0.02, 0.05, 0.05, 0.1, 0.02, 0.02)),
]


@pytest.mark.parametrize(("world", "most"), MOST, ids=lambda given: type(given).__name__)
def test_it_learns(world, most):
    for kind, limit in zip(PEERS, most, strict=True):
        assert limit is None or lost(kind, world, None) < limit, kind


NOTED = {
    ("RiverSwim", 0.9): (envs.RiverSwim(6, gamma=0.9), 0.058, 0.22),
    ("RiverSwim", 0.99): (envs.RiverSwim(6, gamma=0.99), 0.010, 0.12),
    ("DeepSea", 0.99): (envs.DeepSea(10), 0.050, 0.82),
}


@pytest.mark.parametrize("world", NOTED)
def test_it_loses_about_what_rlberry_does_or_less(world):
    """Against its posterior sampling, and its UCBVI, under the same resets."""
    place, psrl, ucbvi = NOTED[world]
    assert lost(Psrl, place, Psrl.Config(alpha=1.0), seeds=3) < 2.5 * psrl
    assert lost(Ucbvi, place, Ucbvi.Config(c=0.3), seeds=3) < 1.2 * ucbvi


def test_q_learning_needs_luck_where_exploration_is_hard():
    """It is the peer that shows what the others are for; LSVI-UCB learns in environments too."""
    assert lost(QLearning, envs.DeepSea(10), QLearning.Config()) > 0.9
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent = LsviUcb(env, gamma=0.9, config=LsviUcb.Config(beta=0.3), seed=0)
    assert agent.learn(200).reward[-20:].mean() == 1.0


# What it says of itself


def test_it_is_an_agent_with_exact_regrets(peer):
    agent, states = peer(RIVER, seed=1, stride=1), np.arange(6)
    np.testing.assert_array_equal(agent.policy.probabilities(states), 0.5)
    agent.learn(49)
    coming = agent.policy.probabilities(states)
    np.testing.assert_array_equal(agent.learn(1).policies[0], coming)
    history = agent.history
    assert isinstance(agent, Agent)
    assert isinstance(history, History)
    assert repr(agent).startswith(f"{peer.__name__}(episodes=50, steps=")
    assert agent.steps == history.steps.sum()
    values = RIVER.mdp.value(history.policies)
    np.testing.assert_allclose(history.regrets(), RIVER.mdp.optimal().value - values, atol=1e-9)
    np.testing.assert_allclose(history.policies.sum(axis=2), 1.0, rtol=1e-12)
    now, last = agent.diagnostics, agent.policy.probabilities(states)
    assert (now.V.shape, now.CB.shape, now.p.shape) == ((6,), (6, 2), (6, 2))
    np.testing.assert_array_equal(now.pi, last)
    assert now.epoch == history.epoch[-1]
    assert agent.predict(3) == np.argmax(last[3])
    output = agent.output.probabilities(states)  # one of the policies that were played
    assert np.abs(history.policies - output).max(axis=(1, 2)).min() < 1e-12


@pytest.mark.parametrize("tabular_peer", [*TABULAR, Rlsvi])
def test_its_policy_is_a_table_that_can_be_saved(tabular_peer, tmp_path):
    agent = tabular_peer(RIVER, seed=0)
    agent.learn(20)
    assert isinstance(agent.policy, TablePolicy)
    agent.policy.save(tmp_path / "p.safetensors")
    loaded = load_policy(tmp_path / "p.safetensors")
    np.testing.assert_array_equal(loaded.probabilities(np.arange(6)), agent.policy.table)


def test_visits_are_of_the_pairs_whose_next_state_was_seen():
    agent = Psrl(RIVER, seed=0)
    agent.learn(100)
    assert agent.visits.shape == (6, 2)
    assert agent.visits.sum() == agent.steps - 100


# The same bytes


def test_learning_in_pieces_is_learning_at_once(peer, same, tmp_path, monkeypatch):
    """Also in threads, on copies; stored in between; and with a history that is forgotten."""
    whole, parts, forgets, other = (peer(RIVER, seed=seed, stride=3) for seed in (3, 3, 3, 4))
    for agent in (whole, other):
        agent.learn(100)
    assert whole.history.steps.tobytes() != other.history.steps.tobytes()
    forgets.learn(50)
    forgets.forget()
    assert forgets.learn(50).first == 50
    same(whole, forgets, history=False)
    monkeypatch.setattr(interruption, "CALL_SECONDS", 0.0)
    parts.learn(37)
    parts.save(tmp_path)
    parts = peer.load(tmp_path, RIVER)
    assert type(parts) is peer
    monkeypatch.setattr(interruption, "SLOW_SECONDS", 0.0)
    parts.learn(63)
    same(whole, parts)
    for kept in ("policy", "output"):
        tables = [getattr(a, kept).probabilities(np.arange(6)) for a in (whole, parts)]
        np.testing.assert_array_equal(*tables)


def test_another_world_or_other_parameters_are_refused(peer, tmp_path):
    agent = peer(RIVER, seed=5)
    agent.learn(10)
    agent.save(tmp_path)
    other, name = Ucbvi if peer is not Ucbvi else Psrl, next(iter(vars(agent.config)))
    changed = replace(agent.config, **{name: getattr(agent.config, name) / 2})
    holds = f"holds a {peer.__name__}, not a {other.__name__}"
    assert_refuses(
        lambda load: load(),
        (lambda: peer.load(tmp_path, envs.RiverSwim(6, gamma=0.95)), FileError, "another world"),
        (lambda: peer(RIVER, seed=6).restore(tmp_path), FileError, "seed was 5, is 6"),
        (lambda: other.load(tmp_path, RIVER), FileError, holds),
        (lambda: peer(RIVER, seed=5, config=changed).restore(tmp_path), FileError, f"{name} was"),
    )
    assert peer.load(tmp_path, RIVER).config == agent.config


# Refusals

WRONG = [
    (Psrl, {"alpha": 0.0}, "alpha must be positive; got 0"),
    (Psrl, {"alpha": NAN}, "alpha must be a finite number; got nan"),
    (Psrl, {"updates": 0}, "updates must be at least 1; got 0"),
    (Ucbvi, {"c": -0.1}, r"c must not be negative; got -0\.1"),
    (Ucbvi, {"c": math.inf}, "c must be a finite number; got inf"),
    (Ucbvi, {"updates": 0}, "updates must be at least 1; got 0"),
    (OptimisticQ, {"c": -1.0}, "c must not be negative; got -1"),
    (QLearning, {"epsilon": 1.5}, r"epsilon must be in \[0, 1\]; got 1\.5"),
    (QLearning, {"step": 0.0}, "step must be positive; got 0"),
    (QLearning, {"step": 2.0}, r"step must be in \[0, 1\]; got 2"),
    (QLearning, {"power": -1.0}, r"power must be in \[0, 1\]; got -1"),
    (Rlsvi, {"sigma": 0.0}, "sigma must be positive; got 0"),
    (Rlsvi, {"ridge": 0.0}, "ridge must be positive; got 0"),
    (LsviUcb, {"beta": -1.0}, r"beta must not be negative; got -1\.0"),
    (LsviUcb, {"ridge": -1.0}, "ridge must be positive; got -1"),
]


def test_worlds_and_parameters_that_cannot_be():
    for kind, wrong, message in WRONG:
        with pytest.raises(ValueError, match=message):
            kind.Config(**wrong)
    mdp = FiniteMDP(np.ones((1, 2, 1)), [[0.0, 2.0]], [1.0], gamma=0.5)
    lake, short = gymnasium.make("FrozenLake-v1"), {"episodes": 1, "stride": 1, "seed": 0}
    for kind in (*TABULAR, Rlsvi):
        name, config = kind.__name__, kind.Config()
        assert_refuses(
            lambda make: make(kind),  # noqa: B023
            (lambda k: k(mdp).learn(1), ValueError, r"\[0, r_max\] = \[0, 1\].*affine"),
            (lambda k: k(lake), TypeError, r"World or FiniteMDP|finite world"),
            (lambda k: k(RIVER, config=LsviUcb.Config()), TypeError, f"must be a {name}Config"),
        )
        with pytest.raises(ValueError, match=f"{name} learns in finite worlds"):
            Specification(envs.Gym("FrozenLake-v1"), config, **short)
    with pytest.raises(TypeError, match="features must be None: Psrl keeps a table"):
        Psrl(RIVER, RIVER.features)


# In studies


@pytest.mark.parametrize("name", [peer.__name__ for peer in PEERS])
def test_a_run_in_pieces_gives_the_same_bytes(name, tmp_path, monkeypatch):
    """As it does when it is killed after any of its checkpoints."""
    spec = Specification(envs.GridWorld(), AGENTS[name].Config(), 60, stride=5, seed=2)
    assert execute(Task(spec, str(tmp_path / "whole"))).state == "finished"
    learn, calls = Agent.learn, []

    def tired(agent, episodes, **given):
        if len(calls) in (3, 5, 8):
            calls.append(None)
            raise KeyboardInterrupt
        calls.append(None)
        return learn(agent, episodes, **given)

    monkeypatch.setattr(Agent, "learn", tired)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            execute(Task(spec, str(tmp_path / "parts"), checkpoint_seconds=0))
    assert execute(Task(spec, str(tmp_path / "parts"), checkpoint_seconds=0))
    assert len(calls) == len(marks(60, 5)) - 1 + 3
    for file in ("curves.parquet", "policy.safetensors", "agent.safetensors", "result.json"):
        whole, parts = (tmp_path / run / file for run in ("whole", "parts"))
        assert whole.read_bytes() == parts.read_bytes(), file


def test_they_meet_in_a_study(tmp_path):
    from optimist.experiments import run

    study = Study(
        worlds={"river": RIVER},
        agents={peer.__name__: peer for peer in PEERS},
        episodes=50,
        seeds=2,
    )
    results = run(study, tmp_path / "out", jobs=1)
    assert not results.failures
    assert {row["agent"] for row in results.table()} == {peer.__name__ for peer in PEERS}
