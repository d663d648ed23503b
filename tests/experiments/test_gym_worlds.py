"""Gymnasium environments as data: what they are, in studies and specifications, and refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

from optimist import Configuration, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb, Study, envs
from optimist.envs import Gym
from optimist.envs.repeat import ActionRepeat
from optimist.experiments import Specification, StudyError
from optimist.experiments.learners import ImitationConfig

OTHERS = {
    "id": "CartPole-v1", "features": "tiles:5", "gamma": 0.9, "repeat": 3, "geometric": True,
    "options": "goal_velocity=0.01", "parallel": 2,
}  # fmt: skip
CAR = Gym("MountainCar-v0")
CHANGED = [replace(CAR, **{name: value}) for name, value in OTHERS.items()]
CHANGED += [replace(CAR, low=-1.0, high=0.0), replace(CAR, low=-2.0, high=0.0)]

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
        agents={"twice": RmaxRaviUcb},
        episodes=20,
        seeds=2,
    )
    assert Study.parse(TOML).runs == study.runs
    assert Study.parse(study.text).runs == study.runs  # with nothing left out


@pytest.mark.parametrize("world", [CAR, *CHANGED], ids=repr)
def test_a_specification_comes_back_and_no_parameter_is_left_out(world):
    spec = specification(world)
    assert Specification.from_plain(spec.plain) == spec
    assert [other for other in CHANGED if specification(other).id == spec.id] == (
        [] if world is CAR else [world]
    )


@pytest.mark.parametrize("agent", [RmaxRaviUcb, RaviUcb, OptimisticVI, Rmax])
def test_every_agent_is_told_what_the_world_says(agent):
    config = agent.Config.practical() if agent is RmaxRaviUcb else agent.Config()
    world = Gym("MountainCar-v0", "tiles:3", 0.9, 4, geometric=True, low=-8, high=0, parallel=3)
    learner = specification(world, config).learner()
    assert (type(learner), learner.features.dim) == (agent, 27)
    assert learner.terms == {"gamma": 0.9, "geometric": True, "reward_range": (-8.0, 0.0)}
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


WRONG = [
    ({"id": "MountanCar-v0"}, "id = 'MountanCar-v0' is unknown .*mean: `MountainCar`"),
    ({"id": "MountainCar-v7"}, "id = 'MountainCar-v7' is unknown .*versioned .*v0"),
    ({"id": "Pendulum-v1"}, "id = 'Pendulum-v1': actions must be Discrete, not Box"),
    ({"id": "Blackjack-v1"}, "id = 'Blackjack-v1': observations must be Discrete or a Box"),
    ({"features": "rbf"}, "features = 'rbf': 'rbf' is no name of features"),
    ({"features": "onehot"}, "features = 'onehot': .*such as 'tiles:"),
    ({"gamma": 1.0}, "gamma = 1 is outside"),
    ({"repeat": 0}, "repeat = 0"),
    ({"parallel": 0}, "parallel = 0"),
    ({"low": 1.0}, "low is given and high is not"),
    ({"high": 1.0}, "high is given and low is not"),
    ({"low": 1.0, "high": 1.0}, "low = 1 must be less than high = 1"),
    ({"options": "goal"}, "options = 'goal': 'goal' is not one more NAME=VALUE"),
    ({"options": "a=1,a=2"}, "'a=2' is not one more"),
    ({"options": "a=True"}, "write a=true, as in JSON"),
    ({"options": "speed=1"}, "with options = 'speed=1': TypeError: .*'speed'"),
]


@pytest.mark.parametrize(("wrong", "sentence"), WRONG)
def test_mistakes_are_answered_at_once(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        Gym(**{"id": "MountainCar-v0", **wrong})


@pytest.mark.parametrize(
    ("line", "wrong", "sentence"),
    [
        (6, 'id = "MountanCar-v0"', "Gym: id = 'MountanCar-v0' is unknown"),
        (7, 'features = "onehot"', "Gym: features = 'onehot'"),
        (9, 'low = "much"', "low = 'much' is not a number"),
        (6, "", "Gym needs id"),
    ],
)
def test_mistakes_in_a_file_are_answered_with_their_line(line, wrong, sentence):
    lines = TOML.splitlines()
    lines[line - 1] = wrong
    line = line if wrong else 4
    with pytest.raises(StudyError, match=f"study, line {line}: {sentence}"):
        Study.parse("\n".join(lines))


def test_imitators_are_refused():
    with pytest.raises(ValueError, match="none is known in MountainCar-v0"):
        specification(CAR, ImitationConfig())
    with pytest.raises(ValueError, match="none is known in MountainCar-v0"):
        Study({"river": envs.RiverSwim(), "car": CAR}, {"il": ImitationConfig()}, 10)
    text = TOML + '\n[agents.il]\nagent = "FraIL"\n'
    with pytest.raises(StudyError, match="line 21: FraIL imitates an optimal expert"):
        Study.parse(text)


def test_options_are_json_or_text():
    from optimist.envs.gym_world import read_options

    read = read_options("a=1.5,b=8x8,c=[1,2],d=null,e=,f=x=y")
    assert read == {"a": 1.5, "b": "8x8", "c": [1, 2], "d": None, "e": "", "f": "x=y"}
    assert read_options("") == {}


def test_the_terms_are_those_given():
    assert CAR.terms == {"gamma": 0.99, "geometric": None}
    told = replace(CAR, low=-1, high=math.pi, geometric=True).terms
    assert told == {"gamma": 0.99, "geometric": True, "reward_range": (-1, math.pi)}
    assert CAR.n_actions == 3
    np.testing.assert_array_equal(CAR.observation_space.high, np.float32([0.6, 0.07]))


def test_agents_have_the_same_parameters_in_environments_and_in_finite_worlds():
    lake, river = Gym("FrozenLake-v1"), envs.RiverSwim(6)
    expected = Configuration.adaptive()
    for worlds in ({"l": lake}, {"l": lake, "r": river}):
        study = Study(worlds=worlds, agents={"a": RmaxRaviUcb}, episodes=5, seeds=1)
        assert study.configurations["a"] == expected
        table = "\n".join(
            f'[worlds.{name}]\nworld = "{type(world).__name__}"'
            + ('\nid = "FrozenLake-v1"' if world is lake else "")
            for name, world in worlds.items()
        )
        text = f'episodes = 5\n{table}\n[agents.a]\nagent = "RmaxRaviUcb"\nupdates = 3\n'
        assert Study.parse(text).configurations["a"] == replace(expected, updates=3)
