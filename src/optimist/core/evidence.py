"""What was seen of a finite world, as rows and their radii, compiled (docs/certificates.md).

A row is a distribution that is not known: of the next states of a pair, in their order, and as the
last one of the first states.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from optimist.checks import BoolArray, FloatArray, IntArray
from optimist.core.compiler import compiled
from optimist.core.elementary import log

UPPER, LOWER = 0, 1
"""The sides of a certificate."""

FEW = 32
"""Smaller counts have their `excess` in a table."""

TABLE = 256
"""From Gamma(TABLE / 2) on, Stirling's series is exact to the last places."""


def _excess(c: int) -> float:
    return c * math.log(c) - math.lgamma(c + 0.5) + math.lgamma(0.5) - c


EXCESS = np.array([0.0, *map(_excess, range(1, FEW))])


class Evidence(NamedTuple):
    """What was seen, and could have been: the entries of row i are first[i] to first[i + 1]."""

    first: IntArray  # [X A + 2]
    after: IntArray  # the state of each entry
    counts: FloatArray  # how often it was drawn
    closed: bool  # only the states of its entries are possible in a row; otherwise all are
    r: FloatArray  # [X, A]
    gamma: float
    log_events: float  # log(2 m / delta), with m the number of rows
    log_gammas: FloatArray  # log Gamma(j / 2) for j = 0, 1, ...


class Rows(NamedTuple):
    """The radii of all rows, and a list of those that are in the search.

    A row is *spread* if several of its states were seen, and *single* otherwise.
    """

    out: BoolArray  # the rows that are left out of the search
    draws: FloatArray  # with how many the radius was computed, [rows]
    distinct: IntArray  # how many states were among them
    state: IntArray  # the last of these
    radius: FloatArray  # b, [2, rows]
    mix: FloatArray  # e^-b of single rows, [2, rows]
    single: IntArray  # the list of single rows
    spread: IntArray  # the list of spread rows
    place: IntArray  # where a spread row is in it
    begin: IntArray  # where the entries of each of them begin in the next three
    of: IntArray  # the place of the row of each entry
    at: IntArray  # its state
    share: FloatArray  # p^
    size: IntArray  # of both lists


def log_gammas(n_states: int) -> FloatArray:
    """log Gamma(j / 2) for all j that (3) asks for with so many states."""
    size = max(TABLE, 2 * n_states + 4)
    return np.array([math.inf, *(math.lgamma(j / 2) for j in range(1, size))])


def room_for_rows(n_rows: int, n_entries: int) -> Rows:
    """Rows of which nothing is known."""

    def zeros(kind: type, *shape: int) -> Any:
        return np.zeros(shape, dtype=kind)

    return Rows(
        out=zeros(bool, n_rows),
        draws=np.full(n_rows, -1.0),
        distinct=zeros(int, n_rows),
        state=zeros(int, n_rows),
        radius=zeros(float, 2, n_rows),
        mix=zeros(float, 2, n_rows),
        single=zeros(int, n_rows),
        spread=zeros(int, n_rows),
        place=zeros(int, n_rows),
        begin=zeros(int, n_rows + 1),
        of=zeros(int, n_entries),
        at=zeros(int, n_entries),
        share=zeros(float, n_entries),
        size=zeros(int, 2),
    )


@compiled()
def set_rows(seen: Evidence, rows: Rows) -> None:
    """List the rows with what was seen of them by now; the radii of those with new draws."""
    first, after, counts = seen.first, seen.after, seen.counts
    n_single, n_spread, m = 0, 0, 0
    for row in range(first.size - 1):
        if rows.out[row]:
            continue
        n = 0.0
        for entry in range(first[row], first[row + 1]):
            n += counts[entry]
        if n != rows.draws[row]:
            set_radius(seen, rows, row, n)
        if rows.distinct[row] < 2:
            rows.single[n_single] = row
            n_single += 1
            continue
        rows.spread[n_spread], rows.place[row], rows.begin[n_spread] = row, n_spread, m
        per = 1 / n
        for entry in range(first[row], first[row + 1]):
            if counts[entry] > 0:
                rows.of[m], rows.at[m], rows.share[m] = n_spread, after[entry], per * counts[entry]
                m += 1
        n_spread += 1
    rows.begin[n_spread] = m
    rows.size[0], rows.size[1] = n_single, n_spread


@compiled()
def set_radius(seen: Evidence, rows: Rows, row: int, n: float) -> None:
    """The radii of a row with n draws: the better of (2) and (3), and (3).

    They are infinite where nothing was seen, and 0 where one state is possible. (2) has the regret
    of Cover's universal portfolio of two assets, (3) that of a mixture of Dirichlet(1/2)
    distributions over all sets of possible states.
    """
    begin, end = seen.first[row], seen.first[row + 1]
    S, k, every, state = seen.r.shape[0], 0, n, seen.after[begin]
    if seen.closed:
        S = end - begin
    for entry in range(begin, end):
        c = seen.counts[entry]
        if c > 0:
            k += 1
            every += excess(c)
            state = seen.after[entry]
    upper = lower = 0.0 if S == 1 else math.inf
    if S > 1 and n > 0:
        table, log_n = seen.log_gammas, log(n)
        single = excess(n) + log_gamma(table, n + 1) - n * (log_n - 1)
        every += log_gamma(table, n + 0.5 * k) - n * log_n - table[k]
        every += table[2 * S + 2] - table[2 * k + 2] - table[2 * (S - k) + 2]
        every += log(k * (k + 1) * S / (S + 1.0))
        upper, lower = (seen.log_events + min(single, every)) / n, (seen.log_events + every) / n
    rows.draws[row], rows.distinct[row], rows.state[row] = n, k, state
    rows.radius[UPPER, row], rows.radius[LOWER, row] = upper, lower
    rows.mix[UPPER, row], rows.mix[LOWER, row] = math.exp(-upper), math.exp(-lower)


@compiled()
def excess(c: float) -> float:
    """c log c - log( Gamma(c + 1/2) / Gamma(1/2) ) - c, which tends to -log(2) / 2."""
    if c < FEW:
        return float(EXCESS[int(c)])
    z = 1 / (c * c)
    return -0.5 * math.log(2) + (1 / 24 - z * (7 / 2880 - z * (31 / 40320))) / c


@compiled()
def log_gamma(table: FloatArray, z: float) -> float:
    """log Gamma(z) of a whole number or a half: from the table, or by Stirling's series."""
    if 2 * z < table.size:
        return float(table[int(2 * z)])
    y = 1 / (z * z)
    series = (1 / 12 - y * (1 / 360 - y * (1 / 1260))) / z
    return (z - 0.5) * log(z) - z + 0.5 * math.log(2 * math.pi) + series
