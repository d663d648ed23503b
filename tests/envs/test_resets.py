"""Geometric resets: how episodes end, what the wrapper leaves alone, and what it is for."""

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses
from reference.statistics import check_counts

from optimist.envs import GeometricReset, GridWorld, LowerTauE, RandomLinear, RiverSwim

ENVIRONMENTS = {
    "RandomLinear": lambda: RandomLinear(3, 8, 2).make(),
    "DeepSea": lambda: gymnasium.make("optimist/DeepSea-v0", endless=True),
    "CartPole": lambda: gymnasium.make("CartPole-v1"),
    "FrozenLake": lambda: gymnasium.make("FrozenLake-v1"),
}


@pytest.fixture(params=ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def make(request):
    return request.param


class OneStep(gymnasium.Env):
    """A foreign environment that ends at every step, the way it is told."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(1)

    def __init__(self, terminated, truncated):
        self.ends = terminated, truncated
        self.info = {"found": "something"}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {"options": options}

    def step(self, action):
        return 0, 0.5, *self.ends, self.info


def lengths(gamma, episodes, seed, inner=None):
    """The lengths of episodes, each of which ends with a flagged truncation."""
    env = GeometricReset(RiverSwim(2).make() if inner is None else inner, gamma)
    env.reset(seed=seed)
    ends, t = [], 0
    while len(ends) < episodes:
        _, _, terminated, truncated, info = env.step(0)
        t += 1
        assert not terminated
        assert info == ({"geometric_reset": True} if truncated else {})
        if truncated:
            ends.append(t)
            env.reset()
    return np.diff(ends, prepend=0)


@pytest.mark.parametrize("gamma", [0.3, 0.9])
def test_lengths_are_geometric(gamma):
    n = 4_000
    found = lengths(gamma, n, seed=2)
    # The mean is H = 1 / (1 - gamma) and the standard deviation sqrt(gamma) H; 5 standard errors.
    horizon = 1 / (1 - gamma)
    assert abs(found.mean() - horizon) <= 5 * np.sqrt(gamma / n) * horizon
    # P(length = k) = gamma^(k - 1) (1 - gamma), with the few of the far tail taken together.
    last = 4 if gamma == 0.3 else 30
    k = np.arange(1, last)
    probabilities = np.append(gamma ** (k - 1) * (1 - gamma), gamma ** (last - 1))
    counts = np.bincount(np.minimum(found, last), minlength=last + 1)[1:]
    check_counts(counts, probabilities)


def test_lengths_do_not_depend_on_one_another():
    """The lengths after an episode of one step are distributed like all others."""
    found = lengths(0.5, 8_000, seed=3)
    after = found[1:][found[:-1] == 1]
    counts = np.bincount(np.minimum(after, 4), minlength=5)[1:]
    check_counts(counts, np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8]))


def test_bad_discount_factors_are_refused():
    assert_refuses(
        lambda gamma: GeometricReset(RiverSwim().make(), gamma),
        *((gamma, ValueError, "gamma") for gamma in (1, 1.0, -0.1, float("nan"))),
    )


def test_the_environments_own_ends_info_and_options_are_kept():
    for ends in [(True, False), (False, True), (True, True), (False, False)]:
        inner = OneStep(*ends)
        env = GeometricReset(inner, gamma=0)  # the coin would end every step
        assert env.reset(seed=0, options={"level": 3}) == (0, {"options": {"level": 3}})
        if any(ends):
            assert env.step(0) == (0, 0.5, *ends, {"found": "something"})
        else:
            assert env.step(0)[2:] == (False, True, {"found": "something", "geometric_reset": True})
        assert inner.info == {"found": "something"}  # and not written to


def record(env, seed, steps=300, resets=None):
    """Observations, rewards and ends; ``resets`` says where to reset besides."""
    rng = np.random.default_rng(0)
    rows, ends = [env.reset(seed=seed)[0]], []
    for t in range(steps):
        observation, reward, terminated, truncated, info = env.step(int(rng.integers(2)))
        rows += [observation, reward, terminated]
        if terminated or truncated or (resets is not None and t in resets):
            ends.append((t, info.get("geometric_reset", False)))
            rows.append(env.reset()[0])
    return np.concatenate([np.ravel(row) for row in rows]), ends


def test_the_same_seed_makes_the_same_episodes_and_another_seed_others(make):
    env = GeometricReset(make(), 0.9)
    first, ends = record(env, seed=4)
    for other in (env, GeometricReset(make(), 0.9)):  # seeding in the middle starts anew
        again, ends_again = record(other, seed=4)
        assert_array_equal(first, again)
        assert ends == ends_again
    ends = [record(GeometricReset(make(), 0.9), seed)[1] for seed in range(4)]
    assert all(one != other for i, one in enumerate(ends) for other in ends[:i])


def test_the_environments_own_stream_is_the_same_without_the_wrapper(make):
    """If it is reset at the same times, everything it draws is the same."""
    wrapped, ends = record(GeometricReset(make(), 0.9), seed=4)
    resets = {t for t, flagged in ends if flagged}
    assert len(resets) > 5
    plain, plain_ends = record(make(), seed=4, resets=resets)
    assert_array_equal(wrapped, plain)
    assert [t for t, _ in ends] == [t for t, _ in plain_ends]


def test_the_coin_does_not_know_what_the_environment_draws():
    """Were both the same stream of the seed, the first draw would decide both."""
    env = GeometricReset(LowerTauE().make(), gamma=0.5)
    counts = np.zeros((2, 2))
    for seed in range(2_000):
        state, _ = env.reset(seed=seed)
        counts[state, int(env.step(0)[3])] += 1
    check_counts(counts.reshape(1, 4), np.full((1, 4), 1 / 4))


def test_the_spec_records_the_wrapper_and_makes_it_again():
    env = GeometricReset(gymnasium.make("optimist/RiverSwim-v0", n=4), gamma=0.75)
    wrapper = env.spec.additional_wrappers[-1]
    assert wrapper.name == "GeometricReset"
    assert wrapper.kwargs == {"gamma": 0.75}
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert isinstance(again, GeometricReset)
    assert again.gamma == 0.75
    assert again.unwrapped.world == RiverSwim(4)


def test_an_episode_may_be_begun_without_resets():
    inner = OneStep(terminated=False, truncated=False)
    env = GeometricReset(inner, gamma=0)
    options = {"geometric_reset": False, "level": 3}
    assert env.reset(options=options) == (0, {"options": {"level": 3}})
    assert options == {"geometric_reset": False, "level": 3}
    assert env.step(0) == env.step(0) == (0, 0.5, False, False, {"found": "something"})
    env.reset()  # the next episode ends as usual
    assert env.step(0)[3]


def test_of_two_wrappers_the_outer_one_ends_episodes():
    """Were both to toss their coins, no episode would be longer than one step."""
    inner = GeometricReset(RiverSwim(2).make(), gamma=0)
    found = lengths(0.9, 2_000, seed=2, inner=inner)
    np.testing.assert_array_equal(found, lengths(0.9, 2_000, seed=2))


# What resets are for: values and occupancies without discounting (Section 2.3)

EPISODES = 5_000

CASES = {
    "RiverSwim": (RiverSwim(3, gamma=0.8), [0.2, 0.8]),
    "RandomLinear": (RandomLinear(3, 5, 2, gamma=0.85), [0.6, 0.4]),
    "LowerTauE": (LowerTauE(gamma=0.9), [0.7, 0.3]),
    "GridWorld": (GridWorld("S.\n.G", slip=0.2, gamma=0.8), [0.1, 0.4, 0.4, 0.1]),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def sample(request):
    """Episodes of a policy that plays the same in every state, reset with probability 1 - gamma.

    The MDP, the policy, the returns, and how often each pair was the last of an episode, [X, A].
    """
    world, play = request.param
    env = GeometricReset(world.make(), world.gamma)
    rng = np.random.default_rng(8)
    returns, last = np.zeros(EPISODES), np.zeros((world.mdp.n_states, world.mdp.n_actions))
    state, _ = env.reset(seed=9)
    for episode in range(EPISODES):
        truncated = False
        while not truncated:
            pair = state, int(np.searchsorted(np.cumsum(play), rng.random()))
            state, reward, _, truncated, _ = env.step(pair[1])
            returns[episode] += reward
        last[pair] += 1
        state, _ = env.reset()
    return world.mdp, np.tile(play, (world.mdp.n_states, 1)), returns, last


def test_the_undiscounted_return_is_an_unbiased_estimate_of_the_value(sample):
    mdp, policy, returns, _ = sample
    error, value = returns.std() / np.sqrt(EPISODES), mdp.value(policy)
    assert abs(returns.mean() - value) <= 5 * error
    # And sharp enough to tell a reward lost at either end of an episode, which costs a (1 - gamma)
    # of the whole on average.
    assert 5 * error < (1 - mdp.gamma) * value


def test_the_last_pair_of_an_episode_is_a_draw_from_the_occupancy(sample):
    mdp, policy, _, last = sample
    mu = mdp.occupancy(policy)
    error = np.sqrt(mu * (1 - mu) / EPISODES)
    assert (np.abs(last / EPISODES - mu) <= 5 * error).all()
    check_counts(last.reshape(1, -1), mu.reshape(1, -1))
