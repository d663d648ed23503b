"""Comparisons of numbers, and of agents with their transcriptions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

NO_UNITS: Mapping[str, float] = MappingProxyType({})


def assert_close(actual: object, expected: object, what: object = "", atol: float = 1e-9) -> None:
    """Assert that numbers differ by no more than ``atol``, whatever their size."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol, err_msg=str(what))


def assert_same_episode(
    history: Any,
    now: Any,
    other: Any,
    atol: float = 1e-9,
    units: Mapping[str, float] = NO_UNITS,
) -> None:
    """Compare the last episode of an agent, and its state after it, with a transcription.

    A transcription has the number of steps and of the epoch, a number for each name in its
    ``columns``, and arrays in ``state``. ``units`` are the scales of some of these names.
    """
    episode = f"episode {other.k}"
    assert (history.steps[0], history.epoch[0]) == (other.steps, other.e), episode
    found = {name: (getattr(history, name)[0], getattr(other, name)) for name in other.columns}
    found |= {name: (getattr(now, name), expected) for name, expected in other.state.items()}
    for name, (actual, expected) in found.items():
        unit = units.get(name, 1.0)
        assert_close(actual / unit, expected / unit, f"{name}, {episode}", atol)


def follow(
    agent: Any,
    other: Any,
    episodes: int,
    atol: float = 1e-9,
    units: Mapping[str, float] = NO_UNITS,
) -> Any:
    """Play an agent and its transcription side by side, comparing them after every episode."""
    states = np.arange(agent.mdp.n_states)
    for _ in range(episodes):
        history = agent.learn(1)
        other.episode()
        assert_same_episode(history, agent.diagnostics, other, atol, units)
        assert_close(agent.policy.probabilities(states), other.state["pi"], "stored policy", atol)
    return other


def assert_sums_agree(agent: Any) -> None:
    """Assert that a learner in an environment keeps each transition once, and sums over them."""
    now, data = agent.diagnostics, agent.transitions
    n, X, pair = len(data.weight), len(now.V), (data.source, data.action)
    assert data.source.max() < X
    assert data.after.max() < X
    assert len(set(zip(*pair, data.after, strict=True))) == n
    blocks, size, _ = now.Lambda.shape
    phi = np.zeros((n, blocks, size))
    phi[np.arange(n), data.block[pair]] = data.phi[pair]
    Lambda = now.ridge * np.eye(size) + np.einsum("i,ibj,ibk->bjk", data.weight, phi, phi)
    gym = agent.environment
    gamma, low, high = gym.gamma, gym.low, gym.high
    end = -low / (high - low) / (1 - gamma)  # the rewards of 0 for ever
    V = np.where(data.after >= 0, now.V[data.after], end)
    b = (data.paid + gamma * data.weight * V) @ phi.reshape(n, -1)
    np.testing.assert_allclose(now.Lambda, Lambda, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(now.b, b, rtol=1e-8, atol=1e-9)
    log_det = np.linalg.slogdet(Lambda)[1].sum()
    np.testing.assert_allclose(now.log_det, log_det, rtol=1e-8)
    if size > 1:
        np.testing.assert_allclose(now.inverse, np.linalg.inv(Lambda), rtol=1e-6, atol=1e-9)
