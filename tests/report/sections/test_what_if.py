"""The sliders of the page give the answers of the model, at every combination of positions."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit, softmax

from certus.reporting.sections import what_if
from certus.reporting.sections.parts.linear import linear_model, numbers_of
from certus.reporting.sections.parts.uncertainty import uncertainty
from certus.reporting.sections.what_if import median_of, rounded3
from certus.reporting.settings import Settings
from tests.report.fixtures import case

SETTINGS = Settings(target="outcome")
LINEAR = ("logistic", "loans", "unpenalized", "ridge", "linear", "lasso", "softmax", "ordinal")


def made(name):
    prepared, result = case(name)
    content, unchecked = what_if.make(prepared, SETTINGS, result)
    assert content is not None
    assert unchecked == ()
    return prepared, result, content


def answer(content, positions):
    """The output of the page: as its script computes it."""
    z = np.array(content.intercepts)
    for slider, j in zip(content.sliders, positions, strict=True):
        z = z + np.array([row[j] for row in slider.scores])
    if content.link == "identity":
        return z[0]
    if content.link == "logistic":
        return expit(z[0])
    if content.link == "softmax":
        return softmax(z)
    below = np.concatenate([expit(np.array(content.cuts) - z[0]), [1.0]])
    return np.diff(below, prepend=0.0)


def row_at(prepared, content, positions):
    """A row of the table with the positions' values; the others as at the start."""
    values = {}
    for column in prepared.columns:
        if column.role == "number":
            middle = rounded3(median_of(numbers_of(prepared, column.name)))
            values[column.name] = pa.array([middle], pa.float64())
        else:
            cells = [v for v in prepared.X.column(column.name).to_pylist() if v is not None]
            values[column.name] = pa.array([max(sorted(set(cells)), key=cells.count)])
    for slider, j in zip(content.sliders, positions, strict=True):
        label = slider.labels[j]
        if pa.types.is_floating(values[slider.column].type):
            number = float(label.replace(",", "").replace("−", "-"))
            values[slider.column] = pa.array([number], pa.float64())
        else:
            cell = None if label == "missing" else label
            values[slider.column] = pa.array([cell], pa.string())
    return pa.table(values)


@pytest.mark.parametrize("name", LINEAR)
def test_every_combination_of_positions_gives_the_models_answer(name):
    prepared, result, content = made(name)
    rng = np.random.default_rng(0)
    start = [slider.start for slider in content.sliders]
    drawn = [[int(rng.integers(len(s.labels))) for s in content.sliders] for _ in range(20)]
    for positions in (start, *drawn):
        output = result.predictor.output(row_at(prepared, content, positions))[0]
        np.testing.assert_allclose(answer(content, positions), output, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["loans", "unpenalized", "ridge", "linear"])
def test_the_variance_on_the_page_is_that_of_the_score(name):
    prepared, result, content = made(name)
    rng = np.random.default_rng(1)
    linear = linear_model(prepared, result)
    known = uncertainty(prepared, SETTINGS, result)
    root = np.array(content.root)
    for _ in range(10):
        positions = [int(rng.integers(len(s.labels))) for s in content.sliders]
        v = np.zeros(len(root))
        for parts, j in zip(content.design, positions, strict=True):
            for i, value in parts[j]:
                v[i] += value
        encoded = result.pipeline[:-1].transform(row_at(prepared, content, positions))
        c = np.concatenate([[1.0], np.asarray(encoded, dtype=float)[0]])
        if known.draws is not None:
            variance = np.var(known.draws[:, 0] @ c, ddof=1)
        else:
            variance = c @ known.covariance @ c
        np.testing.assert_allclose(np.sum((root.T @ v) ** 2), variance, rtol=1e-6)
    assert linear is not None


def test_no_slider_shows_an_extreme_value_or_a_rare_level():
    prepared, _, content = made("loans")
    for slider in content.sliders:
        values = prepared.X.column(slider.column).to_pylist()
        if slider.column in ("income", "age"):
            numbers = [float(label.replace(",", "")) for label in slider.labels]
            below = sum(v is not None and v <= min(numbers) for v in values)
            above = sum(v is not None and v >= max(numbers) for v in values)
            assert min(below, above) >= 5
        else:
            assert "west" not in slider.labels or values.count("west") >= 5


def test_a_model_without_coefficients_says_why_there_are_no_sliders():
    for name in ("knn", "ls-svm"):
        content, (unchecked,) = what_if.make(*case(name)[:1], SETTINGS, case(name)[1])
        assert content is None
        assert "training rows" in unchecked.why


def test_many_columns_stay_at_their_median_and_are_counted():
    prepared, result, content = made("ridge")
    what_if_max = what_if.MAX_SLIDERS
    try:
        what_if.MAX_SLIDERS = 3
        fewer, _ = what_if.make(prepared, SETTINGS, result)
    finally:
        what_if.MAX_SLIDERS = what_if_max
    assert len(fewer.sliders) == 3
    assert fewer.others_note.startswith("7 columns")
    start = [s.start for s in fewer.sliders]
    same = [s.start for s in content.sliders]
    np.testing.assert_allclose(answer(fewer, start), answer(content, same), rtol=1e-12)
