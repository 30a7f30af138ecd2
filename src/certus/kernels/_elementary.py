"""exp and log1p on the ranges that losses need, in arithmetic that compilers can vectorise.

    x = k log 2 + r, |r| ≤ log(2)/2:   eˣ = 2ᵏ Σ_{i≤13} rⁱ/i!
    t = e/(2 + e) ≤ 1/3:               log(1 + e) = 2t Σ_{i≤16} t²ⁱ/(2i + 1)

Both are accurate to a few units in the last place.
"""

import math

from numba import types
from numba.extending import intrinsic

from certus.kernels._compile import kernel_in_order
from certus.kernels._vectors import F64, I64, Emitter

LOG2E = 1 / math.log(2.0)
LOG2_HIGH = 0.693147180369123816490  # the first 32 bits of log 2, so that k·LOG2_HIGH is exact
LOG2_LOW = 1.90821492927058770002e-10
INTEGER_SHIFT = 1.5 * 2**52  # the last bits of k + INTEGER_SHIFT are those of the integer k
MIN_EXPONENT = -708.0  # of e: below it, 2ᵏ is subnormal
I2, I3, I4, I5, I6, I7, I8, I9, I10, I11, I12, I13 = (1 / math.factorial(i) for i in range(2, 14))
O1, O2, O3, O4, O5, O6, O7, O8 = (1 / (2 * i + 1) for i in range(1, 9))
O9, O10, O11, O12, O13, O14, O15, O16 = (1 / (2 * i + 1) for i in range(9, 17))


@intrinsic
def _power_of_two(typingctx, k):
    """Compute 2ᵏ by its bits, since few CPUs convert vectors of floats to integers."""

    def codegen(context, builder, signature, args):
        emit = Emitter(context, builder)
        whole = emit.bits(builder.fadd(args[0], F64(INTEGER_SHIFT)), I64)
        return emit.bits(builder.shl(builder.add(whole, I64(1023)), I64(52)), F64)

    return types.float64(types.float64), codegen


@kernel_in_order
def exp_below(x):
    """Compute eˣ for x ≤ 0, and e⁻⁷⁰⁸ for x < −708."""
    x = MIN_EXPONENT if x < MIN_EXPONENT else x  # NaN stays NaN
    k = (x * LOG2E + INTEGER_SHIFT) - INTEGER_SHIFT
    r = (x - k * LOG2_HIGH) - k * LOG2_LOW
    q = ((((I13 * r + I12) * r + I11) * r + I10) * r + I9) * r + I8
    q = (((((q * r + I7) * r + I6) * r + I5) * r + I4) * r + I3) * r + I2
    return ((q * r + 1.0) * r + 1.0) * _power_of_two(k)


@kernel_in_order
def log1p_to_one(e):
    """Compute log(1 + e) for 0 ≤ e ≤ 1."""
    t = e / (2.0 + e)
    t2 = t * t
    q = (((((O16 * t2 + O15) * t2 + O14) * t2 + O13) * t2 + O12) * t2 + O11) * t2 + O10
    q = (((((q * t2 + O9) * t2 + O8) * t2 + O7) * t2 + O6) * t2 + O5) * t2 + O4
    return 2.0 * t * ((((q * t2 + O3) * t2 + O2) * t2 + O1) * t2 + 1.0)
