"""The bounds on rounding in certificates of mixtures, against Arb's balls."""

import numpy as np
import pytest

import certus
from certus.certificate.findings import MixtureFinding, finding_of
from certus.mixture import GaussianMixture
from certus.proofs.mixture import _rounding
from certus.proofs.mixture._accurate_scatter import scatter
from certus.proofs.mixture._accurate_whitening import accurate_matrix_product, whiten
from certus.proofs.mixture._gaussian_components import Normals
from certus.proofs.mixture._sums import add_error_sums, log_sum_exp, row_error_sums, zero_error_sums
from tests.mixture.mixture_cases import drawn, start

flint = pytest.importorskip("flint")
CONDITIONS = [1e2, 1e8, 1e12, 1e15, 1e18]


@pytest.fixture(autouse=True)
def digits():
    old, flint.ctx.prec = flint.ctx.prec, 400
    yield
    flint.ctx.prec = old


def exact(A):
    return flint.arb_mat([[flint.arb(float(v)) for v in row] for row in np.atleast_2d(A)])


def floats(A):
    """The middles of the balls."""
    return np.array([[float(A[i, j].mid()) for j in range(A.ncols())] for i in range(A.nrows())])


def nearly_singular(condition, p=5, seed=0):
    """A covariance matrix as a sum of two floats: beyond 1e16 one has too few digits."""
    rng = np.random.default_rng(seed)
    A = exact(rng.normal(size=(p, p)))
    scale = exact(np.diag(np.geomspace(1.0, condition**-0.5, p)))
    C = A * scale * (A * scale).transpose()
    high = floats(C)
    low = floats(C - exact(high))
    return 0.5 * (high + high.T), 0.5 * (low + low.T)


def whitening_errors(C, low, found):
    """‖W(C + low)Wᵀ − I‖ and the error of log|C|."""
    exact_C = exact(C) + exact(low)
    W = exact(found.W)
    R = floats(W * exact_C * W.transpose() - exact(np.eye(len(C))))
    return np.linalg.norm(R), abs(float((exact_C.det().log() - found.log_det).mid()))


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("seed", range(4))
def test_whitening_is_as_exact_as_it_says(condition, seed):
    C, low = nearly_singular(condition, seed=seed)
    if condition <= 1e8:
        found, low = whiten(C), 0 * low
    elif condition <= 1e15:
        found = whiten(C, low)
    else:  # the first digits alone may be those of no covariance matrix
        try:
            found = whiten(C, low)
        except np.linalg.LinAlgError:
            return
    assert np.isfinite(found.R) or condition > 1e12
    if np.isfinite(found.R):
        R, of_log_det = whitening_errors(C, low, found)
        assert R <= found.R
        assert of_log_det <= found.log_det_error


@pytest.mark.parametrize("condition", [1e10, 1e18])
def test_columns_of_other_units_cost_no_digits(condition):
    C, _ = nearly_singular(10.0)
    q = np.geomspace(1.0, condition**-0.5, len(C))
    C = C * q * q[:, None]
    found = whiten(C)
    R, of_log_det = whitening_errors(C, 0 * C, found)
    assert R <= found.R <= 1e-11
    assert of_log_det <= found.log_det_error <= 1e-11


def test_bounds_of_whitening_would_not_hold_at_a_tenth():
    """Some matrix uses more than a tenth of each bound."""
    shares = []
    for seed in range(12):
        C, _ = nearly_singular(1e8, seed=seed)
        found = whiten(C)
        R, of_log_det = whitening_errors(C, 0 * C, found)
        shares.append((R / found.R, of_log_det / found.log_det_error))
    largest = np.max(shares, axis=0)
    assert (largest > 0.1).all()
    assert (largest <= 1).all()


@pytest.mark.parametrize("shape", [(3, 7, 4), (6, 1000, 6), (4, 3000, 5)])
def test_products_of_slices_are_as_exact_as_they_say(shape):
    rng = np.random.default_rng(1)
    n, m, k = shape
    A = rng.normal(size=(n, m)) * np.exp2(rng.integers(-20, 20, size=(n, m)))
    B = rng.normal(size=(m, k))
    high, low, error = accurate_matrix_product(A, B)
    off = floats(exact(A) * exact(B) - exact(high) - exact(low))
    assert (np.abs(off) <= error).all()
    size = np.abs(A) @ np.abs(B)
    assert (error <= 1e-19 * np.abs(A).max() * m).all()
    assert (np.abs(off) <= 1e-20 * size.max()).all()


@pytest.mark.parametrize("condition", [1e4, 1e12, 1e18])
def test_scatter_has_twice_the_digits(condition):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3)) * np.geomspace(1, condition**-0.5, 3) + 1.0
    X[:, 1] += X[:, 0]
    X[:, 2] += X[:, 0] - X[:, 1]
    mean = X.mean(axis=0)
    theta = Normals("full", mean[None], np.eye(3)[None])
    S, low = scatter(X, None, None, np.ones(1), theta, mean[None], (1, 3, 3))
    U = exact(X) - exact(np.tile(mean, (60, 1)))
    off = np.abs(floats(U.transpose() * U - exact(S[0]) - exact(low[0])))
    size = np.sum((X - mean) ** 2, axis=0)
    assert (off <= 2.0**-77 * 60 * np.sqrt(np.outer(size, size))).all()


def weighted(X, pi, theta):
    p = theta.log_densities(X)
    J = p + np.log(pi)[:, None]
    each = log_sum_exp(J)
    return p, each, np.exp(J - each)


@pytest.mark.parametrize("far", [1.0, 30.0, 1e6])
def test_errors_by_sums_are_those_row_by_row(far, monkeypatch):
    """Sums are the same; what r is off by is bounded in two ways, a factor of three apart."""
    X = drawn(3, n=80)
    pi, theta = start(X, 3, "full")
    X[0] *= far
    p, each, w = weighted(X, pi, theta)
    args = (X, None, p, each, w, pi, theta)
    cheap = row_error_sums(*args)
    assert (theta.errors_by_sums(X, p, w) is None) == (far > 1e3)
    monkeypatch.setattr(Normals, "errors_by_sums", lambda *_: None)
    careful = row_error_sums(*args)
    assert cheap.shape == careful.shape == zero_error_sums(3).shape
    assert cheap[1].sum() == pytest.approx(careful[1].sum())
    for row in (0, 2, 3, 6, 7):
        assert (cheap[row] >= careful[row] * (1 - 1e-6)).all()
    for row in (4, 5, 8):
        assert (cheap[row] >= careful[row] / 9).all()


def exact_log_density(x, mean, C):
    """Log densities of the entries that are there."""
    o = np.flatnonzero(~np.isnan(x))
    u = exact(x[o, None]) - exact(mean[o, None])
    C = exact(C[np.ix_(o, o)])
    m = (u.transpose() * C.inv() * u)[0, 0]
    return -(m + C.det().log() + len(o) * (2 * flint.arb.pi()).log()) / 2


@pytest.mark.parametrize("condition", [1e2, 1e8, 1e12])
@pytest.mark.parametrize("missing", [False, True])
def test_log_densities_are_as_exact_as_they_say(condition, missing):
    C, _ = nearly_singular(condition)
    rng = np.random.default_rng(4)
    mean = 10 * rng.normal(size=5)
    X = mean + rng.multivariate_normal(np.zeros(5), C, size=20, check_valid="ignore")
    if missing:
        X[rng.uniform(size=X.shape) < 0.3] = np.nan
        X = X[~np.isnan(X).all(axis=1)]
    theta = Normals("full", mean[None], C[None])
    p = theta.log_densities(X)
    _, delta = theta.density_errors(X, p)
    off = [
        abs(float((exact_log_density(x, mean, C) - v).mid())) for x, v in zip(X, p[0], strict=True)
    ]
    assert (off <= delta[0]).all()
    assert (theta.errors_by_sums(X, p, np.ones(p.shape)) is None) >= missing


@pytest.mark.parametrize("heavy", [1e8, 1e12])
def test_rows_of_very_different_weights_are_proven(heavy):
    """One component: no error of a log density can move a responsibility."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    s = np.ones(12)
    s[:3] = heavy
    model = GaussianMixture(1, covariance_type="tied", random_state=0).fit(X, sample_weight=s)
    assert model.certificate_.certified
    assert finding_of(model.certificate_, MixtureFinding).rounding < 1e-9


def test_a_row_that_nothing_is_known_of_is_named(monkeypatch):
    X = drawn(1, n=30)
    model = GaussianMixture(2, random_state=0).fit(X)
    monkeypatch.setattr(_rounding.StepDistance, "is_small", lambda *_: False)
    c = certus.verify(model, X)
    assert (c.status, c.certified) == ("not proven", False)
    assert "rounding decides their log density" in c.explain()


def test_errors_of_blocks_are_sums_and_maxima():
    one, other = np.arange(18.0).reshape(9, 2), np.ones((9, 2))
    both = add_error_sums(one, other)
    np.testing.assert_array_equal(both[:7], one[:7] + 1)
    np.testing.assert_array_equal(both[7:], one[7:])
    np.testing.assert_array_equal(add_error_sums(zero_error_sums(2), one), one)
