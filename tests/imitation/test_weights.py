"""Classes of reward weights: projections, and what is derived of a class."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.refusals import assert_refuses

from optimist import RaviUcb
from optimist.errors import FileError
from optimist.imitation import Ball, Box, FraIL, FraILConfig, Simplex, WeightClass

BOXES = [Box(0.0, 1.0), Box(-1.0, 0.5), Box(0.25, 2.0)]
CLASSES = [Ball(0.5), Ball(2.0), *BOXES, Simplex(), Simplex(3)]
vectors = arrays(np.float64, st.integers(1, 8), elements=st.floats(-5, 5, width=32))


def inside(weights, w):
    match weights:
        case Ball(radius):
            return np.linalg.norm(w) <= radius + 1e-12
        case Box(low, high):
            return (w >= low).all() and (w <= high).all()
        case Simplex(total):
            return (w >= 0).all() and abs(w.sum() - total) <= 1e-9


def members(weights, dim, rng):
    """Some points of a class."""
    match weights:
        case Ball(radius):
            directions = rng.normal(size=(50, dim))
            return radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        case Box(low, high):
            return rng.choice([low, high], size=(50, dim))
        case Simplex(total):
            return np.concatenate([total * np.eye(dim), total * rng.dirichlet(np.ones(dim), 50)])


@given(st.sampled_from(CLASSES), vectors)
def test_a_projection_is_the_nearest_point(weights, w):
    """u is the projection of w iff it is inside and <w - u, v - u> <= 0 for all v inside."""
    u = weights.project(w)
    assert inside(weights, u)
    for v in members(weights, w.size, np.random.default_rng(0)):
        assert (w - u) @ (v - u) <= 1e-9


@pytest.fixture(scope="module")
def project():
    """The compiled projection."""
    from optimist.imitation.loop import project

    return project


@given(weights=st.sampled_from(CLASSES), w=vectors)
def test_the_compiled_projection_is_the_same(project, weights, w):
    u = w.copy()
    project(weights.kind, np.array(weights.numbers), u)
    np.testing.assert_allclose(u, weights.project(w), rtol=0, atol=1e-12)


def test_the_span_and_the_bound_are_attained():
    """Over rows of both signs, sparse, and among them a row of zeros."""
    rng = np.random.default_rng(3)
    Phi = rng.normal(size=(20, 5)) * (rng.random((20, 5)) < 0.5)
    Phi[4] = 0
    rows = Phi[np.abs(Phi).sum(axis=1) > 0]
    for weights in CLASSES:
        low, high = weights.span(sp.csr_array(Phi))
        many = np.concatenate([members(weights, 5, rng) for _ in range(400)])
        if isinstance(weights, Ball):  # its extreme points are along the rows
            along = weights.radius * rows / np.linalg.norm(rows, axis=1, keepdims=True)
            many = np.concatenate([many, along, -along])
        seen = Phi @ many.T
        assert low - 1e-12 <= seen.min()
        assert seen.max() <= high + 1e-12
        np.testing.assert_allclose([seen.min(), seen.max()], [low, high], rtol=0, atol=1e-9)
        longest = np.linalg.norm(many, axis=1).max()
        np.testing.assert_allclose(longest, weights.bound(5), rtol=1e-9)


def test_rewards_are_shifted_by_as_much_as_they_can_be_negative(grid):
    """By B W_max in a ball, and by nothing if no weight is negative."""
    world, _, expert = grid
    for weights, wanted in (
        (Ball(3.0), (3.0, 3.0, 6.0)),
        (Box(0.0, 2.0), (2 * np.sqrt(8), 0.0, 2.0)),
        (Box(0.5, 2.0), (2 * np.sqrt(8), 0.0, 2.0)),
        (Simplex(0.5), (0.5, 0.0, 0.5)),
    ):
        il = FraIL(world, expert, weights=weights)
        assert (il.W_max, il.shift, il.R_max) == pytest.approx(wanted, rel=1e-15)


class Own(WeightClass):
    """A class of a user's own, with a projection that is as it is given."""

    def __init__(self, function):
        self.function = function

    def project(self, w):
        return self.function(w)

    def bound(self, dim):
        return 1.0


def own_ball(w):
    """Project onto the unit ball, as if nobody knew it."""
    return w / max(1.0, np.linalg.norm(w))


def centred(centre):
    """Weights around a centre that is kept, and given away."""
    return Own(lambda w: own_ball(w) if np.any(w) else centre)


def test_a_class_of_ones_own_learns_the_same(grid):
    world, _, expert = grid
    for fresh in (False, True):
        known = FraIL(world, expert, fresh=fresh, seed=3, stride=2)
        own = FraIL(world, expert, weights=Own(own_ball), fresh=fresh, seed=3, stride=2)
        a, b = known.learn(60), own.learn(60)
        np.testing.assert_array_equal(a.pairs, b.pairs)
        np.testing.assert_array_equal(a.rollouts, b.rollouts)
        np.testing.assert_allclose(a.weights, b.weights, rtol=0, atol=1e-12)
        np.testing.assert_allclose(a.policies, b.policies, rtol=0, atol=1e-9)
        np.testing.assert_allclose(known.reward_weights, own.reward_weights, rtol=0, atol=1e-12)


class NonNegative(Ball):
    """A ball, cut: a class that is derived from one that the engine knows."""

    def project(self, w):
        return super().project(np.maximum(w, 0))


def test_a_class_derived_from_a_known_one_has_its_own_projection(grid):
    world, _, expert = grid
    il = FraIL(world, expert, weights=NonNegative(1.0), stride=1)
    history = il.learn(50)
    assert history.weights.min() == 0
    assert history.weights.max() > 0.1

    class Renamed(Ball):
        """It projects as its parent does."""

    assert (Renamed.kind, NonNegative.kind) == (Ball.kind, WeightClass.kind)


def test_the_first_weights_are_copied_and_may_be_whole_numbers(grid):
    world, _, expert = grid
    centre = np.full(8, 0.1)
    FraIL(world, expert, weights=centred(centre)).learn(20)
    np.testing.assert_array_equal(centre, 0.1)
    for first in ([0] * 8, np.zeros(8, dtype=np.int64)):
        il = FraIL(world, expert, weights=centred(first))
        il.learn(20)
        assert (il.last_reward_weights % 1 != 0).any()


class Breaking(Own):
    """It fails the seventh time."""

    times = 0

    def __init__(self, error=RuntimeError):
        super().__init__(own_ball)
        self.error = error

    def project(self, w):
        self.times += 1
        if self.times == 8:  # w_0 was the first
            raise self.error("no memory of how to project")
        return super().project(w)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_projection_that_fails_leaves_a_learner_that_says_so(grid, tmp_path, error):
    """The episode before its failure can be loaded; the broken learner goes nowhere."""
    world, _, expert = grid
    il = FraIL(world, expert, weights=Breaking(error), K=20, stride=1)
    il.learn(6)
    il.save(tmp_path)
    with pytest.raises(error, match="no memory"):
        il.learn(14)
    weights = il.last_reward_weights
    sentence = "the projection failed after episode 7 .*: load the learner as it was saved before"
    for go_on in (lambda: il.learn(1), lambda: il.save(tmp_path)):
        with pytest.raises(ValueError, match=sentence):
            go_on()
    assert il.history.evaluated.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(weights, il.history.weights[-1])
    again = FraIL.load(tmp_path, world, expert, weights=Breaking())
    whole = FraIL(world, expert, weights=Own(own_ball), K=20, stride=1)
    whole.learn(10)
    again.learn(4)
    np.testing.assert_array_equal(again.history.weights, whole.history.weights)


@dataclass(frozen=True)
class HalfBall(NonNegative):
    """A class of one's own that is a dataclass."""

    most: float = 2.0


def test_a_class_of_ones_own_and_any_player_are_saved_and_loaded(grid, tmp_path):
    """The file names the class; it holds no more of it, and it is given again."""
    world, _, expert = grid
    config = FraILConfig(HalfBall(), player=RaviUcb.Config(beta=2.0))
    il = FraIL(world, expert, config=config, K=20)
    il.learn(10)
    il.save(tmp_path)
    again = FraIL.load(tmp_path, world, expert, config=config)
    np.testing.assert_array_equal(again.learn(10).steps, il.learn(10).steps)
    with pytest.raises(FileError, match=r"W was \['HalfBall', 1.0, 0.0\], is \['NonNegative', "):
        FraIL.load(tmp_path, world, expert, config=replace(config, weights=NonNegative()))
    with pytest.raises(FileError, match=r"player was .*2\.0.*, is .*0\.3"):
        FraIL.load(tmp_path, world, expert, config=replace(config, player=RaviUcb.Config()))


def test_the_simplex_is_projected_onto_from_afar(project):
    for size in (1e15, 1e17, 1e30):
        for w in ([size], [size, size], [size, 0.0], [-size, size, size]):
            found, again = Simplex(1.0).project(np.array(w)), np.array(w)
            project(Simplex.kind, np.array([1.0, 0.0]), again)
            np.testing.assert_array_equal(found, again)
            top = np.array(w) == size
            np.testing.assert_array_equal(found, top / top.sum())


def test_wrong_projections_and_classes_are_refused(grid):
    """The first weights at once, and any others when they are made."""
    world, _, expert = grid
    shape = r"the projection must have shape \(8,\); got \(3,\)"
    no_number, outside = "must be a finite number; got nan", r"must be in \[0, R_max\] = \[0, 2\]"
    first = [
        (centred(np.zeros(3)), ValueError, shape),
        (centred(np.full(8, np.nan)), ValueError, no_number),
        (centred(np.full(8, 2.0)), ValueError, rf"r_k\[0, 0\] {outside}; got 3"),
    ]
    assert_refuses(lambda weights: FraIL(world, expert, weights=weights), *first)
    later = [
        (Own(lambda w: 5 * own_ball(1e9 * w)), ValueError, rf"r_k\[.*\] {outside}"),
        (Own(lambda w: np.zeros(3) if w.any() else w), ValueError, shape),
        (Own(lambda w: w * np.nan if w.any() else w), ValueError, no_number),
    ]
    assert_refuses(lambda weights: FraIL(world, expert, weights=weights).learn(5), *later)
    classes = [
        ((Ball, 0.0), ValueError, "radius must be positive; got 0"),
        ((Box, 1.0, 1.0), ValueError, "low must be below high; got low = 1, high = 1"),
        ((Box, 0.0, np.inf), ValueError, "high must be a finite number; got inf"),
        ((Simplex, -1.0), ValueError, "total must be positive; got -1"),
    ]
    assert_refuses(lambda given: given[0](*given[1:]), *classes)
