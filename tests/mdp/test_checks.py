"""What every room asks of its inputs, and how the errors name the offending entry."""

import numpy as np
import pytest

from optimist import checks
from optimist.core import TablePolicy
from optimist.mdp import FiniteMDP


def test_whole_numbers_and_booleans_are_read_as_floats():
    array = checks.real_array([[True, False], [True, True]], "a")
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, [[1, 0], [1, 1]])
    assert checks.real_array([1, 2], "a").dtype == np.float64


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_entry_that_is_not_finite_is_named(bad):
    with pytest.raises(ValueError, match=rf"^a\[1, 0\] is {bad}; it must be a finite number$"):
        checks.real_array([[1, 2], [bad, bad]], "a")


def test_infinities_that_cancel_in_the_sum_are_found():
    with pytest.raises(ValueError, match=r"^a\[0\] is inf"):
        checks.real_array([np.inf, -np.inf], "a")


def test_finite_entries_whose_sum_overflows_are_accepted():
    largest = np.finfo(np.float64).max
    np.testing.assert_array_equal(checks.real_array([largest, largest], "a"), [largest, largest])


@pytest.mark.parametrize("bad", [[1j], ["1"], [None], np.array(["2020-01-01"], dtype="M8[D]")])
def test_entries_that_are_not_real_numbers_are_refused(bad):
    with pytest.raises(TypeError, match=r"^a holds .*, not real numbers$"):
        checks.real_array(bad, "a")


def test_ragged_lists_are_refused():
    with pytest.raises(ValueError, match=r"^a is not an array"):
        checks.real_array([[1, 2], [3]], "a")


def test_a_wrong_shape_is_refused_and_the_right_one_named():
    with pytest.raises(ValueError, match=r"^a has shape \(2,\); it must have shape \(2, any\)$"):
        checks.real_array([1, 2], "a", shape=(2, None))
    with pytest.raises(ValueError, match=r"^a has shape \(1, 3\); it must have shape \(2, any\)$"):
        checks.real_array([[1, 2, 3]], "a", shape=(2, None))
    assert checks.real_array([[1], [2]], "a", shape=(2, None)).shape == (2, 1)


def test_a_number_is_not_an_array():
    with pytest.raises(ValueError, match=r"^slip has shape \(1,\); it must have shape \(\)$"):
        checks.real_number([0.5], "slip")


@pytest.mark.parametrize(("value", "shown"), [(0, "0"), (-2.5, "-2.5")])
def test_positive_means_above_zero(value, shown):
    with pytest.raises(ValueError, match=rf"^scale = {shown} must be positive$"):
        checks.positive(value, "scale")
    assert checks.positive(1e-300, "scale") == 1e-300


@pytest.mark.parametrize("value", [-1e-3, 1.001])
def test_a_probability_lies_in_the_unit_interval(value):
    with pytest.raises(ValueError, match=rf"^slip = {value} is not a probability"):
        checks.probability(value, "slip")
    assert (checks.probability(0, "slip"), checks.probability(1, "slip")) == (0.0, 1.0)


@pytest.mark.parametrize("value", [True, 2.0, "2", None])
def test_counts_are_whole_numbers(value):
    with pytest.raises(TypeError, match=r"^n = .* is not a whole number$"):
        checks.count(value, "n")


def test_counts_have_a_least_value():
    with pytest.raises(ValueError, match=r"^n = 0 must be at least 1$"):
        checks.count(0, "n")
    assert checks.count(0, "n", least=0) == 0
    assert type(checks.count(np.int32(3), "n")) is int


def test_indices_out_of_range_are_named():
    with pytest.raises(ValueError, match=r"^action\[1, 0\] = -1 is outside \{0, ..., 2\}$"):
        checks.indices([[0, 2], [-1, 3]], "action", below=3)
    with pytest.raises(TypeError, match=r"^action holds bool, not whole numbers$"):
        checks.indices([True], "action", below=3)
    assert checks.indices(np.uint8(2), "action", below=3) == 2


def test_a_policy_that_is_not_one_is_named():
    with pytest.raises(ValueError, match=r"^policy\[1, 0, 1\] = -0.5 is negative$"):
        checks.policies([[[1.0, 0.0]], [[1.5, -0.5]]], 1, 2)
    with pytest.raises(ValueError, match=r"^policy\[1, 0\] sums to 0.9, not to 1 within 1e-08; "):
        checks.policies([[[1.0, 0.0]], [[0.5, 0.4]]], 1, 2)
    with pytest.raises(ValueError, match=r"^policy has shape \(2, 1\); one policy is \(1, 2\)"):
        checks.policies([[1.0], [1.0]], 1, 2)
    with pytest.raises(ValueError, match=r"^policy has shape \(1, 1, 1, 2\)"):
        checks.policies([[[[1.0, 0.0]]]], 1, 2)


def test_a_frozen_array_is_a_copy_that_cannot_be_written():
    array = np.asfortranarray(np.ones((2, 3)))
    copy = checks.frozen(array)
    array[0, 0] = 5
    assert copy[0, 0] == 1
    assert copy.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        copy[0, 0] = 5


def test_a_policy_that_is_not_a_table_is_told_where_its_table_is():
    m = FiniteMDP([[[1.0], [1.0]]], [[0, 1]], [1], gamma=0.5)
    with pytest.raises(TypeError, match="policy is a Optimum: give its policy"):
        m.value(m.optimal())
    table = TablePolicy(np.array([[0.5, 0.5]]))
    with pytest.raises(TypeError, match=r"give its table, probabilities\(np.arange\(1\)\)"):
        m.value(table)
