"""Grids: every list in a table is expanded."""

import pytest

from optimist.errors import DataError
from optimist.experiments.grid import grid, grid_size


def test_lists_give_their_product_the_last_one_changing_first():
    data = {"a": [1, 2], "b": 0, "c": {"d": {"e": ["x", "y"]}, "f": 3}}
    tables = [
        ({"a": a, "b": 0, "c": {"d": {"e": e}, "f": 3}}, {"a": a, "c.d.e": e})
        for a in (1, 2)
        for e in ("x", "y")
    ]
    assert list(grid(data)) == tables
    assert grid_size(data) == 4
    assert data == {"a": [1, 2], "b": 0, "c": {"d": {"e": ["x", "y"]}, "f": 3}}  # it is left alone


def test_without_lists_there_is_one_choice():
    for data in ({"a": 1}, {}):
        assert list(grid(data)) == [(data, {})]
        assert grid_size(data) == 1


def test_changing_one_table_of_a_grid_changes_no_other():
    (first, _), (second, _) = grid({"a": {"b": [1, 2]}})
    first["a"]["b"] = 5
    assert second == {"a": {"b": 2}}


def test_an_empty_list_is_refused_where_it_is():
    for count in (grid_size, lambda data: list(grid(data))):
        with pytest.raises(DataError, match="b must not be an empty list") as caught:
            count({"a": {"b": []}, "c": [1]})
        assert caught.value.path == ("a", "b")
