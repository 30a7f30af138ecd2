"""Claims that there is no finite optimum, in exact fractions of the stored floats.

The direction must separate the classes; of counts, it must lower no mean but those of counts of 0.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from .linear_problems import Rows
from .verdict import Fault


def separated(c: Any, rows: Rows) -> list[Fault]:
    """A fault unless all margins are ≥ 0 and one is above 0, in exact fractions."""
    assert rows.y is not None
    proof = c._finding.facts.separated
    u, gamma = (np.asarray(part, dtype=float) for part in proof.direction)
    y = rows.y.astype(int)
    margins = _ordered if proof.ordered else _nominal
    if c.parameters.get("one_vs_rest"):
        return []  # which class is separated from the rest is not said
    if not proof.ordered:  # a class without weight has no score
        present = np.unique(y if rows.s is None else y[rows.s > 0])
        if len(np.ravel(gamma)) in (len(present), len(present) - 1):
            y = np.searchsorted(present, y)
    right = 0
    for i in range(len(y)):
        if rows.s is not None and rows.s[i] == 0:
            continue
        found = margins(rows.X[i].tolist(), int(y[i]), u, gamma)
        if min(found) < 0:
            return [Fault("rows on the wrong side of the separating direction", 0.0, 1.0)]
        right += max(found) > 0
    return [] if right else [Fault("rows on the right side", 1.0, 0.0)]


def falling(c: Any, rows: Rows) -> list[Fault]:
    """A fault unless scores fall along (u, γ) in some rows with count 0, and change in no others.

    A coefficient that is penalised, or an intercept that is not there, must not change.
    """
    assert rows.y is not None
    P = c.parameters
    u, gamma = (np.ravel(part) for part in c._finding.facts.separated.direction)
    if P["family"] != "poisson":
        return [Fault("a loss that can fall for ever", 1.0, 0.0)]
    if ((P["l1"] > 0 or P["l2"] > 0) and u.any()) or (not P["fit_intercept"] and gamma.any()):
        return [Fault("coefficients that are free to fall", 1.0, 0.0)]
    falls = 0
    for i in range(len(rows.y)):
        if rows.s is not None and rows.s[i] == 0:
            continue
        (change,) = _scores(rows.X[i].tolist(), u, gamma)
        if change > 0 or (change < 0 and rows.y[i, 0] > 0):
            return [Fault("rows whose loss grows along the direction", 0.0, 1.0)]
        falls += change < 0
    return [] if falls else [Fault("rows whose loss falls along the direction", 1.0, 0.0)]


def _scores(x: list[float], u: np.ndarray, shift: np.ndarray) -> list[Fraction]:
    columns = np.reshape(u, (len(x), -1)).T.tolist()
    return [
        sum((Fraction(a) * Fraction(b) for a, b in zip(x, w, strict=True)), Fraction(c))
        for w, c in zip(columns, np.ravel(shift).tolist(), strict=True)
    ]


def _nominal(x: list[float], y: int, u: np.ndarray, c: np.ndarray) -> list[Fraction]:
    z = _scores(x, u, c)
    z = [Fraction(0), *z] if len(z) == 1 else z
    return [z[y] - z[k] for k in range(len(z)) if k != y]


def _ordered(x: list[float], y: int, u: np.ndarray, gamma: np.ndarray) -> list[Fraction]:
    """γ_{y−1} ≤ xᵀu ≤ γ_y."""
    (z,) = _scores(x, u, np.zeros(1))
    limits = [Fraction(g) for g in np.ravel(gamma).tolist()]
    found = [limits[y] - z] if y < len(limits) else []
    return [*found, *([z - limits[y - 1]] if y > 0 else [])]
