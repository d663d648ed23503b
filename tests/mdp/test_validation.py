"""What is not an MDP is refused, and the error names the offending entry."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from reference.refusals import assert_refuses

from optimist.mdp import FiniteMDP

P = np.array([[[0.5, 0.5, 0], [0, 1, 0]], [[0, 0, 1], [0.25, 0.25, 0.5]], [[1, 0, 0], [0, 0, 1]]])
R = np.array([[0.0, 1.0], [0.5, 0.25], [0.75, 0.0]])
NU0 = np.array([0.5, 0.5, 0.0])
NOT_FINITE = " must be a finite number; got nan$"


def sparse(P):
    return sp.csr_array(P.reshape(-1, P.shape[-1]))


def changed(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


def build(parts):
    return FiniteMDP(**{"P": P, "r": R, "nu0": NU0, "gamma": 0.9, **parts})


both = pytest.mark.parametrize("store", [np.asarray, sparse])


@both
def test_bad_entries(store):
    negative = store(changed(P, (1, 1), [0.75, -0.25, 0.5]))
    too_little, too_much = (store(changed(P, (2, 1, 2), 1 + e)) for e in (-2e-8, 2e-8))
    not_one = r"^P\[2, 1\] must sum to 1 within 1e-08; got .*; .*normal"
    unpaid = changed(np.ones_like(P), (0, 1, 1), np.nan)
    not_paid = r"^r\[0, 1, 1\] must be a finite number; got nan$"
    assert_refuses(
        build,
        ({"P": negative}, ValueError, r"^P\[1, 1, 1\] must not be negative; got -0.25$"),
        ({"P": too_little}, ValueError, not_one),
        ({"P": too_much}, ValueError, not_one),
        ({"P": store(P), "r": unpaid}, ValueError, not_paid),
        ({"P": store(P), "r": sparse(unpaid)}, ValueError, not_paid),
    )


@both
def test_rows_that_sum_to_one_up_to_rounding(store):
    for excess in (5e-9, -5e-9):
        mdp = build({"P": store(changed(P, (2, 1, 2), 1 + excess))})
        assert mdp.kernel[5, 2] == 1 + excess


def test_entries_that_are_not_finite():
    P_bad = changed(P, (1, 1, 0), np.nan)
    assert_refuses(
        build,
        ({"P": P_bad}, ValueError, r"^P\[1, 1, 0\]" + NOT_FINITE),
        ({"P": sparse(P_bad)}, ValueError, r"^P\[1, 1, 0\]" + NOT_FINITE),
        (
            {"P": sparse(changed(P, (1, 1, 0), np.inf))},
            ValueError,
            r"^P\[1, 1, 0\] must be a finite number; got inf",
        ),
        ({"r": changed(R, (2, 1), np.nan)}, ValueError, r"^r\[2, 1\]" + NOT_FINITE),
        ({"nu0": changed(NU0, 2, np.nan)}, ValueError, r"^nu0\[2\]" + NOT_FINITE),
        ({"gamma": np.nan}, ValueError, "^gamma" + NOT_FINITE),
    )


def test_kernels_of_the_wrong_shape():
    def refused(P, message):
        return {"P": P, "r": np.zeros((3, 0))}, ValueError, message

    shapes = [(6,), (6, 3), (3, 2, 2), (2, 2, 3), (1, 3, 2, 3)]
    of_shape = [
        refused(
            np.full(shape, 1 / 3),
            rf"^P must have shape \[X, A, X\].*; got shape {re.escape(str(shape))}$",
        )
        for shape in shapes
    ]
    too_few, flat = sp.csr_array(np.full((5, 3), 1 / 3)), sp.coo_array(np.ones(3))
    assert_refuses(
        build,
        *of_shape,
        refused(too_few, r"^a sparse P must have X columns and X\*A rows.*; got shape \(5, 3\)$"),
        refused(flat, r"^a sparse P must have X columns and X\*A rows.*; got shape \(3,\)$"),
        refused(np.zeros((3, 0, 3)), "^P must have at least one action; got none$"),
        refused(sp.csr_array((0, 3)), r"^a sparse P must .* one action.*; got shape \(0, 3\)$"),
        refused(np.zeros((0, 2, 0)), "^P must have at least one state; got none$"),
        refused(sp.csr_array((0, 0)), r"^a sparse P must .* one state.*; got shape \(0, 0\)$"),
        refused([[[1, 0], [1]]], "^P must be an array"),
    )


@both
def test_rewards_of_the_wrong_shape(store):
    def refused(r, has, needs):
        return {"P": store(P), "r": r}, ValueError, rf"^r must have shape {needs}; got {has}$"

    pairs_or_triples = r"\(3, 2\) or \(3, 2, 3\)"
    assert_refuses(
        build,
        refused(np.zeros(3), r"\(3,\)", pairs_or_triples),
        refused(np.zeros((2, 3)), r"\(2, 3\)", pairs_or_triples),
        refused(np.zeros((3, 2, 2)), r"\(3, 2, 2\)", pairs_or_triples),
        refused(np.zeros((3, 3, 2)), r"\(3, 3, 2\)", pairs_or_triples),
        refused(np.zeros((6, 3)), r"\(6, 3\)", pairs_or_triples),
        refused(sp.csr_array(R), r"\(3, 2\)", r"\(6, 3\)"),
        ({"P": store(P), "r": [[1, 0], [1]]}, ValueError, "^r must be an array"),
    )


def test_bad_initial_distributions_and_discount_factors():
    not_number = r"^gamma must hold real numbers; got .*$"
    assert_refuses(
        build,
        ({"nu0": [0.5, 0.5]}, ValueError, r"^nu0 must have shape \(3,\); got \(2,\)$"),
        ({"nu0": [1.5, -0.5, 0]}, ValueError, r"^nu0\[1\] must not be negative; got -0.5$"),
        ({"nu0": [0.5, 0.4, 0]}, ValueError, r"^nu0 must sum to 1 within 1e-08; got 0.9; div"),
        *(
            ({"gamma": gamma}, ValueError, rf"^gamma must be in \[0, 1\); got {gamma:g}$")
            for gamma in (1.0, -0.1, 1.5)
        ),
        *(({"gamma": gamma}, TypeError, not_number) for gamma in ("0.9", None, 0.5j)),
    )


def test_tables_that_hold_no_real_numbers():
    bad = [("P", P + 0j), ("r", R.astype(str)), ("nu0", np.array([1.0, None, 0]))]
    bad += [("P", sparse(P + 0j)), ("r", sparse(P + 0j))]
    message = r"^{} must hold real numbers; got .*$"
    assert_refuses(build, *(({x: table}, TypeError, message.format(x)) for x, table in bad))


@pytest.mark.parametrize("method", ["V", "Q", "value", "state_occupancy", "occupancy"])
def test_bad_policies(method):
    assert_refuses(
        getattr(build({}), method),
        (
            np.full((2, 3), 1 / 3),
            ValueError,
            r"^policy must have shape \(3, 2\), .*; got \(2, 3\)$",
        ),
        (
            [[1, 0], [0.5, 0.4], [0, 1]],
            ValueError,
            r"^policy\[1\] must sum to 1 within 1e-08; got 0.9",
        ),
        (
            [[[1, 0], [1, 0], [-1, 2]]],
            ValueError,
            r"^policy\[0, 2, 0\] must not be negative; got -1$",
        ),
        (np.full((1, 1, 3, 2), 0.5), ValueError, r"^policy must have shape .*; got \(1, 1, 3, 2\)"),
    )


def test_features_of_the_wrong_shape():
    mdp = build({})
    with pytest.raises(ValueError, match=r"^Phi must have shape \(3, 2, any\); got \(2, 3, 4\)$"):
        mdp.feature_expectations(mdp.uniform_policy, np.zeros((2, 3, 4)))
