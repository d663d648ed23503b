"""Certificates against their transcription, closed forms, and the truth."""

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
from reference.certificate import certificate
from reference.mdps import draw_mdp, random_mdp

import optimist as opt
from optimist import envs
from optimist.agents.certificate import Certifier, Seen
from optimist.agents.ending import Goal
from optimist.core import storage
from optimist.core.arrays import simulator

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
    certifier = Certifier(world, mdp.r, delta, support, precision=1e-7)
    return certifier.certificate(Seen(counts, starts, mdp.r), int(starts.sum()), int(N.sum()))


@pytest.mark.parametrize("kind", ["dense", "few successors", "deterministic", "mixed"])
@pytest.mark.parametrize("given", [False, True])
def test_it_agrees_with_the_transcription(kind, given):
    """And where the search ends early, it does so on the safe side."""
    rng = np.random.default_rng(len(kind))
    mdp = draw_mdp(rng, n_states=4, n_actions=2, gamma=0.6, kind=kind)
    n = rng.integers(0, 400, size=mdp.r.shape) * (rng.random(mdp.r.shape) < 0.9)
    N, starts = drawn(mdp, n, rng)
    support, begins = (np.asarray(mdp.P) > 0, mdp.nu0 > 0) if given else (None, None)
    _, _, _, upper, lower = certificate(N, starts, mdp.r, mdp.gamma, DELTA, support, begins)
    found = certified(mdp, N, starts, support=mdp if given else None)
    assert upper - 1e-7 <= found.upper <= upper + 1e-5
    assert lower - 1e-5 <= found.lower <= lower + 1e-7


# One coin: state 0 leads to 1, which pays for ever, with probability p, and otherwise to 2.

GAMMA = 0.5


def coin(p):
    P = np.zeros((3, 1, 3))
    P[0, 0] = [0, p, 1 - p]
    P[1, 0, 1] = P[2, 0, 2] = 1
    return opt.FiniteMDP(P, [[0.0], [1.0], [0.0]], [1, 0, 0], GAMMA)


def kl(p, q):
    terms = ((x, y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)
    return sum(x * math.log(x / y) if y > 0 else math.inf for x, y in terms)


def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def allowed(k, n):
    """n KL <= these: of the upper bound, which has the better of two, and of the lower bound."""
    portfolio = math.log(math.pi) - log_beta(0.5, n + 0.5)
    if k in (0, n):  # the set of one state: two such sets, and the prior 3 / 2 / (1 (1 + 1))
        redundancy = math.log(2) + math.log(4 / 3)
    else:
        best = k * math.log(k / n) + (n - k) * math.log((n - k) / n)
        redundancy = best - log_beta(k + 0.5, n - k + 0.5) + math.log(math.pi) + math.log(4)
    events = math.log(2 / DELTA)
    return events + min(portfolio, redundancy), events + redundancy


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 10), (0, 50), (199, 200), (600, 2000)])
def test_a_coin_has_a_closed_form(k, n):
    """The bounds are the ends of n KL(k / n, q) <= a sum of logarithms, each of which counts."""
    world = coin(0.3)
    N = np.zeros((3, 1, 3))
    N[0, 0] = [0, k, n - k]
    found = certified(world, N, np.array([n, 0, 0]), support=world)
    value = GAMMA / (1 - GAMMA)
    for bound, limit, end in zip((found.upper, found.lower), allowed(k, n), (1, 0), strict=True):
        q = bound / value
        if abs(q - end) > 1e-6:
            assert n * kl(k / n, q) == pytest.approx(limit, rel=1e-3)
        else:
            assert n * kl(k / n, end) <= limit
    assert found.upper <= value + 1e-6
    assert found.lower >= -1e-6


def crossing(p, N, limit):
    """The exact probability that n KL(k / n, p) exceeds a limit at some n <= N."""
    alive, crossed = np.ones(1), 0.0  # of k among those that never did
    for n in range(1, N + 1):
        alive = np.append(alive * (1 - p), 0.0) + np.append(0.0, alive * p)
        out = np.array([n * kl(k / n, p) > limit(k, n) for k in range(n + 1)])
        crossed += alive[out].sum()
        alive[out] = 0.0
    return crossed


@pytest.mark.parametrize("p", [0.02, 0.5])
def test_the_bounds_of_a_coin_hold_at_all_times_at_once(p):
    """By exact probabilities; without the logarithms of n they would not, though they would once.

    The limits are those of `test_a_coin_has_a_closed_form`.
    """
    assert crossing(p, 250, lambda k, n: allowed(k, n)[k < p * n]) < DELTA / 2
    assert crossing(p, 250, lambda k, n: allowed(k, n)[1]) < DELTA / 2
    assert crossing(0.5, 250, lambda k, n: math.log(2 / DELTA)) > DELTA


def test_each_row_has_its_share_of_delta():
    """The union is over all rows that are not known, and over both kinds of bounds."""
    N, n = np.zeros((2, 1, 2)), 50.0
    N[0, 0, 0] = N[1, 0, 1] = n
    one = [[[0.5, 0.5]], [[0.5, 0.5]]]
    mdp = opt.FiniteMDP(one, [[1.0], [0.0]], [1, 0], GAMMA)
    known = np.array([[[True, True]], [[False, True]]])
    for possible, rows in ((np.ones((2, 1, 2), dtype=bool), 3), (known, 2)):
        found = certified(mdp, N, np.array([5, 0]), support=possible)
        # L(1) = 0 and L(0) = 1 + gamma e^-b L(0), whose state is the first with e^-b' at least
        limit = math.log(2 * rows / DELTA) + math.log(2) + math.log(4 / 3)
        wanted = math.exp(-limit / 5) / (1 - GAMMA * math.exp(-limit / n))
        assert found.lower == pytest.approx(wanted, rel=1e-4)


# Against the truth


@pytest.mark.parametrize("kind", ["dense", "few successors", "mixed"])
def test_certificates_hold_along_runs(kind):
    """One learner is asked again and again while its data grow; each answer is no worse."""
    rng = np.random.default_rng(7)
    for _ in range(10):
        mdp = draw_mdp(rng, n_states=4, n_actions=2, gamma=0.8, kind=kind)
        best = mdp.optimal().value
        certifier = Certifier(simulator(mdp), mdp.r, DELTA, None)
        rows = np.repeat(np.arange(mdp.r.size), np.diff(simulator(mdp).first))
        N, starts = np.zeros((4, 2, 4)), np.zeros(4, dtype=np.int64)
        before = math.inf, -math.inf
        for i in range(12):
            more, begun = drawn(mdp, rng.integers(0, 2**i + 1, size=(4, 2)), rng)
            N, starts = N + more, starts + begun
            counts = N.reshape(-1, 4)[rows, simulator(mdp).after]
            seen = Seen(counts, starts, mdp.r)
            found = certifier.certificate(seen, int(starts.sum()), int(N.sum()))
            value = mdp.value(found.policy.table)
            assert found.lower <= value <= best + 1e-12
            assert best <= found.upper
            assert found.upper <= before[0]
            assert found.lower >= before[1]
            before = found.upper, found.lower
        fresh = certified(mdp, N, starts)
        assert found.upper <= fresh.upper + 0.01 * fresh.gap
        assert found.lower >= fresh.lower - 0.01 * fresh.gap


def test_transitions_that_were_never_seen_are_not_read():
    """Two worlds with the same draws and other probabilities have one certificate, bit for bit."""
    one, other = coin(0.3), random_mdp(3, 1, GAMMA)
    other = opt.FiniteMDP(other.P, one.r, [0.2, 0.3, 0.5], GAMMA)
    N = np.zeros((3, 1, 3))
    N[0, 0, 1], N[1, 0, 1] = 20, 30
    found = [certified(mdp, N, np.array([9, 0, 0])) for mdp in (one, other)]
    assert (found[0].lower, found[0].upper) == (found[1].lower, found[1].upper)


def test_what_is_certain_is_exact():
    """A deterministic world whose support is known leaves nothing to learn."""
    world = envs.DeepSea(4, gamma=0.9)
    found = opt.Optimist(world).certificate(support=world)
    best = world.mdp.optimal().value
    assert found.lower == pytest.approx(best, abs=1e-6)
    assert found.upper == pytest.approx(best, abs=1e-6)
    assert found.lower <= best <= found.upper


# Users


RIVER = envs.RiverSwim(4, gamma=0.8)


def test_learning_ends_when_enough_is_certified():
    agent = opt.Prover(RIVER, seed=0)
    agent.learn(until=0.3, delta=0.1)
    found = agent.certificate(delta=0.1)
    assert found.share <= 0.3
    early = opt.Prover(RIVER, seed=0)
    early.learn(agent.episodes * 9 // 10)
    assert early.certificate(delta=0.1).share > 0.25
    again = opt.Prover(RIVER, seed=0)
    again.learn(250, until=0.3, delta=0.1)
    assert again.episodes == 250


def test_a_learner_that_is_loaded_has_the_same_certificate(tmp_path):
    for kind in (opt.Prover, opt.Optimist):
        agent = kind(RIVER, seed=0)
        agent.learn(700)
        agent.save(tmp_path / kind.__name__)
        again = kind.load(tmp_path / kind.__name__, RIVER)
        one, other = agent.certificate(), again.certificate()
        assert (one.lower, one.upper, one.episodes) == (other.lower, other.upper, other.episodes)
    opt.testing.check_agent(opt.Prover, RIVER)


def test_a_saved_policy_keeps_what_was_certified(tmp_path):
    agent = opt.Prover(RIVER, seed=0)
    agent.learn(500)
    found = agent.certificate(delta=0.2)
    found.policy.save(tmp_path / "policy")
    loaded = opt.load_policy(tmp_path / "policy")
    kept = loaded.certificate
    assert (kept.lower, kept.upper, kept.delta) == (found.lower, found.upper, 0.2)
    assert (kept.episodes, kept.steps, kept.share) == (500, agent.steps, found.share)
    assert "delta = 0.2, after 500 episodes" in repr(loaded)
    np.testing.assert_array_equal(loaded.table, found.policy.table)
    opt.core.TablePolicy(found.policy.table).save(tmp_path / "plain")
    assert opt.load_policy(tmp_path / "plain").certificate is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"delta": 1.0}, r"delta must be in \(0, 1\); got 1"),
        ({"delta": "much"}, "delta must be of the type float; got 'much'"),
        ({"lower": 9.0}, "lower must be at most upper; got 9 > 2"),
        ({"upper": 1e300}, "upper must be in"),
        ({"episodes": -1}, "episodes must be a whole number"),
        ({"steps": None}, "steps must be a whole number"),
        ({"more": 1}, "'more' must not be in it"),
    ],
)
def test_a_file_with_another_certificate_is_refused(change, sentence, tmp_path):
    good = {"lower": 1.0, "upper": 2.0, "delta": 0.1, "episodes": 5, "steps": 50}
    table = {"table": np.array([[0.5, 0.5]])}
    path = tmp_path / "policy"
    storage.write(path, "table policy", {"certificate": good}, table)
    assert opt.load_policy(path).certificate.gap == 1.0
    storage.write(path, "table policy", {"certificate": {**good, **change}}, table)
    with pytest.raises(opt.errors.FileError, match=sentence):
        opt.load_policy(path)


def test_what_cannot_be_certified_is_refused():
    agent = opt.Optimist(RIVER)
    for delta in (0, 1, -0.1, 2):
        with pytest.raises(ValueError, match=r"delta must be in \(0, 1\); got"):
            agent.certificate(delta)
    changing = opt.RmaxRaviUcb(RIVER, rewards=opt.core.Sequence(np.zeros((9, 4, 2))))
    with pytest.raises(ValueError, match="rewards must not change for a certificate"):
        changing.certificate()
    dense = opt.RmaxRaviUcb(RIVER, opt.features.Table(np.random.default_rng(0).random((4, 2, 3))))
    with pytest.raises(ValueError, match="this learner keeps none"):
        dense.certificate()
    with pytest.raises(TypeError, match="delta must come with until="):
        agent.learn(10, delta=0.1)
    with pytest.raises(ValueError, match=r"until must be in \(0, 1\) where delta is given"):
        agent.learn(until=5, delta=0.1)
    with pytest.raises(ValueError, match="this learner keeps none"):
        dense.learn(until=0.5, delta=0.1)
    assert agent.episodes == dense.episodes == 0


@pytest.mark.parametrize(
    ("support", "sentence"),
    [
        (envs.RiverSwim(5), "support must be of 4 states and 2 actions"),
        (np.ones((4, 2)), r"support must be an MDP, booleans \[X, A, X\]"),
        (np.ones((4, 2, 4)), r"support must be an MDP, booleans \[X, A, X\]"),
        (np.zeros((4, 2, 4), dtype=bool), r"support\[0, 0\] must have a next state"),
        (lambda x, a: [x], "support must have all that was seen; got none of 0, 1 to 1"),
        (lambda x, a: [4], r"support\(0, 0\)"),
    ],
)
def test_an_invalid_support_is_refused(support, sentence):
    agent = opt.Optimist(RIVER, seed=0)
    agent.learn(50)
    with pytest.raises((ValueError, IndexError), match=sentence):
        agent.certificate(support=support)


def test_supports_in_all_their_forms_agree():
    agent = opt.Prover(RIVER, seed=0)
    agent.learn(300)
    P = np.asarray(RIVER.mdp.P) > 0
    table = agent.certificate(support=P)
    function = agent.certificate(support=lambda x, a: np.flatnonzero(P[x, a]))
    assert (table.lower, table.upper) == (function.lower, function.upper)
    mdp = agent.certificate(support=RIVER)  # and where episodes begin
    assert mdp.gap < table.gap < agent.certificate().gap


def test_the_time_left_is_that_of_the_episodes_since_the_first_certificate(monkeypatch):
    """The first one waits for the compiler: 50 s here, while 100 episodes take one second."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    shares = iter([1.0, 0.8, 0.4, 0.2])
    agent = SimpleNamespace(
        episodes=0, certificate=lambda delta: SimpleNamespace(share=next(shares))
    )
    goal = Goal(agent, until=0.1, delta=0.05)
    for episodes, seconds in ((100, 51.0), (200, 52.0), (400, 54.0)):
        agent.episodes, clock[0] = episodes, seconds
        assert not goal.look(ends=False)
    # the share is halved as the episodes are doubled: 400 more, at 100 a second
    assert goal.sentence == "certified within 20.0% of the optimum; about 4 s more"
    agent.episodes, agent.certificate = 0, lambda delta: SimpleNamespace(share=0.05)
    at_once = Goal(agent, until=0.1, delta=0.05)
    agent.episodes = 100
    assert at_once.look(ends=False)
