"""The error for every k is that of fits without the row, one by one, in plain NumPy."""

import itertools
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from certus.distances import Gower
from certus.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KResult,
    _left_out,
    _left_out_neighbors,
    bayes_error_bracket,
    choose_k,
)
from tests.house.naming import without_address
from tests.neighbors.neighbor_choices import blobs, left_out_losses, one_at_a_time

ROOT = Path(__file__).parents[2]
KS = [1, 2, 3, 4, 7, 12, 20]
SEEDS = range(4)


def by_hand(X, y, scoring="error", ks=KS, **options):
    """Return losses (n, len(ks)) of rows left out one at a time."""
    return np.concatenate(left_out_losses(scoring, X, y, one_at_a_time(len(X)), ks, **options))


# --- leave-one-out --------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [False, True], ids=["apart", "ties and copies"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("seed", SEEDS)
def test_leave_one_out_is_that_of_fits_without_the_row(seed, weights, grid):
    X, y = blobs(seed, grid=grid)
    choice = choose_k(X, y, KS, weights=weights)
    np.testing.assert_array_equal(choice.ks, KS)
    np.testing.assert_allclose(
        choice.error, by_hand(X, y, weights=weights).mean(axis=0), rtol=1e-14
    )


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("seed", SEEDS)
def test_brier_scores_are_those_of_fits_without_the_row(seed, weights):
    X, y = blobs(seed, grid=seed % 2 == 0)
    choice = choose_k(X, y, KS, scoring="brier", weights=weights)
    truth = by_hand(X, y, "brier", weights=weights).mean(axis=0)
    np.testing.assert_allclose(choice.error, truth, rtol=1e-12)


@pytest.mark.parametrize("scoring", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("seed", SEEDS)
def test_regressions_are_those_of_fits_without_the_row(seed, weights, scoring):
    X, _ = blobs(seed, grid=seed % 2 == 0)
    y = np.sin(X[:, :2]) + np.random.default_rng(seed).normal(size=(len(X), 2))
    for target in (y, y[:, 0]):
        choice = choose_k(X, target, KS, scoring=scoring, weights=weights)
        assert choice.task == "regression"
        truth = by_hand(X, target, scoring, weights=weights).mean(axis=0)
        np.testing.assert_allclose(choice.error, truth, rtol=1e-12)


def test_a_function_of_all_k_distances_is_asked_for_each_k():
    def triangle(d):
        return d.max(axis=1, keepdims=True) * 1.1 - d  # depends on the farthest of the k

    X, y = blobs(3)
    choice = choose_k(X, y, KS, weights=triangle)
    np.testing.assert_allclose(choice.error, by_hand(X, y, weights=triangle).mean(axis=0))
    t = X.sum(axis=1)
    choice = choose_k(X, t, KS, weights=triangle)
    truth = by_hand(X, t, "squared_error", weights=triangle).mean(axis=0)
    np.testing.assert_allclose(choice.error, truth, rtol=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_other_metrics(metric):
    X, y = blobs(5, grid=True)
    choice = choose_k(X, y, KS, metric=metric)
    np.testing.assert_allclose(choice.error, by_hand(X, y, metric=metric).mean(axis=0))


def test_distances_can_be_given():
    X, y = blobs(6, grid=True)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    for method in ("loo", 4, "bootstrap"):
        given = choose_k(D, y, KS, metric="precomputed", method=method, random_state=0)
        result = choose_k(X, y, KS, method=method, random_state=0)
        np.testing.assert_array_equal(given.error, result.error)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_sample_weights_multiply_votes_and_losses(weights):
    X, y = blobs(7, grid=True)
    s = np.random.default_rng(7).integers(0, 4, size=len(X)).astype(float)
    choice = choose_k(X, y, KS, sample_weight=s, weights=weights)
    there = s > 0
    losses = by_hand(X[there], y[there], s=s[there], weights=weights)
    truth = np.average(losses, axis=0, weights=s[there])
    np.testing.assert_allclose(choice.error, truth, rtol=1e-13)
    ones = choose_k(X, y, KS, sample_weight=np.full(len(X), 2.5), weights=weights)
    np.testing.assert_allclose(ones.error, choose_k(X, y, KS, weights=weights).error, rtol=1e-13)


def test_balanced_error_is_the_mean_of_the_classes_errors():
    X, y = blobs(8, n=60)
    y[y == 2] = np.where(np.arange((y == 2).sum()) < 4, 2, 1)
    losses = by_hand(X, y)
    choice = choose_k(X, y, KS, scoring="balanced_error")
    truth = np.mean([losses[y == c].mean(axis=0) for c in range(3)], axis=0)
    np.testing.assert_allclose(choice.error, truth)
    se2 = sum(losses[y == c].var(axis=0, ddof=1) / (y == c).sum() for c in range(3))
    np.testing.assert_allclose(choice.standard_error, np.sqrt(2 * se2) / 3)
    assert choice.baseline == pytest.approx(2 / 3)


def test_many_copies_of_a_row_are_its_neighbours_and_it_is_not():
    """More rows are at distance 0 than neighbours are requested, most with a smaller index."""
    X = np.concatenate([np.zeros((6, 1)), np.ones((6, 1))])
    y = np.array([0, 0, 0, 1, 1, 1] * 2)
    choice = choose_k(X, y, [1, 2, 5])
    np.testing.assert_allclose(choice.error, by_hand(X, y, ks=[1, 2, 5]).mean(axis=0))


def test_a_tie_goes_to_the_nearer_class_and_then_to_the_smaller_label():
    X = np.array([[0.0], [1.0], [-2.0], [50.0], [51.0]])
    y = np.array(["b", "z", "a", "b", "b"])
    # the two nearest of row 0 are z at 1 and a at 2: z, wrong; all others are by hand as well
    choice = choose_k(X, y, [2])
    assert choice.error[0] == by_hand(X, y, ks=[2]).mean()
    X = np.array([[0.0], [1.0], [-1.0]])
    assert (
        choose_k(X, ["a", "z", "a"], [2]).error[0]
        == by_hand(X, np.array(["a", "z", "a"]), ks=[2]).mean()
    )


def test_no_vote_is_a_wrong_answer_and_of_numbers_no_answer():
    X = np.array([[0.0], [1.0], [2.0], [30.0], [31.0], [90.0]])

    def near(d):
        return (d < 5).astype(float)

    choice = choose_k(X, list("aaabbb"), [1, 2], weights=near)
    np.testing.assert_allclose(choice.error, [1 / 6, 1 / 6])
    choice = choose_k(X[:5], X[:5, 0] + 0.5, [1, 2], weights=near)
    assert np.isfinite(choice.error).all()
    with pytest.raises(ValueError, match="with every k some row has no neighbour with a vote"):
        choose_k(X, X[:, 0] + 0.5, [1, 2], weights=near)


@pytest.mark.costly
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("seed", range(3))
def test_the_estimators_say_the_same(seed, weights):
    X, y = blobs(seed, n=30, grid=True)
    s = np.random.default_rng(seed).uniform(size=30)
    ks = [1, 2, 5, 10]
    t = X[:, 0] + y / 7
    for cls, target, scoring in (
        (KNeighborsClassifier, y, "error"), (KNeighborsRegressor, t, "absolute_error"),
    ):  # fmt: skip
        losses = np.zeros((30, len(ks)))
        for (train, test), (c, k) in itertools.product(one_at_a_time(30), enumerate(ks)):
            model = cls(k, weights=weights).fit(X[train], target[train], sample_weight=s[train])
            predicted = model.predict(X[test])[0]
            wrong = (
                predicted != target[test[0]]
                if cls is KNeighborsClassifier
                else predicted - t[test[0]]
            )
            losses[test[0], c] = abs(float(wrong))
        choice = choose_k(X, target, ks, weights=weights, scoring=scoring, sample_weight=s)
        np.testing.assert_allclose(choice.error, np.average(losses, axis=0, weights=s), rtol=1e-13)


@pytest.mark.parametrize("method", ["loo", 3, "bootstrap"])
def test_rows_with_missing_values_have_a_metric(method):
    X, y = blobs(0, n=60)
    far = X + 10 * y[:, None]
    far[3, 1] = far[8, 0] = np.nan
    choice = choose_k(far, y, [1, 3], metric="nan_euclidean", method=method, random_state=0)
    assert choice.error[0] < 0.1
    far[5] = np.nan  # nobody can be compared with this one: it has no answer
    unknown = choose_k(far, y, [1, 3], metric="nan_euclidean", method=method, random_state=0)
    assert unknown.error[0] == pytest.approx(choice.error[0] + 1 / 60, abs=0.02)
    with pytest.raises(ValueError, match="row 5 has no value in common with any other"):
        bayes_error_bracket(far, y, metric="nan_euclidean")


# --- folds ----------------------------------------------------------------------------------------


SPLITTERS = [
    5, KFold(4, shuffle=True, random_state=0), ShuffleSplit(6, test_size=0.3, random_state=1),
]  # fmt: skip


@pytest.mark.parametrize("cv", SPLITTERS, ids=["5", "shuffled folds", "random splits"])
def test_folds_are_those_of_fits_on_the_training_rows(cv):
    X, y = blobs(9, n=60, grid=True)
    splitter = StratifiedKFold(5) if cv == 5 else cv
    splits = [(np.sort(train), test) for train, test in splitter.split(X, y)]
    means = np.array([f.mean(axis=0) for f in left_out_losses("error", X, y, splits, KS)])
    choice = choose_k(X, y, KS, method=cv)
    np.testing.assert_allclose(choice.error, means.mean(axis=0))
    se = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    np.testing.assert_allclose(choice.standard_error, se)
    half = stats.t.ppf(0.975, len(means) - 1) * se
    np.testing.assert_allclose(choice.intervals[:, 1], np.minimum(1, choice.error + half))


def test_splits_can_be_listed_and_one_is_enough():
    X, y = blobs(10, n=50)
    train, test = np.arange(30), np.arange(30, 50)
    (losses,) = left_out_losses("error", X, y, [(train, test)], KS)
    choice = choose_k(X, y, KS, method=[(train, test)])
    np.testing.assert_allclose(choice.error, losses.mean(axis=0))
    np.testing.assert_allclose(choice.standard_error, losses.std(axis=0, ddof=1) / np.sqrt(20))
    masks = [(np.arange(50) < 30, np.arange(50) >= 30)]
    np.testing.assert_array_equal(choose_k(X, y, KS, method=masks).error, choice.error)


def test_leave_one_out_of_scikit_learn_is_ours():
    X, y = blobs(11)
    ours, theirs = choose_k(X, y, KS), choose_k(X, y, KS, method=LeaveOneOut())
    np.testing.assert_array_equal(ours.error, theirs.error)
    assert theirs.method == "loo"


# --- the bootstrap --------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_bootstrap_is_that_of_fits_on_the_draws(seed, weights, task):
    X, y = blobs(seed, n=30, grid=seed == 1)
    scoring = "error"
    if task == "regression":
        y, scoring = X.sum(axis=1) ** 2, "squared_error"
    drawn = _left_out_neighbors.resamples(30, 12, seed)
    assert (drawn.sum(axis=1) == 30).all()
    ks = [1, 2, 5, 11, 30]
    splits = [(np.repeat(np.arange(30), times), np.flatnonzero(times == 0)) for times in drawn]
    losses = left_out_losses(scoring, X, y, splits, ks, weights=weights)
    each = [[l[list(te).index(i)] for (_, te), l in zip(splits, losses, strict=True) if i in te]
            for i in range(30)]  # fmt: skip
    rows = np.array([np.mean(l, axis=0) for l in each if l])
    choice = choose_k(
        X, y, ks, method="bootstrap", n_resamples=12, random_state=seed, weights=weights, task=task
    )
    np.testing.assert_allclose(choice.error, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        choice.standard_error, np.sqrt(2.5 * rows.var(axis=0, ddof=1) / len(rows)), rtol=1e-7,
        atol=1e-12,
    )  # fmt: skip
    best = [ks[int(np.argmin(np.round(l.mean(axis=0), 12)))] for l in losses]
    np.testing.assert_array_equal(choice.best_of_resamples, best)


def test_rows_whose_neighbours_were_not_drawn_look_farther(monkeypatch):
    X, y = blobs(2, n=40, grid=True)
    options = {"method": "bootstrap", "n_resamples": 10, "random_state": 3}
    truth = choose_k(X, y, KS, **options)
    monkeypatch.setattr(_left_out, "probable_length", lambda k, n: k)  # too few for nearly all
    np.testing.assert_array_equal(choose_k(X, y, KS, **options).error, truth.error)


@pytest.mark.parametrize("scoring", ["error", "brier", "squared_error"])
@pytest.mark.parametrize("method", ["loo", "bootstrap", 3])
def test_same_bits_on_any_number_of_threads(method, scoring):
    X, y = blobs(4, n=80)
    y = X.sum(axis=1) if scoring == "squared_error" else y
    options = {"method": method, "random_state": 0, "n_resamples": 20, "weights": "distance"}
    one = choose_k(X, y, KS, scoring=scoring, threads=1, **options)
    for threads in (2, 5):
        other = choose_k(X, y, KS, scoring=scoring, threads=threads, **options)
        np.testing.assert_array_equal(one.error, other.error)
        np.testing.assert_array_equal(one.standard_error, other.standard_error)


@pytest.mark.parametrize("method", ["loo", "bootstrap", 3])
def test_blocks_of_rows_change_nothing_but_rounding(method, monkeypatch):
    X, y = blobs(4, n=50)
    options = {"method": method, "random_state": 0, "n_resamples": 10}
    whole = choose_k(X, y, KS, **options)
    by_blocks = _left_out.blocks
    monkeypatch.setattr(_left_out, "blocks", lambda rows, a_row: by_blocks(rows, 1, 7))
    parts = choose_k(X, y, KS, **options)
    np.testing.assert_allclose(parts.error, whole.error, rtol=1e-13)
    np.testing.assert_allclose(parts.standard_error, whole.standard_error, rtol=1e-9)


def test_a_seed_a_generator_and_a_random_state_are_taken():
    X, y = blobs(4)
    options = {"method": "bootstrap", "n_resamples": 5}
    twice = [choose_k(X, y, KS, random_state=7, **options).error for _ in range(2)]
    np.testing.assert_array_equal(*twice)
    for make in (np.random.default_rng, np.random.RandomState):
        result = [choose_k(X, y, KS, random_state=make(1), **options).error for _ in range(2)]
        np.testing.assert_array_equal(*result)


# --- the choice -----------------------------------------------------------------------------------


def test_best_is_the_least_and_the_smoothest_is_within_one_standard_error():
    X, y = load_iris(return_X_y=True)
    choice = choose_k(X, y, range(1, 60))
    c = int(np.argmin(choice.error))
    assert choice.best == choice.ks[c]
    within = choice.error <= choice.error[c] + choice.standard_error[c]
    assert choice.one_standard_error == choice.ks[within].max()
    assert choice.at(choice.best)["error"] == choice.error.min()
    with pytest.raises(KeyError, match="k = 99 was not tried"):
        choice.at(99)


def test_intervals_of_a_share_are_clopper_pearsons():
    from statsmodels.stats.proportion import proportion_confint

    X, y = blobs(1, n=50)
    for confidence in (0.8, 0.95):
        choice = choose_k(X, y, KS, confidence=confidence)
        for rate, interval in zip(choice.error, choice.intervals, strict=True):
            wrong = round(rate * 50)  # of rows that depend on each other, as many as of 25
            truth = proportion_confint(wrong / 2, 25, alpha=1 - confidence, method="beta")
            np.testing.assert_allclose(interval, np.nan_to_num(truth), atol=1e-12)
    holdout = choose_k(X, y, KS, method=[(np.arange(25), np.arange(25, 50))])
    for rate, interval in zip(holdout.error, holdout.intervals, strict=True):
        truth = proportion_confint(round(rate * 25), 25, method="beta")
        np.testing.assert_allclose(interval, np.nan_to_num(truth), atol=1e-12)


def test_no_wrong_answer_has_an_interval_too():
    X = np.repeat([[0.0], [100.0]], 8, axis=0) + np.arange(16)[:, None] * 0.1
    choice = choose_k(X, np.repeat([0, 1], 8), [1, 3])
    assert choice.error.tolist() == [0, 0]
    assert choice.intervals[0, 0] == 0
    assert choice.intervals[0, 1] == pytest.approx(1 - 0.025 ** (1 / 8))


def test_one_row_that_is_present_cannot_be_left_out():
    X, y = blobs(0)
    with pytest.raises(ValueError, match="X has 1 row: leaving one out needs at least 2"):
        choose_k(X, y, [1], sample_weight=np.eye(40)[0])


def test_the_standard_error_is_that_of_a_mean_over_rows():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:70], y[:70]
    losses = by_hand(X, y, "squared_error")
    choice = choose_k(X, y, KS, task="regression")
    np.testing.assert_allclose(choice.standard_error, np.sqrt(2 * losses.var(axis=0, ddof=1) / 70))


@pytest.mark.parametrize("method", ["loo", "bootstrap"])
def test_intervals_hold_the_mean_error_of_such_fits(method):
    """Left-out rows share neighbours; treated as independent, coverage was 80 to 90 %."""
    ks, rng = [1, 5, 15], np.random.default_rng(0)
    result = [
        choose_k(*_two_normals(rng, 80), ks, method=method, n_resamples=20, random_state=0)
        for _ in range(150)
    ]
    mean = np.mean([choice.error for choice in result], axis=0)
    low, high = np.array([choice.intervals for choice in result]).transpose(2, 0, 1)
    held = ((low <= mean) & (mean <= high)).mean(axis=0)
    assert (held >= 0.91).all(), held
    spread = np.std([choice.error for choice in result], axis=0)
    stated = np.mean([choice.standard_error for choice in result], axis=0)
    assert (stated >= 0.9 * spread).all(), stated / spread
    assert (stated <= 1.7 * spread).all(), stated / spread


def _two_normals(rng, n):
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 1)) + 1.5 * y[:, None], y


def test_far_from_the_origin_nothing_changes():
    rng = np.random.default_rng(2)
    X, y = np.round(rng.normal(size=(60, 2)) * 8) / 8, rng.integers(2, size=60)
    near, far = choose_k(X, y, KS), choose_k(X + 2.0**30, y, KS)
    np.testing.assert_array_equal(near.error, far.error)
    t = X.sum(axis=1)
    np.testing.assert_allclose(
        choose_k(X, t + 2.0**40, KS).error, choose_k(X, t, KS).error, rtol=1e-6, atol=1e-9
    )


def test_without_ks_all_to_two_roots_of_n_are_tried():
    rng = np.random.default_rng(0)
    for n, most in ((8, 7), (30, 20), (400, 40)):
        choice = choose_k(rng.normal(size=(n, 2)), np.arange(n) % 2)
        np.testing.assert_array_equal(choice.ks, np.arange(1, most + 1))


# --- what is said ---------------------------------------------------------------------------------


def test_two_classes_are_advised_an_odd_k():
    rng = np.random.default_rng(3)
    X, y = _two_normals(rng, 100)
    assert "Two classes: take an odd k" in choose_k(X, y, [2, 4]).advice
    assert "odd" not in choose_k(X, y, [1, 3, 5]).advice
    assert "odd" not in choose_k(X, y, [2, 4], weights="distance").advice
    X, y = blobs(0)
    assert "odd" not in choose_k(X, y, [2, 4]).advice


def test_copies_are_counted():
    X, y = blobs(0, n=30)
    X[5], X[9] = X[6], X[6]
    assert "3 rows of 30 have another at distance 0" in choose_k(X, y, [1, 2]).advice
    assert "distance 0" not in choose_k(*blobs(0, n=30), [1, 2]).advice


def test_noise_is_called_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.array(["yes", "no"])[rng.integers(2, size=200)]
    advice = choose_k(X, y, [1, 5, 15]).advice
    assert advice.startswith(
        f"No evidence that neighbours help: always {str(max(y, key=list(y).count))!r}"
    )
    assert "No evidence" in choose_k(X, rng.normal(size=200), [1, 5]).advice
    assert "No evidence" not in choose_k(*load_iris(return_X_y=True)).advice


def test_the_end_of_the_range_and_the_least_of_many_are_stated():
    X, y = load_iris(return_X_y=True)
    advice = choose_k(X, y, range(1, 12)).advice
    assert "The largest k tried, 11, is within one standard error" in advice
    assert "is the smallest of 11" in advice
    assert "least of" not in choose_k(X, y, [5]).advice
    assert (
        "In 95 % of 20 resamples the best k lay between"
        in choose_k(X, y, [1, 5, 9], method="bootstrap", n_resamples=20, random_state=0).advice
    )


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([True, False] * 30, "classification"),
        ([0, 1, 2] * 20, "classification"),
        ([0.0, 1.0] * 30, "classification"),
        (np.arange(60), "regression"),
        (np.arange(60) + 0.5, "regression"),
        (np.ones((60, 2)) * np.arange(60)[:, None], "regression"),
    ],
    ids=["text", "bool", "whole", "whole floats", "many whole", "floats", "two targets"],
)
def test_what_the_target_is(y, task):
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert choose_k(X, y, [1, 3]).task == task


def test_a_choice_is_a_table_and_a_frame():
    X, y = load_iris(return_X_y=True)
    choice = choose_k(X, y, [1, 3])
    assert isinstance(choice, KResult)
    frame = choice.to_frame()
    assert list(frame.index) == [1, 3]
    np.testing.assert_array_equal(frame["error"], choice.error)
    assert "Error on rows left out one at a time, 150 rows" in str(choice.table())
    with pytest.raises(AttributeError):
        choice.best = 3
    regression = repr(choose_k(X[:, :3], X[:, 3], [1, 3]))
    assert regression.startswith("KResult(k = 3: squared error 0.0")


def test_frames_and_lists_are_read():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    truth = choose_k(X, y, KS).error
    frame = pandas.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(choose_k(frame, pandas.Series(y), KS).error, truth)
    np.testing.assert_array_equal(choose_k(X.tolist(), y.tolist(), KS).error, truth)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ks": [0, 1]}, "ks contains 0: at least 1"),
        ({"ks": [1, 40]}, "ks contains 40, but there are only 39 possible neighbours"),
        (
            {"ks": [1, 31], "method": 4},
            "ks contains 31, but there are only 30 possible .* smallest training fold",
        ),
        ({"ks": [1.5]}, "give whole numbers of neighbours"),
        ({"ks": "1 to 9"}, "ks holds something that is no number"),
        ({"method": []}, "method has no folds"),
        ({"method": [([0, 1], [])]}, "fold 0 has 2 training and 0 test rows"),
        ({"ks": [1], "method": [([0, 1], [40])]}, "fold 0 contains row 40, but X has 40"),
        ({"threads": 0}, "threads=0: give a whole number above 0"),
        ({"y": None}, "requires y"),
        ({"ks": []}, "give whole numbers of neighbours"),
        ({"method": "lo"}, "method='lo': give one of 'loo', 'bootstrap'. Did you mean 'loo'"),
        ({"weights": "inverse"}, "weights='inverse': give one of"),
        ({"task": "ranking"}, "task='ranking': give one of"),
        ({"scoring": "r2"}, "scoring='r2': give one of 'error', 'balanced_error', 'brier'"),
        ({"confidence": 95}, "confidence=95: give a share between 0 and 1"),
        ({"n_resamples": 0, "method": "bootstrap"}, "n_resamples=0"),
        ({"sample_weight": -np.ones(40)}, "Negative values"),
        ({"weights": lambda d: -d}, "a vote must be a number of at least 0"),
        ({"weights": lambda d: d[:, :1]}, "one number for each distance"),
    ],
    ids=without_address,
)
def test_what_cannot_be_is_refused_in_words(given, message):
    X, y = blobs(0)
    with pytest.raises(ValueError, match=message):
        choose_k(X, **{"y": y, "ks": KS, **given})


def test_data_that_cannot_be_are_refused_in_words():
    X, y = blobs(0)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1 of X has 1 missing value \(NaN; row 3\)"):
        choose_k(X, y)
    with pytest.raises(ValueError, match="only one class"):
        choose_k([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(ValueError, match="1 row: leaving one out needs at least 2"):
        choose_k([[0.0]], [0.5])
    with pytest.raises(ValueError, match="X has 2 rows, y has 3"):
        choose_k([[0.0], [1.0]], [0, 1, 0])


# --- long work ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "of"), [("loo", 1), ("bootstrap", 20), (5, 5)])
def test_progress_is_told_to_the_end(method, of):
    calls = []
    X, y = blobs(0)
    choose_k(X, y, KS, method=method, n_resamples=20, on_progress=lambda *a: calls.append(a))
    done = [a for a, _ in calls]
    assert done == sorted(set(done))
    assert calls[-1] == (of, of)
    assert {total for _, total in calls} == {of}


def test_ctrl_c_says_how_far_it_was():
    def impatient(done, of):
        if done == 16:
            signal.raise_signal(signal.SIGINT)

    X, y = blobs(0)
    with pytest.raises(KeyboardInterrupt) as stopped:
        choose_k(X, y, KS, method="bootstrap", n_resamples=40, on_progress=impatient)
    assert stopped.value.__notes__ == [
        "choose_k stopped by you after 16 of 40 resamples; there is no result."
    ]


# --- the picture ----------------------------------------------------------------------------------


def test_the_picture_shows_the_numbers():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    before = dict(matplotlib.rcParams)
    choice = choose_k(*load_iris(return_X_y=True), range(1, 31))
    display = choice.plot()
    np.testing.assert_array_equal(display.line_.get_xdata(), choice.ks)
    np.testing.assert_allclose(display.line_.get_ydata(), 100 * choice.error)
    assert display.best_.get_xdata()[0] == choice.best
    assert display.smoothest_.get_xdata()[0] == choice.one_standard_error
    shown = display.band_.get_paths()[0].vertices[:, 1]
    assert {shown.min(), shown.max()} == {
        100 * choice.intervals.min(),
        100 * choice.intervals.max(),
    }
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"best: k = {choice.best}" in labels
    assert any("without neighbours: 66.7 ↑" in label for label in labels)
    assert dict(matplotlib.rcParams) == before
    _, ax = plt.subplots()
    assert choice.plot(ax).ax_ is ax
    plt.close("all")


def test_many_k_are_drawn_on_a_logarithmic_axis():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    choice = choose_k(*load_diabetes(return_X_y=True), range(1, 300))
    display = choice.plot()
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_ylabel() == "squared error"
    display.figure_.canvas.draw()
    plt.close("all")


def test_the_example_draws(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "k.png"
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "choose_k.py", picture, "--rows", "120"],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert "KResult(k = " in done.stdout
    assert picture.stat().st_size > 5000


# --- Gower's distance of mixed columns ------------------------------------------------------------


def people(n=60):
    """Numbers, text and missing values; classes that depend on both."""
    rng = np.random.default_rng(0)
    columns = {"age": rng.normal(size=n), "place": rng.choice(list("xyz"), n)}
    frame = pd.DataFrame({**columns, "rooms": rng.integers(0, 5, n).astype(float)})
    y = (frame["age"] + 2 * (frame["place"] == "x") + rng.normal(size=n) > 0).to_numpy()
    frame.loc[3, "place"], frame.loc[5, "age"] = None, np.nan
    return frame, y.astype(int)


@pytest.mark.parametrize("metric", ["gower", Gower(w=[1.0, 2.0, 0.5])], ids=["name", "object"])
@pytest.mark.parametrize("method", ["loo", "bootstrap"])
def test_mixed_columns_are_compared_by_gower_as_their_distances_are(metric, method):
    frame, y = people()
    given = Gower() if metric == "gower" else metric
    options = {"method": method, "n_resamples": 5, "random_state": 0}
    by_distances = choose_k(given.pairwise(frame), y, range(1, 10), metric="precomputed", **options)
    for X in (frame, pl.from_pandas(frame), frame.to_numpy(dtype=object)):
        mixed = choose_k(X, y, range(1, 10), metric=metric, **options)
        np.testing.assert_allclose(mixed.error, by_distances.error, rtol=1e-12)


def test_the_ranges_of_mixed_columns_are_those_of_the_training_rows():
    frame, y = people()
    frame.loc[0, "rooms"] = 40.0  # widens the range in all folds but one
    folds = [(np.arange(60) != i, np.arange(60) == i) for i in range(0, 60, 7)]
    error = choose_k(frame, y, [5], metric="gower", method=folds).error[0]
    truth = [
        KNeighborsClassifier(5, metric="gower").fit(frame[a], y[a]).score(frame[b], y[b])
        for a, b in folds
    ]
    assert error == pytest.approx(1 - np.mean(truth))


def test_a_target_in_another_order_is_refused_by_choose_k():
    frame, y = people()
    with pytest.raises(ValueError, match="row 0 of X is 0, of y 59: reindex"):
        choose_k(frame, pd.Series(y)[::-1], metric="gower")
