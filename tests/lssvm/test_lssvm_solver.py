"""The solver of LS-SVMs: its equations, leave-one-out, kernels by tiles, indefinite kernels."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge

from certus.solvers.lssvm import Kernel, grid, predict, solve, solve_primal
from certus.solvers.lssvm import grid as grid_of
from certus.solvers.lssvm import kernel as tiles


def laplace(A, B):
    return np.exp(-np.abs(A[:, None] - B).sum(axis=2))


KERNELS = {
    "rbf": Kernel("rbf", 0.7),
    "linear": Kernel("linear"),
    "poly": Kernel("poly", 0.3, 3, 1.0),
    "sigmoid": Kernel("sigmoid", 0.5, coef0=-0.2),  # indefinite
    "your own": Kernel(laplace),
}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
intercepts = pytest.mark.parametrize("fit_intercept", [True, False])
C = 5.0


def rows(n=40, p=3, seed=0):
    """Return rows with two targets and two rows of weight 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    Y = np.column_stack([np.sign(X[:, 0]), X[:, 1] ** 2 + rng.normal(size=n)])
    omega = rng.uniform(0.2, 3, n)
    omega[[3, 7]] = 0.0
    return X, Y, omega


def gram(A, B, kernel):
    """Kernel matrix by its equations."""
    if callable(kernel.name):
        return kernel.name(A, B)
    return {
        "rbf": lambda: np.exp(-kernel.gamma * cdist(A, B, "sqeuclidean")),
        "linear": lambda: A @ B.T,
        "poly": lambda: (kernel.gamma * A @ B.T + kernel.coef0) ** kernel.degree,
        "sigmoid": lambda: np.tanh(kernel.gamma * A @ B.T + kernel.coef0),
    }[kernel.name]()


def by_numpy(K, Y, omega, fit_intercept=True, C=C):
    """β and b from [[0, 1ᵀ], [1, K + diag 1/(Cω)]] of the rows that count."""
    kept = omega > 0
    m = kept.sum()
    A, rhs = np.zeros((m + 1, m + 1)), np.vstack([np.zeros(Y.shape[1]), Y[kept]])
    A[1:, 1:] = K[np.ix_(kept, kept)] + np.diag(1 / (C * omega[kept]))
    A[0, 1:] = A[1:, 0] = fit_intercept
    A[0, 0] = not fit_intercept
    solved = np.linalg.solve(A, rhs)
    beta = np.zeros_like(Y)
    beta[kept] = solved[1:]
    return beta, solved[0]


def test_the_kernels_are_named_as_the_equations_are():
    A, B = rows(9)[0], rows(8, seed=1)[0]
    for kernel in KERNELS.values():
        np.testing.assert_allclose(kernel.gram(A, B), gram(A, B, kernel), rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(kernel.diagonal(A), np.diagonal(gram(A, A, kernel)), rtol=1e-13)
    assert Kernel("precomputed").gram(A, B) == pytest.approx(A)


@pytest.mark.parametrize("compiled_from", [0, 1 << 40])
@pytest.mark.parametrize("shape", [(1, 1), (4, 5), (128, 512)])
def test_tiles_of_any_size_give_the_same_kernel(monkeypatch, compiled_from, shape):
    monkeypatch.setattr(tiles, "MIN_COMPILED_PAIRS", compiled_from)
    monkeypatch.setattr(tiles.KernelTiles, "rows", shape[0])
    monkeypatch.setattr(tiles.KernelTiles, "columns", shape[1])
    X, Y, omega = rows(33)
    for kernel in KERNELS.values():
        K = gram(X, X, kernel)
        np.testing.assert_allclose(kernel.gram(X, X), K, rtol=1e-13, atol=1e-15)
        fit, (beta, b) = solve(X, Y, omega, C, kernel), by_numpy(K, Y, omega)
        np.testing.assert_allclose(fit.beta, beta, rtol=1e-9, atol=1e-10)
        result = predict(X[:9], X, beta, b, kernel)
        np.testing.assert_allclose(result, K[:9] @ beta + b, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("compiled_from", [0, 1 << 40])
def test_rbf_of_far_rows_loses_no_digits(monkeypatch, compiled_from):
    monkeypatch.setattr(tiles, "MIN_COMPILED_PAIRS", compiled_from)
    X = np.random.default_rng(0).integers(-8, 9, (50, 4)) / 4  # exact after any shift
    kernel = Kernel("rbf", 0.5)
    np.testing.assert_allclose(kernel.gram(X + 1e8, X + 1e8), gram(X, X, kernel), rtol=1e-12)


def test_rbf_of_near_rows_among_far_ones_is_right():
    """Squares of 1e10 do not resolve rows 1e-3 apart; differences do."""
    X = np.array([[0.0], [1e-3], [1e5], [1e5 + 0.5]])
    kernel = Kernel("rbf", 1.0)
    np.testing.assert_allclose(kernel.gram(X, X), gram(X, X, kernel), rtol=1e-13, atol=1e-300)
    assert np.all(np.diagonal(kernel.gram(X, X)) == 1)


def test_an_exponent_is_never_positive():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 9)), 3, axis=0)
    assert Kernel("rbf", 3.0).gram(X, X).max() <= 1


@kernels
@intercepts
def test_the_fit_solves_the_system_and_weightless_rows_drop_out(kernel, fit_intercept):
    X, Y, omega = rows()
    K = gram(X, X, kernel)
    fit, (beta, b) = (
        solve(X, Y, omega, C, kernel, fit_intercept),
        by_numpy(K, Y, omega, fit_intercept),
    )
    np.testing.assert_allclose(fit.beta, beta, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fit.b, b * fit_intercept, rtol=1e-9, atol=1e-9)
    assert np.all(fit.beta[omega == 0] == 0)
    if fit_intercept:
        assert np.abs(fit.beta.sum(axis=0)).max() < 1e-13 * np.abs(fit.beta).sum()
    given = solve(K, Y, omega, C, Kernel("precomputed"), fit_intercept)
    np.testing.assert_allclose(given.beta, beta, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        predict(K, None, given.beta, given.b, Kernel("precomputed")),
        predict(X, X, fit.beta, fit.b, kernel), rtol=1e-8, atol=1e-8,
    )  # fmt: skip


@kernels
def test_rows_of_float32_are_computed_in_float64(kernel):
    X, Y, omega = rows()
    X = X.astype(np.float32)
    few, more = (solve(Z, Y, omega, C, kernel, left_out=True) for Z in (X, X.astype(float)))
    np.testing.assert_array_equal(few.beta, more.beta)
    np.testing.assert_array_equal(few.left_out, more.left_out)


@kernels
@intercepts
def test_left_out_values_are_those_of_refits(kernel, fit_intercept):
    X, Y, omega = rows()
    fit = solve(X, Y, omega, C, kernel, fit_intercept, left_out=True)
    for i in range(len(X)):
        without = np.where(np.arange(len(X)) == i, 0.0, omega)
        other = solve(X, Y, without, C, kernel, fit_intercept)
        value = predict(X[[i]], X, other.beta, other.b, kernel)[0]
        np.testing.assert_allclose(fit.left_out[i], value, rtol=1e-7, atol=1e-9)


@kernels
@intercepts
def test_effective_parameters_are_the_trace_of_what_maps_y_to_f(kernel, fit_intercept):
    X, Y, omega = rows()
    units = np.eye(len(X))
    S = solve(X, units, omega, C, kernel, fit_intercept)
    trace = np.trace(predict(X, X, S.beta, S.b, kernel))
    fit = solve(X, Y, omega, C, kernel, fit_intercept, left_out=True)
    assert fit.effective == pytest.approx(trace, abs=1e-9)
    assert np.sum(1 - fit.leverage / C) == pytest.approx(trace, abs=1e-9)


def test_weight_two_equals_a_repeated_row():
    X, Y, _ = rows()
    omega = np.ones(len(X))
    omega[:10] = 2.0
    twice = np.r_[np.arange(len(X)), np.arange(10)]
    fit = solve(X, Y, omega, C, KERNELS["rbf"])
    other = solve(X[twice], Y[twice], np.ones(len(twice)), C, KERNELS["rbf"])
    summed = other.beta[: len(X)].copy()
    summed[:10] += other.beta[len(X) :]
    np.testing.assert_allclose(fit.beta, summed, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(fit.b, other.b, rtol=1e-10)


def test_without_an_intercept_it_is_kernel_ridge():
    X, Y, omega = rows()
    omega += 0.1
    fit = solve(X, Y, omega, C, KERNELS["rbf"], fit_intercept=False)
    ridge = KernelRidge(alpha=1 / C, kernel="rbf", gamma=0.7).fit(X, Y, sample_weight=omega)
    np.testing.assert_allclose(fit.beta, ridge.dual_coef_, rtol=1e-9, atol=1e-10)


def test_rows_far_from_0_change_the_intercept_of_a_linear_kernel_alone():
    X, Y, omega = rows()
    X = np.round(X * 64) / 64
    near, far = (solve(Z, Y, omega, C, Kernel("linear"), left_out=True) for Z in (X, X + 2.0**20))
    np.testing.assert_allclose(near.beta, far.beta, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(near.left_out, far.left_out, rtol=1e-7, atol=1e-7)
    both = (grid(Z, Y, omega, [C], [Kernel("linear")])[0, 0] for Z in (X, X + 2.0**20))
    np.testing.assert_allclose(*both, rtol=1e-7, atol=1e-7)


def test_a_single_row_is_fitted_by_its_intercept_and_has_no_left_out_value():
    for omega in ([2.0], [2.0, 0.0]):
        X, y = np.zeros((len(omega), 1)), np.full((len(omega), 1), 3.0)
        fit = solve(X, y, np.array(omega), C, KERNELS["rbf"], left_out=True)
        assert fit.b == pytest.approx([3.0])
        assert np.isnan(fit.left_out[0, 0])
        assert fit.effective == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["rbf", "sigmoid"])
def test_the_same_bits_on_any_number_of_threads(name):
    X, Y, omega = rows(700)  # more than one tile of the factorisation
    fits = [solve(X, Y, omega, C, KERNELS[name], left_out=True, threads=t) for t in (1, 2, 5)]
    values = [
        predict(X, X, f.beta, f.b, KERNELS[name], threads=t)
        for f, t in zip(fits, (3, 1, 2), strict=True)
    ]
    for fit, value in zip(fits[1:], values[1:], strict=True):
        np.testing.assert_array_equal(fit.beta, fits[0].beta)
        np.testing.assert_array_equal(fit.left_out, fits[0].left_out)
        np.testing.assert_array_equal(value, values[0])
    Cs, some = [0.1, 1.0, 2.0, 3.0, 10.0], [KERNELS[name], Kernel("rbf", 0.1)]
    one, two = (grid(X[:90], Y[:90], omega[:90], Cs, some, threads=t) for t in (1, 3))
    np.testing.assert_array_equal(one, two)


def test_a_fit_holds_one_matrix():
    n = 1200
    X, Y, omega = rows(n)
    for left_out in (False, True):
        solve(X, Y, omega, C, KERNELS["rbf"])  # compiles
        tracemalloc.start()
        solve(X, Y, omega, C, KERNELS["rbf"], left_out=left_out, threads=2)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert 8 * n**2 * 0.99 < peak < 8 * n**2 * 1.5


def test_the_condition_is_no_less_than_the_truth():
    X, Y, omega = rows()
    omega += 0.1
    for kernel in KERNELS.values():
        for strength in (1e-3, 1.0, 1e4, 1e10):
            r = np.sqrt(omega)
            H = r * gram(X, X, kernel) * r[:, None] + np.eye(len(X)) / strength
            result = solve(X, Y, omega, strength, kernel, fit_intercept=False).condition
            assert result >= 0.3 * np.linalg.cond(H)  # an estimate, where it is one


# --- kernels that are not positive semidefinite ---------------------------------------------------


@pytest.mark.parametrize("strength", [0.01, 1.0, 5.0, 100.0])
def test_negative_eigenvalues_are_counted(strength):
    X, Y, omega = rows(60)
    omega += 0.1
    kernel, r = KERNELS["sigmoid"], np.sqrt(omega)
    H = r * gram(X, X, kernel) * r[:, None] + np.eye(60) / strength
    fit = solve(X, Y, omega, strength, kernel)
    assert fit.indefinite == (np.linalg.eigvalsh(H) < 0).sum()
    assert (fit.indefinite > 0) == (strength > 0.01)


def test_an_rbf_kernel_is_not_called_indefinite_when_C_is_huge():
    X, Y, omega = rows()
    X[5:15] = X[4]
    fit = solve(X, Y, omega, 1e19, KERNELS["rbf"])
    assert fit.indefinite == 0
    assert fit.condition > 1e15


def test_a_singular_system_is_refused_with_what_to_do():
    K = -np.eye(3)
    with pytest.raises(ValueError, match=r"−1/C is one of its eigenvalues.*change C"):
        solve(K, np.ones((3, 1)), np.ones(3), 1.0, Kernel("precomputed"))


def test_which_kernels_are_semidefinite_by_theory():
    assert Kernel("rbf").semidefinite
    assert Kernel("linear").semidefinite
    assert Kernel("poly", 1.0, 2, 0.5).semidefinite
    for doubtful in (Kernel("poly", 1.0, 2, -0.5), Kernel("poly", 1.0, 2.5, 1.0),
                     Kernel("sigmoid"), Kernel("precomputed"), Kernel(laplace)):  # fmt: skip
        assert not doubtful.semidefinite


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: A[:, :1] * 2 + B[:, 0], "not symmetric"),
        (lambda A, B: np.ones(len(A)), r"returned shape \(40,\) for blocks of 40 and 40 rows"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN or infinity"),
    ],
)
def test_a_kernel_of_yours_that_is_none_is_refused(function, message):
    X, Y, omega = rows()
    with pytest.raises(ValueError, match=message):
        solve(X, Y, omega + 1, C, Kernel(function))


def test_no_weight_at_all_is_refused():
    X, Y, omega = rows()
    for fit in (solve, lambda X, Y, o, C, k: grid(X, Y, o, [C], [k])):
        with pytest.raises(ValueError, match="all rows have weight 0"):
            fit(X, Y, 0 * omega, C, KERNELS["rbf"])


# --- the primal form ------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("name", ["rbf", "linear", "sigmoid"])
def test_the_primal_form_is_a_ridge_regression_on_kernel_functions(name, epsilon):
    X, Y, omega = rows()
    K = gram(X, X, KERNELS[name])
    G, r, delta = np.column_stack([K, np.ones(len(X))]), np.sqrt(omega), 1 / C + epsilon
    stacked = np.vstack([r[:, None] * G, np.sqrt(delta) * np.eye(len(X) + 1)])
    v = np.linalg.lstsq(stacked, np.vstack([r[:, None] * Y, np.zeros((len(X) + 1, 2))]))[0]
    fit = solve_primal(X, Y, omega, C, epsilon, KERNELS[name], left_out=True)
    np.testing.assert_allclose(np.vstack([fit.beta, fit.b]), v, rtol=1e-8, atol=1e-9)
    f = predict(X, X, fit.beta, fit.b, KERNELS[name])
    np.testing.assert_allclose(f, G @ v, rtol=1e-8, atol=1e-9)
    S = solve_primal(X, np.eye(len(X)), omega, C, epsilon, KERNELS[name])
    trace = np.trace(predict(X, X, S.beta, S.b, KERNELS[name]))
    assert fit.effective == pytest.approx(trace, abs=1e-9)
    for i in (0, 3, 11):
        without = np.where(np.arange(len(X)) == i, 0.0, omega)
        other = solve_primal(X, Y, without, C, epsilon, KERNELS[name])
        value = predict(X[[i]], X, other.beta, other.b, KERNELS[name])[0]
        np.testing.assert_allclose(fit.left_out[i], value, rtol=1e-7, atol=1e-9)


def test_a_primal_penalty_that_rounding_swallows_is_refused():
    X, Y, omega = rows()
    X[5:15] = X[4]
    with pytest.raises(ValueError, match=r"lost in rounding.*smaller C or a larger epsilon"):
        solve_primal(X, Y, omega, 1e30, 0.0, KERNELS["rbf"])


def test_the_primal_form_has_the_same_bits_on_any_number_of_threads():
    X, Y, omega = rows(600)
    fits = [solve_primal(X, Y, omega, C, 0.1, KERNELS["rbf"], True, t) for t in (1, 3)]
    np.testing.assert_array_equal(fits[0].beta, fits[1].beta)
    np.testing.assert_array_equal(fits[0].left_out, fits[1].left_out)


# --- grids ----------------------------------------------------------------------------------------

WAYS = {
    "tridiagonal": {"MIN_REDUCTION_CS": 1},
    "compiled": {"MIN_REDUCTION_CS": 1},
    "eigenvectors": {"MIN_REDUCTION_CS": 1, "MIN_RIDGE_TO_TRACE": 1e9},
    "Cholesky, many rows": {"MIN_REDUCTION_CS": 1, "MAX_REDUCTION_ROWS": 1},
    "Cholesky, few C": {},
}


@pytest.mark.parametrize("way", WAYS)
@intercepts
def test_a_grid_holds_the_left_out_values_of_every_fit(monkeypatch, way, fit_intercept):
    import importlib

    module = importlib.import_module("certus.solvers.lssvm.grid_search")
    for name, value in WAYS[way].items():
        monkeypatch.setattr(module, name, value)
    reduced = importlib.import_module("certus.solvers.lssvm.tridiagonal")
    monkeypatch.setattr(reduced, "MIN_COMPILED_PAIRS", 0 if way == "compiled" else 1 << 40)
    X, Y, omega = rows(150)
    Cs = [1e-2, 1.0, 1e3]
    result = grid_of(X, Y, omega, Cs, list(KERNELS.values()), fit_intercept)
    assert result.shape == (len(KERNELS), 3, *Y.shape)
    for k, kernel in enumerate(KERNELS.values()):
        for c, strength in enumerate(Cs):
            fit = solve(X, Y, omega, strength, kernel, fit_intercept, left_out=True)
            np.testing.assert_allclose(result[k, c], fit.left_out, rtol=1e-6, atol=1e-6)


def test_a_grid_gives_what_its_score_says():
    X, Y, omega = rows(50)
    some = [Kernel("rbf", g) for g in (0.1, 1.0, 10.0)]
    Cs = [0.1, 10.0]
    scores = grid(X, Y, omega, Cs, some, score=lambda f: float(np.sum((f - Y) ** 2)))
    errors = ((grid(X, Y, omega, Cs, some) - Y) ** 2).sum(axis=(2, 3))
    np.testing.assert_array_equal(scores, errors)


def test_a_grid_of_one_row_has_no_left_out_value():
    result = grid(np.zeros((1, 2)), np.ones((1, 1)), np.ones(1), [1.0] * 5, [KERNELS["rbf"]])
    assert np.isnan(result).all()


def test_a_huge_C_in_a_grid_is_solved_without_negative_eigenvalues():
    X, Y, omega = rows(60)
    X[5:15] = X[4]
    result = grid(X, Y, omega, [1.0, 1e1, 1e2, 1e3, 1e18], [KERNELS["rbf"]])
    assert np.isfinite(result).all()
