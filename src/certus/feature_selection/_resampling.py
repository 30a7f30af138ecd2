"""Resamples of rows without replacement, stratified by class."""

import numpy as np
from numpy.typing import ArrayLike

from ..data.labels import encode, read_labels
from ..data.validation import target
from ..text.format import count, number


def targets(
    y: ArrayLike, n: int, numbers: bool
) -> tuple[np.ndarray, np.ndarray, list[object] | None]:
    """Return y as an array, the stratum of each row, and the classes (None for numbers)."""
    if not numbers:
        try:
            labels, _ = read_labels(y, n)
        except ValueError:  # floats are taken for numbers, anything else is an error
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
    """Draw B resamples, (B, n) of bool; halves come in complementary pairs."""
    n, counts = len(strata), np.bincount(strata)
    smallest = int(counts.argmin())
    if _share_of(share, counts[smallest]) < 1 and classes is not None:
        n_rows = count(int(counts[smallest]), "row")
        raise ValueError(
            f"class {classes[smallest]!r} has {n_rows}, and a share of {number(share)} of that is "
            "none: raise share, merge the class with another or drop it"
        )
    if _share_of(share, n) < 2:
        raise ValueError(
            f"share={share!r} of {count(n, 'row')} is {_share_of(share, n)}: at least 2 are needed"
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
    """Draw the share of rows from each stratum.

    The odd rows of strata go to the half and to its complement in turn.
    """
    drawn, gets_last_row = [], bool(rng.randint(2))
    for stratum in range(int(strata.max()) + 1):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        odd = halves and len(rows) % 2 == 1
        drawn.append(rows[: _share_of(share, len(rows)) + (odd and gets_last_row)])
        gets_last_row = gets_last_row != odd
    return drawn


def _share_of(share: float, n: int) -> int:
    return int(share * n + 1e-9)  # 0.29 · 100 is 29
