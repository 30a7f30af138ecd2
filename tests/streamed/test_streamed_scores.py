"""R² and accuracy on streamed rows agree with scikit-learn's on arrays."""

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning

from certus.linear_model import LinearRegression, LogisticRegression, Ridge
from certus.svm import LinearSVC
from tests.streamed.linear_cases import CASES, N, draw, table_of

LABELS = {
    "text": np.array(["low", "middle", "top"]),
    "numbers": np.array([-1, 4, 7]),
    "two": np.array([False, True]),
}


@pytest.mark.parametrize("case", ["plain", "weights", "two targets", "float32", "far from 0"])
def test_r_squared_is_scikit_learns_up_to_rounding(case, small_blocks):
    X, y, s = CASES[case]()
    model = Ridge().fit(X[: N // 2], y[: N // 2])
    expected = RegressorMixin.score(model, X, y, s)
    assert model.score(X, y, s) == expected  # on arrays, to the bit
    assert model.score(table_of(X, y, s)) == pytest.approx(expected, rel=1e-11)


def test_r_squared_does_not_cancel_far_from_zero(small_blocks):
    X, y, _ = draw()
    model = Ridge().fit(X, y + 1e9)
    expected = RegressorMixin.score(Ridge().fit(X, y), X, y)
    assert model.score(table_of(X, y + 1e9)) == pytest.approx(expected, rel=1e-5)


def test_a_constant_target_scores_one_where_it_is_met_and_else_zero(small_blocks):
    X, _, _ = draw()
    y = np.full(N, 0.1)
    model = LinearRegression().fit(X, y)
    model.coef_, model.intercept_ = np.zeros(X.shape[1]), 0.1
    assert model.score(table_of(X, y)) == 1.0
    model.intercept_ = 0.2
    assert model.score(table_of(X, y)) == 0.0


def test_one_row_has_no_r_squared():
    X, y, _ = draw()
    model = Ridge().fit(X, y)
    with pytest.warns(UndefinedMetricWarning, match="less than two samples"):
        assert np.isnan(model.score(table_of(X[:1], y[:1])))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_accuracy_is_scikit_learns_up_to_rounding(kind, weights, labels, small_blocks, monkeypatch):
    X, k, s, classes = _labelled(labels, weights)
    model = kind().fit(X[:500], classes[k[:500]])
    monkeypatch.setattr(kind, "_reads_rows", True, raising=False)
    expected = ClassifierMixin.score(model, X, classes[k], s)
    assert model.score(X, classes[k], s) == expected
    assert 0.3 < expected < 1
    assert model.score(table_of(X, k, s, classes=classes)) == pytest.approx(expected, rel=1e-12)


def test_a_class_that_the_model_does_not_know_is_missed(small_blocks, monkeypatch):
    X, k, _, classes = _labelled("text", False)
    known = k < 2
    model = LogisticRegression().fit(X[known], classes[k[known]])
    monkeypatch.setattr(LogisticRegression, "_reads_rows", True, raising=False)
    expected = ClassifierMixin.score(model, X, classes[k])
    assert model.score(table_of(X, k, classes=classes)) == pytest.approx(expected, rel=1e-12)


def test_labels_are_asked_for_in_words(monkeypatch):
    X, k, _, classes = _labelled("text", False)
    model = LogisticRegression().fit(X, classes[k])
    monkeypatch.setattr(LogisticRegression, "_reads_rows", True, raising=False)
    with pytest.raises(ValueError, match="classes=True"):
        model.score(table_of(X, k))
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.score(X)


def _labelled(labels, weights):
    X, y, s = draw(weights=weights)
    classes = LABELS[labels]
    noisy = y + np.random.default_rng(3).normal(size=N) * 4
    k = np.searchsorted(np.quantile(noisy, [0.4, 0.7][: len(classes) - 1]), noisy)
    return X, k, s, classes
