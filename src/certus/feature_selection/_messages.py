"""Texts of the warnings of a fit of NCFS."""

from collections.abc import Sequence

import numpy as np

from ..text.format import count, listed, name_of, number

SINGLE_COLUMN_SHARE = 1 - 1e-6  # of all weight, from which one column is reported to hold it all


def nothing_selected(
    W: np.ndarray, alpha: float, slope: np.ndarray, threshold: object, instead: str
) -> str:
    """Warning that no column is selected.

    ``slope``: ∂F/∂W of the columns that vary; ``instead``: the prediction, in words.
    """
    if W.any():
        return (
            f"No column is selected: the largest weight is {number(float(W.max()), 4)}, below "
            f"threshold={threshold!r}. Lower the threshold."
        )
    gain = float(slope.max()) + alpha
    if gain <= 0:
        return (
            "All weights are 0, so no column is selected: none makes nearby rows agree better than "
            f"rows drawn at random. The prediction is {instead}."
        )
    return (
        "All weights are 0, so no column is selected: none gains as much as "
        f"alpha={number(alpha, 4)} costs. The prediction is {instead}. Lower alpha below "
        f"{number(gain, 2)}, or conclude that the columns say little about y."
    )


def single_column_pattern(W: np.ndarray, metric: str, names: Sequence[str] | None) -> list[str]:
    """Warning that all weight is in one column, where Φ_s = 0/0."""
    largest = int(W.argmax())
    if metric != "phi_s" or W[largest] < SINGLE_COLUMN_SHARE * W.sum():
        return []
    return [
        f"F has no maximum with metric='phi_s' here: it rises while all weight moves to "
        f"{name_of(largest, names)}, and a pattern needs several columns. Use another metric, a "
        "larger sigma, or fewer columns."
    ]


def fewer_selected(W: np.ndarray, requested: int, names: Sequence[str] | None) -> str:
    """Warning that fewer columns than requested have weight."""
    used = np.flatnonzero(W)
    columns = listed([name_of(int(j), names) for j in used])
    have, are = ("has", "is") if len(used) == 1 else ("have", "are")
    return (
        f"n_features_to_select asks for {count(requested, 'column')}, but only {len(used):,} "
        f"{have} a weight above 0 and {are} selected: {columns}. Lower alpha for more."
    )


def single_row_classes(classes: np.ndarray, k: np.ndarray) -> list[str]:
    """Warning about classes with a single row."""
    counts = np.bincount(k, minlength=len(classes))
    singles = np.flatnonzero(counts == 1)
    if not len(singles):
        return []
    labels = classes.tolist()
    classes_and_rows = [f"{labels[c]!r} (row {int(np.argmax(k == c))})" for c in singles]
    what = "Class" if len(singles) == 1 else "Classes"
    has, it = ("has", "it counts") if len(singles) == 1 else ("have", "they count")
    return [
        f"{what} {listed(classes_and_rows)} {has} one row: it has no neighbour of its class, so "
        f"{it} as wrong whatever the weights. Give more rows, merge it with another class, or drop "
        "it."
    ]
