"""Every public method and property of every learner works, or is not there."""

import inspect

import gymnasium
import numpy as np
import pytest
from reference.experts import optimal_expert

import optimist as opt
from optimist.agents import AGENTS, Agent, History
from optimist.envs import Gym

RIVER = opt.envs.RiverSwim(4, gamma=0.9)
DATA = optimal_expert(RIVER.mdp)


def lake(kind):
    return kind(gymnasium.make("FrozenLake-v1"), gamma=0.9)


LEARNERS = {
    **{name: lambda kind=kind: kind(RIVER) for name, kind in AGENTS.items()},
    **{
        f"{name}, environment": lambda kind=kind: lake(kind)
        for name, kind in AGENTS.items()
        if issubclass(kind, opt.agents.VariantAgent) and name != "Rlsvi"
    },
    "FraIL": lambda: opt.FraIL(RIVER, DATA),
    "FraIL, environment": lambda: opt.FraIL(RIVER.make(), DATA, gamma=0.9),
}


def call(learner, name, folder):
    """Use a public name of a learner as its user would."""
    kind, finite = type(learner), hasattr(learner, "mdp")
    world = learner.mdp if finite else Gym(gymnasium.make("FrozenLake-v1"), gamma=0.9)
    imitates = isinstance(learner, opt.FraIL)
    if imitates and not finite:
        world = Gym(RIVER.make(), gamma=0.9)
    match name:
        case "learn":
            assert isinstance(learner.learn(2), History)
        case "predict":
            assert learner.predict(0) in range(4)
        case "played":
            assert "episodes end as the environment ends them" in learner.played
        case "believe":
            assert learner.believe(np.arange(3)).value.shape == (3,)
        case "forget":
            learner.forget()
            assert learner.learn(2).first == learner.episodes - 2
        case "save":
            learner.save(folder)
        case "restore" | "load":
            again = kind(world, DATA) if imitates else kind(world)
            again.learn(3)
            again.save(folder)
            given = (folder, world, DATA) if imitates else (folder, world)
            loaded = kind.load(*given)
            fresh = kind(world, DATA) if imitates else kind(world)
            fresh.restore(folder)
            assert loaded.episodes == fresh.episodes == 3
        case "certificate":
            if finite and not imitates:
                found = learner.certificate(delta=0.1)
                assert -1e-6 < found.lower <= learner.mdp.optimal().value <= found.upper < 10.1
            else:
                with pytest.raises(ValueError, match="certificate"):
                    learner.certificate()
        case "estimate":
            if finite and not imitates:
                found = learner.estimate(episodes=5)
            else:  # what it plays cannot be made once more
                with pytest.raises(ValueError, match="env must be given"):
                    learner.estimate(episodes=5)
                found = learner.estimate(episodes=5, env=RIVER if imitates else world)
            assert found.low <= found.value <= found.high
        case "show":
            if finite:
                assert "occupancy" in [ax.get_title() for ax in learner.show().axes]
            else:
                with pytest.raises(ValueError, match="the world must have a map"):
                    learner.show()
        case "theory":
            assert kind.theory(RIVER, K=100).config.beta > 100
        case "Config":
            assert kind.Config() == kind.Config()
        case _:
            value = getattr(learner, name)
            assert not inspect.ismethod(value), f"{name} is not tried here"


@pytest.mark.parametrize("name", LEARNERS)
def test_every_public_name_works_or_is_not_there(name, tmp_path):
    learner = LEARNERS[name]()
    learner.learn(20)
    missing = set()
    for attribute in dir(type(learner)):
        if attribute.startswith("_"):
            continue
        try:
            call(learner, attribute, tmp_path)
        except AttributeError:
            missing.add(attribute)
    environment, imitates = "environment" in name, isinstance(learner, opt.FraIL)
    streaming = {"believe", "environment", "played", "transitions"}
    absent = {"mdp", "rewards", "snapshot"} if environment else streaming
    if imitates:
        absent = {"mdp", "matching_error", "snapshot"} if environment else set()
    if isinstance(learner, opt.Prover | opt.Psrl | opt.Ucbvi | opt.OptimisticQ | opt.QLearning):
        absent = set()
    assert missing == absent


def test_an_imitator_has_nothing_of_the_agents_that_it_is_not():
    il = opt.FraIL(RIVER, DATA)
    assert isinstance(il, Agent)
    assert not isinstance(il, opt.agents.VariantAgent)
    assert not any(hasattr(il, name) for name in ("rewards", "believe", "theory", "environment"))
