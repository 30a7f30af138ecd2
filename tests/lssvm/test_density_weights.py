"""Density weights d = 1 − r/max r, r the distance to the k-th other row."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import pairwise_distances

from certus.svm import DensityWeightedLSSVC, DensityWeightedSVC, density_weights
from tests.lssvm.svm_cases import blobs


def plain(X, k, metric="euclidean"):
    D = pairwise_distances(X, metric=metric)
    np.fill_diagonal(D, np.inf)  # a row is not its own neighbour
    r = np.sort(D, axis=1)[:, k - 1]
    return 1 - r / r.max()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("k", [1, 5, 39])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_formula(seed, k, metric):
    X, _ = blobs(seed, n=40)
    d = density_weights(X, k, metric=metric)
    np.testing.assert_allclose(d, plain(X, k, metric), atol=1e-14)
    assert d.min() == 0.0  # the sparsest row, exactly
    assert d.max() < 1


def test_with_labels_each_class_is_looked_at_alone():
    X, y = blobs(1, n=60, classes=3)
    d = density_weights(X, 4, y=np.array(["a", "b", "c"])[y])
    for k in range(3):
        np.testing.assert_allclose(d[y == k], plain(X[y == k], 4), atol=1e-14)


def test_units_origin_and_order_of_rows_change_nothing():
    X, _ = blobs(2)
    d = density_weights(X)
    np.testing.assert_allclose(density_weights(1e5 * X), d, atol=1e-12)
    np.testing.assert_allclose(density_weights(X + 1e6), d, atol=1e-8)
    np.testing.assert_array_equal(density_weights(X[::-1])[::-1], d)


@pytest.mark.parametrize("X", [np.ones((7, 2)), np.arange(6.0)[:, None], 0.1 * np.eye(5)], ids=str)
def test_where_no_row_is_denser_all_weigh_one(X):
    """Equal rows, a line, and equidistant corners."""
    np.testing.assert_array_equal(density_weights(X, 1), 1.0)


def test_copies_are_neighbours():
    X = np.repeat([[0.0], [1.0], [5.0]], [3, 1, 1], axis=0)
    np.testing.assert_allclose(density_weights(X, 2), [1, 1, 1, 0.8, 0], atol=1e-15)


def test_a_small_class_among_a_large_one_is_the_sparser():
    X, y = blobs(3, n=400, share=0.9, shift=0.5)
    d = density_weights(X)
    assert d[y == 1].mean() < d[y == 0].mean()
    own = density_weights(X, y=y)
    assert own[y == 1].mean() > d[y == 1].mean() - 0.5


def test_frames_float32_and_lists_are_taken():
    X, _ = blobs(4)
    d = density_weights(X)
    np.testing.assert_array_equal(density_weights(pd.DataFrame(X)), d)
    np.testing.assert_array_equal(density_weights(X.tolist()), d)
    narrow = X.astype(np.float32)
    np.testing.assert_allclose(density_weights(narrow), density_weights(narrow.astype(float)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X: density_weights(X, 0), ValueError, "k=0: give a whole number above 0"),
        (lambda X: density_weights(X, 60), ValueError, "k=60 is too large for 60 rows: give at"),
        (
            lambda X: density_weights(X[:1], 1),
            ValueError,
            "k=1 is too large for 1 row: give at most 0",
        ),
        (
            lambda X: density_weights(X, 5, y=["a"] * 57 + ["b"] * 3),
            ValueError,
            "k=5 is too large for 3 rows of class 'b': give at most 2, or use",
        ),
        (lambda X: density_weights(X, y=[1, 2]), ValueError, "inconsistent|2"),
        (lambda X: density_weights(csr_array(X)), TypeError, "Sparse data was passed, but density"),
        (lambda X: density_weights(np.where(X > 2, np.nan, X)), ValueError, "column . of X has"),
        (lambda X: density_weights(X, metric="euclid"), ValueError, r"Did you mean 'euclidean'\?"),
    ],
)
def test_what_has_no_density_is_refused(call, error, message):
    X, _ = blobs(5, shift=3.0)
    with pytest.raises(error, match=message):
        call(X)


@pytest.mark.parametrize("cls", [DensityWeightedLSSVC, DensityWeightedSVC])
@pytest.mark.parametrize("density", ["global", "per_class"])
def test_models_use_these_weights(cls, density):
    X, y = blobs(6)
    model = cls(n_neighbors=3, density=density).fit(X, y)
    expected = density_weights(X, 3, y=y if density == "per_class" else None)
    np.testing.assert_array_equal(model.density_weights_, expected)
