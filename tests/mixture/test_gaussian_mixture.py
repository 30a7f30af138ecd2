"""GaussianMixture against plain arithmetic, and what EM promises."""

import numpy as np
import pytest
import sklearn.mixture as peers
from scipy.special import logsumexp

import certus
from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.mixture import GaussianMixture
from certus.mixture._gaussian_units import fitted_theta
from certus.solvers.mixture import densities, gaussian
from certus.solvers.mixture.covariances import COVARIANCES
from tests.mixture.gaussian_cases import (
    TYPES,
    blobs,
    likelihood,
    log_joint,
    log_prior,
    matrices,
    plain_em,
)

each_type = pytest.mark.parametrize("covariance_type", TYPES)


def fit(X, covariance_type="full", k=3, s=None, **more):
    model = GaussianMixture(k, covariance_type=covariance_type, random_state=0, **more)
    return model.fit(X, sample_weight=s)


# --- the objective --------------------------------------------------------------------------------


@each_type
def test_lower_bound_is_likelihood_and_prior_a_row(covariance_type):
    X, s = blobs(1), np.random.default_rng(1).uniform(0.5, 3, size=240)
    model = fit(X, covariance_type, s=s)
    F = likelihood(X, model, s) + log_prior(X, model, s)
    np.testing.assert_allclose(model.lower_bound_, F / s.sum(), rtol=1e-11)
    np.testing.assert_allclose(model.score(X), likelihood(X, model) / len(X), rtol=1e-11)
    assert model.lower_bounds_[-1] == model.lower_bound_ == model.restarts_.max()


@each_type
@pytest.mark.parametrize("reg_covar", ["relative", 0])
@pytest.mark.parametrize("seed", range(3))
def test_no_step_lowers_the_objective(covariance_type, reg_covar, seed):
    model = fit(blobs(seed, apart=1.0), covariance_type, reg_covar=reg_covar, init_params="random")
    assert np.diff(model.lower_bounds_).min() >= -1e-13 * abs(model.lower_bound_)
    assert model._largest_decrease <= 1e-13 * abs(model.lower_bound_)
    assert len(model.lower_bounds_) == model.n_iter_ + 1


@each_type
def test_a_fit_is_a_local_optimum_and_says_so(covariance_type):
    X = blobs(2)
    model = fit(X, covariance_type, n_init=3)
    assert model.converged_
    assert model.certificate_.status == "local optimum"
    assert model.certificate_.residual <= 1e-6
    assert certus.verify(model, X).certified
    assert model.restarts_.shape == (3,)


@each_type
def test_no_nearby_parameters_are_likelier(covariance_type):
    X, draw = blobs(3), np.random.default_rng(0)
    model = fit(X, covariance_type)
    best = likelihood(X, model) + log_prior(X, model)
    for _ in range(10):
        other = _moved(model, draw)
        assert likelihood(X, other) + log_prior(X, other) < best + 1e-7 * len(X)


def _moved(model, draw, by=1e-3):
    other = GaussianMixture(covariance_type=model.covariance_type)
    other.weights_ = model.weights_ * (1 + by * draw.normal(size=3))
    other.weights_ /= other.weights_.sum()
    other.means_ = model.means_ + by * draw.normal(size=model.means_.shape)
    other.covariances_ = model.covariances_ * (1 + by * draw.normal())
    return other


def test_responsibilities_come_before_parameters():
    """E, then M, from the θ that is given: the textbook's steps, one by one."""
    X = blobs(4, apart=1.0)
    start = np.full(3, 1 / 3), X[:3], np.stack([np.eye(3)] * 3)
    for steps in (1, 2, 5):
        model = GaussianMixture(
            3, reg_covar=0, max_iter=steps, weights_init=start[0], means_init=start[1],
            precisions_init=start[2],
        )  # fmt: skip
        with pytest.warns(NotCertifiedWarning):
            model.fit(X)
        pi, mu, C = plain_em(X, start, steps)
        np.testing.assert_allclose(model.weights_, pi, rtol=1e-10)
        np.testing.assert_allclose(model.means_, mu, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.covariances_, C, rtol=1e-9, atol=1e-12)


def test_log_likelihood_is_free_energy_and_divergence():
    """log L = F(q, θ) + KL(q ‖ r) for any q; Gibbs: KL ≥ 0, and 0 at q = r alone."""
    X = blobs(5, apart=0.5)
    model = fit(X, "tied")
    a = log_joint(X, model.weights_, model.means_, matrices(model))
    r, L = model.predict_proba(X), model.score_samples(X)
    draw = np.random.default_rng(0)
    for q in (draw.dirichlet(np.ones(3), size=len(X)), np.full(r.shape, 1 / 3)):
        F = (q * (a - np.log(q))).sum(axis=1)
        KL = (q * (np.log(q) - np.log(np.maximum(r, 1e-300)))).sum(axis=1)
        np.testing.assert_allclose(F + KL, L, rtol=1e-8)
        assert (KL > 0).all()
    F = (r * (a - L[:, None] - np.log(np.maximum(r, 1e-300)))).sum(axis=1)
    np.testing.assert_allclose(F, 0, atol=1e-9)


# --- soft assignments -----------------------------------------------------------------------------


@each_type
def test_probabilities_are_shares_of_the_density(covariance_type):
    X = blobs(6)
    model = fit(X, covariance_type)
    a = log_joint(X, model.weights_, model.means_, matrices(model))
    r = np.exp(a - logsumexp(a, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), r, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), r.argmax(axis=1))
    np.testing.assert_array_equal(model.fit_predict(X), model.predict(X))


@each_type
def test_precisions_are_inverses(covariance_type):
    model = fit(blobs(7), covariance_type)
    cov, P, U = model.covariances_, model.precisions_, model.precisions_cholesky_
    if covariance_type in ("full", "tied"):
        np.testing.assert_allclose(cov @ P, np.broadcast_to(np.eye(3), cov.shape), atol=1e-10)
        np.testing.assert_allclose(U @ np.swapaxes(U, -1, -2), P, rtol=1e-10, atol=1e-12)
        assert not np.tril(U, -1).any()
    else:
        np.testing.assert_allclose(cov * P, 1)
        np.testing.assert_allclose(U**2, P)


def test_samples_have_the_moments_of_the_mixture():
    model = fit(blobs(8))
    X, y = model.sample(200_000)
    np.testing.assert_allclose(np.bincount(y) / len(y), model.weights_, atol=0.005)
    for k in range(3):
        np.testing.assert_allclose(X[y == k].mean(axis=0), model.means_[k], atol=0.05)
        np.testing.assert_allclose(np.cov(X[y == k].T), model.covariances_[k], atol=0.1)


# --- invariance -----------------------------------------------------------------------------------


@each_type
def test_offsets_cost_no_digits(covariance_type):
    X = np.random.default_rng(0).normal(size=(500, 2))
    X[250:] += 4
    near, far = (fit(X + c, covariance_type, k=2) for c in (0.0, 1e8))
    np.testing.assert_allclose(far.covariances_, near.covariances_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(far.score(X + 1e8), near.score(X), rtol=1e-6)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag"])
def test_units_do_not_matter(covariance_type):
    X = blobs(10)
    start = {"weights_init": np.full(3, 1 / 3), "init_params": "kmeans"}
    D = np.array([1e-6, 1e-6, 1e-6])
    ours, tiny = fit(X, covariance_type, **start), fit(X * D, covariance_type, **start)
    np.testing.assert_allclose(tiny.means_ / D, ours.means_, rtol=1e-6)
    np.testing.assert_allclose(tiny.predict_proba(X * D), ours.predict_proba(X), atol=1e-6)


def test_float32_far_apart_keeps_the_variance_that_was_asked_for():
    X = np.array([[9999], [0]], dtype=np.float32)
    model = GaussianMixture(2, covariance_type="diag", reg_covar=0.1, random_state=0)
    with pytest.warns(DegenerateWarning, match="held at reg_covar"):
        model.fit(X)
    np.testing.assert_allclose(model.covariances_, 0.1, rtol=1e-9)


@each_type
def test_the_same_bits_on_any_number_of_threads(covariance_type):
    X = blobs(12, n=6000, p=6)
    one, two = (_on_threads(threads, X, covariance_type=covariance_type, k=4) for threads in (1, 2))
    np.testing.assert_array_equal(one.means_, two.means_)
    np.testing.assert_array_equal(one.covariances_, two.covariances_)


def _on_threads(threads, X, **how):
    with certus.config_context(threads=threads):
        return fit(X, **how)


@each_type
def test_other_blocks_and_other_ways_give_the_same_answer(covariance_type, monkeypatch):
    X = blobs(13, n=900)
    usual = fit(X, covariance_type)
    monkeypatch.setattr(gaussian, "BLOCK_ELEMENTS", 1)
    small = fit(X, covariance_type)
    monkeypatch.setattr(densities, "MAX_CANCELLATION", 0.0)  # no products
    monkeypatch.setattr(densities, "MIN_COMPILED_MULTIPLICATIONS", 0)
    for other in (small, fit(X, covariance_type)):
        np.testing.assert_allclose(other.means_, usual.means_, rtol=1e-8)
        np.testing.assert_allclose(other.lower_bound_, usual.lower_bound_, rtol=1e-12)


# --- peers ----------------------------------------------------------------------------------------


@each_type
def test_scikit_learn_finds_the_same(covariance_type):
    X = blobs(14)
    theirs = peers.GaussianMixture(
        3, covariance_type=covariance_type, tol=1e-10, max_iter=2000, random_state=0
    ).fit(X)
    ours = fit(X, covariance_type, tol=1e-10, reg_covar=1e-6, means_init=theirs.means_)
    np.testing.assert_allclose(ours.means_, theirs.means_, atol=1e-3)
    np.testing.assert_allclose(ours.bic(X), theirs.bic(X), rtol=1e-6)
    np.testing.assert_allclose(ours.aic(X), theirs.aic(X), rtol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)


@each_type
def test_compiled_loops_and_products_agree_with_differences(covariance_type):
    X = blobs(15, apart=4.0)
    model = fit(X, covariance_type, max_iter=1000)
    at, theta = fitted_theta(model, covariance_type)
    shape = COVARIANCES[covariance_type]
    Z = at.of(X)
    R = np.ascontiguousarray(model.predict_proba(X).T)
    N = R.sum(axis=1)
    exact = densities.DifferenceDensities(shape, theta)
    tied = covariance_type == "tied"
    other = densities.TiedProducts(theta) if tied else densities.Compiled(shape, theta)
    np.testing.assert_allclose(
        other.log_joint(other.prepare(Z)), exact.log_joint(Z), rtol=1e-9, atol=1e-9
    )
    means, scatter = [], []
    for way in (other, exact):
        A, S = way.statistics(way.sums(way.prepare(Z), R))
        means.append(way.reference + A / N[:, None])
        scatter.append(shape.within(N, A, S))
    np.testing.assert_allclose(*means, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(*scatter, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("solver", ["em", "lbfgs"])
def test_no_iteration_is_the_start(solver):
    X = np.random.default_rng(0).normal(size=(50, 2))
    start = [[2.0, 3.0], [-3.0, 1.0]]
    model = GaussianMixture(2, means_init=start, max_iter=0, solver=solver, random_state=0)
    with pytest.warns(NotCertifiedWarning, match="max_iter=0"):
        model.fit(X)
    np.testing.assert_allclose(model.means_, start)
    assert model.n_iter_ == 0
    assert not model.converged_
    with pytest.raises(ValueError, match="max_iter=-1: give a whole number, 0 or above"):
        GaussianMixture(2, max_iter=-1).fit(X)


@pytest.mark.parametrize("kind", ["tied", "diag", "spherical"])
def test_components_without_spread_at_the_start_are_an_error_with_a_remedy(kind):
    X = np.repeat([[1.0] * 5, [0.0] * 5], 5, axis=0)
    model = GaussianMixture(10, reg_covar=0, covariance_type=kind, random_state=0)
    with pytest.raises(ValueError, match=r"no spread at the start\. Decrease n_components"):
        model.fit(X)
