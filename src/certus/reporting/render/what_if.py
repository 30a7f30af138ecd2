"""What-if at given positions of the sliders, as ``page.js`` computes it in the browser.

z_k = intercept_k + Σ_s scores_s[k][position_s]        z ± width √‖rootᵀ v‖²
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..content.model import WhatIf
from ..content.values import Interval


@dataclass(frozen=True)
class WhatIfAnswer:
    """What the model answers: a probability, or a number."""

    label: str
    value: float
    interval: Interval | None


def answers(what_if: WhatIf, positions: list[int] | None = None) -> tuple[WhatIfAnswer, ...]:
    """Return the answers at these positions; None: where the page opens."""
    at = [slider.start for slider in what_if.sliders] if positions is None else positions
    z = [
        intercept + sum(s.scores[k][j] for s, j in zip(what_if.sliders, at, strict=True))
        for k, intercept in enumerate(what_if.intercepts)
    ]
    half = half_width(what_if, at)
    if what_if.link == "softmax":
        top = max(z)
        weights = [math.exp(value - top) for value in z]
        return tuple(
            WhatIfAnswer(name, weight / sum(weights), None)
            for name, weight in zip(what_if.outputs, weights, strict=True)
        )
    if what_if.link == "cumulative":
        return tuple(
            _answer(f"at least '{name}'", z[0] - cut, half, sigmoid)
            for name, cut in zip(what_if.outputs[1:], what_if.cuts, strict=True)
        )
    if what_if.link == "logistic":
        return (_answer(what_if.outputs[-1], z[0], half, sigmoid),)
    return (_answer(what_if.outputs[0], z[0], half, float),)


def half_width(what_if: WhatIf, at: list[int]) -> float | None:
    """Half the width of the interval of the score, or None without one."""
    if what_if.root is None:
        return None
    v = [0.0] * len(what_if.root)
    for part, j in zip(what_if.design, at, strict=True):
        for index, value in part[j]:
            v[index] += value
    columns = zip(*what_if.root, strict=True)
    return what_if.width * math.sqrt(
        sum(sum(a * b for a, b in zip(v, column, strict=True)) ** 2 for column in columns)
    )


def sigmoid(z: float) -> float:
    """1 / (1 + exp(−z)), without overflow."""
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def _answer(
    label: str, z: float, half: float | None, link: Callable[[float], float]
) -> WhatIfAnswer:
    interval = None if half is None else Interval(link(z - half), link(z + half))
    return WhatIfAnswer(label, link(z), interval)
