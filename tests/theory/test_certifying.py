"""The lower bound on episodes until certified, against searches of another kind."""

import itertools
import math

import numpy as np
import pytest
from reference.mdps import draw_mdp
from scipy.optimize import minimize

import optimist as opt
from optimist import envs
from optimist.theory.certifying import alternatives, episodes_to_certify

DELTA = 0.05
NEEDED = 0.9 * math.log(19)
"""kl(delta, 1 - delta)."""


def kl(p, q):
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def chain(p, gamma=0.6):
    """State 0 leads to 1, which pays for ever, with probability p, and otherwise to 2."""
    P = np.zeros((3, 1, 3))
    P[0, 0] = [0, p, 1 - p]
    P[1, 0, 1] = P[2, 0, 2] = 1
    return opt.FiniteMDP(P, [[0.0], [1.0], [0.0]], [1, 0, 0], gamma)


@pytest.mark.parametrize(("p", "share"), [(0.3, 0.2), (0.3, 0.02), (0.7, 0.1)])
def test_with_one_action_it_is_the_least_divergence_of_a_better_world(p, share):
    """The rows of 0, of 2 and of the first states may change: a search in three numbers."""
    mdp = chain(p)
    target = mdp.value(np.ones((3, 1))) / (1 - share)
    visits = mdp.occupancy(np.ones((3, 1)))[:, 0] * mdp.horizon

    def world(u):
        up, out, start = u
        P = np.zeros((3, 1, 3))
        P[0, 0], P[1, 0, 1], P[2, 0] = [0, up, 1 - up], 1, [0, out, 1 - out]
        return opt.FiniteMDP(P, mdp.r, [1 - start, start, 0], mdp.gamma)

    def divergence(u):
        up, out, start = u
        return (
            visits[0] * kl([p, 1 - p], [up, 1 - up])
            - visits[2] * math.log1p(-out)
            - (math.log1p(-start))
        )

    found = [
        minimize(
            divergence,
            begin,
            bounds=[(p, 0.999), (0, 0.9), (0, 0.9)],
            constraints={"type": "ineq", "fun": lambda u: world(u).value(np.ones((3, 1))) - target},
        ).fun
        for begin in ([p + 0.2, 0.01, 0.01], [p, 0.2, 0.01], [p, 0.01, 0.2])
    ]
    assert episodes_to_certify(mdp, share, DELTA) == pytest.approx(NEEDED / min(found), rel=0.01)


def test_it_needs_a_world_for_every_action():
    """Of A equal arms each has to be tried: the visits are shared, and the bound is A times one."""

    def arms(A):
        P = np.zeros((3, A, 3))
        P[0, :, 0], P[0, :, 1], P[0, :, 2] = 0.0, 0.5, 0.5
        P[1, :, 1] = P[2, :, 2] = 1
        r = np.zeros((3, A))
        r[1] = 1
        return opt.FiniteMDP(P, r, [1, 0, 0], 0.1)

    one, four = (episodes_to_certify(arms(A), 0.01, DELTA) for A in (1, 4))
    assert four == pytest.approx(4 * one, rel=0.05)


@pytest.mark.parametrize("kind", ["dense", "few successors", "deterministic"])
def test_no_way_of_playing_tells_these_worlds_apart_any_faster(kind):
    """All deterministic policies are tried; and a policy of each world is worth the target."""
    mdp = draw_mdp(np.random.default_rng(1), n_states=3, n_actions=2, gamma=0.7, kind=kind)
    share, target = 0.1, mdp.optimal().value / 0.9
    all_policies = np.array(list(itertools.product(range(2), repeat=3)))
    visits = mdp.occupancy(mdp.uniform_policy) * mdp.horizon
    P = np.asarray(mdp.P)
    for one in alternatives(mdp, P, all_policies, visits, target):
        other = opt.FiniteMDP(one.P, mdp.r, one.nu0, mdp.gamma)
        assert other.optimal().value >= target - 1e-9
        np.testing.assert_allclose(
            one.divergence,
            [[kl(P[x, a], one.P[x, a]) for a in range(2)] for x in range(3)],
            atol=1e-9,
        )
        assert one.start == pytest.approx(kl(mdp.nu0, one.nu0), abs=1e-9)
        told = [
            one.start + (mdp.occupancy(np.eye(2)[pi]) * one.divergence).sum() * mdp.horizon
            for pi in all_policies
        ]
        # one world alone bounds the episodes from below too, and the search does no worse
        assert episodes_to_certify(mdp, share, DELTA) >= 0.98 * NEEDED / max(told)


def test_learners_take_longer():
    river = envs.RiverSwim(4, gamma=0.8)
    agent = opt.Prover(river, seed=0)
    agent.learn(until=0.3, delta=DELTA)
    assert 10 < episodes_to_certify(river.mdp, 0.3, DELTA) < agent.episodes


def test_it_grows_as_the_share_falls_and_is_nothing_where_all_is_paid():
    found = [episodes_to_certify(chain(0.3), share) for share in (0.3, 0.1, 0.01)]
    assert found == sorted(found)
    best = opt.FiniteMDP(np.ones((1, 1, 1)), [[1.0]], [1.0], 0.5)
    assert episodes_to_certify(best, 0.1) == 0
    assert episodes_to_certify(chain(0.9), 0.5) == 0  # more than twice its value is never paid


@pytest.mark.parametrize(
    ("share", "delta", "sentence"),
    [(0, 0.1, r"share must be in \(0, 1\)"), (0.1, 0.6, r"delta must be in \(0, 0.5\)")],
)
def test_numbers_out_of_range_are_refused(share, delta, sentence):
    with pytest.raises(ValueError, match=sentence):
        episodes_to_certify(chain(0.3), share, delta)


def test_rewards_below_zero_have_no_share():
    mdp = opt.FiniteMDP(np.ones((1, 1, 1)), [[-1.0]], [1.0], 0.5)
    with pytest.raises(ValueError, match="rewards must not be negative for a share"):
        episodes_to_certify(mdp, 0.1)
