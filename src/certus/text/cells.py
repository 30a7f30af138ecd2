"""Numbers of a table as text: how many digits each needs, and where its decimal point stands.

An estimate is worth as many digits as its error leaves. The numbers of a row whose error is σ have
d decimals, the same for the estimate and the ends of its interval, with

    10^{−d} ≤ σ/10^{digits−1},   so that θ̂ − σ, θ̂ and θ̂ + σ differ in print.

A ratio exp θ̂ has the error σ·exp θ̂, which differs along its interval where σ is large; then each
number has ``digits`` digits of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .format import number

DIGITS = 3  # of an error, on a screen
MAX_DIGITS = 15  # significant ones of a float64
NUMBER_WIDTH = 9  # characters of a number without an error: -1.23e-10
MIN_PVALUE = 0.001  # smaller ones are given as "< 0.001"
STATISTIC_DECIMALS = 2


@dataclass(frozen=True)
class Precision:
    """Errors by which some columns of a table are rounded, row by row."""

    columns: tuple[str, ...]
    errors: np.ndarray  # of each row; of the logarithm for ratios
    ratio: bool = False

    def cells(self, rows: Sequence[Sequence[float]], digits: int = DIGITS) -> list[list[str]]:
        """Return the text of rows of numbers, one for each error."""
        pairs = zip(rows, np.asarray(self.errors, dtype=float).tolist(), strict=True)
        return [self._row(values, error, digits) for values, error in pairs]

    def _row(self, values: Sequence[float], error: float, digits: int) -> list[str]:
        known = [abs(x) for x in values if math.isfinite(x) and x]
        if not (known and math.isfinite(error) and error > 0):
            return [plain(x) for x in values]
        largest = max(known)
        exponents = not 1e-4 <= largest < 1e9
        if self.ratio and error >= 1:
            return [_rounded(x, _decimals(abs(x), digits) if x else 0, None) for x in values]
        smallest = error * min(known) if self.ratio else error
        return [_rounded(x, _decimals(smallest, digits), exponents) for x in values]


def _decimals(error: float, digits: int) -> int:
    """Return how many decimals show ``digits`` digits of an error; negative above 10^digits."""
    return digits - 1 - math.floor(math.log10(error)) if error > 0 else MAX_DIGITS


def _rounded(x: float, decimals: int, exponent: bool | None) -> str:
    """Return x to so many decimals; ``exponent``: 1.2e-5, None: where x is very small or large."""
    if not math.isfinite(x):
        return plain(x)
    if exponent is None:
        exponent = x != 0 and not 1e-4 <= abs(x) < 1e9
    power = math.floor(math.log10(abs(x))) if x else 0
    decimals = min(decimals, MAX_DIGITS - 1 - power)
    if not exponent:
        return _unsigned_zero(f"{x:,.{max(decimals, 0)}f}")
    if x == 0:
        return "0"
    mantissa, e = f"{x:.{max(decimals + power, 0)}e}".split("e")
    return f"{mantissa}e{int(e)}"


def _unsigned_zero(text: str) -> str:
    return text.lstrip("-") if not text.strip("-0.,") else text


def pvalue(p: float) -> str:
    """A p-value as journals print it.

    >>> pvalue(3e-9), pvalue(0.00234), pvalue(0.0496), pvalue(0.3)
    ('< 0.001', '0.0023', '0.0496', '0.300')
    """
    if p != p:
        return "–"
    if p < MIN_PVALUE:
        return f"< {MIN_PVALUE}"
    return f"{p:.4f}" if p < 0.1 else f"{p:.3f}"


def statistic(t: float) -> str:
    """A test statistic: two decimals.

    >>> statistic(57.0821), statistic(-0.001), statistic(3e12)
    ('57.08', '0.00', '3e12')
    """
    return _rounded(t, STATISTIC_DECIMALS, False) if abs(t) < 1e9 else plain(t)


def plain(value: float) -> str:
    """A number without a known error: up to five digits, in at most nine characters.

    >>> plain(0.00063012), plain(1.5), plain(123456789.0), plain(float("nan"))
    ('0.0006301', '1.5', '1.23e8', '–')
    """
    if value != value:
        return "–"
    text = number(value, 5)
    if len(text) <= NUMBER_WIDTH or math.isinf(value):
        return text
    if 1e-4 <= abs(value) < 1:  # a digit less, not an exponent beside decimals
        return next((t for d in (4, 3) if len(t := number(value, d)) <= NUMBER_WIDTH), text)
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def aligned(cells: Sequence[str]) -> list[str]:
    """Numbers padded so that their decimal points stand below each other; words stay at the right.

    >>> aligned(["1.5", "-10.25", "3", "–"])
    ['  1.5 ', '-10.25', '  3   ', '     –']
    """
    parts = [_at_point(cell) for cell in cells]
    before = max((len(head) for head, _ in filter(None, parts)), default=0)
    after = max((len(tail) for _, tail in filter(None, parts)), default=0)
    width = max([before + after, *map(len, cells)])
    return [
        (f"{part[0]:>{before}}{part[1]:<{after}}" if part else cell).rjust(width)
        for cell, part in zip(cells, parts, strict=True)
    ]


def _at_point(cell: str) -> tuple[str, str] | None:
    """Return what stands before and after the end of the whole part; None: not a number."""
    if not cell[-1:].isdigit():
        return None
    at = next((i for i, c in enumerate(cell) if c in ".e"), len(cell))
    return cell[:at], cell[at:]
