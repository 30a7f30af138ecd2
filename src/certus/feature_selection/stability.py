r"""Stability selection: which columns are selected from most resamples of the rows?

    f_l = (1/B) Σ_b [column l is selected from the rows I_b],      stable: f_l ≥ π

I_b are drawn without replacement. Halves come in complementary pairs (Shah and Samworth, 2013).
With q the mean number of columns, of P, that a half selects, and π > 1/2

    E #{stable columns that a half selects with probability ≤ q/P}  ≤  q²/((2π − 1)P)

which is also the bound of Meinshausen and Bühlmann (2010) on false selections, if a half selects
noise columns no more often than at random and treats them all alike.
"""

import threading
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.utils import check_random_state

from ..data.types import Seed
from ..data.validation import data_for_search, positive_whole
from ..data.validation import weights as row_weights
from ..runtime.config import config_context, effective_threads
from ..runtime.pool import blas_limiter, run_on_threads
from ..runtime.refusals import refuses_in_one_frame
from ..text.format import count, number
from ..text.proportions import wilson
from ._resampling import resamples, targets
from ._stability_result import StabilityResult

MAX_SEED = 2**31 - 1
MIN_ROWS = 4  # two halves of two
WEIGHT_ATTRIBUTES = ("weights_", "feature_importances_", "coef_")


@refuses_in_one_frame
def stability_selection(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_resamples: int = 100,
    share: float = 0.5,
    threshold: float = 0.6,
    sample_weight: object = None,
    confidence: float = 0.95,
    random_state: Seed = None,
    threads: int | None = None,
    on_progress: Callable[[int, int], object] | None = None,
) -> StabilityResult:
    """Frequency with which each column is selected from resamples of the rows.

    Ctrl-C ends the resampling and returns the results so far, with a note; with fewer than two
    resamples the interrupt is raised again.

    A resample has fewer rows than X: if F of NCFS is a sum, a numeric λ has 1/share times the
    effect that it has on all rows. With ``form="mean"`` it has not.

    Parameters
    ----------
    estimator : selector
        Anything with ``fit`` and ``get_support``: NCFSClassifier, NCFSRegressor, scikit-learn's
        selectors, or a pipeline that ends in one and does not change the columns before it. It is
        cloned and fitted to each resample; it need not be fitted. If its ``random_state`` is None,
        a seed is drawn for each resample.
    X : array, sparse matrix or frame of shape (n, p)
    y : array of shape (n,)
        Labels or numbers. Resamples are stratified by label.
    n_resamples : int
        B, at least 2. With halves, give an even number: they come in pairs.
    share : float
        Share of the rows in a resample, between 0 and 1. The bound on false selections holds for
        0.5.
    threshold : float
        π: columns selected in at least this share of the resamples are stable. Above 0.5 for a
        bound; 0.6 to 0.9 is usual, and the penalty of the estimator matters more.
    sample_weight : array of shape (n,), optional
        Passed to ``fit``, for the rows of the resample.
    confidence : float
        Level of the intervals.
    random_state : int, RandomState or None
    threads : int, optional
        Largest number of threads; the result has the same bits for any number.
    on_progress : callable, optional
        Called as ``on_progress(done, of)`` after each resample, in the thread that fitted it.

    Returns
    -------
    StabilityResult
        ``frequencies``, ``intervals``, ``support``, ``weights``, ``table()``, ``plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.feature_selection import NCFSClassifier, stability_selection
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = stability_selection(NCFSClassifier(2.0), X, y, n_resamples=20, random_state=0)
    >>> [name for name, stable in zip(found.names, found.support) if stable]
    ['petal width (cm)']
    >>> print(found.frequencies.round(2))
    [0.   0.   0.3  0.95]
    """
    _require_selector(estimator)
    if positive_whole("n_resamples", n_resamples) < 2:
        raise ValueError("n_resamples=1: give at least 2, there is no frequency in one")
    _between("share", share, "0.5 for halves; all rows would be the same each time")
    _between("threshold", threshold, "such as 0.6", at_most_one=True)
    _between("confidence", confidence, "such as 0.95")
    validator = type("stability_selection", (BaseEstimator,), {"fit": None})()
    X = data_for_search(validator, X, reset=True)
    n, p = X.shape
    if n < MIN_ROWS:
        raise ValueError(f"n_samples={n}: give {MIN_ROWS} rows or more, so that some can be left")
    selector = _selector_of(estimator)
    numbers = is_regressor(getattr(selector, "estimator", selector))  # SelectFromModel: its model
    y, strata, classes = targets(y, n, numbers)
    s = row_weights(sample_weight, n)
    rng = check_random_state(random_state)
    drawn = resamples(strata, classes, float(share), n_resamples, rng)
    resampling = _ResampledFits(
        estimator, X, y, s, drawn, rng.randint(MAX_SEED, size=n_resamples), on_progress
    )
    stopped = resampling.run(
        effective_threads(None if threads is None else positive_whole("threads", threads))
    )
    names = vars(validator).get("feature_names_in_")
    labels = [f"column {j}" for j in range(p)] if names is None else list(map(str, names))
    return _result(
        resampling, stopped, tuple(labels), float(share), float(threshold), float(confidence)
    )


def _result(
    resampling: "_ResampledFits", stopped: str | None, names: tuple[str, ...], share: float,
    threshold: float, confidence: float,
) -> StabilityResult:  # fmt: skip
    done = resampling.done
    selected, B = resampling.selected[done], int(done.sum())
    weights = None if resampling.weights is None else resampling.weights[done]
    frequencies = selected.mean(axis=0)
    support = frequencies >= threshold
    q, P = float(selected.sum(axis=1).mean()), len(names)
    holds = share == 0.5 and threshold > 0.5
    bound = q * q / ((2 * threshold - 1) * P) if holds else None
    notes = [] if stopped is None else [f"Stopped {stopped}: the frequencies are of these."]
    notes += _about_false_selections(bound, q, P, int(support.sum()), threshold, share)
    n_unpaired = _without_other_half(done) if share == 0.5 else 0
    if n_unpaired:
        lack = "lacks" if n_unpaired == 1 else "lack"
        notes.append(f"{count(n_unpaired, 'resample')} {lack} the other half of its pair.")
    notes += resampling.warning_notes()
    return StabilityResult(
        frequencies=frequencies, intervals=wilson(selected.sum(axis=0), B, confidence),
        support=support, selected=selected, weights=weights, drawn=resampling.drawn[done],
        false_selections=bound, n_selected=q, threshold=threshold, share=share,
        confidence=confidence, names=names, stopped=stopped, notes=tuple(notes),
    )  # fmt: skip


def _without_other_half(done: np.ndarray) -> int:
    even = len(done) // 2 * 2
    pairs = done[:even].reshape(-1, 2).sum(axis=1)
    return int((pairs == 1).sum() + done[even:].sum())


def _about_false_selections(
    bound: float | None, q: float, P: int, stable: int, threshold: float, share: float
) -> list[str]:
    average = f"A resample selects {number(q, 3)} of {count(P, 'column')} on average"
    if bound is None:
        why = "threshold is not above 0.5" if threshold <= 0.5 else "share is not 0.5"
        return [f"{average}. No bound on false selections is known: {why}."]
    note = (
        f"{average}. Over data sets like this one, at most {number(bound, 2)} of the stable "
        "columns are expected to be ones that half of the rows select with a chance of "
        f"{number(q / P, 2)} or less."
    )
    if bound >= max(1, stable):
        note += " That bound is useless here: select fewer columns (a stronger penalty), or raise"
        note += " threshold."
    return [note]


# --- resampling -----------------------------------------------------------------------------------


class _ResampledFits:
    """Fits to all resamples; those that are done survive Ctrl-C."""

    def __init__(
        self, estimator: Any, X: Any, y: np.ndarray, s: np.ndarray | None, drawn: np.ndarray,
        seeds: np.ndarray, on_progress: Callable[[int, int], object] | None,
    ):  # fmt: skip
        self.estimator, self.X, self.y, self.s = estimator, X, y, s
        self.drawn, self.seeds, self.on_progress = drawn, seeds, on_progress
        B, p = len(drawn), X.shape[1]
        self.done = np.zeros(B, dtype=bool)
        self.selected = np.zeros((B, p), dtype=bool)
        self.weights: np.ndarray | None = np.zeros((B, p))
        self.caught_warnings: list[warnings.WarningMessage] = []
        self.lock = threading.Lock()

    def run(self, threads: int) -> str | None:
        """Fit all resamples; return by whom and when it was stopped, or None."""
        B = len(self.drawn)
        try:
            with warnings.catch_warnings(record=True) as self.caught_warnings, blas_limiter:
                warnings.simplefilter("always")  # summarised in one note
                run_on_threads(self._one, B, threads)
        except KeyboardInterrupt:
            done = int(self.done.sum())
            if done < 2:
                raise
            return f"by you after {done:,} of {count(B, 'resample')}"
        return None

    def _one(self, b: int) -> None:
        rows = np.flatnonzero(self.drawn[b])
        model = clone(self.estimator)
        unset = {
            name: int(self.seeds[b])
            for name, value in model.get_params().items()
            if value is None and name.split("__")[-1] == "random_state"
        }
        model.set_params(**unset)
        weight = {} if self.s is None else {"sample_weight": self.s[rows]}
        try:
            with config_context(threads=1):  # resamples are fitted in parallel instead
                model.fit(self.X[rows], self.y[rows], **weight)
            support = self._support(model)
        except Exception as error:
            error.add_note(f"in resample {b} of stability_selection, {count(len(rows), 'row')}")
            raise
        weights = _weights_of(model, len(support))
        with self.lock:
            self.selected[b] = support
            if weights is None:
                self.weights = None
            elif self.weights is not None:
                self.weights[b] = weights
            self.done[b] = True
            if self.on_progress is not None:
                self.on_progress(int(self.done.sum()), len(self.drawn))

    def _support(self, model: Any) -> np.ndarray:
        support = np.asarray(_selector_of(model).get_support())
        if support.shape != (self.X.shape[1],):
            raise ValueError(
                f"the selector chooses among {count(len(support), 'column')}, and X has "
                f"{self.X.shape[1]:,}: a step before it changes the columns. Do that to X first"
            )
        return support.astype(bool)

    def warning_notes(self) -> list[str]:
        if not self.caught_warnings:
            return []
        first = self.caught_warnings[0]
        message = " ".join(str(first.message).split())
        fits = f"in {count(int(self.done.sum()), 'fit')}"
        return [
            f"{count(len(self.caught_warnings), 'warning')} {fits}, "
            f"first {first.category.__name__}: {message}"
        ]


def _selector_of(model: Any) -> Any:
    """Return the model, or the last step of a pipeline."""
    steps = getattr(model, "steps", None)
    return steps[-1][1] if isinstance(steps, list) and steps else model


def _weights_of(model: Any, p: int) -> np.ndarray | None:
    """Absolute weights (p,) of the selector or of its estimator, or None."""
    selector = _selector_of(model)
    for owner in (selector, getattr(selector, "estimator_", None)):
        for name in WEIGHT_ATTRIBUTES:
            values = getattr(owner, name, None)
            if values is not None:
                values = np.abs(np.asarray(values, dtype=float))
                values = np.sqrt((values**2).sum(axis=0)) if values.ndim == 2 else values
                return values if values.shape == (p,) else None
    return None


# --- validation -----------------------------------------------------------------------------------


def _require_selector(estimator: Any) -> None:
    selector = _selector_of(estimator)
    if not (hasattr(selector, "get_support") and hasattr(estimator, "fit")):
        raise TypeError(
            f"{type(selector).__name__} has no get_support: give a selector, such as "
            "NCFSClassifier() or sklearn.feature_selection.SelectFromModel(...)"
        )


def _between(name: str, value: object, such: str, at_most_one: bool = False) -> None:
    given = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (0 < given < 1 or (at_most_one and given == 1)):
        most = "and up to 1" if at_most_one else "and below 1"
        raise ValueError(f"{name}={value!r}: give a share above 0 {most}, {such}")
