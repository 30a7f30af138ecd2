"""Measures, calibration and corrected priors take tables where they take rows or labels."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from certus.data import streamed_answers, streamed_scores
from certus.linear_model import LogisticRegression
from certus.metrics import (
    CalibratedClassifier,
    PriorCorrectedClassifier,
    brier_decomposition,
    correct_prior,
    geometric_mean_score,
    imbalance_report,
    sensitivity_score,
    specificity_score,
)
from certus.svm import LSSVC
from tests.streams import GuardedTable, cut_small

N, MOST = 3000, 600
LABELS = np.array(["dry", "wet"])


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    cut_small(monkeypatch, 1 << 12)
    monkeypatch.setattr(streamed_answers, "ANSWER_BLOCK_BYTES", MOST * 8 * 3)
    monkeypatch.setattr(streamed_scores, "TARGET_BYTES", MOST * 8 * 3)


@pytest.fixture(params=[False, True], ids=["rows", "weights"])
def data(request):
    """X, labels and weights, and the table over them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    k = (X[:, 0] + rng.logistic(size=N) > 1).astype(int)
    s = rng.integers(0, 3, size=N).astype(float) if request.param else None
    return X, LABELS[k], s, GuardedTable(X, k, s, most=2 * MOST, classes=LABELS)


class NearerMean(ClassifierMixin, BaseEstimator):
    """A classifier by the nearer mean of two classes, of arrays or of a table."""

    _reads_rows = True

    def fit(self, X, y=None, sample_weight=None):
        if y is None:
            parts = [X.read(i, min(i + 64, X.shape[0])) for i in range(0, X.shape[0], 64)]
            y = X.classes[np.concatenate([part.y[:, 0] for part in parts]).astype(int)]
            sample_weight = np.concatenate([p.s for p in parts]) if X.has_weights else None
            X = np.concatenate([part.X for part in parts])
        self.n_features_in_, self.classes_ = X.shape[1], np.unique(y)
        s = np.ones(len(X)) if sample_weight is None else sample_weight
        self.centers_ = np.stack([np.average(X[y == c], 0, s[y == c]) for c in self.classes_])
        return self

    def decision_function(self, X):
        assert isinstance(X, np.ndarray)
        squares = ((X[:, None, :] - self.centers_) ** 2).sum(axis=2)
        return squares[:, 0] - squares[:, 1]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - p, p])


@pytest.mark.parametrize("options", [{}, {"slope": 0.5, "intercept": 0.2}], ids=str)
def test_calibration_on_a_table_is_that_on_arrays_with_folds_of_consecutive_rows(options, data):
    X, y, s, table = data
    expected = CalibratedClassifier(NearerMean(), cv=KFold(4), **options).fit(X, y, s)
    found = CalibratedClassifier(NearerMean(), cv=4, **options).fit(table)
    assert found.slope_ == pytest.approx(expected.slope_, rel=1e-9)
    np.testing.assert_allclose(found.predict_proba(table), expected.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(found.predict(table), expected.predict(X))
    assert found.score(table) == pytest.approx(expected.score(X, y, s), rel=1e-12)
    assert 0 < table.largest <= 2 * MOST


@pytest.mark.parametrize("kind", [CalibratedClassifier, PriorCorrectedClassifier])
def test_a_model_that_needs_all_rows_is_refused_before_a_row_is_read(kind, data):
    X, y, s, _ = data
    table = GuardedTable(X, (y == "wet").astype(float), s, most=0, classes=LABELS)
    model = GaussianNB() if kind is PriorCorrectedClassifier else LSSVC()
    with pytest.raises(TypeError, match=f"{type(model).__name__} needs all rows in memory"):
        kind(model).fit(table)


def test_corrected_priors_on_a_table_are_those_on_arrays(data):
    X, y, s, table = data
    expected = PriorCorrectedClassifier(NearerMean(), prevalence=0.1).fit(X, y, s)
    found = PriorCorrectedClassifier(NearerMean(), prevalence=0.1).fit(table)
    np.testing.assert_array_equal(found.trained_prevalence_, expected.trained_prevalence_)
    np.testing.assert_array_equal(found.predict_proba(table), expected.predict_proba(X))
    np.testing.assert_array_equal(found.predict_log_proba(table), expected.predict_log_proba(X))
    np.testing.assert_array_equal(found.predict(table), expected.predict(X))
    assert found.score(table) == pytest.approx(expected.score(X, y, s), rel=1e-12)


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), LogisticRegression(), LogisticRegression(class_weight={"wet": 3.0})],
    ids=["of scikit-learn", "of certus", "with class weights"],
)
def test_a_prior_is_corrected_by_rows_of_a_table(model, data):
    X, y, s, table = data
    model = model.fit(X, y)
    bare = GuardedTable(X, None, s, most=MOST)
    pairs = [
        ({"X": bare}, {"X": X, "sample_weight": s}),  # rows of the population
        ({"X": table}, {"X": X, "y": y, "sample_weight": s}),  # with labels
        ({"y": table}, {"y": y, "sample_weight": s}),  # labels of the fit
    ]
    for of_table, of_arrays in pairs:
        found = correct_prior(model, 0.2, **of_table)
        expected = correct_prior(model, 0.2, **of_arrays)
        np.testing.assert_allclose(
            found.trained_prevalence_, expected.trained_prevalence_, rtol=1e-12
        )
        np.testing.assert_allclose(found.predict_proba(table), expected.predict_proba(X))
    with pytest.raises(ValueError, match="name its column instead"):
        correct_prior(model, 0.2, X=bare, y=y)


def test_measures_take_labels_and_weights_of_a_table(data):
    X, y, s, table = data
    model = LogisticRegression().fit(X[:200], y[:200])
    d, P = model.predict(table), model.predict_proba(table)
    given = {"pos_label": "wet"}
    for measure in (sensitivity_score, specificity_score):
        assert measure(table, d, **given) == measure(y, d, sample_weight=s, **given)
    assert geometric_mean_score(table, d) == geometric_mean_score(y, d, sample_weight=s)
    parts = brier_decomposition(table, P[:, 1], **given)
    assert parts.brier == brier_decomposition(y, P[:, 1], sample_weight=s, **given).brier
    options = {**given, "n_resamples": 20, "random_state": 0}
    found = imbalance_report(table, P, **options)
    assert found.values == imbalance_report(y, P, sample_weight=s, **options).values
    assert found.values["roc_auc"] > 0.5


def test_whole_numbers_are_labels_and_others_are_refused():
    X = np.arange(8.0)[:, None]
    y = np.array([0.0, 1, 1, 0, 1, 1, 0, 1])
    table = GuardedTable(X, y, most=8)
    with pytest.raises(ValueError, match=r"no column of labels.*classes=True"):
        geometric_mean_score(table, y)
    table.distinct_targets = np.array([0, 1])
    predicted = np.array([0, 1, 0, 0, 1, 1, 1, 1])
    assert geometric_mean_score(table, predicted) == geometric_mean_score(y.astype(int), predicted)
    with pytest.raises(ValueError, match=r"open_rows\(…, weights='…'\)"):
        geometric_mean_score(table, predicted, sample_weight=np.ones(8))


def test_a_calibrated_model_of_another_library_predicts_tables(data):
    X, y, _, table = data
    model = CalibratedClassifier(KNeighborsClassifier(15), cv=3).fit(X[:300], y[:300])
    np.testing.assert_allclose(model.predict_proba(table), model.predict_proba(X), rtol=1e-12)
    assert model.score(table) > 0.5
