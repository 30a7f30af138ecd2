"""An estimator that iterates in plain sight, and a callback that writes down what it hears."""

import numpy as np
import pytest

from certus.certificate import certify
from certus.data.validation import data_for_fit
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.runtime.progress import monitored
from certus.solvers.progress import Step, ignore

DIRECT = [LinearRegression, Ridge, RidgeCV]  # on dense X nothing iterates
each_direct = pytest.mark.parametrize("cls", DIRECT, ids=lambda cls: cls.__name__)


def descend(X, y, alpha, max_iter, on_step=ignore, at=lambda t: None):
    """min ‖y − Xw‖² + α‖w‖² by steps of 1/L along the negative gradient, L = 2(‖X‖² + α)."""
    w = np.zeros(X.shape[1])
    L = 2 * (np.linalg.norm(X, 2) ** 2 + alpha)
    for t in range(max_iter + 1):
        at(t)
        g = -2 * X.T @ (y - X @ w) + 2 * alpha * w
        f = np.sum((y - X @ w) ** 2) + alpha * w @ w
        # α‖w‖² makes f 2α-strongly convex
        if on_step(Step(t, f, f - g @ g / (4 * alpha), lambda w=w: w.copy())):
            break
        w = w - g / L
    return w


class Descent(Ridge):
    """Ridge without intercept by gradient descent: what an iterative estimator looks like."""

    at = staticmethod(lambda t: None)  # a test's hook: before each step

    @monitored
    def fit(self, X, y, sample_weight=None):
        rows, _ = data_for_fit(self, X, y, sample_weight)

        def attributes(w):
            return {"coef_": w, "intercept_": 0.0, "solver_": "descent"}

        on_step = self._monitor.iterations(attributes, lambda: certify(self, rows), self.max_iter)
        w = descend(rows.X, rows.y[:, 0], self.alpha, self.max_iter, on_step, self.at)
        for name, value in attributes(w).items():
            setattr(self, name, value)
        self._conclude(certify(self, rows))
        return self


def descent(max_iter=500, **parameters):
    return Descent(alpha=5.0, fit_intercept=False, max_iter=max_iter, **parameters)


class Recorder:
    """A callback that writes down what it hears, and asks to stop after ``stop_after`` steps."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.heard, self.given, self.models = [], [], []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X, y, metadata):
        self.heard.append(f"begin {context.task_name} {context.task_id}")
        self.given.append((X, y, metadata, context.max_subtasks))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.heard.append(f"end {context.task_name} {context.task_id}")
        self.models.append(fitted_estimator)
        return context.task_name == "iteration" and context.task_id + 1 == self.stop_after
