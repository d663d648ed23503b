"""The declared blocks are those of the covariance matrix, and no finer ones would do."""

import numpy as np
import pytest

from optimist.features import RBF, OneHot, OneHotState, PerAction, StateFeatures, StateOnly, Tiles


def finest_blocks(covariance: np.ndarray) -> int:
    """The largest number of equal contiguous blocks outside of which the matrix is zero."""
    dim = len(covariance)
    for size in range(1, dim + 1):
        block = np.arange(dim) // size
        if dim % size == 0 and not covariance[block[:, None] != block].any():
            return dim // size
    raise AssertionError("a single block always fits")


def test_the_finest_blocks_of_known_matrices():
    assert finest_blocks(np.eye(4)) == 4
    assert finest_blocks(np.kron(np.eye(2), np.ones((2, 2)))) == 2
    assert finest_blocks(np.eye(4) + np.eye(4, k=1) + np.eye(4, k=-1)) == 1


def test_the_covariance_of_state_features_has_the_declared_blocks(state_case):
    features = state_case.psi(state_case.draw(np.random.default_rng(0), (2000,)))
    assert finest_blocks(features.T @ features) == state_case.psi.blocks


def test_the_covariance_has_the_declared_blocks(case):
    rng = np.random.default_rng(0)
    states, actions = case.draw(rng, (2000,)), rng.integers(case.phi.n_actions, size=2000)
    features = case.phi(states, actions)
    assert finest_blocks(features.T @ features) == case.phi.blocks


BOX = ([0.0], [1.0])


@pytest.mark.parametrize(
    ("features", "structure"),
    [
        (OneHot(3, 2), "diagonal"),
        (OneHotState(1), "diagonal"),
        (Tiles(BOX, bins=4), "diagonal"),
        (Tiles(BOX, bins=4, tilings=2), "dense"),
        (RBF(BOX, centres=1), "diagonal"),
        (RBF(BOX, centres=2), "dense"),
        (PerAction(RBF(BOX, centres=2), 3), "blocks"),
        (PerAction(RBF(BOX, centres=2), 1), "dense"),
        (PerAction(OneHotState(4), 3), "diagonal"),
        (StateOnly(OneHotState(4), 3), "diagonal"),
    ],
)
def test_structure_in_a_word(features, structure):
    assert features.structure == structure


class Declared(StateFeatures):
    def __call__(self, observations):
        raise NotImplementedError


def test_unequal_blocks_are_refused():
    with pytest.raises(ValueError, match="blocks = 2 does not divide dim = 5"):
        Declared(dim=5, bound=1.0, blocks=2)


def test_a_negative_bound_is_refused():
    with pytest.raises(ValueError, match="bound = -1 is negative"):
        Declared(dim=4, bound=-1.0, blocks=2)


def test_no_dimensions_are_refused():
    with pytest.raises(ValueError, match="dim = 0 must be at least 1"):
        Declared(dim=0, bound=1.0, blocks=1)
