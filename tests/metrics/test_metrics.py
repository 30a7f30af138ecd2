"""Shares by class, the Brier score's parts and thresholds are what their equations say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import brier_score_loss, make_scorer, recall_score
from sklearn.model_selection import cross_val_score

from certus.linear_model import LogisticRegression
from certus.metrics import (
    brier_decomposition,
    geometric_mean_score,
    sensitivity_score,
    specificity_score,
    threshold_for,
)
from tests.metrics.metrics_cases import probable, rare, scored


def answers(seed, n=60, K=2):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    return y, np.where(rng.uniform(size=n) < 0.6, y, rng.integers(K, size=n))


# --- shares ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True], ["a", "b"]], ids=str)
def test_sensitivity_and_specificity_count_the_rows_of_each_class(seed, labels):
    k, message = answers(seed)
    y, pred = np.array(labels)[k], np.array(labels)[message]
    options = {"pos_label": "b"} if "b" in labels else {}
    result = [sum((k == c) & (message == c)) / sum(k == c) for c in (1, 0)]
    assert sensitivity_score(y, pred, **options) == pytest.approx(result[0])
    assert specificity_score(y, pred, **options) == pytest.approx(result[1])
    assert geometric_mean_score(y, pred) == pytest.approx(np.sqrt(result[0] * result[1]))


def test_the_specificity_of_a_class_is_the_recall_of_all_others_together():
    y, pred = answers(1, K=4)
    for c in range(4):
        other = recall_score(y != c, pred != c)
        assert specificity_score(y, pred, pos_label=c) == pytest.approx(other)
        recall = recall_score(y, pred, labels=[c], average=None)[0]
        assert sensitivity_score(y, pred, pos_label=c) == pytest.approx(recall)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_geometric_mean_is_over_the_classes_in_y(K):
    y, pred = answers(2, K=K)
    recalls = [np.mean(pred[y == c] == c) for c in range(K)]
    assert geometric_mean_score(y, pred) == pytest.approx(np.prod(recalls) ** (1 / K))
    pred[0] = K  # a class that y does not hold: wrong, and no class more
    recalls = [np.mean(pred[y == c] == c) for c in range(K)]
    assert geometric_mean_score(y, pred) == pytest.approx(np.prod(recalls) ** (1 / K))
    two = np.prod(recalls[:2]) ** 0.5
    assert geometric_mean_score(y, pred, labels=[0, 1]) == pytest.approx(two)


def test_a_class_that_is_never_found_makes_the_geometric_mean_zero():
    assert geometric_mean_score([0, 0, 1, 1, 2], [0, 0, 1, 1, 0]) == 0.0


def test_the_geometric_mean_of_very_many_classes_does_not_underflow():
    y = np.repeat(np.arange(2000), 2)
    pred = y.copy()
    pred[::2] = -1
    assert geometric_mean_score(y, pred) == pytest.approx(0.5)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_weight_two_equals_a_repeated_row(weight):
    y, pred = answers(3, 12)
    weight = np.array(weight)
    weight[[np.argmax(y == 0), np.argmax(y == 1)]] += 1  # both classes are there
    again = np.repeat(np.arange(12), weight)
    for score in (sensitivity_score, specificity_score, geometric_mean_score):
        once = score(y, pred, sample_weight=weight)
        assert once == pytest.approx(score(y[again], pred[again]), abs=1e-12)


@pytest.mark.parametrize(
    ("score", "y", "message"),
    [
        (sensitivity_score, [0, 0], "sensitivity: none of 2 rows is positive: NaN"),
        (specificity_score, [1, 1], "specificity: none of 2 rows is negative: NaN"),
        (geometric_mean_score, [1, 1], "G-mean: y has only the class 1; the other has no recall"),
    ],
)
def test_what_is_zero_over_zero_is_nan_with_the_reason(score, y, message):
    with pytest.warns(UndefinedMetricWarning, match=message):
        assert np.isnan(score(y, [0, 1]))


def test_a_class_without_weight_or_rows_has_no_recall():
    with pytest.warns(UndefinedMetricWarning, match="y has only the class 0"):
        geometric_mean_score([0, 1], [0, 1], sample_weight=[1, 0])
    with pytest.warns(UndefinedMetricWarning, match="class 2 has no rows"):
        geometric_mean_score([0, 1], [0, 1], labels=[0, 1, 2])


def test_labels_of_which_none_is_positive_by_itself_ask_for_one():
    with pytest.raises(ValueError, match="y contains 'no', 'yes': say which is the positive class"):
        sensitivity_score(["no", "yes"], ["no", "no"])
    with pytest.raises(ValueError, match="'yess' is not in y, which contains 'no', 'yes'"):
        sensitivity_score(["no", "yes"], ["no", "no"], pos_label="yess")
    with pytest.raises(ValueError, match="y contains 1, 2: say which"):
        specificity_score([1, 2], [1, 1])


def test_labels_of_another_kind_or_number_are_refused():
    with pytest.raises(ValueError, match="y contains 0, 1, the predictions '0', '1'"):
        specificity_score([0, 1], ["0", "1"])
    with pytest.raises(ValueError, match="y has 2 rows, the predictions have 3"):
        sensitivity_score([0, 1], [0, 1, 1])
    for score in (sensitivity_score, geometric_mean_score):
        with pytest.raises(ValueError, match="y has no rows"):
            score([], [])
        with pytest.raises(ValueError, match="y has 2 rows, the predictions have 1"):
            score([0, 1], [0])
        with pytest.raises(ValueError, match="y contains 0, 1, the predictions 'a', 'b'"):
            score([0, 1], ["a", "b"])


def test_they_are_scorers_of_searches_and_folds():
    X, y = rare(0, 600)
    scorer = make_scorer(geometric_mean_score)
    plain = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
    balanced = LogisticRegression(class_weight="balanced")
    assert cross_val_score(balanced, X, y, scoring=scorer, cv=3).mean() > plain.mean() + 0.2


# --- the Brier score ------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [1, 2, 10, 1000, None])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_parts_add_up_to_the_brier_score(bins, weighted):
    y, p = probable(0)
    s = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    result = brier_decomposition(y, p, bins=bins, sample_weight=s)
    parts = result.reliability - result.resolution + result.uncertainty + result.remainder
    assert result.brier == pytest.approx(parts, abs=1e-14)
    assert result.brier == pytest.approx(brier_score_loss(y, p, sample_weight=s), abs=1e-14)
    assert result.weight.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_parts_are_sums_over_bins(seed):
    y, p = probable(seed, 100)
    result = brier_decomposition(y, p, bins=4)
    b = np.array([np.searchsorted(result.edges[1:-1], q) for q in p])
    assert np.bincount(b).tolist() == [25] * 4, "bins of equally many rows"
    reliability = resolution = remainder = 0.0
    for c in range(4):
        P, Y = p[b == c], y[b == c]
        reliability += len(P) / 100 * (P.mean() - Y.mean()) ** 2
        resolution += len(P) / 100 * (Y.mean() - y.mean()) ** 2
        remainder += len(P) / 100 * (P.var() - 2 * np.mean((P - P.mean()) * (Y - Y.mean())))
    assert result.reliability == pytest.approx(reliability)
    assert result.resolution == pytest.approx(resolution)
    assert result.remainder == pytest.approx(remainder)
    assert result.uncertainty == pytest.approx(y.mean() * (1 - y.mean()))


def test_few_distinct_probabilities_are_their_own_bins_and_leave_nothing():
    rng = np.random.default_rng(0)
    p = rng.choice([0.0, 0.2, 1.0], size=90)
    y = (rng.uniform(size=90) < p).astype(int)
    for bins in (3, 10, None):
        result = brier_decomposition(y, p, bins=bins)
        np.testing.assert_allclose(result.mean_predicted, [0.0, 0.2, 1.0], atol=1e-15)
        assert result.remainder == pytest.approx(0.0, abs=1e-16)


def test_probabilities_of_a_distinct_bin_each_are_all_resolution():
    y, p = probable(4)
    result = brier_decomposition(y, p, bins=None)
    assert result.resolution == pytest.approx(result.uncertainty)
    assert result.reliability == pytest.approx(result.brier)


def test_the_share_itself_is_reliable_and_resolves_nothing():
    y, _ = probable(5)
    result = brier_decomposition(y, np.full(len(y), y.mean()))
    assert (result.reliability, result.resolution) == pytest.approx((0, 0), abs=1e-28)
    assert result.brier == pytest.approx(result.uncertainty)


def test_equal_probabilities_are_never_parted():
    y, p = probable(6)
    result = brier_decomposition(y, np.r_[np.full(150, 0.3), p[150:]], bins=10)
    inside = (result.edges[:-1] < 0.3) & (result.edges[1:] >= 0.3)
    assert inside.sum() == 1
    assert result.weight[inside] >= 0.75


def test_rows_of_one_class_have_no_uncertainty():
    result = brier_decomposition([0, 0, 0], [0.1, 0.2, 0.3])
    assert (result.uncertainty, result.resolution) == (0, 0)
    assert result.brier == pytest.approx(0.14 / 3)


def test_the_decomposition_is_reported_and_tabulated():
    result = brier_decomposition(["n", "y", "n", "y"], [0.0, 1.0, 0.5, 0.5], pos_label="y")
    assert repr(result) == (
        "BrierResult(0.125 = reliability 0 − resolution 0.125 + uncertainty 0.25 + remainder 0)"
    )
    assert result.table()["observed"].tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.1, 1.2], "row 1 has 1.2, which is not a probability"),
        ([0.1, np.nan], "row 1 has nan, which is not a probability"),
        ([0.1], r"y has 2 rows, y_prob has shape \(1,\)"),
    ],
)
def test_what_is_no_probability_is_named(p, message):
    with pytest.raises(ValueError, match=message):
        brier_decomposition([0, 1], p)


# --- thresholds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("costs", [(1, 1), (1, 19), (3, 0), (0, 2), (1e-9, 5), (1e308, 1e308)])
def test_the_threshold_is_where_both_answers_cost_the_same(costs):
    fp, fn = costs
    t = threshold_for(fp, fn)
    assert (1 - t) * fp == pytest.approx(t * fn)
    assert 0 <= t <= 1


def test_no_other_threshold_costs_less_on_many_rows():
    y, p = probable(7, 50_000)
    t = threshold_for(1, 6)
    cost = [np.mean(np.where(y == 1, 6 * (p <= c), p > c)) for c in (t, 0.7 * t, 1.4 * t, 0.5)]
    assert cost[0] == min(cost)


@pytest.mark.parametrize("costs", [(-1, 1), (1, np.inf), (np.nan, 1), ("1", 1), (True, 1)])
def test_costs_are_finite_numbers_not_below_zero(costs):
    with pytest.raises(ValueError, match="give a finite number that is not negative"):
        threshold_for(*costs)


def test_costs_of_nothing_have_no_threshold():
    with pytest.raises(ValueError, match="both costs are 0"):
        threshold_for(0, 0)


def test_scores_do_not_change_what_they_are_given():
    y, scores = scored(0)
    pred = (scores > 0).astype(int)
    kept = y.copy(), pred.copy()
    geometric_mean_score(y, pred)
    assert (y == kept[0]).all()
    assert (pred == kept[1]).all()
