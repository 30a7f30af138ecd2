"""Distances of rows with missing values and of mixed columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import nan_euclidean_distances

from certus.distances import Gower, NanEuclidean, get_distance, pairwise_distances
from certus.proofs import distances as definition

rng = np.random.default_rng(11)


def with_gaps(n, p=6, share=0.3):
    X = rng.normal(size=(n, p))
    X[rng.random((n, p)) < share] = np.nan
    return X


# --- nan_euclidean --------------------------------------------------------------------------------


def test_nan_euclidean_is_scikit_learns():
    A, B = with_gaps(70), with_gaps(66, share=0.6)
    B[3] = np.nan
    expected = nan_euclidean_distances(A, B)
    assert_allclose(pairwise_distances(A, B, "nan_euclidean"), expected, rtol=1e-9)
    assert np.isnan(expected[:, 3]).all()


@pytest.mark.parametrize("min_overlap", [1, 3, 0.5, 0.01])
def test_nan_euclidean_is_its_definition_and_symmetric(min_overlap):
    A = with_gaps(130, share=0.5)
    distance = NanEuclidean(min_overlap=min_overlap)
    D = distance.pairwise(A)
    truth = definition.paired(A[:, None], A[None], "nan_euclidean", min_overlap=min_overlap)
    assert_allclose(D, truth, rtol=1e-12)
    assert_array_equal(D, D.T)
    assert_array_equal(D, distance.pairwise(A, threads=1))
    assert_allclose(distance.paired(A[:-1], A[1:]), np.diag(truth, 1), rtol=1e-12)


def test_complete_rows_have_the_plain_distance():
    A = rng.normal(size=(20, 4)) + 1e8
    assert_allclose(pairwise_distances(A, metric="nan_euclidean"), pairwise_distances(A))


def test_rows_that_nobody_can_be_compared_with_are_flagged():
    A = np.array([[np.nan, np.nan, np.nan], [1.0, 2.0, np.nan], [1.0, 2.0, 3.0]])
    ((code, rows, message),) = NanEuclidean().flags(A)
    assert (code, rows.tolist()) == ("too few known", [0])
    assert message == "1 row with fewer than 1 known feature (row 0) cannot be compared"
    assert NanEuclidean(min_overlap=3).flags(A)[0][1].tolist() == [0, 1]
    assert Gower().flags(A)[0][1].tolist() == [0]


@pytest.mark.parametrize("min_overlap", [0, -1, np.inf, "3", True, None])
def test_overlaps_that_mean_nothing(min_overlap):
    for name in ("gower", "nan_euclidean"):
        with pytest.raises(ValueError, match="min_overlap"):
            get_distance(name, min_overlap=min_overlap)


# --- gower ----------------------------------------------------------------------------------------


def mixed(n):
    X = np.empty((n, 4), dtype=object)
    X[:, 0] = rng.normal(size=n) * 10
    X[:, 1] = rng.choice(["red", "green", "blue"], n)
    X[:, 2] = rng.integers(0, 5, n)
    X[:, 3] = rng.choice(["yes", "no"], n)
    X[rng.random((n, 4)) < 0.2] = None
    return X


def ranges_of(X, columns=(0, 2)):
    return [
        np.nanmax(X[:, l].astype(float)) - np.nanmin(X[:, l].astype(float)) if l in columns else 0
        for l in range(X.shape[1])
    ]  # fmt: skip


@pytest.mark.parametrize("params", [{}, {"w": [1.0, 0.5, 0.0, 2.0]}, {"min_overlap": 3},
                                    {"w": [1.0, 0.5, 1.0, 2.0], "min_overlap": 0.5}])  # fmt: skip
def test_gower_is_its_definition(params):
    A = mixed(75)
    ready = Gower(**params).prepare(A)
    mask = np.array([False, True, False, True])
    truth = definition.paired(
        A[:, None], A[None], "gower", ranges=ranges_of(A), categorical=mask, **params
    )
    D = ready.pairwise(A)
    assert_allclose(D, truth, rtol=1e-12, atol=1e-15)
    assert_array_equal(D, D.T)
    assert_array_equal(Gower(**params).pairwise(A), D)
    assert_array_equal(ready.pairwise(A, A.copy()), D)
    assert_array_equal(ready.compare(ready.read(A), ready.read(A)), D)
    assert_allclose(ready.paired(A[:-1], A[1:]), np.diag(truth, 1), rtol=1e-12, atol=1e-15)


def test_gower_by_hand():
    A = np.array([[1.0, "a"], [3.0, "b"], [None, "a"]], dtype=object)
    assert_allclose(Gower().pairwise(A), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert_allclose(Gower(ranges=[4.0, 0]).pairwise(A)[0, 1], (0.5 + 1) / 2)


@pytest.mark.parametrize("make", [
    lambda d: pd.DataFrame(d), lambda d: pl.DataFrame(d),
    lambda d: pd.DataFrame(d).astype({"colour": "category"}),
])  # fmt: skip
def test_frames_say_which_columns_are_categories(make):
    data = {
        "age": [20.0, 30.0, None, 60.0], "colour": ["red", "blue", "red", None],
        "member": [True, False, True, True], "visits": [1, 2, 3, 4],
    }  # fmt: skip
    table = np.array(list(zip(*data.values(), strict=True)), dtype=object)
    D = pairwise_distances(make(data), metric="gower")
    assert_allclose(D, Gower(categorical=[1, 2]).pairwise(table), rtol=1e-14)
    assert_allclose(D, Gower(categorical=["colour", "member"]).pairwise(make(data)), rtol=1e-14)


def test_frames_need_no_names_and_categories_no_order():
    X = pd.DataFrame([[1.0, "a"], [2.0, "b"], [3.0, "a"]])
    expected = [[0, 0.75, 0.5], [0.75, 0, 0.75], [0.5, 0.75, 0]]
    assert_allclose(pairwise_distances(X, metric="gower"), expected)
    assert_allclose(pairwise_distances(X.to_numpy().tolist(), metric="gower"), expected)
    assert_allclose(pairwise_distances(X.to_numpy().astype("U"), metric="gower")[0, 2], 0.5)


def test_numbers_may_be_categories():
    A = np.array([[1.0, 5.0], [2.0, 5.0], [9.0, 7.0]])
    D = pairwise_distances(A, metric="gower", categorical=[0])
    assert_allclose(D, [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]])
    mask = pairwise_distances(A, metric="gower", categorical=[True, False])
    assert_array_equal(mask, D)
    assert_allclose(pairwise_distances(A, metric="gower", categorical=None)[0, 1], (1 / 8 + 0) / 2)


def test_new_categories_differ_from_all_and_from_each_other():
    ready = Gower().prepare(np.array([["a"], ["b"]], dtype=object))
    Q = np.array([["c"], ["d"], ["a"]], dtype=object)
    X = np.array([["a"], ["c"]], dtype=object)
    assert_array_equal(ready.pairwise(Q, X), [[1, 0], [1, 1], [0, 1]])
    assert_array_equal(ready.pairwise(Q), 1 - np.eye(3))
    codes = ready.read(np.array([["b"], ["z"], [None]], dtype=object))
    assert codes[0, 0] == 1
    assert codes[1, 0] not in (0, 1)
    assert np.isnan(codes[2, 0])


def test_a_column_that_does_not_vary_counts_only_for_rows_that_differ_from_it():
    X = np.array([[1.0, 5.0], [3.0, 5.0]])
    ready = Gower().prepare(X)
    assert_allclose(ready.pairwise(X)[0, 1], 0.5)
    assert_allclose(ready.pairwise([[1.0, 6.0]], X), [[0.5, 1.0]])


def test_gower_does_not_depend_on_shifts_and_units():
    X = rng.normal(size=(20, 3))
    D = pairwise_distances(X, metric="gower")
    moved = pairwise_distances(X * [1e-3, 1.0, 1e6] + [1e3, -1e3, 1e9], metric="gower")
    assert_allclose(moved, D, atol=1e-9)
    assert D.max() <= 1


@pytest.mark.parametrize(("given", "message"), [
    ({"categorical": "all"}, "categorical='all'"), ({"categorical": [7]}, "no column 7"),
    ({"categorical": ["name"]}, "no column 'name'"), ({"categorical": None}, "contains 'a'"),
    ({"ranges": [1.0]}, "ranges is for 1 column"), ({"ranges": [-1.0, 0]}, r"ranges\[0\]"),
    ({"w": [1.0]}, "w is for 1 column"),
])  # fmt: skip
def test_gower_refuses_in_words(given, message):
    with pytest.raises(ValueError, match=message):
        Gower(**given).pairwise(np.array([[1.0, "a"], [2.0, "b"]], dtype=object))


def test_gower_knows_nothing_before_it_is_prepared():
    with pytest.raises(ValueError, match="prepare"):
        Gower().read([[1.0]])
    with pytest.raises(ValueError, match="Expected 2D"):
        Gower().pairwise([1.0])
    ready = Gower().prepare([[1.0, 2.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match="2 columns"):
        ready.pairwise([[1.0]])
