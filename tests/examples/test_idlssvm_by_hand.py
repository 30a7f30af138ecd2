"""IDLSSVM-CIL by hand is what the solver and the estimators are."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from certus.solvers.lssvm import Kernel, solve, solve_primal
from certus.svm import DensityWeightedLSSVC, density_weights

PROGRAM = Path(__file__).parents[2] / "examples" / "idlssvm_by_hand.py"


@pytest.fixture(scope="module")
def by_hand():
    spec = importlib.util.spec_from_file_location(PROGRAM.stem, PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def versicolor_and_virginica():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], np.where(y[50:] == 1, 1.0, -1.0)
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), y


def rows(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0.5, 1.0, -1.0)


def test_the_values_on_iris(by_hand):
    X, y = versicolor_and_virginica()
    d = by_hand.density_weights(X)
    b, alpha = by_hand.dual(X, y, 10.0, 1.0, d)
    assert b == pytest.approx(0.196969494639, abs=1e-11)
    assert alpha.sum() == pytest.approx(62.706555963, abs=1e-8)
    bias, _ = by_hand.primal(X, y, 10.0, 1.0, d)
    assert bias == pytest.approx(0.374862742922, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_system_holds_what_the_lagrange_function_asks(by_hand, seed):
    """Σαy = 0 and y_i f(x_i) + α_i/(C d_i²) = 1, at rows of positive d."""
    X, y = rows(seed)
    d = by_hand.density_weights(X)
    assert d.min() == 0
    b, alpha = by_hand.dual(X, y, 4.0, 1.5, d)
    f = by_hand.rbf(X, X, 1.5) @ (alpha * y) + b
    used = d > 0
    assert alpha @ y == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose((y * f)[used] + (alpha / (4.0 * d**2 + ~used))[used], 1, rtol=1e-9)
    assert np.all(alpha[~used] == 0)


@pytest.mark.parametrize("seed", range(3))
def test_by_hand_and_the_solver_agree(by_hand, seed):
    X, y = rows(seed)
    d, kernel = by_hand.density_weights(X), Kernel("rbf", 1 / 1.5**2)
    np.testing.assert_allclose(d, density_weights(X, 5), rtol=1e-12, atol=1e-15)
    b, alpha = by_hand.dual(X, y, 4.0, 1.5, d)
    fit = solve(X, y[:, None], d**2, 4.0, kernel, left_out=True)
    np.testing.assert_allclose(alpha * y, fit.beta[:, 0], rtol=1e-9, atol=1e-11)
    assert b == pytest.approx(fit.b[0], rel=1e-9)
    margins = by_hand.left_out(X, y, 4.0, 1.5, d)
    np.testing.assert_allclose(margins, y * fit.left_out[:, 0], rtol=1e-8, atol=1e-10)
    for epsilon in (0.0, 0.1):
        bias, v = by_hand.primal(X, y, 4.0, 1.5, d, epsilon)
        fit = solve_primal(X, y[:, None], d**2, 4.0, epsilon, kernel)
        np.testing.assert_allclose(v, fit.beta[:, 0], rtol=1e-7, atol=1e-9)
        assert bias == pytest.approx(fit.b[0], rel=1e-8)


def test_left_out_margins_are_those_of_refits(by_hand):
    X, y = rows(5, n=25)
    d = by_hand.density_weights(X)
    margins = by_hand.left_out(X, y, 4.0, 1.5, d)
    for i in range(25):
        rest = np.arange(25) != i
        b, alpha = by_hand.dual(X[rest], y[rest], 4.0, 1.5, d[rest])
        f = by_hand.rbf(X[[i]], X[rest], 1.5) @ (alpha * y[rest]) + b
        assert margins[i] == pytest.approx(y[i] * f[0], rel=1e-8)


def test_by_hand_and_the_estimator_agree(by_hand):
    X, y = versicolor_and_virginica()
    model = DensityWeightedLSSVC(10.0, gamma=1.0, class_weight=None).fit(X, y)
    b, alpha = by_hand.dual(X, y, 10.0, 1.0, by_hand.density_weights(X))
    np.testing.assert_allclose(model.dual_coef_[0], alpha * y, rtol=1e-8, atol=1e-10)
    assert model.intercept_[0] == pytest.approx(b, rel=1e-9)


def test_rows_that_are_all_equal_are_all_dense(by_hand):
    np.testing.assert_array_equal(by_hand.density_weights(np.ones((8, 2))), 1)


def test_the_example_by_hand_runs_on_numpy_alone_and_is_short():
    program = PROGRAM.read_text("utf-8")
    assert len(program.splitlines()) <= 80
    assert [line for line in program.splitlines() if "import " in line] == ["import numpy as np"]
    done = subprocess.run(
        [sys.executable, PROGRAM], capture_output=True, encoding="utf-8", timeout=300, check=True,
        env={"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert "mean d of class +1 (20 rows): 0.755, of −1: 0.822" in done.stdout
    assert "60% of class +1, 98% of −1" in done.stdout
