"""LogisticRegression: every kind of input gives the same fit."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import certus
from certus.linear_model import LogisticRegression
from tests.contract.problems import classification, weights
from tests.references.logistic_peers import agree, classes

KINDS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "Fortran order": np.asfortranarray,
    "a view": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "lists": lambda X: X.tolist(),
    "a frame": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr matrix": sparse.csr_matrix,
    "lil": sparse.lil_array,
}


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


@classes
@pytest.mark.parametrize("kind", [*KINDS, "read only"])
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_the_same_numbers_in_another_dress_are_the_same_fit(K, kind, solver):
    X, y, _ = classification(6, classes=K)
    X = np.round(8 * X) / 8 * (np.abs(X) > 0.3)  # some zeros; exact in half precision
    s = weights(6, len(X))
    plain = LogisticRegression(solver=solver, tol=1e-12).fit(X, y, s)
    dressed = {**KINDS, "read only": read_only}[kind](X)
    model = LogisticRegression(solver=solver, tol=1e-12).fit(dressed, y, s)
    agree(model, plain)
    np.testing.assert_allclose(model.predict_proba(dressed), plain.predict_proba(X), atol=1e-7)
    assert model.certificate_.certified
    assert model.coef_.dtype == np.float64
    assert certus.verify(model, dressed, y, s).certified


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool])
@classes
def test_whole_numbers_and_truth_values_are_numbers(dtype, K):
    X, y, _ = classification(6, classes=K)
    X = np.clip(np.round(40 * X), -128, 127) if dtype == np.int8 else np.round(2 * X) > 0
    X = X.astype(dtype)
    model = LogisticRegression(tol=1e-10).fit(X, y)
    agree(model, LogisticRegression(tol=1e-10).fit(X.astype(float), y), 1e-8)
    assert model.certificate_.certified


def test_memory_maps_are_read_in_place(tmp_path):
    X, y, _ = classification(6)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r"), np.load(tmp_path / "y.npy", mmap_mode="r")
    agree(LogisticRegression().fit(*on_disk), LogisticRegression().fit(X, y), 1e-12)


@classes
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_explicit_zeros_duplicates_and_unsorted_indices_of_sparse_rows(K, solver):
    X, y, _ = classification(6, classes=K)
    X = X * (np.abs(X) > 1)
    row, column = np.nonzero(X)
    value = X[row, column]
    # each entry as two halves, in a random order, and a zero in every place that has none
    zero = np.argwhere(X == 0)
    row = np.r_[row, row, zero[:, 0]]
    column = np.r_[column, column, zero[:, 1]]
    value = np.r_[value / 2, value / 2, np.zeros(len(zero))]
    order = np.random.default_rng(0).permutation(len(row))
    odd = sparse.coo_array((value[order], (row[order], column[order])), shape=X.shape)
    before = odd.data.copy()
    model = LogisticRegression(solver=solver, tol=1e-12).fit(odd, y)
    agree(model, LogisticRegression(solver=solver, tol=1e-12).fit(X, y))
    np.testing.assert_array_equal(odd.data, before)
    assert certus.verify(model, odd, y).certified


def test_sparsify_keeps_predictions_and_the_certificate():
    X, y, _ = classification(6, p=8)
    model = LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, y)
    assert (model.coef_ == 0).any()
    before = model.predict_proba(X)
    assert model.sparsify() is model
    assert sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert certus.verify(model, X, y).certified
    assert not sparse.issparse(model.densify().coef_)
    model.sparsify().set_params(warm_start=True).fit(X, y)
    assert not sparse.issparse(model.coef_)
