"""Sparse X by its columns: taken as it comes where columns are all that is needed."""

import numpy as np
import pytest
import scipy.sparse as sp

from certus import verify
from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.linear_model import ElasticNet, Lasso, Ridge
from certus.solvers.linalg import sparse_columns


def draw(n=400, p=700, density=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, p, density, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    return X, X[:, :5] @ np.arange(1.0, 6) + rng.standard_normal(n) + 3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("threads", [1, 3])
def test_conversion_on_threads_is_that_of_scipy(dtype, index, threads, monkeypatch):
    monkeypatch.setattr(sparse_columns, "MIN_SHARED_ENTRIES", 0)
    X = draw()[0].astype(dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    found, expected = sparse_columns.by_columns(Rows(CSR(X), threads=threads)), X.tocsc()
    assert found.dtype == float
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_all_rows_in_one_block_and_columns_without_entries(monkeypatch):
    monkeypatch.setattr(sparse_columns, "MIN_SHARED_ENTRIES", 0)
    X = sp.csr_array(([1.0, 2.0, 3.0], ([4, 4, 4], [0, 2, 6])), shape=(6, 8))
    found = sparse_columns.by_columns(Rows(CSR(X)))
    np.testing.assert_array_equal(found.toarray(), X.toarray())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [lambda: Lasso(0.02), lambda: ElasticNet(0.05)])
@pytest.mark.parametrize("container", [sp.csc_array, sp.csc_matrix])
def test_columns_are_fitted_and_certified_without_rows(make, weighted, container, monkeypatch):
    X, y = draw()
    s = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    by_rows = make().fit(X, y, sample_weight=s)

    for layout in (sp.csc_array, sp.csc_matrix):
        convert = layout.tocsr

        def few(self, *args, convert=convert, **kwargs):
            assert self.shape != X.shape
            return convert(self, *args, **kwargs)

        monkeypatch.setattr(layout, "tocsr", few)
    model = make().fit(container(X), y, sample_weight=s)
    assert model.certificate_.certified
    assert model.certificate_.objective == pytest.approx(by_rows.certificate_.objective, rel=1e-12)
    assert model.certificate_.bound == pytest.approx(by_rows.certificate_.bound, rel=1e-5)
    assert by_rows.certificate_.fingerprint.differs(model.certificate_.fingerprint) is None


def test_columns_out_of_reach_of_squares_are_scaled_in_the_certificate_of_columns():
    X, y = draw()
    X = X.toarray()
    X[:, :3] *= 2.0**205
    alpha = 0.05 * 2.0**205
    model = Lasso(alpha).fit(sp.csc_array(X), y)
    other = Lasso(alpha).fit(sp.csr_array(X), y)
    assert model.certificate_.objective == pytest.approx(other.certificate_.objective, rel=1e-9)
    assert model.certificate_.certified
    assert other.certificate_.certified


def test_repeated_columns_are_named_in_either_layout():
    X, y = draw()
    X = sp.hstack([X, X[:, [4]]], format="csc")
    for layout in (X, X.tocsr()):
        notes = " ".join(Lasso(0.02).fit(layout, y).certificate_.notes)
        assert "unique" in notes


def test_an_edited_coefficient_is_refused_also_by_columns():
    X, y = draw()
    model = Lasso(0.02).fit(X.tocsc(), y)
    assert verify(model, X, y).certified
    assert verify(model, X.tocsc(), y).certified
    model.coef_[4] *= 1.01
    assert not verify(model, X.tocsc(), y).certified


def test_other_models_make_rows_when_they_need_them():
    X, y = draw()
    np.testing.assert_allclose(Ridge().fit(X.tocsc(), y).coef_, Ridge().fit(X, y).coef_, rtol=1e-9)


def test_rows_by_number_are_found_among_columns():
    X = draw()[0]
    source, i = CSR(X.tocsc()), np.array([3, 77, 5, 399])
    np.testing.assert_array_equal(source[i].toarray(), X[i].toarray())
    assert source.columns_only
    np.testing.assert_array_equal(source[2:9].toarray(), X[2:9].toarray())
    assert not source.columns_only


def test_row_numbers_that_were_tampered_with_are_refused():
    X = draw()[0].tocsc()
    X.indices[7] = 10**6
    with pytest.raises(ValueError, match=r"has 400 rows and an entry in row 1,000,000"):
        CSR(X)
