"""Explained cases: the right rows, right reasons, right neighbours, and no cell of a row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logit

from certus.reporting.procedure.encoding import encoder_for
from certus.reporting.sections import cases
from certus.reporting.settings import Settings
from tests.report.fixtures import case

SETTINGS = Settings(target="outcome")
ALL = ("logistic", "loans", "ridge", "softmax", "ordinal", "knn", "knn-classes", "ls-svm")


def made(name, settings=SETTINGS):
    prepared, result = case(name)
    return prepared, result, cases.make(prepared, settings, result)[0].cases


@pytest.mark.parametrize("name", ALL)
def test_typical_is_right_borderline_is_unsure_and_wrong_is_wrong(name):
    prepared, result, found = made(name)
    assert [c.kind for c in found] == ["typical", "borderline", "wrong"]
    by_kind = {c.kind: c for c in found}
    if prepared.task == "numbers":
        errors = np.abs(prepared.y - result.outer.output)
        assert errors[by_kind["wrong"].row - 1] == errors.max()
        return
    assert by_kind["typical"].predicted == by_kind["typical"].actual
    assert by_kind["wrong"].predicted != by_kind["wrong"].actual
    for c in found:
        assert c.actual == str(prepared.y[c.row - 1])
    P = result.outer.output
    if P.ndim == 1:
        nearest = np.abs(logit(np.clip(P, 1e-9, 1 - 1e-9))).min()
        p = np.clip(by_kind["borderline"].probability, 1e-9, 1 - 1e-9)
        assert abs(logit(p)) == pytest.approx(nearest)


@pytest.mark.parametrize("name", ["logistic", "ridge", "linear"])
def test_reasons_add_up_to_the_score_against_the_median_row(name):
    prepared, result = case(name)
    monkey = pytest.MonkeyPatch()
    monkey.setattr(cases, "N_REASONS", 100)
    found = cases.make(prepared, replace(SETTINGS, show_rows=True), result)[0].cases
    monkey.undo()
    frame = prepared.X.to_pandas()
    middle = frame.iloc[[0]].copy()
    for column in frame:
        is_number = frame[column].dtype.kind in "if"
        middle[column] = frame[column].median() if is_number else frame[column].mode()[0]
    import pyarrow as pa

    middle = result.predictor.output(pa.Table.from_pandas(middle, preserve_index=False))[0]
    for c in found:
        output = result.predictor.output(prepared.X.slice(c.row - 1, 1))[0]
        if prepared.task != "numbers":
            output, base = logit(output), logit(middle)
        else:
            base = middle
        total = sum(value for _, value in c.reasons)
        scale = sum(abs(value) for _, value in c.reasons)
        assert total == pytest.approx(output - base, abs=0.006 * scale + 1e-6)


@pytest.mark.parametrize("name", ALL)
def test_neighbours_are_the_nearest_rows_in_standardised_columns(name):
    prepared, _, found = made(name)
    A = np.asarray(encoder_for(prepared.columns, prepared.n).fit_transform(prepared.X), float)
    for c in found:
        distance = np.linalg.norm(A - A[c.row - 1], axis=1)
        distance[c.row - 1] = np.inf
        wanted = np.sort(distance)[: len(c.neighbors)]
        assert [v.distance for v in c.neighbors] == pytest.approx(wanted, rel=6e-3)
        for v in c.neighbors:
            assert v.row != c.row
            assert distance[v.row - 1] == pytest.approx(v.distance, rel=6e-3)
            if prepared.task != "numbers":
                assert v.answer == str(prepared.y[v.row - 1])


@pytest.mark.parametrize("name", ALL)
def test_no_cell_is_shown_unless_requested(name):
    prepared, _, found = made(name)
    assert all(c.cells == () for c in found)
    if prepared.task == "numbers":
        assert all("tenth" in c.actual for c in found)
        assert all("tenth" in v.answer for c in found for v in c.neighbors)
    _, _, shown = made(name, replace(SETTINGS, show_rows=True))
    row = shown[0].row - 1
    cells = dict(shown[0].cells)
    for name_of_column in prepared.X.column_names:
        value = prepared.X.column(name_of_column)[row].as_py()
        assert cells[name_of_column] == ("missing" if value is None else str(value))


def test_without_a_mistake_the_page_says_so():
    prepared, result = case("logistic")
    right = (prepared.y == "malignant") * 0.8 + 0.1
    perfect = replace(result, outer=replace(result.outer, output=right))
    found, (unchecked,) = cases.make(prepared, SETTINGS, perfect)
    assert [c.kind for c in found.cases] == ["typical", "borderline"]
    assert "answered rightly" in unchecked.why
