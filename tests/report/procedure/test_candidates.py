"""Candidates: the grid's scores are those of the models, whatever the units of the columns."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit, log_softmax

from certus.exceptions import UsageError
from certus.reporting.procedure.candidates import ALL, candidates_for
from certus.reporting.procedure.choose import choose
from certus.reporting.procedure.encoding import Training, encoded
from certus.reporting.procedure.outer import fitted_candidates
from certus.reporting.settings import Settings
from tests.report.procedure.examples import prepared, two_classes

# NCFS may find that no column says anything: then all columns have the same weight
pytestmark = pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")


def rows_of(task, n=90, **options):
    columns, y = two_classes(n)
    x = columns["x0"] + 0.3 * np.random.default_rng(1).normal(size=n)
    if task == "numbers":
        return prepared(columns, 3 * x + 5, task=task, **options)
    if task != "two classes":
        y = np.array(["low", "mid", "top"])[np.digitize(x, [-0.5, 0.6])]
    return prepared(columns, y, task=task, **options)


CASES = [
    (task, candidate.key)
    for task in ("two classes", "classes", "ordered classes", "numbers")
    for candidate in ALL
    if candidate.suits(rows_of(task, 30))
]


@pytest.mark.parametrize(("task", "key"), CASES)
def test_scores_of_the_grid_are_those_of_the_fitted_model(task, key):
    rows = rows_of(task, weights=np.random.default_rng(2).integers(1, 4, 90).astype(float))
    (candidate,) = [c for c in ALL if c.key == key]
    train = Training.of(rows, np.arange(rows.n))
    data, B = encoded(train, train.X.slice(0, 20))
    grid = candidate.grid(train.n, data.A.shape[1])[-2:]
    z = candidate.scores(data, B, grid)
    assert z.shape == (2, 20, train.n_outputs)
    model = candidate.model(data, grid[0], rows.labels)
    model.fit(data.A, train.target if key != "ordinal" else train.y, sample_weight=train.s)
    if task == "numbers":
        expected, found = model.predict(B), z[0, :, 0]
    elif hasattr(model, "predict_proba") and task != "two classes":
        P = model.predict_proba(B)
        k = 90 if key in ("logistic", "ordinal") else grid[0][0]
        expected = P if k == 90 else (k * P + 0.5) / (k + 1.5)
        found = np.exp(log_softmax(z[0], axis=1)) if k == 90 else np.exp(z[0])
    elif hasattr(model, "predict_proba"):
        expected = model.predict_proba(B)[:, 1]
        if "knn" in key:
            k = grid[0][0]
            expected = (k * expected + 0.5) / (k + 1)
        found = expit(z[0, :, 0])
    else:
        f = model.decision_function(B)
        expected, found = f, z[0, :, 0] if f.ndim == 1 else z[0]
    assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("task", ["two classes", "classes", "ordered classes", "numbers"])
def test_answers_do_not_depend_on_units(task):
    rows = rows_of(task, 60)
    other = rows.X
    for name, factor in (("x0", 1024.0), ("x3", 2.0**-10)):
        j = other.column_names.index(name)
        scaled = other.column(name).to_numpy() * factor
        other = other.set_column(j, name, pa.array(scaled))
    train = Training.of(rows, np.arange(rows.n))
    scaled_rows = replace(train, X=other)
    answers = []
    for one in (train, scaled_rows):
        choice = choose(one, candidates_for(rows, Settings()), 0, lambda _: None)
        models = fitted_candidates(one, choice, 0)
        answers.append({key: model.output(one.X) for key, (model, _) in models.items()})
    for key, expected in answers[0].items():
        assert np.allclose(answers[1][key], expected, atol=1e-4), key


def test_at_most_eight_candidates_the_simplest_first():
    for task in ("two classes", "classes", "ordered classes", "numbers"):
        found = candidates_for(rows_of(task), Settings())
        assert 3 <= len(found) <= 8
        ranks = [c.rank for c in found]
        assert len(set(ranks)) == len(ranks)


def test_models_by_name():
    rows = rows_of("classes")
    assert [c.key for c in candidates_for(rows, Settings(models=("softmax", "knn")))] == [
        "logistic", "knn",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="Did you mean 'ridge'"):
        candidates_for(rows, Settings(models=("rigde",)))
    with pytest.raises(UsageError, match="none of the models suits"):
        candidates_for(rows, Settings(models=("ridge",)))


def test_coefficients_can_be_read_in_the_units_of_the_table():
    rows = rows_of("two classes")
    train = Training.of(rows, np.arange(rows.n))
    choice = choose(train, candidates_for(rows, Settings(models=("logistic",))), 0, lambda _: None)
    model, _ = fitted_candidates(train, choice, 0)["logistic"]
    columns, logistic = model.pipeline
    scale = columns.named_transformers_["numbers"][-1].scale_
    per_unit = logistic.coef_[0, : len(scale)] / scale
    bump = rows.X.column("x3").to_numpy() + 1.0
    j = rows.X.column_names.index("x3")
    moved = rows.X.set_column(j, "x3", pa.array(bump))
    z = [np.log(p / (1 - p)) for p in (model.output(rows.X), model.output(moved))]
    sign = 1 if logistic.classes_[1] == rows.labels[rows.positive] else -1
    assert np.allclose(sign * (z[1] - z[0]), per_unit[3], atol=1e-8)
