"""What geometric resets are for: values and occupancies without discounting (Section 2.3)."""

from dataclasses import dataclass

import numpy as np
import pytest
from reference.statistics import check_counts

from optimist.envs import GeometricReset, GridWorld, LowerTauE, RandomLinear, RiverSwim

EPISODES = 5_000

CASES = {
    "RiverSwim": (RiverSwim(3, gamma=0.8), [0.2, 0.8]),
    "RandomLinear": (RandomLinear(3, 5, 2, gamma=0.85), [0.6, 0.4]),
    "LowerTauE": (LowerTauE(gamma=0.9), [0.7, 0.3]),
    "GridWorld": (GridWorld("S.\n.G", slip=0.2, gamma=0.8), [0.1, 0.4, 0.4, 0.1]),
}


@dataclass
class Sample:
    mdp: object
    policy: np.ndarray
    returns: np.ndarray
    last: np.ndarray
    """How often each pair was the last of an episode, [X, A]."""


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def sample(request):
    """Episodes of a policy that plays the same in every state, with its discount as the coin."""
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
    return Sample(world.mdp, np.tile(play, (world.mdp.n_states, 1)), returns, last)


def test_the_undiscounted_return_is_an_unbiased_estimate_of_the_value(sample):
    error = sample.returns.std() / np.sqrt(EPISODES)
    value = sample.mdp.value(sample.policy)
    assert abs(sample.returns.mean() - value) <= 5 * error
    # And sharp enough to tell a reward lost at either end of an episode, which costs a (1 - gamma)
    # of the whole on average.
    assert 5 * error < (1 - sample.mdp.gamma) * value


def test_the_last_pair_of_an_episode_is_a_draw_from_the_occupancy(sample):
    mu = sample.mdp.occupancy(sample.policy)
    error = np.sqrt(mu * (1 - mu) / EPISODES)
    assert (np.abs(sample.last / EPISODES - mu) <= 5 * error).all()
    check_counts(sample.last.reshape(1, -1), mu.reshape(1, -1))
