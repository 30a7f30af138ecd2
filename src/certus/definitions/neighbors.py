"""Nearest neighbours: whether the rows that a model named are the nearest, and what they predict.

    k nearest        N(q) = the k rows of least d(x_i, q)
    within a radius  N(q) = {i : d(x_i, q) ≤ r}

The model answered a few queries. Query t lies halfway between rows ``query_pairs[t]`` = (a, b), and
is the row itself where a = b. Its answer, at start[t]:start[t + 1], is right if

    the rows are distinct, as many as were requested, and their distances are those stated,
    d(x_i, q) ≥ reach(q) for every row i that was not named,

reach(q) being the largest distance of those named, or r. The neighbours predict

    classes  T_c = Σ_j v_j [y_j = c],  P(c) = T_c/ΣT,  ŷ = argmax T      values  ŷ = Σ v_j y_j/Σ v_j

with v_j = s_j, or s_j/d_j (rows at d = 0 alone, if there are any). ``miss`` counts wrong answers.

Distances are compared up to a relative error ``tol`` and rounding: of rows whose distances differ
by less, either may be named, and in any order. Of equally many votes the class of the nearest voter
wins in a model of certus (``ours``); in another's, a query for which other rows could have voted is
not compared. A row of weight 0 is absent.

Time O(n·p) a query; memory: three arrays as large as X.
"""

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, query_pairs, start, distances, indices, distance, k=None, radius=None,
          votes=None, ours=True, tol=1e-6):  # fmt: skip
    """Check the answers to queries on X (n, p), y (n, outputs) and weights s (n,)."""
    wrong = int(len(query_pairs) == 0)  # no queries prove nothing
    queries = [X[a] if a == b else X[a] + (X[b] - X[a]) / 2 for a, b in query_pairs]
    from_first = distance(X, queries[0])[query_pairs[:, 0]] if len(query_pairs) else np.zeros(0)
    spread = np.max(from_first[np.isfinite(from_first)], initial=0.0)
    rounding = (X.shape[1] + 64) * np.finfo(float).eps * spread
    for t, q in enumerate(queries):
        at = slice(start[t], start[t + 1])
        stated, named = distances[at], indices[at]
        d = distance(X, q)
        d = np.where(np.isnan(d) | (s == 0), np.inf, d)
        right, tied = nearest(d, stated, named, k, radius, spread, rounding, tol)
        if right and votes is not None and (ours or not tied):
            right = predicts(votes, t, d[named], y[named], s[named], ours, tol)
        wrong += not right
    return Claim("exact", float(wrong), float(wrong), 1.0, tol, 0.0)


def nearest(d, stated, named, k, radius, spread, rounding, tol):
    """Return (is the answer right, could others have been named?); d: distances of all rows."""
    empty = (named == -1) & ~np.isfinite(stated)  # fewer than k rows can be compared with q
    rows = named[~empty]
    if not np.all((rows >= 0) & (rows < len(d))) or len(set(rows)) < len(rows):
        return False, False
    if radius is None and len(named) != k:
        return False, False
    true, others = d[rows], np.delete(d, rows)
    reach = (np.inf if empty.any() else np.max(true)) if radius is None else radius
    far = min(np.max(true[np.isfinite(true)], initial=0.0), reach)
    slack = tol * max(far, spread / 10)  # for d = 0 from a rounded ‖x‖² − 2xᵀq + ‖q‖²
    short = tol * min(reach, np.finfo(float).max) + rounding
    right = (
        np.all(np.isfinite(true))
        and np.all(np.abs(stated[~empty] - true) <= slack)
        and not np.any(np.isfinite(others) & (others < reach - short))
        and (radius is not None or not np.any(np.diff(stated[~empty]) < -slack))
        and (radius is None or not np.any(true > reach + short))
    )
    return right, radius is None and bool(np.any(np.isfinite(others) & (others <= reach + short)))


def predicts(votes, t, d, y, s, ours, tol):
    """Return whether the prediction is that of neighbours at distances d, with targets y."""
    v = s * np.isfinite(d)
    if votes["weights"] == "distance":
        least = np.min(d[v > 0], initial=np.inf)
        v = v * (d == 0 if least == 0 else least / np.where(d > 0, d, 1.0))
    right = True
    if v.sum() == 0:  # without votes the prediction is the model's choice
        return True
    for output, (stated, values) in enumerate(zip(votes["predicted"][t], y.T, strict=True)):
        if votes["classes"] is None:
            mean = values[0] + (v @ (values - values[0])) / v.sum()
            right &= bool(abs(stated - mean) <= tol * np.abs(values).max())
            continue
        c, T = int(stated), np.bincount(values.astype(int), v, votes["classes"][output])
        tied = np.flatnonzero(T.max() * (1 - 1e-9) <= T)
        if ours and np.all(T[tied] == T.max()):  # a tie goes to the nearest voter's class
            first = [np.min(d[(v > 0) & (values == other)], initial=np.inf) for other in tied]
            tied = tied[[int(np.argmin(first))]]
        P = votes["probabilities"][output][t]
        right &= c in tied and P.shape == T.shape and bool(np.abs(P - T / v.sum()).max() <= tol)
    return right
