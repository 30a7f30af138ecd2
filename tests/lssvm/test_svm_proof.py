"""Definitions of kernel machines: gaps are true distances, and a non-optimal model fails."""

import mpmath as mp
import numpy as np
import pytest

from certus.certificate.data import Data
from certus.data.rows import Rows
from certus.proofs.hinge import svc
from certus.proofs.lssvm import kernels, lssvm
from certus.proofs.lssvm import primal as lssvm_primal
from certus.proofs.lssvm._choice import score
from certus.proofs.lssvm._claims import accuracy, left_out, r_squared
from certus.proofs.lssvm.density import density_of

mp.mp.dps = 40
KERNELS = {
    "rbf": {"gamma": 0.4},
    "linear": {},
    "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
    "sigmoid": {"gamma": 0.3, "coef0": 0.2},
    "laplacian": {"gamma": 0.2},
    "cosine": {},
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS)
DEFINITE = [name for name in KERNELS if name != "sigmoid"]


def rows(seed=0, n=12, p=3, columns=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.sign(X[:, [0]] + rng.normal(size=(n, columns)))
    return X, y, rng.uniform(0.3, 2, n)


def data(X, y, s=None):
    return Data(Rows(X, y, s, threads=2))


def exact_kernel(x, z, kernel, gamma=1.0, degree=3, coef0=0.0):
    x, z = ([mp.mpf(float(v)) for v in row] for row in (x, z))
    dot, gamma = mp.fdot(x, z), mp.mpf(gamma)
    difference = [a - b for a, b in zip(x, z, strict=True)]
    return {
        "linear": lambda: dot,
        "rbf": lambda: mp.exp(-gamma * mp.fdot(difference, difference)),
        "laplacian": lambda: mp.exp(-gamma * sum(abs(d) for d in difference)),
        "poly": lambda: (gamma * dot + coef0) ** degree,
        "sigmoid": lambda: mp.tanh(gamma * dot + coef0),
        "cosine": lambda: dot / mp.sqrt(mp.fdot(x, x) * mp.fdot(z, z)),
    }[kernel]()


def exact_gram(X, kernel, **options):
    return mp.matrix([[exact_kernel(x, z, kernel, **options) for z in X] for x in X])


def solved(K, y, omega, C, fit_intercept=True):
    """β (n, q) and b (q,): Σβ = 0, (K + I/(Cω))β + b = y, rows of weight 0 left out."""
    beta, used = np.zeros_like(y), np.flatnonzero(omega > 0)
    first = int(fit_intercept)
    A = np.zeros((len(used) + first,) * 2)
    A[first:, first:] = K[np.ix_(used, used)] + np.diag(1 / (C * omega[used]))
    A[:first, first:], A[first:, :first] = 1.0, 1.0
    z = np.linalg.solve(A, np.vstack([np.zeros((first, y.shape[1])), y[used]]))
    beta[used] = z[first:]
    return beta, z[0] if fit_intercept else np.zeros(y.shape[1])


def exact_least(X, y, omega, C, kernel, **options):
    """Minimum of P to 40 digits."""
    n, K = len(X), exact_gram(X, kernel, **options)
    A, target = mp.zeros(n + 1), mp.zeros(n + 1, 1)
    for i in range(n):
        A[0, i + 1] = A[i + 1, 0] = 1
        target[i + 1] = mp.mpf(float(y[i, 0]))
        for j in range(n):
            A[i + 1, j + 1] = K[i, j]
        A[i + 1, i + 1] += 1 / (mp.mpf(C) * mp.mpf(float(omega[i])))
    z = mp.lu_solve(A, target)
    beta = z[1:]
    return exact_value(K, y, omega, C, beta, z[0]), beta


def exact_value(K, y, omega, C, beta, b):
    n = len(beta)
    f = [mp.fsum(K[i, j] * beta[j] for j in range(n)) for i in range(n)]
    loss = mp.fsum(
        mp.mpf(float(omega[i])) * (mp.mpf(float(y[i, 0])) - f[i] - b) ** 2 for i in range(n)
    )
    return mp.fsum(beta[i] * f[i] for i in range(n)) / 2 + mp.mpf(C) * loss / 2


# --- kernels --------------------------------------------------------------------------------------


@each_kernel
def test_a_gram_matrix_holds_the_kernels_of_all_pairs(kernel):
    X, *_ = rows()
    K, true = (
        kernels.gram(X[:5], X, kernel, **KERNELS[kernel]),
        exact_gram(X, kernel, **KERNELS[kernel]),
    )
    assert K.shape == (5, 12)
    assert all(
        K[i, j] == pytest.approx(float(true[i, j]), rel=1e-13) for i in range(5) for j in range(12)
    )


@pytest.mark.parametrize("gamma", [0.5, 1e9])
def test_rows_far_from_the_origin_lose_no_digits(gamma):
    X = rows()[0] / np.sqrt(gamma)
    X[3:5] = X[:2] + 0.3 / np.sqrt(gamma)
    X = X + 1e3
    K, true = kernels.gram(X, X, "rbf", gamma), exact_gram(X, "rbf", gamma=gamma)
    off = max(abs(K[i, j] - true[i, j]) for i in range(12) for j in range(12))
    assert off < 1e-13
    bound = kernels.KernelMatrix.of(X, "rbf", gamma).kappa
    assert off < bound < 1e-8


def test_near_rows_among_far_ones_are_told_apart_by_differences():
    X = rows()[0]
    X[6:] = X[:6] + 1e-5
    K, true = kernels.gram(X, X, "rbf", 1e9), exact_gram(X, "rbf", gamma=1e9)
    assert 0.5 < K[0, 6] < 0.9
    assert max(abs(K[i, j] - true[i, j]) for i in range(12) for j in range(12)) < 1e-13


@each_kernel
@pytest.mark.parametrize("n", [7, 600])
def test_products_by_tiles_are_those_of_the_whole_matrix_within_their_bound(kernel, n):
    X = rows(n=n)[0]
    B = np.random.default_rng(1).normal(size=(n, 2)) * 10.0 ** np.arange(n)[:, None] ** 0.1
    K = kernels.KernelMatrix.of(X, kernel, **{"gamma": 1.0, **KERNELS[kernel]})
    result, bound = K.times(data(X, B), B), K.products_error(B)
    assert result == pytest.approx(kernels.gram(X, X, kernel, **KERNELS[kernel]) @ B, rel=1e-9)
    for i in (0, n // 2, n - 1):
        line = [exact_kernel(X[i], z, kernel, **KERNELS[kernel]) for z in X]
        true = [mp.fdot(line, [mp.mpf(v) for v in B[:, t].tolist()]) for t in (0, 1)]
        for t in (0, 1):
            assert abs(result[i, t] - true[t]) <= bound[i, t] + 2.0**-53 * abs(result[i, t])
            assert bound[i, t] < 1e-9 * np.abs(B).sum() * float(K.h.max()) ** 2


def test_a_function_and_a_matrix_are_kernels_too():
    X, y, _ = rows()
    K = kernels.gram(X, X, "rbf", 0.4)
    B = np.ones((12, 1))
    own = kernels.KernelMatrix.of(X, lambda A, Z: kernels.gram(A, Z, "rbf", 0.4), 1.0)
    given = kernels.KernelMatrix.of(K, "precomputed", 1.0)
    for kernel in (own, given):
        assert kernel.times(data(X, y), B) == pytest.approx(K @ B, rel=1e-14)
        assert kernel.asymmetry() is None
    K[3, 7] += 1e-6
    assert kernels.KernelMatrix.of(K, "precomputed", 1.0).asymmetry() in ((3, 7), (7, 3))


def test_definite_kernels_are_told_from_others():
    X = rows(n=40)[0]
    for kernel in KERNELS:
        K = kernels.KernelMatrix.of(X, kernel, **{"gamma": 1.0, **KERNELS[kernel]})
        least, definite = K.least_eigenvalue()
        true = np.linalg.eigvalsh(K.whole())[0]
        assert definite == (kernel != "sigmoid")
        assert least <= true + 1e-10
        given, same = kernels.KernelMatrix.of(K.whole(), "precomputed", 1.0).least_eigenvalue()
        assert same == definite
        assert given <= true
        assert given == pytest.approx(min(true, 0.0), abs=1e-9)


def test_gamma_is_scikit_learns_and_weights_count_as_repetitions():
    X = rows(n=30)[0] + 1e4
    assert kernels.gamma_of(X) == pytest.approx(1 / (3 * X.var()), rel=1e-10)
    assert kernels.gamma_of(X, None, "auto") == 1 / 3
    assert kernels.gamma_of(np.full((4, 3), 1e8)) == 1.0
    s = np.arange(30) % 4
    assert kernels.gamma_of(X, s) == pytest.approx(kernels.gamma_of(np.repeat(X, s, axis=0)))


# --- density --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("k", [1, 5])
def test_density_is_one_less_the_share_of_the_farthest_reach(k, shift):
    X = np.round(rows(n=25)[0] * 64) / 64 + shift
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    r = np.sort(D, axis=1)[:, k]  # the row itself is first
    assert density_of(X, k) == pytest.approx(1 - r / r.max(), abs=1e-14)
    assert density_of(X, k).min() == 0
    codes = np.arange(25) % 2
    apart = density_of(X, k, codes)
    for c in (0, 1):
        assert np.array_equal(apart[codes == c], density_of(X[codes == c], k))


def test_rows_that_are_all_equal_have_density_one():
    assert np.array_equal(density_of(np.full((6, 2), 0.1), 3), np.ones(6))


def test_rows_that_all_reach_as_far_have_density_one():
    x = np.arange(10)
    around = np.column_stack([np.cos(0.2 * np.pi * x), np.sin(0.2 * np.pi * x)])
    assert np.array_equal(density_of(around, 2), np.ones(10))


# --- least squares --------------------------------------------------------------------------------


def least_squares(seed=0, kernel="rbf", C=3.0, columns=1, fit_intercept=True, n=12, **options):
    X, y, omega = rows(seed, n=n, columns=columns)
    options = {"gamma": 1.0, **KERNELS[kernel], **options}
    beta, b = solved(kernels.gram(X, X, kernel, **options), y, omega, C, fit_intercept)
    return (X, y, omega), {
        "beta": beta, "b": b, "C": C, "kernel": kernel, "fit_intercept": fit_intercept, **options,
    }  # fmt: skip


@pytest.mark.parametrize("kernel", DEFINITE)
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_solution_of_the_system_is_optimal(kernel, columns, fit_intercept):
    rows_of, fit = least_squares(1, kernel, columns=columns, fit_intercept=fit_intercept)
    result = lssvm.check(data(*rows_of), **fit)
    assert result["kind"] == "global"
    assert result["residual"] < 1e-18
    assert result["bound"] <= result["objective"] <= result["bound"] + 1.001 * result["gap"]
    assert result["gap"] < 1e-10 * result["objective"]
    assert result["objective"] == pytest.approx(0.5 * (fit["beta"] * rows_of[1]).sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_is_the_primal_less_the_dual_value(seed):
    (X, y, omega), fit = least_squares(seed)
    rng = np.random.default_rng(seed)
    beta = fit["beta"] + 0.1 * rng.normal(size=y.shape)
    beta -= np.outer(omega, beta.sum(axis=0)) / omega.sum()
    b = fit["b"] + 0.2
    K, C = kernels.gram(X, X, "rbf", 0.4), fit["C"]
    e = y - K @ beta - b
    primal = 0.5 * (beta * (K @ beta)).sum() + C / 2 * (omega[:, None] * e**2).sum()
    dual = (
        (beta * y).sum()
        - 0.5 * (beta * (K @ beta)).sum()
        - (beta**2 / (2 * C * omega[:, None])).sum()
    )
    result = lssvm.check(data(X, y, omega), **{**fit, "beta": beta, "b": b})
    assert result["objective"] == pytest.approx(primal, rel=1e-12)
    assert result["gap"] == pytest.approx(primal - dual, rel=1e-9)
    assert result["bound"] == pytest.approx(dual, rel=1e-9)
    alone = omega @ (y[:, 0] - np.average(y[:, 0], weights=omega)) ** 2
    assert result["residual"] == pytest.approx((primal - dual) / (C / 2 * alone), rel=1e-9)


@pytest.mark.parametrize("kernel", DEFINITE)
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 1.0])
@pytest.mark.parametrize("C", [1e-2, 10.0, 1e6])
def test_the_gap_and_the_coefficients_bound_the_exact_optimum(kernel, size, C):
    (X, y, omega), fit = least_squares(2, kernel, C=C, n=8)
    rng = np.random.default_rng(0)
    beta = fit["beta"] * (1 + size * rng.normal(size=y.shape))
    b = fit["b"] + size
    result = lssvm.check(data(X, y, omega), **{**fit, "beta": beta, "b": b})
    options = {name: fit[name] for name in KERNELS[kernel]}
    least, best = exact_least(X, y, omega, C, kernel, **options)
    K = exact_gram(X, kernel, **options)
    here = exact_value(K, y, omega, C, [mp.mpf(v) for v in beta[:, 0].tolist()], mp.mpf(b[0]))
    assert least >= result["bound"]
    assert here - least <= result["gap"]
    assert here - least <= mp.mpf(result["residual"]) * mp.mpf(result["null_objective"])
    assert abs(here - mp.mpf(result["objective"])) <= result["gap"]
    off = max(abs(mp.mpf(float(beta[i, 0])) - best[i]) for i in range(len(X)))
    assert off <= result["coef_error"]


def of_weights(fit, K, y, omega):
    return dict(zip(("beta", "b"), solved(K, y, omega, fit["C"]), strict=True))


def but_row_3(omega, weight):
    return np.where(np.arange(len(omega)) == 3, weight, omega)


MUTANTS = {
    "β of another C": lambda fit, K, y, w: {"beta": solved(K, y, w, 1.05 * fit["C"])[0]},
    "another C": lambda fit, K, y, w: {"C": 1.05 * fit["C"]},
    "b shifted": lambda fit, K, y, w: {"b": fit["b"] + 0.01},
    "another gamma": lambda fit, K, y, w: {"gamma": 1.05 * fit["gamma"]},
    "a weight forgotten": lambda fit, K, y, w: of_weights(fit, K, y, but_row_3(w, 1.0)),
    "a row forgotten": lambda fit, K, y, w: of_weights(fit, K, y, but_row_3(w, 0.0)),
    "weights not rooted": lambda fit, K, y, w: of_weights(fit, K, y, w**2),
    "without its intercept": lambda fit, K, y, w: {
        "beta": solved(K, y, w, fit["C"], False)[0], "b": np.zeros(1),
    },
    "a sign": lambda fit, K, y, w: {"beta": -fit["beta"]},
    "another kernel": lambda fit, K, y, w: {"kernel": "laplacian"},
    "the coefficients of other rows": lambda fit, K, y, w: {"beta": np.roll(fit["beta"], 1)},
    "Σβ is not 0": lambda fit, K, y, w: {"beta": fit["beta"] + 0.01 * w[:, None]},
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_what_is_not_the_optimum_shows(mutant):
    (X, y, omega), fit = least_squares(4, n=30)
    K = kernels.gram(X, X, "rbf", fit["gamma"])
    wrong = {**fit, **MUTANTS[mutant](fit, K, y, omega)}
    assert lssvm.check(data(X, y, omega), **fit)["residual"] < 1e-15
    assert lssvm.check(data(X, y, omega), **wrong)["residual"] > 1e-5


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_and_excluded_intercepts_are_infeasible(bad):
    rows_of, fit = least_squares()
    result = lssvm.check(data(*rows_of), **{**fit, "b": np.array([bad])})
    assert (result["residual"], result["infeasible"]) == (
        np.inf,
        "a coefficient is not a finite number",
    )
    result = lssvm.check(data(*rows_of), **{**fit, "fit_intercept": False})
    assert "there is an intercept" in result["infeasible"]
    assert result["residual"] == np.inf


def test_a_row_of_weight_zero_has_no_coefficient():
    X, y, omega = rows()
    omega[5] = 0.0
    beta, b = solved(kernels.gram(X, X, "rbf", 0.4), y, omega, 3.0)
    fit = {"beta": beta, "b": b, "C": 3.0, "gamma": 0.4}
    result = lssvm.check(data(X, y, omega), **fit)
    assert result["residual"] < 1e-18
    assert result["left_out_rows"] == 1
    fit["beta"] = beta + 0.1 * (np.arange(12) == 5)[:, None]
    assert lssvm.check(data(X, y, omega), **fit)["residual"] > 1e-4


def test_classes_and_density_multiply_the_loss_of_a_row():
    X, y, s = rows(n=20)
    c, d = np.array([0.5, 3.0]), density_of(X, 4)
    omega = s * c[(y[:, 0] > 0).astype(int)] * d**2
    beta, b = solved(kernels.gram(X, X, "rbf", 0.4), y, omega, 3.0)
    fit = {"beta": beta, "b": b, "C": 3.0, "gamma": 0.4, "class_weight": c, "density": (4, False)}
    assert lssvm.check(data(X, y, s), **fit)["residual"] < 1e-18
    for wrong in ({"class_weight": None}, {"density": None}, {"density": (3, False)},
                  {"density": (4, True)}):  # fmt: skip
        assert lssvm.check(data(X, y, s), **{**fit, **wrong})["residual"] > 1e-4


def test_without_a_definite_kernel_nothing_is_called_optimal():
    rows_of, fit = least_squares(5, "sigmoid", n=20)
    result = lssvm.check(data(*rows_of), **fit)
    assert (result["kind"], result["bound"], result["gap"]) == ("stationary", None, np.inf)
    assert result["residual"] < 1e-15
    X = rows_of[0]
    K = kernels.gram(X, X, "sigmoid", 0.3, 3, 0.2)
    assert result["least_eigenvalue"] == pytest.approx(np.linalg.eigvalsh(K)[0], rel=1e-6)
    assert lssvm.check(data(*rows_of), **{**fit, "b": fit["b"] + 0.1})["residual"] > 1e-5


def test_a_target_far_from_zero_is_certified_and_a_constant_one_too():
    X, y, s = rows(n=50)
    K = kernels.gram(X, X, "rbf", 0.4)
    for target in (y + 1e8, np.full_like(y, 3.7)):
        beta, b = solved(K, target - target.mean(), s, 3.0)
        fit = {"beta": beta, "b": b + target.mean(), "C": 3.0, "gamma": 0.4}
        assert lssvm.check(data(X, target, s), **fit)["residual"] < 1e-6
        fit["b"] = fit["b"] + 1e-2
        assert lssvm.check(data(X, target, s), **fit)["residual"] > 1e-5


# --- rows left out --------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_left_out_are_those_of_fits_without_them(kernel, fit_intercept):
    X, y, omega = rows(3, n=15, columns=2)
    omega[4] = 0.0
    K, C = kernels.gram(X, X, kernel, **KERNELS[kernel]), np.array([2.0, 5.0])
    fits = [solved(K, y[:, [t]], omega, C[t], fit_intercept) for t in (0, 1)]
    f = np.hstack([K @ beta + b for beta, b in fits])
    result, effective, _ = left_out(K, y, omega, C, f, fit_intercept)
    for i in range(15):
        for t in (0, 1):
            without = np.where(np.arange(15) == i, 0.0, omega)
            beta, b = solved(K, y[:, [t]], without, C[t], fit_intercept)
            assert result[i, t] == pytest.approx((K[i] @ beta + b)[0], rel=1e-8, abs=1e-10)
    for t in (0, 1):  # f = Sy, so that a unit vector for y shows a column of S
        trace = 0.0
        for i in range(15):
            beta, b = solved(K, np.eye(15)[:, [i]], omega, C[t], fit_intercept)
            trace += (K[i] @ beta + b)[0]
        assert effective[t] == pytest.approx(trace, rel=1e-9)


def test_summaries_of_rows_left_out_are_scikit_learns():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    codes, f = rng.integers(0, 3, 40), rng.normal(size=(40, 3))
    s, omega = rng.uniform(0.1, 2, 40), rng.uniform(0.1, 2, 40)
    y = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    message = f.argmax(axis=1)
    assert accuracy(f, y, s) == pytest.approx(
        metrics.accuracy_score(codes, message, sample_weight=s)
    )
    target = rng.normal(size=(40, 3))
    true = metrics.r2_score(target, f, sample_weight=s)
    assert r_squared(f, target, s) == pytest.approx(true)
    balanced = metrics.balanced_accuracy_score(codes, message, sample_weight=s)
    assert score("balanced_accuracy", f, y, s, omega) == pytest.approx(balanced)
    p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    log = metrics.log_loss(codes, p, sample_weight=omega)
    assert score("log", f, y, s, omega) == pytest.approx(-log)
    mse = metrics.mean_squared_error(y, f, sample_weight=omega)
    assert score("mse", f, y, s, omega) == pytest.approx(-mse)
    two = np.where(codes[:, None] > 0, 1.0, -1.0)
    p = 1 / (1 + np.exp(-f[:, 0]))
    log = metrics.log_loss(codes > 0, p, sample_weight=omega)
    assert score("log", f[:, :1], two, s, omega) == pytest.approx(-log)


# --- the primal -----------------------------------------------------------------------------------


def primal(seed=0, kernel="rbf", C=3.0, epsilon=0.1):
    X, y, omega = rows(seed, n=10)
    G = np.column_stack([kernels.gram(X, X, kernel, **KERNELS[kernel]), np.ones(10)])
    A = (1 / C + epsilon) * np.eye(11) + G.T @ (omega[:, None] * G)
    v = np.linalg.solve(A, G.T @ (omega[:, None] * y))
    return (X, y, omega), {
        "beta": v[:-1], "b": v[-1], "C": C, "epsilon": epsilon, "kernel": kernel, **KERNELS[kernel],
    }  # fmt: skip


@each_kernel
def test_the_normal_equations_are_optimal_for_every_kernel(kernel):
    rows_of, fit = primal(1, kernel)
    result = lssvm_primal.check(data(*rows_of), **fit)
    assert (result["kind"], result["infeasible"]) == ("global", None)
    assert result["residual"] < 1e-15


@pytest.mark.parametrize("size", [1e-8, 1e-3, 1.0])
def test_the_bound_of_the_primal_is_never_above_its_optimum(size):
    (X, y, omega), fit = primal(2)
    best = lssvm_primal.check(data(X, y, omega), **fit)
    rng = np.random.default_rng(0)
    beta = fit["beta"] + size * rng.normal(size=fit["beta"].shape)
    result = lssvm_primal.check(data(X, y, omega), **{**fit, "beta": beta})
    f = kernels.gram(X, X, "rbf", 0.4) @ beta + fit["b"]
    lam = 1 / fit["C"] + fit["epsilon"]
    value = (
        lam / 2 * ((beta**2).sum() + fit["b"][0] ** 2) + (omega[:, None] * (y - f) ** 2).sum() / 2
    )
    assert result["objective"] == pytest.approx(value, rel=1e-12)
    assert result["bound"] <= best["objective"] + best["gap"]
    assert value - best["objective"] <= result["gap"]
    assert np.abs(beta - fit["beta"]).max() <= result["coef_error"]


def test_the_intercept_of_the_primal_has_a_slope_of_its_own():
    y = np.array([[1.0], [1.0], [-1.0]])
    fit = {"beta": np.zeros((3, 1)), "C": 1.0, "kernel": "linear"}
    X = np.zeros((3, 2))
    assert lssvm_primal.check(data(X, y), b=[0.25], **fit)["residual"] < 1e-25  # Σy/(1 + n)
    result = lssvm_primal.check(data(X, y), b=[0.5], **fit)
    assert result["gap"] >= 4 * 0.25**2 / 2
    assert result["coef_error"] >= 0.25


@pytest.mark.parametrize(
    "wrong", [{"C": 3.3}, {"epsilon": 0.0}, {"gamma": 0.42}, {"b": np.ones(1)}], ids=str
)
def test_another_primal_problem_is_not_optimal(wrong):
    rows_of, fit = primal(3)
    assert lssvm_primal.check(data(*rows_of), **{**fit, **wrong})["residual"] > 1e-6


# --- C-SVC ----------------------------------------------------------------------------------------


def machine(seed=0, n=30, C=2.0, tol=1e-10, **options):
    from sklearn.svm import SVC

    X, y, s = rows(seed, n=n)
    codes = (y[:, 0] > 0).astype(int)
    model = SVC(C=C, gamma=0.4, tol=tol, **options).fit(X, codes, sample_weight=s)
    beta = np.zeros((n, 1))
    beta[model.support_, 0] = model.dual_coef_[0]
    fit = {"beta": beta, "b": model.intercept_, "C": C, "gamma": 0.4, "pairs": [(1, 0)]}
    return (X, codes[:, None].astype(float), s), fit


def test_the_gap_of_a_machine_is_the_primal_less_the_dual_value():
    (X, codes, s), fit = machine(1)
    y, K = 2 * codes - 1, kernels.gram(X, X, "rbf", 0.4)
    beta = 0.9 * fit["beta"]
    b = fit["b"] + 0.1
    m = y * (K @ beta + b)
    value = 0.5 * (beta * (K @ beta)).sum() + fit["C"] * (s[:, None] * np.maximum(1 - m, 0)).sum()
    dual = np.abs(beta).sum() - 0.5 * (beta * (K @ beta)).sum()
    result = svc.check(data(X, codes, s), **{**fit, "beta": beta, "b": b})
    assert result["objective"] == pytest.approx(value, rel=1e-12)
    assert result["gap"] == pytest.approx(value - dual, rel=1e-9)
    alone = 2 * fit["C"] * min(s[codes[:, 0] == 0].sum(), s[codes[:, 0] == 1].sum())
    assert result["residual"] == pytest.approx((value - dual) / alone, rel=1e-9)


def test_two_points_have_the_margin_between_them():
    X, codes = np.array([[-1.0], [1.0]]), np.array([[0.0], [1.0]])
    fit = {"beta": np.array([[-0.5], [0.5]]), "b": np.zeros(1), "pairs": [(1, 0)], "C": 10.0}
    result = svc.check(data(X, codes), kernel="linear", **fit)
    assert result["objective"] == 0.5  # w = 1
    assert result["gap"] < 1e-12
    half = svc.check(data(X, codes), kernel="linear", **{**fit, "C": 0.25})
    assert half["residual"] > 0.1  # ½ is not allowed there
    # the best w for b = 3: all conditions hold but Σβ = 0
    beta, b = np.array([[-4.0], [0.0]]), np.array([3.0])
    result = svc.check(data(X, codes), kernel="linear", **{**fit, "beta": beta, "b": b})
    assert result["objective"] == 8.0
    assert result["bound"] <= 0.5


def test_no_other_machine_is_below_the_bound():
    (X, codes, s), fit = machine(2)
    y, K = 2 * codes - 1, kernels.gram(X, X, "rbf", 0.4)
    rng = np.random.default_rng(0)
    bounds, values = [], []
    for size in (0.0, 1e-6, 1e-3, 0.1, 1.0):
        for _ in range(20):
            beta = fit["beta"] + size * rng.normal(size=(30, 1))
            b = fit["b"] + size * rng.normal()
            result = svc.check(data(X, codes, s), **{**fit, "beta": beta, "b": b})
            m = y * (K @ beta + b)
            loss = fit["C"] * (s[:, None] * np.maximum(1 - m, 0)).sum()
            values.append(0.5 * (beta * (K @ beta)).sum() + loss)
            bounds.append(result["bound"])
            assert values[-1] - result["gap"] <= min(values) + 1e-12
    assert max(bounds) <= min(values)


@pytest.mark.parametrize("b", [-5.0, 0.0, 5.0])
@pytest.mark.parametrize("side", [0, 1])
def test_coefficients_of_one_class_alone_prove_no_more_than_is_true(side, b):
    (X, codes, s), fit = machine(2)
    best = svc.check(data(X, codes, s), **fit)
    beta = np.where(codes == side, fit["beta"], 0.0)
    result = svc.check(data(X, codes, s), **{**fit, "beta": beta, "b": np.array([b])})
    assert result["bound"] <= best["objective"]
    assert result["objective"] - best["objective"] <= result["gap"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"C": 1.9}, {"gamma": 0.44}, {"b": np.array([0.3])}, {"class_weight": [1.0, 1.2]},
        {"density": (3, False)}, {"pairs": [(0, 1)]},
    ],
    ids=str,
)  # fmt: skip
def test_another_machine_is_not_optimal(wrong):
    rows_of, fit = machine(3)
    assert svc.check(data(*rows_of), **fit)["residual"] < 1e-8
    assert svc.check(data(*rows_of), **{**fit, **wrong})["residual"] > 1e-4


def test_a_weight_that_is_forgotten_shows_in_a_machine():
    (X, codes, s), fit = machine(3)
    at = int(np.argmax(np.abs(fit["beta"][:, 0]) / s))  # at its limit
    assert abs(fit["beta"][at, 0]) == pytest.approx(fit["C"] * s[at])
    assert (
        svc.check(data(X, codes, np.where(np.arange(30) == at, 0.9 * s, s)), **fit)["residual"]
        > 1e-5
    )
