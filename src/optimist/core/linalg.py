# mypy: disable-error-code="no-untyped-call"
"""Linear algebra and draws, in plain loops: for small d they are faster than calls of BLAS."""

import math
from typing import Any

import numpy as np
from numba.core import cgutils, errors, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from optimist.checks import FloatArray
from optimist.core.compiler import apart, compiled, inlined


@compiled(fastmath={"contract", "reassoc"})
def dot(x: FloatArray, y: FloatArray) -> float:
    """x . y; the sum may be taken in any order, so that it uses vector registers."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@compiled(fastmath={"contract", "reassoc"})
def dot_four(
    rows: FloatArray, i: int, step: int, y: FloatArray
) -> tuple[float, float, float, float]:
    """The rows i, i + step, i + 2 step and i + 3 step times y, in one reading of y."""
    first, second, third, fourth = rows[i], rows[i + step], rows[i + 2 * step], rows[i + 3 * step]
    p, q, r, t = 0.0, 0.0, 0.0, 0.0
    for c in range(y.size):
        p += first[c] * y[c]
        q += second[c] * y[c]
        r += third[c] * y[c]
        t += fourth[c] * y[c]
    return p, q, r, t


@compiled(fastmath={"contract", "reassoc"})
def dot_eight(
    rows: FloatArray, i: int, y: FloatArray, z: FloatArray
) -> tuple[float, float, float, float, float, float, float, float]:
    """Four rows from i on, times y and times z, in one reading of the rows."""
    first, second, third, fourth = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
    p, q, r, t, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(y.size):
        p += first[c] * y[c]
        q += second[c] * y[c]
        r += third[c] * y[c]
        t += fourth[c] * y[c]
        e += first[c] * z[c]
        f += second[c] * z[c]
        g += third[c] * z[c]
        h += fourth[c] * z[c]
    return p, q, r, t, e, f, g, h


@compiled(fastmath={"contract"})
def add_to(y: FloatArray, a: float, x: FloatArray) -> None:
    """y += a x."""
    for i in range(y.size):
        y[i] += a * x[i]


@compiled()
def fill(y: FloatArray, value: float) -> None:
    """Set all entries; an assignment to a slice takes the compiler ten times as long."""
    for i in range(y.size):
        y[i] = value


def _copy(_: Any, y: Any, x: Any) -> Any:
    if not (y.layout == x.layout == "C" and y.dtype == x.dtype):
        raise errors.TypingError("arrays must be C-contiguous and of one type")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        to, of = (make_array(k)(context, builder, v) for k, v in zip((y, x), values, strict=True))
        cgutils.raw_memcpy(builder, to.data, of.data, of.nitems, of.itemsize)
        return context.get_dummy_value()

    return types.none(y, x), generate


copy: Any = intrinsic(_copy)
"""``copy(y, x)``: y = x, for contiguous arrays of one shape and type."""


@compiled()
def norm_in(inverse: FloatArray, phi: FloatArray) -> float:
    """||phi|| in the norm of Lambda^{-1}."""
    square = 0.0
    for i in range(phi.size):  # the inverse is symmetric: its lower half is enough
        half = dot(inverse[i, :i], phi[:i])
        square += phi[i] * (2 * half + inverse[i, i] * phi[i])
    return math.sqrt(max(square, 0.0))


@compiled(fastmath={"contract", "reassoc"})
def squares_in(
    inverse: FloatArray, rows: FloatArray, i: int, step: int
) -> tuple[float, float, float, float]:
    """phi' Lambda^{-1} phi of four rows: i, i + step, i + 2 step and i + 3 step.

    Together they take half the time: each row of the inverse is read once for all of them.
    """
    j, k, m = i + step, i + 2 * step, i + 3 * step
    of_i, of_j, of_k, of_m = 0.0, 0.0, 0.0, 0.0
    for c in range(rows.shape[1]):
        p, q, r, t = 0.0, 0.0, 0.0, 0.0
        for e in range(c):
            p += inverse[c, e] * rows[i, e]
            q += inverse[c, e] * rows[j, e]
            r += inverse[c, e] * rows[k, e]
            t += inverse[c, e] * rows[m, e]
        diagonal = inverse[c, c]
        of_i += rows[i, c] * (2 * p + diagonal * rows[i, c])
        of_j += rows[j, c] * (2 * q + diagonal * rows[j, c])
        of_k += rows[k, c] * (2 * r + diagonal * rows[k, c])
        of_m += rows[m, c] * (2 * t + diagonal * rows[m, c])
    return of_i, of_j, of_k, of_m


@compiled(fastmath={"contract"})
def rank_one(
    phi: FloatArray, n: float, Lambda: FloatArray, inverse: FloatArray, y: FloatArray
) -> float:
    """Lambda += n phi phi', and its inverse (Sherman and Morrison); how much the determinant grew.

    ``y`` is room for a vector.
    """
    s = phi.size
    y = y[:s]
    for i in range(s):
        y[i] = dot(inverse[i], phi)
    growth = 1.0 + n * dot(phi, y)
    for i in range(s):  # views of rows, handed on, would take as long as their numbers
        lost, gained = -n / growth * y[i], n * phi[i]
        for j in range(s):
            inverse[i, j] += lost * y[j]
            Lambda[i, j] += gained * phi[j]
    return growth


@compiled()
def rank_many(
    Phi: FloatArray, n: FloatArray, Lambda: FloatArray, inverse: FloatArray, Z: FloatArray
) -> float:
    """Lambda += sum_k n_k phi_k phi_k', and its inverse (Woodbury); log of the growth of det.

    With Y = Lambda^{-1} Phi' and L L' = diag(1 / n) + Phi Y, the inverse loses Z' Z, where
    Z = L^{-1} Y' is left behind [m, s]. Each matrix is gone through once, row by row.
    """
    m, s = Phi.shape
    for i in range(s):
        for k in range(m):
            Z[k, i] = dot(inverse[i], Phi[k])
    S = np.empty((m, m))
    for k in range(m):
        for j in range(m):
            S[k, j] = dot(Phi[k], Z[j])
        S[k, k] += 1 / n[k]
    L: Any = np.linalg.cholesky(S)
    growth = 0.0
    for k in range(m):
        growth += math.log(n[k]) + 2 * math.log(L[k, k])
        for j in range(k):
            add_to(Z[k], -L[k, j], Z[j])
        for i in range(s):
            Z[k, i] /= L[k, k]
    for i in range(s):
        for k in range(m):
            add_to(inverse[i], -Z[k, i], Z[k])
            add_to(Lambda[i], n[k] * Phi[k, i], Phi[k])
    return growth


@apart
def invert(Lambda: FloatArray, inverse: FloatArray) -> float:
    """Invert by a Cholesky factorisation; returns the logarithm of the determinant."""
    s = Lambda.shape[0]
    L: Any = np.linalg.cholesky(Lambda)
    log_det = 0.0
    for i in range(s):
        log_det += 2 * math.log(L[i, i])
    fill(inverse.reshape(s * s), 0.0)
    for c in range(s):  # row c of the inverse of L', by forward substitution
        row = inverse[c]
        row[c] = 1 / L[c, c]
        for i in range(c + 1, s):
            row[i] = -dot(L[i, c:i], row[c:i]) / L[i, i]
    for i in range(s):  # (L L')^{-1} is the product of those rows with each other
        for j in range(i, s):
            inverse[i, j] = dot(inverse[i, j:], inverse[j, j:])
    for i in range(s):
        for j in range(i):
            inverse[i, j] = inverse[j, i]
    return log_det


@inlined
def draw_between(cumulative: FloatArray, first: int, last: int, u: float) -> int:
    """The first index in [first, last) whose cumulative probability exceeds u, else the last."""
    i = first
    while i < last - 1 and u >= cumulative[i]:
        i += 1
    return i


@inlined
def draw(cumulative: FloatArray, u: float) -> int:
    """An index drawn from cumulative probabilities, with u uniform on [0, 1)."""
    return draw_between(cumulative, 0, cumulative.size, u)
