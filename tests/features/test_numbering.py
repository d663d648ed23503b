"""Numbers of observations: what counts as the same, and what does not."""

import subprocess
import sys

import numpy as np
import pytest

from optimist.features.numbering import Numbering, digest_observation

SAME = [
    (1, np.int64(1), np.uint8(1), np.array(1), True),
    (0.5, np.float64(0.5), np.float32(0.5)),
    (0.0, -0.0),
    ((1, "a"), [1, "a"]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (np.arange(6, dtype=np.uint8).reshape(2, 3), np.arange(6).reshape(2, 3)),
    (np.array(["x", "y"]), ["x", "y"]),
]
DIFFERENT = [
    *(None, 0, 1, 1.0, "1", "", (), (1,), ((1,),), (1, 2), (12,), ("1", "2"), ("12", "")),
    *({}, {"a": 1}, {"a": "1"}, {"b": 1}, ("a", 1), np.zeros(2), np.zeros((1, 2)), np.zeros(3)),
    *(np.zeros(2, dtype=int), np.arange(4), np.arange(4)[::-1], np.arange(4).reshape(2, 2)),
]


def test_what_says_the_same_has_one_digest():
    for group in SAME:
        assert len({digest_observation(x) for x in group}) == 1, group


def test_what_differs_has_another():
    assert len({digest_observation(x) for x in DIFFERENT}) == len(DIFFERENT)


def test_digests_do_not_depend_on_the_process():
    said = "{'b': (1, 'two'), 'a': 0.5}"
    command = f"from optimist.features.numbering import digest_observation as d; print(d({said}))"
    found = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == repr(digest_observation({"b": (1, "two"), "a": 0.5}))


def test_numbers_are_given_in_order_and_kept():
    numbers = Numbering()
    assert [numbers.add(x) for x in ("a", "b", "a", "c")] == [0, 1, 0, 2]
    again = Numbering(numbers.digests)
    assert [again.find(x) for x in ("a", "b", "c", "d")] == [0, 1, 2, -1]
    assert len(again) == 3
    assert again.add("d") == 3


def test_other_objects_are_refused():
    for odd in (object(), np.array([object()]), {"a": object()}, np.datetime64("2020-01-01"), 1j):
        with pytest.raises(TypeError, match="must be made of numbers, text"):
            digest_observation(odd)
