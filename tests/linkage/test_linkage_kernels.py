"""Compiled inner loops of linkage against plain NumPy."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from certus.kernels.linkage import (
    boruvka,
    chain,
    matrix,
    trees,
    vectors,
)
from certus.solvers.linkage import panels
from certus.solvers.linkage.centers import CenterArrays

ALL = boruvka, chain, matrix, trees, vectors


@pytest.mark.parametrize("module", ALL, ids=lambda m: m.__name__.split(".")[-1])
def test_every_kind_compiles_ahead(module):
    module.warm()
    for kernel in module._KERNELS.values():
        assert kernel.signatures


@pytest.mark.parametrize("module", [chain, matrix], ids=["chain", "matrix"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 5, 127, 128, 129, 1000])
def test_nearest_is_the_first_of_the_least(module, dtype, m):
    rng = np.random.default_rng(m)
    for row in (rng.integers(0, 50, m), np.arange(m)[::-1], np.zeros(m), rng.normal(size=m)):
        row = np.append(row, -1e9).astype(dtype)  # beyond m: must be ignored
        least, place = module._nearest(row, m)
        assert (least, place) == (row[:m].min(), row[:m].argmin())


def test_nearest_passes_by_what_is_dead():
    row = np.array([np.inf, np.nan, 3.0, np.nan, 2.0, np.inf])
    assert chain._nearest(row, 6) == (2.0, 4)


@pytest.mark.parametrize("n", [2, 3, 50])
def test_a_row_of_a_condensed_matrix_is_that_of_the_square_one(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    D, row = squareform(pdist(X)), np.empty(n)
    for i in range(n):
        row[i] = 0
        matrix._unfold(pdist(X), n, i, row)
        assert np.array_equal(row, D[i])


@pytest.mark.parametrize("code", range(4))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_that_catches_up_has_the_bits_of_the_row_that_was_joined(code, dtype):
    rng = np.random.default_rng(code)
    m, na, nb, h = 300, 3.0, 5.0, 0.25
    A, B = (rng.random((2, m)) + 0.5).astype(dtype)
    size = rng.integers(1, 9, m).astype(float)
    joined = A.copy()
    chain._join(code, joined, B, m, na, nb, h, size)
    log, of = np.array([[0, 1]]), np.array([[h, na / (na + nb) if code == 1 else na, nb]])
    for j in range(m):
        row = np.array([A[j], B[j]])
        chain._catch_up(code, row, size[j], 0, 1, log, of)
        assert row[0] == joined[j]
        assert row[1] == np.inf
        assert row[0] >= min(A[j], B[j])  # reducible, whatever rounding does


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 3, 4, 7, 16, 33])
@pytest.mark.parametrize("spread", [1.0, 1e-4, 1e-7])
def test_the_filter_misses_no_row_that_is_nearer(dtype, p, spread):
    """The nearest by the filter is that by differences, even if all distances are nearly equal."""
    rng = np.random.default_rng(p)
    X = 1.0 + spread * rng.normal(size=(333, p))
    X[0] = -1.0
    c = CenterArrays(X, "centroid")
    c.use_dtype(dtype)
    vectors.first(c, 0, 333, c.counts)
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    for i in range(1, 333):
        assert c.value[i] == pytest.approx(D[i, :i].min(), rel=1e-9)
        assert D[i, c.nn[i]] == pytest.approx(D[i, :i].min(), rel=1e-9)


def test_panels_hold_the_rows_centred_and_scaled():
    X = np.random.default_rng(0).normal(size=(150, 5)) * 100 + 1e6
    of = panels.scale_of(X)
    flat = panels.panels_of(lambda s: (X[s] - of.middle) * of.scale, 150, 5, 3, np.float64)
    back = flat.reshape(3, 5, 64).transpose(0, 2, 1).reshape(-1, 5)
    np.testing.assert_allclose(back[:150] / of.scale + of.middle, X, rtol=1e-15)
    assert not back[150:].any()
    assert 0.5 < np.linalg.norm(back, axis=1).max() <= 1
    assert of.scale == 2.0 ** np.round(np.log2(of.scale))


def test_numbers_and_sizes_are_scipys():
    X = np.random.default_rng(0).normal(size=(200, 2))
    Z = linkage(X, "average")
    member = {i: i for i in range(200)}  # a row of each cluster
    merges = Z.copy()
    for t, (i, j, _, _) in enumerate(Z):
        merges[t, :2] = member[int(i)], member[int(j)]
        member[200 + t] = member[int(j)]
    merges[:, 3] = 0
    trees.number(200, merges)
    assert np.array_equal(merges, Z)
    merges[:, 3] = 0
    trees.sizes(200, merges)
    assert np.array_equal(merges, Z)


def test_merges_of_rows_that_are_not_there_are_refused():
    merges = np.array([[0.0, 7.0, 1.0, 0.0]])
    with pytest.raises(ValueError, match="not of clusters below 5"):
        trees.number(5, merges)
    with pytest.raises(ValueError, match="not of clusters below 6"):
        trees.sizes(5, merges)
