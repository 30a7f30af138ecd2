"""Intervals of the report cover as often as they say."""

import numpy as np
import pytest
from scipy.stats import beta, norm

from certus.metrics import _intervals, imbalance_report
from certus.metrics._intervals import bootstrap, exact, quantiles, resamples
from certus.metrics._measures import confusion, counted, losses
from tests.metrics.metrics_cases import probable


@pytest.mark.parametrize(("k", "m"), [(0, 9), (3, 9), (9, 9), (70, 80)])
def test_exact_shares_are_clopper_pearsons(k, m):
    result = exact(k, m - k, 2, 30, 0.9)["sensitivity"]
    low = 0.0 if k == 0 else beta.ppf(0.05, k, m - k + 1)
    high = 1.0 if k == m else beta.ppf(0.95, k + 1, m - k)
    np.testing.assert_allclose(result, (low, high), atol=1e-9)


def test_the_exact_interval_of_f_is_that_of_the_share_it_is_made_of():
    low, high = exact(7, 3, 5, 40, 0.9)["f1"]
    share = beta.ppf(0.05, 7, 9), beta.ppf(0.95, 8, 8)  # 7 of 15
    np.testing.assert_allclose((low, high), [2 * J / (1 + J) for J in share], atol=1e-9)


def test_two_shares_have_together_the_confidence_of_one():
    """With confidence √0.9 each, both hold with 0.9."""
    a, c = (beta.ppf(1 - (1 - np.sqrt(0.9)) / 2, k + 1, m - k) for k, m in ((7, 10), (40, 45)))
    assert exact(7, 3, 5, 40, 0.9)["g_mean"][1] == pytest.approx(np.sqrt(a * c), abs=1e-9)


def test_every_exact_interval_holds_its_value():
    rng = np.random.default_rng(0)
    for _ in range(200):
        tp, fn, fp, tn = rng.integers(0, 15, size=4)
        if tp + fn and fp + tn:
            values = counted(*map(float, (tp, fn, fp, tn)))
            for name, (low, high) in exact(tp, fn, fp, tn, 0.95).items():
                assert low <= values[name] + 1e-12, name
                assert values[name] <= high + 1e-12, name


def test_what_gets_its_interval_from_two_corners_rises_with_both_shares():
    a, c = np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41), indexing="ij")
    for P, N in ((1, 1), (1, 50), (30, 2)):
        inside = counted(P * a, P * (1 - a), N * (1 - c), N * c)
        for name in ("g_mean", "balanced_accuracy", "mcc"):
            values = inside[name][1:-1, 1:-1]
            assert (np.diff(values, axis=0) > 0).all(), name
            assert (np.diff(values, axis=1) > 0).all(), name


def coverage(intervals, names, *, n_positive, n_negative, repeats, threshold=0.4):
    """How often intervals contain the value of infinitely many rows with the same shares."""
    a, c = norm.sf(threshold - 1), norm.cdf(threshold)  # N(1, 1) against N(0, 1)
    truth = counted(n_positive * a, n_positive * (1 - a), n_negative * (1 - c), n_negative * c)
    truth["roc_auc"] = norm.cdf(1 / np.sqrt(2))
    y = np.repeat([1.0, 0.0], [n_positive, n_negative])
    held = dict.fromkeys(names, 0)
    for seed in range(repeats):
        scores = np.random.default_rng(seed).normal(size=len(y)) + y
        result = intervals(y, scores > threshold, scores, seed)
        for name in names:
            held[name] += result[name][0] <= truth[name] <= result[name][1]
    return {name: count / repeats for name, count in held.items()}


def exactly(y, d, scores, seed):
    return exact(*confusion(y, d, np.ones(len(y))).astype(int).tolist(), 0.95)


def by_resamples(y, d, scores, seed):
    drawn = bootstrap(y, d, scores, None, probabilities=False, B=400, random_state=seed)
    return {name: quantiles(values, 0.95) for name, values in drawn.items()}


def test_exact_intervals_cover_at_least_as_often_as_they_say():
    names = ("sensitivity", "specificity", "g_mean", "balanced_accuracy", "mcc")
    result = coverage(exactly, names, n_positive=15, n_negative=120, repeats=400)
    for name, share in result.items():
        assert share >= 0.935, name  # 0.95 less what 400 repeats can miss


@pytest.mark.parametrize("name", ["accuracy", "precision", "f1"])
def test_exact_intervals_of_rows_drawn_at_random_cover_as_often_as_they_say(name):
    rng = np.random.default_rng(0)
    share, a, c = 0.15, 0.7, 0.9
    truth = counted(share * a, share * (1 - a), (1 - share) * (1 - c), (1 - share) * c)
    cells = rng.multinomial(100, [share * a, share * (1 - a), 0.85 * 0.1, 0.85 * 0.9], size=500)
    held = 0
    for tp, fn, fp, tn in cells.tolist():
        low, high = exact(tp, fn, fp, tn, 0.95)[name]
        held += low <= truth[name] <= high
    assert held / 500 >= 0.93


def test_bootstrap_intervals_cover_about_as_often_as_they_say():
    names = ("sensitivity", "specificity", "f1", "g_mean", "balanced_accuracy", "mcc", "roc_auc")
    result = coverage(by_resamples, names, n_positive=40, n_negative=200, repeats=200)
    for name, share in result.items():
        assert 0.88 <= share <= 0.995, (name, share)


def test_bootstrap_intervals_of_losses_cover_about_as_often_as_they_say():
    """Classes are drawn with p; strata keep the drawn share, so the truth is at that share."""
    rng = np.random.default_rng(0)
    grid = np.linspace(0.005, 0.995, 100)
    held = {"brier": 0, "log_loss": 0}
    for seed in range(150):
        y = np.repeat([1, 0], [50, 150])
        p = np.where(y == 1, rng.choice(grid, 200, p=grid / grid.sum()),
                     rng.choice(grid, 200, p=(1 - grid) / (1 - grid).sum()))  # fmt: skip
        truth = 0.0
        for k, share in ((1, 0.25), (0, 0.75)):
            weight = grid if k else 1 - grid
            truth = truth + share * (weight / weight.sum()) @ losses(np.full(100, k), grid)
        drawn = bootstrap(y, p > 0.5, p, None, probabilities=True, B=300, random_state=seed)
        for name, value in zip(held, truth, strict=True):
            low, high = quantiles(drawn[name], 0.95)
            held[name] += low <= value <= high
    for name, count in held.items():
        assert 0.88 <= count / 150 <= 0.995, name


def test_resamples_keep_the_size_of_each_class():
    seen = 0
    for W1, W0 in resamples((2, 5), 50, 0):
        assert (W1.sum(axis=1) == 2).all()
        assert (W0.sum(axis=1) == 5).all()
        seen += len(W1)
    assert seen == 50


def test_the_same_seed_gives_the_same_intervals_whatever_the_block(monkeypatch):
    y, p = probable(4, 60)
    first = imbalance_report(y, p, random_state=7)
    monkeypatch.setattr(_intervals, "MAX_RESAMPLE_ELEMENTS", 500)
    again = imbalance_report(y, p, random_state=np.random.default_rng(7))
    np.testing.assert_equal(first.intervals, again.intervals)
    old = [imbalance_report(y, p, random_state=np.random.RandomState(7)) for _ in range(2)]
    np.testing.assert_equal(old[0].intervals, old[1].intervals)
    other = imbalance_report(y, p, random_state=8)
    assert other.intervals["roc_auc"] != again.intervals["roc_auc"]


def test_higher_confidence_is_wider():
    y, p = probable(5)
    for options in ("bootstrap", "exact"):
        narrow, wide = (
            imbalance_report(y, p, 0.2, interval=options, confidence=c, random_state=0).intervals
            for c in (0.8, 0.99)
        )
        for name in narrow:
            if not np.isnan(narrow[name][0]):
                assert wide[name][0] <= narrow[name][0] <= narrow[name][1] <= wide[name][1]


def test_an_empty_cell_gets_exact_intervals_since_no_resample_fills_it():
    y = np.repeat([0, 1], [30, 6])
    p = np.r_[np.full(25, 0.1), np.full(5, 0.7), np.full(6, 0.8)]
    report = imbalance_report(y, p, random_state=0)
    assert report["sensitivity"] == 1.0
    np.testing.assert_allclose(report.intervals["sensitivity"], (0.025 ** (1 / 6), 1.0))
    assert report.intervals_by["g_mean"] == "exact"
    assert report.intervals_by["brier"] == "bootstrap"


def test_perfect_ranking_has_the_limit_of_pairs_that_share_no_row():
    y = np.repeat([0, 1], [30, 6])
    report = imbalance_report(y, np.arange(36) / 36, random_state=0)
    np.testing.assert_allclose(report.intervals["roc_auc"], (0.025 ** (1 / 6), 1.0))
    assert report.intervals_by["roc_auc"] == "exact"
    assert np.isnan(report.intervals["pr_auc"]).all()
    assert any(note.startswith("PR area: all resamples agree") for note in report.notes)


def test_weights_of_an_empty_cell_leave_no_interval():
    y = np.repeat([0, 1], [30, 6])
    report = imbalance_report(y, y, sample_weight=np.arange(36) + 1.0, n_resamples=20)
    assert np.isnan(report.intervals["sensitivity"]).all()
    assert any("which no resample can fill" in note for note in report.notes)


def test_exact_intervals_refuse_weights():
    with pytest.raises(ValueError, match="exact intervals count rows"):
        imbalance_report([0, 1], [0, 1], sample_weight=[1, 2], interval="exact")
