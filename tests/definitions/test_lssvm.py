"""The page of least-squares machines: objective, bound, and agreement with the proof."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import minmax_scale

import certus
from certus.definitions import lssvm
from certus.definitions.terms.density_weights import DensityWeights
from certus.definitions.terms.kernels import RBF, Linear, Polynomial, PrecomputedKernel, Sigmoid
from certus.definitions.terms.targets import SignColumns
from certus.svm import LSSVC, LSSVR, DensityWeightedLSSVC
from tests.definitions.lines import lines_to_read
from tests.definitions.machine_cases import assert_agrees, blobs, claim_of, curve, weights

FITS = {
    "rbf": {}, "linear": {"kernel": "linear"}, "poly": {"kernel": "poly", "coef0": 1.0},
    "strong": {"C": 1e4}, "weak": {"C": 1e-4}, "no intercept": {"fit_intercept": False},
    "balanced": {"class_weight": "balanced"}, "weights of classes": {"class_weight": {0: 3.0}},
    "indefinite": {"kernel": "sigmoid", "gamma": 0.5, "coef0": -1.0},
}  # fmt: skip

INDEFINITE = pytest.mark.filterwarnings("ignore:kernel 'sigmoid' is not positive")


def gram(X, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))


def solve(K, y, omega, C, fit_intercept=True):
    """β, b of the least P, by the equations of the rows with weight."""
    used = np.flatnonzero(omega > 0)
    A = K[np.ix_(used, used)] + np.diag(1 / (C * omega[used]))
    if fit_intercept:
        A = np.block([[np.zeros((1, 1)), np.ones((1, len(used)))], [np.ones((len(used), 1)), A]])
    solution = np.linalg.solve(A, np.append(np.zeros(int(fit_intercept)), y[used]))
    beta = np.zeros(len(y))
    beta[used] = solution[int(fit_intercept) :]
    return beta, solution[0] if fit_intercept else 0.0


def primal(K, y, omega, C, beta, b):
    """P, literally."""
    n, total = len(y), 0.0
    for i in range(n):
        f = b + sum(K[i, j] * beta[j] for j in range(n))
        total += C / 2 * omega[i] * (y[i] - f) ** 2
    return total + sum(beta[i] * K[i, j] * beta[j] for i in range(n) for j in range(n)) / 2


def check(X, y, s, beta, b, **options):
    options = {"C": 5.0, "kernel": RBF(0.5), **options}
    return lssvm.check(X, y[:, None], s, beta=beta[:, None], b=np.array([b]), **options)


# --- objective and bound --------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_below_the_optimum_wherever_it_is_computed(seed, fit_intercept):
    X, y = curve(seed, n=20)
    s, K, rng = weights(20, seed), gram(X), np.random.default_rng(seed)
    best, b = solve(K, y, s, 5.0, fit_intercept)
    least = primal(K, y, s, 5.0, best, b)
    for far in (0.0, 1e-6, 1e-4, 0.1, 10.0):
        beta = best + far * rng.normal(size=20)  # Σβ ≠ 0, and β ≠ 0 where rows have no weight
        at_b = b + far * rng.normal() * fit_intercept
        claim = check(X, y, s, beta, at_b, fit_intercept=fit_intercept)
        assert claim.objective == pytest.approx(primal(K, y, s, 5.0, beta, at_b), rel=1e-12)
        assert claim.bound <= least * (1 + 1e-12)
        assert claim.miss == pytest.approx(claim.objective - claim.bound, rel=1e-6, abs=1e-12)
        assert claim.holds == (far < 0.01)


def test_the_miss_is_the_difference_to_the_dual_objective():
    X, y = curve(4, n=15)
    s, K = weights(15), gram(X)
    beta, b = solve(K, y, s, 5.0)
    beta = beta + 0.01 * np.random.default_rng(0).normal(size=15)
    inside = np.where(s > 0, beta, 0.0)
    inside -= s * inside.sum() / s.sum()
    used = s > 0
    D = inside @ y - inside @ K @ inside / 2 - (inside[used] ** 2 / (2 * 5.0 * s[used])).sum()
    delta = beta - inside
    claim = check(X, y, s, beta, b)
    loose = np.abs(delta) @ np.abs(K @ delta) / 2 - delta @ K @ delta / 2  # |δ|ᵀ|Kδ| for δᵀKδ
    assert loose > 0
    assert claim.bound == pytest.approx(D - loose, rel=1e-10)


def test_the_scale_is_the_objective_of_the_intercept_alone():
    X, y = curve(1, n=15)
    s, zero = weights(15), np.zeros(15)
    mean = np.average(y, weights=s)
    assert check(X, y, s, zero, mean, tol=1e9).scale == pytest.approx(
        primal(gram(X), y, s, 5.0, zero, mean)
    )


def test_a_constant_target_is_met_by_its_mean():
    X, _ = curve(1, n=15)
    for value in (0.0, 3.3, 1e8 / 3):
        y = np.full(15, value)
        rounding = 1e-17 * value * np.random.default_rng(0).normal(size=15)
        assert check(X, y, np.ones(15), rounding, value).holds
        assert not check(X, y, np.ones(15), np.zeros(15), value + 1e-3).holds


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_coefficients_that_are_no_numbers_are_refused(bad):
    X, y = curve(2, n=15)
    beta, b = solve(gram(X), y, np.ones(15), 5.0)
    beta[3] = bad
    with np.errstate(invalid="ignore", over="ignore"):
        assert not check(X, y, np.ones(15), beta, b).holds


def test_an_intercept_that_is_not_part_of_the_model_is_refused():
    X, y = curve(2, n=15)
    beta, b = solve(gram(X), y, np.ones(15), 5.0)
    assert check(X, y, np.ones(15), beta, b).holds
    without, _ = solve(gram(X), y - b, np.ones(15), 5.0, fit_intercept=False)
    assert not check(X, y, np.ones(15), without, b, fit_intercept=False).holds


def test_a_kernel_that_is_not_symmetric_is_refused():
    X, y = curve(2, n=15)
    K = gram(X)
    beta, b = solve(K, y, np.ones(15), 5.0)
    assert check(K, y, np.ones(15), beta, b, kernel=PrecomputedKernel()).holds
    K[2, 5] += 1e-6
    assert not check(K, y, np.ones(15), beta, b, kernel=PrecomputedKernel()).holds


def test_without_a_definite_kernel_no_bound_is_claimed():
    X, y = curve(2, n=15)
    for kernel in (RBF(-0.1), Polynomial(0.5, 2.0, -2.0), Sigmoid(0.5, -1.0)):
        K = np.array(list(kernel.rows(X)))
        assert np.linalg.eigvalsh(K)[0] < -1e-2
        beta, b = solve(K, y, np.ones(15), 5.0)
        claim = check(X, y, np.ones(15), beta, b, kernel=kernel)
        assert (claim.kind, claim.bound, claim.holds) == ("stationary", None, True)
        assert not check(X, y, np.ones(15), 1.01 * beta, b, kernel=kernel).holds


def test_eigenvalues_that_rounding_made_negative_are_lifted():
    X, y = curve(2, n=30)
    K = gram(X, 0.01).astype(np.float32).astype(float)
    assert np.linalg.eigvalsh(K)[0] < -1e-9
    beta, b = solve(K, y, np.ones(30), 5.0)
    claim = check(K, y, np.ones(30), beta, b, kernel=PrecomputedKernel())
    assert claim.kind == "global optimum"
    K[0, 1] = K[1, 0] = K[0, 1] * (1 + 1e-9)  # no longer of single precision
    assert check(K, y, np.ones(30), beta, b, kernel=PrecomputedKernel()).kind == "stationary"


def test_each_column_must_hold_whatever_the_others_measure():
    X, y = curve(3, n=20)
    Y, K = np.column_stack([1e6 * y, np.cos(y)]), gram(X)
    fits = [solve(K, column, np.ones(20), 5.0) for column in Y.T]
    beta, b = (np.stack(part, axis=-1) for part in zip(*fits, strict=True))
    options = {"C": 5.0, "kernel": RBF(0.5)}
    claim = lssvm.check(X, Y, np.ones(20), beta=beta, b=b, **options)
    parts = [check(X, c, np.ones(20), *fit) for c, fit in zip(Y.T, fits, strict=True)]
    assert claim.holds
    assert claim.objective == pytest.approx(sum(part.objective for part in parts))
    assert claim.scale == pytest.approx(sum(part.scale for part in parts))
    beta[:, 1] *= 1.01
    assert not lssvm.check(X, Y, np.ones(20), beta=beta, b=b, **options).holds


# --- targets --------------------------------------------------------------------------------------


def test_sign_columns_have_one_column_for_each_class_and_weigh_rows_by_their_class():
    y, s = np.array([[0], [2], [1], [2]]), np.array([1.0, 2.0, 0.0, 1.0])
    signs, weight = SignColumns([1.0, 5.0, 3.0])(y, s)
    assert signs.tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1], [-1, -1, 1]]
    assert weight.tolist() == [1, 6, 0, 3]
    assert SignColumns()(np.array([0, 1, 1]), np.ones(3))[0].tolist() == [[-1], [1], [1]]


# --- agreement with the proof ---------------------------------------------------------------------


@INDEFINITE
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", FITS.values(), ids=FITS)
def test_classifiers_are_certified_by_the_page_where_the_proof_certifies_them(options, classes):
    X, y = blobs(1, classes=classes)
    for s in (None, weights(len(X))):
        assert assert_agrees(LSSVC(**options).fit(X, y, s).certificate_, X, y, s).holds


@pytest.mark.parametrize("density", ["global", "per_class"])
@pytest.mark.parametrize("classes", [2, 3])
def test_density_weighted_machines_are_certified(density, classes):
    X, y = blobs(2, classes=classes)
    s = weights(len(X))
    model = DensityWeightedLSSVC(10.0, density=density, formulation="dual").fit(X, y, s)
    claim = assert_agrees(model.certificate_, X, y, s)
    assert claim.holds
    k, apart = model.certificate_.parameters["density"]
    assert not claim_of(model.certificate_, X, y, s, density=(k + 1, apart)).holds
    assert not claim_of(model.certificate_, X, y, s, density=(k, not apart)).holds


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_regression_far_from_the_origin_is_certified(kernel):
    X, y = curve(1)
    far = 0.0 if kernel == "poly" else 100.0
    model = LSSVR(10.0, kernel=kernel).fit(X + far, y)
    assert assert_agrees(model.certificate_, X + far, y).holds


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "cosine"])
def test_kernel_ridge_of_several_targets_is_audited_alike(kernel):
    X, y = curve(1)
    Y, s = np.column_stack([y, 1e4 * X[:, 2]]), weights(len(X))
    model = KernelRidge(kernel=kernel, alpha=[0.1, 0.3]).fit(X, Y, s)
    c = certus.verify(model, X, Y, sample_weight=s)
    assert assert_agrees(c, X, Y, s).holds
    model.dual_coef_ *= [1.0, 1.01]
    c = certus.verify(model, X, Y, sample_weight=s)
    assert not assert_agrees(c, X, Y, s).holds


def test_a_function_and_a_matrix_are_kernels_too():
    X, y = curve(1)
    assert assert_agrees(LSSVR(kernel=lambda A, B: A @ B.T + 1).fit(X, y).certificate_, X, y).holds
    K = gram(X)
    assert assert_agrees(LSSVR(kernel="precomputed").fit(K, y).certificate_, K, y).holds


@INDEFINITE
@pytest.mark.parametrize("options", FITS.values(), ids=FITS)
def test_edits_of_one_per_cent_and_swapped_labels_are_refused_by_both(options):
    X, y = blobs(3)
    model = LSSVC(**options).fit(X, y)
    c, beta = model.certificate_, model.dual_coef_
    largest = np.where(np.abs(beta) == np.abs(beta).max(), 1.01 * beta, beta)
    small = options.get("C") == 1e-4  # β is 0 but for 1e-4 of f₀: an edit is within the tolerance
    for edited in () if small else (1.01 * beta, largest):
        model.dual_coef_ = edited
        assert not assert_agrees(certus.verify(model, X, y), X, y).holds
    model.dual_coef_, model.intercept_ = beta, model.intercept_ + 0.01
    edited = certus.verify(model, X, y)
    assert not edited.certified
    assert not claim_of(edited, X, y).holds
    assert not claim_of(c, X, 1 - y).holds
    assert not claim_of(c, X, np.roll(y, 3)).holds
    if c.parameters["C"] == 1:
        assert not claim_of(c, X, y, C=1.01).holds


def test_the_published_example_has_its_published_intercept():
    X, y = load_iris(return_X_y=True)
    X, y = minmax_scale(X[50:]), (y[50:] == 1).astype(int)
    model = DensityWeightedLSSVC(
        10.0, gamma=1.0, n_neighbors=5, class_weight=None, formulation="dual"
    ).fit(X, y)
    claim = claim_of(model.certificate_, X, y)
    assert model.intercept_[0] == pytest.approx(0.196969494639, abs=1e-11)
    assert claim.holds
    assert claim.miss <= 1e-20


def test_a_density_weighted_machine_is_read_in_at_most_eighty_lines():
    terms = (Polynomial, DensityWeights, SignColumns)
    assert lines_to_read(lssvm, terms) <= 80
    assert lines_to_read(lssvm, (Linear,)) <= 60
    with open(lssvm.__file__) as page:
        assert len(page.readlines()) <= 100
