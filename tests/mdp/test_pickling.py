"""An MDP sent to another process is the same MDP, and as immutable."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from optimist.mdp import FiniteMDP, LinearMDP


@pytest.fixture(params=["dense", "sparse", "linear"])
def mdp(request):
    if request.param == "linear":
        return LinearMDP.random_simplex(np.random.default_rng(0), 3, 5, 2, 0.9)
    P = np.random.default_rng(0).dirichlet(np.ones(4), size=(4, 2))
    store = sp.csr_array(P.reshape(8, 4)) if request.param == "sparse" else P
    return FiniteMDP(store, np.random.default_rng(1).random((4, 2, 4)), np.full(4, 0.25), 0.9)


@pytest.mark.parametrize("send", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_is_equal_and_cannot_be_written(mdp, send):
    mdp.optimal()
    other = send(mdp)
    assert other.optimal().value == mdp.optimal().value
    for array in (other.r, other.nu0, getattr(other.kernel, "data", other.kernel)):
        with pytest.raises((ValueError, TypeError)):
            array[0] = 0
    with pytest.raises(AttributeError, match="immutable"):
        other.r = mdp.r
