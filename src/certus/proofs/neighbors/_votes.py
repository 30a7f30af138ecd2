"""Votes of the neighbours of a query, and the check of a prediction against them.

    T_c = Σ_j v_j [y_j = c]        P(c) = T_c / Σ_c T_c        ŷ = Σ_j v_j y_j / Σ_j v_j
    v_j = s_j,  s_j / d_j (those at d = 0 alone, if there are any),  or s_j times the user's weights

s_j is the weight of row j. A row that is not comparable with the query does not vote. Of classes
with equally many votes, the one with the nearest voter wins, and then the first.
"""

from typing import Any

import numpy as np


def vote_weights(d: np.ndarray, s: np.ndarray, weights: str | np.ndarray) -> np.ndarray:
    """Return v (k,).

    ``weights``: "uniform", "distance", or the numbers that a user's function returned.
    """
    voter = np.isfinite(d) & (s > 0)
    v = voter.astype(float)
    if isinstance(weights, str) and weights == "distance":
        least = np.min(d[voter], initial=np.inf)
        # times d_min, so that 1/d is never out of range
        v[voter] = least / d[voter] if least > 0 else d[voter] == 0
    elif not isinstance(weights, str):
        v = np.where(voter, weights, 0.0)
        if np.isinf(v).any():  # infinite votes outweigh all others
            v = np.where(np.isinf(v), np.sign(v), 0.0)
    return np.asarray(v * s)


def totals(y: np.ndarray, v: np.ndarray, classes: int) -> np.ndarray:
    """Return T (classes,) from the class y of each neighbour."""
    return np.bincount(np.asarray(y, dtype=np.intp), v, classes)


def prediction_error(
    claim: dict[str, Any],
    t: int,
    at: slice,
    d: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    ours: bool,
    tol: float,
) -> str | None:
    """Describe what is wrong with the prediction for query t; None if nothing is.

    Its neighbours have targets y (k, outputs). ``claim``: weights (as above; of a function one
    number for each neighbour of each query), predicted (m, outputs), has_prediction (m,), and for
    classifiers names and probabilities: one list and one (m, classes) for each output.
    """
    weights = claim["weights"] if isinstance(claim["weights"], str) else claim["weights"][at]
    v = vote_weights(d, np.ones(len(d)) if s is None else s, weights)
    if not claim["has_prediction"][t] or v.sum() == 0:
        return None  # without votes the prediction is the model's choice
    for output, predicted in enumerate(claim["predicted"][t]):
        which_output = f" of output {output}" if y.shape[1] > 1 else ""
        if claim.get("names") is None:
            message = _wrong_mean(predicted, y[:, output], v, tol)
        else:
            names, P = claim["names"][output], claim["probabilities"]
            T = totals(y[:, output], v, len(names))
            nearest = [
                np.min(d[(v > 0) & (y[:, output] == c)], initial=np.inf) for c in range(len(T))
            ]
            message = _wrong_class(int(predicted), T, nearest, names, ours)
            if message is None and P is not None:
                message = _wrong_shares(P[output][t], T / T.sum(), names, tol)
        if message is not None:
            return message + which_output
    return None


def _wrong_mean(predicted: float, y: np.ndarray, v: np.ndarray, tol: float) -> str | None:
    mean = y[0] + np.sum(v * (y - y[0])) / v.sum()
    largest = np.max(np.abs(y)) * max(1.0, np.abs(v).sum() / abs(v.sum()))
    if abs(predicted - mean) <= tol * largest:
        return None
    return f"{predicted:.6g} is predicted, but the mean of its neighbours is {mean:.6g}"


def _wrong_class(
    predicted: int, T: np.ndarray, nearest: list[float], names: list[object], ours: bool
) -> str | None:
    tied = np.flatnonzero(T.max() * (1 - 1e-9) <= T)
    right = tied
    if ours and np.all(T[tied] == T.max()):  # the tie is exact
        right = tied[[int(np.argmin(np.asarray(nearest)[tied]))]]
    if predicted in right:
        return None
    best = names[right[0]]
    start = (
        f"{names[predicted]} is predicted" if predicted >= 0 else "none of the classes is predicted"
    )
    if predicted in tied:
        return f"{start}, but of equally many votes the nearest is for {best}"
    return f"{start}, but its neighbours vote for {best} ({T[right[0]] / T.sum():.3g} of the votes)"


def _wrong_shares(
    predicted: np.ndarray, P: np.ndarray, names: list[object], tol: float
) -> str | None:
    off = np.abs(predicted - P) if np.shape(predicted) == P.shape else np.full(P.shape, np.inf)
    c = int(np.argmax(off))
    if off[c] <= tol:
        return None
    if np.shape(predicted) != P.shape:
        return f"{np.size(predicted)} probabilities were given for {len(P)} classes"
    return f"the probability of {names[c]} is stated to be {predicted[c]:.6g}, but it is {P[c]:.6g}"
