"""Measures beside the verdict's: Brier score, balanced accuracy, typical error."""

import numpy as np

from ..content.values import Interval, MeasureEstimate
from ..prepared import Prepared
from ..settings import Settings
from .encoding import target_of
from .intervals import bootstrap, n_resamples
from .measures import Weighted
from .result import OuterPredictions


def other_estimates(
    prepared: Prepared, outer: OuterPredictions, guess: np.ndarray, together: np.ndarray,
    settings: Settings,
) -> tuple[MeasureEstimate, ...]:  # fmt: skip
    """Further measures of the answers to held-out rows, each beside the baseline's."""
    known = outer.fold >= 0
    target, output, guess = target_of(prepared)[known], outer.output[known], guess[known]
    s = np.ones(int(known.sum())) if prepared.weights is None else prepared.weights[known]
    losses, losses_of_guess, name, text = _losses(prepared.task, target, output, guess)
    of, of_guess = _mean(losses), _mean(losses_of_guess)
    if prepared.task in ("classes", "ordered classes"):
        of, of_guess = _balanced(losses, target), _balanced(losses_of_guess, target)
    value = of(s)
    guessed = of_guess(s)
    interval = bootstrap(
        of, s, together[known], value, guessed, settings.confidence, n_resamples(len(s)),
        settings.seed,
    )  # fmt: skip
    if interval is not None:
        highest = np.inf if prepared.task == "numbers" else 1.0
        interval = Interval(
            max(interval.low, 0.0), min(interval.high, highest), settings.confidence
        )
    return (MeasureEstimate(name, value, len(s), interval, guessed, text),)


def _losses(
    task: str, target: np.ndarray, output: np.ndarray, guess: np.ndarray
) -> tuple[np.ndarray, np.ndarray, str, str]:
    if task == "numbers":
        text = "the mean of the absolute errors; the baseline answers with the mean"
        return np.abs(target - output), np.abs(target - guess), "typical error", text
    if task == "two classes":
        text = "the mean squared distance between probability and outcome; smaller is better"
        return (target - output) ** 2, (target - guess) ** 2, "Brier score", text
    right = (output.argmax(axis=1) == target).astype(float)
    right_of_guess = (guess.argmax(axis=1) == target).astype(float)
    text = "the mean over classes of the share that is answered rightly"
    return right, right_of_guess, "balanced accuracy", text


def _mean(values: np.ndarray) -> Weighted:
    def of(s: np.ndarray) -> float:
        return float(s @ values) / float(s.sum()) if s.sum() > 0 else np.nan

    return of


def _balanced(values: np.ndarray, target: np.ndarray) -> Weighted:
    def of(s: np.ndarray) -> float:
        total = np.bincount(target, weights=s)
        right = np.bincount(target, weights=s * values)
        return float(np.mean(right[total > 0] / total[total > 0])) if total.any() else np.nan

    return of
