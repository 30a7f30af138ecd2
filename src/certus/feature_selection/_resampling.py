"""Rows drawn anew, without replacement; of classes, each its share."""

import numpy as np
from numpy.typing import ArrayLike

from ..data.labels import encode, read_labels
from ..data.validation import target
from ..text.format import count, number


def targets(
    y: ArrayLike, n: int, numbers: bool
) -> tuple[np.ndarray, np.ndarray, list[object] | None]:
    """y as an array, the stratum of each row, and the classes; ``numbers``: it has none."""
    if not numbers:
        try:
            labels, _ = read_labels(y, n)
        except ValueError:  # numbers after all, or what neither can be
            if len(np.shape(y)) != 1 or np.asarray(y).dtype.kind != "f":
                raise
        else:
            classes, k = encode(labels)
            return labels, k, classes.tolist()
    values = target(y, n)
    values = values[:, 0] if values.shape[1] == 1 else values
    return values, np.zeros(n, dtype=np.intp), None


def resamples(
    strata: np.ndarray,
    classes: list[object] | None,
    share: float,
    B: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """(B, n) of bool; halves in pairs, each holding what the other does not."""
    n, counts = len(strata), np.bincount(strata)
    least = int(counts.argmin())
    if _part(share, counts[least]) < 1 and classes is not None:
        raise ValueError(
            f"class {classes[least]!r} has {count(int(counts[least]), 'row')}, and a share of "
            f"{number(share)} of that is none: raise share, merge the class with another or drop it"
        )
    if _part(share, n) < 2:
        raise ValueError(
            f"share={share!r} of {count(n, 'row')} is {_part(share, n)}: at least 2 are needed"
        )
    drawn = np.zeros((B, n), dtype=bool)
    halves = share == 0.5
    for b in range(0, B, 2 if halves else 1):
        for rows in _drawn(strata, share, halves, rng):
            drawn[b, rows] = True
        if halves and b + 1 < B:
            drawn[b + 1] = ~drawn[b]
    return drawn


def _drawn(
    strata: np.ndarray, share: float, halves: bool, rng: np.random.RandomState
) -> list[np.ndarray]:
    """Of each stratum, its share of rows. Of odd ones a half gets the last row in turn."""
    taken, more = [], bool(rng.randint(2))
    for stratum in range(int(strata.max()) + 1):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        odd = halves and len(rows) % 2 == 1
        taken.append(rows[: _part(share, len(rows)) + (odd and more)])
        more = more != odd
    return taken


def _part(share: float, n: int) -> int:
    return int(share * n + 1e-9)  # 0.29 · 100 is 29
