"""Measures, calibration, headroom and ceiling are what their equations say of held-out answers."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression as Theirs

from certus.neighbors import bayes_error_bracket
from certus.reporting.content.performance import ThresholdCounts
from certus.reporting.sections import calibration, ceiling, headroom, measures
from certus.reporting.sections.parts.answers import answered, bins
from certus.reporting.sections.parts.areas import average_precision, kolmogorov_smirnov
from certus.reporting.settings import Settings
from tests.report.fixtures import case

SETTINGS = Settings(target="outcome")
TWO = ("logistic", "knn", "loans")


def held_out(name):
    prepared, result = case(name)
    found = answered(prepared, result)
    return prepared, result, found.target, found.output


@pytest.mark.parametrize("name", TWO)
def test_counts_at_every_threshold_are_those_of_the_confusion_matrix(name):
    prepared, result, y, p = held_out(name)
    counts = measures.make(prepared, SETTINGS, result).counts
    assert isinstance(counts, ThresholdCounts)
    assert 3 <= len(counts.thresholds) <= 201
    assert list(counts.thresholds) == sorted(set(counts.thresholds))
    assert counts.thresholds[counts.selected] == 0.5
    for t, tp, fp in zip(
        counts.thresholds, counts.true_positives, counts.false_positives, strict=True
    ):
        matrix = metrics.confusion_matrix(y, p >= t, labels=[0, 1])
        assert (tp, fp) == (matrix[1, 1], matrix[0, 1])
    assert (counts.n_positive, counts.n_negative) == (np.sum(y == 1), np.sum(y == 0))


@pytest.mark.parametrize("name", TWO)
def test_measures_at_the_threshold_agree_with_scikit_learn(name):
    prepared, result, y, p = held_out(name)
    found = measures.make(prepared, SETTINGS, result)
    by_name = {e.name: e for e in found.estimates}
    d = p >= 0.5
    wanted = {
        "sensitivity": metrics.recall_score(y, d),
        "specificity": metrics.recall_score(y, d, pos_label=0),
        "precision": metrics.precision_score(y, d),
        "F": metrics.f1_score(y, d),
    }
    wanted["G-mean"] = np.sqrt(wanted["sensitivity"] * wanted["specificity"])
    for key, value in wanted.items():
        assert by_name[key].value == pytest.approx(value, abs=1e-12)
        assert by_name[key].interval.low <= value <= by_name[key].interval.high
    assert not any("ccuracy" in e.name for e in found.estimates)
    areas = {e.name: e for e in found.areas}
    assert areas["average precision"].value == pytest.approx(metrics.average_precision_score(y, p))
    fpr, tpr, _ = metrics.roc_curve(y, p)
    assert areas["KS"].value == pytest.approx(np.max(tpr - fpr))
    assert areas["Gini"].value == pytest.approx(2 * result.measure.value - 1)


def test_areas_of_weighted_rows_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 60), rng.random(60).round(1)
    s = rng.integers(0, 4, 60)
    many_y, many_p = np.repeat(y, s), np.repeat(p, s)
    for of, theirs in (
        (average_precision, metrics.average_precision_score),
        (kolmogorov_smirnov, lambda a, b: np.max(np.subtract(*metrics.roc_curve(a, b)[1::-1]))),
    ):
        assert of(y, p)(s.astype(float)) == pytest.approx(theirs(many_y, many_p))


def test_costs_are_shown_only_if_given():
    prepared, result, y, p = held_out("loans")
    assert not measures.make(prepared, SETTINGS, result).counts.costs_given
    given = replace(SETTINGS, cost_false_positive=1.0, cost_false_negative=6.0)
    found = measures.make(prepared, given, result)
    cost = next(e for e in found.estimates if e.name == "cost per row")
    d = p >= 0.5
    assert cost.value == pytest.approx(np.mean(1.0 * (d & (y == 0)) + 6.0 * (~d & (y == 1))))
    assert cost.baseline == pytest.approx(min(6 * y.mean(), 1 - y.mean()))


def test_tenths_hold_all_rows_and_at_least_five_each():
    prepared, result, y, _ = held_out("loans")
    rows = measures.make(prepared, SETTINGS, result).deciles.rows
    assert sum(row[1] for row in rows) == len(y)
    assert sum(row[2] for row in rows) == y.sum()
    assert [row[3] for row in rows] == sorted((row[3] for row in rows), reverse=True)


def test_equal_values_share_a_bin_and_bins_have_five_rows():
    values = np.array([0.0] * 30 + [1.0] * 3 + [2.0] * 17)
    parts = bins(values)
    assert sorted(np.concatenate(parts)) == list(range(50))
    assert all(len(part) >= 5 for part in parts)
    for a, b in itertools.pairwise(parts):
        assert values[a].max() < values[b].min()
    assert len(bins(np.arange(7.0))) == 1


@pytest.mark.parametrize("name", ["softmax", "ordinal", "knn-classes"])
def test_the_confusion_matrix_is_scikit_learns(name):
    prepared, result, y, P = held_out(name)
    found = measures.make(prepared, SETTINGS, result)
    table = np.array([row[1:-2] for row in found.confusion.rows])
    np.testing.assert_array_equal(table, metrics.confusion_matrix(y, P.argmax(axis=1)))
    recall = metrics.recall_score(y, P.argmax(axis=1), average=None)
    by_name = {e.name: e for e in found.estimates}
    for k, label in enumerate(prepared.classes):
        assert by_name[f"recall of '{label}'"].value == pytest.approx(recall[k])


def test_errors_of_numbers_are_scikit_learns():
    prepared, result, y, predicted = held_out("ridge")
    found = measures.make(prepared, SETTINGS, result)
    mae, rmse = found.estimates
    assert mae.value == pytest.approx(metrics.mean_absolute_error(y, predicted))
    assert rmse.value == pytest.approx(metrics.root_mean_squared_error(y, predicted))
    assert mae.value < mae.interval.high < mae.baseline
    for share, error in found.residuals.rows:
        assert np.mean(y - predicted < error) == pytest.approx(share, abs=0.02)


# --- calibration ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWO)
def test_the_calibration_line_is_an_unpenalised_logistic_regression(name):
    prepared, result, y, p = held_out(name)
    found = calibration.make(prepared, SETTINGS, result)
    z = np.log(np.clip(p, 1e-9, 1) / np.clip(1 - p, 1e-9, 1))
    theirs = Theirs(C=np.inf, tol=1e-10, max_iter=1000).fit(z[:, None], y)
    assert found.slope.value == pytest.approx(theirs.coef_[0, 0], rel=1e-4)
    assert found.intercept.value == pytest.approx(theirs.intercept_[0], rel=1e-3, abs=1e-4)
    assert found.brier.value == pytest.approx(metrics.brier_score_loss(y, p))
    assert all(b.n >= 5 and b.interval.low <= b.observed <= b.interval.high for b in found.bins)
    assert sum(b.n for b in found.bins) == len(y)


def test_predictions_that_are_too_extreme_are_called_so():
    prepared, result = case("loans")
    p = result.outer.output
    z = 4 * np.log(p / (1 - p))
    sure = replace(result, outer=replace(result.outer, output=1 / (1 + np.exp(-z))))
    assert "too extreme" in calibration.make(prepared, SETTINGS, sure).text
    timid = replace(result, outer=replace(result.outer, output=1 / (1 + np.exp(-z / 20))))
    assert "too timid" in calibration.make(prepared, SETTINGS, timid).text


def test_separated_classes_have_no_slope():
    y = np.array([0.0, 0.0, 1.0, 1.0] * 5)
    a, b = calibration.logistic_line(y, np.where(y == 1, 2.0, -2.0), np.ones(20))
    assert np.isnan([a, b]).all()


def test_predictions_that_hardly_differ_are_not_called_separated():
    prepared, result = case("loans")
    constant = np.full(len(result.outer.output), 0.3)
    flat = replace(result, outer=replace(result.outer, output=constant))
    assert "hardly differ" in calibration.make(prepared, SETTINGS, flat).text
    y = prepared.codes() == prepared.positive
    apart = replace(result, outer=replace(result.outer, output=np.where(y, 0.9, 0.1)))
    assert "separate the classes" in calibration.make(prepared, SETTINGS, apart).text


def test_numbers_are_compared_by_tenths_and_a_straight_line():
    prepared, result, y, predicted = held_out("ridge")
    found = calibration.make(prepared, SETTINGS, result)
    b, a = np.polyfit(predicted, y, 1)
    assert (found.slope.value, found.intercept.value) == (pytest.approx(b), pytest.approx(a))
    assert len(found.bins) == 10
    assert found.brier is None


# --- headroom and ceiling -------------------------------------------------------------------------


def test_headroom_is_the_difference_of_the_measures_with_a_paired_interval():
    for name in ("logistic", "ridge", "softmax"):
        prepared, result = case(name)
        found = headroom.make(prepared, SETTINGS, result)
        difference = result.reference_measure.value - result.measure.value
        assert found.difference == pytest.approx(difference)
        assert found.interval.low < difference < found.interval.high
        assert "reference, not certified" in found.text
        same = replace(result, reference=result.outer, reference_measure=result.measure)
        assert headroom.make(prepared, SETTINGS, same).interval is None  # no row differs


def test_headroom_says_what_is_given_up_and_what_may_be_chance():
    prepared, result = case("logistic")
    swapped = replace(
        result, outer=result.reference, reference=result.outer,
        measure=result.reference_measure, reference_measure=result.measure,
    )  # fmt: skip
    assert "you give up 0.0" in headroom.make(prepared, SETTINGS, swapped).text
    assert "less than the chosen model" in headroom.make(prepared, SETTINGS, result).text
    assert headroom.make(prepared, SETTINGS, replace(result, reference=None)) is None


def test_the_ceiling_is_the_cover_hart_bracket_of_standardised_columns():
    prepared, result = case("softmax")
    A = np.asarray(prepared.X.to_pandas(), dtype=float)
    A = (A - A.mean(axis=0)) / A.std(axis=0)
    first = np.sort(np.unique(prepared.duplicates, return_index=True)[1])
    wanted = bayes_error_bracket(A[first], prepared.y[first])
    found = ceiling.make(prepared, SETTINGS, result)
    assert (found.lower, found.upper) == (pytest.approx(wanted.lower), pytest.approx(wanted.upper))
    wrong = result.outer.output.argmax(axis=1) != prepared.codes()
    assert found.error == pytest.approx(wrong.mean())
    assert "few rows" in found.text
    assert ceiling.make(*case("ridge")[:1], SETTINGS, case("ridge")[1]) is None


def test_the_ceiling_of_a_rare_class_is_never_above_the_constant_answer():
    prepared, result = case("loans")
    found = ceiling.make(prepared, SETTINGS, result)
    rarer = np.mean(prepared.y == "yes")
    assert found.lower <= found.upper <= rarer + 1e-12


def test_a_single_newton_step_is_enough_for_a_resample_of_many_rows():
    rng = np.random.default_rng(2)
    z = rng.normal(-1, 1.5, 20_000)
    y = (rng.random(20_000) < 1 / (1 + np.exp(-0.3 - 0.8 * z))).astype(float)
    best = calibration.logistic_line(y, z, np.ones(20_000))
    s = np.bincount(rng.integers(0, 20_000, 20_000), minlength=20_000).astype(float)
    once = calibration.logistic_line(y, z, s, best, most=1)
    fully = calibration.logistic_line(y, z, s, best)
    moved = np.abs(np.subtract(fully, best))
    assert np.abs(np.subtract(once, fully)).max() < 0.05 * moved.max()
