"""Rows that distances refuse, and rows that they flag."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from certus.distances import (
    Correlation,
    Cosine,
    Hamming,
    Mahalanobis,
    Spearman,
    StandardizedEuclidean,
    UserDistance,
    get_distance,
    names,
    pairwise_distances,
)

rng = np.random.default_rng(5)
NO_MISSING = [name for name in names() if name not in ("gower", "nan_euclidean")]


@pytest.mark.parametrize("name", NO_MISSING)
def test_missing_values_are_named_with_the_metrics_that_take_them(name):
    X = np.ones((5, 2))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1 of X has 1 missing value \(row 3\).*gower"):
        get_distance(name).pairwise(X)


@pytest.mark.parametrize("name", names())
def test_infinity_is_named(name):
    X = np.ones((5, 2))
    X[2, 0] = np.inf
    with pytest.raises(ValueError, match=r"column 0.* has 1 infinite value \(.*row 2\)"):
        get_distance(name).pairwise(X)


def test_the_other_side_and_frames_are_named():
    X = pd.DataFrame({"age": [1.0, np.nan], "dose": [1.0, 2.0]})
    with pytest.raises(ValueError, match="column 'age' has 1 missing value"):
        pairwise_distances(X)
    with pytest.raises(ValueError, match="column 0 of Y"):
        pairwise_distances(np.ones((1, 2)), X.to_numpy())


def test_shapes_that_do_not_match():
    with pytest.raises(ValueError, match="X has 2 columns, Y has 3"):
        pairwise_distances(np.ones((4, 2)), np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"Expected 2D array.*reshape"):
        pairwise_distances(np.ones(4))
    with pytest.raises(ValueError, match="no columns"):
        pairwise_distances(np.ones((4, 0)))
    with pytest.raises(ValueError, match="row by row"):
        get_distance("euclidean").paired(np.ones((4, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="w is for 3 columns, but the rows have 2"):
        pairwise_distances(np.ones((4, 2)), metric="l1", w=[1, 2, 3])


@pytest.mark.parametrize("w", [[np.nan, 1], [[1, 2]], [0, 0]])
@pytest.mark.parametrize("name", ["l1", "l2", "sqeuclidean", "phi_s", "minkowski", "hamming"])
def test_weights_that_mean_nothing(name, w):
    with pytest.raises(ValueError, match="w"):
        get_distance(name, w=w)


@pytest.mark.parametrize("name", ["minkowski", "hamming", "cosine", "canberra", "gower"])
def test_negative_weights_are_refused_where_they_multiply_as_they_are(name):
    with pytest.raises(ValueError, match=r"w\[1\] is -1"):
        get_distance(name, w=[1.0, -1.0])


def test_text_is_named():
    with pytest.raises(ValueError, match=r"column 1 of X holds text \(first: 'a'\).*gower"):
        pairwise_distances(np.array([[1, "a"], [2, "b"]], dtype=object))
    with pytest.raises(ValueError, match="Complex"):
        pairwise_distances(np.ones((2, 2)) * 1j)


@pytest.mark.parametrize("name", NO_MISSING)
def test_no_rows_have_no_distances(name):
    params = {"V": np.ones(2)} if name == "seuclidean" else {}
    params = {"V": np.eye(2)} if name == "mahalanobis" else params
    none = np.empty((0, 2))
    assert get_distance(name, **params).pairwise(none, np.ones((3, 2))).shape == (0, 3)
    assert get_distance(name, **params).pairwise(np.ones((3, 2)), none).shape == (3, 0)


def test_inputs_are_left_as_they_are_and_may_be_read_only():
    X = rng.normal(size=(70, 3))
    X.flags.writeable = False
    before = X.copy()
    for name in NO_MISSING:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name != "haversine":
                get_distance(name).pairwise(X)
                get_distance(name).pairwise(X, X[::2])
    assert_array_equal(X, before)


def test_any_layout_frame_or_sparse_matrix_is_the_same_rows():
    X = np.round(rng.normal(size=(20, 3)), 2)
    expected = pairwise_distances(X)
    frames = (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc")))
    for other in (np.asfortranarray(X), X[:, ::-1][:, ::-1], X.tolist(), sp.csr_array(X), *frames):
        assert_array_equal(pairwise_distances(other), expected)


@pytest.mark.parametrize("name", ["euclidean", "manhattan", "cosine", "canberra", "gower",
                                  "hamming", "mahalanobis", "jaccard"])  # fmt: skip
def test_sparse_rows_are_made_dense_block_by_block(name, monkeypatch):
    from certus.distances import sparse

    monkeypatch.setattr(sparse, "MAX_BLOCK_ELEMENTS", 64 * 5)
    X = np.where(rng.random((150, 5)) < 0.5, 0.0, rng.integers(1, 5, size=(150, 5)))
    if name == "jaccard":
        X = (X != 0).astype(float)
    expected = pairwise_distances(X, metric=name)
    S = sp.csr_array(X)
    assert_array_equal(pairwise_distances(S, metric=name), expected)
    assert_array_equal(
        pairwise_distances(S.tocsc(), X.copy(), name), pairwise_distances(X, X.copy(), name)
    )
    assert_array_equal(pairwise_distances(X[:3], S, name), pairwise_distances(X[:3], X, name))


def test_sparse_rows_are_refused_by_row_and_column():
    S = sp.csr_array(np.eye(4))
    with pytest.raises(ValueError, match="X has 4 columns, Y has 3"):
        pairwise_distances(S, np.ones((2, 3)))
    S.data[2] = np.nan
    with pytest.raises(ValueError, match=r"NaN: row 2, column 2 \(and 0 more values\).*gower"):
        pairwise_distances(np.ones((2, 4)), S)
    assert np.isfinite(pairwise_distances(np.ones((2, 4)), S, "nan_euclidean")).all()
    S.data[3] = np.inf
    with pytest.raises(ValueError, match="infinity: row 3, column 3"):
        pairwise_distances(S, metric="nan_euclidean")


# --- directions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [Cosine(), Correlation(), Spearman()])
def test_rows_without_a_direction_are_at_0_from_each_other_and_at_1_from_the_rest(distance):
    lost = np.zeros(4) if distance.name == "cosine" else np.full(4, 0.1)
    X = np.vstack([rng.normal(size=(3, 4)), lost, lost])
    D = distance.pairwise(X)
    assert_array_equal(D[3:, 3:], 0)
    assert_allclose(D[3:, :3], 1, rtol=1e-14)
    assert np.isfinite(D).all()
    ((code, rows, message),) = distance.flags(X)
    assert_array_equal(rows, [3, 4])
    assert code == ("zero row" if distance.name == "cosine" else "constant row")
    assert "rows 3, 4" in message
    assert distance.flags(X[:3]) == []


def test_hamming_warns_of_numbers_that_are_not_whole():
    with pytest.warns(UserWarning, match=r"row 0, column 0 contains 0.3, which is not whole"):
        D = Hamming().pairwise([[0.1 + 0.2]], [[0.3]])
    assert_array_equal(D, 1)
    assert Hamming().flags([[1.0], [2.0]]) == []


def test_numbers_that_are_no_booleans_are_converted_with_a_warning():
    with pytest.warns(DataConversionWarning, match="converted to boolean for metric jaccard"):
        D = pairwise_distances([[2.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]], "jaccard")
    assert_array_equal(D, [[0.5]])


# --- units of the data ----------------------------------------------------------------------------


def test_variances_and_covariances_are_those_of_the_rows_of_the_fit():
    X, Q = rng.normal(size=(30, 3)) * [1, 10, 100], rng.normal(size=(4, 3))
    D = StandardizedEuclidean().prepare(X).pairwise(Q, X)
    assert_allclose(D, pairwise_distances(Q, X, "seuclidean", V=X.var(axis=0, ddof=1)), rtol=1e-12)
    ready = Mahalanobis().prepare(X)
    assert ready.note is None
    V = np.cov(X, rowvar=False)
    assert_allclose(ready.covariance, V)
    assert_allclose(ready.pairwise(Q, X), pairwise_distances(Q, X, "mahalanobis", V=V), rtol=1e-10)


def test_mahalanobis_does_not_depend_on_units_or_mixtures_of_columns():
    X = rng.normal(size=(40, 3))
    D = pairwise_distances(X, metric="mahalanobis")
    T = np.array([[2.0, 1.0, 0.0], [0.0, 1e-3, 0.0], [5.0, 0.0, 1e4]])
    assert_allclose(pairwise_distances(X @ T, metric="mahalanobis"), D, rtol=1e-6)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_too_few_rows_are_shrunk_and_said_so(n):
    X = rng.normal(size=(n, 8))
    ready = Mahalanobis().prepare(X)
    assert f"{n} rows are too few for 8 columns: shrunk" in ready.note
    D = ready.pairwise(X)
    assert np.isfinite(D).all()
    assert (D[~np.eye(n, dtype=bool)] > 0).all()
    assert_allclose(D, pairwise_distances(X, metric="mahalanobis", V=ready.covariance), rtol=1e-8)
    # in other units the same
    assert_allclose(pairwise_distances(X * 10.0 ** np.arange(8), metric="mahalanobis"), D)


def test_a_repeated_column_is_shrunk_and_a_constant_one_left_out():
    X = rng.normal(size=(30, 2))
    twice = Mahalanobis().prepare(np.column_stack([X, X[:, 0]]))
    assert twice.note.startswith("V is singular: shrunk towards its diagonal")
    still = np.column_stack([X, np.full(30, 0.1)])
    ready = Mahalanobis().prepare(still)
    assert ready.note == "column 2 does not vary and was left out"
    assert_allclose(ready.pairwise(still), pairwise_distances(X, metric="mahalanobis"))
    standard = StandardizedEuclidean().prepare(still)
    assert standard.note == "column 2 does not vary and was left out"
    assert_allclose(standard.pairwise(still), pairwise_distances(X, metric="seuclidean"))


def test_matrices_that_are_none():
    with pytest.raises(ValueError, match="not both"):
        Mahalanobis(V=np.eye(2), VI=np.eye(2))
    with pytest.raises(ValueError, match="square matrix"):
        Mahalanobis(V=np.ones((2, 3)))
    with pytest.raises(ValueError, match="negative eigenvalue"):
        Mahalanobis(V=[[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="negative eigenvalue"):
        Mahalanobis(VI=[[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="two rows"):
        Mahalanobis().prepare([[1.0, 2.0]])
    with pytest.raises(ValueError, match="above 0"):
        StandardizedEuclidean(V=[1.0, 0.0])
    with pytest.raises(ValueError, match="prepare"):
        Mahalanobis().embed([[1.0, 2.0]])
    with pytest.raises(ValueError, match="V is for 2 columns"):
        Mahalanobis(V=np.eye(2)).pairwise(np.ones((2, 3)))


def test_a_singular_inverse_ignores_a_direction():
    D = Mahalanobis(VI=[[1.0, 0.0], [0.0, 0.0]]).pairwise([[0.0, 0.0]], [[3.0, 4.0]])
    assert_allclose(D, 3.0)


def test_embedded_rows_keep_their_digits_far_from_the_origin():
    X = np.arange(12.0).reshape(6, 2) ** 2
    for distance in (Mahalanobis(), StandardizedEuclidean(V=[1.0, 4.0])):
        near = distance.prepare(X).embed(X)
        far = distance.prepare(X + 2.0**40).embed(X + 2.0**40)
        assert_allclose(far - far[0], near - near[0], rtol=1e-9, atol=1e-12)


# --- your own -------------------------------------------------------------------------------------


def test_functions_of_blocks_and_of_rows_give_the_same():
    A, B = rng.normal(size=(300, 3)), rng.normal(size=(270, 3))
    calls = []

    def blocks(a, b, power=1):
        calls.append((len(a), len(b)))
        return (np.abs(a[:, None] - b) ** power).sum(axis=2)

    expected = pairwise_distances(A, B, "manhattan")
    assert_allclose(pairwise_distances(A, B, blocks), expected)
    assert len(calls) == 1 + 4
    assert max(calls) <= (256, 256)
    rows = pairwise_distances(A[:20], B[:10], lambda a, b: np.abs(a - b).sum())
    assert_allclose(rows, expected[:20, :10])
    squares = pairwise_distances(A, B, blocks, power=2)
    assert_allclose(squares, pairwise_distances(A, B, "sqeuclidean"))


@pytest.mark.parametrize("p", [1, 2, 3, 5, 7])
def test_a_product_of_two_rows_is_not_taken_for_one_of_blocks(p):
    A = rng.normal(size=(6, p))
    result = pairwise_distances(A, metric=lambda a, b: 1 - np.dot(a, b))
    assert_allclose(result, 1 - A @ A.T)
    with pytest.raises(TypeError, match="user's function"):
        UserDistance(np.dot).parameters()


def test_functions_that_return_something_else():
    A = np.ones((3, 2))

    def short(a, b):
        return np.zeros((len(a), len(b))) if len(a) == 5 else np.zeros(3)

    with pytest.raises(ValueError, match=r"short returned an array of shape \(3,\)"):
        pairwise_distances(A, metric=short)

    def unknown(a, b):
        return np.full((len(a), len(b)), np.nan)

    with pytest.raises(ValueError, match="unknown is NaN for rows 0 and 0"):
        pairwise_distances(A, metric=unknown)
    with pytest.raises(TypeError, match="not a function"):
        UserDistance(3)
    with pytest.raises(ValueError, match="metric=3"):
        get_distance(3)


def test_haversine_is_scikit_learns_and_needs_places():
    from sklearn.metrics.pairwise import haversine_distances

    places = np.radians(rng.uniform(-80, 80, size=(10, 2)))
    D = pairwise_distances(places, metric="haversine")
    assert_allclose(D, haversine_distances(places), rtol=1e-9, atol=1e-12)
    assert_array_equal(get_distance("haversine").paired(places, places), 0)
    with pytest.raises(ValueError, match="2 columns, latitude and longitude"):
        pairwise_distances(np.ones((2, 3)), metric="haversine")


@pytest.mark.parametrize("name", names())
def test_distances_are_cloned_and_compared_by_what_they_hold(name):
    distance = get_distance(name)
    assert clone(distance, safe=False) == distance
    assert (distance == 3) is False
    assert distance.formula or name in ("dice", "jaccard", "rogerstanimoto", "russellrao",
                                        "sokalsneath", "yule")  # fmt: skip
