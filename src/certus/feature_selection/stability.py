r"""Stability selection: which columns would be selected from other rows as well?

    f_l = (1/B) Σ_b [column l is selected from the rows I_b],      stable: f_l ≥ π

I_b are drawn without replacement. Halves come in complementary pairs, I and the rest (Shah and
Samworth, 2013). With q the mean number of columns that a half selects, of P, and π > 1/2

    E #{stable columns that a half selects with probability ≤ q/P}  ≤  q²/((2π − 1)P)

which is also the bound of Meinshausen and Bühlmann (2010) on false selections, if a half selects
noise no more often than by chance and treats all columns of noise alike.
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
from ..text.format import count, number
from ..text.proportions import wilson
from ._resampling import resamples, targets
from ._stability_result import StabilityResult

SEEDS = 2**31 - 1
LEAST_ROWS = 4  # two halves of two
WEIGHTS = ("weights_", "feature_importances_", "coef_")


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
    """How often each column is selected when rows are drawn anew.

    Ctrl-C ends the drawing; what was found so far is returned, and says so (of fewer than two
    resamples nothing is known, and the interrupt goes on its way).

    A resample has fewer rows than X: where F of NCFS is a sum, a λ that is given as a number weighs
    1/share times as much there as on all rows. With ``form="mean"`` it does not.

    Parameters
    ----------
    estimator : selector
        Anything with ``fit`` and ``get_support``: NCFSClassifier, NCFSRegressor, scikit-learn's
        selectors, or a pipeline that ends in one and keeps the columns before it. It is cloned and
        fitted to each resample; it need not be fitted. Its ``random_state`` is drawn for each
        resample where it is None.
    X : array, sparse matrix or frame of shape (n, p)
    y : array of shape (n,)
        Labels or numbers. Of labels, each resample holds its share of every class.
    n_resamples : int
        B, at least 2. With halves, give an even number: they come in pairs.
    share : float
        Of the rows in a resample, between 0 and 1. The bound on false selections holds for 0.5.
    threshold : float
        π: columns selected in at least this share of the resamples are stable. Above 0.5 for a
        bound; 0.6 to 0.9 is usual, and the penalty of the estimator matters more.
    sample_weight : array of shape (n,), optional
        Handed to ``fit``, for the rows of the resample.
    confidence : float
        Of the intervals.
    random_state : int, RandomState or None
    threads : int, optional
        At most so many; the answer has the same bits on any number.
    on_progress : callable, optional
        Called as ``on_progress(done, of)`` after each resample, by the thread that did it.

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
    asker = type("stability_selection", (BaseEstimator,), {"fit": None})()
    X = data_for_search(asker, X, reset=True)
    n, p = X.shape
    if n < LEAST_ROWS:
        raise ValueError(f"n_samples={n}: give {LEAST_ROWS} rows or more, so that some can be left")
    selector = _selector_of(estimator)
    numbers = is_regressor(getattr(selector, "estimator", selector))  # SelectFromModel: its model
    y, strata, classes = targets(y, n, numbers)
    s = row_weights(sample_weight, n)
    rng = check_random_state(random_state)
    drawn = resamples(strata, classes, float(share), n_resamples, rng)
    work = _Work(estimator, X, y, s, drawn, rng.randint(SEEDS, size=n_resamples), on_progress)
    stopped = work.run(
        effective_threads(None if threads is None else positive_whole("threads", threads))
    )
    names = vars(asker).get("feature_names_in_")
    told = [f"column {j}" for j in range(p)] if names is None else list(map(str, names))
    return _result(work, stopped, tuple(told), float(share), float(threshold), float(confidence))


def _result(
    work: "_Work", stopped: str | None, names: tuple[str, ...], share: float, threshold: float,
    confidence: float,
) -> StabilityResult:  # fmt: skip
    done = work.done
    selected, B = work.selected[done], int(done.sum())
    weights = None if work.weights is None else work.weights[done]
    frequencies = selected.mean(axis=0)
    support = frequencies >= threshold
    q, P = float(selected.sum(axis=1).mean()), len(names)
    holds = share == 0.5 and threshold > 0.5
    bound = q * q / ((2 * threshold - 1) * P) if holds else None
    notes = [] if stopped is None else [f"Stopped {stopped}: the frequencies are of these."]
    notes += _about_false_selections(bound, q, P, int(support.sum()), threshold, share)
    alone = _without_other_half(done) if share == 0.5 else 0
    if alone:
        stand = "stands" if alone == 1 else "stand"
        notes.append(f"{count(alone, 'resample')} {stand} without the other half of its pair.")
    notes += work.warned()
    return StabilityResult(
        frequencies=frequencies, intervals=wilson(selected.sum(axis=0), B, confidence),
        support=support, selected=selected, weights=weights, drawn=work.drawn[done],
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
    told = f"A resample selects {number(q, 3)} of {count(P, 'column')} on average"
    if bound is None:
        why = "threshold is not above 0.5" if threshold <= 0.5 else "share is not 0.5"
        return [f"{told}. No bound on false selections is known: {why}."]
    said = (
        f"{told}. Over data sets like this one, at most {number(bound, 2)} of the stable columns "
        "are expected to be ones that half of the rows select with a chance of "
        f"{number(q / P, 2)} or less."
    )
    if bound >= max(1, stable):
        said += " That says nothing here: select fewer columns (a stronger penalty), or raise"
        said += " threshold."
    return [said]


# --- work -----------------------------------------------------------------------------------------


class _Work:
    """A fit to each resample; what was done stays if Ctrl-C comes."""

    def __init__(
        self, estimator: Any, X: Any, y: np.ndarray, s: np.ndarray | None, drawn: np.ndarray,
        seeds: np.ndarray, on_progress: Callable[[int, int], object] | None,
    ):  # fmt: skip
        self.estimator, self.X, self.y, self.s = estimator, X, y, s
        self.drawn, self.seeds, self.told = drawn, seeds, on_progress
        B, p = len(drawn), X.shape[1]
        self.done = np.zeros(B, dtype=bool)
        self.selected = np.zeros((B, p), dtype=bool)
        self.weights: np.ndarray | None = np.zeros((B, p))
        self.caught: list[warnings.WarningMessage] = []
        self.lock = threading.Lock()

    def run(self, threads: int) -> str | None:
        """Who stopped it, if somebody did."""
        B = len(self.drawn)
        try:
            with warnings.catch_warnings(record=True) as self.caught, blas_limiter:
                warnings.simplefilter("always")  # about resamples: told together
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
            with config_context(threads=1):  # what a fit would use of its own
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
            if self.told is not None:
                self.told(int(self.done.sum()), len(self.drawn))

    def _support(self, model: Any) -> np.ndarray:
        support = np.asarray(_selector_of(model).get_support())
        if support.shape != (self.X.shape[1],):
            raise ValueError(
                f"the selector chooses among {count(len(support), 'column')}, and X has "
                f"{self.X.shape[1]:,}: a step before it changes the columns. Do that to X first"
            )
        return support.astype(bool)

    def warned(self) -> list[str]:
        if not self.caught:
            return []
        first = self.caught[0]
        said = " ".join(str(first.message).split())
        of = f"in {count(int(self.done.sum()), 'fit')}"
        return [
            f"{count(len(self.caught), 'warning')} {of}, first {first.category.__name__}: {said}"
        ]


def _selector_of(model: Any) -> Any:
    """The model, or what its pipeline ends in."""
    steps = getattr(model, "steps", None)
    return steps[-1][1] if isinstance(steps, list) and steps else model


def _weights_of(model: Any, p: int) -> np.ndarray | None:
    """(p,), not negative; of a selector around an estimator, the estimator's."""
    selector = _selector_of(model)
    for owner in (selector, getattr(selector, "estimator_", None)):
        for name in WEIGHTS:
            found = getattr(owner, name, None)
            if found is not None:
                values = np.abs(np.asarray(found, dtype=float))
                values = np.sqrt((values**2).sum(axis=0)) if values.ndim == 2 else values
                return values if values.shape == (p,) else None
    return None


# --- what is asked --------------------------------------------------------------------------------


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
