"""The checks of arguments, and how their errors name the offending entry."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference.refusals import assert_refuses

from optimist import checks
from optimist.core import TablePolicy
from optimist.mdp import FiniteMDP


def test_whole_numbers_and_booleans_are_read_as_floats():
    array = checks.real_array([[True, False], [True, True]], "a")
    assert array.dtype == np.float64
    assert_array_equal(array, [[1, 0], [1, 1]])
    assert checks.real_array([1, 2], "a").dtype == np.float64


def test_finite_entries_whose_sum_overflows_are_accepted():
    largest = np.finfo(np.float64).max
    assert_array_equal(checks.real_array([largest, largest], "a"), [largest, largest])


def test_bad_arrays_are_refused_and_their_first_bad_entry_named():
    dates = np.array(["2020-01-01"], dtype="M8[D]")
    assert_refuses(
        lambda array: checks.real_array(array, "a"),
        *(
            ([[1, 2], [bad, bad]], ValueError, rf"^a\[1, 0\] must be a finite number; got {bad}")
            for bad in (np.nan, np.inf, -np.inf)
        ),
        (
            [np.inf, -np.inf],
            ValueError,
            r"^a\[0\] must be a finite number; got inf",
        ),  # which cancel in the sum
        *(
            (bad, TypeError, r"^a must hold real numbers; got .*$")
            for bad in ([1j], ["1"], [None], dates)
        ),
        ([[1, 2], [3]], ValueError, r"^a must be an array"),
    )


def test_a_wrong_shape_is_refused_and_the_right_one_named():
    assert_refuses(
        lambda array: checks.real_array(array, "a", shape=(2, None)),
        ([1, 2], ValueError, r"^a must have shape \(2, any\); got \(2,\)$"),
        ([[1, 2, 3]], ValueError, r"^a must have shape \(2, any\); got \(1, 3\)$"),
    )
    assert checks.real_array([[1], [2]], "a", shape=(2, None)).shape == (2, 1)
    with pytest.raises(ValueError, match=r"^slip must have shape \(\); got \(1,\)$"):
        checks.real_number([0.5], "slip")


def test_numbers_out_of_range_are_refused():
    assert_refuses(
        lambda value: checks.positive(value, "scale"),
        (0, ValueError, "^scale must be positive; got 0$"),
        (-2.5, ValueError, "^scale must be positive; got -2.5$"),
    )
    assert checks.positive(1e-300, "scale") == 1e-300
    assert_refuses(
        lambda value: checks.probability(value, "slip"),
        *((bad, ValueError, rf"^slip must be in \[0, 1\]; got {bad}") for bad in (-1e-3, 1.001)),
    )
    assert (checks.probability(0, "slip"), checks.probability(1, "slip")) == (0.0, 1.0)


def test_counts_are_whole_numbers_with_a_least_value():
    message = r"^n must be a whole number; got .*$"
    assert_refuses(
        lambda value: checks.count(value, "n"),
        *((bad, TypeError, message) for bad in (True, 2.0, "2", None)),
        (0, ValueError, r"^n must be at least 1; got 0$"),
    )
    assert checks.count(0, "n", least=0) == 0
    assert type(checks.count(np.int32(3), "n")) is int


def test_indices_out_of_range_are_named():
    assert_refuses(
        lambda value: checks.indices(value, "action", below=3),
        ([[0, 2], [-1, 3]], ValueError, r"^action\[1, 0\] must be in \{0, ..., 2\}; got -1$"),
        ([True], TypeError, r"^action must hold whole numbers; got bool$"),
    )
    assert checks.indices(np.uint8(2), "action", below=3) == 2


def test_the_error_for_a_policy_object_says_where_its_table_is():
    m = FiniteMDP([[[1.0], [1.0]]], [[0, 1]], [1], gamma=0.5)
    table = TablePolicy(np.array([[0.5, 0.5]]))
    assert_refuses(
        m.value,
        (m.optimal(), TypeError, "policy must be a table; got Optimum: give"),
        (table, TypeError, r"give its probabilities\(np.arange\(1\)\)"),
    )


def test_a_frozen_array_is_a_copy_that_cannot_be_written():
    array = np.asfortranarray(np.ones((2, 3)))
    copy = checks.frozen(array)
    array[0, 0] = 5
    assert copy[0, 0] == 1
    assert copy.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        copy[0, 0] = 5
