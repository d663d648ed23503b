"""Distinct observations: numbers in the order met, room that grows, snapshots and descriptions."""

import numpy as np
import pytest

from optimist.features import Distinct, describe, from_description

IMAGES = np.arange(2 * 3 * 4).reshape(2, 3, 4)  # two of two axes


def test_batches_of_arrays_objects_and_single_observations():
    phi = Distinct(n_actions=2, axes=2)
    rows, block = phi.add(IMAGES)
    np.testing.assert_array_equal(block, [[0, 1], [2, 3]])
    np.testing.assert_array_equal(rows, np.ones((2, 1, 1)))
    np.testing.assert_array_equal(phi.in_blocks(IMAGES[1])[1], [2, 3])
    np.testing.assert_array_equal(phi.all_actions(IMAGES[1]), np.eye(128)[[2, 3]])
    np.testing.assert_array_equal(phi(IMAGES, [0, 1]), np.eye(128)[[0, 3]])
    objects = np.empty(2, dtype=object)
    objects[:] = [{"a": 1}, ("b", 2)]
    phi.add(objects)
    assert [phi.in_blocks(x)[1][0] for x in ({"a": 1}, ("b", 2))] == [4, 6]


def test_what_was_not_met_has_no_features():
    phi = Distinct(n_actions=3, axes=2)
    phi.add(IMAGES[:1])
    assert phi.in_blocks(IMAGES)[0].ravel().tolist() == [1.0, 0.0]
    assert not phi.all_actions(IMAGES[1]).any()
    assert not phi(IMAGES[1], 2).any()


def test_room_doubles_and_blocks_stay():
    phi = Distinct(n_actions=2)
    sizes = []
    for x in range(200):
        phi.add(np.array([x]))
        sizes.append(phi.dim)
    assert sorted(set(sizes)) == [128, 256, 512]
    assert sizes[63:65] == [128, 256]
    np.testing.assert_array_equal(phi.in_blocks(np.arange(200))[1][:, 0], 2 * np.arange(200))


def test_a_snapshot_does_not_see_what_is_met_later():
    phi = Distinct(n_actions=2)
    phi.add(np.arange(64))
    before = phi.snapshot()
    phi.add(np.arange(100))
    assert (before.n_states, before.dim, phi.dim) == (64, 128, 256)
    assert before.in_blocks(np.arange(100))[0].sum() == 64
    assert from_description(describe(before)).dim == 128


def test_a_description_and_some_alone():
    phi = Distinct(n_actions=2, axes=1)
    phi.add(np.arange(10).reshape(5, 2))
    again = from_description(describe(phi))
    np.testing.assert_array_equal(again.in_blocks([[8, 9], [0, 1], [7, 7]])[1][:, 0], [8, 0, 0])
    some = phi.only(np.array([4, 1]))
    np.testing.assert_array_equal(some.in_blocks([[8, 9], [2, 3]])[1][:, 0], [0, 2])
    assert some.n_states == 2
    twice = 2 * describe(phi)["digests"]
    for digests in (twice, "00", "zz"):
        with pytest.raises(ValueError, match=r"digests|hexadecimal"):
            Distinct(2, 1, digests)
