"""Evidence that a model of another library was fitted on other rows, or with other weights.

    Σ s (p − y) = 0        at the optimum of a logistic model with a free intercept
    Σ s r = 0              of least squares with an intercept, however early its solver stopped

A result of statsmodels holds its rows, with which the rows given were compared. Least squares is
centred before it is solved, so its mean residual is 0 up to rounding. The solvers
of logistic regression end where no slope per row is above their tol, if they do not end at
max_iter: a mean residual far above it was not left by them. Numbers of rows that the model or its
scaler recorded count as well. Where a model has none of these traces, nothing is concluded.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ..audit import Labels, Reading
from ..audit.wrappers import Unwrapped
from ..data.rows import Rows
from ..text.format import count, name_of, number
from .facts import Iteration, SquaresFacts
from .findings import Finding, OptimumFinding

# Of 534 fits that missed the optimum of their own rows, on columns of very different scale, 253
# ended by a rule of their solver. They left slopes of at most 0.996 times tol, or, where a line
# search stalled above a tol below 1e-5, of at most 2.5e-5.
MAX_SLOPES_OF_TOL = 2.0
MIN_SLOPE = 1e-4
MAX_ROUNDINGS = 1e3  # of a mean residual: a column's mean is off by some eps, times its coefficient
MIN_RELATIVE_RESIDUAL = 1e-6  # of the residuals' size: a mean residual below it says nothing
MAX_SCALED_MEAN = {np.dtype(np.float32): 1e-3}  # of a column that a scaler centred
MAX_SCALED_MEAN_DEFAULT = 1e-6
PROBABILITIES = ("logistic", "softmax")


def evidence_of_other_rows(
    inner: Unwrapped, reading: Reading, rows: Rows, finding: Finding
) -> tuple[str, ...]:
    """Return what says that the model was fitted on other rows, in numbers; empty if nothing."""
    if reading.ours or inner.same_rows:  # recognised by their fingerprint, or recorded
        return ()
    found = [*inner.evidence, *_recorded(inner, rows)]
    if not found and inner.centered is not None:
        column, mean = inner.centered
        if abs(mean) > MAX_SCALED_MEAN.get(np.dtype(rows.X.dtype), MAX_SCALED_MEAN_DEFAULT):
            found.append(
                f"the scaler centred its rows, and on these the mean of {name_of(column, None)} "
                f"is {number(mean, 2)} standard deviations away from its centre"
            )
    if isinstance(finding, OptimumFinding) and _has_free_intercept(reading):
        found += filter(None, [_calibration(inner.model, reading, rows, finding)])
    return tuple(found)


def _recorded(inner: Unwrapped, rows: Rows) -> list[str]:
    texts, n = [], rows.shape[0]
    for who, seen, at_least in inner.recorded:
        repeated = who.startswith("SGD") and seen % n == 0  # parts that were seen several times
        if repeated or (seen <= n if at_least else seen in (n, rows.S)):
            continue
        texts.append(f"{who} saw {count(seen, 'row')}, these are {n:,}")
    return list(dict.fromkeys(texts))


def _has_free_intercept(reading: Reading) -> bool:
    p = reading.parameters
    return bool(p.get("fit_intercept")) and p.get("intercept_scaling") is None


def _calibration(
    model: object, reading: Reading, rows: Rows, finding: OptimumFinding
) -> str | None:
    """Return by how much predictions are off on average, where no solver would have left that."""
    if reading.definition in PROBABILITIES:
        return _probabilities(reading, rows, finding.iteration)
    p, facts = reading.parameters, finding.facts
    squared = p.get("loss") == {"name": "squared"} or reading.definition == "least_squares"
    if not squared or finding.iteration.stochastic:
        return None
    if rows.sparse and vars(model).get("solver_") in ("sag", "saga"):
        return None  # it moves the intercept step by step
    if isinstance(facts, SquaresFacts) and _only_intercept(facts, p["w"]):
        return None  # it was edited
    return _residuals(model, reading, rows)


def _only_intercept(facts: SquaresFacts, w: np.ndarray) -> bool:
    if facts.best_w is None or facts.norm is None:
        return False
    size = facts.norm[:, None]
    off = np.abs(facts.best_w - w) * size
    return bool(off.max(initial=0.0) <= 1e-9 * np.max(np.abs(w) * size, initial=0.0))


# --- least squares --------------------------------------------------------------------------------


class _ResidualSums(NamedTuple):
    weight: float
    r: np.ndarray  # Σ s r of each target
    rr: np.ndarray
    size: np.ndarray  # Σ s (|y| + |x|ᵀ|w|)


def _residuals(model: object, reading: Reading, rows: Rows) -> str | None:
    w, b = reading.parameters["w"], reading.parameters["b"]
    sums: _ResidualSums = rows.reduce(_residual_sums, w, b, reading.labels)
    mean, spread = sums.r / sums.weight, np.sqrt(sums.rr / sums.weight)
    narrow = np.float32 in (rows.X.dtype, np.asarray(vars(model)["coef_"]).dtype)
    eps = float(np.finfo(np.float32 if narrow else float).eps)
    rounding = MAX_ROUNDINGS * eps * (sums.size / sums.weight + np.abs(b))
    beyond = np.abs(mean) - np.maximum(rounding, MIN_RELATIVE_RESIDUAL * spread)
    if not (np.isfinite(beyond).all() and beyond.max() > 0):
        return None
    t = int(np.argmax(beyond))
    side = "low" if mean[t] > 0 else "high"
    share = abs(mean[t]) / spread[t]
    return (
        f"predictions are {number(abs(mean[t]), 3)} too {side} on average "
        f"({number(share, 2)} of the typical error) where a fit with an intercept leaves 0"
    )


def _residual_sums(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, w: np.ndarray, b: np.ndarray,
    labels: Labels | None,
) -> _ResidualSums:  # fmt: skip
    """Sums of one block; X may be sparse."""
    if labels is not None:
        y, s = labels.targets(y), labels.weights(y, s)
    s = np.ones(len(y)) if s is None else s
    with np.errstate(over="ignore", invalid="ignore"):
        r = y - (np.asarray(X @ w) + b)
        size = np.abs(y) + np.asarray(abs(X) @ np.abs(w))
        return _ResidualSums(float(s.sum()), s @ r, s @ r**2, s @ size)


# --- logistic and softmax -------------------------------------------------------------------------


class _ProbabilitySums(NamedTuple):
    weight: float
    p: np.ndarray  # Σ s P of each class
    y: np.ndarray  # Σ s of its rows


def _probabilities(reading: Reading, rows: Rows, iteration: Iteration) -> str | None:
    p, labels = reading.parameters, reading.labels
    allowed = iteration.slope_tol
    if labels is None or allowed is None or p.get("one_vs_rest"):
        return None
    K = len(labels.classes)
    sums_of = partial(rows.reduce, _probability_sums, p["w"], p["b"])
    c = p["class_weight"]
    if isinstance(c, str):
        (by_class,) = rows.reduce_targets(_class_weights, K)
        with np.errstate(divide="ignore"):
            c = by_class.sum() / (K * by_class)
        if not np.isfinite(c).all():
            return None
    sums: _ProbabilitySums = sums_of(np.ones(K) if c is None else np.asarray(c, dtype=float))
    mean, share = sums.p / sums.weight, sums.y / sums.weight
    k = 1 if K == 2 else int(np.argmax(np.abs(mean - share)))
    off = float(mean[k] - share[k])
    if not abs(off) > max(MAX_SLOPES_OF_TOL * allowed, MIN_SLOPE):
        return None
    weighted = " with the class weights" if c is not None else ""
    return (
        f"the probability of {labels.classes.tolist()[k]!r} is "
        f"{number(mean[k], 3)} on average{weighted}, {number(abs(off), 2)} "
        f"{'above' if off > 0 else 'below'} its share, where a fit with an intercept leaves 0"
    )


def _class_weights(y: np.ndarray, s: np.ndarray | None, K: int) -> tuple[np.ndarray]:
    return (np.bincount(y[:, 0].astype(np.intp), s, K).astype(float),)


def _probability_sums(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, w: np.ndarray, b: np.ndarray, c: np.ndarray
) -> _ProbabilitySums:
    k = y[:, 0].astype(np.intp)
    s = c[k] if s is None else s * c[k]
    z = np.asarray(X @ w) + b
    if z.shape[1] == 1:
        z = np.column_stack([np.zeros(len(z)), z])
    with np.errstate(invalid="ignore"):
        e = np.exp(z - z.max(axis=1, keepdims=True))
    P = e / e.sum(axis=1, keepdims=True)
    return _ProbabilitySums(float(s.sum()), s @ P, np.bincount(k, s, len(c)))
