"""What the neighbours of a query say together.

    T_c = Σ_j v_j [y_j = c]        P(c) = T_c / Σ_c T_c        ŷ = Σ_j v_j y_j / Σ_j v_j
    v_j = s_j,  s_j / d_j (those at d = 0 alone, if there are any),  or s_j times the user's weights

s_j is the weight of row j. A row that cannot be compared with the query does not vote. Of classes
with as many votes, the one with the nearest voter wins, and then the first.
"""

from typing import Any

import numpy as np


def shares_of(d: np.ndarray, s: np.ndarray, weights: str | np.ndarray) -> np.ndarray:
    """v (k,). ``weights``: "uniform", "distance", or the numbers that a user's function gave."""
    voter = np.isfinite(d) & (s > 0)
    v = voter.astype(float)
    if isinstance(weights, str) and weights == "distance":
        least = np.min(d[voter], initial=np.inf)
        # times d_min, so that 1/d is never out of range
        v[voter] = least / d[voter] if least > 0 else d[voter] == 0
    elif not isinstance(weights, str):
        v = np.where(voter, weights, 0.0)
        if np.isinf(v).any():  # what is infinitely near decides alone
            v = np.where(np.isinf(v), np.sign(v), 0.0)
    return np.asarray(v * s)


def totals(y: np.ndarray, v: np.ndarray, classes: int) -> np.ndarray:
    """T (classes,); y: the class of each neighbour."""
    return np.bincount(np.asarray(y, dtype=np.intp), v, classes)


def what_is_wrong(
    claim: dict[str, Any],
    t: int,
    at: slice,
    d: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    ours: bool,
    tol: float,
) -> str | None:
    """Of what a model predicted for query t, whose neighbours have targets y (k, outputs).

    ``claim``: weights (as above; of a function one number for each neighbour of each query),
    predicted (m, outputs), asked (m,) where it was asked, and of classifiers names and
    probabilities: one list and one (m, classes) for each output.
    """
    weights = claim["weights"] if isinstance(claim["weights"], str) else claim["weights"][at]
    v = shares_of(d, np.ones(len(d)) if s is None else s, weights)
    if not claim["asked"][t] or v.sum() == 0:  # what nobody votes on is the model's choice
        return None
    for output, said in enumerate(claim["predicted"][t]):
        of = f" of output {output}" if y.shape[1] > 1 else ""
        if claim.get("names") is None:
            wrong = _wrong_mean(said, y[:, output], v, tol)
        else:
            names, P = claim["names"][output], claim["probabilities"]
            T = totals(y[:, output], v, len(names))
            nearest = [
                np.min(d[(v > 0) & (y[:, output] == c)], initial=np.inf) for c in range(len(T))
            ]
            wrong = _wrong_class(int(said), T, nearest, names, ours)
            if wrong is None and P is not None:
                wrong = _wrong_shares(P[output][t], T / T.sum(), names, tol)
        if wrong is not None:
            return wrong + of
    return None


def _wrong_mean(said: float, y: np.ndarray, v: np.ndarray, tol: float) -> str | None:
    mean = y[0] + np.sum(v * (y - y[0])) / v.sum()
    largest = np.max(np.abs(y)) * max(1.0, np.abs(v).sum() / abs(v.sum()))
    if abs(said - mean) <= tol * largest:
        return None
    return f"{said:.6g} is predicted, but the mean of its neighbours is {mean:.6g}"


def _wrong_class(
    said: int, T: np.ndarray, nearest: list[float], names: list[object], ours: bool
) -> str | None:
    level = np.flatnonzero(T.max() * (1 - 1e-9) <= T)
    right = level
    if ours and np.all(T[level] == T.max()):  # rounding decided nothing
        right = level[[int(np.argmin(np.asarray(nearest)[level]))]]
    if said in right:
        return None
    best = names[right[0]]
    told = f"{names[said]} is predicted" if said >= 0 else "none of the classes is predicted"
    if said in level:
        return f"{told}, but of as many votes the nearest is for {best}"
    return f"{told}, but its neighbours vote for {best} ({T[right[0]] / T.sum():.3g} of the votes)"


def _wrong_shares(said: np.ndarray, P: np.ndarray, names: list[object], tol: float) -> str | None:
    off = np.abs(said - P) if np.shape(said) == P.shape else np.full(P.shape, np.inf)
    c = int(np.argmax(off))
    if off[c] <= tol:
        return None
    if np.shape(said) != P.shape:
        return f"{np.size(said)} probabilities were given for {len(P)} classes"
    return f"the probability of {names[c]} is said to be {said[c]:.6g}, but it is {P[c]:.6g}"
