"""Policies with one table for each time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.mdps import random_mdp

import optimist as opt
from optimist.core import TablePolicy, TimedPolicy, storage
from optimist.core.timed import table_in
from optimist.errors import FileError
from optimist.mdp import timed_occupancy


@pytest.fixture
def policy():
    return TimedPolicy(np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 6)))


def test_each_time_has_its_table_and_the_last_one_stays(policy):
    states = np.arange(6)
    for t in range(8):
        table = TablePolicy(policy.tables[min(t, 3)])
        assert_array_equal(policy.probabilities(states, t), table.table)
        assert_array_equal(policy.predict(states, time=t), table.predict(states))
        drawn = [p.predict(states, np.random.default_rng(5), **told) for p, told in
                 ((policy, {"time": t}), (table, {}))]  # fmt: skip
        assert_array_equal(*drawn)


def test_a_batch_may_have_a_time_each(policy):
    states, times = np.array([[0, 5], [2, 2]]), np.array([[0, 1], [3, 9]])
    pi = policy.probabilities(states, times)
    assert_array_equal(pi, policy.tables[[[0, 1], [3, 3]], states])
    assert_array_equal(policy.predict(states, time=times), pi.argmax(axis=-1))
    assert isinstance(policy.predict(2, time=1), int)


def test_what_acts_must_know_the_time(policy):
    for act in (policy.probabilities, policy.predict, policy.likeliest):
        with pytest.raises(ValueError, match="time must be given"):
            act(0)
    with pytest.raises(ValueError, match=r"time must be one number or have the shape .*\(2,\)"):
        policy.predict([0, 1], time=[1, 2, 3])
    with pytest.raises(ValueError, match=r"time must be in .*; got -1"):
        policy.predict(0, time=-1)


def test_the_stationary_policy_has_the_same_occupancy(policy):
    mdp = random_mdp()
    wanted = timed_occupancy(mdp.P, mdp.nu0, policy.tables, mdp.gamma)
    assert_allclose(mdp.occupancy(policy.stationary_in(mdp).table), wanted, rtol=0, atol=1e-14)
    assert_array_equal(table_in(mdp, policy), policy.stationary_in(mdp).table)
    assert_array_equal(table_in(mdp, TablePolicy(policy.tables[1])), policy.tables[1])


def test_it_is_saved_and_loaded(policy, tmp_path):
    file = tmp_path / "p.safetensors"
    policy.save(file)
    found = opt.load_policy(file)
    assert isinstance(found, TimedPolicy)
    assert_array_equal(found.tables, policy.tables)


@pytest.mark.parametrize(
    ("tables", "error"),
    [
        (np.full((2, 1, 2), 0.6), r"tables\[0, 0\] must sum to 1 within 1e-08; got 1.2"),
        (np.full((2, 1, 2), np.nan), r"tables\[0, 0, 0\] must be in"),
        (np.full((2, 2), 0.5), "tables must have the shape"),
        (np.zeros((0, 2, 2)), "the number of tables must be at least 1; got 0"),
    ],
)
def test_files_of_others_are_checked(tables, error, tmp_path):
    file = tmp_path / "p.safetensors"
    storage.write(file, "timed policy", {}, {"tables": tables})
    with pytest.raises(FileError, match=error):
        opt.load_policy(file)
