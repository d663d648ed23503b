"""Whatever resets an environment, or several side by side, the true transitions are learnt from."""

from collections import Counter

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from reference.environments import Episodic

from optimist import FraIL, RmaxRaviUcb
from optimist.agents import Optimist
from optimist.envs.players import Players
from optimist.features import OneHot, PerAction, StateOnly, Tiles
from optimist.imitation import FeatureDataset

TOP = 12
MODES = [None, *AutoresetMode]  # None is one environment by itself


class Count(Episodic):
    """It counts up by 1 or 2, ends beyond TOP, and is cut off after so many steps.

    ``log`` holds the episodes in the order in which they end: their transitions, as true as can be,
    their rewards and whether they terminated.
    """

    n_states = TOP + 1

    def __init__(self, log, first, limit, box=False):
        self.log, self.first, self.limit, self.box = log, first, limit, box
        self.steps = []

    def start(self):
        if self.steps:
            self.log.append((self.steps, False))
        self.steps = []
        return self.first

    def move(self, action):
        before, after = self.x, self.x + 1 + action
        over, reward, self.x = after > TOP, before / TOP, min(after, TOP)
        self.steps.append((before, action, -1 if over else self.x, reward))
        cut = self.t >= self.limit
        if over or cut:
            self.log.append((self.steps, over))
            self.steps = []
        return reward, over, cut


def learner(env, features=None, **told):
    """Episodes are the environment's own, if nothing else is said."""
    told = {"gamma": 0.9, "low": 0, "high": 1, "geometric": False, "seed": 2, **told}
    return RmaxRaviUcb(env, features, **told)


LIMITS = [(0, 5), (3, 100), (7, 4), (6, 4)]
"""Where each of the environments starts, and when it is cut off: some end in the same step."""


def side_by_side(mode, makers, **options):
    """Environments in a vector, or the first by itself."""
    return makers[0]() if mode is None else SyncVectorEnv(makers, autoreset_mode=mode, **options)


def make(mode, log, box=False, **options):
    limits = [(4, 6)] if mode is None else LIMITS
    makers = [lambda s=s, n=n: Count(log, s, n, box) for s, n in limits]
    return side_by_side(mode, makers, **options)


def links_of(agent):
    """The links that are kept, as counts and sums of rewards."""
    links = agent.transitions
    number = links.block[:, 0]  # the tile, or twice the state
    if isinstance(agent.features, OneHot):
        number = number // 2
    after = np.where(links.after >= 0, number[links.after], -1)
    keys = [
        tuple(link) for link in np.stack([number[links.source], links.action, after], 1).tolist()
    ]
    assert len(set(keys)) == len(keys)  # each transition once
    weights, paid = (Counter(dict(zip(keys, x, strict=True))) for x in (links.weight, links.paid))
    return weights, paid


def truth(episodes):
    weights, paid = Counter(), Counter()
    for episode, _ in episodes:
        for x, a, y, r in episode:
            weights[x, a, y] += 1
            paid[x, a, y] += r
    return weights, paid


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert set(one) == set(other)
        np.testing.assert_allclose([one[k] for k in other], list(other.values()), atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_the_transitions_kept_are_the_true_ones(mode):
    """Also if observations are shown in one array again and again; none crosses a reset."""
    for box, options in ((False, {}), (True, {"copy": True}), (True, {"copy": False})):
        log = []
        env = make(mode, log, box, **({} if mode is None else options))
        agent = learner(env, f"tiles:{TOP + 1}" if box else None)
        history, episodes = agent.learn(60), log[:60]
        found = links_of(agent)
        assert_same(found, truth(episodes))
        assert all((1 <= y - x <= 2) if y >= 0 else x >= TOP - 1 for x, _, y in found[0])
        assert {over for _, over in episodes} == {False, True}  # both kinds of ends were seen
        assert history.steps.tolist() == [len(e) for e, _ in episodes]
        assert history.terminated.tolist() == [over for _, over in episodes]
        np.testing.assert_allclose(history.reward, [sum(t[3] for t in e) for e, _ in episodes])


@pytest.mark.parametrize("mode", MODES)
def test_an_end_leads_nowhere_and_what_is_cut_off_to_its_last_sight(mode):
    """From 3 in one step to 4 or 5, and there it is cut off: both are next states, no start."""
    agent = learner(side_by_side(mode, [lambda: Count([], 3, 1)] * 2))
    assert not agent.learn(40).terminated.any()
    weights, _ = links_of(agent)
    assert set(weights) == {(3, 0, 4), (3, 1, 5)}
    assert sum(weights.values()) == 40
    agent = learner(side_by_side(mode, [lambda: Count([], TOP, 9)] * 2))
    assert agent.learn(10).terminated.all()
    weights, _ = links_of(agent)
    assert {(x, y) for x, _, y in weights} == {(TOP, -1)}
    assert len(agent.diagnostics.V) == 1  # the state in which it ended is not one


@pytest.mark.parametrize("observe_last", [False, True])
@pytest.mark.parametrize("mode", [None, AutoresetMode.DISABLED])
def test_geometric_resets_break_off_one_while_others_go_on(mode, observe_last):
    log = []
    env = side_by_side(mode, [lambda s=s: Count(log, s, 1000) for s in (0, 4, 9)])
    agent = learner(env, observe_last=observe_last, gamma=0.7, geometric=True)
    # An episode is in the log when it has terminated, or when it is broken off: in another order.
    history = agent.learn(80)
    assert history.terminated.any()
    assert not history.terminated.all()
    weights, _ = links_of(agent)
    true = {t[:3] for e, _ in log for t in e}
    assert set(weights) <= true
    ends = sum(n for (_, _, after), n in weights.items() if after == -1)
    going_on = history.steps.sum() - len(history.steps) + (~history.terminated).sum() * observe_last
    assert sum(weights.values()) - ends == going_on
    # One that ends just as it is broken off is not known to have ended, unless it is looked at.
    assert ends == history.terminated.sum() if observe_last else ends < history.terminated.sum()
    assert agent.steps == history.steps.sum()


@pytest.mark.parametrize("observe_last", [False, True])
def test_the_last_pair_before_a_geometric_reset(observe_last):
    log = []
    env = Count(log, 0, 1000)
    agent = learner(env, observe_last=observe_last, gamma=0.7, geometric=True)
    history = agent.learn(60)
    env.reset()  # which notes the last
    episodes = [(e if over or observe_last else e[:-1], over) for e, over in log[:60]]
    found, expected = links_of(agent), truth(episodes)
    if not observe_last:  # whether an end was seen is up to the coin
        found, expected = ([{k: v for k, v in c.items() if k[2] >= 0} for c in cs]
                           for cs in (found, expected))  # fmt: skip
    assert_same(found, expected)
    assert history.steps.tolist() == [len(e) for e, _ in log[:60]]


class MayEnd(Episodic):
    """One state, which ends an episode with probability 1/2."""

    n_states = n_actions = 1

    def move(self, action):
        return 0.0, bool(self.np_random.random() < 0.5), False


def test_what_is_learnt_does_not_depend_on_what_comes_after():
    """To look at the last step of an episode only if it ended would count ends too often."""
    for observe_last in (False, True):
        told = {"beta": 0.0, "updates": 1, "gamma": 0.5, "geometric": True}
        agent = learner(MayEnd(), observe_last=observe_last, **told)
        agent.learn(4000)
        weights, _ = links_of(agent)
        n = sum(weights.values())
        assert abs(weights[0, 0, -1] / n - 0.5) < 5 * 0.5 / np.sqrt(n)


def test_the_optimistic_value_is_that_at_the_start_of_an_episode():
    agent = learner(Count([], 0, 1000))
    for k in range(8):
        hoped = agent.believe([0]).value
        np.testing.assert_allclose(agent.learn(1).optimistic_value, hoped, atol=1e-9)
        assert (hoped[0] > 0) == (k > 0)
    history = learner(Count([], 0, 1000)).learn(8)
    assert (history.optimistic_value > 0).tolist() == [False] + [True] * 7


def test_geometric_resets_need_an_environment_that_can_be_stopped():
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        with pytest.raises(ValueError, match=r"autoreset_mode=gymnasium.*AutoresetMode.DISABLED"):
            learner(make(mode, []), geometric=True)


@pytest.mark.parametrize("mode", MODES)
def test_learn_plays_exactly_as_many_episodes(mode):
    agent, played = learner(make(mode, [])), 0
    for k in (1, 2, 5, 1):
        history = agent.learn(k)
        assert len(history.steps) == k
        assert history.first == played
        played += k
        assert agent.episodes == len(agent.history.steps) == played
    assert agent.history.table()["episode"].tolist() == list(range(played))


@pytest.mark.parametrize("mode", AutoresetMode)
def test_steps_say_what_was_seen(mode):
    """The last sights of the two that are cut off, and then their starts."""
    players, on_its_own = Players(make(mode, [])), mode == AutoresetMode.NEXT_STEP
    assert players.begin(seed=0).tolist() == [0, 3, 7, 6]
    for _ in range(4):
        step = players.step([0, 0, 0, 0])
    assert step.after.tolist() == [4, 7, 11, 10]
    assert step.truncated == [False, False, True, True]
    assert step.began == [False] * 4
    starts = players.restart(step.truncated)
    step = players.step([1, 1, 1, 1])
    if on_its_own:
        assert starts is None
        assert step.began == [False, False, True, True]
        assert step.reward[2:] == [0.0, 0.0]
        assert step.after.tolist() == [6, 9, 7, 6]
    else:
        assert starts[2:].tolist() == [7, 6]
        assert step.after.tolist() == [6, 9, 9, 8]


@pytest.mark.parametrize("vector", [False, True])
def test_imitators_are_not_misled_by_one_array_that_is_written_over(vector):
    """Episodes of one step end with the pair whose sight was shown by the reset."""

    class Moving(Count):
        buffer = None

        def start(self):
            self.first = (self.first + 5) % 11
            return super().start()

        def seen(self):
            if self.buffer is None:
                return super().seen()
            self.buffer[:] = super().seen()
            return self.buffer

    found = []
    for reused in (False, True):
        env = Moving([], 0, 10**9, box=True)
        if vector:
            env = SyncVectorEnv([lambda e=env: e], copy=not reused, autoreset_mode="Disabled")
        elif reused:
            env.buffer = np.zeros(1)
        phi = StateOnly(Tiles(([0.0], [1.0]), TOP + 1), 2)
        expert = FeatureDataset(np.eye(TOP + 1)[[0, 3, 5]])
        il = FraIL(env, expert, phi, PerAction(phi.psi, 2), K=50, seed=0, gamma=0.6)
        il.learn(50)
        found.append(il.reward_weights)
    np.testing.assert_array_equal(found[0], found[1])


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


@pytest.mark.parametrize("mode", MODES)
def test_the_lake_is_learnt(mode):
    agent = learner(side_by_side(mode, [lake] * 3), seed=0, gamma=0.95)
    assert agent.learn(150).mean_return(last=20) == 1.0


def test_one_player_is_as_good_as_a_vector_of_one():
    """One by itself, and one that is reset by the learner, play the same episodes."""
    runs = []
    for env in (lake(), SyncVectorEnv([lake], autoreset_mode="Disabled")):
        agent = learner(env, seed=3, gamma=0.95)
        agent.learn(40)
        runs.append(agent)
    for name, column in runs[0].history.table().items():
        np.testing.assert_array_equal(column, runs[1].history.table()[name], err_msg=name)
    assert runs[0].policy.Theta.tobytes() == runs[1].policy.Theta.tobytes()


def test_a_vector_of_its_own_kind_is_played():
    env = gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="vector_entry_point")
    agent = learner(env, "tiles:4", gamma=0.95)
    history = agent.learn(30)
    assert history.terminated.all()
    np.testing.assert_array_equal(history.steps, history.reward)  # it pays 1 a step
    assert agent.transitions.weight.sum() == history.steps.sum()


def in_a_process():
    return Count([], 3, 5)


def test_environments_in_processes_of_their_own_are_played():
    mode = AutoresetMode.SAME_STEP
    env = AsyncVectorEnv([in_a_process] * 2, autoreset_mode=mode)
    here = SyncVectorEnv([in_a_process] * 2, autoreset_mode=mode)
    try:
        agents = [learner(e) for e in (env, here)]
        histories = [agent.learn(20) for agent in agents]
        assert links_of(agents[0]) == links_of(agents[1])
        np.testing.assert_array_equal(histories[0].steps, histories[1].steps)
    finally:
        env.close()


def test_episodes_side_by_side_are_cut_off_by_a_time_limit_as_one_is():
    """By default episodes are the environment's own if it has a time limit, in a vector as well."""
    vector = SyncVectorEnv([lake] * 2, autoreset_mode=AutoresetMode.DISABLED)
    by_hand = gymnasium.wrappers.TimeLimit(Count([], 0, 10**9), 5)
    for env in (lake(), vector, by_hand):
        assert not Optimist(env, gamma=0.9).environment.geometric, env
