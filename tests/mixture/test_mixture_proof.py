"""The definition of mixtures against plain loops: likelihood, steps, what never falls."""

import mpmath as mp
import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import bernoulli, multinomial, poisson
from sklearn.mixture import GaussianMixture as Peer

from certus.certificate.data import Data
from certus.proofs.mixture import _sums, mixture
from certus.proofs.mixture._count_components import CountComponents, MeanRowPrior, log_factorial
from certus.proofs.mixture._gaussian_components import Normals
from certus.proofs.mixture._missing_entries import Normal, expected_moments, grouped
from certus.proofs.mixture._sums import column_moments
from certus.proofs.mixture.mixture import em_step, free_energy, log_likelihood, responsibilities
from tests.mixture.mixture_cases import (
    SHAPES,
    check,
    data,
    drawn,
    fitted,
    matrices,
    plain_likelihood,
    plain_step,
    precisions,
    prior_of,
    shaped,
    start,
)

each_shape = pytest.mark.parametrize("shape", SHAPES)


def weights(n, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 3, size=n)


def with_holes(X, seed=0, share=0.2):
    X = X.copy()
    X[np.random.default_rng(seed).uniform(size=X.shape) < share] = np.nan
    return X


# --- likelihood and steps -------------------------------------------------------------------------


@each_shape
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [None, 7])
def test_objective_and_step_are_those_of_plain_loops(shape, weighted, block, monkeypatch):
    X = drawn(1, n=60)
    s = weights(60) if weighted else None
    if block:
        monkeypatch.setattr(_sums, "SLICE_ELEMENTS", 0)
        monkeypatch.setattr(Data, "_block_rows", lambda self, times=1: block)
    pi, theta = start(X, 3, shape)
    for _ in range(3):
        C = matrices(shape, theta.covariances, 3, 2)
        L = plain_likelihood(X, pi, theta.means, C, s)
        found = check(X, pi, theta, s)
        prior = prior_of(X, 1e-6, s)
        assert found["likelihood"] == pytest.approx(L, rel=1e-12)
        assert found["objective"] == pytest.approx(L + theta.log_prior(prior), rel=1e-12)
        pi2, m2, C2 = plain_step(X, pi, theta.means, C, shape, 1e-6, s)
        pi, theta = em_step(X, pi, theta, prior, s)
        np.testing.assert_allclose(pi, pi2, rtol=1e-10)
        np.testing.assert_allclose(theta.means, m2, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(theta.covariances, shaped(shape, C2), rtol=1e-8, atol=1e-10)
        after = log_likelihood(X, pi, theta, s) + theta.log_prior(prior)
        assert found["gain"] == pytest.approx(after - found["objective"], rel=1e-8)
        gain = found["gain"] / (60 if s is None else s.sum())
        assert found["residual"] == gain + found["rounding"]


@each_shape
def test_log_prior_is_the_density_that_the_step_maximises(shape):
    """C = (S + Ψ)/(n + ε) is the top of Q + log prior: no covariance nearby is better."""
    X, epsilon = drawn(2, n=40), 5.0
    pi, theta = start(X, 2, shape)
    prior = prior_of(X, epsilon)
    q = responsibilities(X, pi, theta)
    shares, best = em_step(X, pi, theta, prior)

    def value(theta):
        return free_energy(X, q, shares, theta) + theta.log_prior(prior)

    top, rng = value(best), np.random.default_rng(0)
    for _ in range(30):
        E = 1e-3 * rng.normal(size=np.shape(best.covariances))
        if shape in ("full", "tied"):
            E = E + np.swapaxes(E, -1, -2)
        m = best.means + 1e-3 * rng.normal(size=best.means.shape)
        assert value(Normals(shape, best.means, best.covariances * (1 + E))) < top
        assert value(Normals(shape, m, best.covariances)) < top


@each_shape
def test_without_rows_the_prior_gives_back_the_variances_of_the_data(shape):
    X = drawn(3) * [1.0, 50.0]
    pi, theta = start(X, 2, shape)
    theta.means[1] = 1e9  # nobody's
    pi, after = em_step(X, pi, theta, prior_of(X, 1e-6))
    assert pi[1] == 0
    assert np.array_equal(after.means[1], theta.means[1])
    d = X.var(axis=0)
    if shape != "tied":
        expected = {"full": np.diag(d), "diag": d, "spherical": d.mean()}[shape]
        np.testing.assert_allclose(after.covariances[1], expected, rtol=1e-9)


@each_shape
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 3.0])
@pytest.mark.parametrize("missing", [False, True])
def test_no_step_lowers_the_objective(shape, epsilon, missing):
    X = drawn(4, n=80, p=3)
    X = with_holes(X) if missing else X
    s = weights(80)
    prior, (pi, theta) = prior_of(X, epsilon, s), start(X, 3, shape)
    values = []
    for _ in range(25):
        values.append(log_likelihood(X, pi, theta, s) + theta.log_prior(prior))
        pi, theta = em_step(X, pi, theta, prior, s)
    assert np.diff(values).min() > -1e-9
    assert values[-1] > values[0] + 1


def test_steps_in_the_wrong_order_lower_the_likelihood():
    """The M-step belongs to the new responsibilities; with the old ones L can fall."""
    X = drawn(5, n=100)
    pi, theta = start(X, 3)
    prior, fell = prior_of(X), False
    old = np.random.default_rng(0).dirichlet(np.ones(3), size=100).T
    for _ in range(20):
        before = log_likelihood(X, pi, theta)
        new = responsibilities(X, pi, theta)
        sums = theta.moments(X, old)
        pi, theta, old = sums.n / sums.n.sum(), theta.maximized(sums, prior), new
        fell |= log_likelihood(X, pi, theta) < before - 1e-6
    assert fell


@each_shape
@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_is_free_energy_and_divergence(shape, seed):
    X = drawn(seed, n=50)
    s, rng = weights(50), np.random.default_rng(seed)
    pi, theta = start(X, 3, shape)
    r = responsibilities(X, pi, theta)
    L = log_likelihood(X, pi, theta, s)
    for q in (rng.dirichlet(np.ones(3), size=50).T, rng.dirichlet(np.full(3, 0.1), size=50).T):
        some = q > 0
        KL = np.where(some, q * (np.log(np.where(some, q, 1)) - np.log(r)), 0).sum(axis=0)
        assert KL.min() > 0  # Gibbs
        assert free_energy(X, q, pi, theta, s) + s @ KL == pytest.approx(L, rel=1e-12)
    assert free_energy(X, r, pi, theta, s) == pytest.approx(L, rel=1e-12)


@each_shape
def test_weight_two_equals_a_repeated_row(shape):
    X = drawn(6, n=50)
    s = np.random.default_rng(0).integers(0, 4, size=50).astype(float)
    pi, theta = start(X, 2, shape)
    weighted, repeated = check(X, pi, theta, s), check(np.repeat(X, s.astype(int), 0), pi, theta)
    for found in (weighted, repeated):
        found["without rounding"] = found["residual"] - found["rounding"]
    for name in ("objective", "gain", "without rounding"):
        assert weighted[name] == pytest.approx(repeated[name], rel=1e-9)


@each_shape
def test_units_change_neither_gain_nor_step(shape):
    X, unit = drawn(7), np.array([2.0**-20, 2.0**30])
    unit = unit[:1] if shape == "spherical" else unit
    pi, theta = start(X, 2, shape)
    U = np.broadcast_to(unit, 2)
    scale = {"full": np.outer(U, U), "tied": np.outer(U, U), "diag": U**2, "spherical": U[0] ** 2}
    other = Normals(shape, theta.means * U, theta.covariances * scale[shape])
    a, b = check(X, pi, theta), check(X * U, pi, other)
    assert a["residual"] == pytest.approx(b["residual"], rel=1e-9)
    assert a["likelihood"] == pytest.approx(b["likelihood"] + 200 * np.log(U).sum(), rel=1e-9)
    np.testing.assert_allclose(a["conditions"], b["conditions"], rtol=1e-9)


# --- far from the origin --------------------------------------------------------------------------


@each_shape
@pytest.mark.parametrize("missing", [False, True])
def test_an_origin_far_away_costs_no_digits(shape, missing):
    """Offsets that shift the rows exactly: everything found is the same to rounding."""
    X = np.round(drawn(8, p=3) * 2**20) / 2**20
    X = with_holes(X) if missing else X
    pi, theta, _ = fitted(X, 2, shape, steps=4)
    theta = Normals(shape, np.round(theta.means * 2**20) / 2**20, theta.covariances)
    near = check(X, pi, theta)
    far = check(X + 1e8, pi, Normals(shape, theta.means + 1e8, theta.covariances))
    assert far["objective"] == pytest.approx(near["objective"], rel=1e-12)
    assert far["gain"] == pytest.approx(near["gain"], rel=1e-5)
    np.testing.assert_allclose(far["conditions"], near["conditions"], rtol=1e-9)


@each_shape
def test_a_fit_far_away_is_a_local_optimum(shape):
    X = drawn(9, far=1e8)
    pi, theta, _ = fitted(X, 2, shape)
    assert check(X, pi, theta)["residual"] < 1e-9
    other = Normals(shape, theta.means, 1.01 * theta.covariances)
    found = check(X, pi, other)  # ½·p·(log 1.01 − 1 + 1/1.01) a row, if responsibilities stayed
    assert found["residual"] == pytest.approx(np.log(1.01) - 1 + 1 / 1.01, rel=0.2)


def test_likelihood_far_away_is_that_of_fifty_digits():
    mp.mp.dps = 50
    X = drawn(10, n=12, far=1e8)
    pi, theta, _ = fitted(X, 2, steps=3)
    total = mp.mpf(0)
    for x in X:
        terms = []
        for k in range(2):
            C = mp.matrix(theta.covariances[k].tolist())
            d = mp.matrix([mp.mpf(float(a)) - mp.mpf(float(b)) for a, b in
                           zip(x, theta.means[k], strict=True)])  # fmt: skip
            z = (d.T * mp.inverse(C) * d)[0]
            terms.append(mp.mpf(pi[k]) * mp.exp(-z / 2) / (2 * mp.pi * mp.sqrt(mp.det(C))))
        total += mp.log(sum(terms))
    found = check(X, pi, theta)
    assert found["likelihood"] == pytest.approx(float(total), rel=1e-13)


def test_a_mean_that_goes_a_long_way_gets_its_moments_anew():
    X = drawn(11, n=100, k=1)
    C = np.cov(X.T, bias=True)
    theta = Normals("full", X[:1] + 1e9, C[None])
    (pi, after), m = em_step(X, np.ones(1), theta, prior_of(X)), X.mean(axis=0)
    np.testing.assert_allclose(after.means[0], m, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(after.covariances[0], C, rtol=1e-9)
    found = check(X, pi, theta, epsilon=0.0)
    exact = Normals("full", after.means, after.covariances)
    assert found["objective"] + found["gain"] == pytest.approx(
        log_likelihood(X, pi, exact), abs=1e-6 * abs(found["gain"])
    )


def test_float32_rows_are_read_in_float64():
    X = drawn(12, far=1000.0).astype(np.float32)
    pi, theta, _ = fitted(X.astype(float), 2)
    found = check(X, pi, theta)
    assert found["likelihood"] == log_likelihood(X.astype(float), pi, theta)
    rounded = Normals("full", theta.means.astype(np.float32), theta.covariances)
    assert check(X, pi, rounded)["residual"] > 0
    assert check(X, pi, rounded, single=True)["residual"] < 1e-9


def test_threads_and_blocks_change_nothing():
    X = drawn(13, n=40_000, p=8, k=4)
    pi, theta = start(X, 4)
    one, two = (check(X, pi, theta, threads=threads) for threads in (1, 2))
    assert one["objective"] == two["objective"]
    assert one["gain"] == two["gain"]


# --- missing values -------------------------------------------------------------------------------


@each_shape
def test_likelihood_is_that_of_the_observed_entries(shape):
    X = with_holes(drawn(14, n=60, p=3), share=0.4)
    X[5] = np.nan  # of which nothing is known
    pi, theta = start(X, 2, shape)
    C = matrices(shape, theta.covariances, 2, 3)
    found = check(X, pi, theta)
    assert found["likelihood"] == pytest.approx(plain_likelihood(X, pi, theta.means, C), rel=1e-12)
    assert np.isfinite(found["gain"])


def test_missing_entries_are_expected_given_the_others():
    """By sampling: x_m of rows drawn with x_o held is μ_m + C_mo C_oo⁻¹(x_o − μ_o) on average."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3))
    C, mu = A @ A.T, rng.normal(size=3)
    x = np.array([[0.3, np.nan, np.nan]])
    D, extra = expected_moments(grouped(x), np.array([2.0]), Normal(mu, C))
    # the conditional distribution by regressing draws on the observed entry
    Z = rng.multivariate_normal(mu, C, size=400_000)
    slope = np.cov(Z.T)[1:, 0] / np.var(Z[:, 0])
    np.testing.assert_allclose(D[0, 1:], slope * (0.3 - mu[0]), atol=0.02)
    left = Z[:, 1:] - mu[1:] - np.outer(Z[:, 0] - mu[0], slope)
    np.testing.assert_allclose(extra[1:, 1:], 2 * np.cov(left.T), atol=0.05)
    assert D[0, 0] == 0.3 - mu[0]
    assert not extra[0].any()


# --- findings -------------------------------------------------------------------------------------


@each_shape
def test_a_finished_fit_gains_nothing_and_an_unfinished_one_what_it_gains(shape):
    X = drawn(15)
    pi, theta, prior = fitted(X, 3, shape)
    assert check(X, pi, theta)["residual"] <= 1e-9
    pi, theta, prior = fitted(X, 3, shape, steps=2)
    found = check(X, pi, theta)
    after = em_step(X, pi, theta, prior)
    value = log_likelihood(X, *after) + after[1].log_prior(prior)
    assert found["gain"] == pytest.approx(value - found["objective"], rel=1e-9)
    assert found["residual"] > 1e-6


@each_shape
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 3.0])
def test_of_a_stopped_fit_the_gain_is_known_from_below(shape, missing, epsilon, monkeypatch):
    X = drawn(15, n=100)
    X, s = with_holes(X) if missing else X, weights(100)
    looks = []
    monkeypatch.setattr(
        mixture, "gain_sums", lambda *args: looks.append(1) or _sums.gain_sums(*args)
    )
    for steps in (0, 1, 5, 20):
        pi, theta, _ = fitted(X, 2, shape, s, steps=steps, epsilon=epsilon)
        exact = check(X, pi, theta, s, epsilon=epsilon)
        looks.clear()
        found = check(X, pi, theta, s, epsilon=epsilon, stopped=True)
        assert -1e-9 <= found["gain"] <= exact["gain"] * (1 + 1e-9) + 1e-9
        assert bool(looks) == ("at_least" not in found)
        if steps < 2:
            assert found["at_least"]
            assert found["residual"] > 0.02 * exact["residual"]
    pi, theta, _ = fitted(X, 2, shape, s, epsilon=epsilon)
    found = check(X, pi, theta, s, epsilon=epsilon, stopped=True, tol=1e-6)
    assert "at_least" not in found


@each_shape
def test_what_is_stated_besides_is_held_against_the_parameters(shape):
    X = drawn(16)
    pi, theta, _ = fitted(X, 2, shape)
    mean = check(X, pi, theta)["objective"] / 200
    plain, root = precisions(theta)
    stated = {
        "shares": 1.0, "lower_bound": mean, "trace": [mean - 1, mean], "restarts": [mean, mean - 1],
        "precisions": plain, "precisions_cholesky": root,
    }  # fmt: skip
    found = check(X, pi, theta, claims=stated)
    assert not found["wrong"]
    assert found["restarts"] == (1, 2, pytest.approx(1))
    edits = {
        "shares": (1.01, "weights_ add up to 1.01"),
        "lower_bound": (mean + 1e-6, "lower_bound_ is "),
        "trace": ([mean - 1e-6], "lower_bounds_ ends at "),
        "restarts": ([mean + 1e-4], "the best restart reached "),
        "largest_decrease": (1e-6, "the objective fell by 1e-06 a row"),
        "precisions": (1.0001 * plain, "precisions_"),
        "precisions_cholesky": (1.0001 * root, "precisions_cholesky_"),
    }
    for name, (value, words) in edits.items():
        (wrong,) = check(X, pi, theta, claims={**stated, name: value})["wrong"]
        assert wrong.startswith(words)


def test_parameters_that_define_no_density_are_named():
    X = drawn(17)
    pi, theta = start(X, 2)
    theta.covariances[1] = [[1, 2], [2, 1]]
    assert check(X, pi, theta)["wrong"] == ["covariances_ of component 1 is not positive definite"]
    _, theta = start(X, 2, "diag")
    theta.covariances[0, 1] = -1
    assert check(X, pi, theta)["wrong"] == ["covariances_ of component 0 is not positive definite"]
    pi, theta = start(X, 2)
    assert check(X, [1.2, -0.2], theta)["wrong"] == ["weights_ are not mixing weights: [1.2, -0.2]"]
    (message,) = check(X, pi, theta, constant=[1])["wrong"]
    assert message == "column 1 was left out as constant, but it is not constant"


@each_shape
def test_constant_columns_are_left_out(shape):
    X = drawn(18)
    pi, theta = start(X, 2, shape)
    wide = np.insert(X, 1, 7.0, axis=1)
    means, C = np.insert(theta.means, 1, 7.0, axis=1), theta.covariances
    if shape in ("full", "tied"):
        C = np.insert(np.insert(C, 1, 0.0, axis=-1), 1, 0.0, axis=-2)
    elif shape == "diag":
        C = np.insert(C, 1, 0.0, axis=1)
    a = check(X, pi, theta)
    found = mixture.check(data(wide), shape, pi, {"means": means, "covariances": C}, epsilon=1e-6,
                          constant=[1], ours=True)  # fmt: skip
    assert found["objective"] == pytest.approx(a["objective"], rel=1e-12)
    assert found["gain"] == pytest.approx(a["gain"], rel=1e-9)


def test_a_component_on_one_row_has_collapsed_onto_it():
    X = drawn(19, n=60, k=1)
    X[14] += 100
    for shape in ("full", "diag", "spherical"):
        pi, theta = start(X, 2, shape)
        theta.means[1] = X[14]
        prior = prior_of(X, 1e-6)
        for _ in range(300):
            pi, theta = em_step(X, pi, theta, prior)
        found = check(X, pi, theta)
        assert found["degenerate"] == [{"component": 1, "whole": True, "rows": 1, "row": 14}]
        assert found["residual"] < 1e-9
        floor = {"full": prior.d.min(), "diag": prior.d.min(), "spherical": prior.d.mean()}[shape]
        assert theta.spreads(np.ones(2))[1, 0] == pytest.approx(1e-6 * floor, rel=1e-3)


def test_without_a_prior_a_collapse_has_no_maximum():
    X = np.r_[drawn(20, n=60, k=1), [[50.0, 50.0]]]
    theta = Normals("full", [X[:60].mean(axis=0), X[60]], [np.cov(X[:60].T), 1e-9 * np.eye(2)])
    found = check(X, [60 / 61, 1 / 61], theta, epsilon=0.0)
    assert found["residual"] == np.inf
    assert found["degenerate"][0]["row"] == 60


def test_columns_that_repeat_others_leave_no_spread_in_a_direction():
    X = drawn(21)[:, [0, 1, 0]]
    pi, theta, _ = fitted(X, 2)
    assert [one["whole"] for one in check(X, pi, theta)["degenerate"]] == [False, False]
    pi, theta, _ = fitted(X, 2, "tied")
    (collapse,) = check(X, pi, theta)["degenerate"]
    assert collapse == {"component": None, "whole": False, "rows": 0, "row": None}
    pi, theta, _ = fitted(X, 2, "diag")
    assert check(X, pi, theta)["degenerate"] is None


@each_shape
@pytest.mark.parametrize("added", [1e-6, 0.3])
def test_a_number_on_the_diagonal_is_held_to_its_own_fixed_points(shape, added):
    X = drawn(22)
    peer = Peer(2, covariance_type=shape, reg_covar=added, tol=1e-12, max_iter=999, random_state=0)
    peer.fit(X)
    theta = Normals(shape, peer.means_, peer.covariances_)
    how = {"epsilon": 0.0, "added": added, "ours": False}
    found = check(X, peer.weights_, theta, **how)
    assert not found["ascent"]
    assert found["residual"] < 1e-9
    other = Normals(shape, theta.means, 1.01 * theta.covariances)
    assert check(X, peer.weights_, other, **how)["residual"] > 1e-5
    if added > 0.1:  # maximum likelihood is elsewhere
        assert check(X, peer.weights_, theta, epsilon=0.0)["residual"] > 1e-4


# --- counts ---------------------------------------------------------------------------------------


def counted(kind, seed=0, n=120, p=5):
    rng = np.random.default_rng(seed)
    which = rng.integers(2, size=n)
    if kind == "bernoulli":
        return 1.0 * (rng.uniform(size=(n, p)) < rng.uniform(0.1, 0.9, size=(2, p))[which])
    if kind == "poisson":
        return rng.poisson(rng.uniform(0.5, 20, size=(2, p))[which]).astype(float)
    return np.stack([rng.multinomial(9, q) for q in rng.dirichlet(np.ones(p), size=2)[which]]) * 1.0


def begin(kind, X):
    theta = np.stack([X[: len(X) // 2].mean(axis=0), X.mean(axis=0)]) * [[0.9], [1.0]]
    if kind == "multinomial":
        theta /= theta.sum(axis=1, keepdims=True)
    return np.array([0.4, 0.6]), CountComponents(kind, theta)


each_kind = pytest.mark.parametrize("kind", ["bernoulli", "poisson", "multinomial"])


@each_kind
def test_log_densities_of_counts_are_those_of_scipy(kind):
    X = counted(kind)
    _, components = begin(kind, X)
    found = components.log_densities(X)
    for k, theta in enumerate(components.theta):
        if kind == "multinomial":
            expected = multinomial(9, theta).logpmf(X)
        else:
            law = bernoulli if kind == "bernoulli" else poisson
            expected = law.logpmf(X, theta).sum(axis=1)
        np.testing.assert_allclose(found[k], expected, rtol=1e-10, atol=1e-10)


def test_log_factorials_have_all_digits():
    x = np.r_[np.arange(0.0, 40), 0.5, 3.7, 1e3, 1e6, 1e12]
    np.testing.assert_allclose(log_factorial(x), gammaln(x + 1), rtol=1e-14, atol=2e-14)


@each_kind
@pytest.mark.parametrize("a", [0.0, 2.0])
def test_steps_of_counts_raise_the_objective_to_a_local_optimum(kind, a):
    X, s = counted(kind), weights(120)
    pi, theta = begin(kind, X)
    prior = MeanRowPrior(a, column_moments(data(X, s)).mean)
    np.testing.assert_allclose(prior.mean, s @ X / s.sum())
    values = []
    for _ in range(2000):
        values.append(log_likelihood(X, pi, theta, s) + theta.log_prior(prior))
        pi, theta = em_step(X, pi, theta, prior, s)
    assert np.diff(values).min() > -1e-9
    how = {"epsilon": a, "ours": True}
    found = mixture.check(data(X, s), kind, pi, {"values": theta.theta}, **how)
    assert found["residual"] < 1e-9
    assert found["objective"] == pytest.approx(values[-1])
    moved = np.clip(theta.theta * [[1.02], [1.0]], 0, 1 if kind == "bernoulli" else np.inf)
    if kind == "multinomial":
        assert (
            "add up to 1.02" in mixture.check(data(X, s), kind, pi, {"values": moved})["wrong"][0]
        )
    else:
        assert mixture.check(data(X, s), kind, pi, {"values": moved}, **how)["residual"] > 1e-6


@each_kind
def test_the_step_of_counts_is_the_top_of_free_energy(kind):
    X = counted(kind)
    pi, theta = begin(kind, X)
    prior, rng = MeanRowPrior(3.0, X.mean(axis=0)), np.random.default_rng(0)
    q = responsibilities(X, pi, theta)
    shares, best = em_step(X, pi, theta, prior)

    def value(theta):
        return free_energy(X, q, shares, theta) + theta.log_prior(prior)

    for _ in range(30):
        other = best.theta * np.exp(1e-3 * rng.normal(size=best.theta.shape))
        if kind == "multinomial":
            other /= other.sum(axis=1, keepdims=True)
        assert value(
            CountComponents(kind, np.minimum(other, 1) if kind == "bernoulli" else other)
        ) < (value(best))


def test_values_that_are_no_parameters_are_named():
    X = counted("bernoulli")
    found = mixture.check(data(X), "bernoulli", [1.0], {"values": [[0.1, 0.2, 1.5, 0.3, 0.4]]})
    assert found["wrong"] == ["component 0 has 1.5 for column 2"]
