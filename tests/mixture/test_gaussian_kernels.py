"""Compiled densities and moments of normal components against what they are defined as."""

import subprocess
import sys

import numpy as np
import pytest

from certus.kernels.mixture import diagonal_gaussians, gaussians

STRIP_ROWS, TILE_STRIPS = gaussians.STRIP_ROWS, gaussians.TILE_STRIPS
SHAPES = [
    (p, k, n)
    for p, k in ((1, 1), (2, 3), (5, 2), (15, 2), (16, 3), (17, 2), (21, 1))
    for n in (1, STRIP_ROWS - 1, STRIP_ROWS, TILE_STRIPS * STRIP_ROWS + 3, 1100)
]


def problem(p, k, n, seed=0):
    rng = np.random.default_rng([seed, p, k, n])
    Z, mu = rng.normal(size=(p, n)), rng.normal(size=(k, p))
    return Z, mu, rng.uniform(size=(k, n)), rng


def differences(Z, mu):
    return Z[None] - mu[:, :, None]


@pytest.mark.parametrize(("p", "k", "n"), SHAPES)
def test_log_densities_are_those_of_whitened_differences(p, k, n):
    Z, mu, _, rng = problem(p, k, n)
    U = np.triu(rng.normal(size=(k, p, p)))
    out = np.full((k, n), np.nan)
    b = rng.normal(size=k)
    gaussians.log_densities(Z, mu, gaussians.pack(U), b, out)
    V = np.einsum("kji,kjr->kir", U, differences(Z, mu))
    np.testing.assert_allclose(out, b[:, None] - (V**2).sum(axis=1) / 2, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.1, 0.0])
@pytest.mark.parametrize(("p", "k", "n"), SHAPES)
def test_moments_are_weighted_sums_of_products(p, k, n, share):
    Z, mu, w, rng = problem(p, k, n)
    w *= rng.uniform(size=w.shape) <= share  # few rows are gathered, none leave nothing
    A, S = np.full((k, p), np.nan), np.full((k, p, p), np.nan)
    gaussians.moments(Z, w, mu, A, S)
    Y = differences(Z, mu)
    np.testing.assert_allclose(A, np.einsum("kr,kjr->kj", w, Y), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(S, np.einsum("kr,kir,kjr->kij", w, Y, Y), rtol=1e-11, atol=1e-11)


def test_rows_that_are_left_out_change_no_digit():
    Z, mu, w, rng = problem(6, 2, 900)
    w *= np.where(rng.uniform(size=w.shape) < 0.1, 1.0, 1e-26)
    A, S = np.empty((2, 6)), np.empty((2, 6, 6))
    gaussians.moments(Z, w, mu, A, S)
    Y = differences(Z, mu)
    exact = np.einsum("kr,kir,kjr->kij", w, Y, Y)
    np.testing.assert_allclose(S, exact, rtol=1e-13, atol=1e-13 * np.abs(exact).max())


def test_a_component_of_tiny_weights_keeps_its_own_scale():
    Z, mu, w, _ = problem(4, 1, 200)
    A, S = np.empty((1, 4)), np.empty((1, 4, 4))
    gaussians.moments(Z, w, mu, A, S)
    B, T = np.empty((1, 4)), np.empty((1, 4, 4))
    gaussians.moments(Z, w * 2.0**-200, mu, B, T)
    np.testing.assert_array_equal(B * 2.0**200, A)
    np.testing.assert_array_equal(T * 2.0**200, S)


@pytest.mark.parametrize(("p", "k", "n"), SHAPES)
def test_diagonal_ones_too(p, k, n):
    Z, mu, w, rng = problem(p, k, n)
    u = rng.normal(size=(k, p))
    out, A, S = np.full((k, n), np.nan), np.full((k, p), np.nan), np.full((k, p), np.nan)
    b = rng.normal(size=k)
    diagonal_gaussians.log_densities(Z, mu, u, b, out)
    diagonal_gaussians.moments(Z, w, mu, A, S)
    Y = differences(Z, mu)
    half = ((Y * u[:, :, None]) ** 2).sum(axis=1) / 2
    np.testing.assert_allclose(out, b[:, None] - half, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(A, np.einsum("kr,kjr->kj", w, Y), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(S, np.einsum("kr,kjr->kj", w, Y**2), rtol=1e-11)


@pytest.mark.exhaustive
def test_kernels_of_normal_components_stay_inside_their_arrays(tmp_path):
    script = """
        import numpy as np
        from certus.kernels.mixture import diagonal_gaussians, gaussians
        for p, n in ((1, 3), (4, 70), (17, 150)):
            Z, mu, w = np.ones((p, n)), np.zeros((2, p)), np.ones((2, n))
            w[1, 5:] = 0.0
            out, A, S = np.empty((2, n)), np.empty((2, p)), np.empty((2, p, p))
            U = gaussians.pack(np.stack([np.eye(p)] * 2))
            gaussians.log_densities(Z, mu, U, np.zeros(2), out)
            gaussians.moments(Z, w, mu, A, S)
            diagonal_gaussians.log_densities(Z, mu, np.ones((2, p)), np.zeros(2), out)
            diagonal_gaussians.moments(Z, w, mu, A, S[0, :2] if p > 1 else np.empty((2, p)))
        print("fine")
    """
    import os
    import textwrap

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "fine", done.stderr
