"""The compiled sums over pairs: any edges, no more signatures than needed, clear refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from certus.distances import blocks
from certus.kernels import _compile
from certus.kernels import distances as kernels

rng = np.random.default_rng(2)
KINDS = {
    kernels.ABSOLUTE: lambda d, w, a, b: (w * np.abs(d)).sum(-1),
    kernels.SQUARED: lambda d, w, a, b: (d**2).sum(-1),
    kernels.WEIGHTED_SQUARED: lambda d, w, a, b: (w * d**2).sum(-1),
    kernels.MAXIMUM: lambda d, w, a, b: (w * np.abs(d)).max(-1, initial=0),
    kernels.POWER: lambda d, w, a, b: (w * np.abs(d) ** 3).sum(-1),
    kernels.MISMATCH: lambda d, w, a, b: (w * (d != 0)).sum(-1),
    kernels.CANBERRA: lambda d, w, a, b: (w * np.abs(d) / (np.abs(a) + np.abs(b))).sum(-1),
    kernels.PRODUCT: lambda d, w, a, b: (a * b).sum(-1),
}


def test_blocks_and_kernels_mean_the_same_kinds():
    for name in ("ABSOLUTE", "SQUARED", "WEIGHTED_SQUARED", "MAXIMUM", "POWER", "MISMATCH",
                 "CANBERRA", "PRODUCT"):  # fmt: skip
        assert getattr(blocks, name) == getattr(kernels, name)
    assert blocks.BLOCK_ROWS == kernels.LANES


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("features", [0, 1, 3, 4, 31, 32, 33, 65])
@pytest.mark.parametrize("m", [1, 63, 64, 130])
def test_sums_at_every_edge_of_lanes_and_features(kind, features, m):
    A, B = rng.normal(size=(5, features)), rng.normal(size=(m, features))
    w = rng.random(features)
    D = np.full((5, m), np.nan)
    kernels.all_pairs(A, kernels.panels_of(B), w, kind, 3.0, D)
    a, b = A[:, None], B[None]
    assert_allclose(D, KINDS[kind](a - b, w, a, b), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("p", [1.5, 5.0, 32.0, 33.0])
def test_powers(p):
    A, B, w = rng.normal(size=(3, 9)), rng.normal(size=(70, 9)), rng.random(9)
    D = np.empty((3, 70))
    kernels.all_pairs(A, kernels.panels_of(B), w, kernels.POWER, p, D)
    assert_allclose(D, (w * np.abs(A[:, None] - B) ** p).sum(-1), rtol=1e-12)


def test_pulls_are_the_sums_they_stand_for():
    A, B, C = rng.normal(size=(5, 7)), rng.normal(size=(70, 7)), rng.normal(size=(5, 70))
    size = np.abs(A[:, None] - B)
    assert_allclose(blocks.absolute_vjp(A, B, C), (C[..., None] * size).sum((0, 1)), rtol=1e-11)
    for sign in (-1, 1):
        square = (A[:, None] + sign * B) ** 2
        assert_allclose(
            blocks.squared_vjp(A, B, C, sign, 2), (C[..., None] * square).sum((0, 1)), rtol=1e-11
        )


def test_one_signature_each():
    kernels.warm()
    counts = _compile.n_signatures()
    for name in ("_all_pairs", "_shared", "_absolute_vjp"):
        assert counts[f"certus.kernels.distances.{name}"] == 1


def test_what_does_not_match_is_refused_before_memory_is_touched():
    A, panels, w = np.ones((3, 2)), kernels.panels_of(np.ones((5, 2))), np.ones(2)
    with pytest.raises(ValueError, match="do not match"):
        kernels.all_pairs(A, panels, w, 0, 1.0, np.empty((3, 65)))
    with pytest.raises(ValueError, match="do not match"):
        kernels.all_pairs(A.astype(np.float32), panels, w, 0, 1.0, np.empty((3, 5)))
    with pytest.raises(ValueError, match="do not match"):
        kernels.all_pairs(A, panels, w, 0, 1.0, np.empty((5, 3)).T)
    with pytest.raises(ValueError, match="weights"):
        kernels.all_pairs(A, panels, np.ones(3), 0, 1.0, np.empty((3, 5)))
    with pytest.raises(ValueError, match="numbers"):
        kernels.shared_features(A, panels, w, np.ones(3), np.zeros(2), *np.empty((2, 3, 5)))
    with pytest.raises(ValueError, match="do not match"):
        kernels.absolute_vjp(A, panels, np.ones((3, 5)))
