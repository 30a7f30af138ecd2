"""Choice of the number of neighbours by the error on left-out rows, for all k at once.

    E(k) = (1/n) Σ_i l(y_i, prediction of the k nearest *other* rows of x_i)

The K nearest rows contain the k nearest for every k ≤ K: one search serves all k exactly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import LeaveOneOut, check_cv

from ..data.frames import require_same_order
from ..data.labels import encode, read_labels, require_two_classes
from ..data.types import Metric, Seed
from ..data.validation import as_numbers, one_of, positive_whole, target
from ..data.validation import weights as row_weights
from ..runtime.refusals import refuses_in_one_frame
from ..text.format import count
from ._averages import (
    BOOTSTRAP_VARIANCE_FACTOR,
    LOO_VARIANCE_FACTOR,
    AverageLoss,
    average_of_folds,
    check_share,
)
from ._k_result import KResult, advice_on, best_and_smoothest, losses_without_neighbors
from ._left_out import LeftOutProblem, bootstrap, folds, leave_one_out
from ._left_out_neighbors import checked_threads, dummy_estimator, read_mixed_points, resamples
from ._losses import (
    CLASSIFICATION_SCORINGS,
    REGRESSION_SCORINGS,
    ClassLosses,
    ValueLosses,
    checked_weights,
)

MIN_DEFAULT_LARGEST_K, MAX_DEFAULT_LARGEST_K = 20, 100  # limits of the largest k tried by default


@refuses_in_one_frame
def choose_k(
    X: object,
    y: object,
    ks: object = None,
    *,
    method: object = "loo",
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    weights: object = "uniform",
    task: str = "auto",
    scoring: str | None = None,
    sample_weight: object = None,
    n_resamples: int = 100,
    confidence: float = 0.95,
    random_state: Seed = None,
    threads: int | None = None,
    on_progress: Callable[[int, int], Any] | None = None,
) -> KResult:
    """Estimate the error of k nearest neighbours on left-out rows for every k, and choose k.

    Each error is exactly that of fits without the row (fold, resample), but no model is fitted.
    Ties between classes go to the one whose nearest voter is nearer.

    Parameters
    ----------
    X : array or frame of shape (n, p)
        With ``metric="precomputed"`` the distances between all rows, (n, n); with "gower" columns
        may hold text, categories and missing values.
    y : array of shape (n,) or, for a regression, (n, targets)
    ks : whole numbers, optional
        Numbers of neighbours to try. Default: all from 1 to 2√n, at least to 20 and at most to 100.
    method : {"loo", "bootstrap"}, int, splitter or list of (train, test)
        Leave-one-out; n draws with replacement, evaluated on the rows that were not drawn; or
        folds, as scikit-learn's ``cv``.
    metric, metric_params
        As in ``certus.distances.get_distance``. A metric that is estimated from rows (Mahalanobis'
        V) uses all of them; with folds, the training rows.
    weights : {"uniform", "distance"}, callable or None
        Weights of the votes.
    task : {"auto", "classification", "regression"}
        "auto": text and whole numbers are classes, unless there are more than max(20, n/10)
        different ones.
    scoring : str, optional
        "error" (the share of wrong predictions), "balanced_error" (the mean of the classes' shares)
        or "brier" (Σ_c (p_c − 1[y = c])²) for classes; "squared_error" or "absolute_error" for
        numbers. Default: the first.
    sample_weight : array of shape (n,), optional
        Multiplies a row's vote and its loss; it does not change which rows are nearest, except that
        a row of weight 0 is absent.
    n_resamples : int
        Number of bootstrap resamples.
    confidence : float
        Confidence level of the intervals.
    random_state : int, Generator, RandomState or None
        Seed of the bootstrap.
    threads : int, optional
        Maximal number of threads; the result is the same bit for bit on any number.
    on_progress : callable, optional
        Called as ``on_progress(done, of)`` after each block of rows, fold or chunk of resamples.

    Returns
    -------
    KResult
        ``best``, ``one_standard_error``, ``error``, ``intervals``, ``advice``, ``plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.neighbors import choose_k
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = choose_k(X, y, range(1, 31))
    >>> choice
    KResult(k = 19: error 2 % on rows left out one at a time, 95 % interval 0.14–8.3 %; largest k
    within one standard error: 27)
    >>> int(choice.best), float(choice.error[choice.ks == 1][0])
    (19, 0.04)
    """
    require_same_order(X, y, sample_weight)
    X, metric, metric_params = read_mixed_points(
        X, metric, metric_params, dummy_estimator("choose_k")
    )
    task = _task(task, y, len(X))
    labels, y = _targets(task, y, len(X))
    s = row_weights(sample_weight, len(X))
    if s is not None and not s.all():
        X, y, s, method = _without_absent(X, y, s, method, metric, task)
    n = len(X)
    possible = REGRESSION_SCORINGS if labels is None else CLASSIFICATION_SCORINGS
    scoring = one_of("scoring", scoring or possible[0], possible)
    weights, confidence = checked_weights(weights), check_share("confidence", confidence)
    resampling = _LeftOutRows.from_method(
        method, X, y, task, positive_whole("n_resamples", n_resamples)
    )
    ks = _numbers_of_neighbors(ks, n, resampling)
    reporter = _ProgressReporter(on_progress, resampling.unit)
    problem = LeftOutProblem(
        X=X, metric=metric, metric_params=metric_params,
        losses=(ValueLosses if labels is None else ClassLosses)(y, s, weights, scoring),
        ks=ks, s=np.ones(n) if s is None else s,
        group=y if scoring == "balanced_error" else np.zeros(n, dtype=np.intp),
        threads=checked_threads(threads), progress=reporter,
    )  # fmt: skip
    with reporter:
        average, best_of_resamples, n_duplicated = resampling.run(
            problem, confidence, random_state, s is None
        )
    best, smoothest = best_and_smoothest(ks, average.error, average.standard_error)
    baseline, answer = losses_without_neighbors(y, problem.s, labels, scoring)
    fields = {
        "ks": ks, **average._asdict(), "best": best, "one_standard_error": smoothest,
        "baseline": baseline, "method": resampling.method, "task": task, "scoring": scoring,
        "confidence": confidence, "n": n, "best_of_resamples": best_of_resamples,
    }  # fmt: skip
    advice = advice_on(
        fields, largest=resampling.largest, classes=0 if labels is None else len(labels),
        uniform=weights in ("uniform", None) and s is None, n_duplicated=n_duplicated,
        answer=answer,
    )  # fmt: skip
    return KResult(**fields, advice=advice)


# --- input ----------------------------------------------------------------------------------------


def _task(task: str, y: object, n: int) -> str:
    one_of("task", task, ("auto", "classification", "regression"))
    if y is None:
        raise ValueError("choose_k requires y to be passed, but the target y is None")
    if task != "auto":
        return task
    try:
        labels, _ = read_labels(y, n)
    except ValueError:
        try:  # numbers that are not whole, or several targets
            target(y, n)
        except ValueError:
            return "classification"  # whose validation explains best what is wrong with y
        return "regression"
    if labels.dtype.kind not in "iuf":
        return "classification"
    return "regression" if len(np.unique(labels)) > max(20, n / 10) else "classification"


def _targets(task: str, y: object, n: int) -> tuple[list[Any] | None, np.ndarray]:
    """Return (labels, class index of each row), or (None, targets (n, t))."""
    if task == "regression":
        return None, target(y, n)
    classes, codes = encode(read_labels(y, n)[0])
    require_two_classes(classes, n)
    return classes.tolist(), codes


def _without_absent(
    X: np.ndarray, y: np.ndarray, s: np.ndarray, method: object, metric: Metric, task: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """Return X, y, s and the folds without the rows of weight 0."""
    present = np.flatnonzero(s > 0)
    if not isinstance(method, str | LeaveOneOut):
        number = np.full(len(X), -1)
        number[present] = np.arange(len(present))
        folds = _splits(method, X, y, task)
        renumbered = [[number[part][number[part] >= 0] for part in fold] for fold in folds]
        method = [(train, test) for train, test in renumbered]
    columns = present if metric == "precomputed" else slice(None)
    return X[present][:, columns], y[present], s[present], method


def _numbers_of_neighbors(ks: object, n: int, resampling: "_LeftOutRows") -> np.ndarray:
    if ks is None:
        most = max(MIN_DEFAULT_LARGEST_K, min(MAX_DEFAULT_LARGEST_K, math.ceil(2 * math.sqrt(n))))
        return np.arange(1, min(resampling.largest, most) + 1)
    given = [ks] if isinstance(ks, str) or not hasattr(ks, "__iter__") else list(ks)
    values = as_numbers(given, "ks")
    if values.ndim != 1 or not len(values) or (values != np.floor(values)).any():
        raise ValueError(f"ks={ks!r}: give whole numbers of neighbours, such as range(1, 31)")
    values = np.unique(values.astype(np.intp))
    if values[0] < 1:
        raise ValueError(f"ks contains {values[0]}: at least 1 neighbour is needed")
    if values[-1] > resampling.largest:
        raise ValueError(
            f"ks contains {values[-1]}, but there are only {resampling.largest:,} possible "
            f"neighbours ({resampling.reason}): give at most {resampling.largest:,}"
        )
    return values


# --- resampling -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _LeftOutRows:
    """A method of leaving rows out."""

    method: str
    largest: int  # possible k …
    reason: str  # … and why no larger one is
    unit: str  # of progress
    splits: list[tuple[np.ndarray, np.ndarray]]
    n_resamples: int = 0

    @classmethod
    def from_method(
        cls, method: object, X: np.ndarray, y: np.ndarray, task: str, B: int
    ) -> "_LeftOutRows":
        n = len(X)
        if n < 2:
            raise ValueError(f"X has {count(n, 'row')}: leaving one out needs at least 2")
        if isinstance(method, LeaveOneOut):
            method = "loo"
        if isinstance(method, str):
            one_of("method", method, ("loo", "bootstrap"))
            if method == "loo":
                return cls(method, n - 1, f"{count(n, 'row')} without the query", "block", [])
            return cls(method, n, f"{n:,} draws", "resample", [], B)
        splits = _splits(method, X, y, task)
        if not splits:
            raise ValueError("method has no folds: give (train, test) pairs of row numbers")
        for f, (train, test) in enumerate(splits):
            if not len(train) or not len(test):
                raise ValueError(f"fold {f} has {len(train)} training and {len(test)} test rows")
        least = min(len(train) for train, _ in splits)
        return cls("folds", least, "the smallest training fold", "fold", splits)

    def run(
        self, problem: LeftOutProblem, confidence: float, random_state: Seed, unweighted: bool
    ) -> tuple[AverageLoss, np.ndarray | None, int]:
        """Return (average, best k of each resample, number of rows with another at distance 0)."""
        scoring = problem.losses.scoring
        most = {"error": 1.0, "balanced_error": 1.0, "brier": 2.0}.get(scoring, math.inf)
        if self.method == "loo":
            average, n_duplicated = leave_one_out(problem)
            counts = scoring == "error" and unweighted
            mean = average.average(confidence, LOO_VARIANCE_FACTOR, counts=counts, most=most)
            return mean, None, n_duplicated
        if self.method == "bootstrap":
            drawn = resamples(len(problem.X), self.n_resamples, random_state)
            average, each, n_duplicated = bootstrap(problem, drawn)
            means = [one.mean() for one in each if one.s.any()]  # tiny data: all rows are drawn
            best_of_resamples = [
                problem.ks[np.nanargmin(m)] for m in means if not np.isnan(m).all()
            ]
            mean = average.average(confidence, BOOTSTRAP_VARIANCE_FACTOR, counts=False, most=most)
            return mean, np.array(best_of_resamples), n_duplicated
        averages = folds(problem, self.splits)
        if len(averages) == 1:
            counts = scoring == "error" and unweighted
            # given the one fit, the losses of its test rows are independent
            return averages[0].average(confidence, 1.0, counts=counts, most=most), None, 0
        means = [fold.mean() for fold in averages]
        return average_of_folds(np.array(means), confidence, most), None, 0


def _splits(method: object, X: np.ndarray, y: np.ndarray, task: str) -> list[Any]:
    """Return (train, test) of each fold as row numbers of X."""
    cv = check_cv(method, y, classifier=task == "classification")
    splits = [(np.sort(_row_numbers(train)), _row_numbers(test)) for train, test in cv.split(X, y)]
    for f, fold in enumerate(splits):
        last = max((rows.max() for rows in fold if len(rows)), default=0)
        if last >= len(X):
            raise ValueError(f"fold {f} contains row {last}, but X has {len(X):,} rows")
    return splits


def _row_numbers(rows: npt.ArrayLike) -> np.ndarray:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)


class _ProgressReporter:
    """Calls back with the progress, and adds it to a KeyboardInterrupt."""

    def __init__(self, callback: Callable[[int, int], Any] | None, unit: str):
        self.callback, self.unit, self.at = callback, unit, (0, 0)

    def __call__(self, done: int, of: int) -> None:
        self.at = done, of
        if self.callback is not None:
            self.callback(done, of)

    def __enter__(self) -> "_ProgressReporter":
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, KeyboardInterrupt):
            done, of = self.at
            where = f"after {done:,} of {count(of, self.unit)}" if of else "at its beginning"
            error.add_note(f"choose_k stopped by you {where}; there is no result.")
