"""Gaussians of fewer rows than columns: the space of the rows, against all columns.

The truth is a dense computation in long double of log|C|, squares and the prior, column by column.
"""

import numpy as np
import pytest

import certus
from certus.cluster import VariableClustering
from certus.exceptions import DegenerateWarning
from certus.mixture import GaussianMixture
from certus.proofs.mixture import _gaussian_row_space
from certus.solvers.mixture import gaussian_row_space
from certus.solvers.mixture.gaussian_row_space import inverse_factor

pytestmark = pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")
EPSILON = 1e-6


def expression(n=40, p=300, k=2, seed=0):
    """Like a microarray: few rows, many columns of different scale, some of them alike."""
    rng = np.random.default_rng(seed)
    X = np.exp(
        0.3 * rng.normal(size=(n, 8)) @ rng.normal(size=(8, p)) + 0.3 * rng.normal(size=(n, p))
    )
    return X * 10.0 ** rng.integers(-2, 3, size=p) + 3.0 * (rng.integers(k, size=n) == 0)[:, None]


def long_double_cholesky(C):
    C = np.array(C, dtype=np.longdouble)
    L = np.zeros_like(C)
    for j in range(len(C)):
        L[j, j] = np.sqrt(C[j, j] - L[j, :j] @ L[j, :j])
        L[j + 1 :, j] = (C[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    return L


def objective(model, X, s):
    """Σ s log Σ π N(x; μ, C) − ½ε Σ (log|C| + tr(D C⁻¹)) at the fitted attributes."""
    X, s = np.asarray(X, dtype=np.longdouble), np.asarray(s, dtype=np.longdouble)
    mean = s @ X / s.sum()
    d = s @ (X - mean) ** 2 / s.sum()
    matrices = model.covariances_ if model.covariance_type == "full" else model.covariances_[None]
    log_joint, prior = [], np.longdouble(0)
    for k, (pi, mu) in enumerate(zip(model.weights_, model.means_, strict=True)):
        L = long_double_cholesky(matrices[min(k, len(matrices) - 1)])
        logs = 2 * np.log(np.diagonal(L)).sum()
        Z = solve_lower(L, (X - mu).T)
        square = (Z * Z).sum(axis=0)
        log_joint.append(
            np.log(np.longdouble(pi)) - 0.5 * (logs + square + X.shape[1] * np.log(2 * np.pi))
        )
        if k < len(matrices):
            W = solve_lower(L, np.diag(np.sqrt(d)))
            prior -= 0.5 * EPSILON * (logs + (W * W).sum())
    J = np.stack(log_joint)
    top = J.max(axis=0)
    return float(s @ (top + np.log(np.exp(J - top).sum(axis=0))) + prior)


def solve_lower(L, B):
    out = np.array(B, dtype=np.longdouble)
    for j in range(len(L)):
        out[j] = (out[j] - L[j, :j] @ out[:j]) / L[j, j]
    return out


@pytest.mark.costly
@pytest.mark.parametrize("name", ["full", "tied"])
@pytest.mark.parametrize(("n", "k"), [(30, 1), (40, 2), (60, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_space_of_the_rows_gives_the_components_of_all_columns(
    name, n, k, weighted, monkeypatch
):
    X = expression(n, k=k, seed=n)
    s = np.random.default_rng(n).integers(1, 4, size=n).astype(float) if weighted else None
    few = GaussianMixture(k, covariance_type=name, random_state=0).fit(X, sample_weight=s)
    monkeypatch.setattr(gaussian_row_space, "MIN_COLUMNS", 10**9)
    monkeypatch.setattr(_gaussian_row_space, "MIN_COLUMNS", 10**9)
    every = GaussianMixture(k, covariance_type=name, random_state=0).fit(X, sample_weight=s)
    np.testing.assert_allclose(few.weights_, every.weights_, rtol=1e-9)
    np.testing.assert_allclose(few.means_, every.means_, rtol=1e-9)
    size = np.sqrt(np.diagonal(every.covariances_, axis1=-2, axis2=-1))
    size = size[..., None] * size[..., None, :]
    np.testing.assert_allclose(few.covariances_ / size, every.covariances_ / size, atol=1e-12)
    assert few.lower_bound_ == pytest.approx(every.lower_bound_, rel=1e-9)
    np.testing.assert_allclose(few.score_samples(X), every.score_samples(X), rtol=1e-6)
    assert few.certificate_.status == every.certificate_.status == "degenerate"
    # the check with all columns holds the fit among the rows to its claims, and the other way round
    assert certus.verify(few, X, sample_weight=s).certified
    monkeypatch.undo()
    assert certus.verify(every, X, sample_weight=s).certified


@pytest.mark.parametrize("name", ["full", "tied"])
def test_the_objective_is_that_of_the_stored_covariances(name):
    X, s = expression(20, p=260), np.ones(20)
    model = GaussianMixture(2, covariance_type=name, random_state=0).fit(X)
    assert model.certificate_.objective == pytest.approx(objective(model, X, s), abs=1e-5)


def test_an_early_stop_is_no_local_optimum():
    X = expression(60, k=3)
    model = GaussianMixture(3, covariance_type="tied", random_state=0).fit(X)
    model.means_ = model.means_ + 0.1 * X.std(axis=0)
    c = certus.verify(model, X)
    assert not c.certified


@pytest.mark.parametrize("attribute", ["covariances_", "precisions_", "precisions_cholesky_"])
def test_edits_are_found_among_many_columns(attribute):
    X = expression(20, p=260)
    model = GaussianMixture(1, random_state=0).fit(X)
    assert certus.verify(model, X).certified
    edited = getattr(model, attribute).copy()
    edited[0] *= 1.01
    setattr(model, attribute, edited)
    assert not certus.verify(model, X).certified
    edited[0] /= 1.01
    edited[0, 0, 0] *= 1.01
    setattr(model, attribute, edited)
    assert not certus.verify(model, X).certified


@pytest.mark.parametrize("block", [16, 64, 512])
def test_the_factor_of_a_matrix_of_low_rank_comes_block_by_block(block, monkeypatch):
    monkeypatch.setattr(gaussian_row_space, "BLOCK_COLUMNS", block)
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(150, 20)))[0]
    own = np.diag(10.0 ** rng.uniform(-6, 2, size=20))
    U = np.empty((150, 150))
    inverse_factor(Q, own, 1e-6, U)
    assert not np.tril(U, -1).any()
    C = Q @ own @ Q.T + 1e-6 * np.eye(150)
    np.testing.assert_allclose(U.T @ C @ U, np.eye(150), atol=1e-6)


def test_constant_columns_are_left_out():
    X = expression(20, p=280)
    X[:, [3, 100]] = 7.0
    model = GaussianMixture(1, random_state=0).fit(X)
    assert model.constant_columns_.tolist() == [3, 100]
    assert model.certificate_.certified
    assert not model.covariances_[0, 3].any()


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", [(72, 3000), (100, 2500)])
def test_microarrays_are_fitted_and_certified(shape):
    """Three components and all columns as variables: p³ operations would take minutes."""
    X = expression(*shape)
    with pytest.warns(DegenerateWarning):
        model = GaussianMixture(3, random_state=0).fit(X)
    assert model.certificate_.certified
    assert VariableClustering(5).fit(X).certificate_.certified


def test_a_step_that_seems_to_lower_the_objective_proves_nothing(monkeypatch):
    """EM cannot lower it: where rounding says so, a gain of nothing is not known either."""
    from certus.proofs.mixture import mixture

    X = np.random.default_rng(0).normal(size=(40, 2))
    model = GaussianMixture(2, random_state=0).fit(X)
    assert model.certificate_.certified
    lost = np.zeros((9, 2))
    monkeypatch.setattr(mixture, "gain_sums", lambda X, y, s, *rest: (-1e-3 * len(X), lost))
    c = certus.verify(model, X)
    assert (c.status, c.certified) == ("not proven", False)
    assert "rounding errors in these densities are that large" in c.explain()
    assert "not proven" in repr(c)
