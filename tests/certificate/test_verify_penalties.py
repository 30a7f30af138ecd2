"""verify() of models whose penalty is none: below 0, or not finite."""

import numpy as np
import pytest
from sklearn import kernel_ridge, linear_model, neighbors, svm
from sklearn.base import clone

import certus
from certus.exceptions import CannotVerifyError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + rng.normal(size=40)
    return X, y, (y > 0).astype(int)


REGRESSORS = [
    (linear_model.Lasso(0.1), "alpha"),
    (linear_model.Ridge(0.1), "alpha"),
    (linear_model.RidgeCV(), "alpha_"),
    (linear_model.ElasticNet(0.1), "l1_ratio"),
    (linear_model.ElasticNetCV(cv=3), "l1_ratio_"),
    (linear_model.HuberRegressor(), "alpha"),
    (kernel_ridge.KernelRidge(), "alpha"),
    (certus.svm.LSSVR(), "C"),
]
CLASSIFIERS = [
    (linear_model.LogisticRegression(), "C"),
    (linear_model.RidgeClassifier(), "alpha"),
    (svm.LinearSVC(), "C"),
    (svm.SVC(), "C"),
    (certus.linear_model.OrdinalRegression(alpha=1.0), "alpha"),
]


@pytest.mark.parametrize("value", [-1.0, -np.inf, np.nan])
@pytest.mark.parametrize(("model", "name"), [*REGRESSORS, *CLASSIFIERS], ids=str)
def test_a_penalty_that_is_none_cannot_be_verified(data, model, name, value):
    """With l1_ratio = −1 a model was called optimal, and its bound was above its objective."""
    X, y, k = data
    y = k if (model, name) in CLASSIFIERS else y
    model = clone(model).fit(X, y)
    setattr(model, name, value)
    with pytest.raises(CannotVerifyError):
        certus.verify(model, X, y)


def test_a_penalty_without_end_cannot_be_verified(data):
    X, y, _ = data
    model = linear_model.ElasticNetCV(cv=3).fit(X, y)
    model.alpha_ = np.inf
    with pytest.raises(CannotVerifyError, match=r"is inf, and must be finite and 0 or above"):
        certus.verify(model, X, y)


def test_an_unpenalised_logistic_model_is_still_read(data):
    X, _, k = data
    model = linear_model.LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(X, k)
    assert certus.verify(model, X, k).certified


@pytest.mark.parametrize("alpha", [-1e-17, -1.0])
def test_a_path_of_least_angles_that_ends_below_0_is_read_as_its_end(data, alpha):
    """scikit-learn's LassoLarsIC(positive=True) chooses alpha_ = −1.6e-17 now and then."""
    X, y, _ = data
    model = linear_model.LassoLarsIC(positive=True).fit(X, y)
    model.alpha_ = alpha
    found = certus.verify(model, X, y)
    assert found.parameters["penalty"]["l1"] == 0.0
    assert f"alpha_ is {alpha:.3g}, below 0" in found.explain()
    assert found.bound <= found.objective


def test_the_distance_of_a_coefficient_is_not_lost_below_the_least_float():
    """Excess 1e-214 over curvature 1e120 was 0, and so was coef_error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) * 1e150
    y = rng.normal(size=20) * 1e-100
    model = linear_model.Lasso(alpha=1e48, tol=1e-3).fit(X, y)
    best = linear_model.Lasso(alpha=1e-2, tol=1e-14).fit(X / 1e150, y * 1e100)
    found = certus.verify(model, X, y)
    off = np.abs(model.coef_ - best.coef_ * 1e-250).max()
    assert found.coef_error > 0
    assert off <= found.coef_error * (1 + 1e-6)


@pytest.mark.parametrize("kind", ["RadiusNeighborsClassifier", "RadiusNeighborsRegressor"])
def test_distances_are_not_right_because_the_radius_is_large(data, kind):
    """No angle of 1e-10 was right, yet each was within 1e-10 of a radius of 0.5."""
    rng = np.random.default_rng(0)
    X = (1000 + rng.normal(size=(31, 2)) * 1e-2).astype(np.float32)
    y = rng.integers(2, size=31).astype(float)
    model = getattr(neighbors, kind)(radius=0.5, metric="cosine").fit(X, y)
    found = certus.verify(model, X, y)
    assert found.status == "contradicted"
    X, y, _ = data
    y = (y > 0).astype(float)
    assert certus.verify(getattr(neighbors, kind)(radius=2.0).fit(X, y), X, y).certified
