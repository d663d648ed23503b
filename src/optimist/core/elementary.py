# mypy: disable-error-code="no-untyped-call"
"""exp, log and maxima in arithmetic that the compiler puts into vector registers.

Those of the C library are called for one number at a time, and round in the last place as the
processor likes. These round the same on every processor, and four or eight numbers share an
instruction. They are correct to one unit in the last place.
"""

import math
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from optimist.checks import FloatArray
from optimist.core.compiler import inlined


def _bits(_: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], ir.IntType(64))

    return types.int64(types.float64), generate


def _from_bits(_: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], ir.DoubleType())

    return types.float64(types.int64), generate


def _flat(_: Any, array: Any, first: Any, last: Any) -> Any:
    given, made = array, types.Array(array.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, rows = make_array(given)(context, builder, values[0]), values[1:]
        row = ir.Constant(ir.IntType(64), 1)
        for i in range(1, given.ndim):
            row = builder.mul(row, builder.extract_value(array.shape, i))
        begin, size = builder.mul(rows[0], row), builder.mul(builder.sub(rows[1], rows[0]), row)
        part = make_array(made)(context, builder)
        populate_array(
            part,
            data=builder.gep(array.data, [begin]),
            shape=[size],
            strides=[array.itemsize],
            itemsize=array.itemsize,
            meminfo=None,
        )
        return part._getvalue()

    return made(given, types.intp, types.intp), generate


bits: Any = intrinsic(_bits)
"""The bits of a float as a whole number."""

from_bits: Any = intrinsic(_from_bits)
"""The float of these bits."""

flat: Any = intrinsic(_flat)
"""``flat(array, first, last)``: rows of an array that lives on elsewhere, one after the other."""

SHIFT = 1.5 * 2.0**52
"""Added to a small float it leaves its nearest whole number in the last bits."""

LOG_TWO = (float.fromhex("0x1.62e42fefap-1"), float.fromhex("0x1.cf79abc9e3b3ap-40"))
"""log 2 in two parts, of which the first has so few digits that its multiples are exact."""

ROOT = 0x3FE6A09E667F3BCD
"""The bits of the square root of 1/2."""

FRACTION, ABOVE, MAGNITUDE = (1 << 52) - 1, 0x4338000000000000, (1 << 63) - 1
"""Masks: of a fraction, of `SHIFT`, and of all but the sign."""

PER_LOG_TWO = 1 / math.log(2)
(_, _, _, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13) = (
    1 / math.factorial(k) for k in range(14)
)
(_, L1, L2, L3, L4, L5, L6, L7, L8, L9, L10) = (2 / (2 * k + 1) for k in range(11))


@inlined
def exp(x: float) -> float:
    """e^x for x in [-700, 700]: 2^n e^r with |r| at most half log 2, by its power series."""
    shifted = x * PER_LOG_TWO + SHIFT
    n = shifted - SHIFT
    r = (x - n * LOG_TWO[0]) - n * LOG_TWO[1]
    r2 = r * r
    r4 = r2 * r2
    low = (0.5 + E3 * r) + (E4 + E5 * r) * r2  # in pairs, which do not wait for each other
    high = (E6 + E7 * r) + (E8 + E9 * r) * r2 + ((E10 + E11 * r) + (E12 + E13 * r) * r2) * r4
    power: float = from_bits(bits(1.0 + (r + r2 * (low + high * r4))) + (bits(shifted) << 52))
    return power


@inlined
def log(x: float) -> float:
    """log x for positive x: n log 2 + log(1 + f), with 1 + f from sqrt(1/2) to sqrt(2).

    log(1 + f) = 2 atanh s with s = f / (2 + f), which is f - f^2 / 2 + s (f^2 / 2 + the series of
    atanh from its second term on, over s / 2).
    """
    above = bits(x) - ROOT
    n: float = from_bits((above >> 52) + ABOVE) - SHIFT
    f: float = from_bits((above & FRACTION) + ROOT) - 1.0
    s, half = f / (2.0 + f), 0.5 * f * f
    z = s * s
    z2 = z * z
    high = (L5 + L6 * z) + (L7 + L8 * z) * z2 + (L9 + L10 * z) * (z2 * z2)
    series = ((L1 + L2 * z) + (L3 + L4 * z) * z2 + high * (z2 * z2)) * z
    result: float = n * LOG_TWO[0] + (f - (half - (s * (half + series) + n * LOG_TWO[1])))
    return result


@inlined
def largest_magnitude(x: FloatArray) -> float:
    """max |x|, or 0 without any; nan counts as larger than infinity."""
    largest = 0
    for i in range(x.size):  # as whole numbers they have one order, and no order of comparisons
        largest = max(largest, bits(x[i]) & MAGNITUDE)
    return from_bits(largest)  # type: ignore[no-any-return]
