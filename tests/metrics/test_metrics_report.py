"""The report's values are scikit-learn's, undefined values are explained."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics

from certus.metrics import geometric_mean_score, imbalance_report
from certus.metrics._intervals import bootstrap, resamples
from certus.metrics._measures import COUNT_MEASURES, Ranking, confusion, counted, measured
from tests.metrics.metrics_cases import probable, scored

ALL = (
    "error_rate", "accuracy", "sensitivity", "specificity", "precision", "f1", "g_mean",
    "balanced_accuracy", "mcc", "roc_auc", "pr_auc", "brier", "reliability", "resolution",
    "uncertainty", "log_loss",
)  # fmt: skip


def of_scikit_learn(y, p, threshold, s=None):
    d, w = p > threshold, {"sample_weight": s}
    return {
        "error_rate": metrics.zero_one_loss(y, d, **w),
        "accuracy": metrics.accuracy_score(y, d, **w),
        "sensitivity": metrics.recall_score(y, d, **w),
        "specificity": metrics.recall_score(y, d, pos_label=0, **w),
        "precision": metrics.precision_score(y, d, **w),
        "f1": metrics.f1_score(y, d, **w),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, d, **w),
        "mcc": metrics.matthews_corrcoef(y, d, **w),
        "roc_auc": metrics.roc_auc_score(y, p, **w),
        "pr_auc": metrics.average_precision_score(y, p, **w),
        "brier": metrics.brier_score_loss(y, p, **w),
        "log_loss": metrics.log_loss(y, p, **w),
    }


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.1, 0.5])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_values_are_scikit_learns(threshold, weighted):
    y, p = probable(0)
    s = np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else None
    report = imbalance_report(y, p, threshold, sample_weight=s, n_resamples=20)
    for name, value in of_scikit_learn(y, p, threshold, s).items():
        assert report[name] == pytest.approx(value, abs=1e-12), name
    assert tuple(report.values) == ALL
    both = report["sensitivity"] * report["specificity"]
    assert report["g_mean"] == pytest.approx(np.sqrt(both))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_values_of_resamples_are_scikit_learns_of_the_rows_drawn(seed, ties):
    y, scores = scored(seed, 60, ties=ties)
    p = 1 / (1 + np.exp(-scores))
    ranking = Ranking(y, p)
    strata = ranking.positive, ranking.negative
    ((W1, W0),) = resamples(tuple(map(len, strata)), 8, seed)
    W = np.zeros((8, 60))
    W[:, strata[0]], W[:, strata[1]] = W1, W0
    s = None if ties else np.ones(60)
    drawn = bootstrap(
        y, p > 0.5, p, s, probabilities=True, B=8, random_state=seed
    )  # the same draws
    for b in range(8):
        rows = np.repeat(np.arange(60), W[b].astype(int))
        for name, value in of_scikit_learn(y[rows], p[rows], 0.5).items():
            assert drawn[name][b] == pytest.approx(value, abs=1e-12), name
        assert drawn["g_mean"][b] == pytest.approx(geometric_mean_score(y[rows], (p > 0.5)[rows]))


@pytest.mark.parametrize("ties", [False, True])
def test_areas_are_what_they_are_by_all_pairs_and_all_thresholds(ties):
    y, scores = scored(5, 40, ties=ties)
    w = np.random.default_rng(0).integers(0, 3, size=40) + (np.arange(40) < 2)
    pairs = total = 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            total += w[i] * w[j]
            pairs += w[i] * w[j] * ((scores[i] > scores[j]) + (scores[i] == scores[j]) / 2)
    area = before = 0.0
    for t in sorted(set(scores), reverse=True):
        result = w @ (y * (scores >= t))
        area += (result - before) / (w @ y) * (result / (w @ (scores >= t)) if result else 0)
        before = result
    ranking, W = Ranking(y, scores), w[None].astype(float)
    areas = ranking.areas(W[:, ranking.positive], W[:, ranking.negative])
    assert areas["roc_auc"][0] == pytest.approx(pairs / total)
    assert areas["pr_auc"][0] == pytest.approx(area)


def test_counts_of_tables_are_the_measures_of_rows():
    rng = np.random.default_rng(0)
    for _ in range(50):
        y, d = rng.integers(2, size=12), rng.integers(2, size=12).astype(bool)
        if 0 < y.sum() < 12:
            ours = counted(*confusion(y, d, np.ones(12)))
            rows = measured(y, d.astype(int), np.ones(12))
            for name in COUNT_MEASURES:
                np.testing.assert_allclose(ours[name], rows[name], atol=1e-12, err_msg=name)


def test_all_kinds_of_predictions_give_one_report():
    y, p = probable(1)
    names = np.array(["no", "yes"])[y]
    reports = [
        imbalance_report(y, p, random_state=0),
        imbalance_report(y, np.c_[1 - p, p], random_state=0),
        imbalance_report(names, p, pos_label="yes", random_state=0),
        imbalance_report(pd.Series(names), pd.Series(p), pos_label="yes", random_state=0),
        imbalance_report(pl.Series(y), pl.Series(p), random_state=0),
        imbalance_report(np.where(y, 1, -1), p, random_state=0),
        imbalance_report(y, p[:, None], random_state=0),
        imbalance_report(
            pd.Series(names, dtype="category"),
            pd.DataFrame(np.c_[1 - p, p]),
            pos_label="yes",
            random_state=0,
        ),
        imbalance_report(y, pd.Series(p, dtype="Float64"), random_state=0),
        imbalance_report(y, p.astype(object), random_state=0),
    ]
    for report in reports:
        assert report.values == reports[0].values
        np.testing.assert_equal(report.intervals, reports[0].intervals)
        assert report.kind == "probabilities"
        assert report.threshold == 0.5
    labels = imbalance_report(
        names, np.array(["no", "yes"])[(p > 0.5).astype(int)], pos_label="yes"
    )
    scores = imbalance_report(y, np.log(p / (1 - p)))
    assert (labels.kind, labels.threshold) == ("labels", None)
    assert (scores.kind, scores.threshold) == ("scores", 0.0)
    for name in COUNT_MEASURES:
        assert labels[name] == scores[name] == reports[0][name]
    assert scores["roc_auc"] == reports[0]["roc_auc"]
    assert np.isnan(labels["roc_auc"])
    column = imbalance_report(y, (p > 0.5).astype(int)[:, None], n_resamples=5)
    assert (column.kind, column["mcc"]) == ("labels", labels["mcc"])
    assert np.isnan(scores["brier"])


@pytest.mark.parametrize(
    ("y", "pred", "kind"),
    [
        ([0, 1, 1], [0, 1, 0], "labels"),
        ([0, 1, 1], [0.0, 1.0, 0.0], "probabilities"),
        ([0.0, 1.0, 1.0], [0.0, 1.0, 0.0], "labels"),
        ([-1, 1, 1], [-1, -1, -1], "labels"),
        ([False, True, True], [True, True, False], "labels"),
        ([0, 1, 1], [0, 1, 2], "scores"),
        ([0, 0, 0], [0, 1, 1], "labels"),
        ([1, 1, 1], [-1, 1, 1], "scores"),
    ],
)
def test_what_predictions_are_is_read_from_them_and_said(y, pred, kind):
    assert imbalance_report(y, pred, n_resamples=5).kind == kind


def test_what_predictions_are_can_be_given():
    report = imbalance_report([0, 1, 0, 1], [0, 1, 1, 1], kind="probabilities", n_resamples=5)
    assert report["brier"] == 0.25


def test_one_class_against_the_rest():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], size=120)
    P = rng.dirichlet([1, 1, 1], size=120)
    report = imbalance_report(y, P, 0.4, pos_label="b", random_state=0)
    alone = imbalance_report(y == "b", P[:, 1], 0.4, random_state=0)
    assert report.values == alone.values
    assert "'b' (positive)" in report.table().title
    assert "not 'b'" in report.table().title


def test_the_confusion_table_is_scikit_learns():
    y, p = probable(2)
    report = imbalance_report(y, p, 0.3, n_resamples=5)
    np.testing.assert_array_equal(report.confusion, metrics.confusion_matrix(y, p > 0.3))
    assert (report.n, report.n_positive) == (200, y.sum())
    assert report.prevalence == y.mean()


def test_a_score_at_the_threshold_is_answered_as_predict_does():
    y, p = [0, 1, 0, 1], [0.5, 0.9, 0.1, 0.5]
    assert imbalance_report(y, p, n_resamples=5).confusion.tolist() == [[2, 0], [1, 1]]


@pytest.mark.parametrize("majority", [0, 1])
def test_the_baseline_is_the_majoritys_answer(majority):
    y, p = probable(3)
    y = y if majority == 0 else 1 - y
    report = imbalance_report(y, p, n_resamples=5)
    share = y.mean()
    constant = of_scikit_learn_baseline(y, np.full(200, majority), np.full(200, share))
    for name, value in constant.items():
        assert report.baseline[name] == pytest.approx(value, abs=1e-12), name
    assert np.isnan(report.baseline["precision"]) == (majority == 0)
    assert report.notes[-1].startswith(f"Majority: always {majority}")


def of_scikit_learn_baseline(y, d, p):
    return {
        "accuracy": metrics.accuracy_score(y, d),
        "g_mean": geometric_mean_score(y, d),
        "balanced_accuracy": 0.5,
        "mcc": metrics.matthews_corrcoef(y, d),
        "roc_auc": metrics.roc_auc_score(y, p),
        "pr_auc": metrics.average_precision_score(y, p),
        "brier": metrics.brier_score_loss(y, p),
        "log_loss": metrics.log_loss(y, p),
        "uncertainty": y.mean() * (1 - y.mean()),
        "reliability": 0.0,
    }


# --- what is not defined --------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 1])
def test_one_class_has_no_area_and_the_report_says_why(k):
    report = imbalance_report([k] * 5, [0.1, 0.2, 0.3, 0.7, 0.8], n_resamples=5)
    for name in ("roc_auc", "pr_auc", "g_mean", "balanced_accuracy", "mcc"):
        assert np.isnan(report[name]), name
    assert np.isnan(report["specificity"]) == (k == 1)
    assert np.isnan(report["sensitivity"]) == (k == 0)
    assert report["accuracy"] == pytest.approx(0.6 if k == 0 else 0.4)
    assert report.intervals_by["accuracy"] == "exact"
    assert report["log_loss"] == pytest.approx(
        metrics.log_loss([k] * 5, [0.1, 0.2, 0.3, 0.7, 0.8], labels=[0, 1])
    )
    only, other = ("0", "1") if k == 0 else ("1", "0")
    assert report.notes[0].startswith(f"Every row is {only}: ")
    assert f"are not defined without rows of {other}." in report.notes[0]
    assert "ROC and PR areas" in report.notes[0]
    str(report), report._repr_html_(), repr(report)


def test_no_predicted_positive_has_no_precision_and_the_report_says_so():
    report = imbalance_report([0, 0, 0, 1], [0, 0, 0, 0], n_resamples=5)
    assert np.isnan(report["precision"])
    assert (report["f1"], report["mcc"], report["g_mean"]) == (0, 0, 0)
    assert "No row is predicted 1: precision is 0/0, MCC is 0 by convention." in report.notes


def test_resamples_without_a_predicted_positive_are_counted():
    y = np.repeat([0, 1], [20, 20])
    pred = np.zeros(40, int)
    pred[[3, 30]] = 1
    report = imbalance_report(y, pred, random_state=0)
    lost = [note for note in report.notes if note.startswith("precision is not defined in")]
    assert len(lost) == 1


def test_probability_zero_of_what_happened_is_an_infinite_log_loss():
    report = imbalance_report([0, 1, 0, 1], [0.2, 0.0, 0.4, 0.8], n_resamples=5)
    assert report["log_loss"] == np.inf
    assert np.isfinite(report["brier"])
    assert any(note.startswith("1 row (first: 1) of a class") for note in report.notes)
    assert "infinite" in str(report)


def test_probabilities_of_another_population_are_doubted():
    y, p = probable(6, 1000)
    odds = 10 * p / (1 - p)
    doubt = [note for note in imbalance_report(y, odds / (1 + odds), n_resamples=5).notes
             if "correct_prior" in note]  # fmt: skip
    assert len(doubt) == 1
    assert f"share of 1 {y.mean():.3f}" in doubt[0]
    assert not any("correct_prior" in note for note in imbalance_report(y, p, n_resamples=5).notes)


def test_few_rows_of_a_class_are_stated():
    y, p = probable(7, 60, shift=-3.5)
    assert y.sum() < 15
    report = imbalance_report(y, p, 0.1, n_resamples=20)
    assert any(note.startswith(f"Only {y.sum()} rows of 1") for note in report.notes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: imbalance_report([0, 1], [0.1, 0.2, 0.3]), "y has 2 rows, y_pred has shape"),
        (lambda: imbalance_report([0, 1], [0.1, np.nan]), "y_pred has 1 missing value"),
        (lambda: imbalance_report([0, 1], [0.1, np.inf]), "y_pred has 1 infinite value"),
        (lambda: imbalance_report([0, 1], [0, 1], 0.5), "the predictions are labels"),
        (lambda: imbalance_report([0, 1], [0.1, 2], kind="probabilities"), "not a probability"),
        (lambda: imbalance_report([0, 1], [0, 1], kind="label"), "Did you mean 'labels'"),
        (lambda: imbalance_report([0, 1], [0, 1], interval="wald"), "interval='wald'"),
        (lambda: imbalance_report([0, 1], [0, 1], confidence=95), "confidence=95: give a share"),
        (lambda: imbalance_report([0, 1], [0, 1], n_resamples=0), "n_resamples=0"),
        (lambda: imbalance_report([0, 1], [0.1, 0.2], np.nan), "threshold=nan"),
        (lambda: imbalance_report([0, 1], np.ones((2, 3)) / 3), "y_pred has 3 columns"),
        (lambda: imbalance_report(["a", "b"], ["a", "a"]), "say which is the positive class"),
    ],
)
def test_what_cannot_be_reported_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- for people -----------------------------------------------------------------------------------


def test_the_table_has_a_line_for_each_measure_of_its_kind():
    y, p = probable(8)
    kinds = [imbalance_report(y, v, n_resamples=20) for v in (p > 0.5, 9 * p - 4, p)]
    assert [len(report.table()) for report in kinds] == [9, 11, 16]
    table = kinds[2].table()
    assert table.columns == ("measure", "value", "95 % low", "high", "majority", "interval")
    assert table["value"][0] == pytest.approx(kinds[2]["error_rate"], abs=1e-5)
    assert kinds[2].table().to_pandas().loc["G-mean", "majority"] == 0.0
    assert f"200 rows: {y.sum()} 1 (positive), {200 - y.sum()} 0;" in table.title
    assert "probabilities are above 0.5" in table.title


def test_it_can_be_read_in_eighty_columns_and_as_html():
    y, p = probable(9)
    names = np.array(["<b>no", "yes & more"])[y]
    report = imbalance_report(names, p, pos_label="yes & more", n_resamples=20)
    assert max(map(len, str(report).splitlines())) <= 80
    html = report._repr_html_()
    assert "&lt;b&gt;no" in html
    assert "<b>no" not in html
    assert html.count("<tr>") == 17


def test_a_line_says_the_most_of_it():
    y, p = probable(10)
    text = repr(imbalance_report(y, p, n_resamples=50, random_state=0))
    assert text.startswith("ImbalanceResult(G-mean 0.")
    assert "ROC area 0." in text


def test_an_unknown_measure_is_a_key_error_with_those_there_are():
    with pytest.raises(KeyError, match="no measure 'gmean': there are error_rate"):
        imbalance_report([0, 1], [0, 1], n_resamples=5)["gmean"]


# --- counts and costs -----------------------------------------------------------------------------


def rare():
    return ["no"] * 16 + ["yes"] * 4, [0.1] * 12 + [0.4] * 3 + [0.7] + [0.3, 0.6, 0.8, 0.9]


def test_a_report_shows_how_many_rows_were_found_missed_and_false_alarms():
    y, p = rare()
    text = str(imbalance_report(y, p, pos_label="yes", random_state=0))
    assert "'yes': 3 found, 1 missed. 'no': 15 right, 1 false alarm." in text
    assert "cost" not in text
    weighted = imbalance_report(y, p, pos_label="yes", sample_weight=[0.5] * 20, random_state=0)
    assert "'yes': 1.5 found, 0.5 missed. 'no': 7.5 right, 0.5 false alarms." in str(weighted)


def test_the_expected_cost_is_that_of_the_wrong_rows():
    y, p = rare()
    report = imbalance_report(y, p, pos_label="yes", random_state=0, cost_fp=2, cost_fn=18)
    assert report.cost == pytest.approx((2 * 1 + 18 * 1) / 20)
    assert report.majority_cost == pytest.approx(18 * 4 / 20)
    text = " ".join(str(report).split())
    assert "Expected cost: 1 a row, at 2 for a false alarm and 18 for a miss" in text
    assert "of the majority: 3.6. If the probabilities are calibrated, the threshold 0.1" in text
    swapped = imbalance_report(y, p, pos_label="no", random_state=0, cost_fp=2, cost_fn=18)
    assert swapped.majority_cost == pytest.approx(2 * 4 / 20)
    assert np.isnan(imbalance_report(y, p, pos_label="yes", random_state=0).cost)


def test_costs_come_together_and_are_not_negative():
    y, p = rare()
    with pytest.raises(ValueError, match="cost_fn is missing: give both costs, or neither"):
        imbalance_report(y, p, pos_label="yes", cost_fp=1)
    with pytest.raises(ValueError, match="cost_fp=-1: give a finite number"):
        imbalance_report(y, p, pos_label="yes", cost_fp=-1, cost_fn=1)
