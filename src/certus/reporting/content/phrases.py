"""Numbers as the page writes them: at most 3 significant digits, the same everywhere.

Sections compose sentences of these, and renderers write the cells of tables with them. Counts are
exact; every other number is rounded. A minus is "−" (U+2212).
"""

import math

from ...text.format import count, listed
from .values import Interval

__all__ = [
    "count", "digits3", "interval_text", "listed", "number_as", "of_rows", "p_value", "percent",
    "share", "signed", "value_and_interval",
]  # fmt: skip

LEAST_PLAIN, MOST_PLAIN = 1e-4, 1e7  # between them no power of ten is written
LEAST_P = 0.001
LEAST_SHARE = 0.001


def digits3(x: float) -> str:
    """The number with at most 3 significant digits, without zeros at its end.

    >>> digits3(0.7214), digits3(1263985.8), digits3(-4.0), digits3(2.1e-10), digits3(0.0)
    ('0.721', '1,260,000', '−4', '2.1e−10', '0')
    """
    return _trimmed(number_as(x, decimals3(x)))


def decimals3(x: float) -> int:
    """Decimals with which x has 3 significant digits; negative where digits before the point are 0.

    >>> decimals3(0.7214), decimals3(72.14), decimals3(9.999), decimals3(1263985.8)
    (3, 1, 1, -4)
    """
    if x == 0 or not math.isfinite(x):
        return 0
    exponent = int(f"{abs(x):.2e}".split("e")[1])  # after rounding: 9.999 is 10.0
    return 2 - exponent


def number_as(x: float, decimals: int) -> str:
    """The number with this many decimals, at most 3 significant digits.

    >>> number_as(0.5, 2), number_as(0.99964, 2), number_as(-1599.0, -1)
    ('0.50', '1.00', '−1,600')
    """
    if not math.isfinite(x):
        return "not defined" if x != x else "infinite" if x > 0 else "−infinite"
    decimals = min(decimals, decimals3(x)) if x else decimals
    size = abs(x)
    if size and not LEAST_PLAIN <= size < MOST_PLAIN:
        mantissa, exponent = f"{size:.2e}".split("e")
        power = int(exponent)
        text = f"{_trimmed(mantissa)}e{'−' if power < 0 else ''}{abs(power)}"
    else:
        text = f"{round(size, decimals):,.{max(decimals, 0)}f}"
    is_zero = not text.strip("0.,")
    return text if x >= 0 or is_zero else f"−{text}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def signed(x: float) -> str:
    """The number with its sign: +0.07, −0.07, 0.

    >>> signed(0.07), signed(-0.07), signed(0.0)
    ('+0.07', '−0.07', '0')
    """
    return f"+{digits3(x)}" if x > 0 else digits3(x)


def share(x: float) -> str:
    """A share in per cent: whole, with a decimal near 0 and 100, never rounded to these.

    >>> share(0.7214), share(0.004), share(0.00001), share(0.0), share(0.996), share(1.0)
    ('72 %', '0.4 %', '< 0.1 %', '0 %', '99.6 %', '100 %')
    """
    if not math.isfinite(x) or x in (0.0, 1.0):
        return f"{100 * x:.0f} %" if math.isfinite(x) else digits3(x)
    if x < 0:
        return f"−{share(-x)}"
    if x < LEAST_SHARE:
        return "< 0.1 %"
    if 1 - LEAST_SHARE < x < 1:
        return "> 99.9 %"
    if x < 0.095 or 0.985 <= x < 1:
        return f"{_trimmed(f'{100 * x:.1f}')} %"
    return f"{digits3(round(100 * x))} %"


def percent(level: float) -> str:
    """A confidence level: "95 %".

    >>> percent(0.95), percent(0.995)
    ('95 %', '99.5 %')
    """
    return f"{digits3(100 * level)} %"


def p_value(p: float) -> str:
    """A p-value, never 0.

    >>> p_value(0.0), p_value(0.02345), p_value(0.4567), p_value(0.9999)
    ('< 0.001', '0.023', '0.46', '> 0.99')
    """
    if p != p:
        return digits3(p)
    if p < LEAST_P:
        return f"< {LEAST_P}"
    if p > 0.99:
        return "> 0.99"
    return f"{p:.3f}" if p < 0.0995 else f"{p:.2f}"


def interval_decimals(interval: Interval) -> int:
    """Decimals that show 2 digits of an interval's width, and at most 3 of its ends."""
    width = abs(interval.high - interval.low)
    largest = max(abs(interval.low), abs(interval.high))
    by_width = decimals3(width) - 1 if width and math.isfinite(width) else decimals3(largest)
    return min(by_width, decimals3(largest))


def interval_text(interval: Interval) -> str:
    """Both ends with the same decimals: 2 digits of the width, at most 3 of the ends.

    >>> interval_text(Interval(0.6512, 0.7931)), interval_text(Interval(-0.0512, 0.12))
    ('0.65–0.79', '−0.05 to 0.12')
    """
    decimals = interval_decimals(interval)
    low, high = number_as(interval.low, decimals), number_as(interval.high, decimals)
    plain = interval.low >= 0 and math.isfinite(interval.high) and "e" not in low + high
    return f"{low}–{high}" if plain else f"{low} to {high}"


def value_and_interval(value: float, interval: Interval | None, name: str = "interval") -> str:
    """A value with its interval, with the same decimals.

    >>> value_and_interval(0.7214, Interval(0.6512, 0.7931))
    '0.72, 95 % interval 0.65–0.79'
    """
    if interval is None:
        return digits3(value)
    shown = number_as(value, interval_decimals(interval))
    return f"{shown}, {percent(interval.level)} {name} {interval_text(interval)}"


def of_rows(n: int, of: int, noun: str = "row") -> str:
    """Part of a number of rows: "63 of 1,599 rows".

    >>> of_rows(63, 1599)
    '63 of 1,599 rows'
    """
    return f"{n:,} of {count(of, noun)}"
