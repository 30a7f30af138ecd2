"""Agglomerative trees against SciPy's and against the definition of a linkage, merge by merge."""

import tracemalloc

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from certus.distances import get_distance
from certus.solvers.linkage import (
    METHODS,
    agglomerate,
    agglomerate_distances,
    boruvka,
    bytes_needed,
    centers,
    prim,
)

REDUCIBLE = [m for m in METHODS if m not in ("centroid", "median")]
each_method = pytest.mark.parametrize("method", METHODS)


def cluster_distance(method, X, D, A, B, m):
    """d(A, B) by the definition, from all rows of both; m: the medians of the tree so far."""
    between = D[np.ix_(A, B)]
    a, b = len(A), len(B)
    apart = np.linalg.norm(X[A].mean(axis=0) - X[B].mean(axis=0))
    return {
        "single": lambda: between.min(),
        "complete": lambda: between.max(),
        "average": lambda: between.mean(),
        "centroid": lambda: apart,
        "ward": lambda: np.sqrt(2 * a * b / (a + b)) * apart,
        "median": lambda: np.linalg.norm(m[0] - m[1]),
    }[method]()


def assert_is_greedy(method, X, merges, tol=1e-9):
    """Whether each merge is of a nearest pair, at its distance, by definition: O(n³) or more."""
    n = len(X)
    D = squareform(pdist(X)) if n > 1 else np.zeros((1, 1))
    members = {i: [i] for i in range(n)}
    medians = {i: X[i] for i in range(n)}
    halves = {(i, j): D[i, j] for i in range(n) for j in range(n)}  # of weighted
    for t, (i, j, height, size) in enumerate(merges):
        i, j = int(i), int(j)
        assert i < j

        def d(a, b, m=members):
            if method == "weighted":
                return halves[a, b]
            return cluster_distance(method, X, D, m[a], m[b], (medians[a], medians[b]))

        alive = sorted(members)
        least = min(d(a, b) for a in alive for b in alive if a < b)
        assert d(i, j) == pytest.approx(height, rel=tol, abs=tol)
        assert height <= least + tol * max(1.0, least)
        new = n + t
        for c in set(alive) - {i, j}:
            if method == "weighted":
                halves[new, c] = halves[c, new] = (halves[i, c] + halves[j, c]) / 2
        members[new] = members.pop(i) + members.pop(j)
        medians[new] = (medians.pop(i) + medians.pop(j)) / 2
        assert size == len(members[new])
    assert len(members) == 1


def rows(n, p, seed=0):
    return np.random.default_rng([seed, n, p]).normal(size=(n, p))


@each_method
@pytest.mark.parametrize(("n", "p"), [(2, 1), (3, 2), (50, 1), (200, 3), (300, 16)])
def test_the_tree_is_scipys(method, n, p):
    X = rows(n, p)
    expected = linkage(X, method)
    for merges in (
        agglomerate(X, method),
        agglomerate_distances(squareform(pdist(X)), method),
        agglomerate_distances(pdist(X), method),
    ):
        np.testing.assert_allclose(merges, expected, rtol=1e-9, atol=1e-12)


@each_method
def test_one_row_has_no_merges(method):
    assert agglomerate(np.ones((1, 3)), method).shape == (0, 4)
    assert agglomerate_distances(np.zeros((1, 1)), method).shape == (0, 4)


@each_method
@pytest.mark.parametrize("seed", range(3))
def test_every_merge_is_of_a_least_pair_also_with_ties_and_duplicates(method, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(24, 2)).astype(float)
    assert_is_greedy(method, X, agglomerate(X, method))
    merges = agglomerate_distances(squareform(pdist(X)), method)
    assert_is_greedy(method, X, merges)
    distinct = len(np.unique(X, axis=0))
    assert np.all(merges[: 24 - distinct, 2] == 0)
    assert np.all(merges[24 - distinct :, 2] > 0)


def heights_of(X, method, **settings):
    return np.sort(agglomerate(X, method, **settings)[:, 2])


@pytest.mark.parametrize("method", REDUCIBLE)
def test_heights_do_not_fall_and_ids_are_made_before_they_are_merged(method):
    merges = agglomerate(rows(500, 3), method)
    assert np.all(np.diff(merges[:, 2]) >= 0)
    assert np.all(merges[:, 1] < 500 + np.arange(499))
    assert sorted(merges[:, :2].ravel()) == list(range(2 * 500 - 2))


@pytest.mark.parametrize("method", ["centroid", "median"])
def test_an_inversion_is_found_as_it_comes(method):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.85]])
    merges = agglomerate(X, method)
    np.testing.assert_allclose(merges[:, 2], [np.hypot(0.5, 0.85), 0.0], atol=1)
    assert merges[1, 2] < merges[0, 2]
    np.testing.assert_allclose(merges, linkage(X, method))


@each_method
def test_far_from_the_origin_no_digit_is_lost(method):
    X = np.random.default_rng(3).integers(0, 1 << 20, size=(150, 3)) / 1024.0
    np.testing.assert_allclose(
        heights_of(X + 2.0**27, method), heights_of(X, method), rtol=1e-13, atol=0
    )


@pytest.mark.parametrize("method", ["single", "ward", "centroid", "median"])
def test_tight_groups_far_apart_need_more_than_the_narrow_filter(method, monkeypatch):
    used = []
    for module in (prim, centers):
        whole = module.panels_of
        monkeypatch.setattr(
            module, "panels_of", lambda *a, whole=whole: used.append(a[-1]) or whole(*a)
        )
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.integers(0, 1024, size=(600, 9)) / 64, np.zeros((600, 9))])
    X[600:] = X[:600] + 2.0**30
    expected = heights_of(X[:600], method)
    result = heights_of(X, method)[:-1]
    assert used[: len(used) // 3] == [np.float32] * (len(used) // 3)
    assert np.float64 in used
    np.testing.assert_allclose(result, np.sort(np.repeat(expected, 2)), rtol=1e-7)


@pytest.mark.parametrize("method", ["single", "ward", "centroid", "median"])
@pytest.mark.parametrize("scale", [1e-180, 1e180])
def test_units_of_any_size_only_scale_the_heights(method, scale):
    X = rows(120, 4)
    np.testing.assert_allclose(
        agglomerate(X * scale, method)[:, 2] / scale, agglomerate(X, method)[:, 2], rtol=1e-9
    )


@each_method
@pytest.mark.parametrize("n", [3, 700, 2000])
def test_equal_rows_merge_at_zero(method, n):
    X = np.full((n, 2), 0.1)
    merges = agglomerate(X, method)
    assert np.all(merges[:, 2] == 0)
    assert merges[-1, 3] == n


@each_method
def test_the_same_bits_on_any_number_of_threads(method):
    X = rows(1500, 3)
    one = agglomerate(X, method, threads=1)
    for threads in (2, 5):
        assert np.array_equal(agglomerate(X, method, threads=threads), one)


@each_method
def test_rows_in_float32_are_computed_with_in_float64(method):
    X = rows(300, 5).astype(np.float32)
    np.testing.assert_allclose(
        agglomerate(X, method), agglomerate(X.astype(float), method), rtol=1e-12
    )


@each_method
def test_a_matrix_in_float32_agrees_to_its_digits(method):
    X = rows(400, 6)
    exact = heights_of(X, method)
    D = squareform(pdist(X))
    np.testing.assert_allclose(heights_of(X, method, dtype=np.float32), exact, rtol=2e-5)
    merges = agglomerate_distances(D, method, dtype=np.float32)
    np.testing.assert_allclose(np.sort(merges[:, 2]), exact, rtol=1e-4)


@each_method
@pytest.mark.parametrize("read", [np.float32, np.float64])
def test_given_distances_are_not_changed(method, read):
    D = squareform(pdist(rows(130, 2))).astype(read)
    for given in (D, squareform(D, checks=False)):
        before = given.copy()
        given.flags.writeable = False
        agglomerate_distances(given, method)
        assert np.array_equal(given, before)


@pytest.mark.parametrize("metric", ["cityblock", "cosine", "correlation", "sqeuclidean"])
@each_method
def test_other_metrics_are_scipys_of_their_distances(method, metric):
    X = rows(90, 4) + 1
    expected = linkage(pdist(X, metric), method)
    result = agglomerate(X, method, get_distance(metric).prepare(X))
    np.testing.assert_allclose(result[:, 2], expected[:, 2], rtol=1e-7, atol=1e-12)


def test_mahalanobis_is_euclidean_of_other_rows():
    X = rows(80, 3) @ np.diag([1.0, 5.0, 0.1])
    VI = np.linalg.inv(np.cov(X.T))
    distance = get_distance("mahalanobis", VI=VI).prepare(X)
    for method in METHODS:
        expected = linkage(pdist(X, "mahalanobis", VI=VI), method)
        np.testing.assert_allclose(agglomerate(X, method, distance)[:, 2], expected[:, 2])


@pytest.mark.parametrize("p", [1, 2, 3])
def test_a_tree_and_all_pairs_span_the_same(p):
    for X in (rows(1500, p), np.random.default_rng(0).integers(0, 12, (900, p)).astype(float)):
        by_rounds = np.concatenate([h for _, h in boruvka.edges_by_rounds(X, 2)])
        by_pairs = np.concatenate([h for _, h in prim.edges_of_rows(X, 100)])
        np.testing.assert_allclose(np.sort(by_rounds), np.sort(by_pairs), rtol=1e-13)


@pytest.mark.parametrize("method", ["complete", "average", "weighted", "ward"])
def test_a_chain_through_all_rows_is_walked(method):
    """The nearest of each row is the next one: the longest possible chain."""
    X = np.cumsum(np.linspace(2.0, 1.0, 400))[:, None]
    np.testing.assert_allclose(heights_of(X, method), np.sort(linkage(X, method)[:, 2]))


@each_method
def test_a_listener_hears_of_the_merges_and_may_stop(method):
    X, heard = rows(1000, 9), []
    whole = agglomerate(X, method, on_step=lambda step: bool(heard.append(step)))
    assert len(heard) > 30
    counts = [step.iteration for step in heard]
    assert counts == sorted(set(counts))
    assert counts[-1] == 999
    assert heard[-1].objective == whole[:, 2].max()
    assert np.array_equal(heard[-1].parameters(), whole)

    part = agglomerate(X, method, on_step=lambda step: step.iteration >= 300)
    assert 300 <= len(part) < 999
    assert np.all(part[:, 0] < part[:, 1])
    assert np.all(part[:, 1] < 1000 + np.arange(len(part)))


@each_method
def test_an_interrupt_goes_through(method):
    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        agglomerate(rows(300, 4), method, on_step=interrupt)


def peak_of(call):
    call()  # imports and compiled code
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@each_method
@pytest.mark.parametrize("p", [3, 16])
def test_bytes_needed_are_enough_and_not_much_more(method, p):
    X = rows(3000, p)
    D = squareform(pdist(X))
    of_rows = peak_of(lambda: agglomerate(X, method))
    needed = bytes_needed(3000, p, method, True)
    assert 0.4 * needed < of_rows <= needed
    of_distances = peak_of(lambda: agglomerate_distances(D, method))
    needed = bytes_needed(3000, 0, method, False)
    assert 0.4 * needed < of_distances <= needed
    distance = get_distance("cityblock")
    of_other_rows = peak_of(lambda: agglomerate(X, method, distance))
    needed = bytes_needed(3000, p, method, False)
    assert 0.4 * needed < of_other_rows <= needed


def test_rows_without_a_matrix_take_memory_in_proportion_to_them():
    for method in ("single", "ward", "centroid", "median"):
        assert bytes_needed(200_000, 16, method, True) < 6 * 200_000 * 16 * 8
        assert peak_of(lambda m=method: agglomerate(rows(4000, 16), m)) < 6 * 4000 * 16 * 8
    assert bytes_needed(20_000, 16, "average", True) > 20_000**2 * 8
    half = bytes_needed(20_000, 16, "average", True, np.float32)
    assert 20_000**2 * 4 < half < 20_000**2 * 5
