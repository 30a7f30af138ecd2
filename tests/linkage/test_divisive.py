"""DIANA: its rule by brute force, and the best of all splits for comparison."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import certus
from certus.cluster import BisectingKMeans, DivisiveClustering, Tree
from certus.exceptions import DegenerateWarning
from certus.solvers.linkage.diana import divide
from tests.linkage.tree_cases import rows, same_clusters

# --- the rule, in words ---------------------------------------------------------------------------


def by_the_rule(D):
    """Return the clusters that DIANA makes, as sets, with their diameters; slow and plain."""
    clusters, made = [list(range(len(D)))], {}
    while True:
        widths = [D[np.ix_(c, c)].max() if len(c) > 1 else -1.0 for c in clusters]
        widest = int(np.argmax(widths))
        if widths[widest] < 0:
            return made
        C = clusters.pop(widest)
        made[frozenset(C)] = D[np.ix_(C, C)].max()
        S, rest = split(D, C)
        clusters = sorted([*clusters, S, rest], key=min)


def split(D, C):
    apart = [np.mean([D[i, j] for j in C if j != i]) for i in C]
    S = [C[int(np.argmax(apart))]]
    rest = [i for i in C if i not in S]
    while len(rest) > 1:
        gains = [
            np.mean([D[i, j] for j in rest if j != i]) - np.mean([D[i, j] for j in S]) for i in rest
        ]
        if max(gains) <= 1e-14:
            break
        S.append(rest.pop(int(np.argmax(gains))))
    return sorted(S), rest


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [2, 3, 6, 10, 25])
def test_splits_are_those_of_the_rule(seed, n):
    X = rows(seed, n=n)
    D = cdist(X, X)
    tree = Tree(divide(D), method="diana")
    expected = by_the_rule(D)
    result = {frozenset(tree.members(n + t).tolist()): h for t, h in enumerate(tree.heights)}
    assert result.keys() == expected.keys()
    for cluster, diameter in expected.items():
        assert result[cluster] == diameter


def test_sums_that_are_carried_on_do_not_drift():
    X = np.concatenate([rows(1, n=300) * 1e-6, 1e3 * np.exp2(np.arange(40.0))[:, None] * [1, 0, 0]])
    D = cdist(X, X)
    tree = Tree(divide(D), method="diana")
    expected = by_the_rule(D[40:300, 40:300][:60, :60])
    inner = Tree(divide(D[40:100, 40:100]), method="diana")
    result = {frozenset(inner.members(60 + t).tolist()) for t in range(59)}
    assert result == expected.keys()
    model = DivisiveClustering(metric="precomputed").fit(D)
    assert certus.verify(model, D).certified
    assert tree.inversions == []


# --- and the best of all splits -------------------------------------------------------------------


def every_split(n):
    for size in range(1, n // 2 + 1):
        for S in combinations(range(n), size):
            if 2 * size < n or 0 in S:
                yield list(S), [i for i in range(n) if i not in S]


def widest_part(D, parts):
    return max(D[np.ix_(part, part)].max() for part in parts)


def between(D, parts):
    return D[np.ix_(*parts)].mean()


@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_all_splits_is_a_bound_that_clear_clusters_reach(seed):
    """A greedy split cannot beat the exhaustive one; for well separated clusters it is the same."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 11))
    for X, clear in ((rng.normal(size=(n, 2)), False), (rng.normal(size=(n, 2)), True)):
        if clear:
            X[: n // 2] += 30
        D = cdist(X, X)
        labels = Tree(divide(D)).cut(2)
        parts = [np.flatnonzero(labels == c).tolist() for c in (0, 1)]
        widths = [widest_part(D, other) for other in every_split(n)]
        means = [between(D, other) for other in every_split(n)]
        assert len(widths) == 2 ** (n - 1) - 1
        assert widest_part(D, parts) >= min(widths)
        assert between(D, parts) <= max(means) + 1e-12
        if clear:
            assert widest_part(D, parts) == min(widths)


# --- the estimator --------------------------------------------------------------------------------


def test_clusters_that_lie_apart_are_found():
    X = rows(1, n=60, p=2)
    X[20:40] += [20, 0]
    X[40:] += [0, 30]
    model = DivisiveClustering(3).fit(X)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], 20))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.certificate_.certified
    assert 0.8 < model.divisive_coefficient_ < 1


def test_heights_are_diameters():
    X = rows(2)
    tree = DivisiveClustering().fit(X).tree_
    D = cdist(X, X)
    for t, h in enumerate(tree.heights):
        own = tree.members(30 + t)
        assert h == pytest.approx(D[np.ix_(own, own)].max(), rel=1e-12)
    assert tree.inversions == []


def test_clusters_of_the_threshold_or_above_are_split():
    X = np.array([[0.0], [1.0], [5.0], [7.0]])
    model = DivisiveClustering(None, distance_threshold=2.0).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 2]
    assert model.set_params(distance_threshold=2.5).fit(X).labels_.tolist() == [0, 0, 1, 1]


def test_equal_rows_are_split_last():
    X = np.repeat(rows(3, n=4), 3, axis=0)
    model = DivisiveClustering(4).fit(X)
    np.testing.assert_array_equal(model.labels_, np.repeat(np.arange(4), 3))
    with pytest.warns(DegenerateWarning, match="arbitrary"):
        DivisiveClustering(5).fit(X)
    assert np.isnan(DivisiveClustering(1).fit(np.zeros((5, 2))).divisive_coefficient_)


def test_a_part_as_wide_as_the_whole_is_no_tie():
    X = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 1.0], [5.0, 2.0], [5.0, 3.0]])
    D = cdist(X, X)
    D[:2, :2] = [[0, 6], [6, 0]]
    tree = Tree([[0, 1, 6.0, 2], [3, 4, 2.0, 2], [2, 6, 2.0, 3], [5, 7, 6.0, 5]], method="diana")
    with np.errstate(all="raise"):
        assert len(set(tree.cut(2).tolist())) == 2


def test_distances_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("certus.cluster.divisive.MIN_CHECKED_BYTES", 0)
    monkeypatch.setattr("certus.cluster.divisive.available_memory", lambda: 1000)
    with pytest.raises(MemoryError) as error:
        DivisiveClustering().fit(rows(1))
    assert str(error.value) == (
        "the distances of 30 rows need 6.71e-6 GiB and 9.31e-7 GiB are free. Use BisectingKMeans, "
        "which needs none of them, or fewer rows"
    )


def test_a_model_that_was_changed_is_refused():
    X = rows(4)
    model = DivisiveClustering(3).fit(X)
    model.labels_ = model.labels_[::-1].copy()
    assert certus.verify(model, X).status == "contradicted"


# --- bisecting k-means has the same tree ----------------------------------------------------------


@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
def test_cuts_of_bisecting_kmeans_are_what_fewer_splits_give(strategy):
    X = rows(5, n=200)
    model = BisectingKMeans(8, random_state=0, bisecting_strategy=strategy).fit(X)
    tree = model.tree_
    assert tree.method == "bisecting"
    assert tree.n_leaves == 8
    np.testing.assert_array_equal(tree.sizes[:8], np.bincount(model.labels_))
    for k in range(1, 9):
        fewer = BisectingKMeans(k, random_state=0, bisecting_strategy=strategy).fit(X)
        assert same_clusters(tree.cut(k), fewer.labels_)


def test_the_height_of_a_split_is_the_sum_of_squares_before_it():
    X = rows(6, n=100)
    tree = BisectingKMeans(5, random_state=0).fit(X).tree_
    for t, h in enumerate(tree.heights):
        own = X[tree.members(5 + t)]
        assert h == pytest.approx(((own - own.mean(axis=0)) ** 2).sum())
    assert sorted(tree.members(8)) == list(range(100))


def test_empty_twins_of_bisecting_kmeans_are_leaves_without_rows():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 3, axis=0)
    with pytest.warns(DegenerateWarning):
        model = BisectingKMeans(3, random_state=0).fit(X)
    assert sorted(model.tree_.sizes[:3]) == [0, 3, 3]
    assert model.tree_.cut(2).tolist() == [0, 0, 0, 1, 1, 1]
    assert BisectingKMeans(1).fit(X).tree_.n_leaves == 1
