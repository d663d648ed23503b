"""Gymnasium environments as data: what they are, in studies and specifications, and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

from optimist import Optimist, OptimisticVI, Psrl, RaviUcb, Rlsvi, Rmax, RmaxRaviUcb, Study, envs
from optimist.envs import Gym
from optimist.envs.gym_world import read_options
from optimist.envs.repeat import ActionRepeat
from optimist.experiments import Specification, StudyError
from optimist.experiments.learners import ImitationConfig

CAR = Gym("MountainCar-v0")

TOML = """\
episodes = 20
seeds = 2

[worlds.car]
world = "Gym"
id = "MountainCar-v0"
features = "rbf:4"
repeat = 4
low = -4
high = 0

[worlds."lake {gamma}"]
world = "Gym"
id = "FrozenLake-v1"
options = "map_name=8x8,is_slippery=false"
gamma = [0.9, 0.95]

[agents.twice]
agent = "RmaxRaviUcb"
updates = 3
"""


def specification(world, agent=None):
    return Specification(world, agent or Rmax.Config(), episodes=10, stride=2, seed=0)


def test_a_study_in_toml_is_that_of_python():
    lake = Gym("FrozenLake-v1", options="map_name=8x8,is_slippery=false")
    study = Study(
        worlds={
            "car": Gym("MountainCar-v0", features="rbf:4", repeat=4, low=-4, high=0),
            "lake 0.9": replace(lake, gamma=0.9),
            "lake 0.95": replace(lake, gamma=0.95),
        },
        agents={"twice": RmaxRaviUcb.Config(updates=3)},
        episodes=20,
        seeds=2,
    )
    assert Study.parse(TOML).runs == study.runs
    assert Study.parse(study.text).runs == study.runs  # with nothing left out


@pytest.mark.parametrize("agent", [Optimist, RmaxRaviUcb, RaviUcb, OptimisticVI, Rmax])
def test_every_agent_receives_the_settings_of_the_world(agent):
    world = Gym("MountainCar-v0", "tiles:3", 0.9, 4, geometric=True, low=-8, high=0, parallel=3)
    learner = specification(world, agent.Config()).learner()
    assert (type(learner), learner.features.dim) == (agent, 27)
    assert learner.environment == world
    learner.learn(4, show_progress=False)
    assert learner.episodes == 4


def test_what_is_made():
    lake = Gym("FrozenLake-v1", options="map_name=8x8,is_slippery=false", repeat=2, parallel=3)
    env = lake.make()
    assert isinstance(env, SyncVectorEnv)
    assert isinstance(env.envs[0], ActionRepeat)
    assert (env.num_envs, env.envs[0].times) == (3, 2)
    assert env.single_observation_space.n == 64
    table = env.envs[0].unwrapped.P
    assert max(len(after) for actions in table.values() for after in actions.values()) == 1
    assert not isinstance(Gym("FrozenLake-v1").make(), SyncVectorEnv | ActionRepeat)


def test_mistakes_are_refused_at_once():
    for wrong, sentence in (
        ({"id": "MountanCar-v0"}, "id = 'MountanCar-v0' is unknown .*mean: `MountainCar`"),
        ({"id": "MountainCar-v7"}, "id = 'MountainCar-v7' is unknown .*versioned .*v0"),
        ({"id": "Pendulum-v1"}, "id = 'Pendulum-v1': actions must be Discrete; got Box"),
        ({"id": "Blackjack-v1", "features": "tiles:3"}, "are features of a Box with one axis"),
        ({"features": "rbf"}, "features = 'rbf': 'rbf' is not a name of features"),
        ({"features": "onehot"}, "features = 'onehot': .*such as 'tiles:"),
        ({"gamma": 1.0}, r"gamma must be in \[0, 1\); got 1"),
        ({"repeat": 0}, "repeat must be at least 1; got 0"),
        ({"parallel": 0}, "parallel must be at least 1; got 0"),
        ({"low": 1.0}, "low is given and high is not"),
        ({"high": 1.0}, "high is given and low is not"),
        ({"low": 1.0, "high": 1.0}, "low must be less than high; got 1 and 1"),
        ({"options": "goal"}, "options = 'goal' must be NAME=VALUE"),
        ({"options": "a=1,a=2"}, "must be NAME=VALUE, each name once, .*got 'a=2'"),
        ({"options": "a=True"}, "write a=true, as in JSON"),
        ({"options": "speed=1"}, "with options = 'speed=1': TypeError: .*'speed'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            Gym(**{"id": "MountainCar-v0", **wrong})


def test_mistakes_in_a_file_are_refused_with_their_line():
    for number, wrong, sentence in (
        (6, 'id = "MountanCar-v0"', "line 6: Gym: id = 'MountanCar-v0' is unknown"),
        (7, 'features = "onehot"', "line 7: Gym: features = 'onehot'"),
        (9, 'low = "much"', "line 9: low must be a number or \"none\"; got 'much'"),
        (6, "", "line 4: Gym needs id"),
    ):
        lines = TOML.splitlines()
        lines[number - 1] = wrong
        with pytest.raises(StudyError, match=f"^study, {sentence}"):
            Study.parse("\n".join(lines))


def test_learners_that_need_a_finite_world_are_refused():
    for agent in (Psrl, Rlsvi):
        with pytest.raises(ValueError, match=f"{agent.__name__} learns in finite worlds only"):
            specification(CAR, agent.Config())
    with pytest.raises(ValueError, match="none is known in MountainCar-v0"):
        Study({"river": envs.RiverSwim(), "car": CAR}, {"il": ImitationConfig()}, 10)
    text = TOML + '\n[agents.il]\nagent = "FraIL"\n'
    with pytest.raises(StudyError, match="line 22: FraIL imitates an optimal expert"):
        Study.parse(text)


def test_options_are_json_or_text():
    read = read_options("a=1.5,b=8x8,c=[1,2],d=null,e=,f=x=y")
    assert read == {"a": 1.5, "b": "8x8", "c": [1, 2], "d": None, "e": "", "f": "x=y"}
    assert read_options("") == {}


def test_its_spaces_are_known():
    assert CAR.n_actions == 3
    np.testing.assert_array_equal(CAR.observation_space.high, np.float32([0.6, 0.07]))
