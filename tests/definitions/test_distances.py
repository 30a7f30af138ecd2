"""Distances as terms: the numbers of SciPy and scikit-learn, and source that makes them again."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from certus.certificate.pages.neighbors import ALIASES, BOOLEAN_COUNTS, TERMS, distance_of
from certus.definitions.terms import distances as terms
from certus.proofs.distances import METRICS, paired

rng = np.random.default_rng(0)
A, b = rng.normal(size=(9, 4)), rng.normal(size=4)
w = np.array([0.5, 2.0, 0.0, 1.5])
V = np.cov(rng.normal(size=(30, 4)).T)
OF_SCIPY = [
    ("euclidean", {}), ("sqeuclidean", {}), ("cityblock", {}), ("chebyshev", {}),
    ("minkowski", {"p": 3.0}), ("minkowski", {"p": 1.5, "w": w}),
    ("seuclidean", {"V": V.diagonal()}),
    ("mahalanobis", {"VI": np.linalg.inv(V)}), ("cosine", {}), ("cosine", {"w": w}),
    ("correlation", {}), ("correlation", {"w": w}), ("canberra", {}), ("canberra", {"w": w}),
    ("braycurtis", {}), ("braycurtis", {"w": w}), ("hamming", {"w": w}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "params"), OF_SCIPY)
def test_the_distance_is_that_of_scipy(name, params):
    d = distance_of(name, params)
    np.testing.assert_allclose(d(A, b), cdist(A, b[None], name, **params)[:, 0], rtol=1e-12)


@pytest.mark.parametrize("name", [*BOOLEAN_COUNTS, "yule", "hamming"])
def test_shares_of_true_columns_are_those_of_scipy(name):
    B = rng.integers(0, 2, size=(40, 7)).astype(bool)
    d = np.array([distance_of(name, {})(B.astype(float), row.astype(float)) for row in B])
    np.testing.assert_allclose(d, np.nan_to_num(cdist(B, B, name)), atol=1e-15)


def test_rows_with_missing_values_and_places_on_earth_are_compared_as_in_scikit_learn():
    N = rng.normal(size=(12, 5))
    N[rng.random(N.shape) < 0.3] = np.nan
    d = np.array([terms.NanEuclidean()(N, row) for row in N])
    np.testing.assert_allclose(d, pairwise_distances(N, metric="nan_euclidean"), atol=1e-12)
    places = rng.uniform(-1.5, 1.5, size=(12, 2))
    d = np.array([terms.Haversine()(places, row) for row in places])
    np.testing.assert_allclose(d, pairwise_distances(places, metric="haversine"), atol=1e-12)


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"gower", "seuclidean", "mahalanobis"}))
def test_the_term_agrees_with_the_proof_where_nothing_is_defined_by_a_ratio(name):
    R = rng.integers(-1, 3, size=(20, 4)).astype(float)
    R[0], R[1], R[2], R[3] = 0.0, 1.0, 2.0, -R[4]
    with np.errstate(divide="ignore"):  # the proof's 1/0
        for row in R:
            expected = paired(R, np.broadcast_to(row, R.shape), name)
            np.testing.assert_allclose(distance_of(name, {})(R, row), expected, atol=1e-14)


def test_rows_far_from_the_origin_keep_their_digits():
    far = np.array([[1e8, 0.0], [1e8 + 0.5, 0.0]])
    assert terms.Euclidean()(far, far[0])[1] == 0.5


def test_mirrored_columns_are_near():
    near = terms.Absolute(terms.Correlation())
    c = 1 - np.abs(1 - terms.Correlation()(A, b))
    np.testing.assert_allclose(near(A, b), c, atol=1e-15)
    assert near(-b[None] * (1 + 1e-9), b)[0] < 1e-15


@pytest.mark.parametrize("name", [*TERMS, *ALIASES, *BOOLEAN_COUNTS])
def test_the_source_of_a_term_makes_it_again(name):
    params = {"seuclidean": {"V": V.diagonal()}, "mahalanobis": {"V": V}}.get(name, {})
    term = distance_of(name, params)
    assert eval(repr(term), dict(vars(terms))) == term


def test_functions_and_parameters_that_a_script_cannot_hold_have_no_term():
    assert distance_of(cdist, {}) is None
    assert distance_of("seuclidean", {"V": [1.0, np.inf]}) is None
    assert distance_of("spearman", {"w": [1.0, 2.0]}) is None
