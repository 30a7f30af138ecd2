"""Columns that coordinate descent keeps, with their sums of products: H = X̂ᵀX̂."""

import numpy as np
import pytest
from scipy.sparse import csc_array

from certus.data.rows import Rows
from certus.linear_model import LassoCV
from certus.solvers.lasso.gram_cache import CachedDenseColumns, CachedSparseColumns


@pytest.mark.parametrize("parts", [[4, 3, 2], [7, 2], [3, 3, 3, 3], [8, 1]], ids=str)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_products_are_right_when_as_many_columns_as_rows_are_kept(layout, parts):
    n, p = 7, sum(parts)
    X = np.random.default_rng(0).normal(size=(n, p))
    root = np.sqrt(np.arange(1.0, n + 1) / n)
    kept = CachedDenseColumns(Rows(X, None, root**2), root, True)
    if layout == "sparse":
        kept = CachedSparseColumns(csc_array(X), root, True)
    for end in np.cumsum(parts):
        kept.add(np.arange(end)[-parts[list(np.cumsum(parts)).index(end)] :])
    Z = root[:, None] * (X - root**2 @ X / (root @ root))
    np.testing.assert_allclose(kept.H[:p, :p], Z.T @ Z, atol=1e-12)
    r = np.arange(n) - 2.0
    np.testing.assert_allclose(kept.transposed(r), Z.T @ r, atol=1e-12)
    np.testing.assert_allclose(kept.times(np.arange(p), np.ones(p)), Z.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_raw_expression_levels_are_cross_validated(seed):
    """As a microarray: 30 rows, columns far apart in scale, so that a fold keeps many of them."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.lognormal(4, 2, size=(30, 700)) * rng.normal(1, 0.3, size=(30, 700)))
    y = (rng.random(30) < 0.4).astype(float)
    model = LassoCV(cv=3).fit(X, y)
    assert model.certificate_.certified
    assert np.isfinite(model.mse_path_).all()
