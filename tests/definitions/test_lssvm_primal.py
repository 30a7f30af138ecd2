"""The page of the primal least-squares machine: gradient, bound, and agreement with the proof."""

import numpy as np
import pytest

import certus
from certus.definitions import lssvm_primal
from certus.definitions.terms.density_weights import DensityWeights
from certus.definitions.terms.kernels import RBF, FunctionKernel, Polynomial, Sigmoid
from certus.definitions.terms.targets import SignColumns
from certus.svm import DensityWeightedLSSVC
from tests.definitions.lines import lines_to_read
from tests.definitions.machine_cases import assert_agrees, blobs, claim_of, weights

C, EPSILON = 3.0, 0.2
LAM = 1 / C + EPSILON


def problem(seed, kernel, n=15):
    X, y = blobs(seed, n=n)
    y, s = 2.0 * y - 1, weights(n, seed)
    G = np.column_stack([np.array(list(kernel.rows(X)), dtype=float), np.ones(n)])

    def F(v):
        return LAM / 2 * v @ v + s @ (y - G @ v) ** 2 / 2

    best = np.linalg.solve(LAM * np.eye(n + 1) + G.T @ (s[:, None] * G), G.T @ (s * y))
    return X, y, s, F, best


def check(X, y, s, v, kernel, **how):
    return lssvm_primal.check(
        X, y[:, None], s, beta=v[:-1, None], b=v[-1:], C=C, epsilon=EPSILON, kernel=kernel, **how
    )


KERNELS = [
    RBF(0.5), Sigmoid(0.5, -1.0), Polynomial(0.2, 2.0, 1.0),
    FunctionKernel(lambda A, B: A @ B.T + A[:, :1]),  # not symmetric: F does not mind
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_the_bound_is_below_the_optimum_for_every_kernel(kernel):
    X, y, s, F, best = problem(0, kernel)
    rng = np.random.default_rng(0)
    for far in (0.0, 1e-7, 1e-2, 1.0):
        v = best + far * rng.normal(size=len(best))
        claim = check(X, y, s, v, kernel)
        assert claim.objective == pytest.approx(F(v), rel=1e-12)
        assert claim.bound <= F(best) * (1 + 1e-12)
        assert claim.miss == pytest.approx(claim.objective - claim.bound, abs=1e-12)
        assert claim.holds == (far < 1e-3)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_the_miss_is_the_slope_by_finite_differences(kernel):
    X, y, s, F, best = problem(1, kernel)
    v = best + 1e-3 * np.random.default_rng(1).normal(size=len(best))
    steps = 1e-5 * np.eye(len(v))
    slope = np.array([(F(v + h) - F(v - h)) / 2e-5 for h in steps])
    miss = check(X, y, s, v, kernel).miss
    assert miss == pytest.approx(min(slope @ slope / (2 * LAM), F(v)), rel=1e-5)


def test_the_scale_is_the_least_objective_of_a_constant():
    kernel = RBF(0.5)
    X, y, s, _, best = problem(2, kernel)
    constants = np.linspace(-1, 1, 20001)
    least = min(LAM / 2 * c * c + s @ (y - c) ** 2 / 2 for c in constants)
    assert check(X, y, s, best, kernel).scale == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_coefficients_that_are_no_numbers_are_refused(bad):
    kernel = RBF(0.5)
    X, y, s, _, best = problem(2, kernel)
    best[4] = bad
    with np.errstate(invalid="ignore"):
        assert not check(X, y, s, best, kernel).holds


# --- agreement with the proof ---------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("density", ["global", "per_class"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_fits_are_certified_by_both_and_edits_refused_by_both(kernel, density, classes):
    X, y = blobs(4, classes=classes)
    s = weights(len(X))
    model = DensityWeightedLSSVC(
        10.0, kernel=kernel, density=density, formulation="primal", epsilon=0.01
    ).fit(X, y, s)
    c = model.certificate_
    assert assert_agrees(c, X, y, s).holds
    beta, (k, apart) = model.dual_coef_, c.parameters["density"]
    for other in ((k + 1, apart), (k, not apart), None):
        assert not claim_of(c, X, y, s, density=other).holds
    assert not claim_of(c, X, y, s, epsilon=0.02).holds
    assert not claim_of(c, X, np.roll(y, 1), s).holds
    model.dual_coef_ = 1.01 * beta
    edited = certus.verify(model, X, y, sample_weight=s)
    assert not assert_agrees(edited, X, y, s).holds


def test_the_machine_is_read_in_at_most_eighty_lines():
    terms = (Polynomial, DensityWeights, SignColumns)
    assert lines_to_read(lssvm_primal, terms) <= 80
