"""HDBSCAN: the steps of a minimum spanning tree by Kruskal's algorithm, in high precision."""

from itertools import combinations
from typing import Any

import numpy as np
from flint import arb

from ..precise.metrics import distances
from .linear_problems import Rows
from .verdict import Fault, NotJudged

MOST_ROWS = 26


def judge(c: Any, _model: Any, rows: Rows) -> list[Fault]:
    if not c.certified:
        return []
    P, n = c.parameters, len(rows.X)
    h = np.asarray(P["merges"], dtype=float)[:, 2]
    if n > MOST_ROWS or len(h) != n - 1 or P["metric"] == "precomputed":
        raise NotJudged("a tree of many rows, or of given distances")
    D = distances(rows.X, rows.X, P["metric"], P.get("metric_params"))
    if any(not v.is_finite() for row in D for v in row):
        raise NotJudged("distances that are not defined")
    core = [sorted(row, key=lambda v: v.mid())[P["k"] - 1] for row in D]
    core = [v / arb(P.get("core_alpha", 1.0)) for v in core]
    alpha = arb(P["alpha"])
    pairs = [
        (max(core[i], core[j], D[i][j] / alpha, key=lambda v: v.mid()), i, j)
        for i, j in combinations(range(n), 2)
    ]
    place, steps = list(range(n)), []
    for m, i, j in sorted(pairs, key=lambda pair: pair[0].mid()):
        if place[i] != place[j]:
            steps.append(m)
            place = [place[i] if other == place[j] else other for other in place]
    lost = min(P["rounding"] / min(P["alpha"], P.get("core_alpha", 1.0)), c.tol * float(h[-1]))
    faults = [
        Fault(f"height of merge {t}", float(h[t]), float(step.mid()))
        for t, step in enumerate(steps)
        if abs(step - arb(float(h[t]))) > c.tol * abs(step) + arb(lost)
    ]
    return (faults + _labels_beyond_the_tree(P, n))[:3]


def _labels_beyond_the_tree(P: Any, n: int) -> list[Fault]:
    """Labels whose rows are no cluster of the tree, or that are too few."""
    if P.get("labels") is None:
        return []
    clusters = [{i} for i in range(n)]
    for a, b, *_ in np.asarray(P["merges"]):
        clusters.append(clusters[int(a)] | clusters[int(b)])
    labels = np.asarray(P["labels"])
    named = {label: set(np.flatnonzero(labels == label).tolist()) for label in {*labels} - {-1}}
    return [
        Fault(f"rows of label {label}", float(len(rows)), float(P["least_size"]))
        for label, rows in named.items()
        if rows not in clusters[:-1] or len(rows) < P["least_size"]
    ]
