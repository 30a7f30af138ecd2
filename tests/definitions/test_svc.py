"""The page of support vector machines: objective, bound, and agreement with the proof."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

import certus
from certus.definitions import svc
from certus.definitions.terms.density_weights import DensityWeights
from certus.definitions.terms.kernels import RBF, Polynomial, PrecomputedKernel, Sigmoid
from certus.definitions.terms.targets import Classes
from certus.svm import DensityWeightedSVC
from tests.definitions.lines import lines_to_read
from tests.definitions.machine_cases import assert_agrees, blobs, claim_of, weights

GAMMA, C = 0.4, 2.0
INDEFINITE = pytest.mark.filterwarnings("ignore:kernel 'sigmoid' is not positive")


def gram(X):
    return np.exp(-GAMMA * ((X[:, None] - X) ** 2).sum(axis=2))


def primal(K, y, s, beta, b):
    """P, literally."""
    n = len(y)
    f = [b + sum(K[i, j] * beta[j] for j in range(n)) for i in range(n)]
    loss = sum(C * s[i] * max(0.0, 1 - y[i] * f[i]) for i in range(n))
    return loss + sum(beta[i] * K[i, j] * beta[j] for i in range(n) for j in range(n)) / 2


def solve(K, y, s):
    """α and b of the optimum, by scipy."""
    Q = y[:, None] * K * y
    n = len(y)
    found = minimize(
        lambda a: a @ Q @ a / 2 - a.sum(), np.zeros(n), jac=lambda a: Q @ a - 1, method="SLSQP",
        bounds=[(0.0, C * weight) for weight in s],
        constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y},
        options={"maxiter": 1000, "ftol": 1e-15},
    )  # fmt: skip
    alpha = np.clip(found.x, 0.0, C * s)
    f = K @ (alpha * y)
    inside = (alpha > 1e-4) & (alpha < C * s - 1e-4)
    return alpha, float((y - f)[inside].mean())


def check(X, y, s, beta, b, **how):
    how = {"C": C, "kernel": RBF(GAMMA), "pairs": [(1, 0)], **how}
    return svc.check(X, (y > 0).astype(int), s, beta=beta[:, None], b=np.array([b]), **how)


def case(seed, n=14):
    X, y = blobs(seed, n=n, shift=0.6)
    return X, 2.0 * y - 1, np.maximum(weights(n, seed), 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_optimum_wherever_it_is_computed(seed):
    X, y, s = case(seed)
    K, rng = gram(X), np.random.default_rng(seed)
    alpha, b = solve(K, y, s)
    best = check(X, y, s, alpha * y, b)
    least = primal(K, y, s, alpha * y, b)
    assert best.objective == pytest.approx(least, rel=1e-12)
    assert 0 <= best.miss <= 1e-5 * best.scale
    for far in (1e-6, 1e-2, 0.3, 10.0):
        beta = alpha * y + far * rng.normal(size=len(y))  # not feasible
        at_b = b + far * rng.normal()
        claim = check(X, y, s, beta, at_b)
        assert claim.objective == pytest.approx(primal(K, y, s, beta, at_b), rel=1e-12)
        assert claim.bound <= least * (1 + 1e-12)
        assert claim.miss == pytest.approx(claim.objective - claim.bound, abs=1e-12)
        if far > 1e-3:
            assert not claim.holds


def test_the_miss_is_the_difference_to_the_dual_objective():
    X, y, s = case(5)
    K = gram(X)
    alpha, b = solve(K, y, s)
    alpha = 0.9 * alpha  # feasible
    D = alpha.sum() - (alpha * y) @ K @ (alpha * y) / 2
    claim = check(X, y, s, alpha * y, b)
    assert claim.miss == pytest.approx(primal(K, y, s, alpha * y, b) - D, rel=1e-6)


def test_no_other_function_is_better_than_the_bound():
    X, y, s = case(6)
    K, rng = gram(X), np.random.default_rng(0)
    alpha, b = solve(K, y, s)
    bound = check(X, y, s, 0.8 * alpha * y, b).bound
    assert bound > 0
    for _ in range(60):
        u = alpha * y * rng.uniform(0.5, 1.5) + rng.normal(size=len(y)) * rng.choice([0.01, 0.3])
        assert primal(K, y, s, u, b + 0.1 * rng.normal()) >= bound


def test_the_scale_is_the_objective_of_the_intercept_alone():
    X, y, s = case(7)
    zero = np.zeros(len(y))
    least = min(primal(gram(X), y, s, zero, b) for b in (-1.0, 0.0, 1.0))
    assert check(X, y, s, zero, 0.0, tol=1e9).scale == pytest.approx(least, rel=1e-12)


def test_dual_variables_of_other_signs_or_above_their_limits_prove_nothing():
    X, y, s = case(8)
    alpha, b = solve(gram(X), y, s)
    assert check(X, y, s, alpha * y, b, tol=1e-5).holds
    for bad in (-alpha * y, 1.01 * alpha * y, alpha * y + 0.1, np.full(len(y), np.nan)):
        assert not check(X, y, s, bad, b, tol=1e-5).holds


def test_a_kernel_that_is_not_symmetric_is_refused():
    X, y, s = case(8)
    K = gram(X)
    alpha, b = solve(K, y, s)
    assert check(K, y, s, alpha * y, b, kernel=PrecomputedKernel(), tol=1e-5).holds
    K[2, 5] += 1e-6
    assert not check(K, y, s, alpha * y, b, kernel=PrecomputedKernel(), tol=1e-5).holds


def test_without_a_definite_kernel_no_bound_is_claimed():
    X, y, s = case(9)
    claim = check(X, y, s, np.zeros(len(y)), 0.0, kernel=Sigmoid(0.5, -1.0), tol=10.0)
    assert (claim.kind, claim.bound) == ("stationary", None)


# --- agreement with the proof ---------------------------------------------------------------------

SETTINGS = {
    "rbf": {}, "linear": {"kernel": "linear"}, "poly": {"kernel": "poly", "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.05}, "auto": {"gamma": "auto"},
    "number": {"gamma": 0.3},
    "balanced": {"class_weight": "balanced"}, "classes": {"class_weight": {1: 2.5}},
    "hard": {"C": 1e3},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("how", SETTINGS.values(), ids=SETTINGS)
def test_machines_of_scikit_learn_get_the_verdict_of_the_proof(how, classes):
    X, y = blobs(1, classes=classes)
    s = np.maximum(weights(len(X)), 0.5)
    verdicts = []
    for stop in ({"tol": 1e-11}, {"tol": 0.1}, {"max_iter": 3}):
        model = SVC(**{"C": 3.0, **how, **stop}).fit(X, y, s)
        c = certus.verify(model, X, y, sample_weight=s)
        verdicts.append(assert_agrees(c, X, y, s).holds)
    assert verdicts[0]
    assert not verdicts[2]


@INDEFINITE
@pytest.mark.parametrize("density", ["global", "per_class"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "sigmoid"])
def test_density_weighted_machines_are_certified_by_both(kernel, classes, density):
    X, y = blobs(2, classes=classes)
    s = np.maximum(weights(len(X)), 0.5)
    model = DensityWeightedSVC(5.0, kernel=kernel, density=density).fit(X, y, s)
    c = model.certificate_
    assert assert_agrees(c, X, y, s).holds
    k, apart = c.parameters["density"]
    for other in ((k + 1, apart), (k, not apart), None):
        assert not claim_of(c, X, y, s, density=other).holds


@pytest.mark.parametrize("classes", [2, 3])
def test_edits_of_one_per_cent_and_swapped_labels_are_refused_by_both(classes):
    X, y = blobs(3, classes=classes)
    model = SVC(C=3.0, tol=1e-11).fit(X, y)
    c = certus.verify(model, X, y)
    assert claim_of(c, X, y).holds
    for changed in (
        {"beta": 1.01 * c.parameters["beta"]}, {"b": c.parameters["b"] + 0.01}, {"C": 3.03},
        {"pairs": c.parameters["pairs"][:, ::-1]}, {"gamma": "auto"},
    ):  # fmt: skip
        assert not claim_of(c, X, y, **changed).holds
    assert not claim_of(c, X, np.roll(y, 1)).holds
    model.dual_coef_ *= 1.01
    model._dual_coef_ = model.dual_coef_
    assert not assert_agrees(certus.verify(model, X, y), X, y).holds


def test_one_pair_that_misses_is_enough_to_refuse():
    X, y = blobs(5, n=60, classes=3)
    model = SVC(C=3.0, tol=1e-13, class_weight={2: 1e-6}).fit(X, y)
    c = certus.verify(model, X, y)
    whole = claim_of(c, X, y)
    assert whole.holds
    claim = claim_of(c, X, y, beta=c.parameters["beta"] * [1.0, 1.0, 0.9])
    assert claim.miss < 1e-6 * whole.scale  # little beside the other pairs
    assert not claim.holds


def test_a_density_weighted_machine_is_read_in_at_most_eighty_lines():
    terms = (Polynomial, DensityWeights, Classes)
    assert lines_to_read(svc, terms) <= 80
    with open(svc.__file__) as page:
        assert len(page.readlines()) <= 100
