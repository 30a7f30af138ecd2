"""What a fit of NCFS warns of, in words: data and answers that hold less than was asked for."""

from collections.abc import Sequence

import numpy as np

from ..text.format import count, listed, name_of, number

ALL = 1 - 1e-6  # of the weight


def nothing_selected(
    W: np.ndarray, alpha: float, slope: np.ndarray, threshold: object, instead: str
) -> str:
    """No column is left. ``slope``: ∂F/∂W of those that vary; ``instead``: what is predicted."""
    if W.any():
        return (
            f"No column is selected: the largest weight is {number(float(W.max()), 4)}, below "
            f"threshold={threshold!r}. Lower the threshold."
        )
    gain = float(slope.max()) + alpha
    if gain <= 0:
        return (
            "All weights are 0, so no column is selected: none makes near rows agree better than "
            f"rows drawn by chance. What is predicted is {instead}."
        )
    return (
        "All weights are 0, so no column is selected: none gains as much as "
        f"alpha={number(alpha, 4)} costs. What is predicted is {instead}. Lower alpha below "
        f"{number(gain, 2)}, or take it that the columns say little of y."
    )


def gathered(W: np.ndarray, metric: str, names: Sequence[str] | None) -> list[str]:
    """Patterns of one column: Φ_s = 0/0."""
    largest = int(W.argmax())
    if metric != "phi_s" or W[largest] < ALL * W.sum():
        return []
    return [
        f"F has no maximum with metric='phi_s' here: it rises while all weight gathers in "
        f"{name_of(largest, names)}, and a pattern needs several columns. Use another metric, a "
        "larger sigma, or fewer columns."
    ]


def fewer(W: np.ndarray, asked: int, names: Sequence[str] | None) -> str:
    some = np.flatnonzero(W)
    told = listed([name_of(int(j), names) for j in some])
    have, are = ("has", "is") if len(some) == 1 else ("have", "are")
    return (
        f"n_features_to_select asks for {count(asked, 'column')}, and {len(some):,} {have} a "
        f"weight above 0 and {are} selected: {told}. Lower alpha for more."
    )


def alone(classes: np.ndarray, k: np.ndarray) -> list[str]:
    """Classes of one row."""
    counts = np.bincount(k, minlength=len(classes))
    single = np.flatnonzero(counts == 1)
    if not len(single):
        return []
    labels = classes.tolist()
    told = [f"{labels[c]!r} (row {int(np.argmax(k == c))})" for c in single]
    what = "Class" if len(single) == 1 else "Classes"
    has, it = ("has", "it counts") if len(single) == 1 else ("have", "they count")
    return [
        f"{what} {listed(told)} {has} one row: no other row can speak for it, so {it} as wrong "
        "whatever the weights. Give more rows, merge it with another class, or drop it."
    ]
