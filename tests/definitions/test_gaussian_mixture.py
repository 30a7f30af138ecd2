"""The page of Gaussian mixtures: against loops, SciPy, a general optimiser and the proof."""

import inspect

import numpy as np
import pytest
import sklearn.mixture as peers
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import certus
from certus.certificate.pages import clusters
from certus.definitions import gaussian_mixture as page
from certus.definitions.terms.covariances import Diagonal, Full, Spherical, Tied
from certus.exceptions import NotCertifiedWarning
from certus.mixture import GaussianMixture
from certus.proofs.mixture import mixture as proof
from tests.definitions.lines import lines_to_read, n_lines
from tests.mixture.mixture_cases import data, drawn, matrices, plain_likelihood, plain_step

TOL = 1e-6
SHAPES = {"full": Full(), "tied": Tied(), "diag": Diagonal(), "spherical": Spherical()}
each_shape = pytest.mark.parametrize("shape", SHAPES)


def weights(n, seed=0):
    s = np.random.default_rng(seed).uniform(0.2, 2, n)
    s[::7] = 0.0
    return s


def overlapping(seed, n=150, far=0.0):
    """Rows of two components that EM does not tell apart in a few steps."""
    rng = np.random.default_rng(seed)
    spread = np.where(rng.uniform(size=(n, 1)) < 0.4, [[0.6, 1.5]], [[1.5, 0.6]])
    return spread * rng.normal(size=(n, 2)) + 1.5 * (spread < 1) + far


def with_gaps(X, seed=0):
    X = X.copy()
    X[np.random.default_rng(seed).uniform(size=X.shape) < 0.2] = np.nan
    X[3] = np.nan  # nothing is known of this row
    return X


def some(shape, seed=0, K=3, p=2):
    """Parameters that no step of EM has been at."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(K, p, 2 * p))
    C = {
        "full": A @ A.swapaxes(1, 2), "tied": A[0] @ A[0].T,
        "diag": rng.uniform(1, 4, (K, p)), "spherical": rng.uniform(1, 4, K),
    }  # fmt: skip
    return {"pi": rng.dirichlet(np.full(K, 5.0)), "mu": 3 * rng.normal(size=(K, p)), "C": C[shape]}


def check(X, s=None, **how):
    return page.check(X, None, np.ones(len(X)) if s is None else s, **how)


def by_page(parameters, X, s=None):
    """The claim of the page with the parameters of a certificate."""
    (problem,) = clusters.mixture(parameters, None)
    assert problem.page == "gaussian_mixture"
    s = np.ones(len(X)) if s is None else s
    return page.check(X.astype(float), *problem.targets(None, s), **problem.arguments)


def by_scipy(X, s, shape, pi, mu, C, epsilon):
    """The objective, row by row."""
    C, total = matrices(shape, C, *mu.shape), 0.0
    for x, weight in zip(X, s, strict=True):
        o, each = ~np.isnan(x), np.log(pi)
        for k in range(len(pi)) if o.any() else ():
            each[k] += multivariate_normal(mu[k][o], C[k][np.ix_(o, o)]).logpdf(x[o])
        total += weight * np.logaddexp.reduce(each)
    seen = np.where(s[:, None] > 0, X, np.nan)
    d = [np.cov(x[~np.isnan(x)], aweights=s[~np.isnan(x)], ddof=0) for x in seen.T]
    for one in C[:1] if shape == "tied" else C:
        trace = np.trace(np.diag(d) @ np.linalg.inv(one))
        total -= epsilon / 2 * (np.log(np.linalg.det(one)) + trace)
    return total


def test_the_page_is_short():
    for term in (Full, Tied, Diagonal, Spherical):
        assert n_lines(inspect.getsource(term)) <= 15
        assert lines_to_read(page, [term]) <= 80
    assert len(inspect.getsource(page).splitlines()) <= 100


@each_shape
@pytest.mark.parametrize("epsilon", [0.0, 3.0])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_objective_is_scipys(shape, epsilon, gaps):
    X, s, theta = drawn(1, n=40), weights(40), some(shape)
    X = with_gaps(X) if gaps else X
    claim = check(X, s, **theta, shape=SHAPES[shape], epsilon=epsilon)
    assert claim.objective == pytest.approx(by_scipy(X, s, shape, **theta, epsilon=epsilon), 1e-11)
    assert claim.scale == pytest.approx(s.sum())


@each_shape
@pytest.mark.parametrize("epsilon", [0.0, 3.0])
def test_a_step_is_that_of_loops_and_the_miss_what_it_gains(shape, epsilon):
    X, s, theta = drawn(1, n=40), weights(40), some(shape)
    C = matrices(shape, theta["C"], 3, 2)
    pi, mu, after = plain_step(X, theta["pi"], theta["mu"], C, shape, epsilon, s)
    C = {"full": after, "tied": after[0], "diag": np.diagonal(after, axis1=1, axis2=2)}
    step = {"pi": pi, "mu": mu, "C": C.get(shape, after[:, 0, 0])}
    F, F1 = (by_scipy(X, s, shape, **t, epsilon=epsilon) for t in (theta, step))
    claim = check(X, s, **theta, shape=SHAPES[shape], epsilon=epsilon)
    assert claim.miss == pytest.approx(F1 - F, rel=1e-9)
    assert not claim.holds


@each_shape
@pytest.mark.parametrize("gaps", [False, True])
def test_where_the_claim_holds_the_slope_of_the_objective_is_zero(shape, gaps):
    """Along random directions of (π, μ, C), in standard deviations; elsewhere it is not."""
    X = with_gaps(drawn(2)) if gaps else drawn(2)
    model = GaussianMixture(2, covariance_type=shape, random_state=0, tol=1e-12).fit(X)
    fitted = {"pi": model.weights_, "mu": model.means_, "C": model.covariances_}
    rng = np.random.default_rng(0)

    def slope(theta):
        shift = rng.normal(size=2)
        of_shares = theta["pi"] * (shift - theta["pi"] @ shift)  # which then add up to 1
        d = {"mu": rng.normal(size=(2, 2)), "pi": of_shares, "C": theta["C"]}
        ends = [
            check(X, **{n: theta[n] + h * d[n] for n in d}, shape=SHAPES[shape], epsilon=1e-6)
            for h in (-1e-4, 1e-4)
        ]
        return (ends[1].objective - ends[0].objective) / 2e-4 / len(X)

    claim = check(X, **fitted, shape=SHAPES[shape], epsilon=1e-6)
    assert claim.miss <= 1e-9 * claim.scale
    assert max(abs(slope(fitted)) for _ in range(4)) < 1e-4
    moved = {**fitted, "mu": fitted["mu"] + 0.1}
    assert max(abs(slope(moved)) for _ in range(4)) > 1e-3


def test_with_gaps_the_optimum_is_that_of_a_general_optimiser():
    """One component: the observed likelihood has one maximum, which EM's step must leave alone."""
    X, s = with_gaps(drawn(3, n=30, k=1)), weights(30)

    def parts(t):
        L = np.array([[np.exp(t[2]), 0.0], [t[3], np.exp(t[4])]])
        return {"pi": np.ones(1), "mu": t[None, :2], "C": (L @ L.T)[None]}

    def cost(t):
        return -plain_likelihood(X, *parts(t).values(), s)

    t = np.concatenate([np.nanmean(X, axis=0), [0.0, 0.0, 0.0]])
    found = minimize(cost, t, method="BFGS", options={"gtol": 1e-7}).x
    claim = check(X, s, **parts(found), shape=Full())
    assert claim.miss <= 1e-9 * claim.scale
    for j in range(5):
        near = found.copy()
        near[j] += 0.02
        claim = check(X, s, **parts(near), shape=Full())
        assert not claim.holds
        assert claim.miss <= cost(near) - cost(found)  # one step gains no more than all


@each_shape
@pytest.mark.parametrize("gaps", [False, True])
def test_no_step_lowers_the_objective(shape, gaps):
    X, s = (with_gaps(drawn(4, n=50)) if gaps else drawn(4, n=50)), weights(50)
    D = np.diag(np.nanvar(np.where(s[:, None] > 0, X, np.nan), axis=0))
    for seed in range(5):
        t = some(shape, seed)
        C, X_, s_ = SHAPES[shape].matrices(t["C"], 2), X[s > 0], s[s > 0]
        F, w = page.expectation(X_, s_, t["pi"], t["mu"], C, D, 0.5)
        step = page.maximization(X_, w, t["mu"], C, D, 0.5, SHAPES[shape], 0.0)
        F1, _ = page.expectation(X_, s_, *step, D, 0.5)
        assert F1 > F


@each_shape
def test_a_number_on_the_diagonal_is_held_to_its_fixed_points(shape):
    X, s, added, t = drawn(5), weights(200), 0.3, some(shape)
    X_, s_, C = X[s > 0], s[s > 0], SHAPES[shape].matrices(t["C"], 2)
    pi, mu = t["pi"], t["mu"]
    for _ in range(150):
        w = page.expectation(X_, s_, pi, mu, C, np.eye(2), 0.0)[1]
        pi, mu, C = page.maximization(X_, w, mu, C, np.eye(2), 0.0, SHAPES[shape], added)
    kept = {"full": C, "tied": C[0], "diag": np.diagonal(C, axis1=1, axis2=2)}
    t = {"pi": pi, "mu": mu, "C": kept.get(shape, C[:, 0, 0]), "shape": SHAPES[shape]}
    assert check(X, s, **t, added=added).holds
    assert not check(X, s, **t).holds
    assert not check(X, s, **{**t, "C": 1.01 * t["C"]}, added=added).holds
    # of a fall, too: the way back is of second order, and too short to be refused
    claim = check(X, s, **{**t, "C": 0.9995 * t["C"]}, added=added)
    assert claim.objective > check(X, s, **t, added=added).objective
    assert not claim.holds


def test_the_way_of_a_step_is_the_sum_of_divergences():
    a, b = some("full", 1), some("full", 2)
    total = b["pi"] @ np.log(b["pi"] / a["pi"])
    for k in range(3):
        P, d = np.linalg.inv(a["C"][k]), b["mu"][k] - a["mu"][k]
        ratio = np.log(np.linalg.det(a["C"][k]) / np.linalg.det(b["C"][k]))
        total += b["pi"][k] * (np.trace(P @ b["C"][k]) - 2 + d @ P @ d + ratio) / 2
    assert page.divergence(*a.values(), *b.values()) == pytest.approx(total, rel=1e-12)


def test_components_that_are_all_the_same_are_stationary_and_no_more_is_stated():
    X = drawn(6)
    mean, C = X.mean(axis=0), np.cov(X.T, ddof=0)
    claim = check(X, pi=np.full(2, 0.5), mu=np.stack([mean] * 2), C=np.stack([C] * 2), shape=Full())
    assert claim.holds
    assert claim.kind == "stationary"  # a saddle: two components that differ are likelier
    assert GaussianMixture(2, random_state=0).fit(X).certificate_.objective > claim.objective + 1


# --- what is no mixture ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    X = drawn(2)
    model = GaussianMixture(2, random_state=0).fit(X)
    theta = {"pi": model.weights_, "mu": model.means_, "C": model.covariances_, "shape": Full()}
    assert check(X, **theta, epsilon=1e-6).holds
    return X, {**theta, "epsilon": 1e-6}


@pytest.mark.parametrize("factor", [1.001, 0.999])
def test_shares_that_do_not_add_up_to_1_are_refused(fitted, factor):
    X, theta = fitted
    assert not check(X, **{**theta, "pi": factor * theta["pi"]}).holds


def test_no_sum_of_shares_hides_what_a_step_gains(fitted):
    X, theta = fitted
    theta = {**theta, "mu": theta["mu"] + 0.05}
    claim = check(X, **theta)
    hidden = {**theta, "pi": theta["pi"] * np.exp(claim.miss / len(X))}
    assert check(X, **hidden).objective == pytest.approx(claim.objective + claim.miss, rel=1e-12)
    assert check(X, **hidden).miss == pytest.approx(claim.miss, rel=1e-6)
    assert not check(X, **hidden).holds


@pytest.mark.parametrize(
    "edit",
    [
        {"pi": np.array([1.5, -0.5])},
        {"pi": np.zeros(2)},
        {"C": np.stack([-np.eye(2)] * 2)},
        {"C": np.stack([np.zeros((2, 2))] * 2)},
        {"C": np.stack([np.array([[1.0, 2.0], [2.0, 1.0]])] * 2)},
        {"constant": [1]},
    ],
)
def test_what_is_no_density_is_refused(fitted, edit):
    X, theta = fitted
    claim = check(X, **{**theta, **edit})
    assert claim.miss == np.inf
    assert not claim.holds


def test_a_covariance_is_read_above_and_below_its_diagonal(fitted):
    X, theta = fitted
    for i, j in ((0, 1), (1, 0)):
        C = theta["C"].copy()
        C[0, i, j] += 0.1
        assert not check(X, **{**theta, "C": C}).holds


def test_a_covariance_with_no_row_to_tell_is_refused_where_it_is_not_one():
    """Each row knows one entry, so that no row's density would notice."""
    X = drawn(7, n=100)
    X[::2, 0], X[1::2, 1] = np.nan, np.nan
    v = np.nanvar(X, axis=0)
    C = np.diag(v)
    mu = np.nanmean(X, axis=0)[None]
    assert check(X, pi=np.ones(1), mu=mu, C=C[None], shape=Full()).holds
    C[0, 1] = C[1, 0] = 1.1 * np.sqrt(v.prod())
    assert not check(X, pi=np.ones(1), mu=mu, C=C[None], shape=Full()).holds


# --- with the proof -------------------------------------------------------------------------------


ROWS = {
    "as drawn": overlapping(8),
    "far": overlapping(8, far=1e6),
    "with gaps": with_gaps(overlapping(8)),
    "with a constant column": np.hstack([overlapping(8), np.full((150, 1), 7.0)]),
    "in other units": overlapping(8) * [1e6, 1e-6],
    "float32": overlapping(8).astype(np.float32),
    "an outlier": np.vstack([overlapping(8), [[40.0, -40.0]]]),
}
WEIGHTED = ("far", "with gaps", "in other units")
HOW = {
    "prior": {}, "likelihood": {"reg_covar": None}, "added": {"reg_covar": 1e-2},
    "stopped": {"init_params": "k-means++", "max_iter": 1},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@each_shape
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("rows", ROWS)
def test_page_and_proof_agree(shape, how, rows):
    X, by = ROWS[rows], HOW[how]
    if how == "likelihood" and rows in ("with a constant column", "an outlier"):
        pytest.skip("there is no maximum likelihood")
    s = weights(len(X)) if rows in WEIGHTED else None
    model = GaussianMixture(2, covariance_type=shape, random_state=0, **by).fit(X, sample_weight=s)
    c = model.certificate_
    claim = by_page(c.parameters, X, s)
    assert claim.objective == pytest.approx(c.objective, rel=1e-9)
    assert claim.holds == c.certified
    if c.certified:
        assert claim.miss / claim.scale <= c.residual + 1e-12 * abs(c.objective)
    else:
        assert claim.miss / claim.scale >= c.residual * (1 - 1e-3)


@each_shape
@pytest.mark.parametrize("max_iter", [1, 1000])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_of_scikit_learn_too(shape, max_iter):
    X = overlapping(9)
    how = {"covariance_type": shape, "init_params": "random_from_data", "random_state": 0}
    c = certus.verify(peers.GaussianMixture(2, tol=1e-9, max_iter=max_iter, **how).fit(X), X)
    claim = by_page(c.parameters, X)
    assert c.certified == (max_iter > 1 or shape == "tied")
    assert claim.holds == c.certified
    assert claim.objective == pytest.approx(c.objective, rel=1e-9)
    assert claim.miss / claim.scale == pytest.approx(c.residual, rel=1e-3, abs=1e-9)


@each_shape
@pytest.mark.parametrize("gaps", [False, True])
def test_edits_are_refused(shape, gaps):
    X = with_gaps(drawn(2)) if gaps else drawn(2)
    model = GaussianMixture(2, covariance_type=shape, random_state=0).fit(X)
    given = model.certificate_.parameters
    theta, larger = given["theta"], np.array([1.01, 1.0])
    assert by_page(given, X).holds
    for edited in (
        {"weights": given["weights"] * larger},
        {"theta": {**theta, "means": theta["means"] * larger[:, None]}},
        {"theta": {**theta, "covariances": theta["covariances"] * 1.01}},
        {"theta": {**theta, "means": theta["means"][::-1]}},
    ):
        parameters = {**given, **edited}
        assert not by_page(parameters, X).holds
        assert proof.check(data(X), **parameters)["residual"] > TOL


def test_an_early_stop_is_refused():
    X = overlapping(8)
    with pytest.warns(NotCertifiedWarning):
        model = GaussianMixture(2, random_state=0, max_iter=1).fit(X)
    assert not by_page(model.certificate_.parameters, X).holds
