"""Silhouettes, gaps and agreement are those of their definitions, and scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, silhouette_samples, silhouette_score

from certus.proofs.n_clusters import gap_statistic, silhouette, stability
from certus.solvers.n_clusters import silhouette as tiles
from certus.solvers.n_clusters.gap_statistic import ReferenceBox, within
from certus.solvers.n_clusters.silhouette import mean_silhouettes, means_and_errors, silhouettes
from certus.solvers.n_clusters.stability import adjusted_rand


def clustered(seed, n=60, p=3, k=4):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    labels[:k] = np.arange(k)
    return rng.normal(size=(n, p)) + 2 * labels[:, None], labels


def of_one(X, labels, s=None, **params):
    return silhouettes(X, labels[:, None], s, **params)[:, 0]


# --- silhouettes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_silhouettes_are_those_of_the_definition_and_of_scikit_learn(seed):
    X, labels = clustered(seed, k=2 + seed)
    labels[7] = labels.max() + 1  # alone
    truth = silhouette.silhouettes(X, labels)
    np.testing.assert_allclose(of_one(X, labels), truth, atol=1e-14)
    np.testing.assert_allclose(truth, silhouette_samples(X, labels), atol=1e-12)
    assert truth[7] == 0
    assert silhouette.mean_silhouette(X, labels) == pytest.approx(silhouette_score(X, labels))


@pytest.mark.parametrize("seed", range(4))
def test_a_weight_of_three_is_the_row_three_times(seed):
    X, labels = clustered(seed, n=30)
    labels[3] = 9  # a cluster of one row, which weighs 3
    s = np.random.default_rng(seed).integers(1, 4, size=30)
    s[3] = 3
    rows = np.repeat(np.arange(30), s)
    repeated = silhouette.silhouettes(X[rows], labels[rows])
    np.testing.assert_allclose(repeated, silhouette_samples(X[rows], labels[rows]), atol=1e-7)
    truth = silhouette.silhouettes(X, labels, s)
    np.testing.assert_allclose(truth[rows], repeated, atol=1e-12)
    assert truth[3] == 1
    codes = np.unique(labels, return_inverse=True)[1]
    np.testing.assert_allclose(of_one(X, codes, s.astype(float)), truth, atol=1e-12)
    assert silhouette.mean_silhouette(X, labels, s) == pytest.approx(repeated.mean())


def test_weights_below_one_never_compare_a_row_with_itself():
    X, labels = clustered(1)
    s = np.full(len(X), 0.01)
    np.testing.assert_allclose(of_one(X, labels, s), of_one(X, labels), atol=1e-12)
    np.testing.assert_allclose(of_one(X, labels, s), silhouette.silhouettes(X, labels, s))


def test_several_clusterings_are_looked_at_at_once_and_tiles_change_rounding_only(monkeypatch):
    rng = np.random.default_rng(0)
    X, L = rng.normal(size=(90, 2)), np.stack([rng.integers(k, size=90) for k in (1, 2, 7)], axis=1)
    whole = silhouettes(X, L)
    assert (whole[:, 0] == 0).all(), "of one cluster there is no next one"
    for c in (1, 2):
        np.testing.assert_allclose(whole[:, c], silhouette.silhouettes(X, L[:, c]), atol=1e-14)
    monkeypatch.setattr(tiles, "TILE_ROWS", 16)
    monkeypatch.setattr(tiles, "MIN_BLOCK_ROWS", 7)
    monkeypatch.setattr(tiles, "MAX_BLOCK_ROWS", 7)
    np.testing.assert_allclose(silhouettes(X, L), whole, atol=1e-14)
    np.testing.assert_allclose(mean_silhouettes(X, L), whole.mean(axis=0), atol=1e-14)
    some = np.array([5, 80, 3])
    np.testing.assert_allclose(silhouettes(X, L, rows=some), whole[some], atol=1e-14)


def test_same_bits_on_any_number_of_threads():
    X, labels = clustered(2, n=900)
    one = of_one(X, labels, threads=1)
    for threads in (2, 5):
        np.testing.assert_array_equal(of_one(X, labels, threads=threads), one)


def test_far_from_the_origin_and_in_other_units_nothing_changes():
    X, labels = clustered(3)
    X = np.round(X * 64) / 64
    near = of_one(X, labels)
    np.testing.assert_allclose(of_one(X + 2.0**30, labels), near, atol=1e-14)
    np.testing.assert_allclose(of_one(X * 2.0**520, labels), near, atol=1e-14)


def test_rows_that_are_all_one_point_have_no_silhouette():
    X, labels = np.ones((6, 2)), np.array([0, 0, 0, 1, 1, 1])
    assert (of_one(X, labels) == 0).all()
    assert (silhouette.silhouettes(X, labels) == 0).all()


# --- the gap --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_scatter_within_clusters_is_that_of_the_definition(weighted):
    X, labels = clustered(4)
    s = np.random.default_rng(0).uniform(size=len(X)) if weighted else None
    truth = gap_statistic.within(X, labels, s)
    assert within(X, labels, s) == pytest.approx(truth, rel=1e-13)
    if not weighted:  # by pairs, as the paper writes it
        D = ((X[:, None] - X) ** 2).sum(axis=2)
        by_pairs = sum(D[np.ix_(labels == c, labels == c)].sum() / (2 * (labels == c).sum())
                       for c in range(4))  # fmt: skip
        assert truth == pytest.approx(by_pairs)


def test_the_gap_is_a_mean_of_logarithms_and_its_error_counts_the_references():
    log_W, references = np.array([1.0, 0.2]), np.array([[2.0, 1.0], [4.0, 1.0]])
    gap, s = gap_statistic.gaps(log_W, references)
    np.testing.assert_allclose(gap, [2.0, 0.8])
    np.testing.assert_allclose(s, [np.sqrt(1.5), 0.0])


def test_the_first_k_within_one_error_of_the_next():
    first = gap_statistic.first_within_one_error
    assert first([1, 2, 3], [0.5, 0.4, 0.9], [0, 0, 0]) == 1
    assert first([1, 2, 3], [0.1, 0.4, 0.3], [0, 0, 0]) == 2
    assert first([1, 2, 3], [0.1, 0.4, 0.5], [0, 0.1, 0.1]) == 2
    assert first([1, 2, 3], [0.1, 0.4, 0.6], [0, 0.1, 0.1]) is None


@pytest.mark.parametrize("shape", [(50, 3), (4, 7)], ids=["tall", "wide"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_box_is_the_least_along_principal_axes(shape, weighted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) + 100
    s = rng.uniform(0.5, 2, size=len(X)) if weighted else None
    mean, axes, low, high = gap_statistic.box(X, s)
    box = ReferenceBox.of(X, s)
    np.testing.assert_allclose(box.mean, mean)
    # the same axes, in another order and with other signs
    real = [(h - l, a) for l, h, a in zip(low, high, axes, strict=True) if h - l > 1e-9]
    for width, axis in real:
        at = int(np.argmax(np.abs(box.axes @ axis)))
        assert abs(box.axes[at] @ axis) == pytest.approx(1, abs=1e-9)
        assert box.high[at] - box.low[at] == pytest.approx(width)
    np.testing.assert_allclose(box.axes @ box.axes.T, np.eye(len(box.axes)), atol=1e-12)
    z = (box.draw(2000, np.random.RandomState(0)) - box.mean) @ box.axes.T
    span = box.high - box.low
    assert (z >= box.low - 1e-9).all()
    assert (z <= box.high + 1e-9).all()
    real = span > 1e-9
    share = ((z - box.low) / np.where(real, span, 1))[:, real]
    np.testing.assert_allclose(share.mean(axis=0), 0.5, atol=0.05)
    np.testing.assert_allclose(share.var(axis=0), 1 / 12, atol=0.01)


# --- agreement ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_agreement_is_that_of_all_pairs_and_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(4, size=40), rng.integers(3, size=40)
    b[:20] = a[:20] % 3
    truth = stability.adjusted_rand(a, b)
    assert truth == pytest.approx(adjusted_rand_score(a, b), abs=1e-14)
    assert adjusted_rand(a, b) == pytest.approx(truth, abs=1e-14)
    s = rng.uniform(size=40)
    weighted = stability.adjusted_rand(a, b, s)
    assert adjusted_rand(a, b, s) == pytest.approx(weighted, abs=1e-13)
    assert adjusted_rand(a, b, 1e-6 * s) == pytest.approx(weighted, abs=1e-12)
    assert abs(weighted - truth) > 1e-4, "weights count"


def test_agreement_of_the_same_clusters_is_one_whatever_they_are_called():
    labels = load_iris().target
    assert adjusted_rand(labels, (labels + 1) % 3) == 1
    trivial = np.zeros(5, dtype=int), np.arange(5)
    for same in trivial:
        assert adjusted_rand(same, same) == stability.adjusted_rand(same, same) == 1
    assert adjusted_rand(*trivial) == stability.adjusted_rand(*trivial) == 0


def test_agreement_by_chance_is_zero_on_average():
    rng = np.random.default_rng(0)
    result = [adjusted_rand(rng.integers(3, size=50), rng.integers(3, size=50)) for _ in range(400)]
    assert abs(np.mean(result)) < 0.005


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_adds_up_what_each_row_does_to_the_mean(weighted):
    """By differences of the definition in the weight of one row, all others held fixed."""
    X, labels = clustered(5, n=40, k=3)
    other = np.random.default_rng(1).integers(2, size=40)  # rows nearer to the next cluster, too
    s = np.random.default_rng(5).uniform(1.5, 3, size=40) if weighted else np.full(40, 1.5)
    h = 1e-5
    mean, error = means_and_errors(X, np.stack([labels, other], axis=1), s)
    for c, result in enumerate((labels, other)):
        slopes = np.empty(40)
        for j in range(40):
            low, high = (silhouette.mean_silhouette(X, result, s + d * np.eye(40)[j])
                         for d in (-h, h))  # fmt: skip
            slopes[j] = (high - low) / (2 * h)
        assert mean[c] == pytest.approx(silhouette.mean_silhouette(X, result, s))
        assert error[c] == pytest.approx(np.sqrt(40 / 39 * np.sum((s * slopes) ** 2)), rel=1e-6)


def test_errors_do_not_depend_on_tiles_or_threads(monkeypatch):
    X, labels = clustered(6, n=500)
    L = np.stack([labels, labels % 2, np.zeros_like(labels)], axis=1)
    rows = np.random.default_rng(0).permutation(500)[:300]
    one = means_and_errors(X, L, rows=rows, threads=1)
    for threads in (2, 3):
        result = means_and_errors(X, L, rows=rows, threads=threads)
        np.testing.assert_array_equal(result, one)
    np.testing.assert_array_equal(one[0], mean_silhouettes(X, L, rows=rows, threads=2))
    assert one[1][2] == 0
    assert (one[1][:2] > 0).all()
    monkeypatch.setattr(tiles, "TILE_ROWS", 16)
    monkeypatch.setattr(tiles, "MAX_BLOCK_ROWS", 17)
    np.testing.assert_allclose(means_and_errors(X, L, rows=rows), one, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("queried", [None, 40], ids=["all rows", "some rows"])
def test_the_interval_of_a_mean_silhouette_holds_the_mean_over_samples(queried):
    """For samples of the same source, assigned to the nearest of the same centres."""
    rng, centers = np.random.default_rng(0), np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]])
    result = []
    for _ in range(300):
        X = rng.normal(size=(100, 2)) + centers[rng.integers(3, size=100)]
        labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        rows = None if queried is None else rng.permutation(100)[:queried]
        result.append(means_and_errors(X, labels[:, None], rows=rows))
    mean, error = np.array(result)[:, :, 0].T
    held = np.abs(mean - mean.mean()) <= 1.96 * error
    assert 0.91 <= held.mean() <= 0.99, held.mean()
