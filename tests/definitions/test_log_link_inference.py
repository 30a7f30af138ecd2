"""The page of standard errors of Poisson and Gamma models, against derivatives by differences."""

import numpy as np
import pytest

from certus.certificate.pages.inference import log_link_inference as adaptor
from certus.definitions import log_link_inference
from certus.definitions.log_link_inference import check
from certus.definitions.terms.families import GammaAmounts, PoissonCounts
from certus.linear_model import GammaRegressor, PoissonRegressor
from tests.definitions.classifiers import is_short
from tests.definitions.regression_claims import claims_of
from tests.definitions.test_logistic_inference import curvature
from tests.log_link.log_link_cases import FAMILIES, case

TERMS = {"poisson": PoissonCounts(), "gamma": GammaAmounts()}
MODELS = {"poisson": PoissonRegressor, "gamma": GammaRegressor}
COVARIANCES = ["classical", "HC0", "HC1", "HC2", "HC3", "cluster"]
each_family = pytest.mark.parametrize("family", FAMILIES)


def data(family, **options):
    c = case(family, "none", n=60, weighted=True, offset=True, **options)
    return c, np.column_stack([c.y, c.o]), np.random.default_rng(4).integers(0, 9, size=60)


@pytest.mark.parametrize("family", TERMS.values(), ids=FAMILIES)
def test_the_page_is_short(family):
    assert is_short(log_link_inference, type(family))


@each_family
@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_covariances_are_those_of_derivatives_by_differences(family, alpha, intercept):
    c, y, groups = data(family)
    Phi = np.column_stack([np.ones(60), c.X]) if intercept else c.X
    m, n, s = Phi.shape[1], c.s.sum(), c.s
    beta = 0.2 * np.random.default_rng(1).normal(size=m)

    def losses(beta):
        """Half the deviance of each row, but for what does not depend on β."""
        z = Phi @ beta + c.o
        return np.exp(z) - c.y * z if family == "poisson" else z + c.y * np.exp(-z)

    def penalty(beta):
        return alpha / 2 * np.sum(beta[int(intercept) :] ** 2)

    def observed(beta):
        return s @ losses(beta)

    mean = np.exp(Phi @ beta + c.o)
    dispersion = 1.0

    def expected(b):
        """The loss of targets that equal their means."""
        z = Phi @ b + c.o
        return s @ (np.exp(z) - mean * z if family == "poisson" else z + mean * np.exp(-z))

    if family == "gamma":
        dispersion = s @ (c.y / mean - 1) ** 2 / (n - m)
    E, A = curvature(expected, beta), curvature(lambda b: observed(b) + penalty(b), beta)
    classical = np.linalg.inv(curvature(lambda b: expected(b) + penalty(b), beta))
    steps = 1e-5 * np.eye(m)
    g = np.array([(losses(beta + e) - losses(beta - e)) / 2e-5 for e in steps])
    own = [curvature(lambda b, e=e: e @ losses(b), beta) for e in np.eye(60)]
    h = np.array([np.trace(np.linalg.solve(A, one)) for one in own])
    u = np.array([(g * s)[:, groups == k].sum(axis=1) for k in range(9)]).T
    meats = {
        "HC0": (g * s) @ g.T, "HC1": n / (n - m) * (g * s) @ g.T,
        "HC2": (g * s / (1 - h)) @ g.T, "HC3": (g * s / (1 - h) ** 2) @ g.T,
        "cluster": 9 / 8 * (n - 1) / (n - m) * u @ u.T,
    }  # fmt: skip
    covariances = {"classical": dispersion * classical @ E @ classical}
    covariances |= {cov: np.linalg.inv(A) @ M @ np.linalg.inv(A) for cov, M in meats.items()}
    for cov, covariance in covariances.items():
        how = {
            "family": TERMS[family], "coef": beta, "alpha": alpha, "fit_intercept": intercept,
            "cov": cov, "groups": groups if cov == "cluster" else None, "tol": 1e-4,
        }  # fmt: skip
        assert check(c.X, y, s, covariance=covariance, **how).holds, cov
        assert not check(c.X, y, s, covariance=1.001 * covariance, **how).holds, cov


@each_family
@pytest.mark.parametrize("cov", COVARIANCES)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"alpha": 0.1}], ids=str)
def test_the_page_agrees_with_the_estimator(family, cov, options):
    c, y, groups = data(family)
    groups = groups if cov == "cluster" else None
    model = MODELS[family](**{"alpha": 0.0, **options}).fit(c.X, c.y, c.s, offset=c.o)
    found = model.inference(c.X, c.y, c.s, cov, offset=c.o, groups=groups)
    problem = adaptor(found, groups)
    (claim,) = claims_of([problem], c.X, y, c.s)
    assert claim.miss <= 1e-8
    assert claim.objective == pytest.approx(found.deviance / 2, rel=1e-10)
    assert not claims_of([problem], 1.0001 * c.X, y, c.s)[0].holds
    edited = {**problem.arguments, "covariance": found.covariance * 1.00001}
    assert not claims_of([problem._replace(arguments=edited)], c.X, y, c.s)[0].holds


@each_family
def test_columns_that_repeat_others_are_refused(family):
    c, y, _ = data(family)
    X = np.column_stack([c.X, c.X[:, 0]])
    how = {"family": TERMS[family], "coef": np.zeros(5), "covariance": np.eye(5)}
    assert not check(X, y, c.s, **how).holds
