"""Exact nearest neighbours, all pairs, a metric of the user's, and the choice of k.

    search          the 10 nearest of n/10 queries among n rows, from the rows as they come: F is
                    the sum of the distances to the rows that were named, recomputed by differences
                    for some queries; any wrong row makes it larger
    weighted L1     D_ij = Σ_l w_l² |x_il − x_jl| of all pairs: F = 1 + the largest error
    choice of k     the k of least error of 50, in 5 folds: F = 1 + (k is another than that of
                    scikit-learn's grid search)

The fit, the check and the queries are in the time.
"""

import numpy as np

from benchmarks import libraries
from benchmarks.generators import (
    decaying_rows_and_queries,
    labeled_rows,
    rows_and_queries,
    rows_and_weights,
)
from benchmarks.harness import Row, Suite

K = 10
SAMPLE = 200  # queries whose answer is looked at


def sum_of_distances(row, X, Q):
    some = np.linspace(0, len(Q) - 1, min(SAMPLE, len(Q))).astype(int)

    def total(model):
        rows = X[model.indices_[some]].astype(float)
        return float(np.sqrt(((rows - Q[some, None].astype(float)) ** 2).sum(axis=2)).sum())

    return total


def sum_of_roots(row, X, Q):
    some = np.linspace(0, len(Q) - 1, min(SAMPLE, len(Q))).astype(int)

    def total(model):
        return float(np.sqrt(np.abs(X[model.indices_[some]] - Q[some, None])).sum())

    return total


def largest_error(row, X, y):
    weight = y[: X.shape[1]] ** 2
    true = (weight * np.abs(X[:50, None] - X[None, :50])).sum(axis=2)
    return lambda model: 1 + float(np.max(np.abs(model.matrix_[:50, :50] - true) / true.max()))


def same_choice(row, X, y):
    from benchmarks.neighbors_peers.sklearn_peer import ChooseK

    expected = ChooseK(**row.params).fit(X, y).best_
    return lambda model: 1.0 + float(model.best_ != expected)


CERTUS = libraries.certus_neighbors()
AUTO, BRUTE = libraries.sklearn_neighbors("auto"), libraries.sklearn_neighbors("brute")
ONEDAL, ONEDAL_TREE = (
    libraries.sklearnex_neighbors("brute"),
    libraries.sklearnex_neighbors("kd_tree"),
)
SCIPY, PYKDTREE = libraries.scipy_neighbors(), libraries.pykdtree()
PEERS = AUTO, BRUTE, ONEDAL, ONEDAL_TREE, SCIPY, PYKDTREE


def row(name, estimator="Search", peers=PEERS, **settings):
    defaults = {
        "generator": rows_and_queries,
        "objective": sum_of_distances,
        "params": {"k": K},
        "without": tuple(peer.name for peer in PEERS if peer not in peers),
    }
    return Row(name, estimator, **defaults | settings)


MANY = {"n": 100_000}

SUITE = Suite(
    name="neighbors",
    contestants=(CERTUS, *PEERS),
    rows=(
        row("Search p=3", **MANY, p=3, peers=(AUTO, ONEDAL_TREE, SCIPY)),
        row("Search p=3 pykdtree", **MANY, p=3, peers=(PYKDTREE,)),
        row("Search p=3 1 thread", **MANY, p=3, threads=1, peers=(AUTO, ONEDAL_TREE, SCIPY)),
        row("Search p=8", **MANY, p=8, peers=(AUTO, BRUTE, ONEDAL, ONEDAL_TREE, SCIPY)),
        row("Search p=16", **MANY, p=16, peers=(AUTO, BRUTE, ONEDAL)),
        row("Search p=16 float32", **MANY, p=16, dtype="float32", peers=(BRUTE, ONEDAL)),
        row("Search p=16 1 thread", **MANY, p=16, threads=1, peers=(BRUTE, ONEDAL)),
        row("Search p=64", **MANY, p=64, peers=(BRUTE, ONEDAL)),
        row("Search p=784", **MANY, p=784, peers=(BRUTE, ONEDAL)),
        row("Search p=784 decaying", **MANY, p=784, peers=(BRUTE, ONEDAL),
            generator=decaying_rows_and_queries),
        row(
            "Weighted L1 all pairs", "WeightedManhattan", n=5000, p=200, params={},
            generator=rows_and_weights, objective=largest_error, least=1.0, peers=(SCIPY,),
        ),
        row(
            "User metric", "UserMetric", n=1000, p=8, objective=sum_of_roots, peers=(AUTO,),
        ),
        row(
            "Choice of k", "ChooseK", n=5000, p=8, params={"ks": tuple(range(1, 100, 2)), "cv": 5},
            generator=labeled_rows, objective=same_choice, least=1.0, peers=(AUTO,),
        ),
    ),
)  # fmt: skip
