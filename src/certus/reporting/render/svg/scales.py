"""Scales from values to pixels, and round numbers for their axes.

linear:  x = a + (v − v₀)/(v₁ − v₀) (b − a)        log:  the same of log v
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
ROUNDING = 1e-9  # of a step: what 0.1 + 0.2 misses 0.3 by is no reason to drop a tick


@dataclass(frozen=True)
class LinearScale:
    """Values from ``low`` to ``high`` as pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        return self.start + (value - self.low) / (span or 1.0) * (self.end - self.start)

    def ticks(self, most: int = 6, whole: bool = False) -> tuple[float, ...]:
        """Return round numbers within the scale; ``whole``: integers."""
        found = ticks(self.low, self.high, most)
        return tuple(v for v in found if v == round(v)) if whole else found


@dataclass(frozen=True)
class LogScale:
    """Positive values on a logarithmic scale."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = math.log(self.high / self.low)
        return self.start + math.log(value / self.low) / (span or 1.0) * (self.end - self.start)

    def ticks(self, most: int = 6) -> tuple[float, ...]:
        """Return powers of ten, with 2 and 5 times these where there is room."""
        return log_ticks(self.low, self.high, most)


Axis = LinearScale | LogScale


def labeled(values: tuple[float, ...], write: Callable[[float], str]) -> list[tuple[float, str]]:
    """Ticks with their texts; of those that are written alike, the first."""
    found: dict[str, float] = {}
    for value in values:
        found.setdefault(write(value), value)
    return [(value, text) for text, value in found.items()]


def ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """At most ``most`` multiples of 1, 2, 2.5 or 5 times a power of ten.

    >>> ticks(0.0, 1.0), ticks(-0.03, 0.11, 4)
    ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (0.0, 0.05, 0.1))
    """
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return (low,)
    power = 10.0 ** math.floor(math.log10(span / most))
    for factor in STEPS:
        step = factor * power
        first = math.ceil(low / step - ROUNDING)
        last = math.floor(high / step + ROUNDING)
        if last - first + 1 <= most:
            digits = 12 - math.floor(math.log10(step))
            found = (round(k * step, digits) for k in range(first, last + 1))
            return tuple(dict.fromkeys(found))  # once, where float64 does not tell them apart
    return (low,)


def log_ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """At most ``most`` of 1, 2, 5, 10, 20, … or of every 10th, 100th, … power.

    >>> log_ticks(0.3, 4.0), log_ticks(1e-3, 1e3, 4)
    ((0.5, 1.0, 2.0), (0.001, 0.1, 10.0, 1000.0))
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    fine = [m * 10.0**k for k in range(first, last + 1) for m in (1, 2, 5)]
    inside = tuple(v for v in fine if low * (1 - ROUNDING) <= v <= high * (1 + ROUNDING))
    if 2 <= len(inside) <= most:
        return inside
    powers = tuple(k for k in range(first, last + 1) if low <= 10.0**k <= high * (1 + ROUNDING))
    if len(powers) < 2:
        return ticks(low, high, most)
    step = math.ceil(len(powers) / most)
    return tuple(10.0**k for k in powers[::step])


def domain(values: list[float], pad: float = 0.04) -> tuple[float, float]:
    """The range of finite values, a little enlarged."""
    finite = [v for v in values if math.isfinite(v)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    room = (high - low) * pad or abs(high) * pad or 1.0
    return low - room, high + room
