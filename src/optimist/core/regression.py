"""Ridge regression on features, kept up to date: the covariance, its inverse and determinant.

Kernels take the arrays of a `Regression` one by one: they are called in loops.
"""

import math
from typing import Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.compiler import apart, compiled, inlined
from optimist.core.linalg import copy, dot, fill, invert, rank_one
from optimist.core.state import Epoch, Regression

LOG_TWO = math.log(2) - 1e-9
"""det >= 2 det, in logarithms. With counts the two are often equal; rounding must not decide."""

MANY = 1e200
"""A product of determinants is kept below this; then its logarithm is taken."""

REFRESH = 4096
"""After this many rank-one updates of a block its inverse is factorised anew."""


@apart
def observe(
    Lambda: FloatArray,
    inverse: FloatArray,
    stale: IntArray,
    log_det: FloatArray,
    b: int,
    phi: FloatArray,
    n: float,
    work: FloatArray,
) -> None:
    """Lambda += n phi phi' in block b, with its inverse and determinant."""
    if phi.size == 1:
        before = Lambda[b, 0, 0]
        Lambda[b, 0, 0] = before + n * phi[0] * phi[0]
        log_det[0] += math.log(Lambda[b, 0, 0] / before)
        return
    log_det[0] += math.log(rank_one(phi, n, Lambda[b], inverse[b], work))
    stale[b] += 1
    if stale[b] >= REFRESH:
        invert(Lambda[b], inverse[b])
        stale[b] = 0


@inlined
def has_doubled(log_det: FloatArray) -> bool:
    """Whether det Lambda has doubled since the start of the epoch (line-alg:epoch)."""
    return bool(log_det[0] >= log_det[1] + LOG_TWO)


@inlined
def freeze(reg: Regression, epoch: Epoch) -> None:
    """Keep Lambda for the bonuses of an epoch, with inverse and determinant free of rounding."""
    copy(epoch.Lambda, reg.Lambda)
    fill(reg.log_det, factorise(reg.Lambda, reg.inverse, reg.stale))
    if epoch.inverse.size > 0:
        copy(epoch.inverse, reg.inverse)


@inlined
def freeze_counts(
    reg: Regression, epoch: Epoch, parts: IntArray, n_parts: int, n_actions: int, ridge: float
) -> None:
    """The same where every pair has a block of size one; those without data are the ridge."""
    frozen, Lambda = epoch.Lambda, reg.Lambda
    log_det, product = Lambda.shape[0] * math.log(ridge), 1.0
    for j in range(n_parts):
        for b in range(parts[j, 0] * n_actions, parts[j, 1] * n_actions):
            frozen[b, 0, 0] = Lambda[b, 0, 0]
            product *= Lambda[b, 0, 0] / ridge
            if product > MANY:  # logarithms are slow: one for as many blocks as a float holds
                log_det += math.log(product)
                product = 1.0
    fill(reg.log_det, log_det + math.log(product))


@inlined
def factorise(Lambda: FloatArray, inverse: FloatArray, stale: IntArray) -> float:
    """The inverse of every block anew; log det Lambda."""
    log_det, product = 0.0, 1.0
    for b in range(Lambda.shape[0]):
        if Lambda.shape[1] == 1:  # logarithms are slow: one for as many blocks as a float holds
            product *= Lambda[b, 0, 0]
            if not 1e-200 < product < 1e200:
                log_det += math.log(product)
                product = 1.0
        else:
            log_det += invert(Lambda[b], inverse[b])
            stale[b] = 0
    return log_det + math.log(product)


@compiled()
def solve(
    Lambda: FloatArray, inverse: FloatArray, b: FloatArray, factor: float, theta: FloatArray
) -> None:
    """theta = factor Lambda^{-1} b (line-alg:ridge)."""
    n_blocks, s, _ = Lambda.shape
    for block in range(n_blocks):
        if s == 1:
            theta[block] = factor * (b[block] / Lambda[block, 0, 0])
            continue
        part = b[block * s : (block + 1) * s]
        for i in range(s):
            theta[block * s + i] = factor * dot(inverse[block, i], part)


@compiled()
def draw_noise(Lambda: FloatArray, sigma: float, rng: np.random.Generator, xi: FloatArray) -> None:
    """A draw of xi from N(0, sigma^2 Lambda^{-1})."""
    n_blocks, s, _ = Lambda.shape
    for b in range(n_blocks):
        part = xi[b * s : (b + 1) * s]
        for i in range(s):
            part[i] = sigma * rng.standard_normal()
        if s == 1:
            part[0] /= math.sqrt(Lambda[b, 0, 0])
            continue
        L: Any = np.linalg.cholesky(Lambda[b])
        for i in range(s - 1, -1, -1):  # L' xi = z, by backward substitution
            for j in range(i + 1, s):
                part[i] -= L[j, i] * part[j]
            part[i] /= L[i, i]
