"""Numbers and words as people read them."""

import math
import sys
from collections.abc import Sequence

_ASCII = str.maketrans(
    {
        "Σ": "sum ", "ᵢ": "_i", "ᵀ": "'", "−": "-", "²": "^2", "‖": "|", "α": "alpha", "≥": ">=",
        "×": "x", "≤": "<=", "–": "-", "…": "...", "½": "1/2", "μ": "mu", "λ": "lambda", "·": "*",
        "π": "pi", "θ": "theta", "ε": "epsilon", "⁻": "^-", "¹": "1", "\u0304": "_mean",
        "₁": "_1", "ₖ": "_k", "ⱼ": "_j", "₊": "_+", "√": "sqrt ", "σ": "sigma",
        "φ": "phi", "γ": "gamma", "β": "beta", "ω": "omega", "±": "+-", "→": "->",
    }
)  # fmt: skip


def number(x: float, digits: int = 6) -> str:
    """361.724, 8,976, 2.1e-10: ``digits`` significant ones, no noise.

    >>> number(361.72412), number(1263985.8, 4), number(2.1e-10, 2), number(0.0)
    ('361.724', '1,263,986', '2.1e-10', '0')
    """
    if x != x or math.isinf(x):
        return "infinite" if x == math.inf else "−infinite" if x == -math.inf else "not a number"
    if x == 0:
        return "0"
    if 1e-4 <= abs(x) < 1e9:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(x))))
        text = f"{x:,.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def small(x: float) -> str:
    """A bound: one digit, rounded up.

    >>> small(2.31e-10), small(0.0071), small(0.0), small(5e-324)
    ('3e-10', '0.008', '0', '5e-324')
    """
    if x == 0 or math.isinf(x) or x != x:
        return number(x)
    mantissa, power = f"{x:.12e}".split("e")  # x may be subnormal: 10.0**power may be 0
    digit, exponent = math.ceil(float(mantissa)), int(power)
    if digit == 10:
        digit, exponent = 1, exponent + 1
    if 0 <= exponent <= 3:
        return f"{digit * 10**exponent:,}"
    if -3 <= exponent < 0:
        return f"{digit * 10.0**exponent:.{-exponent}f}"
    return f"{digit}e{exponent}"


def magnitude(x: float) -> str:
    """A ratio: one digit.

    >>> magnitude(1_910_120.0)
    '2e6'
    """
    if x == math.inf:
        return "more than 1e308"
    mantissa, exponent = f"{x:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def count(n: int, noun: str) -> str:
    """A number with its noun: 1 row, 1,000 rows."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(items: Sequence[str], most: int = 5) -> str:
    """A list that is cut off: a, b and 3 more."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most} more"


def best_possible(bound: float | None) -> str:
    """The best possible value by its bound, for an objective that is never below 0."""
    return f"at least {number(bound, 7)}" if bound else "not known to be above 0"


def name_of(j: int, names: Sequence[str] | None) -> str:
    """Name of a column for messages."""
    return f"'{names[j]}'" if names is not None else f"column {j}"


def printable(text: str, encoding: str | None = None) -> str:
    """The text, in ASCII where an encoding (standard output's, if none is given) has no more."""
    encoding = encoding or getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.replace("Σ ", "Σ").translate(_ASCII).encode("ascii", "replace").decode()
    return text
