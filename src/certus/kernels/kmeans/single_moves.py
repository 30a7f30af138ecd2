r"""Moves of single rows: by how much J falls, and moves one after another as long as it does.

    gain = s n_a/(n_a − s)‖x − μ_a‖² − min_b s n_b/(n_b + s)‖x − μ_b‖²        μ: the means, n: Σ s

gain > 0 needs ‖x − μ_b‖ < t‖x − μ_a‖ with t² = n_a/(n_a − s)·(n_b + s)/n_b, hence
‖μ_a − μ_b‖ < (1 + t)‖x − μ_a‖: centres are tried from the nearest on, up to that distance.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel


@kernel
def _best_moves(X, weights, C, n, labels, order, apart, least, remaining, gain):
    """Fill gain (rows,): what the best move of each row gains, or 0 if it gains nothing.

    ``order``, ``apart`` (k, k − 1): the other centres from the nearest on, and their distances, or
    empty for no order. ``least``: the smallest Σ s of a cluster; ``remaining``: a row that leaves
    less than this share of its cluster is not moved.
    """
    (k, p), sorted_centers = C.shape, len(order) > 0
    for i in range(len(X)):
        a, s = labels[i], weights[i] if len(weights) else 1.0
        rest = n[a] - s
        gain[i] = 0.0
        if not (s > 0 and rest > remaining * n[a]):
            continue
        own = 0.0
        for j in range(p):
            z = X[i, j] - C[a, j]
            own += z * z
        leave = s * (n[a] / rest) * own
        reach = np.sqrt(own) * (1 + np.sqrt(n[a] / rest * ((least + s) / least))) * (1 + 1e-9)
        enter = leave
        for t in range(k - 1 if sorted_centers else k):
            b = t
            if sorted_centers:
                if apart[a, t] > reach:
                    break
                b = order[a, t]
            if b == a:
                continue
            d = 0.0
            for j in range(p):
                z = X[i, j] - C[b, j]
                d += z * z
            enter = min(enter, s * (n[b] / (n[b] + s)) * d)
        gain[i] = leave - enter


@kernel
def _sweeps(X, weights, C, n, labels, remaining, rounding, least, most):
    """Move each row in turn where that gains, until a sweep over all rows moves none.

    Changes C, n and labels. A move gains if it does so by more than ``rounding`` of the row's own
    term and more than ``least``; at most ``most`` sweeps. Return what all moves gained.
    """
    k, p = C.shape
    total = 0.0
    for _ in range(most):
        moved = 0
        for i in range(len(X)):
            a, s = labels[i], weights[i] if len(weights) else 1.0
            rest = n[a] - s
            if not (s > 0 and rest > remaining * n[a]):
                continue
            own = 0.0
            for j in range(p):
                z = X[i, j] - C[a, j]
                own += z * z
            leave = s * (n[a] / rest) * own
            to, enter = a, leave
            for b in range(k):
                if b == a:
                    continue
                d = 0.0
                for j in range(p):
                    z = X[i, j] - C[b, j]
                    d += z * z
                d *= s * (n[b] / (n[b] + s))
                if d < enter:
                    to, enter = b, d
            if leave - enter > max(rounding * leave, least):
                total += leave - enter
                moved += 1
                for j in range(p):
                    C[a, j] += (C[a, j] - X[i, j]) * (s / rest)
                    C[to, j] += (X[i, j] - C[to, j]) * (s / (n[to] + s))
                n[a], n[to] = rest, n[to] + s
                labels[i] = to
        if moved == 0:
            break
    return total


@cache
def _compiled(name, number):
    real = types.float64
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    X = types.Array(float_type(number), 2, "C", readonly=True)
    if name == "sweeps":
        own = real[:, ::1], real[::1], types.int32[::1]
        return _sweeps.compile((X, line, *own, real, real, real, types.intp))
    labels = types.Array(types.int32, 1, "C", readonly=True)
    order = types.Array(types.int32, 2, "C", readonly=True)
    return _best_moves.compile((X, line, table, line, labels, order, table, real, real, real[::1]))


def best_moves(X, weights, C, n, labels, order, apart, remaining, gain) -> None:
    """Fill gain (rows,) with what the best move of each row alone gains; 0 if that is nothing."""
    if not len(labels) == len(gain) == len(X) or C.shape[1] != X.shape[1] or len(n) != len(C):
        raise ValueError(f"X {X.shape}, centres {C.shape}, labels {labels.shape} do not match")
    least = float(n.min())
    _compiled("best", X.dtype)(X, weights, C, n, labels, order, apart, least, remaining, gain)


def move_rows(X, weights, C, n, labels, remaining, rounding, least, most) -> float:
    """Move rows one after another as long as that gains, and return what they gained.

    Changes the means C (k, p), their weights n (k,) and labels (rows,).
    """
    if not len(labels) == len(X) or C.shape[1] != X.shape[1] or len(n) != len(C):
        raise ValueError(f"X {X.shape}, centres {C.shape}, labels {labels.shape} do not match")
    compiled = _compiled("sweeps", X.dtype)
    return float(compiled(X, weights, C, n, labels, remaining, rounding, least, most))


def warm() -> None:
    """Compile both kernels for each dtype, or load them from disk."""
    for number in (np.float32, np.float64):
        for name in ("best", "sweeps"):
            _compiled(name, np.dtype(number))
