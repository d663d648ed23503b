"""Frames hand named tuples to compiled code: every kind of field arrives as it is."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import typeof

from optimist.core.compiler import apart, entry_point
from optimist.core.frame import Frame, call, frame

CLOCK = np.dtype([("episodes", np.int64), ("value", np.float64)])


class Inner(NamedTuple):
    V: Any
    M: Any
    cube: Any
    eta: float
    on: bool
    n: int


class Outer(NamedTuple):
    before: int
    inner: Inner
    clock: Any
    flags: Any
    double: Any = f"{__name__}:double_values"


def outer(**changed: Any) -> Outer:
    inner = Inner(np.arange(3.0), np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4),
                  eta=0.25, on=True, n=-7)  # fmt: skip
    clock = np.array([(5, 1.5)], dtype=CLOCK)
    return Outer(11, inner._replace(**changed), clock, np.array([True, False]))


@apart
def double_values(me: Outer) -> None:
    V = me.inner.V
    if V.size == 0:
        raise ValueError("there are no values")
    for i in range(V.size):
        V[i] *= 2


@entry_point
def read(me: Outer, out: Any) -> float:
    inner = me.inner
    out[0], out[1], out[2], out[3] = me.before, inner.eta, inner.on, inner.n
    out[4], out[5] = inner.M[2, 1], inner.cube[1, 2, 3]
    out[6], out[7] = me.clock[0]["episodes"], me.clock[0]["value"]
    out[8], out[9] = me.flags[0], me.flags[1]
    out[10], out[11] = inner.cube.shape[0], inner.cube.size
    me.clock[0]["episodes"] += 1
    inner.M[0, 0] = -1.0
    return inner.V[1]


@entry_point
def double(me: Outer) -> None:
    call(me.double, me)


def test_fields_of_every_kind_are_read_and_arrays_are_written_in_place():
    given, out = outer(), np.zeros(12)
    assert read(given, out) == 1.0
    assert out.tolist() == [11, 0.25, 1, -7, 9, 23, 5, 1.5, 1, 0, 2, 24]
    assert given.clock[0]["episodes"] == 6
    assert given.inner.M[0, 0] == -1.0


def test_a_frame_is_made_once_and_handed_on():
    given, out = outer(), np.zeros(12)
    made = frame(given)
    read(made, out)
    read(made, out)
    assert given.clock[0]["episodes"] == 7


@pytest.mark.parametrize("eta", [np.float64(0.25), -0.0, np.inf, 5e-324])
def test_numbers_keep_their_bits(eta):
    out = np.zeros(12)
    read(outer(eta=eta), out)
    assert out[1:2].tobytes() == np.array([eta]).tobytes()


def test_numpy_booleans_and_integers_are_as_pythons():
    out = np.zeros(12)
    read(outer(on=np.bool_(False), n=np.int64(2**62)), out)
    assert (out[2], out[3]) == (0, 2.0**62)


def test_functions_are_called_by_their_address():
    given = outer()
    double(given)
    double(given)
    assert given.inner.V.tolist() == [0, 4, 8]


def test_errors_of_functions_called_by_their_address_are_passed_on():
    with pytest.raises(ValueError, match="there are no values"):
        double(outer(V=np.zeros(0)))


@apart
def share(n: int, V: Any) -> float:
    if n == 0:
        raise ValueError("n must be positive")
    return V.sum() / n


@entry_point
def twice_the_share(n: int, V: Any) -> float:
    return share(n, V) + share(2, V[:1]) * 2


@entry_point
def share_of_two(V: Any) -> float:
    return share(2, V)


def test_functions_compiled_apart_are_called_as_others():
    V = np.arange(4.0) + 1
    assert (twice_the_share(5, V), share_of_two(V)) == (3, 5)
    with pytest.raises(ValueError, match="n must be positive"):
        twice_the_share(0, V)
    with pytest.raises(NotImplementedError):
        share(2, V)


def test_arrays_that_are_not_contiguous_are_refused():
    with pytest.raises(ValueError, match="C-contiguous"):
        Frame(outer(M=np.arange(12.0).reshape(3, 4).T))


def test_fields_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError):
        Frame(outer(n=None))


def test_frames_of_other_types_have_other_types():
    kinds = {typeof(Frame(outer(**changed))) for changed in (
        {}, {"eta": 1}, {"M": np.zeros((3, 4), dtype=np.int64)}, {"V": np.zeros((3, 1))},
    )}  # fmt: skip
    assert len(kinds) == 4
    assert typeof(Frame(outer())) is typeof(Frame(outer(V=np.zeros(9))))


def test_an_array_that_takes_the_place_of_another_is_the_one_that_is_read():
    out, seen = np.zeros(12), []
    for k in range(5000):  # more than are remembered, many at the place of one that is gone
        read(outer(M=np.full((3, 4), float(k))), out)
        seen.append(out[4])
    assert seen == list(range(5000))


def test_an_array_that_a_frame_was_made_of_keeps_its_place():
    V = np.arange(3.0)
    frame(outer(V=V))
    with pytest.raises(ValueError, match="cannot resize"):
        V.resize(10**6)
