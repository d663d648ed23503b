"""An environment that does what none should is named, and nothing learnt before it is lost."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from reference.environments import Episodic
from reference.features import Angles
from reference.refusals import assert_refuses

from optimist import RmaxRaviUcb, envs, load_policy
from optimist.agents import Optimist
from optimist.envs import players
from optimist.errors import BadEnvironment
from optimist.features import OneHot

GOOD = 7  # so many episodes are as they should be


class Faulty(Episodic):
    """Episodes of three steps in a box, until something goes wrong in one of them."""

    n_states = 4

    def __init__(self, step=None, reset=None, discrete=False):
        self.faulty_step, self.faulty_reset, self.box = step, reset, not discrete
        self.repaired = False

    @property
    def wrong(self):
        return self.episode == GOOD and not self.repaired

    def reset(self, **options):
        usual = super().reset(**options)
        return self.faulty_reset(self) if self.wrong and self.faulty_reset else usual

    def step(self, action):
        usual = super().step(action)
        faulty = self.wrong and self.t == 2 and self.faulty_step
        return self.faulty_step(self, *usual) if faulty else usual

    def move(self, action):
        self.x += 1
        return 0.25, False, self.t == 3


def learner(env, features=None, **told):
    told = {"gamma": 0.9, "geometric": False, "seed": 1, **told}
    scale = {} if "reward_map" in told else {"low": 0, "high": 1}
    return RmaxRaviUcb(env, features, **scale | told)


def assert_it_goes_on(env, error, sentence, tmp_path, **told):
    """The learner stays whole and usable, and continues in a repaired environment."""
    agent = learner(env, **told)
    with pytest.raises(error, match=sentence):
        agent.learn(20)
    assert agent.episodes == GOOD
    assert agent.history.steps.tolist() == [3] * GOOD
    assert agent.steps == 3 * GOOD
    assert agent.transitions.weight.sum() == 3 * GOOD  # nothing of the bad episode
    x = 1 if isinstance(env.observation_space, spaces.Discrete) else [0.25]
    pi = agent.policy.probabilities(x)
    assert pi.sum() == pytest.approx(1.0)
    assert agent.predict(x) == int(np.argmax(pi))
    agent.policy.save(tmp_path / "policy")
    np.testing.assert_array_equal(load_policy(tmp_path / "policy").probabilities(x), pi)
    agent.save(tmp_path / "agent")
    env.repaired = True
    again = agent.learn(5)
    assert again.steps.tolist() == [3] * 5
    assert again.first == GOOD
    assert agent.history.steps.tolist() == [3] * (GOOD + 5)


def raising(error):
    def fail(*_):
        raise error

    return fail


def showing(observation):
    return lambda env, x, *rest: (np.array(observation), *rest)


TWO_ENDS = np.array([True, False])
STEPS = {
    "NaN seen": (lambda env, x, *rest: (x * np.nan, *rest), "observations must be finite; got nan"),
    "inf seen": (lambda env, x, *rest: (x + np.inf, *rest), "observations must be finite; got inf"),
    "NaN paid": (lambda env, x, r, *rest: (x, np.nan, *rest), "must pay finite rewards; got nan"),
    "inf paid": (lambda env, x, r, *rest: (x, -np.inf, *rest), "must pay finite rewards; got -inf"),
    "too much paid": (lambda env, x, r, *rest: (x, 7.5, *rest), r"paid 7\.5, and \[0, 1\] is decl"),
    "too little paid": (lambda env, x, r, *rest: (x, -2, *rest), r"paid -2, and \[0, 1\] is decla"),
    "an error": (raising(OSError("no screen")), r"failed in step\(\): OSError\('no screen'\)"),
    "another shape": (showing([0.1, 0.2]), r"space, \(1,\); got \(2,\)"),
    "more axes": (showing([[0.1]]), r"space, \(1,\); got \(1, 1\)"),
    "nothing": (lambda *_: None, r"failed in step\(\): TypeError"),
    "four things": (lambda env, *usual: usual[:4], r"failed in step\(\): ValueError"),
    "no number": (lambda env, x, r, *rest: (x, "much", *rest), "must return 1 numbers; got 'much'"),
    "no reward": (lambda env, x, r, *rest: (x, None, *rest), "must return 1 numbers; got None"),
    "two ends": (
        lambda env, x, r, over, *rest: (x, r, TWO_ENDS, *rest),
        "must return 1 numbers; got",
    ),
    "no observation": (lambda env, x, *rest: (None, *rest), "observations must have the shape"),
    "words": (showing(["a"]), "an observation"),
    "ragged": (lambda env, x, *rest: ([[0.1], [0.1, 0.2]], *rest), "observation"),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_faulty_step(name, tmp_path):
    step, sentence = STEPS[name]
    assert_it_goes_on(Faulty(step=step), BadEnvironment, sentence, tmp_path)


DISCRETE = {
    "too large": (4, r"state\[0\] must be in \{0, \.\.\., 3\}; got 4"),
    "negative": (-1, r"state\[0\] must be in .*; got -1"),
    "not whole": (1.0, "state must hold whole numbers; got float64"),
    "an array": (np.array([1]), r"space, \(\); got \(1,\)"),
    "a dictionary": ({"x": 1}, "features do not fit an observation"),
    "nothing": (None, "features do not fit an observation"),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_invalid_discrete_observations_are_refused(name, tmp_path):
    seen, sentence = DISCRETE[name]
    env = Faulty(step=lambda env, x, *rest: (seen, *rest), discrete=True)
    assert_it_goes_on(env, BadEnvironment, sentence, tmp_path)


def test_an_interruption_inside_a_step(tmp_path):
    assert_it_goes_on(Faulty(step=raising(KeyboardInterrupt())), KeyboardInterrupt, None, tmp_path)


def grown(env):
    env.observation_space = spaces.Box(0.0, 2.0, (1,), np.float64)
    return np.zeros(1), {}


RESETS = {
    "an error": (raising(OSError("no room")), r"failed in reset\(\): OSError\('no room'\)"),
    "NaN": (lambda env: (np.array([np.nan]), {}), "observations must be finite; got nan"),
    "another shape": (lambda env: (np.zeros(3), {}), r"space, \(1,\); got \(3,\)"),
    "alone": (lambda env: np.zeros(1), r"failed in reset\(\): ValueError"),
}


@pytest.mark.parametrize("name", RESETS)
def test_a_faulty_reset(name, tmp_path):
    """The episode before it has ended; it was whole, and is not lost with the next."""
    reset, sentence = RESETS[name]
    assert_it_goes_on(Faulty(reset=reset), BadEnvironment, sentence, tmp_path)


def test_observations_that_change_between_episodes():
    env = Faulty(reset=grown)
    agent = learner(env)
    with pytest.raises(
        BadEnvironment, match=r"observations must stay in Box.*; got the space Box.*"
    ):
        agent.learn(20)
    assert agent.episodes == len(agent.history.steps) == GOOD
    with pytest.raises(BadEnvironment, match="as when learning began; got the space"):
        agent.learn(1)
    env.observation_space, env.repaired = spaces.Box(0.0, 1.0, (1,), np.float64), True
    assert len(agent.learn(3).steps) == 3


def test_rewards_of_ones_own_that_fail(tmp_path):
    """A reward_map that raises is the user's mistake, and loses nothing either."""
    env = Faulty(step=lambda env, x, r, *rest: (x, 0.5, *rest))
    own = {0.25: 0.25, 0.0: 0.0}.__getitem__
    assert_it_goes_on(env, (KeyError, BadEnvironment), r"0\.5", tmp_path, reward_map=own)


class Endless(Faulty):
    ends = False

    def step(self, action):
        usual = super().step(action)
        return usual if self.ends else (np.array([0.5]), 0.25, False, False, {})


def test_an_episode_that_never_ends(monkeypatch):
    monkeypatch.setattr(players, "ENDLESS", 50)
    env = Endless()
    agent, other = learner(env), learner(env, geometric=True, gamma=0.5)
    for good in (0, 3):
        env.ends = False
        with pytest.raises(BadEnvironment, match="an episode has not ended after 50 steps"):
            agent.learn(20)
        assert agent.episodes == good
        env.ends = True
        assert len(agent.learn(3).steps) == 3
    env.ends = False
    assert other.learn(200).steps.sum() > 200  # with geometric resets it is none
    env = gymnasium.make("MountainCar-v0", max_episode_steps=80)  # nor with a long time limit
    assert learner(env, low=-1, high=0).learn(2).steps.tolist() == [80, 80]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_the_first_of_several_that_fails(mode):
    """All episodes under way are dropped, and those that had ended are kept."""
    makers = [lambda: Faulty(step=STEPS["NaN paid"][0]), Faulty]
    env = SyncVectorEnv(makers, autoreset_mode=mode)
    agent = learner(env)
    with pytest.raises(BadEnvironment, match="must pay finite rewards; got nan"):
        agent.learn(60)
    assert agent.episodes == len(agent.history.steps) == 2 * GOOD
    assert (agent.history.steps == 3).all()
    assert agent.transitions.weight.sum() == 6 * GOOD
    env.envs[0].repaired = True
    assert agent.learn(5).steps.tolist() == [3] * 5


def test_a_failure_in_the_first_episode():
    env = Faulty(step=STEPS["NaN seen"][0])
    agent = learner(env)
    env.episode = GOOD - 1
    with pytest.raises(BadEnvironment):
        agent.learn(5)
    assert agent.episodes == 0
    with pytest.raises(ValueError, match="there is no history: learn first"):
        _ = agent.history
    np.testing.assert_array_equal(agent.policy.probabilities([0.3]), [0.5, 0.5])
    assert agent.learn(2).first == 0  # a failure is told once
    assert agent.learn(2).first == 2


def test_an_environment_that_leaves_its_own_space_is_played_with_a_warning():
    env = Faulty()
    env.observation_space = spaces.Box(0.0, 0.1, (1,))
    with pytest.warns(UserWarning, match="the bounds that the environment declares"):
        history = learner(env).learn(3)
    assert len(history.steps) == 3


# What is refused before the first step.


BOX, TWO = spaces.Box(0.0, 1.0, (1,)), spaces.Discrete(2)
REFUSED = [
    (spaces.Dict(x=BOX), TWO, "no default features of Dict.*FlattenObservation"),
    (spaces.Tuple([BOX, TWO]), TWO, "no default features of Tuple.*'distinct'"),
    (BOX, spaces.Box(-1.0, 1.0, (1,)), "actions must be Discrete.*DiscretizeAction"),
    (BOX, spaces.MultiDiscrete([2, 3]), "actions must be Discrete.*TransformAction"),
    (BOX, spaces.Discrete(2, start=1), "actions must be numbered from 0"),
]


def test_spaces_without_features_are_refused_with_the_wrapper_that_helps():
    for observations, actions, sentence in REFUSED:
        env = Faulty()
        env.observation_space, env.action_space = observations, actions
        with pytest.raises(TypeError, match=sentence):
            Optimist(env)


def test_the_wrappers_that_are_named_do_help():
    class Pair(Faulty):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Dict(x=self.observation_space, y=spaces.Discrete(2))
            self.action_space = spaces.Box(-1.0, 1.0, (1,))

        def seen(self):
            return {"x": super().seen(), "y": 1}

        def step(self, action):
            return super().step(0)

    env = gymnasium.wrappers.FlattenObservation(Pair())
    env = gymnasium.wrappers.DiscretizeAction(env, bins=3)
    history = learner(env).learn(3)
    assert history.steps.tolist() == [3, 3, 3]


RIVER = envs.RiverSwim(4, gamma=0.9)


def test_invalid_settings_of_an_environment_are_refused():
    assert_refuses(
        lambda told: Optimist(Faulty(), **told),
        ({"gamma": 1.0}, ValueError, r"gamma must be in \[0, 1\); got 1"),
        ({"gama": 0.9}, TypeError, r"Optimist has no parameter 'gama': .* environment has gam"),
        ({"rewards": np.zeros((2, 2))}, TypeError, "rewards= applies to finite worlds; an environ"),
        ({"when_full": "forget"}, ValueError, "when_full must be 'thin' or 'error'; got 'forget'"),
        ({"features": np.eye(3)}, TypeError, "must be a FeatureMap, features of states or a name"),
        ({"features": "onehot"}, ValueError, "'onehot' are features of Discrete observations"),
    )
    with pytest.raises(ValueError, match="features must have 2 actions; got 3"):
        learner(Faulty(discrete=True), OneHot(4, 3))
    with pytest.raises(AttributeError, match="this applies to finite worlds only"):
        _ = Optimist(Faulty()).mdp


def test_what_a_finite_world_says_itself():
    only = r"gamma=, memory= applies to Gymnasium environments only"
    assert_refuses(
        lambda told: Optimist(**{"world": RIVER, **told}),
        ({"world": "FrozenLake-v1"}, TypeError, "a World, FiniteMDP, Gym or gymnasium.Env; got s"),
        ({"gamma": 0.9, "memory": 1e9}, TypeError, only),
        (
            {"beta": 0.5},
            TypeError,
            "Optimist has no parameter 'beta': did you .* It has r_max, v_max",
        ),
    )
    with pytest.raises(
        AttributeError, match="this applies to Gymnasium environments only; diagnostics co"
    ):
        Optimist(RIVER).believe([0])


def test_features_of_states_fit_any_number_of_actions_but_no_state_that_they_have_not():
    assert learner(Faulty(), Angles()).features.dim == 4
    agent = learner(Faulty(discrete=True), OneHot(2, 2))
    with pytest.raises(
        BadEnvironment, match=r"do not fit an observation: state\[0\] must be in .*; got 2"
    ):
        agent.learn(5)
