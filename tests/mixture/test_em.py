"""The loop of EM, whatever the family: monotone, at any temperature, by either solver."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import certus
from certus.data.rows import Rows
from certus.mixture import BernoulliMixture, GaussianMixture, MultinomialMixture, PoissonMixture
from certus.solvers.linalg.column_moments import column_moments
from certus.solvers.mixture.counts import (
    Bernoulli,
    CountFamily,
    CountParameters,
    Multinomial,
    Poisson,
)
from certus.solvers.mixture.covariances import COVARIANCES, Regularization
from certus.solvers.mixture.em import em, largest_decrease, responsibilities
from certus.solvers.mixture.gaussian import GaussianFamily, ScaledCoordinates
from tests.mixture.gaussian_cases import TYPES, blobs, likelihood


def counts(seed=0, n=300, p=6, k=3):
    """(zeros and ones, counts, counts of a fixed total), from k components each."""
    draw = np.random.default_rng(seed)
    y = np.arange(n) % k
    ones = (draw.random((n, p)) < draw.uniform(0.1, 0.9, size=(k, p))[y]) * 1.0
    many = draw.poisson(draw.gamma(1.0, 4.0, size=(k, p))[y]).astype(float)
    proportions = draw.dirichlet(np.ones(p), size=k)
    total = np.array([draw.multinomial(20, proportions[i]) for i in y]).astype(float)
    return ones, many, total


CLASSES = (BernoulliMixture, PoissonMixture, MultinomialMixture)
each_count = pytest.mark.parametrize("which", range(3), ids=["bernoulli", "poisson", "multinomial"])


def gaussians(name, seed=0, epsilon=0.3):
    """A family and a θ in it, away from any optimum."""
    X, draw = blobs(seed), np.random.default_rng(seed)
    m = column_moments(Rows(X))
    q = np.sqrt(m.variance)
    q = np.full(3, q.mean()) if name == "spherical" else q
    at = ScaledCoordinates(m.mean, q, np.arange(3), m.mean)
    regularization = Regularization(epsilon, m.variance / q**2, np.zeros(3))
    s = draw.uniform(0.5, 2, size=len(X))
    family = GaussianFamily(Rows(X, None, s), at, COVARIANCES[name], regularization)
    A = draw.normal(size=(2, 3, 3))
    full = A @ A.transpose(0, 2, 1) + np.eye(3)
    cov = {"full": full, "tied": full[0], "diag": np.einsum("kii->ki", full)}
    sphere = np.repeat([[0.5], [2.0]], 3, axis=1)
    return family, family.theta(
        np.array([0.3, 0.7]), draw.normal(size=(2, 3)), cov.get(name, sphere)
    )


def families():
    for name in TYPES:
        yield name, gaussians(name)
    for kind, X in zip((Bernoulli(), Poisson(), Multinomial()), counts(), strict=True):
        values = np.random.default_rng(1).uniform(0.2, 0.8, size=(2, 6))
        if isinstance(kind, Multinomial):
            values /= values.sum(axis=1, keepdims=True)
        family = CountFamily(Rows(X), kind, 0.3, X.mean(axis=0), 0.0)
        yield type(kind).__name__, (family, CountParameters(np.array([0.4, 0.6]), values))


FAMILIES = dict(families())
each_family = pytest.mark.parametrize("name", FAMILIES)


@each_family
@pytest.mark.parametrize("beta", [0.2, 0.6, 1.0])
def test_free_energy_never_falls_at_a_fixed_temperature(name, beta):
    family, theta = FAMILIES[name]
    found = em(family, theta, max_iter=60, tol=0.0, beta=beta)
    assert found.largest_decrease <= 1e-13 * abs(found.objective) / family.mass
    assert found.trace[-1] > found.trace[0]


@each_family
def test_slopes_are_those_of_the_objective(name):
    """Fisher's identity: statistics of EM give the slope, compared with central differences."""
    family, theta = FAMILIES[name]
    parametrization = family.parametrization(theta)
    draw = np.random.default_rng(2)
    x = 0.3 * draw.normal(size=parametrization.start.shape)

    def F(x):
        theta = parametrization.theta(x)
        return family.evaluate(theta).F + family.log_prior(theta)

    at = parametrization.theta(x)
    slope = parametrization.slope(x, at, family.evaluate(at).statistics)
    for _ in range(5):
        v = draw.normal(size=x.shape)
        along = (F(x + 1e-5 * v) - F(x - 1e-5 * v)) / 2e-5
        np.testing.assert_allclose(slope @ v, along, rtol=1e-5, atol=1e-5)


@each_family
def test_a_parametrization_starts_at_its_theta(name):
    family, theta = FAMILIES[name]
    parametrization = family.parametrization(theta)
    for ours, given in zip(parametrization.theta(parametrization.start), theta, strict=True):
        np.testing.assert_allclose(ours, given, rtol=1e-12, atol=1e-14)


@each_family
def test_the_maximiser_has_no_slope_left(name):
    """The gradient of Σ s r log πp + log prior is 0, with the r of the statistics."""
    family, theta = FAMILIES[name]
    best = family.maximize(family.evaluate(theta).statistics, theta)
    parametrization = family.parametrization(best)
    slope = parametrization.slope(parametrization.start, best, family.evaluate(theta).statistics)
    assert np.abs(slope).max() <= 1e-9 * family.mass


def test_responsibilities_add_up_to_the_weight_and_their_level_is_the_log_of_a_sum():
    a = np.random.default_rng(0).normal(size=(3, 7)) * 300
    s = np.arange(7.0)
    for beta in (1.0, 0.5):
        F, R = responsibilities(a.copy(), s, beta)
        np.testing.assert_allclose(F, s @ logsumexp(beta * a, axis=0) / beta)
        np.testing.assert_allclose(R.sum(axis=0), s, atol=1e-12)
        np.testing.assert_allclose(R, s * np.exp(beta * a - logsumexp(beta * a, axis=0)))


@pytest.mark.parametrize("rows", [1, 255, 256, 700])
def test_compiled_responsibilities_are_the_same(rows):
    from certus.kernels.mixture.responsibilities import responsibilities as compiled

    a = np.random.default_rng(rows).normal(size=(5, rows)) * 50
    a[2] = -np.inf  # a component of nothing
    for s, beta in ((np.random.default_rng(1).random(rows), 1.0), (None, 0.3)):
        F, R = responsibilities(a.copy(), s, beta)
        out = a.copy()
        np.testing.assert_allclose(
            compiled(out, np.empty(0) if s is None else s, beta), F, rtol=1e-13
        )
        np.testing.assert_allclose(out, R, atol=1e-14)


def test_largest_decrease_is_that_between_neighbours():
    assert largest_decrease([1.0, 3.0, 2.5, 4.0, 3.9]) == 0.5
    assert largest_decrease([1.0]) == 0.0


# --- solvers and starts ---------------------------------------------------------------------------


@pytest.mark.parametrize("covariance_type", TYPES)
def test_both_solvers_reach_the_same_optimum(covariance_type):
    X = blobs(1)
    how = {"covariance_type": covariance_type, "random_state": 0, "tol": 1e-9}
    by_em = GaussianMixture(3, **how).fit(X)
    by_slope = GaussianMixture(3, solver="lbfgs", **how).fit(X)
    assert by_slope.certificate_.certified
    np.testing.assert_allclose(by_slope.lower_bound_, by_em.lower_bound_, atol=1e-6)
    np.testing.assert_allclose(by_slope.means_, by_em.means_, atol=1e-2)


def test_a_number_for_reg_covar_is_part_of_no_objective():
    with pytest.raises(ValueError, match="maximises an objective"):
        GaussianMixture(2, solver="lbfgs", reg_covar=1e-3).fit(blobs())


def test_annealing_forgets_a_poor_start():
    """Three groups in a row, and a start with two centres in one of them."""
    draw = np.random.default_rng(0)
    X = np.concatenate([c + 0.3 * draw.normal(size=(100, 1)) for c in (0.0, 4.0, 8.0)])
    poor = {
        "weights_init": np.full(3, 1 / 3),
        "means_init": [[-0.1], [0.1], [6.0]],
        "precisions_init": np.full((3, 1), 10.0),
    }
    plain = GaussianMixture(3, covariance_type="diag", random_state=0, **poor).fit(X)
    warm = GaussianMixture(3, covariance_type="diag", random_state=0, annealing=True, **poor).fit(X)
    assert warm.lower_bound_ > plain.lower_bound_ + 0.1
    np.testing.assert_allclose(np.sort(warm.means_.ravel()), [0, 4, 8], atol=0.1)


@pytest.mark.parametrize("annealing", [[2.0, 3.0], [0.5], [], "slow"])
def test_temperatures_fall_towards_one(annealing):
    with pytest.raises(ValueError, match="annealing="):
        GaussianMixture(2, annealing=annealing).fit(blobs())


@pytest.mark.parametrize("init_params", ["kmeans", "k-means++", "random", "random_from_data"])
@pytest.mark.parametrize("which", [GaussianMixture, PoissonMixture])
def test_every_start_ends_in_a_local_optimum(init_params, which):
    X = blobs(2) if which is GaussianMixture else counts()[1]
    model = which(3, init_params=init_params, n_init=2, random_state=1).fit(X)
    assert model.certificate_.status == "local optimum"
    assert model.lower_bound_ == model.restarts_.max()


def test_a_warm_start_goes_on_from_where_the_last_fit_ended():
    X = blobs(3, apart=1.0)
    model = GaussianMixture(3, random_state=0, warm_start=True).fit(X)
    steps, before = model.n_iter_, model.lower_bound_
    model.fit(X)
    assert model.n_iter_ <= 2 < steps
    assert model.lower_bound_ >= before


# --- counts ---------------------------------------------------------------------------------------


def log_joint(model, X):
    """By SciPy's distributions."""
    if isinstance(model, BernoulliMixture):
        each = [stats.bernoulli.logpmf(X, t).sum(axis=1) for t in model.probabilities_]
    elif isinstance(model, PoissonMixture):
        each = [stats.poisson.logpmf(X, t).sum(axis=1) for t in model.rates_]
    else:
        m = X.sum(axis=1).astype(int)
        each = [stats.multinomial.logpmf(X, m, t) for t in model.probabilities_]
    return np.log(model.weights_) + np.stack(each, axis=1)


@each_count
def test_densities_are_scipys(which):
    X = counts()[which]
    model = CLASSES[which](3, random_state=0).fit(X)
    a = log_joint(model, X)
    np.testing.assert_allclose(model.score_samples(X), logsumexp(a, axis=1), rtol=1e-9)
    r = np.exp(a - logsumexp(a, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), r, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), r.argmax(axis=1))


@each_count
@pytest.mark.parametrize("how", [{}, {"prior": 0.0}, {"prior": 2.0}, {"solver": "lbfgs"}])
def test_counts_are_certified_and_never_fall(which, how):
    X = counts()[which]
    model = CLASSES[which](3, random_state=0, **how).fit(X)
    assert model.certificate_.status == "local optimum"
    assert certus.verify(model, X).certified
    assert np.diff(model.lower_bounds_).min() >= -1e-13 * abs(model.lower_bound_)


@each_count
def test_weight_two_equals_a_repeated_row_of_counts(which):
    X = counts()[which]
    s = np.random.default_rng(0).integers(1, 3, size=len(X))
    model = CLASSES[which](2, random_state=0)
    weighted = model.fit(X, sample_weight=s)
    values, level = getattr(weighted, weighted._family.attribute), weighted.lower_bound_
    again = CLASSES[which](2, random_state=0, warm_start=True)
    again.weights_, again.n_features_in_ = weighted.weights_, 6
    setattr(again, again._family.attribute, values)
    again.fit(np.repeat(X, s, axis=0))
    np.testing.assert_allclose(again.lower_bound_, level, atol=1e-6)
    np.testing.assert_allclose(getattr(again, again._family.attribute), values, atol=1e-2)


@each_count
def test_samples_of_counts_have_the_means_of_their_components(which):
    model = CLASSES[which](2, random_state=0).fit(counts()[which])
    X, y = model.sample(50_000)
    values = getattr(model, model._family.attribute)
    for k in range(2):
        np.testing.assert_allclose(X[y == k].mean(axis=0), values[k], atol=0.1)


@each_count
def test_bic_counts_free_numbers(which):
    X = counts()[which]
    model = CLASSES[which](2, random_state=0).fit(X)
    free = 2 * 6 + 1 - (2 if which == 2 else 0)
    np.testing.assert_allclose(model.bic(X) + 2 * model.score_samples(X).sum(), free * np.log(300))
    np.testing.assert_allclose(model.aic(X) + 2 * model.score_samples(X).sum(), 2 * free)


@pytest.mark.parametrize(
    ("which", "value", "message"),
    [
        (0, 2.0, r"column 1 of X holds 2 \(row 3\): BernoulliMixture needs numbers from 0 to 1"),
        (1, -1.0, r"Negative values in data: column 1 of X holds -1 \(row 3\)"),
        (2, np.nan, r"column 1 of X has 1 missing value \(NaN; row 3\)"),
    ],
)
def test_what_cannot_be_counted_is_named(which, value, message):
    X = counts()[which]
    X[3, 1] = value
    with pytest.raises(ValueError, match=message):
        CLASSES[which](2).fit(X)


# --- missing values -------------------------------------------------------------------------------


def with_gaps(seed=0, share=0.15):
    X = blobs(seed)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


@pytest.mark.parametrize("covariance_type", TYPES)
def test_the_likelihood_is_that_of_what_was_observed(covariance_type):
    X = with_gaps()
    model = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    assert model.certificate_.status == "local optimum"
    assert np.diff(model.lower_bounds_).min() >= -1e-13 * abs(model.lower_bound_)
    np.testing.assert_allclose(model.score(X), likelihood(X, model) / len(X), rtol=1e-10)


def test_one_gaussian_with_gaps_is_the_optimum_of_the_observed_likelihood():
    """No step of any kind raises it: compared with SciPy's own ascent."""
    from scipy.optimize import minimize

    X = with_gaps(1)[:80, :2]
    model = GaussianMixture(1, reg_covar=0, tol=1e-12).fit(X)

    def minus_L(x):
        L = np.array([[np.exp(x[2]), 0], [x[3], np.exp(x[4])]])
        model_at = GaussianMixture(1)
        model_at.weights_, model_at.means_ = np.ones(1), x[None, :2]
        model_at.covariances_ = (L @ L.T)[None]
        return -likelihood(X, model_at)

    best = minimize(minus_L, np.zeros(5), method="BFGS")
    np.testing.assert_allclose(model.score(X) * len(X), -best.fun, rtol=1e-6)


def test_a_row_of_which_nothing_is_known_changes_no_component():
    X = blobs(2)
    plain = GaussianMixture(3, random_state=0, reg_covar=0).fit(X)
    start = {
        "weights_init": plain.weights_,
        "means_init": plain.means_,
        "precisions_init": plain.precisions_,
    }
    empty = np.vstack([X, np.full((1, 3), np.nan)])
    model = GaussianMixture(3, reg_covar=0, **start).fit(empty)
    np.testing.assert_allclose(model.means_, plain.means_, rtol=1e-3)
    np.testing.assert_allclose(model.predict_proba(empty)[-1], model.weights_)


@each_count
def test_mixtures_of_counts_have_the_same_bits_on_any_number_of_threads(which):
    X = counts(n=200_000, p=12, k=2)[which]
    found = []
    for threads in (1, 2):
        with certus.config_context(threads=threads):
            found.append(CLASSES[which](2, random_state=0).fit(X))
    one, two = found
    assert one.lower_bound_ == two.lower_bound_
    np.testing.assert_array_equal(one.weights_, two.weights_)
