"""Models of many classes, as of numbers taken for labels: a warning first, and an end."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import certus
from certus.linear_model import LogisticRegression, LogisticRegressionCV
from certus.solvers.glm import newton_cg

doubted = pytest.warns(UserWarning, match="Use a regressor|use a regressor")


def many(n=160, K=50, p=4):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, p)), np.arange(n) % K


def test_many_small_systems_at_once_lead_where_one_at_a_time_does(monkeypatch):
    X, y = many()
    with doubted:
        at_once = LogisticRegression(solver="newton-cg").fit(X, y)
    monkeypatch.setattr(newton_cg, "MIN_BATCHED_OUTPUTS", 10**9)
    with doubted:
        one_by_one = LogisticRegression(solver="newton-cg").fit(X, y)
    assert at_once.certificate_.certified
    assert one_by_one.certificate_.certified
    np.testing.assert_allclose(at_once.coef_, one_by_one.coef_, atol=1e-3)


def test_the_inverses_are_those_of_the_systems():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 5))
    G, beta, penalty = A.T @ A, rng.uniform(0.1, 2, size=40), rng.uniform(0.5, 1, size=5)
    r = rng.normal(size=(5, 40))
    found = newton_cg._solver_for_each_output(G, beta, penalty)(r.copy())
    for k, b in enumerate(beta):
        np.testing.assert_allclose((b * G + np.diag(penalty)) @ found[:, k], r[:, k], atol=1e-9)
    assert newton_cg._inverses(-G, beta, 0 * penalty) is None, "that is no preconditioner"


def test_same_bits_on_any_number_of_threads():
    X, y = many()
    found = []
    for threads in (1, 2, 3):
        with certus.config_context(threads=threads), doubted:
            found.append(LogisticRegression().fit(X, y).coef_)
    assert all(np.array_equal(w, found[0]) for w in found)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning")
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize("model", [LogisticRegressionCV(), LogisticRegression(C=np.inf)], ids=repr)
def test_the_diabetes_data_taken_for_214_classes_are_fitted(model):
    X, y = load_diabetes(return_X_y=True)
    model.fit(X, y.astype(int))
    assert len(model.classes_) == 214
    assert np.isfinite(model.certificate_.objective)
