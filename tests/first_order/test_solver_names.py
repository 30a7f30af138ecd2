"""Solver objects have a repr that repeats the call, and say why they stopped."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import certus.solvers
from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LogisticRegression, PenalizedClassifier
from certus.solvers import (
    LBFGS,
    SAGA,
    SGD,
    GradientDescent,
    HeavyBall,
    Nesterov,
    ProximalGradient,
    Subgradient,
    Wolfe,
)

TYPED = [
    "GradientDescent('wolfe', change=0.001)", "HeavyBall(0.01, 0.9)", "Nesterov(beta=0.5)",
    "SGD(0.1, momentum=0.9, schedule='1/t', average=10)", "SAGA(step=0.1, order='shuffle')",
    "LBFGS(5, line_search=Wolfe(0.0001, 0.5))", "ProximalGradient(accelerated=False)",
    "Subgradient('polyak')",
]  # fmt: skip
NAMESPACE = {
    "GradientDescent": GradientDescent, "HeavyBall": HeavyBall, "LBFGS": LBFGS,
    "Nesterov": Nesterov, "ProximalGradient": ProximalGradient, "SAGA": SAGA, "SGD": SGD,
    "Subgradient": Subgradient, "Wolfe": Wolfe,
}  # fmt: skip


@pytest.mark.parametrize("typed", TYPED)
def test_a_solver_shows_itself_as_it_was_typed(typed):
    solver = eval(typed, NAMESPACE)
    assert repr(solver) == typed
    assert repr(pickle.loads(pickle.dumps(solver))) == typed
    model = clone(LogisticRegression(solver=solver))
    assert repr(model) == f"LogisticRegression(solver={typed})"


@pytest.mark.parametrize("name", certus.solvers.__all__)
def test_no_solver_or_step_rule_shows_an_address(name):
    one = getattr(certus.solvers, name)
    assert "0x" not in repr(one(0.1) if name == "Fixed" else one())


def test_a_fit_that_stops_by_change_says_so_where_that_was_too_early():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = PenalizedClassifier(solver=GradientDescent(change=0.01))
    with pytest.warns(NotCertifiedWarning, match=r"changed by as much as change=0.01: lower it\.$"):
        model.fit(X, y)
    w = model.coef_
    model.set_params(max_iter=int(model.n_iter_[0]) - 1)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y)
    assert np.abs(model.coef_ - w).max() < 0.01
    model.set_params(solver=GradientDescent("wolfe", change=0.0), max_iter=1000).fit(X, y)
    assert model.certificate_.certified
