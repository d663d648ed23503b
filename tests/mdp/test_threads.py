"""Solving in several Python threads at once leaves BLAS with the threads it had."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_info

from optimist.mdp import FiniteMDP
from optimist.mdp.dynamics import one_thread


def _threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_keeps_its_threads():
    rng = np.random.default_rng(0)
    mdp = FiniteMDP(
        rng.dirichlet(np.ones(200), size=(200, 2)), rng.random((200, 2)), np.eye(200)[0], 0.9
    )
    before = _threads()
    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(lambda _: mdp.value(mdp.uniform_policy), range(40)))
    assert _threads() == before
    assert len(set(values)) == 1


def test_small_systems_are_solved_by_one_thread():
    with one_thread():
        assert set(_threads()) == {1}
