"""Empty clusters get the rows that are farthest from their centres."""

from typing import Any

import numpy as np

from ...rows import Rows

ROUNDING = 2.0**-48


def refill(engine: Any, rows: Rows, sums: np.ndarray, mass: np.ndarray) -> int:
    """Give each empty cluster one row; how many could be.

    A row leaves its cluster if it is not at its centre. ``engine.labels``, ``sums`` (Σ s(x − c))
    and ``mass`` (Σ s) follow. J falls by what the row was away, and more.
    """
    s, labels = rows.s, engine.labels
    if s is not None:  # differences of sums of weights leave crumbs
        heavy = np.bincount(labels[s > 0], minlength=len(mass))
        mass[heavy == 0] = 0.0
        sums[heavy == 0] = 0.0
    empty = np.flatnonzero(mass <= 0)
    if not len(empty):
        return 0
    d2 = engine.own().d2
    if s is not None:
        d2 = np.where(s > 0, d2, 0.0)
    farthest = np.argsort(-d2, kind="stable")[: len(empty)]
    filled = 0
    for k, i in zip(empty, farthest, strict=False):
        X, _, _ = rows.take(np.array([i])).block(0, 1)
        x = np.asarray(X.toarray() if rows.sparse else X, dtype=float)[0]
        old = labels[i]
        # as far as rounding puts a mean from rows that are all equal
        crumb = ROUNDING * float(np.abs(x).max() + np.abs(engine.c).max())
        if not np.abs(x - engine.C[old]).max() > crumb:
            break
        weight, z = 1.0 if s is None else float(s[i]), x - engine.c
        sums[old] -= weight * z
        mass[old] -= weight
        sums[k], mass[k] = weight * z, weight
        labels[i] = k
        engine.forget(int(i))
        filled += 1
    return filled
