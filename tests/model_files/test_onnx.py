"""Models as ONNX answer as they do here; what has no such form is refused in words."""

import numpy as np
import pandas as pd
import pytest
from onnx.reference import ReferenceEvaluator
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import certus
from certus.exceptions import ModelFileError
from certus.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
)
from certus.model_files import onnx_export
from certus.svm import LinearSVC

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
D, t = load_diabetes(return_X_y=True)


def answers(content, rows):
    session = ReferenceEvaluator(content)
    return dict(zip(session.output_names, session.run(None, {"X": rows}), strict=True))


REGRESSORS = {
    "least squares": lambda: LinearRegression().fit(D, t),
    "two targets": lambda: Ridge().fit(D, np.column_stack([t, -t])),
    "no intercept": lambda: Lasso(0.1, fit_intercept=False).fit(D, t),
    "scaled": lambda: make_pipeline(StandardScaler(), Lasso(0.1)).fit(D, t),
    "min-max": lambda: make_pipeline(MinMaxScaler(clip=True), Ridge()).fit(D, t),
    "robust": lambda: make_pipeline(SimpleImputer(), RobustScaler(), MaxAbsScaler(), Ridge()).fit(
        D, t
    ),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_regression(name):
    model = REGRESSORS[name]()
    rows = D.copy()
    if name == "robust":
        rows[3, 2] = np.nan
    found = answers(onnx_export.to_onnx(model), rows)["prediction"]
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-12)


def test_columns_chosen_by_name():
    table = pd.DataFrame({f"x{j}": D[:, j] for j in range(4)})
    columns = ColumnTransformer(
        [("a", make_pipeline(SimpleImputer(), StandardScaler()), ["x2", "x0"])],
        remainder="passthrough",
    )
    model = make_pipeline(columns, Ridge()).fit(table, t)
    found = answers(onnx_export.to_onnx(model), D[:, :4])["prediction"]
    np.testing.assert_allclose(found, model.predict(table), rtol=1e-12)


CLASSIFIERS = {
    "softmax": lambda: LogisticRegression().fit(X, y),
    "text": lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, NAMES[y]),
    "two classes": lambda: LogisticRegression().fit(X, y == 1),
    "floats": lambda: LogisticRegression().fit(X, 2.0 * y),
    "ordinal": lambda: OrdinalRegression(alpha=0.1).fit(X, y),
    "ordinal, two classes": lambda: OrdinalRegression(alpha=0.1).fit(X, y > 0),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_and_probabilities(name):
    model = CLASSIFIERS[name]()
    found = answers(onnx_export.to_onnx(model), X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(
        found["probabilities"], model.predict_proba(X), rtol=1e-9, atol=1e-300
    )


def test_a_linear_machine_has_labels_alone():
    model = LinearSVC().fit(X, NAMES[y])
    found = answers(onnx_export.to_onnx(model), X)
    assert found.keys() == {"label"}
    np.testing.assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_kmeans_also_far_from_the_origin(shift):
    model = certus.cluster.KMeans(3, random_state=0).fit(X + shift)
    found = answers(onnx_export.to_onnx(model), X + shift)
    np.testing.assert_array_equal(found["label"], model.predict(X + shift))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: certus.neighbors.KNeighborsClassifier().fit(X, y), "no ONNX form for KNeighbors"),
        (lambda: make_pipeline(PolynomialFeatures(), Ridge()).fit(D, t), "the step Polynomial"),
        (
            lambda: make_pipeline(SimpleImputer(add_indicator=True), Ridge()).fit(D, t),
            "this SimpleImputer",
        ),
    ],
)
def test_what_has_no_such_form_is_refused_in_words(make, reason, tmp_path):
    with pytest.raises(ModelFileError, match=reason):
        onnx_export.export_onnx(make(), tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_a_graph_that_answers_differently_is_not_written(tmp_path, monkeypatch):
    model = Ridge().fit(D, t)
    monkeypatch.setattr(Ridge, "predict", lambda self, X: np.zeros(len(X)))
    with pytest.raises(ModelFileError, match="answers differently from predict"):
        onnx_export.export_onnx(model, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
