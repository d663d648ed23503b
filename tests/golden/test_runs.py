"""Twelve runs give the numbers that are kept in runs.toml, to rounding on any processor."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

path = Path(__file__).with_name("runs.py")
spec = importlib.util.spec_from_file_location("golden_runs", path)
golden = importlib.util.module_from_spec(spec)
spec.loader.exec_module(golden)


def test_every_run_is_kept():
    assert list(golden.kept()) == list(golden.RUNS)


@pytest.mark.parametrize("name", golden.RUNS)
def test_a_run_gives_the_numbers_that_are_kept(name):
    kept, found = golden.kept()[name], golden.RUNS[name]()
    assert list(kept) == list(found)
    for key, value in found.items():
        np.testing.assert_allclose(value, kept[key], rtol=1e-8, atol=1e-9, err_msg=key)
