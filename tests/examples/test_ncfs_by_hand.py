"""NCFS by hand is what the fast objective, the published ascent and the estimator are."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from certus.feature_selection import NCFSClassifier
from certus.solvers.ncfs import ClassGains, NCFSProblem, lbfgs, yang

PROGRAM = Path(__file__).parents[2] / "examples" / "ncfs_by_hand.py"
METRICS = {
    "manhattan": "manhattan", "sqeuclidean": "squared_euclidean", "euclidean": "euclidean",
    "phi_s": "phi_s",
}  # fmt: skip


@pytest.fixture(scope="module")
def by_hand():
    spec = importlib.util.spec_from_file_location(PROGRAM.stem, PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(seed, n=30, P=5):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, P)), rng.integers(3, size=n)
    X[4], X[6] = X[3], X[5]  # of one class, and of two
    y[3], y[4], y[5], y[6] = 0, 0, 0, 1
    return X, y, rng.uniform(0.3, 1.5, size=P)


def minmax(X):
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))


def balanced(X, y, lam, metric="manhattan", sigma=1.0):
    codes = np.unique(y, return_inverse=True)[1]
    a = 1 / np.bincount(codes)[codes]
    return NCFSProblem(X, ClassGains(codes, np.eye(codes.max() + 1)), a, sigma, lam, metric)


def differences(f, w, h=1e-6):
    steps = np.eye(len(w)) * h
    return np.array([(f(w + e) - f(w - e)) / (2 * h) for e in steps])


@pytest.mark.parametrize("name", METRICS.values())
@pytest.mark.parametrize("seed", range(3))
def test_the_slope_is_that_of_finite_differences(by_hand, name, seed):
    X, y, w = rows(seed)
    how = {"sigma": 0.7, "distance": getattr(by_hand, name)}
    _, slope = by_hand.zeta(X, y, w, 0.1, **how)
    found = differences(lambda v: by_hand.zeta(X, y, v, 0.1, **how)[0], w)
    np.testing.assert_allclose(slope, found, atol=1e-8)


@pytest.mark.parametrize("name", METRICS.values())
def test_so_are_the_slopes_of_the_distances(by_hand, name):
    X, _, w = rows(5)
    distance = getattr(by_hand, name)
    _, slope = distance(X, w)
    found = differences(lambda v: distance(X, v)[0], w)
    np.testing.assert_allclose(slope, np.moveaxis(found, 0, 2), atol=1e-7 * np.abs(slope).max())


@pytest.mark.parametrize(("metric", "name"), METRICS.items())
def test_objective_and_slope_are_those_of_the_solver(by_hand, metric, name):
    X, y, w = rows(1)
    lam = 0.0 if metric == "phi_s" else 0.2  # where the solver has none
    value, slope = by_hand.zeta(X, y, w, lam, 0.7, getattr(by_hand, name))
    fast = balanced(X, y, lam, metric, 0.7).value_and_slope(w**2)
    assert value == pytest.approx(fast.F, rel=1e-12)
    np.testing.assert_allclose(slope, 2 * w * fast.slope, atol=1e-11)


def test_as_printed_no_reference_changes_with_the_weights(by_hand):
    """Σ_k ∂D(x_i, x_j) p_ik = ∂D(x_i, x_j), so that both sums of the printed slope are equal."""
    X, y, w = rows(2)
    D, dD = by_hand.manhattan(X, w)
    p, same = by_hand.references(D, 1.0), y[:, None] == y
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    printed = p[:, :, None] * (dD * p.sum(axis=1)[:, None, None] - dD)
    assert np.abs(printed).max() < 1e-13
    truth = differences(lambda v: same * by_hand.references(by_hand.manhattan(X, v)[0], 1.0), w)
    assert np.abs(truth).max() > 0.01


def test_the_ascent_is_that_of_the_solver_step_by_step(by_hand):
    X, y = load_iris(return_X_y=True)
    X, heard = minmax(X), []
    w, values = by_hand.ascend(X, y, lam=0.02, step=30.0, tol=0.0, max_iter=40)
    fit = yang(
        balanced(X, y, 0.02), np.ones(4), step=30.0, tol=0.0, max_iter=40,
        on_step=lambda step: heard.append(step.objective) or False,
    )  # fmt: skip
    assert len(values) == 41
    np.testing.assert_allclose(values, heard, rtol=1e-9)
    np.testing.assert_allclose(w**2, fit.W, rtol=1e-7)
    assert np.any(np.diff(values) < 0)  # ×0.4 was needed
    assert values[-1] > values[0]


def test_by_hand_wine_ends_where_l_bfgs_does(by_hand):
    X, y = load_wine(return_X_y=True)
    X = minmax(X)
    w, values = by_hand.ascend(X, y, lam=0.02, tol=1e-10)
    assert values[0] == pytest.approx(1.64372487436, abs=1e-10)
    assert values[-1] == pytest.approx(2.16263494105, abs=1e-5)
    fit = lbfgs(balanced(X, y, 0.02), np.ones(13))
    np.testing.assert_allclose(w**2, fit.W, atol=0.02)
    assert np.all(w[fit.W == 0] ** 2 < 1e-3)


def test_by_hand_and_the_estimator_agree(by_hand):
    X, y = load_wine(return_X_y=True)
    w, values = by_hand.ascend(minmax(X), y, lam=0.02, tol=1e-10)
    model = NCFSClassifier(0.02, prior="balanced").fit(X, y)  # scales by itself
    np.testing.assert_allclose(model.weights_, w**2, atol=0.02)
    assert model.objective_ == pytest.approx(values[-1], abs=1e-5)
    assert model.certificate_.status == "local optimum"
    how = {"solver": "yang", "step": 30.0, "max_iter": 60, "tol": 0.0}
    with pytest.warns(UserWarning, match="max_iter=60"):
        model = NCFSClassifier(0.02, prior="balanced", **how).fit(X, y)
    w, values = by_hand.ascend(minmax(X), y, lam=0.02, step=30.0, max_iter=60, tol=0.0)
    np.testing.assert_allclose(model.weights_, w**2, rtol=1e-7, atol=1e-12)
    assert model.objective_ == pytest.approx(values[-1], rel=1e-12)


def test_without_a_start_above_0_nothing_moves(by_hand):
    X, y, w = rows(0)
    w[2] = 0.0
    assert by_hand.zeta(X, y, w, 0.1)[1][2] == 0.0


def test_the_example_by_hand_runs_on_numpy_alone_and_is_short():
    program = PROGRAM.read_text("utf-8")
    assert len(program.splitlines()) <= 80
    assert [line for line in program.splitlines() if "import " in line] == ["import numpy as np"]
    done = subprocess.run(
        [sys.executable, PROGRAM], capture_output=True, encoding="utf-8", timeout=300, check=True,
        env={"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert "of at most 2, in" in done.stdout
    assert "[14.5220" in done.stdout
