"""Appendix E: the closed forms of both lower bounds against exact solutions of their worlds."""

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.special import kl_div

from optimist.envs import LowerK, LowerTauE
from optimist.verification.statement import Claim, Statements, at_most, equal

STATEMENTS: Statements[None] = Statements("Lower bounds")
add = STATEMENTS.add
GAMMAS, ACTIONS, SHARES = (0.5, 0.6, 0.75, 0.9, 0.99), (2, 3, 6), (0.01, 0.3, 0.9)
"""Discount factors, numbers of actions, and epsilon as a share of delta_0 = (1 - gamma) / gamma."""


@add("thm:LowerK, occupancies", "Appendix E.1")
def occupancies(_: None) -> Iterator[Claim]:
    """nu(pi_E, x_0), nu(pi_bad, x_0) = 2/3"""
    for world in lower_k():
        g, e = world.gamma, world.epsilon
        d = (1 - g) / g
        expert = (1 - g + g * d) / (1 - g + 2 * g * d - g * e)
        bad = np.roll(world.expert, 1, axis=1)
        yield equal(in_x0(world, world.expert), expert)
        yield equal(in_x0(world, bad), 2 / 3)


@add("thm:LowerK, gap of actions", "Appendix E.1")
def gap_of_actions(_: None) -> Iterator[Claim]:
    """Q(x_0, a*) - Q(x_0, a) = gamma epsilon / (3 (1 - gamma) - gamma epsilon)"""
    for world in lower_k():
        g, e = world.gamma, world.epsilon
        Q = world.mdp.Q(world.expert)[0]
        others = np.delete(Q, world.special)
        yield equal(Q[world.special] - others, g * e / (3 * (1 - g) - g * e))


@add("thm:LowerK, gap of policies", "Appendix E.1")
def gap_of_policies(_: None) -> Iterator[Claim]:
    """<mu(pi_E) - mu(pi), r> >= (1 - pi(a*|x_0)) epsilon / (9 (1 - gamma))"""
    rng = np.random.default_rng(0)
    for world in lower_k():
        pi = rng.dirichlet(np.ones(world.n_actions), size=(20, 2))
        lost = (1 - world.gamma) * (world.mdp.value(world.expert) - world.mdp.value(pi))
        missed = 1 - pi[:, 0, world.special]
        yield at_most(missed * world.epsilon / (9 * (1 - world.gamma)), lost)


@add("thm:LowerK, divergence", "Appendix E.1, mended")
def divergence(_: None) -> Iterator[Claim]:
    """kl(delta_0, delta_0 - epsilon)
    <= epsilon^2 / ((delta_0 - epsilon) (1 - delta_0 + epsilon))
    """
    for world in lower_k():
        P = np.asarray(world.mdp.P)
        best, other = P[0, world.special], P[0, (world.special + 1) % world.n_actions]
        yield at_most(kl_div(other, best).sum(), world.epsilon**2 / best.prod())


@add("thm:LowerTauE, occupancies", "Appendix E.2")
def occupancies_of_pair(_: None) -> Iterator[Claim]:
    """nu(pi, x_0) of a policy with alpha = pi(a*|x_0)"""
    for first, _second in pairs():
        g, e = first.gamma, first.epsilon
        for alpha in (0.0, 0.3, 1.0):
            pi = np.full((2, first.n_actions), (1 - alpha) / (first.n_actions - 1))
            pi[:, first.special] = alpha
            yield equal(in_x0(first, pi), 3 * (1 - g) / (2 * (3 * (1 - g) - g * alpha * e)))


@add("thm:LowerTauE, gaps", "Appendix E.2")
def gaps_of_pair(_: None) -> Iterator[Claim]:
    """nu(pi_E^0, x_0) - nu(pi, x_0)
    >= (1 - alpha) epsilon / (12 (1 - gamma)); alpha for member 1
    """
    rng = np.random.default_rng(0)
    for first, second in pairs():
        pi = rng.dirichlet(np.ones(first.n_actions), size=(20, 2))
        alpha, least = pi[:, 0, first.special], first.epsilon / (12 * (1 - first.gamma))
        yield at_most((1 - alpha) * least, in_x0(first, first.expert) - in_x0(first, pi))
        yield at_most(alpha * least, in_x0(second, pi) - in_x0(second, second.expert))


@add("thm:LowerTauE, divergence", "Appendix E.2, mended")
def divergence_of_pair(_: None) -> Iterator[Claim]:
    """kl(1/2 + Delta, 1/2) <= 4 Delta^2 <= (gamma epsilon / (2 (1 - gamma)))^2"""
    for first, second in pairs():
        p, q = in_x0(first, first.expert), in_x0(second, second.expert)
        kl = kl_div([p, 1 - p], [q, 1 - q]).sum()
        rate = first.gamma * first.epsilon / (2 * (1 - first.gamma))
        yield at_most(kl, 4 * (p - q) ** 2)
        yield at_most(4 * (p - q) ** 2, rate**2)


def lower_k() -> Iterator[LowerK]:
    """Members of the family of Theorem LowerK."""
    for gamma, n_actions, share in itertools.product(GAMMAS, ACTIONS, SHARES):
        yield LowerK(n_actions, n_actions - 1, share * (1 - gamma) / gamma, gamma)


def pairs() -> Iterator[tuple[LowerTauE, LowerTauE]]:
    """Pairs of Theorem LowerTauE."""
    for gamma, n_actions, share in itertools.product(GAMMAS, ACTIONS, SHARES):
        yield LowerTauE.pair(n_actions, share * (1 - gamma) / gamma, gamma)


def in_x0(world: LowerK | LowerTauE, pi: np.ndarray) -> np.ndarray:
    """nu(pi, x_0) of one or several policies."""
    return np.asarray(world.mdp.state_occupancy(pi)[..., 0])
