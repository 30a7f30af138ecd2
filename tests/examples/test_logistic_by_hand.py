"""The slides' optimisers by hand take the steps of certus.solvers; as printed they go elsewhere."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LogisticRegression, PenalizedClassifier
from certus.penalties import L2
from certus.solvers import SGD, GradientDescent, HeavyBall

PROGRAM = Path(__file__).parents[2] / "examples" / "logistic_by_hand.py"
LAM = 0.01

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{NotCertifiedWarning.__module__}.NotCertifiedWarning"
)


@pytest.fixture(scope="module")
def by_hand():
    spec = importlib.util.spec_from_file_location(PROGRAM.stem, PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(PROGRAM.read_text("utf-8").splitlines()) <= 80
    return module


@pytest.fixture(scope="module")
def cancer():
    """Standardised, a column of ones last, +1 for benign."""
    X, y = load_breast_cancer(return_X_y=True)
    X = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(X))])
    return X, np.where(y == 1, 1.0, -1.0)


def trace_of(model, X, y):
    """Q = F/n after each step."""
    model.fit(X, y)
    return np.array([point.objective for point in model.certificate_.trace])


# Q after 1, 10, 100 steps, and the optimum
REFERENCES = {
    (0.1, 0.0): (0.5232608316, 0.2451847900, 0.1183278273),
    (0.01, 0.9): (0.6733603848, 0.3096572580, 0.1137804947),
}
OPTIMUM = 0.1004463038


@pytest.mark.parametrize(("step", "beta"), REFERENCES)
def test_the_first_steps_have_the_reference_values(by_hand, cancer, step, beta):
    _, values = by_hand.descend(*cancer, LAM, step, 100, beta)
    assert [values[t] for t in (1, 10, 100)] == pytest.approx(REFERENCES[step, beta], abs=1e-9)


@pytest.mark.parametrize(("step", "beta"), REFERENCES)
@pytest.mark.parametrize("of", ["LogisticRegression", "PenalizedClassifier"])
def test_steps_by_hand_are_those_of_the_estimators(by_hand, cancer, of, step, beta):
    X, y = cancer
    n = len(X)
    solver = HeavyBall(step, beta) if beta else GradientDescent(step)
    if of == "LogisticRegression":  # C·losses + ½‖w‖² = (C n)·Q for C = 1/(n λ)
        model = LogisticRegression(C=1 / (n * LAM), solver=solver, fit_intercept=False)
        scale = 1 / LAM
    else:
        model = PenalizedClassifier("logistic", L2(n * LAM), solver, fit_intercept=False)
        scale = n
    model.set_params(max_iter=100)
    w, values = by_hand.descend(X, y, LAM, step, 100, beta)
    np.testing.assert_allclose(trace_of(model, X, y) / scale, values, rtol=1e-12)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("step", "beta"), [(0.1, 0.0), (0.01, 0.9)])
@pytest.mark.parametrize("average", [0, 1, 3])
@pytest.mark.parametrize("seed", [0, 7])
def test_steps_of_single_rows_by_hand_are_those_of_the_estimator(
    by_hand, cancer, step, beta, average, seed
):
    X, y = cancer
    n, passes = len(X), 8
    solver = SGD(step, momentum=beta, schedule="geometric", average=average, random_state=seed)
    model = PenalizedClassifier("logistic", L2(n * LAM), solver, fit_intercept=False)
    model.set_params(max_iter=passes)
    w, values = by_hand.descend_by_rows(
        X, y, LAM, step, passes, beta, decay=0.9, tail=average * n, seed=seed
    )
    np.testing.assert_allclose(trace_of(model, X, y) / n, values, rtol=1e-12)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-10, atol=1e-12)


def test_the_gradients_by_hand_are_slopes_and_their_mean_is_the_whole(by_hand, cancer):
    X, y = cancer
    w, e = np.random.default_rng(0).normal(size=31) / 3, 1e-6
    slopes = [
        (by_hand.objective(X, y, w + d, LAM) - by_hand.objective(X, y, w - d, LAM)) / (2 * e)
        for d in e * np.eye(31)
    ]
    whole = by_hand.gradient(X, y, w, LAM)
    np.testing.assert_allclose(whole, slopes, atol=1e-8)
    of_rows = [by_hand.row_gradient(*row, w, LAM) for row in zip(X, y, strict=True)]
    np.testing.assert_allclose(np.mean(of_rows, axis=0), whole, rtol=1e-12)


def test_all_end_at_the_optimum_and_what_was_printed_does_not(by_hand, cancer):
    X, y = cancer
    _, plain = by_hand.descend(X, y, LAM, 0.1, 4000)
    _, ball = by_hand.descend(X, y, LAM, 0.01, 4000, 0.9)
    assert [plain[-1], ball[-1]] == pytest.approx([OPTIMUM] * 2, abs=1e-7)
    w = np.zeros(31)
    for _ in range(1000):  # exp(−y wᵀx) in the derivative
        w -= 0.1 * (-(y * np.exp(-np.logaddexp(0, -y * (X @ w)))) @ X / len(X) + LAM * w)
    assert by_hand.objective(X, y, w, LAM) > 2 * OPTIMUM
    w = np.zeros(31)
    for k in range(31):  # each coordinate to convergence, once
        for _ in range(1000):
            w[k] -= 0.5 * by_hand.gradient(X, y, w, LAM)[k]
    assert by_hand.objective(X, y, w, LAM) > 1.05 * OPTIMUM
    w = np.full(31, 0.01)
    before = by_hand.objective(X, y, w, LAM)
    w += 0.1 * by_hand.gradient(X, y, w, LAM)  # θ − α∇J of the log-likelihood J = −nQ
    assert by_hand.objective(X, y, w, LAM) > before


def test_along_a_straight_way_the_step_of_the_heavy_ball_is_longer_by_1_over_1_minus_beta(by_hand):
    X, y = np.full((4, 1), 1e-6), np.ones(4)  # the gradient is −1e-6/2 all the way
    w, _ = by_hand.descend(X, y, 0.0, 0.01, 1000, 0.9)
    longer, _ = by_hand.descend(X, y, 0.0, 0.01, 1001, 0.9)
    assert (longer - w)[0] == pytest.approx(0.01 / (1 - 0.9) * 0.5e-6, rel=1e-6)


def test_the_example_by_hand_runs_and_prints_the_reference_values():
    lines = [line.strip() for line in PROGRAM.read_text("utf-8").splitlines()]
    assert [line for line in lines if "import " in line] == [
        "from collections import deque",
        "import numpy as np",
        "from sklearn.datasets import load_breast_cancer",
    ]
    done = subprocess.run(
        [sys.executable, PROGRAM], capture_output=True, text=True, timeout=300, check=True,
        encoding="utf-8",
    )  # fmt: skip
    for values in REFERENCES.values():
        assert ", ".join(f"{value:.10f}" for value in values) in done.stdout
