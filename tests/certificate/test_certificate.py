"""Certificates against their transcription, closed forms, and the truth."""

import math

import numpy as np
import pytest
from reference.certificate import certificate, largest_mean, radii
from reference.mdps import draw_mdp, random_mdp

import optimist as opt
from optimist import envs
from optimist.agents.certificate import Certifier, Seen
from optimist.core.arrays import simulator
from optimist.core.certificate import certify

DELTA = 0.05


def drawn(mdp, n, rng):
    """So many draws of each pair [X, A], and of first states: what a learner would have seen."""
    X, A = mdp.r.shape
    P = np.asarray(mdp.P)
    n = np.broadcast_to(n, (X, A))
    N = np.array([[rng.multinomial(n[x, a], P[x, a]) for a in range(A)] for x in range(X)])
    return N.astype(float), rng.multinomial(int(n.sum() / 10) + 1, mdp.nu0)


def certified(mdp, N, starts, delta=DELTA, support=None):
    """The certificate of these counts, by the compiled code."""
    world = simulator(mdp)
    rows = np.repeat(np.arange(mdp.r.size), np.diff(world.first))
    counts = N.reshape(-1, mdp.n_states)[rows, world.after]
    certifier = Certifier(world, mdp.r, delta, support)
    return certifier.certificate(Seen(counts, starts, mdp.r), int(starts.sum()), int(N.sum()))


@pytest.mark.parametrize("kind", ["dense", "few successors", "deterministic", "mixed"])
@pytest.mark.parametrize("given", [False, True])
def test_it_agrees_with_the_transcription(kind, given):
    """Up to the share of the gap at which the search ends, and only to the safe side."""
    rng = np.random.default_rng(len(kind))
    mdp = draw_mdp(rng, n_states=4, n_actions=2, gamma=0.6, kind=kind)
    n = rng.integers(0, 400, size=mdp.r.shape) * (rng.random(mdp.r.shape) < 0.9)
    N, starts = drawn(mdp, n, rng)
    support, begins = (np.asarray(mdp.P) > 0, mdp.nu0 > 0) if given else (None, None)
    _, _, _, upper, lower = certificate(N, starts, mdp.r, mdp.gamma, DELTA, support, begins)
    found = certified(mdp, N, starts, support=mdp if given else None)
    assert upper - 1e-7 <= found.upper <= upper + 0.01 * (upper - lower) + 1e-6
    assert lower - 0.01 * (upper - lower) - 1e-6 <= found.lower <= lower + 1e-7
