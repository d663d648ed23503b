"""The peers as agents: they learn, stop and go on, refuse what is wrong, and join studies."""

import math

import gymnasium
import numpy as np
import pytest

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

MOST = {
    "river .9": (
        envs.RiverSwim(6, gamma=0.9),
        {Psrl: 0.12, Ucbvi: 0.1, Rlsvi: 0.12, LsviUcb: 0.1, OptimisticQ: 0.15},
    ),
    "river .99": (
        envs.RiverSwim(6, gamma=0.99),
        {Psrl: 0.05, Ucbvi: 0.05, Rlsvi: 0.05, LsviUcb: 0.05, OptimisticQ: 0.1},
    ),
    "sea": (envs.DeepSea(10), {Psrl: 0.2, Ucbvi: 0.5, Rlsvi: 0.15, LsviUcb: 0.15}),
    "linear": (
        envs.RandomLinear(5, 40, 3),
        {Psrl: 0.02, Ucbvi: 0.05, Rlsvi: 0.02, LsviUcb: 0.02, OptimisticQ: 0.05, QLearning: 0.1},
    ),
}


@pytest.mark.parametrize(
    ("world", "peer"), [(world, peer) for world in MOST for peer in MOST[world][1]]
)
def test_it_learns(world, peer):
    place, most = MOST[world]
    assert lost(peer, place, None) < most[peer]


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
    """It is the peer that shows what the others are for."""
    assert lost(QLearning, envs.DeepSea(10), QLearning.Config()) > 0.9


# What it says of itself


def test_it_is_an_agent_with_exact_regrets(peer):
    agent = peer(RIVER, seed=1, stride=5)
    history = agent.learn(50)
    assert isinstance(agent, Agent)
    assert isinstance(history, History)
    assert repr(agent).startswith(f"{peer.__name__}(episodes=50, steps=")
    assert agent.steps == history.steps.sum()
    np.testing.assert_array_equal(history.evaluated, np.arange(0, 50, 5))
    best = RIVER.mdp.optimal().value
    values = [RIVER.mdp.value(policy) for policy in history.policies]
    np.testing.assert_allclose(history.regrets(), best - np.array(values), atol=1e-9)
    np.testing.assert_allclose(history.policies.sum(axis=2), 1.0, rtol=1e-12)
    now = agent.diagnostics
    assert (now.V.shape, now.CB.shape, now.p.shape) == ((6,), (6, 2), (6, 2))
    np.testing.assert_array_equal(now.pi, agent.policy.probabilities(np.arange(6)))
    assert now.epoch == history.epoch[-1]


def test_the_first_policy_is_uniform_and_the_last_the_present_one(peer):
    agent = peer(RIVER, seed=1, stride=1)
    np.testing.assert_array_equal(agent.policy.probabilities(np.arange(6)), 0.5)
    agent.learn(30)
    before = agent.policy.probabilities(np.arange(6))
    np.testing.assert_array_equal(agent.learn(1).policies[0], before)
    assert agent.predict(3) == np.argmax(agent.policy.probabilities(3))


def test_the_output_is_one_of_the_policies_that_were_played(peer):
    agent = peer(RIVER, seed=2, stride=1)
    played = agent.learn(40).policies
    output = agent.output.probabilities(np.arange(6))
    assert any(np.allclose(output, policy, atol=1e-12) for policy in played)


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


def assert_same(one, other):
    for name in ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "policies"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.tobytes() == second.tobytes(), name


def test_the_same_seed_gives_the_same_bytes(peer):
    assert_same(peer(RIVER, seed=3).learn(100), peer(RIVER, seed=3).learn(100))
    other = peer(RIVER, seed=4).learn(100)
    assert peer(RIVER, seed=3).learn(100).steps.tobytes() != other.steps.tobytes()


def test_learning_in_pieces_is_learning_at_once(peer, monkeypatch):
    whole, parts = peer(RIVER, seed=3), peer(RIVER, seed=3)
    whole.learn(100)
    monkeypatch.setattr(interruption, "CALL_SECONDS", 0.0)
    parts.learn(37)
    monkeypatch.setattr(interruption, "SLOW_SECONDS", 0.0)  # in threads, on copies
    parts.learn(63)
    assert_same(whole.history, parts.history)


def test_it_is_saved_and_goes_on_as_if_it_had_not_been(peer, tmp_path):
    whole, first = peer(RIVER, seed=5, stride=3), peer(RIVER, seed=5, stride=3)
    whole.learn(100)
    first.learn(41)
    first.save(tmp_path)
    again = peer.load(tmp_path, RIVER)
    assert type(again) is peer
    again.learn(59)
    assert_same(whole.history, again.history)
    for kept in ("policy", "output"):
        tables = [getattr(a, kept).probabilities(np.arange(6)) for a in (whole, again)]
        np.testing.assert_array_equal(*tables)
    np.testing.assert_array_equal(whole.diagnostics.V, again.diagnostics.V)


def test_another_world_or_other_parameters_are_refused(peer, tmp_path):
    agent = peer(RIVER, seed=5)
    agent.learn(10)
    agent.save(tmp_path)
    with pytest.raises(FileError, match="another world"):
        peer.load(tmp_path, envs.RiverSwim(6, gamma=0.95))
    with pytest.raises(FileError, match="seed was 5, is 6"):
        peer(RIVER, seed=6).restore(tmp_path)
    other = Ucbvi if peer is not Ucbvi else Psrl
    with pytest.raises(FileError, match=f"holds a {peer.__name__}, not a {other.__name__}"):
        other.load(tmp_path, RIVER)


def test_parameters_are_part_of_a_run(tmp_path):
    agent = Psrl(RIVER, config=Psrl.Config(alpha=2.0))
    agent.learn(10)
    agent.save(tmp_path)
    assert Psrl.load(tmp_path, RIVER).config == Psrl.Config(alpha=2.0)
    with pytest.raises(FileError, match=r"alpha was 2\.0, is 3\.0"):
        Psrl(RIVER, config=Psrl.Config(alpha=3.0)).restore(tmp_path)


def test_what_is_forgotten_changes_nothing(peer):
    one, other = peer(RIVER, seed=3), peer(RIVER, seed=3)
    one.learn(100)
    other.learn(50)
    other.forget()
    assert other.learn(50).first == 50
    np.testing.assert_array_equal(one.diagnostics.V, other.diagnostics.V)


# Refusals

WRONG = [
    (Psrl, {"alpha": 0.0}, "alpha = 0 must be positive"),
    (Psrl, {"alpha": NAN}, "alpha is nan; it must be a finite number"),
    (Psrl, {"updates": 0}, "updates = 0 must be at least 1"),
    (Ucbvi, {"c": -0.1}, r"c = -0\.1 must not be negative"),
    (Ucbvi, {"c": math.inf}, "c is inf; it must be a finite number"),
    (Ucbvi, {"updates": 0}, "updates = 0 must be at least 1"),
    (OptimisticQ, {"c": -1.0}, "c = -1 must not be negative"),
    (QLearning, {"epsilon": 1.5}, r"epsilon = 1\.5 is not a probability"),
    (QLearning, {"step": 0.0}, "step = 0 must be positive"),
    (QLearning, {"step": 2.0}, r"step = 2 is not a probability: it must lie in \[0, 1\]"),
    (QLearning, {"power": -1.0}, "power = -1 is not a probability"),
    (Rlsvi, {"sigma": 0.0}, "sigma = 0 must be positive"),
    (Rlsvi, {"ridge": 0.0}, "ridge = 0 must be positive"),
    (LsviUcb, {"beta": -1.0}, r"beta = -1\.0 must not be negative"),
    (LsviUcb, {"ridge": -1.0}, "ridge = -1 must be positive"),
]


def test_parameters_that_cannot_be():
    for kind, wrong, message in WRONG:
        with pytest.raises(ValueError, match=message):
            kind.Config(**wrong)


def test_worlds_and_parameters_that_cannot_be():
    mdp = FiniteMDP(np.ones((1, 2, 1)), [[0.0, 2.0]], [1.0], gamma=0.5)
    for kind in (*TABULAR, Rlsvi):
        with pytest.raises(ValueError, match=r"\[0, r_max\] = \[0, 1\].*affine"):
            kind(mdp).learn(1)
        with pytest.raises(TypeError, match=r"World or FiniteMDP|finite world"):
            kind(gymnasium.make("FrozenLake-v1"))
        with pytest.raises(ValueError, match=f"{kind.__name__} learns in finite worlds"):
            Specification(envs.Gym("FrozenLake-v1"), kind.Config(), episodes=1, stride=1, seed=0)
        with pytest.raises(TypeError, match=f"config must be a {kind.__name__}Config"):
            kind(RIVER, config=LsviUcb.Config())
    with pytest.raises(TypeError, match="features must be None: Psrl keeps a table"):
        Psrl(RIVER, RIVER.features)


def test_lsvi_ucb_learns_in_environments_too():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent = LsviUcb(env, gamma=0.9, config=LsviUcb.Config(beta=0.3), seed=0)
    assert agent.learn(200).reward[-20:].mean() == 1.0


# In studies


@pytest.mark.parametrize("name", [peer.__name__ for peer in PEERS])
def test_a_run_in_pieces_gives_the_same_bytes(name, tmp_path, monkeypatch):
    """As it does when it is killed after any of its checkpoints."""
    spec = Specification(envs.GridWorld(), AGENTS[name].Config(), 60, stride=5, seed=2)
    assert execute(Task(spec, str(tmp_path / "whole"))).state == "finished"
    learn, calls = Agent.learn, []

    def tired(agent, episodes, show_progress=True):
        if len(calls) in (3, 5, 8):
            calls.append(None)
            raise KeyboardInterrupt
        calls.append(None)
        return learn(agent, episodes, show_progress)

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
