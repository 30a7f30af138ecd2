"""The proofs of trees by brute force: what ``check`` accepts and what it refuses."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

from certus.certificate.data import Data
from certus.data.rows import Rows
from certus.proofs.distances import paired
from certus.proofs.linkage import diana, linkage
from certus.proofs.linkage._cluster_distances import cluster_distance

METHODS = linkage.METHODS
each_method = pytest.mark.parametrize("method", METHODS)
each_way = pytest.mark.parametrize("every", [linkage.MAX_EXHAUSTIVE_WORK, 0.0], ids=["all", "some"])


def distances(X, metric="euclidean", **params):
    return np.array([paired(x, X, metric, **params) for x in X])


def brute_force(D, method):
    """Merge the nearest pair of clusters, by the plain definition, until one is left."""
    n = len(D)
    clusters = {i: ([i], np.ones(1)) for i in range(n)}
    merges = []
    for t in range(n - 1):
        pairs = itertools.combinations(sorted(clusters), 2)
        h, a, b = min((_apart(D, clusters, pair, method), *pair) for pair in pairs)
        (A, u), (B, v) = clusters.pop(a), clusters.pop(b)
        alpha = 0.5 if method in ("weighted", "median") else len(A) / (len(A) + len(B))
        clusters[n + t] = A + B, np.concatenate([alpha * u, (1 - alpha) * v])
        merges.append([a, b, h, len(A) + len(B)])
    return np.array(merges)


def _apart(D, clusters, pair, method):
    (A, u), (B, v) = (clusters[c] for c in pair)
    return cluster_distance(D, A, B, method, u, v)


def check(X, merges, method, **params):
    return linkage.check(Data(Rows(np.asarray(X))), merges, method, **params)


def accepted(X, merges, method, **params):
    result = check(X, merges, method, **params)
    assert result["wrong"] == []
    assert result["objective"] == 0
    return result


def refused(X, merges, method, **params):
    result = check(X, merges, method, **params)
    assert result["objective"] > 0
    return result["wrong"]


# --- right trees ----------------------------------------------------------------------------------


@each_method
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_of_brute_force_is_scipys_and_is_accepted(method, seed):
    X = np.random.default_rng(seed).normal(size=(14, 3))
    merges, theirs = brute_force(distances(X), method), hierarchy.linkage(X, method)
    assert np.allclose(merges[:, 2], theirs[:, 2], rtol=1e-12)
    for every in (linkage.MAX_EXHAUSTIVE_WORK, 0.0):
        result = accepted(X, merges, method, every=every)
        assert result["residual"] < 1e-12
        assert result["sampled"] == result["merges"] == result["heights"] == 13


@each_way
@each_method
@pytest.mark.parametrize("metric", ["cityblock", "cosine", "canberra", "correlation"])
def test_any_metric_and_given_distances(metric, method, every, rng):
    X = rng.normal(size=(40, 4))
    d = pdist(X, metric)
    merges = hierarchy.linkage(d, method)  # of squares by Lance and Williams, for ward and its like
    accepted(X, merges, method, metric=metric, every=every)
    for D in (squareform(d), d[:, None]):
        accepted(D, merges, method, metric="precomputed", every=every)


@each_way
@each_method
def test_rows_far_from_the_origin_keep_their_digits(method, every, rng):
    X = np.vstack([rng.normal(size=(30, 2)), 1e8 + 1e-3 * rng.normal(size=(30, 2))])
    X += 1e8
    merges = hierarchy.linkage(X, method)
    assert accepted(X, merges, method, every=every, tol=1e-12)["residual"] < 1e-12


@each_way
@each_method
@pytest.mark.parametrize(
    "X",
    [
        np.argwhere(np.ones((7, 7))).astype(float),
        np.repeat(np.random.default_rng(1).normal(size=(9, 2)), 5, axis=0),
        np.zeros((12, 2)),
        np.arange(40.0)[:, None],
    ],
    ids=["grid", "copies", "one point", "line"],
)
def test_ties_may_go_either_way(X, method, every):
    accepted(X, hierarchy.linkage(X, method), method, every=every)
    shuffled = np.random.default_rng(0).permutation(len(X))
    merges = hierarchy.linkage(X[shuffled], method)
    leaf = merges[:, :2] < len(X)
    merges[:, :2] = np.where(
        leaf, shuffled[np.where(leaf, merges[:, :2], 0).astype(int)], merges[:, :2]
    )
    accepted(X, merges, method, every=every)


@each_method
def test_columns_are_divided_by_their_scale(method, rng):
    X, scale = rng.normal(size=(50, 3)) * [1, 100, 1e-3] + 1e6, np.array([1, 100, 1e-3])
    merges = hierarchy.linkage((X - 1e6) / scale, method)
    for every in (linkage.MAX_EXHAUSTIVE_WORK, 0.0):
        accepted(X, merges, method, scale=scale, every=every)
    assert refused(X, merges, method)


def test_columns_as_leaves(rng):
    X = rng.normal(size=(60, 12))
    X[:, 6] = -X[:, 0] + 0.01 * X[:, 6]
    C = np.corrcoef(X.T)
    for absolute, D in ((False, 1 - C), (True, 1 - np.abs(C))):
        merges = hierarchy.linkage(D[np.triu_indices(12, 1)], "average")
        params = {"metric": "correlation", "columns": True, "absolute": absolute}
        accepted(X, merges, "average", **params)
        assert (set(merges[0, :2]) == {0, 6}) == absolute


@pytest.mark.parametrize("n", [1, 2])
def test_trees_of_one_and_of_two_rows(n):
    X = np.arange(float(n))[:, None]
    merges = np.array([[0, 1, 1.0, 2]])[: n - 1].reshape(n - 1, 4)
    for method in METHODS:
        accepted(X, merges, method, labels=np.arange(n), n_clusters=n)


def test_inversions_are_listed():
    X = np.array([[0, 0], [1, 0], [0.5, 0.85]])
    merges = hierarchy.linkage(X, "centroid")
    result = accepted(X, merges, "centroid")
    assert result["inversions"] == [1]
    assert "heights of ward linkage do not fall" in refused(X, merges, "ward")[-1]


def test_squares_out_of_reach():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for method in ("single", "average", "ward", "centroid"):
        merges = hierarchy.linkage(X, method)
        for size in (1e-200, 1e200):
            scaled = merges * [1, 1, size, 1]
            accepted(X * size, scaled, method)


def test_rounding_in_float32_is_forgiven_to_those_who_worked_in_it(rng):
    X = rng.normal(size=(60, 3))
    merges = hierarchy.linkage(X, "average")
    merges[:, 2] *= 1 + 5e-7 * rng.uniform(-1, 1, size=59)
    merges[:, 2] = np.sort(merges[:, 2])
    refused(X, merges, "average", tol=1e-9)
    accepted(X, merges, "average", tol=1e-9, precision=2.0**-23)


# --- wrong trees ----------------------------------------------------------------------------------


def swapped(merges, s, t, *, renumbered, heights):
    """Exchange merges s and t, with their heights if ``heights``."""
    n, out = len(merges) + 1, merges.copy()
    moved = [0, 1, 2, 3] if heights else [0, 1, 3]
    out[s, moved], out[t, moved] = merges[t, moved], merges[s, moved]
    if renumbered:
        pairs = out[:, :2]
        is_s, is_t = pairs == n + s, pairs == n + t
        pairs[is_s], pairs[is_t] = n + t, n + s
    return out


HOW = [
    {"renumbered": renumbered, "heights": heights}
    for renumbered in (False, True)
    for heights in (False, True)
]


@each_way
@each_method
def test_a_tree_with_two_merges_swapped_is_refused(method, every, rng):
    n = 40 if every else 20
    X = rng.normal(size=(n, 2))
    merges = hierarchy.linkage(X, method)
    accepted(X, merges, method, every=every)
    pairs = [(t, t + 1) for t in range(n - 2)]
    pairs += [tuple(sorted(rng.choice(n - 1, 2, replace=False))) for _ in range(n // 2)]
    for (s, t), params in itertools.product(pairs, HOW):
        refused(X, swapped(merges, s, t, **params), method, every=every)


@each_method
def test_so_is_one_of_many_rows(method, rng):
    n = 2200
    X = rng.normal(size=(n, 2))
    merges = hierarchy.linkage(X, method)
    result = accepted(X, merges, method)
    assert 50 <= result["sampled"] < n - 1
    pairs = [(100, 101), (300, 301), tuple(sorted(rng.choice(n - 1, 2, replace=False)))]
    for (s, t), params in zip(pairs, HOW[1:], strict=True):
        refused(X, swapped(merges, s, t, **params), method)


@each_way
@each_method
def test_a_height_that_is_off_by_a_percent_is_named(method, every, rng):
    X = rng.normal(size=(50, 3))
    merges = hierarchy.linkage(X, method)
    for t in (0, 7, 30, 48):
        for factor in (0.99, 1.01):
            edited = merges.copy()
            edited[t, 2] *= factor
            message = refused(X, edited, method, every=every)[0]
            h = merges[t, 2]
            assert message.startswith(f"merge {t} joins ")
            assert f"at {h * factor:.6g}, but they are {h:.6g} apart" in message


@each_way
@each_method
def test_a_leaf_in_the_place_of_another_is_refused(method, every, rng):
    X = rng.normal(size=(50, 3))
    merges = hierarchy.linkage(X, method)
    sisters = {tuple(sorted(pair)) for pair in merges[:, :2]}
    for _ in range(20):
        a, b = (int(i) for i in sorted(rng.choice(50, 2, replace=False)))
        if (a, b) in sisters:
            continue
        edited = merges.copy()
        edited[:, :2][merges[:, :2] == a] = b
        edited[:, :2][merges[:, :2] == b] = a
        refused(X, edited, method, every=every)


@each_method
def test_a_merge_of_clusters_that_are_not_nearest_is_refused_though_its_height_is_right(method):
    X = np.array([[0.0], [1.0], [2.5], [20.0]])
    # rows 1 and 2 first, with all heights as the definition has them
    D = distances(X)
    clusters = [([1], [2]), ([0], [1, 2]), ([0, 1, 2], [3])]
    u = [[None, None], [np.ones(1), np.full(2, 0.5)], [np.array([0.5, 0.25, 0.25]), np.ones(1)]]
    halves = method in ("weighted", "median")
    h = [
        cluster_distance(D, A, B, method, *(weights if halves and t else (None, None)))
        for t, ((A, B), weights) in enumerate(zip(clusters, u, strict=True))
    ]
    merges = np.array([[1, 2, h[0], 2], [0, 4, h[1], 3], [3, 5, h[2], 4]])
    for every in (linkage.MAX_EXHAUSTIVE_WORK, 0.0):
        message = refused(X, merges, method, every=every)
        assert message[0] == "merge 0 joins row 1 and row 2, 1.5 apart, but row 0 is 1 from row 1"


def test_of_centroid_and_median_the_least_of_all_pairs_is_claimed():
    X = np.array([[0.0], [1.0], [10.0], [11.5], [100.0]])
    merges = hierarchy.linkage(X, "centroid")
    other = swapped(merges, 0, 1, renumbered=True, heights=True)
    message = refused(X, other, "centroid")
    assert "but row 0 and row 1 are 1 apart" in message[0]
    assert "the cluster just made is not joined" in message[-1]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ((3, 0, 99.0), "merge 3 joins cluster 99, which does not exist then"),
        ((3, 1, 23.0), "merge 3 joins cluster 23, which does not exist then"),
        ((3, 0, 1.5), "merge 3 joins cluster 1.5, which does not exist then"),
        ((3, 0, -1.0), "merge 3 joins cluster -1, which does not exist then"),
        ((5, 2, np.nan), "merge 5 has the height nan"),
        ((5, 2, np.inf), "merge 5 has the height inf"),
        ((5, 2, -0.1), "merge 5 has the height -0.1"),
        ((18, 3, 19.0), "merge 18 claims a cluster of 19 rows, but it has 20"),
    ],
)
def test_what_is_no_tree_is_named(edit, message, rng):
    X = rng.normal(size=(20, 3))
    merges = hierarchy.linkage(X, "average")
    t, column, value = edit
    merges[t, column] = value
    assert refused(X, merges, "average")[0] == message


def test_a_cluster_that_is_joined_twice_is_named(rng):
    X = rng.normal(size=(20, 3))
    merges = hierarchy.linkage(X, "average")
    merges[9, 0] = merges[2, 0]
    assert refused(X, merges, "average")[0] == (
        f"merge 9 joins cluster {merges[2, 0]:.0f}, which had been joined before"
    )
    assert "there are 18 merges, and 20 rows need 19" in refused(X, merges[:-1], "average")[0]


def test_given_distances_that_are_not_symmetric_are_named(rng):
    d = rng.random(45) + 1
    D = squareform(d)
    merges = hierarchy.linkage(d, "average")
    D[7, 2] *= 1.5
    message = refused(D, merges, "average", metric="precomputed")[0]
    assert message == f"the distance given from row 2 to row 7 is {D[2, 7]:.6g}, back {D[7, 2]:.6g}"


# --- labels ---------------------------------------------------------------------------------------


def after(merges, count):
    """Labels when so many merges were made."""
    labels = np.arange(len(merges) + 1)
    made = list(labels)
    for a, b in merges[:count, :2].astype(int):
        labels[labels == made[b]] = made[a]
        made.append(made[a])
    return np.unique(labels, return_inverse=True)[1]


@each_method
def test_labels_are_those_of_the_cut_in_any_numbers(method, rng):
    X = rng.normal(size=(40, 2))
    merges = hierarchy.linkage(X, method)
    for k in (1, 2, 5, 40):
        labels = after(merges, 40 - k)
        for names in (labels, 7 - labels, 100 + 3 * labels):
            accepted(X, merges, method, labels=names, n_clusters=k)
        for i in (0, 17, 39) if k > 1 else ():
            edited = labels.copy()
            edited[i] = (labels[i] + 1) % k
            message = refused(X, merges, method, labels=edited, n_clusters=k)
            assert any(f"the cut into {k}" in text for text in message)
    h = (merges[30, 2] + merges[31, 2]) / 2
    labels = hierarchy.fcluster(merges, h, "distance")
    accepted(X, merges, method, labels=labels, threshold=h)
    edited = labels.copy()
    edited[3] = labels.max() + 1
    assert "the cut at" in refused(X, merges, method, labels=edited, threshold=h)[0]


def test_heights_at_the_threshold_are_not_joined():
    X = np.array([[0.0], [1.0], [3.0]])
    merges = hierarchy.linkage(X, "single")
    accepted(X, merges, "single", labels=[0, 0, 1], threshold=2.0)
    accepted(X, merges, "single", labels=[0, 0, 0], threshold=2.1)


def test_without_heights_merges_and_labels_are_still_checked(rng):
    X = rng.normal(size=(40, 2))
    for method in METHODS:
        children = hierarchy.linkage(X, method)[:, :2]
        result = accepted(X, children, method)
        assert result["heights"] == 0
        assert result["sampled"] == 39
        refused(X, children[[1, 0, *range(2, 39)]], method)


# --- cost -----------------------------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize("method", ["single", "average", "centroid", "ward"])
def test_memory_grows_with_the_rows_and_not_with_their_pairs(method, rng):
    n = 4000
    X = rng.normal(size=(n, 2))
    merges = hierarchy.linkage(X, method)
    data = Data(Rows(X))
    tracemalloc.start()
    result = linkage.check(data, merges, method)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result["objective"] == 0
    assert peak < n * n * 8 / 4


def test_a_check_finds_the_same_twice(rng):
    X = rng.normal(size=(3000, 2))
    merges = hierarchy.linkage(X, "average")
    first, again = (check(X, merges, "average") for _ in range(2))
    assert first == again


# --- DIANA ----------------------------------------------------------------------------------------


def by_diana(D):
    """Splits of the widest cluster, by the plain rule, as merges."""
    n = len(D)
    open_, splits = [np.arange(n)], []
    while open_:
        open_.sort(key=lambda C: D[np.ix_(C, C)].max())
        C = open_.pop()
        if len(C) > 1:
            parts = [C[part] for part in diana.split(D[np.ix_(C, C)])]
            splits.append((D[np.ix_(C, C)].max(), C, parts))
            open_ += parts
    ids = {(i,): i for i in range(n)}
    merges = []
    for t, (h, C, parts) in enumerate(splits[::-1]):
        a, b = sorted(ids[tuple(sorted(part))] for part in parts)
        merges.append([a, b, h, len(C)])
        ids[tuple(sorted(C))] = n + t
    return np.array(merges)


def diana_check(X, merges, **params):
    return diana.check(Data(Rows(X)), merges, **params)


def test_a_split_of_two_groups_parts_them(rng):
    X = np.concatenate([rng.normal(size=10), 20 + rng.normal(size=5)])[:, None]
    S, rest = diana.split(distances(X))
    assert {tuple(S), tuple(rest)} == {tuple(range(10)), tuple(range(10, 15))}
    assert [len(part) for part in diana.split(np.ones((2, 2)) - np.eye(2))] == [1, 1]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_divisive_trees_are_accepted_and_edits_refused(metric, rng):
    X = rng.normal(size=(40, 3))
    D = distances(X, metric)
    merges = by_diana(D)
    result = diana_check(X, merges, metric=metric)
    assert result["wrong"] == []
    assert result["sampled"] == 39
    assert diana_check(D, merges, metric="precomputed")["wrong"] == []
    for t in (0, 20, 38):
        edited = merges.copy()
        edited[t, 2] *= 1.01
        wrong = diana_check(X, edited, metric=metric)["wrong"]
        assert any("but its diameter is" in message for message in wrong)
    for (s, t), params in itertools.product([(0, 1), (20, 21), (5, 30)], HOW):
        assert diana_check(X, swapped(merges, s, t, **params), metric=metric)["objective"] > 0
    labels = hierarchy.cut_tree(merges, n_clusters=4).ravel()
    assert not diana_check(X, merges, metric=metric, labels=labels, n_clusters=4)["wrong"]
    labels[0] = (labels[0] + 1) % 4
    assert diana_check(X, merges, metric=metric, labels=labels, n_clusters=4)["wrong"]


def test_another_tree_is_no_tree_of_diana(rng):
    X = rng.normal(size=(60, 2))
    wrong = diana_check(X, hierarchy.linkage(X, "complete"))["wrong"]
    assert any("not how DIANA splits it" in message for message in wrong)


def test_ties_of_diana_go_to_the_smallest_number():
    X = np.argwhere(np.ones((5, 5))).astype(float)
    assert diana_check(X, by_diana(distances(X)))["wrong"] == []


def test_of_many_rows_some_splits_are_done_again(rng):
    X = rng.normal(size=(200, 2))
    merges = by_diana(distances(X))
    result = diana_check(X, merges, budget=2.0**16)
    assert result["wrong"] == []
    assert 20 < result["sampled"] < 199
