"""Models inside a model that fits several are verified on the rows and targets they were given."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus.exceptions import CannotVerifyError, CertificateError

n, p = 120, 3
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(n, p)), columns=list("abc"))
scores = X.to_numpy() @ rng.normal(size=(p, 3)) + rng.gumbel(size=(n, 3))
CLASSES = np.array(["high", "low", "none"])[scores.argmax(axis=1)]
TWO = np.where(scores[:, 0] > 0, "yes", "no")
NUMBERS = scores[:, 0]
SEVERAL = scores[:, :2]
LOGISTIC, RIDGE = LogisticRegression(tol=1e-10), Ridge()

MODELS = {
    "one against the rest": (OneVsRestClassifier(LOGISTIC), CLASSES, 3),
    "one against the rest, two classes": (OneVsRestClassifier(LOGISTIC), TWO, 1),
    "pairs": (OneVsOneClassifier(LOGISTIC), CLASSES, 3),
    "several numbers": (MultiOutputRegressor(RIDGE), SEVERAL, 2),
    "several classes": (MultiOutputClassifier(LOGISTIC), np.column_stack([CLASSES, TWO]), 2),
    "votes": (VotingClassifier([("a", LOGISTIC), ("b", "drop")]), CLASSES, 1),
    "means": (VotingRegressor([("a", RIDGE), ("b", LinearRegression())]), NUMBERS, 2),
    "stack": (StackingClassifier([("a", LOGISTIC)], cv=3), CLASSES, 1),
    "stack of numbers": (StackingRegressor([("a", RIDGE)], cv=3), NUMBERS, 1),
    "bag": (BaggingClassifier(LOGISTIC, 3, random_state=0), CLASSES, 3),
    "bag of columns": (BaggingRegressor(RIDGE, 2, max_features=2, random_state=0), NUMBERS, 2),
    "calibrated": (CalibratedClassifierCV(LOGISTIC, cv=3), TWO, 3),
    "calibrated by folds": (
        CalibratedClassifierCV(LOGISTIC, cv=StratifiedKFold(2, shuffle=True, random_state=3)),
        CLASSES, 2,
    ),
    "calibrated, one model": (CalibratedClassifierCV(LOGISTIC, cv=3, ensemble=False), TWO, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_every_part_is_verified_on_its_own_rows(name):
    model, y, count = MODELS[name]
    certificate = certus.verify(model.fit(X, y), X, y)
    assert certificate.certified, certificate.explain()
    assert [part.certified for part in certificate.parts] == [True] * count
    assert f"{count} model" in certificate.explain()
    assert type(model).__name__ in certificate.model


@pytest.mark.parametrize("name", MODELS)
def test_one_wrong_part_fails_the_whole_and_is_named(name):
    model, y, _ = MODELS[name]
    model.fit(X, y)
    last = getattr(model, "calibrated_classifiers_", None) or model.estimators_
    wrong = getattr(last[-1], "estimator", last[-1])
    wrong.coef_ = wrong.coef_ * 1.2
    certificate = certus.verify(model, X, y)
    assert not certificate.certified
    assert not certificate.parts[-1].certified
    assert f"{certificate.parts[-1].name}: " in certificate.explain()


def test_weights_go_to_every_part():
    s = rng.uniform(0.5, 2, n)
    model = VotingRegressor([("a", RIDGE)]).fit(X, NUMBERS, sample_weight=s)
    assert certus.verify(model, X, NUMBERS, s).certified
    assert not certus.verify(model, X, NUMBERS).certified


def test_parts_inside_a_pipeline_and_inside_parts():
    inner = OneVsRestClassifier(make_pipeline(StandardScaler(), LOGISTIC))
    model = make_pipeline(StandardScaler(), VotingClassifier([("a", inner)])).fit(X, CLASSES)
    assert certus.verify(model, X, CLASSES).certified


def test_the_parts_are_in_the_plain_values():
    model = OneVsOneClassifier(LOGISTIC).fit(X, CLASSES)
    parts = json.loads(certus.verify(model, X, CLASSES).to_json())["parts"]
    assert [part["name"] for part in parts] == [
        "class high against low", "class high against none", "class low against none",
    ]  # fmt: skip


def test_what_is_left_out_is_said():
    model = StackingRegressor([("a", RIDGE)], cv=3).fit(X, NUMBERS)
    assert "not audited: the last model" in certus.verify(model, X, NUMBERS).explain()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CalibratedClassifierCV(FrozenEstimator(LogisticRegression().fit(X, TWO))), "frozen"),
        (StackingClassifier([("a", LogisticRegression().fit(X, TWO))], cv="prefit"), "prefit"),
        (CalibratedClassifierCV(cv=StratifiedKFold(2, shuffle=True)), "without a seed"),
    ],
    ids=["frozen", "prefit", "folds without a seed"],
)
def test_parts_on_unknown_rows_are_refused(model, message):
    with pytest.raises(CannotVerifyError, match=message):
        certus.verify(model.fit(X, TWO), X, TWO)


def test_targets_are_needed():
    model = OneVsRestClassifier(LOGISTIC).fit(X, CLASSES)
    with pytest.raises(CannotVerifyError, match="give y"):
        certus.verify(model, X)


def test_a_script_is_of_one_model(tmp_path):
    model = OneVsRestClassifier(LOGISTIC).fit(X, CLASSES)
    with pytest.raises(CertificateError, match="one model"):
        certus.verify(model, X, CLASSES).export(tmp_path / "check.py")
