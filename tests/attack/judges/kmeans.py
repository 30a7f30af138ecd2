"""k-means in exact fractions: labels, objective, the gain of one more Lloyd step, the bound.

    J(μ) = Σ_i s_i min_k ‖x_i − μ_k‖²

Centres are the floats in which the model keeps them, before the step and after it.
"""

from typing import Any

import numpy as np
from flint import fmpq

from .linear_problems import Rows
from .verdict import Fault

RESTARTS = 3  # of Lloyd's method, to look for an objective below a bound
OFF = 1e-9  # relative, of a printed objective


def fractions(values: Any) -> np.ndarray:
    """An array of floats as exact fractions."""
    flat = [fmpq(*v.as_integer_ratio()) for v in np.asarray(values, dtype=float).ravel().tolist()]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def squared_distances(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return np.stack([((X - m) ** 2).sum(axis=1) for m in centers])


class Clustering:
    """Centres on rows, in exact fractions."""

    def __init__(self, rows: Rows):
        used = np.ones(len(rows.X), bool) if rows.s is None else rows.s > 0
        self.used, self.floats = used, rows.X[used]
        self.X = fractions(self.floats)
        self.s = fractions(np.ones(len(rows.X)) if rows.s is None else rows.s)[used]

    def objective(self, centers: np.ndarray) -> Any:
        return (self.s * squared_distances(self.X, fractions(centers)).min(axis=0)).sum()

    def at_labels(self, centers: np.ndarray, labels: np.ndarray) -> Any:
        D = squared_distances(self.X, fractions(centers))
        return (self.s * D[labels[self.used], np.arange(len(self.X))]).sum()

    def clusters_are_points(self, centers: np.ndarray) -> bool:
        """Are the rows of each centre equal?"""
        labels = squared_distances(self.X, fractions(centers)).argmin(axis=0)
        return all(len(np.unique(self.floats[labels == k], axis=0)) <= 1 for k in set(labels))

    def step(self, centers: np.ndarray, labels: Any = None) -> np.ndarray:
        """Each centre at the mean of its rows, rounded to the floats in which it is kept; a centre
        without rows goes to the row that costs most.

        A row stays with its label where that is as near as the nearest.
        """
        D = squared_distances(self.X, fractions(centers))
        nearest, moved = D.argmin(axis=0), centers.copy()
        if labels is not None:
            own, every = np.asarray(labels)[self.used], np.arange(len(nearest))
            nearest = np.where(D[own, every] == D[nearest, every], own, nearest)
        labels = nearest
        for k in range(len(centers)):
            mine = labels == k
            if mine.any():
                mean = (self.s[mine][:, None] * self.X[mine]).sum(axis=0) / self.s[mine].sum()
                moved[k] = [int(v.p) / int(v.q) for v in mean]
            else:
                moved[k] = self.floats[np.argmax(self.s * D.min(axis=0))]
        return moved


def judge(c: Any, model: Any, rows: Rows) -> list[Fault]:
    kept = np.asarray(model.cluster_centers_)
    centers, problem = kept.astype(float), Clustering(rows)
    by_tree = c._finding.by_tree
    J = problem.objective(centers)
    claimed = problem.at_labels(centers, np.asarray(model.labels_)) if by_tree else J
    faults = []
    if not c.certified:
        return _bound(c, problem, centers, J)
    scale = max(float(claimed), 1e-300)
    if abs(float(claimed - fmpq(*float(c.objective).as_integer_ratio()))) > OFF * scale + 1e-300:
        faults.append(Fault("objective", c.objective, float(claimed)))
    # "it cannot be lower, except for digits that the stored centres cannot hold": J is of those
    of_digits = c.bound == 0 and problem.clusters_are_points(centers)
    labels = vars(model).get("labels_")
    if labels is not None and len(labels) == len(rows.X) and not by_tree:
        worse = float(problem.at_labels(centers, np.asarray(labels)) - J)
        if worse > c.tol * scale and not of_digits:
            faults.append(Fault("labels cost more than the nearest centres", 0.0, worse))
    claimed_labels = labels if labels is not None and len(labels) == len(rows.X) else None
    after = problem.objective(_kept_as(problem.step(kept, claimed_labels), kept.dtype))
    gain = float((J - after) / J) if J > 0 else 0.0
    if gain > c.residual and not of_digits:
        faults.append(Fault("gain of a Lloyd step, as a share", c.residual, gain))
    if c.status == "degenerate" and len(np.unique(problem.floats, axis=0)) >= len(kept):
        distinct = len(np.unique(problem.floats, axis=0))
        faults.append(Fault("fewer distinct rows than clusters", len(kept), distinct))
    return faults + _bound(c, problem, centers, J)


def _kept_as(centers: np.ndarray, dtype: Any) -> np.ndarray:
    return np.asarray(centers, dtype=dtype).astype(float)


def _bound(c: Any, problem: Clustering, centers: np.ndarray, J: Any) -> list[Fault]:
    """Nothing that Lloyd's method finds is below the bound."""
    if c.bound is None:
        return []
    best, rng = J, np.random.default_rng(0)
    starts = [centers] + [
        problem.floats[rng.integers(len(problem.floats), size=len(centers))]
        for _ in range(RESTARTS)
    ]
    for start in starts:
        at = start
        for _ in range(30):
            moved = problem.step(at)
            if (moved == at).all():
                break
            at = moved
        best = min(best, problem.objective(at))
    faults = []
    if fmpq(*float(c.bound).as_integer_ratio()) > best:
        faults.append(Fault("bound", c.bound, float(best)))
    if np.isfinite(c.gap) and float(J - best) > c.gap * (1 + 2.0**-40):
        faults.append(Fault("excess over the optimum", c.gap, float(J - best)))
    return faults
