"""Corrected priors: odds × π(1 − ρ)/((1 − π)ρ), decisions unchanged, for any classifier."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from certus.linear_model import LogisticRegression
from certus.metrics import PriorCorrectedClassifier, brier_decomposition, correct_prior
from certus.svm import LSSVC, DensityWeightedLSSVC
from tests.metrics.metrics_cases import rare

BALANCED = [
    LogisticRegression(class_weight="balanced"),
    Theirs(class_weight="balanced"),
    make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")),
    GridSearchCV(LogisticRegression(class_weight="balanced"), {"C": [0.1, 1.0]}, cv=3),
]


def resampled(X, y, seed=0):
    """Resample to equally many rows of each class."""
    rng = np.random.default_rng(seed)
    few = np.flatnonzero(y == "yes")
    many = rng.choice(np.flatnonzero(y == "no"), size=len(few), replace=False)
    rows = np.r_[few, many]
    return X[rows], y[rows]


def within_sampling_error(p, y, errors=3.5):
    """Return whether the mean of p is the share of 'yes' up to sampling error."""
    return abs(np.sum((y == "yes") - p)) <= errors * np.sqrt(np.sum(p * (1 - p)))


# --- what it does ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", BALANCED, ids=lambda m: type(m).__module__[:7] + type(m).__name__)
def test_after_class_weights_the_mean_probability_is_the_prevalence(model):
    X, y = rare(0, 6000)
    new, truth = rare(1, 6000)
    model = clone(model).fit(X, y)
    assert model.predict_proba(new)[:, 1].mean() > 5 * np.mean(truth == "yes")
    honest = correct_prior(model, np.mean(y == "yes"))  # "balanced" is known from the model
    p = honest.predict_proba(new)[:, 1]
    assert within_sampling_error(p, truth)
    assert (honest.predict(new) == model.predict(new)).all(), "decisions stay"
    assert ((p > honest.threshold_) == (model.predict(new) == "yes")).all(), "where it says"
    assert honest.threshold_ == pytest.approx(np.mean(y == "yes"))
    assert brier_decomposition(truth, p, pos_label="yes").reliability < 0.002


@pytest.mark.parametrize("weight", [{"yes": 20.0}, {"yes": 3.0, "no": 0.5}], ids=str)
def test_any_class_weights_are_undone(weight):
    X, y = rare(0, 6000)
    new, truth = rare(1, 6000)
    model = LogisticRegression(class_weight=weight).fit(X, y)
    honest = correct_prior(model, np.mean(y == "yes"), y=y)
    factor = weight["yes"] / weight.get("no", 1.0)
    odds = model.predict_proba(new) @ [[0], [1]] / (model.predict_proba(new) @ [[1], [0]])
    corrected = odds / factor / (1 + odds / factor)
    np.testing.assert_allclose(honest.predict_proba(new)[:, 1], corrected[:, 0], rtol=1e-10)
    assert within_sampling_error(honest.predict_proba(new)[:, 1], truth)
    assert (honest.predict(new) == model.predict(new)).all()


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB(), Theirs()], ids=repr)
def test_after_resampling_the_mean_probability_is_the_prevalence(model):
    X, y = rare(2, 20_000)
    new, truth = rare(3, 6000)
    small, equal = resampled(X, y)
    model.fit(small, equal)
    share = np.mean(y == "yes")
    by_share = correct_prior(model, share, trained_prevalence=0.5)
    by_labels = correct_prior(model, share, y=equal)
    np.testing.assert_allclose(by_share.predict_proba(new), by_labels.predict_proba(new))
    assert (by_share.predict(new) == model.predict(new)).all()
    if not isinstance(model, GaussianNB):  # whose columns are not normal within a class
        assert within_sampling_error(by_share.predict_proba(new)[:, 1], truth)


def test_rows_of_the_population_give_the_shift_by_themselves():
    X, y = rare(4, 8000)
    small, equal = resampled(X, y)
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0).fit(small, equal)
    share = np.mean(y == "yes")
    honest = correct_prior(forest, share, X=X)
    assert honest.predict_proba(X)[:, 1].mean() == pytest.approx(share, rel=1e-9)
    assert (honest.predict(X) == forest.predict(X)).all()


def test_rows_of_any_shares_with_labels_are_weighted_to_the_population():
    X, y = rare(4, 8000)
    new, truth = rare(5, 20_000)
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    share = np.mean(truth == "yes")
    rows = np.r_[np.flatnonzero(truth == "yes"), np.flatnonzero(truth == "no")[:2000]]
    some, labels = new[rows], truth[rows]
    honest = correct_prior(model, share, X=some, y=labels)
    p = honest.predict_proba(some)[:, 1]
    mean = (1 - share) * p[labels == "no"].mean() + share * p[labels == "yes"].mean()
    assert mean == pytest.approx(share, rel=1e-9)
    assert honest.threshold_ == pytest.approx(share, rel=0.2)


def test_odds_are_multiplied_by_what_bayes_says():
    X, y = rare(6, 500)
    model = LogisticRegression().fit(X, y)
    P = model.predict_proba(X)
    pi, rho = 0.3, 0.07
    Q = correct_prior(model, pi, trained_prevalence=rho).predict_proba(X)
    factor = pi * (1 - rho) / ((1 - pi) * rho)
    np.testing.assert_allclose(Q[:, 1] / Q[:, 0], P[:, 1] / P[:, 0] * factor, rtol=1e-12)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, rtol=1e-15)
    assert roc_auc_score(y, Q[:, 1]) == pytest.approx(roc_auc_score(y, P[:, 1]), abs=1e-12)


def test_the_prevalence_it_was_trained_on_changes_nothing():
    X, y = rare(6, 500)
    model = LogisticRegression().fit(X, y)
    honest = correct_prior(model, np.mean(y == "yes"), y=y)
    np.testing.assert_allclose(honest.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    assert honest.threshold_ == pytest.approx(0.5)


def test_normal_classes_are_corrected_exactly():
    """Where densities are known: P(1 | x) = π f₁/(π f₁ + (1 − π) f₀) for any ρ."""
    x = np.linspace(-3, 3, 13)[:, None]

    class Known(GaussianNB):
        def predict_proba(self, X):
            f0, f1 = np.exp(-(X[:, 0] ** 2) / 2), np.exp(-((X[:, 0] - 1) ** 2) / 2)
            return np.c_[0.4 * f0, 0.6 * f1] / (0.4 * f0 + 0.6 * f1)[:, None]

    model = Known().fit([[0.0], [1.0]], [0, 1])
    f0, f1 = np.exp(-(x[:, 0] ** 2) / 2), np.exp(-((x[:, 0] - 1) ** 2) / 2)
    honest = correct_prior(model, 0.02, trained_prevalence=0.6)
    truth = 0.02 * f1 / (0.02 * f1 + 0.98 * f0)
    np.testing.assert_allclose(honest.predict_proba(x)[:, 1], truth, rtol=1e-12)


def test_three_classes_by_their_shares():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], size=6000, p=[0.9, 0.07, 0.03])
    centers = {"a": (0.0, 0.0), "b": (1.5, 0.0), "c": (0.0, 1.5)}
    X = rng.normal(size=(6000, 2)) + [centers[label] for label in y]
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    shares = {label: np.mean(y == label) for label in "abc"}
    honest = correct_prior(model, shares)
    np.testing.assert_allclose(
        honest.predict_proba(X).mean(axis=0), list(shares.values()), rtol=0.1
    )
    assert (honest.predict(X) == model.predict(X)).all()
    assert honest.threshold_ is None
    back = honest.predict_proba(X) / list(shares.values())
    assert (honest.classes_[back.argmax(axis=1)] == model.predict(X)).all()


def test_stated_priors_are_what_the_model_believes_in():
    X, y = rare(8, 2000)
    stated, own = GaussianNB(priors=[0.5, 0.5]).fit(X, y), GaussianNB().fit(X, y)
    honest = correct_prior(stated, np.mean(y == "yes"))
    np.testing.assert_allclose(honest.predict_proba(X), own.predict_proba(X), rtol=1e-9)


def test_models_with_a_threshold_of_their_own_keep_it():
    X, y = rare(9, 2000)
    balanced = LogisticRegression(class_weight="balanced")
    model = FixedThresholdClassifier(balanced, threshold=0.8, pos_label="yes").fit(X, y)
    honest = correct_prior(model, np.mean(y == "yes"))
    assert (honest.predict(X) == model.predict(X)).all()
    assert honest.threshold_ is None
    plain = correct_prior(balanced.fit(X, y), np.mean(y == "yes"))
    np.testing.assert_array_equal(honest.predict_proba(X), plain.predict_proba(X))


# --- the class ------------------------------------------------------------------------------------


def test_fit_weights_and_corrects_in_one():
    X, y = rare(0)
    honest = PriorCorrectedClassifier(LogisticRegression(class_weight="balanced")).fit(X, y)
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    same = correct_prior(model, np.mean(y == "yes"))
    np.testing.assert_allclose(honest.predict_proba(X), same.predict_proba(X), rtol=1e-10)
    assert (honest.predict(X) == model.predict(X)).all()
    np.testing.assert_allclose(honest.trained_prevalence_, 0.5)
    np.testing.assert_allclose(honest.prevalence_[1], np.mean(y == "yes"))


def test_weights_of_rows_count_as_rows():
    X, y = rare(0, 800)
    s = np.random.default_rng(0).integers(0, 3, size=800)
    again = np.repeat(np.arange(800), s)
    kind = PriorCorrectedClassifier(LogisticRegression(class_weight={"yes": 5.0}))
    once = clone(kind).fit(X, y, sample_weight=s)
    twice = clone(kind).fit(X[again], y[again])
    np.testing.assert_allclose(once.predict_proba(X), twice.predict_proba(X), rtol=1e-6)
    np.testing.assert_allclose(once.trained_prevalence_, twice.trained_prevalence_)


def test_it_survives_folds_searches_and_pipelines():
    X, y = rare(1, 1500)
    kind = PriorCorrectedClassifier(LogisticRegression(class_weight="balanced"))
    search = GridSearchCV(kind, {"estimator__C": [0.01, 1.0]}, scoring="neg_log_loss", cv=3)
    search.fit(X, y)
    assert search.best_params_["estimator__C"] in (0.01, 1.0)
    scores = cross_val_score(make_pipeline(StandardScaler(), kind), X, y, scoring="neg_log_loss")
    plain = cross_val_score(
        LogisticRegression(class_weight="balanced"), X, y, scoring="neg_log_loss"
    )
    assert scores.mean() > plain.mean() + 0.1, "honest probabilities lose less"


def test_parameters_can_be_read_set_and_cloned():
    kind = PriorCorrectedClassifier(LogisticRegression(C=2.0), prevalence=0.1)
    assert kind.get_params()["estimator__C"] == 2.0
    other = clone(kind).set_params(estimator__C=3.0, prevalence=0.2)
    assert (other.estimator.C, other.prevalence, kind.prevalence) == (3.0, 0.2, 0.1)
    assert "PriorCorrectedClassifier" in repr(kind)
    with pytest.raises(NotFittedError):
        kind.predict_proba([[0.0]])


def test_a_clone_of_a_corrected_model_keeps_model_and_shift():
    X, y = rare(2)
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    honest = correct_prior(model, 0.02)
    again = clone(honest).fit(X[:50], y[:50])  # whatever it is fitted on
    np.testing.assert_array_equal(again.predict_proba(X), honest.predict_proba(X))
    assert again.get_params()["trained_prevalence"] == {"no": 0.5, "yes": 0.5}
    out_of_fold = cross_val_predict(honest, X, y, method="predict_proba")
    np.testing.assert_array_equal(out_of_fold, honest.predict_proba(X))
    assert model.classes_.tolist() == ["no", "yes"], "the model itself is as it was"


def test_frames_keep_their_names():
    X, y = rare(3, 500)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    honest = correct_prior(LogisticRegression(class_weight="balanced").fit(frame, y), 0.05)
    assert honest.feature_names_in_.tolist() == ["a", "b", "c"]
    assert honest.n_features_in_ == 3
    assert honest.predict_proba(frame).shape == (500, 2)
    assert honest.score(frame, y) > 0.5


def test_costs_decide_on_a_corrected_model():
    X, y = rare(4, 5000)
    honest = correct_prior(
        LogisticRegression(class_weight="balanced").fit(X, y), np.mean(y == "yes")
    )
    decided = FixedThresholdClassifier(
        FrozenEstimator(honest), threshold=0.25, pos_label="yes", response_method="predict_proba"
    ).fit(X, y)
    expected = np.where(honest.predict_proba(X)[:, 1] >= 0.25, "yes", "no")
    assert (decided.predict(X) == expected).all()


def test_probabilities_of_zero_and_one_stay():
    model = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]] * 4, [0, 1] * 4)
    P = correct_prior(model, 0.1, trained_prevalence=0.5).predict_proba([[-9.0], [9.0]])
    np.testing.assert_array_equal(P, model.predict_proba([[-9.0], [9.0]]))
    with np.errstate(divide="raise"):
        logs = correct_prior(model, 0.1, trained_prevalence=0.5).predict_log_proba([[9.0]])
    assert logs[0].tolist() == [-np.inf, 0.0]


def test_it_is_an_estimator_as_scikit_learn_checks_them():
    check_estimator(
        PriorCorrectedClassifier(LogisticRegression(class_weight="balanced")),
        on_fail="raise",
        on_skip=None,
    )


# --- calibration out of fold ----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(class_weight="balanced"),
        RidgeClassifier(),
        LSSVC(kernel="linear", class_weight="balanced"),
        DensityWeightedLSSVC(kernel="linear"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_calibration_out_of_fold_gives_honest_probabilities(model, method):
    X, y = rare(5, 2000)
    new, truth = rare(6, 5000)
    calibrated = CalibratedClassifierCV(model, method=method, cv=5).fit(X, y)
    p = calibrated.predict_proba(new)[:, 1]
    assert within_sampling_error(p, truth, 5)
    moved = correct_prior(calibrated, 0.4, y=y).predict_proba(new)[:, 1]
    assert (np.argsort(moved, kind="stable") == np.argsort(p, kind="stable")).mean() > 0.9
    assert moved.mean() > p.mean() + 0.1


# --- what it refuses ------------------------------------------------------------------------------


class Sampler:
    def fit_resample(self, X, y): ...

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def refused():
    X, y = rare(7, 300)
    plain = LogisticRegression().fit(X, y)
    three = LogisticRegression().fit(X, np.resize(["a", "b", "c"], 300))
    sampling = make_pipeline(Sampler(), LogisticRegression()).fit(X, y)
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    bagged = BaggingClassifier(LogisticRegression(class_weight="balanced"), 3).fit(X, y)
    return {
        "shares of classes that the model was trained on": lambda: correct_prior(plain, 0.1),
        "not both": lambda: correct_prior(plain, 0.1, trained_prevalence=0.5, y=y),
        "prevalence=0: give shares above 0": lambda: correct_prior(plain, 0, y=y),
        "prevalence=1.5: give shares": lambda: correct_prior(plain, 1.5, y=y),
        "prevalence=nan: give shares": lambda: correct_prior(plain, np.nan, y=y),
        "prevalence='x': give the share of 'yes'": lambda: correct_prior(plain, "x", y=y),
        "prevalence=True: give the share": lambda: correct_prior(plain, True, y=y),
        "is one share, but the classes are 'a', 'b', 'c'": lambda: correct_prior(three, 0.1, y=y),
        "sums to 0.8": lambda: correct_prior(plain, {"no": 0.7, "yes": 0.1}, y=y),
        "shares of 'maybe'": lambda: correct_prior(plain, {"maybe": 0.1}, y=y),
        "one share for each of": lambda: correct_prior(plain, [0.1, 0.2, 0.7], y=y),
        "a shift from X needs two": lambda: correct_prior(three, [0.2, 0.3, 0.5], X=X),
        "Sampler resamples y": lambda: correct_prior(sampling, 0.1, y=y),
        "estimator__class_weight='balanced' is inside BaggingClassifier":
            lambda: correct_prior(bagged, 0.1, y=y),
        "class 'yes' has no row in y": lambda: correct_prior(plain, 0.1, y=["no"] * 5),
        "which no shift changes": lambda: correct_prior(forest, 0.999, X=X),
    }  # fmt: skip


@pytest.mark.parametrize("message", refused())
def test_what_cannot_be_corrected_is_named(message):
    with pytest.raises(ValueError, match=message):
        refused()[message]()


def test_one_of_two_shares_is_enough():
    X, y = rare(7, 300)
    model = LogisticRegression().fit(X, y)
    honest = correct_prior(model, {"no": 0.9}, y=y)
    np.testing.assert_allclose(honest.prevalence_, [0.9, 0.1])


def test_models_without_probabilities_or_fit_are_refused_with_a_remedy():
    X, y = rare(7, 300)
    with pytest.raises(TypeError, match="RidgeClassifier has no predict_proba: add it with"):
        correct_prior(RidgeClassifier().fit(X, y), 0.1, y=y)
    with pytest.raises(NotFittedError):
        correct_prior(LogisticRegression(), 0.1)
