"""Prepared rows and results of procedures without the procedure: models on fixed folds.

``case("logistic")`` and the other names of ``CASES`` are pairs (Prepared, ProcedureResult). Results
are what a procedure with one candidate would find: five outer folds, no choice; the reference is a
single tree, which takes no time.
"""

import io
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import certus
from certus.feature_selection import NCFSClassifier
from certus.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
)
from certus.neighbors import KNeighborsClassifier
from certus.reporting.content.answer import Candidate, ModelComparison
from certus.reporting.content.values import Interval, MeasureEstimate
from certus.reporting.prepared import Prepared
from certus.reporting.procedure.result import OuterPredictions, ProcedureResult
from certus.svm import LSSVC
from certus.tables import pipeline_for, read_table

FOLDS, RESAMPLES = 5, 100
TARGET = "outcome"


# --- rows -----------------------------------------------------------------------------------------


def prepared_from(
    frame: pd.DataFrame, target: str = TARGET, task: str = "two classes", order: tuple = ()
) -> Prepared:
    """Rows of a frame, read as ``certus report`` reads a CSV file."""
    table = read_table(io.BytesIO(frame.to_csv(index=False).encode()))
    y = table.target(target)
    columns = table.used(exclude=(target,))
    labels = order or (() if task == "numbers" else tuple(np.unique(y).tolist()))
    positive = None
    if task == "two classes":
        positive = int(np.argmin([np.sum(y == label) for label in labels]))
    X = table.select([c.name for c in columns])
    return Prepared(
        table=table,
        columns=columns,
        X=X,
        y=y.astype(float) if task == "numbers" else y,
        task=task,
        classes=tuple(str(label) for label in labels),
        labels=labels,
        positive=positive,
        positive_reason="the rarer class" if positive is not None else "",
        row_numbers=np.arange(1, len(y) + 1),
        weights=None,
        groups=None,
        times=None,
        duplicates=pd.DataFrame(X.to_pandas())
        .groupby(X.column_names, dropna=False)
        .ngroup()
        .to_numpy(),
    )


# --- a procedure with one candidate ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PipelinePredictor:
    """The pipeline's own answers."""

    pipeline: Pipeline
    prepared: Prepared

    def output(self, X: pa.Table) -> np.ndarray:
        if self.prepared.task == "numbers":
            return np.asarray(self.pipeline.predict(X))
        model = self.pipeline[-1]
        if not hasattr(model, "predict_proba"):  # an LS-SVM: some increasing function of its score
            P = 1 / (1 + np.exp(-self.pipeline.decision_function(X)))
            P = np.stack([1 - P, P], axis=1)
        else:
            P = np.asarray(self.pipeline.predict_proba(X))
        place = [model.classes_.tolist().index(label) for label in self.prepared.labels]
        P = P[:, place]
        return P if self.prepared.positive is None else P[:, self.prepared.positive]


def result_from(
    prepared: Prepared, model: object, key: str, name: str, parameters: str = "", seed: int = 0
) -> ProcedureResult:
    """The result of fitting this model on all rows and on each of five folds' other rows."""
    pipeline = pipeline_for(prepared.columns, model).fit(prepared.X, prepared.y)
    outer = outer_predictions(prepared, pipeline, seed)
    numbers = prepared.task == "numbers"
    tree = (DecisionTreeRegressor if numbers else DecisionTreeClassifier)(max_depth=4)
    tree.set_params(random_state=0)
    reference = outer_predictions(prepared, pipeline_for(prepared.columns, tree), seed)
    measure, reference_measure = (measured(prepared, o) for o in (outer, reference))
    chosen = Candidate(key, name, parameters, measure.name, measure.value, 0.01, measure.value,
                       FOLDS, 1, True, prepared.n)  # fmt: skip
    rule = "The simplest model within one standard error of the best is chosen."
    two = prepared.task == "two classes"
    return ProcedureResult(
        comparison=ModelComparison((chosen,), measure.baseline, rule, FOLDS, FOLDS),
        key=key,
        name=name,
        pipeline=pipeline,
        predictor=PipelinePredictor(pipeline, prepared),
        calibration="",
        certificate=certus.verify(pipeline, prepared.X, prepared.y),
        other_certificates=(),
        measure=measure,
        others=(),
        how="5 outer folds; in each, 1 model was compared on 5 inner folds.",
        outer=outer,
        by_candidate={key: outer},
        reference=reference,
        reference_measure=reference_measure,
        threshold=0.5 if two else None,
        threshold_reason="0.5" if two else "",
    )


def outer_predictions(prepared: Prepared, pipeline: Pipeline, seed: int = 0) -> OuterPredictions:
    """Answers of fits on four fifths of the rows to the others."""
    numbers = prepared.task == "numbers"
    splitter = (KFold if numbers else StratifiedKFold)(FOLDS, shuffle=True, random_state=seed)
    fold = np.full(prepared.n, -1)
    output = None
    for f, (train, test) in enumerate(splitter.split(prepared.y, prepared.y)):
        model = clone(pipeline).fit(prepared.X.take(train), prepared.y[train])
        answers = PipelinePredictor(model, prepared).output(prepared.X.take(test))
        if output is None:
            output = np.full((prepared.n, *answers.shape[1:]), np.nan)
        output[test], fold[test] = answers, f
    return OuterPredictions(output, fold)


def measured(prepared: Prepared, outer: OuterPredictions) -> MeasureEstimate:
    """AUC (more classes: the mean over pairs), or R², with a bootstrap interval."""
    rng = np.random.default_rng(0)
    of = _score(prepared, outer)
    drawn = []
    for _ in range(RESAMPLES):
        rows = rng.integers(prepared.n, size=prepared.n)
        if prepared.task == "numbers" or len(np.unique(prepared.y[rows])) == len(prepared.labels):
            drawn.append(of(rows))
    low, high = np.quantile(drawn, [0.025, 0.975])
    numbers = prepared.task == "numbers"
    value = of(np.arange(prepared.n))
    name, baseline = ("R²", 0.0) if numbers else ("AUC", 0.5)
    return MeasureEstimate(name, value, prepared.n, Interval(float(low), float(high)), baseline)


def _score(prepared: Prepared, outer: OuterPredictions):
    def of(rows: np.ndarray) -> float:
        y, output = prepared.y[rows], outer.output[rows]
        if prepared.task == "numbers":
            return float(r2_score(y, output))
        if prepared.positive is not None:
            return float(roc_auc_score(y == prepared.labels[prepared.positive], output))
        codes = prepared.codes()[rows]
        P = output / output.sum(axis=1, keepdims=True)
        return float(roc_auc_score(codes, P, multi_class="ovo"))

    return of


# --- cases ----------------------------------------------------------------------------------------


def _cancer() -> pd.DataFrame:
    data = load_breast_cancer(as_frame=True)
    frame = data.data.iloc[:, :8].copy()
    frame[TARGET] = np.where(data.target == 0, "malignant", "benign")
    return frame


def _diabetes() -> pd.DataFrame:
    data = load_diabetes(as_frame=True, scaled=False)
    frame = data.data.copy()
    frame["sex"] = np.where(frame["sex"] > 1, "f", "m")
    frame[TARGET] = data.target
    return frame


def _iris() -> pd.DataFrame:
    data = load_iris(as_frame=True)
    frame = data.data.copy()
    frame[TARGET] = data.target_names[data.target]
    return frame


def _loans(n: int = 600) -> pd.DataFrame:
    """Numbers with missing values, categories with a rare level, a truth value; 15 % "yes"."""
    rng = np.random.default_rng(7)
    income = np.round(np.exp(rng.normal(10, 0.5, n)), 0)
    age = rng.integers(18, 80, n).astype(float)
    region = rng.choice(["north", "south", "east", "west"], n, p=[0.5, 0.3, 0.19, 0.01])
    owner = rng.random(n) < 0.4
    z = -2.4 - 1.5 * (np.log(income) - 10) + 1.2 * (region == "south") - 0.8 * owner
    frame = pd.DataFrame({"income": income, "age": age, "region": region, "owner": owner})
    frame.loc[rng.choice(n, 30, replace=False), "income"] = np.nan
    frame.loc[rng.choice(n, 20, replace=False), "region"] = None
    frame[TARGET] = np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "yes", "no")
    return frame


def _grades(n: int = 300) -> pd.DataFrame:
    """Ordered classes of one score."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=n), rng.normal(20, 5, n)
    z = 1.5 * a + 0.2 * (b - 20) + rng.logistic(size=n)
    frame = pd.DataFrame({"a": a.round(3), "b": b.round(2), "noise": rng.normal(size=n).round(3)})
    frame[TARGET] = np.array(["low", "middle", "high"])[np.digitize(z, [-1, 1.5])]
    return frame


def _loans_without_rare_levels() -> pd.DataFrame:
    frame = _loans()
    return frame[frame["region"].isin(["north", "south", "east"])]


FRAMES = {
    "logistic": _cancer, "ridge": _diabetes, "softmax": _iris, "knn": _cancer, "loans": _loans,
    "linear": _diabetes, "lasso": _diabetes, "ordinal": _grades, "ls-svm": _cancer,
    "ncfs": _cancer, "ncfs-knn": _cancer, "sparse": _loans, "knn-classes": _iris,
    "unpenalized": _loans_without_rare_levels,
}  # fmt: skip
TASKS = {"ridge": "numbers", "linear": "numbers", "lasso": "numbers", "softmax": "classes",
         "knn-classes": "classes", "ordinal": "ordered classes"}  # fmt: skip
ORDERS = {"ordinal": ("low", "middle", "high")}
COLUMN_WEIGHTS = np.array([1.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.2])
MODELS = {
    "logistic": (LogisticRegression(C=1.0), "logistic", "Logistic regression", "C = 1"),
    "ridge": (Ridge(alpha=5.0), "ridge", "Ridge regression", "penalty 5"),
    "softmax": (LogisticRegression(C=1.0), "logistic", "Logistic regression", "C = 1"),
    "knn": (KNeighborsClassifier(7), "knn", "k nearest neighbours", "k = 7"),
    "knn-classes": (KNeighborsClassifier(7), "knn", "k nearest neighbours", "k = 7"),
    "loans": (LogisticRegression(C=1.0), "logistic", "Logistic regression", "C = 1"),
    "linear": (LinearRegression(), "linear", "Linear regression", ""),
    "lasso": (Lasso(alpha=5.0), "lasso", "Lasso", "penalty 5"),
    "ordinal": (OrdinalRegression(categories=["low", "middle", "high"], alpha=0.1), "ordinal",
                "Ordinal regression", "penalty 0.1"),
    "ls-svm": (LSSVC(1.0, gamma=0.05, loo=False), "ls-svm", "Least-squares SVM", "C = 1"),
    "ncfs": (NCFSClassifier(), "ncfs", "NCFS", ""),
    "ncfs-knn": (
        KNeighborsClassifier(7, metric="manhattan", metric_params={"w": COLUMN_WEIGHTS}),
        "ncfs-knn", "NCFS and k nearest neighbours", "k = 7"),
    "sparse": (LogisticRegression(C=0.1, l1_ratio=1.0), "sparse-logistic",
               "Sparse logistic regression", "C = 0.1"),
    "unpenalized": (LogisticRegression(C=np.inf), "logistic", "Logistic regression", ""),
}  # fmt: skip
CASES = tuple(MODELS)


@cache
def case(name: str) -> tuple[Prepared, ProcedureResult]:
    """Prepared rows and a result, made once."""
    prepared = prepared_from(FRAMES[name](), task=TASKS.get(name, "two classes"),
                             order=ORDERS.get(name, ()))  # fmt: skip
    model, key, title, words = MODELS[name]
    return prepared, result_from(prepared, clone(model), key, title, words)


def noise(seed: int = 0, n: int = 150) -> tuple[Prepared, ProcedureResult]:
    """A target that has nothing to do with the columns."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)).round(3), columns=list("abcd"))
    frame[TARGET] = np.where(rng.random(n) < 0.4, "yes", "no")
    prepared = prepared_from(frame)
    return prepared, result_from(prepared, LogisticRegression(), "logistic", "Logistic regression")


def with_measure(result: ProcedureResult, value: float, low: float, high: float) -> ProcedureResult:
    """The result with another measure."""
    measure = replace(result.measure, value=value, interval=Interval(low, high))
    return replace(result, measure=measure)
