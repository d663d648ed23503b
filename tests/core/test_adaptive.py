"""The self-tuning rule computes what its formulas say, episode by episode, in any units."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from reference.comparison import assert_close, follow
from reference.optimist import transcribe, units_of
from reference.settings import SETTINGS, one_hot

from optimist import envs
from optimist.agents import Optimist, VariantAgent
from optimist.core import Fixed, FixedBonus, Never, Switching, VarianceBonus
from optimist.core.optimism import ODDS, TAU
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP

ADAPTIVE = Optimist.Config().variant()
EPISODES = 60


class Scaled(FeatureMap):
    """One-hot features times a number, or times one for each pair."""

    def __init__(self, n_states, n_actions, scale):
        self.n_states = n_states
        pairs = n_states * n_actions
        self.rows = (np.eye(pairs) * scale).reshape(n_states, n_actions, pairs)
        bound = float(np.max(np.abs(scale)))
        super().__init__(dim=pairs, bound=bound, blocks=pairs, n_actions=n_actions)

    def __call__(self, states, actions):
        return self.rows[states, actions]

    def all_actions(self, states):
        return self.rows[np.asarray(states)]


def drifting(*up):
    """Eight states, of which the last four pay 1; each action leads to those with a probability."""
    pays = np.arange(8) >= 4
    P = np.array([np.where(pays, p, 1 - p) / 4 for p in up])
    r = np.repeat(1.0 * pays[:, None], len(up), axis=1)
    return FiniteMDP(np.tile(P, (8, 1, 1)), r, np.full(8, 1 / 8), 0.9)


LONG_GRID = envs.GridWorld("S...\n.##.\n...G", gamma=0.98)
CERTAIN_GRID = replace(LONG_GRID, slip=0)


WORLDS = {
    **SETTINGS,
    "random tabular": lambda: one_hot(envs.RandomTabular(8, 3, gamma=0.9).mdp),
    "scaled": lambda: (envs.RiverSwim(5, gamma=0.95).mdp, Scaled(5, 2, -0.3)),
    "long grid": lambda: one_hot(LONG_GRID.mdp),
    "drifting": lambda: one_hot(drifting(0.9, 0.5, 0.1)),
}
TOLERANCES = {"wide table": 1e-8, "lower K": 1e-8}  # nearly singular with so small a ridge


# With seed 4 the regression points beyond heaven, and with rewards that differ by 1e-15 values of
# the formulas themselves soon differ by 1e-9 or more: nothing can be compared with them there.
SEEDS = {"blocks": 5, "random linear": 5}


@pytest.mark.parametrize("observe_last", [False, True])
@pytest.mark.parametrize("name", WORLDS)
def test_the_engine_agrees_with_the_formulas(name, observe_last):
    mdp, features = WORLDS[name]()
    config = replace(ADAPTIVE, observe_last=observe_last)
    agent = VariantAgent(mdp, features, config=config, seed=SEEDS.get(name, 4))
    units, atol = units_of(agent, mdp.gamma), TOLERANCES.get(name, 1e-9)
    other = follow(agent, transcribe(agent), EPISODES, atol, units)
    assert 3 < other.e <= EPISODES
    assert len(other.D) > EPISODES
    assert min(other.swept) < ADAPTIVE.updates  # updates ended at the tolerance


def test_bonuses_are_the_deviations_of_what_was_seen():
    """With one-hot features CB = gamma c (1 + log N)^2 sqrt(Var / n), over n next states of a pair.

    N is the number of visits of its state before the epoch.
    """
    agent = VariantAgent(*SETTINGS["random"](), config=ADAPTIVE, seed=1)
    other, epoch = transcribe(agent), 0
    for _ in range(40):
        before = agent.diagnostics.V
        agent.learn(1)
        other.episode()
        if other.e > epoch:
            epoch = other.e
            expected, seen = np.zeros(agent.mdp.r.shape), {}
            visits = Counter(x for x, _, _ in other.D)
            for x, a, y in other.D:
                seen.setdefault((x, a), []).append(before[y])
            for pair, values in seen.items():
                deviations = ADAPTIVE.bonus.c * (1 + np.log(visits[pair[0]])) ** 2
                expected[pair] = 0.9 * deviations * np.std(values) / np.sqrt(len(values))
            np.testing.assert_allclose(agent.diagnostics.CB, expected, rtol=0, atol=1e-7)
    assert epoch > 3
    assert expected.max() > 0.001  # ten thousand times what they may differ by


def test_a_world_without_chance_has_no_bonuses():
    """Not even by rounding, of which long epochs would make something."""
    agent = VariantAgent(CERTAIN_GRID, config=ADAPTIVE)
    for _ in range(30):
        agent.learn(10)
        assert not agent.diagnostics.CB.any()
    assert agent.diagnostics.theta.max() < 0.01


def test_pairs_that_were_tried_once_are_known_in_a_world_without_chance():
    agent = VariantAgent(envs.DeepSea(4, gamma=0.9), config=ADAPTIVE)
    agent.learn(100)
    it = agent.diagnostics
    visits = np.round(it.Lambda - it.ridge, 9).reshape(it.p.shape)
    assert (it.p[visits == 0] == 1).all()
    assert (it.p[visits > 0] < 0.1).all()


# What is played.


def visits_of(agent):
    """The visits of all pairs at the start of the epoch, with one-hot features."""
    it = agent.diagnostics
    return np.round(agent.policy.Lambda.ravel() - it.ridge, 6).reshape(it.p.shape)


def least_visits(agent):
    """Actions that were tried less often are on trial, [X, A]."""
    visits = visits_of(agent)
    theta = agent.diagnostics.theta.reshape(visits.shape)
    return TAU * theta * np.sqrt(visits.sum(axis=1, keepdims=True))


def test_actions_on_trial_have_least_odds_against_the_best_tried_one():
    """Others that were tried are played as mirror descent says, relative to that one."""
    agent, trials, others = VariantAgent(drifting(0.9, 0.5, 0.1), config=ADAPTIVE), 0, 0
    other = transcribe(agent)
    for _ in range(100):
        agent.learn(1)
        other.episode()
        visits, least = visits_of(agent), least_visits(agent)
        for x, pi in enumerate(agent.diagnostics.pi):
            tried = visits[x] > 0
            trial = tried & (visits[x] < least[x])
            rest = tried & ~trial
            if tried.any():
                best = pi[np.where(tried, other.log_pi[x], -np.inf).argmax()]
                ahead = other.log_pi[x] - other.log_pi[x][tried].max()
                expected = best * np.exp(np.where(tried, ahead, -np.inf))
                odds = least[x] / visits[x].sum()
                wanted = np.maximum(expected, best * np.minimum(odds, 1.0))
                np.testing.assert_allclose(pi[trial], wanted[trial], rtol=1e-8)
                assert_close(pi[rest], expected[rest], atol=1e-8)
                trials += (expected[trial] < 0.01 * best).sum()  # hardly played but for trials
                others += (expected[rest] < 0.01 * best).sum()
    assert trials > 100
    assert others > 100


def test_untried_actions_are_played_at_most_odds_times_as_often_as_the_best_tried_one():
    """However much they promise; where nothing was tried, what they promise alone counts."""
    X, A = 4, 30
    P = np.zeros((X, A, X))
    P[:2, :, :2] = 0.5
    P[2:, :, 2:] = 0.5  # two states that cannot be reached, one of which pays more
    r = np.tile(0.5 + 1e-3 * np.arange(A), (X, 1))
    r[3] = 1.0
    agent = VariantAgent(FiniteMDP(P, r, np.eye(X)[0], 0.9), config=ADAPTIVE, seed=0)
    largest = 0.0
    for _ in range(30):
        agent.learn(1)
        tried, pi = visits_of(agent) > 0, agent.diagnostics.pi
        for x in range(2):
            if tried[x].any() and not tried[x].all():
                odds = pi[x][~tried[x]].max() / pi[x][tried[x]].max()
                assert odds < ODDS * (1 + 1e-9)
                largest = max(largest, odds)
        # softmax(eta S): the Q of all its actions are r + gamma w.
        weights = np.exp(ADAPTIVE.eta * agent.policy.updates * (r[2] - r[2].max()))
        assert_close(pi[2], weights / weights.sum(), atol=1e-8)
    assert largest == pytest.approx(ODDS)
    assert pi[2].max() > 2 * ODDS * pi[2].min()


def test_trials_end_and_come_back():
    """A hopeless action is tried in N visits of a state about as often as sqrt(N) says."""
    agent = VariantAgent(drifting(0.9, 0.1), config=ADAPTIVE)
    tries, least = np.empty((2, 600, 8))
    for i in range(600):
        agent.learn(10)
        tries[i], least[i] = visits_of(agent)[:, 1], least_visits(agent)[:, 1]
    trial = (tries < least).astype(int)
    begun = (np.diff(trial, axis=0) == 1).sum(axis=0)
    assert begun.sum() > 8  # after earlier ones had ended: about two in a state
    assert 0.1 < trial.mean() < 0.6  # neither always nor never
    late = slice(50, None)  # 500 episodes
    assert (tries[late] > 0.8 * least[late]).all()
    assert (tries[late] < 1.3 * least[late]).all()
    growth = tries[-1].sum() / tries[late][0].sum()
    assert 1.7 < growth < 5  # sqrt(12), but theta falls; N grows by 12


def test_nothing_that_was_tried_is_on_trial_in_a_world_without_chance():
    """The best action of a state all of whose actions were tried once is played alone."""
    rewards = [0.0, 0.25, 0.5, 0.75, 1.0]
    agent, sure = VariantAgent(two_rooms(rewards), config=ADAPTIVE, seed=0), 0
    for _ in range(300):
        agent.learn(1)
        visits = visits_of(agent)
        assert ((visits == 0) | (visits >= least_visits(agent))).all()
        if (visits[1] > 0).all():
            sure += 1
            assert agent.diagnostics.pi[1, -1] > 0.999
    assert sure > 250
    assert visits[1].min() < 5  # for it is not for want of tries that the others are known


def test_predictions_name_no_untried_action_where_one_was_tried():
    """Nor one that is on trial alone: the best tried one by the sums of Q."""
    agent = VariantAgent(drifting(0.9, 0.7, 0.5, 0.3, 0.1), config=ADAPTIVE)
    other, states, against = transcribe(agent), np.arange(8), 0
    for _ in range(40):
        agent.learn(1)
        other.episode()
        tried = visits_of(agent) > 0
        tried |= ~tried.any(axis=1, keepdims=True)
        among, named = np.where(tried, other.log_pi, -np.inf), agent.policy.predict(states)
        assert_close(among[states, named], among.max(axis=1), atol=1e-6)  # -inf if untried
        against += (agent.diagnostics.pi.argmax(axis=1) != named).sum()
    assert against > 20  # the likeliest action was another


def test_the_chooser_of_rewards_receives_the_policy():
    class Listening(Fixed):
        def choose(self, episode, policy):
            assert_close(policy, agent.diagnostics.pi, episode, atol=1e-12)
            return self.r, 1

    mdp = drifting(0.9, 0.5, 0.1)
    agent = VariantAgent(mdp, config=ADAPTIVE, rewards=Listening(mdp.r))
    agent.learn(40)


# What heaven is worth.


@pytest.mark.parametrize("world", [envs.DeepSea(6, gamma=0.95), CERTAIN_GRID])
def test_heaven_comes_to_be_worth_the_optimum(world):
    """From the largest reward for ever down to the best pair, as pairs come to be known."""
    agent, best = VariantAgent(world, config=ADAPTIVE), world.mdp.optimal().V.max()
    worths = []
    for _ in range(150):
        agent.learn(1)
        worths.append(agent.diagnostics.heaven)
    assert max(worths) > 0.95 * world.mdp.horizon
    assert 0.98 * best < worths[-1] < 1.02 * best


def two_rooms(rewards):
    """From the first state every action leads on; in the second one each has its reward."""
    n = len(rewards)
    P = np.zeros((2, n, 2))
    P[0, :, 1] = P[1, :, 1] = 1
    return FiniteMDP(P, np.array([[0.5] * n, rewards]), [1.0, 0.0], 0.9)


def test_rewards_that_change_say_nothing_of_heaven():
    mdp = two_rooms([0.4, 0.2, 0.1, 0.0])
    changing = Switching(np.stack([mdp.r, mdp.r[:, ::-1]]), every=1)
    for rewards in (None, changing):
        agent = VariantAgent(mdp, config=ADAPTIVE, rewards=rewards)
        agent.learn(1)
        assert agent.policy.heaven_pays == (rewards is None)
        highest = agent.diagnostics.V.max()
        assert highest < 10 if rewards is None else highest == pytest.approx(10)


def test_another_may_choose_the_rewards_at_any_time(tmp_path):
    """The stored policy is the one that is played, whoever chooses; no adversary's heaven pays."""
    mdp, features = SETTINGS["random"]()
    rng, states = np.random.default_rng(0), np.arange(mdp.n_states)
    others = Switching(rng.random((3, *mdp.r.shape)), every=2)
    agent = VariantAgent(mdp, features, config=ADAPTIVE, seed=3)
    for chooser in (None, others, Fixed(rng.random(mdp.r.shape)), Fixed(mdp.r), others):
        if chooser is not None:
            agent.save(tmp_path / "agent")
            loaded = VariantAgent.load(tmp_path / "agent", mdp, features, rewards=chooser)
            agent.rewards = chooser
        for _ in range(25):
            agent.learn(1)
            played = agent.diagnostics.pi
            np.testing.assert_allclose(
                agent.policy.probabilities(states), played, rtol=0, atol=1e-9
            )
            if chooser is not None:
                loaded.learn(1)
                np.testing.assert_array_equal(loaded.diagnostics.pi, played)
        assert agent.policy.heaven_pays == (chooser is not others)


def test_other_rewards_begin_an_epoch_where_heaven_pays():
    """The epoch's policy is a sum of what heaven paid, which one reward function says."""
    mdp = two_rooms([0.4, 0.2, 0.1, 0.0])
    agent = VariantAgent(mdp, config=ADAPTIVE)
    before = agent.learn(400).epoch
    assert (before[-5:] == before[-1]).all()
    agent.rewards = Fixed(mdp.r[:, ::-1])
    assert agent.learn(1).epoch[0] == before[-1] + 1


def test_a_given_worth_of_heaven_is_not_learnt():
    """What is new is worth the bound, whatever it pays."""
    agent = Optimist(envs.DeepSea(4, gamma=0.9), value_bound=1.0)
    assert agent.learn(1).sup_q[0] == pytest.approx(1)
    assert not agent.policy.heaven_pays


def test_rounding_does_not_decide_what_is_untried():
    """Features so small that the prior's share is 1/2 after the first, second or a later visit."""
    X = 200
    P = np.full((X, 1, X), 1 / X)
    mdp = FiniteMDP(P, np.full((X, 1), 0.5), np.full(X, 1 / X), 0.9)
    needed = 1 + np.arange(X) % 10
    scale = np.sqrt(1e-3 / needed) * (1 + np.linspace(-1e-14, 1e-14, X))
    scale[0] = 1.0  # B
    agent, edge = VariantAgent(mdp, Scaled(X, 1, scale), config=ADAPTIVE), 0
    for _ in range(50):
        agent.learn(1)
        it, here = agent.diagnostics, np.isclose(agent.policy.Lambda.ravel(), 2e-3, rtol=1e-9)
        expected = it.s * it.theta[here] / (needed[here] + it.theta[here])
        np.testing.assert_allclose(it.p.ravel()[here], np.minimum(expected, 1), rtol=1e-9)
        edge += (expected < 0.9).sum()
    assert edge > 20


def test_features_in_other_coordinates_change_nothing():
    """Rotated one-hot features; what was never tried has no bonus, but for rounding.

    A bonus is the root of a difference, in which the inverse covariance, of a condition number
    of a million, leaves ten digits of values up to 20.
    """
    mdp = envs.RiverSwim(6, gamma=0.95).mdp
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 12)))[0]
    one, other = (
        VariantAgent(mdp, Table(rows.reshape(6, 2, 12)), config=ADAPTIVE, seed=1)
        for rows in (np.eye(12), rotation)
    )
    for k in range(60):
        assert one.learn(1).steps[0] == other.learn(1).steps[0]
        for name in ("V", "CB", "p"):
            first, second = (getattr(agent.diagnostics, name) for agent in (one, other))
            assert_close(first, second, f"{name}, {k}", atol=1e-5)


# Units.


def assert_same_but_for_units(one, other, r_max, atol):
    """The same episodes, and values in units of r_max."""
    first, second = one.learn(150), other.learn(150)
    for column in ("steps", "epoch"):
        np.testing.assert_array_equal(getattr(first, column), getattr(second, column))
    for column in ("reward", "optimistic_value", "sup_q", "bonus"):
        assert_close(getattr(first, column), getattr(second, column) / r_max, column, atol)
    for name, unit in {"V": r_max, "CB": r_max, "p": 1.0, "pi": 1.0}.items():
        found = getattr(other.diagnostics, name) / unit
        assert_close(getattr(one.diagnostics, name), found, name, atol)


@pytest.mark.parametrize("r_max", [4.0, 0.25, 3.0])
@pytest.mark.parametrize("name", ["river", "random", "random linear", "blocks"])
def test_rewards_in_other_units_change_nothing(name, r_max):
    mdp, features = SETTINGS[name]()
    scaled = FiniteMDP(mdp.kernel.reshape(*mdp.r.shape, -1), r_max * mdp.r, mdp.nu0, mdp.gamma)
    one = VariantAgent(mdp, features, config=ADAPTIVE, seed=2)
    config = Optimist.Config(r_max=r_max).variant()
    other = VariantAgent(scaled, features, config=config, seed=2)
    assert_same_but_for_units(one, other, r_max, 1e-11 if np.log2(r_max) % 1 == 0 else 1e-6)


SEA, LINEAR = envs.DeepSea(4, slip=0.1, gamma=0.9).mdp, envs.RandomLinear(4, 12, 3, gamma=0.9).mdp


@pytest.mark.parametrize(
    ("mdp", "features", "scaled"),
    [
        *((SEA, OneHot(SEA.n_states, 2), Scaled(SEA.n_states, 2, x)) for x in (-1, 0.125, 3, 1e-3)),
        *((LINEAR, Table(LINEAR.Phi), Table(x * LINEAR.Phi)) for x in (0.125, 3.0)),
    ],
)
def test_features_in_other_units_change_nothing(mdp, features, scaled):
    one, other = (VariantAgent(mdp, phi, config=ADAPTIVE, seed=2) for phi in (features, scaled))
    assert_same_but_for_units(one, other, 1.0, 1e-7 if isinstance(scaled, Table) else 1e-8)


@pytest.mark.parametrize("name", ["river", "random linear", "wide table", "aggregated"])
def test_values_lie_between_nothing_and_heaven(name):
    mdp, features = SETTINGS[name]()
    for v_max in (None, 3.0):
        agent = VariantAgent(mdp, features, config=Optimist.Config(v_max=v_max).variant(), seed=3)
        heaven = v_max or mdp.horizon
        for _ in range(40):
            agent.learn(1)
            V = agent.diagnostics.V
            assert (V >= 0).all()
            assert V.max() <= heaven


def test_a_better_bound_on_the_values_makes_less_of_heaven():
    """Until the first update nothing differs; then what is new is worth what the bound says."""
    steps, p, V = [], [], []
    for v_max in (None, 2.0, 1.0):
        config = Optimist.Config(v_max=v_max).variant()
        agent = VariantAgent(envs.DeepSea(6, gamma=0.95), config=config)
        steps.append(agent.learn(1).steps[0])
        p.append(agent.diagnostics.p)
        V.append(agent.diagnostics.V)
    assert len(set(steps)) == 1
    np.testing.assert_array_equal(p[0], p[1])
    assert (np.diff(V, axis=0) <= 0).all()
    assert np.max(V[1:], axis=1).tolist() == [2, 1]


# Refusals


def test_parameters_that_cannot_be():
    for make, message in (
        (lambda: FixedBonus(-1.0), "beta must not be negative; got -1"),
        (lambda: VarianceBonus(-1.0), "c must not be negative; got -1"),
        *((lambda x=x: replace(ADAPTIVE, tolerance=x), r"tolerance must be in \[0, 1\)")
          for x in (-1e-9, 1.0, float("nan"), float("inf"))),
        (lambda: replace(ADAPTIVE, eta=float("inf")), r"\beta\b"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            make()
    for bonus in ("variance", 0.3, VarianceBonus, Never()):
        with pytest.raises(TypeError, match="bonus must be one of FixedBonus, VarianceBonus"):
            replace(ADAPTIVE, bonus=bonus)


def test_updates_end_at_the_tolerance():
    """A tolerance changes nothing but how many updates follow an episode."""
    agents = [
        VariantAgent(
            envs.RiverSwim(5, gamma=0.9), config=replace(ADAPTIVE, updates=n, tolerance=tolerance)
        )
        for n, tolerance in ((3, 0.9), (3, 0.0), (1, 0.0))
    ]
    assert len({agent.learn(1).steps[0] for agent in agents}) == 1
    # From 0 to heaven, and then by less than nine tenths of R_max.
    assert [agent.policy.updates for agent in agents] == [2, 3, 1]
    few = agents[0]
    before = few.policy.updates
    while few.learn(1).epoch[0] != few.history.epoch[-2]:
        before = few.policy.updates
    assert few.policy.updates == before + 1  # no value changes by nine tenths of R_max
