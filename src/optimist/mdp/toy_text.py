"""The tables of Gymnasium's toy-text environments, read from ``env.unwrapped.P``."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from optimist import checks
from optimist.checks import FloatArray
from optimist.mdp.kernel import SparseKernel


@dataclass(frozen=True)
class ToyTextTables:
    """P and r(x, a, x') as sparse matrices of X*A rows, and the initial distribution."""

    P: SparseKernel
    rewards: SparseKernel
    nu0: FloatArray
    n_actions: int


def read_tables(env: Any) -> ToyTextTables:
    """The tables of a toy-text environment; terminated transitions lead to one added state.

    That state, the last, is absorbing and pays 0. Where several outcomes of a pair (x, a) lead to
    the same next state with different rewards, r(x, a, x') is their mean.
    """
    bare = getattr(env, "unwrapped", env)
    try:
        transitions, start = bare.P, np.asarray(bare.initial_state_distrib, dtype=np.float64)
    except AttributeError as error:
        raise TypeError(
            f"{type(bare).__name__} exposes no transition table: from_gymnasium reads "
            f"env.unwrapped.P and env.unwrapped.initial_state_distrib, as the toy-text "
            f"environments have them ({error})"
        ) from None
    n_states, n_actions = len(transitions), len(transitions[0])
    entries = [
        (x * n_actions + a, n_states if terminated else after, probability, reward)
        for x in range(n_states)
        for a in range(n_actions)
        for probability, after, reward, terminated in transitions[x][a]
    ]
    rows, after, probability, reward = (np.array(column) for column in zip(*entries, strict=True))
    terminates = bool((after == n_states).any())
    if terminates:
        stay = n_states * n_actions + np.arange(n_actions)
        rows = np.concatenate([rows, stay])
        after = np.concatenate([after, np.full(n_actions, n_states)])
        probability = np.concatenate([probability, np.ones(n_actions)])
        reward = np.concatenate([reward, np.zeros(n_actions)])
    size = n_states + terminates
    probability = checks.real_array(probability, "env.unwrapped.P probabilities")
    reward = checks.real_array(reward, "env.unwrapped.P rewards")

    def table(data: FloatArray) -> SparseKernel:
        matrix = sp.coo_array((data, (rows, after)), shape=(size * n_actions, size))
        return sp.csr_array(matrix)  # entries of the same pair and next state are added up

    P, earned = table(probability), table(probability * reward)
    # An outcome of probability 0 may be listed; its reward is never paid.
    mean = np.divide(earned.data, P.data, out=np.zeros_like(P.data), where=P.data > 0)
    rewards = sp.csr_array((mean, P.indices, P.indptr), shape=P.shape)
    nu0 = np.concatenate([start, np.zeros(int(terminates))])
    return ToyTextTables(P, rewards, nu0, n_actions)
