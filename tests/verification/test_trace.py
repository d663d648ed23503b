"""`record` changes nothing in what the learner computes."""

import numpy as np
import pytest

from optimist.agents import RmaxRaviUcb
from optimist.core import Switching
from optimist.envs import RandomLinear, RiverSwim
from optimist.features import OneHotState, PerAction
from optimist.verification import RecordedRun, record
from optimist.verification.verify import OF_RUNS

SLOPE = {"eta": 1.0, "beta": 1.0, "alpha": 4.0, "omega": 2.0, "updates": 1}
DENSE = RandomLinear(d=5, n_states=9, n_actions=3, gamma=0.8)


@pytest.mark.parametrize(("world", "updates"), [(RiverSwim(5, gamma=0.9), 3), (DENSE, 1)])
def test_recording_changes_nothing(world, updates):
    config = RmaxRaviUcb.Config(updates=updates)
    trace = record(world.mdp, world.features, config, K=60, seed=3)
    agent = RmaxRaviUcb(world, config=config, seed=3, stride=1)
    history = agent.learn(60)
    np.testing.assert_array_equal(trace.played, history.policies)
    np.testing.assert_array_equal(trace.epoch, history.epoch)
    np.testing.assert_array_equal(np.bincount(trace.at), history.steps)
    np.testing.assert_array_equal(trace.V_next[-1], agent.diagnostics.V)
    np.testing.assert_array_equal(trace.CB[-1], agent.diagnostics.CB)
    paid = trace.r.reshape(60, -1)[trace.at, trace.pairs]
    np.testing.assert_allclose(np.bincount(trace.at, weights=paid), history.reward)
    assert len(trace.Q) == 60 * updates


@pytest.mark.parametrize("observe_last", [False, True])
def test_the_last_pair_of_an_episode_is_seen_only_if_asked_for(observe_last):
    world = RiverSwim(5, gamma=0.7)
    config = RmaxRaviUcb.Config(**SLOPE, observe_last=observe_last)
    trace = record(world.mdp, world.features, config, K=50)
    last = np.append(trace.at[1:] != trace.at[:-1], True)
    np.testing.assert_array_equal(trace.seen < 0, last & (not observe_last))
    seen = trace.seen >= 0
    kernel = np.asarray(world.mdp.P).reshape(10, 5)
    assert (kernel[trace.pairs[seen], trace.seen[seen]] > 0).all()
    assert trace.Lambda[-1].sum() == pytest.approx(10 + seen.sum())


def test_every_line_of_the_algorithm_holds_under_changing_rewards_and_any_blocks():
    world = RiverSwim(5, gamma=0.9)
    turns = Switching(np.array([world.mdp.r, 1 - world.mdp.r]), every=7)
    phi = PerAction(OneHotState(5), n_actions=2)
    config = RmaxRaviUcb.Config(3.0, 2.0, 4.0, 2.0, ridge=0.5, updates=2)
    trace = record(world.mdp, phi, config, K=60, rewards=turns)
    assert len(np.unique(trace.r.reshape(60, -1), axis=0)) == 2
    run = RecordedRun(trace, delta=0.1)
    for statement in OF_RUNS:
        claim = statement.check(run)
        if statement.about.startswith("Algorithm") and claim is not None:
            assert not claim.broken.any(), statement.key


def test_a_configuration_that_the_analysis_does_not_cover_is_refused():
    world = RiverSwim(5, gamma=0.9)
    for other in ({"eta": np.inf}, {"lazy": True}, {"v_max": 2.0}, {"anytime": True}):
        with pytest.raises(ValueError, match="analysis"):
            record(world.mdp, world.features, RmaxRaviUcb.Config(**{**SLOPE, **other}), K=10)
