"""The page of mixtures of counts: against SciPy, loops, finite differences and the proof."""

import inspect

import numpy as np
import pytest
from scipy import stats

from certus.certificate.pages import clusters
from certus.definitions import count_mixture as page
from certus.definitions.terms.counts import Bernoulli, Multinomial, Poisson
from certus.exceptions import NotCertifiedWarning
from certus.mixture import BernoulliMixture, MultinomialMixture, PoissonMixture
from certus.proofs.mixture import mixture as proof
from tests.definitions.lines import lines_to_read, n_lines
from tests.mixture.mixture_cases import data

TOL = 1e-6
FAMILIES = {"bernoulli": Bernoulli(), "poisson": Poisson(), "multinomial": Multinomial()}
MODELS = {
    "bernoulli": BernoulliMixture, "poisson": PoissonMixture, "multinomial": MultinomialMixture,
}  # fmt: skip
each_family = pytest.mark.parametrize("family", FAMILIES)


def counts(family, seed=0, n=80):
    """Rows of two components; one column that never counts."""
    rng = np.random.default_rng(seed)
    which = rng.uniform(size=(n, 1)) < 0.4
    rates = np.where(which, [3.0, 0.5, 1.0, 0.0], [0.7, 2.0, 1.0, 0.0])
    X = rng.poisson(rates).astype(float)
    X[0] = 0.0
    return np.minimum(X, 1.0) if family == "bernoulli" else X


def weights(n, seed=0):
    s = np.random.default_rng(seed).uniform(0.2, 2, n)
    s[::7] = 0.0
    return s


def some(family, seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.uniform(0.1, 0.9, (3, 4))
    theta = theta / theta.sum(axis=1, keepdims=True) if family == "multinomial" else theta
    return {"pi": rng.dirichlet(np.full(3, 5.0)), "theta": theta}


def check(X, s=None, **how):
    return page.check(X, None, np.ones(len(X)) if s is None else s, **how)


def by_page(parameters, X, s=None):
    """The claim of the page with the parameters of a certificate."""
    (problem,) = clusters.mixture(parameters, None)
    assert problem.page == "count_mixture"
    s = np.ones(len(X)) if s is None else s
    return page.check(X, *problem.targets(None, s), **problem.arguments)


def log_mass(family, x, theta):
    if family == "multinomial":
        return stats.multinomial(x.sum(), theta).logpmf(x)
    one = stats.bernoulli(theta) if family == "bernoulli" else stats.poisson(theta)
    return one.logpmf(x).sum()


def by_loops(family, X, s, pi, theta, a):
    """The objective and the parameters after a step."""
    total, n, t = 0.0, np.full(len(pi), a), np.zeros(theta.shape)
    mean = s @ X / s.sum()
    for x, weight in zip(X, s, strict=True):
        each = np.array([np.log(pi[k]) + log_mass(family, x, theta[k]) for k in range(len(pi))])
        log_p = np.logaddexp.reduce(each)
        total += weight * log_p
        r = weight * np.exp(each - log_p)
        n, t = n + r, t + np.outer(r, x)
    for one in theta:
        q = (mean * np.log(one)).sum()
        if family == "bernoulli":
            q += ((1 - mean) * np.log(1 - one)).sum()
        total += a * (q - one.sum() if family == "poisson" else q)
    t = t + a * mean
    step = t / (t.sum(axis=1, keepdims=True) if family == "multinomial" else n[:, None])
    return total, (n - a) / (n - a).sum(), step


def test_the_page_is_short():
    for term in (Bernoulli, Poisson, Multinomial):
        assert n_lines(inspect.getsource(term)) <= 15
        assert lines_to_read(page, [term]) <= 80
    assert len(inspect.getsource(page).splitlines()) <= 100


@each_family
@pytest.mark.parametrize("a", [0.0, 2.5])
def test_objective_and_gain_are_those_of_loops(family, a):
    X, s, t = counts(family), weights(80), some(family)
    F, pi, theta = by_loops(family, X, s, **t, a=a)
    claim = check(X, s, **t, family=FAMILIES[family], a=a)
    assert claim.objective == pytest.approx(F, rel=1e-12)
    assert claim.scale == pytest.approx(s.sum())
    theta = np.maximum(theta, 1e-300)
    assert claim.miss == pytest.approx(by_loops(family, X, s, pi, theta, a)[0] - F, rel=1e-9)
    assert claim.miss > 0
    assert not claim.holds


@each_family
def test_where_the_claim_holds_the_slope_of_the_objective_is_zero(family):
    X, s = counts(family), weights(80)
    t = some(family)
    pi, theta = t["pi"], t["theta"]
    for _ in range(2000):
        _, pi, theta = by_step(family, X, s, pi, theta)
    rng = np.random.default_rng(0)

    def slope(pi, theta):
        u, v = rng.normal(size=3), rng.normal(size=(3, 4))
        d_theta = theta * v if family == "poisson" else theta * (1 - theta) * v
        if family == "multinomial":
            d_theta = theta * (v - (theta * v).sum(axis=1, keepdims=True))
        ends = [
            check(X, s, pi=pi + h * pi * (u - pi @ u), theta=theta + h * d_theta,
                  family=FAMILIES[family], a=0.5).objective
            for h in (-1e-4, 1e-4)
        ]  # fmt: skip
        return (ends[1] - ends[0]) / 2e-4 / s.sum()

    claim = check(X, s, pi=pi, theta=theta, family=FAMILIES[family], a=0.5)
    assert claim.miss <= 1e-10 * claim.scale
    assert max(abs(slope(pi, theta)) for _ in range(4)) < 1e-4
    moved = 0.9 * theta + 0.1 * theta[::-1]
    assert max(abs(slope(pi, moved)) for _ in range(4)) > 1e-3


def by_step(family, X, s, pi, theta, a=0.5):
    mean = s @ X / s.sum()
    F, w = page.expectation(X, s, pi, theta, FAMILIES[family], a, mean)
    n = w.sum(axis=0)
    return F, n / n.sum(), FAMILIES[family].fitted(w.T @ X + a * mean, n + a)


@each_family
def test_components_that_are_all_the_same_are_stationary_and_no_more_is_stated(family):
    X = counts(family)
    mean = X.mean(axis=0) / (X.mean(axis=0).sum() if family == "multinomial" else 1.0)
    claim = check(X, pi=np.full(2, 0.5), theta=np.stack([mean] * 2), family=FAMILIES[family])
    assert claim.holds
    assert claim.kind == "stationary"  # a saddle: two components that differ are likelier
    model = MODELS[family](2, random_state=0, prior=0.0).fit(X)
    assert model.certificate_.objective > claim.objective + 1


# --- what is no mixture ---------------------------------------------------------------------------


@each_family
@pytest.mark.parametrize("factor", [1.001, 0.999])
def test_shares_that_do_not_add_up_to_1_are_refused(family, factor):
    X = counts(family)
    given = MODELS[family](2, random_state=0).fit(X).certificate_.parameters
    assert by_page(given, X).holds
    assert not by_page({**given, "weights": factor * given["weights"]}, X).holds


@each_family
def test_no_sum_of_shares_hides_what_a_step_gains(family):
    X, t = counts(family), some(family)
    claim = check(X, **t, family=FAMILIES[family])
    hidden = {**t, "pi": t["pi"] * np.exp(claim.miss / len(X))}
    again = check(X, **hidden, family=FAMILIES[family])
    assert again.objective == pytest.approx(claim.objective + claim.miss, rel=1e-12)
    assert again.miss == pytest.approx(claim.miss, rel=1e-9)


@each_family
def test_what_is_no_density_is_refused(family):
    X, t, term = counts(family), some(family), FAMILIES[family]
    theta = t["theta"].copy()
    theta[0, 0] = -1e-12
    edits = [{"theta": theta}, {"pi": np.array([1.5, -0.5, 0.0])}, {"pi": np.zeros(3)}]
    if family == "bernoulli":
        edits.append({"theta": t["theta"] + 0.9})
    if family == "multinomial":
        edits.append({"theta": 1.01 * t["theta"]})
    for edit in edits:
        assert check(X, **{**t, **edit}, family=term).miss == np.inf
    assert check(-X, **t, family=term).miss == np.inf


# --- with the proof -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@each_family
@pytest.mark.parametrize("prior", [0.0, 1e-6, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_iter", [1, 5000])
def test_page_and_proof_agree(family, prior, weighted, max_iter):
    X, s = counts(family), weights(80) if weighted else None
    how = {"prior": prior, "random_state": 0, "max_iter": max_iter, "init_params": "random"}
    c = MODELS[family](2, **how).fit(X, sample_weight=s).certificate_
    claim = by_page(c.parameters, X, s)
    assert claim.objective == pytest.approx(c.objective, rel=1e-9)
    assert claim.holds == c.certified == (max_iter > 1)
    if c.certified:
        assert claim.miss / claim.scale <= c.residual + 1e-12
    assert claim.miss / claim.scale == pytest.approx(c._finding.seems, rel=1e-3, abs=1e-9)


@each_family
def test_edits_and_early_stops_are_refused(family):
    X = counts(family)
    given = MODELS[family](2, random_state=0).fit(X).certificate_.parameters
    values, larger = given["theta"]["values"], np.array([1.01, 1.0])
    edits = [
        {"weights": given["weights"] * larger},
        {"theta": {"values": values[::-1]}},
        {"theta": {"values": values * larger[:, None]}},
    ]
    for edit in edits:
        parameters = {**given, **edit}
        assert not by_page(parameters, X).holds
        assert proof.check(data(X), **parameters)["residual"] > TOL
    with pytest.warns(NotCertifiedWarning):
        model = MODELS[family](2, random_state=0, init_params="random", max_iter=1).fit(X)
    assert not by_page(model.certificate_.parameters, X).holds
