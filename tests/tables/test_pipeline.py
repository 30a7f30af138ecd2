"""Pipelines from tables: the same steps at predict, in a file, and in an exported script."""

import itertools
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier

import certus
from certus.certificate.export import template
from certus.cluster import KMeans
from certus.exceptions import TableError
from certus.linear_model import (
    FirthLogisticRegression,
    Lasso,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
)
from certus.mixture import GaussianMixture
from certus.neighbors import KNeighborsClassifier, KNeighborsRegressor
from certus.svm import LSSVC, LinearSVC
from certus.tables import check_columns, did_you_mean, formats, pipeline_for, roles_of
from certus.tables.pipeline import MAX_VALUES_IMPUTED
from certus.tables.schema import mismatch

from .reading import read

SCRIPTED = [LinearRegression(), Ridge(), Lasso(0.1), LogisticRegression()]
MODELS = [
    *SCRIPTED, FirthLogisticRegression(), OrdinalRegression(), KNeighborsClassifier(3),
    KNeighborsRegressor(3), LSSVC(), LinearSVC(), KMeans(2, n_init=2, random_state=0),
    GaussianMixture(2, random_state=0),
]  # fmt: skip


def content(delimiter=",", decimal="."):
    """A table with everything that a pipeline has to deal with."""
    rng = np.random.default_rng(0)
    rows = [["id", "age", "city", "ok", "zip", "size", "day", "grade", "y"]]
    for i in range(60):
        city = ["Oslo", " Århus", "NA", "<b>"][rng.integers(4)]
        size = "None" if i == 7 else str(rng.integers(1, 9))
        age = "-" if i == 5 else f"{rng.normal(40, 9):.2f}"
        ok, postcode = ["true", "false"][rng.integers(2)], ["007", "7", "123"][rng.integers(3)]
        grade, y = ["a", "b"][rng.integers(2)], f"{rng.normal():.3f}"
        row = [str(i), age, city, ok, postcode, size, f"2020-01-{i % 28 + 1:02}", grade, y]
        rows.append([cell.replace(".", decimal) for cell in row])
    return "\n".join(delimiter.join(row) for row in rows) + "\n"


def fitted(model, table):
    """Pipeline, rows and target of a model on the table."""
    columns = table.used(["y", "grade"])
    X = table.select([c.name for c in columns])
    y = table.target("grade" if is_classifier(model) else "y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes by chance may be separable
        return pipeline_for(columns, model).fit(X, y), X, y


def test_columns_are_used_or_left_out_with_a_reason():
    table = read(content())
    assert [c.name for c in table.used(["y", "grade"])] == ["age", "city", "ok", "zip", "size"]
    assert {c.name: c.role for c in table.left_out()} == {"id": "id", "day": "date"}


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_a_model_of_each_family_survives_a_file_and_verifies(model, tmp_path):
    pipeline, X, y = fitted(model, read(content()))
    certus.save(pipeline, tmp_path / "m.certus")
    loaded = certus.load(tmp_path / "m.certus")
    np.testing.assert_array_equal(loaded.predict(X), pipeline.predict(X))
    certificate = certus.verify(loaded, X, y)
    assert certificate.status == pipeline[-1].certificate_.status
    assert certificate.objective == pytest.approx(pipeline[-1].certificate_.objective, rel=1e-12)
    assert certificate.explain() == certus.verify(pipeline, X, y).explain()


def test_new_categories_and_missing_values_at_predict():
    table = read(content())
    pipeline, _, _ = fitted(LinearRegression(), table)
    later = read(
        "city,zip,age,ok,size\nOslo,123,,true,3\nMars,999,41,,\nMars,999,41,,\n",
        roles=roles_of(table.schema()),
    )
    names = list(pipeline.feature_names_in_)
    assert check_columns(names, later, by_name=True) == [
        "columns stand in another order than in the fit, and are taken by name: 'city', 'zip'"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's, on unknown categories
        predicted = pipeline.predict(later.select(names))
    assert np.isfinite(predicted).all()
    coefficients = dict(zip(pipeline[0].get_feature_names_out(), pipeline[-1].coef_, strict=True))
    median = pipeline[0].named_transformers_["numbers"][0].statistics_
    expected = pipeline[-1].intercept_ + 41 * coefficients["age"] + median[1] * coefficients["size"]
    assert predicted[1] == pytest.approx(expected, rel=1e-12)


def test_models_without_a_penalty_get_no_aliased_columns():
    pipeline, _, _ = fitted(LinearRegression(), read(content()))
    assert pipeline[-1].certificate_.certified
    assert "city_<b>" not in pipeline[0].get_feature_names_out()  # the first category
    pipeline, _, _ = fitted(Ridge(), read(content()))
    assert "city_<b>" in pipeline[0].get_feature_names_out()


def test_numbers_are_scaled_where_distances_are_compared():
    table = read(content())
    for model, scaled in (
        (LinearRegression(), False),
        (Lasso(), True),
        (KMeans(2), True),
        (KNeighborsClassifier(), True),
    ):
        steps = pipeline_for(table.used(), model)[0].transformers[0][1]
        assert (len(steps) == 2) is scaled, model


MAX_LINES = 150  # of a script, steps of the pipeline included


@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ","), ("\t", ",")])
@pytest.mark.parametrize("model", SCRIPTED, ids=lambda m: type(m).__name__)
def test_the_exported_script_reads_the_same_file(model, delimiter, decimal, tmp_path):
    text = content(delimiter, decimal)
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    pipeline, X, y = fitted(model, read(text))
    certus.verify(pipeline, X, y).export(tmp_path / "check.py")
    assert len((tmp_path / "check.py").read_text(encoding="utf-8").splitlines()) <= MAX_LINES
    target = "grade" if is_classifier(model) else "y"

    def check(name):
        return subprocess.run(
            [sys.executable, "check.py", name, target], cwd=tmp_path, capture_output=True,
            text=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"}, check=False,
        )  # fmt: skip

    done = check("data.csv")
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["the claim holds"])
    if not isinstance(model, Lasso):  # which does not use these codes
        (tmp_path / "other.csv").write_text(text.replace("007", "7"), encoding="utf-8")
        assert check("other.csv").returncode == 1


def test_scripts_know_the_marks_of_missing_values():
    assert template.MISSING == formats.MISSING
    assert template.MISSING_NUMBERS == formats.MISSING_NUMBERS


@pytest.mark.parametrize("model", [LinearRegression(), Ridge()], ids=lambda m: type(m).__name__)
def test_numbers_of_a_long_table_are_imputed_in_groups_with_the_same_result(model, tmp_path):
    table = read("a,b,c,city,y\n" + "".join(
        f"{i % 7},{'' if i == 3 else i % 5},{i % 3},{'xyz'[i % 3 - i % 2]},{i * i % 11}\n"
        for i in range(40)
    ))  # fmt: skip
    columns, X, y = table.used(["y"]), table.select(["a", "b", "c", "city"]), table.target("y")
    whole = pipeline_for(columns, clone(model)).fit(X, y)
    grouped = pipeline_for(columns, clone(model), n_rows=MAX_VALUES_IMPUTED // 2).fit(X, y)
    assert [part[0] for part in grouped[0].transformers] == ["numbers", "numbers_2", "categories"]
    # NumPy adds a column alone otherwise
    np.testing.assert_allclose(whole[:-1].transform(X), grouped[:-1].transform(X), rtol=1e-12)
    np.testing.assert_allclose(whole.predict(X), grouped.predict(X), rtol=1e-12)
    names = whole[0].get_feature_names_out()
    np.testing.assert_array_equal(names, grouped[0].get_feature_names_out())
    certus.save(grouped, tmp_path / "m.certus")
    loaded = certus.load(tmp_path / "m.certus")
    np.testing.assert_array_equal(loaded.predict(X), grouped.predict(X))
    assert certus.verify(loaded, X, y).certified


# --- columns of a later table ---------------------------------------------------------------------


def test_missing_extra_and_renamed_columns_are_named():
    table = read("age,incme,extra\n1,2,3\n4,5,6\n")
    with pytest.raises(TableError) as caught:
        check_columns(["age", "income"], table)
    assert str(caught.value) == (
        "the stream does not have the columns of the fit. missing: 'income'; extra: 'incme', "
        "'extra'; 'income' may be 'incme'. What to do: give the columns that are missing, and take "
        "them by name (--by-name), whatever their order, and ignore the extra ones"
    )
    assert check_columns(["age"], table, ignored=["incme"], by_name=True) == [
        "columns that the model does not know are ignored: 'extra'"
    ]


def test_reordered_columns_are_the_fewest_that_must_move():
    table = read("b,c,d,a,e\n1,2,3,4,5\n2,3,4,5,6\n")
    assert mismatch(["a", "b", "c", "d", "e"], table).reordered == ["a"]
    assert mismatch(["e", "d", "c", "b"], table, ["a"]) == ([], [], ["b", "c", "d"])
    assert not any(mismatch(["b", "a"], table, ["c", "d", "e"]))
    assert check_columns(["b", "a"], table, ["c", "d", "e"]) == []


@given(st.permutations("abcdefg"))
def test_columns_that_are_not_reordered_stand_in_order(order):
    table = read(f"{','.join(order)}\n1,2,3,4,5,6,7\n")
    moved = mismatch("abcdefg", table).reordered
    rest = [name for name in order if name not in moved]
    assert rest == sorted(rest)
    longest = max(
        len(chosen)
        for k in range(1, 8)
        for chosen in itertools.combinations(order, k)
        if list(chosen) == sorted(chosen)
    )
    assert len(rest) == longest


def test_did_you_mean():
    assert did_you_mean("defualted", ["age", "defaulted"]) == "defaulted"
    assert did_you_mean("AGE", ["age", "defaulted"]) == "age"
    assert did_you_mean("xyz", ["age", "defaulted"]) is None
