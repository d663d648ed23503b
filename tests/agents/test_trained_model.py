"""Models that learnt elsewhere are played as they are."""

import gymnasium
import numpy as np
import pytest
from reference.own import lake

from optimist import Optimist, PythonAgent, Study, TrainedModel, envs, run
from optimist.experiments.specification import Specification

RIVER = envs.RiverSwim(4, gamma=0.9)
DOWN_AND_RIGHT = np.array([1, 2, 1, 0, 1, 0, 1, 0, 2, 1, 1, 0, 0, 2, 2, 0])


class Model:
    """Has the protocol of Stable-Baselines3, and draws unless it is told not to."""

    def __init__(self, actions, memory=None):
        self.actions, self.memory = actions, memory

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        assert deterministic
        return np.asarray(self.actions)[observation], self.memory


class Plain:
    def predict(self, observation):
        return [int(observation[2] > 0)]


def test_a_model_of_stable_baselines():
    agent = PythonAgent(lake(), TrainedModel(Model(DOWN_AND_RIGHT)), gamma=0.9, seed=0)
    history = agent.learn(5)
    assert history.mean_return() == 1
    assert history.terminated.all()
    assert agent.policy.table.argmax(axis=1).tolist() == DOWN_AND_RIGHT.tolist()


def test_an_object_of_any_kind_in_an_environment_without_numbers():
    agent = PythonAgent(gymnasium.make("CartPole-v1"), TrainedModel(Plain()), gamma=0.99, seed=0)
    history = agent.learn(5)
    assert history.reward.tolist() == history.steps.tolist()
    assert agent.predict(np.array([[0, 0, 0.1, 0], [0, 0, -0.1, 0]])).tolist() == [1, 0]


def test_a_policy_of_ours_is_evaluated_exactly():
    learnt = Optimist(RIVER, seed=0)
    learnt.learn(500)
    agent = PythonAgent(RIVER, TrainedModel(learnt.policy), seed=1, stride=1)
    lost = agent.learn(3).suboptimality()
    greedy, mdp = np.eye(2)[learnt.predict(np.arange(4))], RIVER.mdp
    value = (mdp.occupancy(greedy) * mdp.r).sum() * mdp.horizon
    assert lost == pytest.approx(1 - value / mdp.optimal().value, abs=1e-9)


def test_it_is_saved_without_the_model(tmp_path):
    model = TrainedModel(Model([1, 1, 1, 1]), name="right")
    agent = PythonAgent(RIVER, model, seed=0)
    agent.learn(3)
    agent.save(tmp_path)
    loaded = PythonAgent.load(tmp_path, RIVER, model)
    assert loaded.learn(4).steps.tolist() == agent.learn(4).steps.tolist()


def test_studies_tell_models_apart_by_their_names():
    left, right = (TrainedModel(Model([a] * 4), name=n) for a, n in ((0, "left"), (1, "right")))
    study = Study({"river": RIVER}, {"left": left, "right": right}, episodes=20, seeds=2)
    results = run(study, jobs=1)
    assert len(results.finished) == 4
    one, other = (Specification(RIVER, m, episodes=5, stride=1, seed=0) for m in (left, right))
    assert one.id != other.id
    read = Specification.from_plain(one.plain)
    assert read == one
    with pytest.raises(TypeError, match=r"model must have a method predict\(observation\); got N"):
        read.learner()
    with pytest.raises(ValueError, match="name must be given in a study"):
        Study({"river": RIVER}, {"right": TrainedModel(Model([1] * 4))}, episodes=5)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (3, r"model must have a method predict\(observation\); got 3"),
        (
            Model([1, 1, 1, 1], memory=0),
            "model must not be recurrent; its predict returned a state",
        ),
        (Model([2, 2, 2, 2]), r"model must predict an action in 0, ..., 1; got .*2"),
        (Model([0.5] * 4), r"model must predict an action in 0, ..., 1; got .*0.5"),
        (Model(np.ones((4, 2), int)), r"model must predict an action in 0, ..., 1; got .*1, 1"),
    ],
)
def test_models_that_cannot_be_played(model, message):
    with pytest.raises((TypeError, ValueError), match=message):
        PythonAgent(RIVER, TrainedModel(model)).learn(1)
