"""Calibration: do predictions mean what they say, on rows of the outer folds?

    two classes   logit P(y = 1) = a + b·logit p        b = 1, a = 0 for calibrated p
    more classes  P(right) against the probability of the answer
    numbers       y = a + b·ŷ                           b = 1, a = 0

b < 1: predictions are too extreme. Bins are tenths of the rows, each of at least 5 rows.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import expit, logit, stdtrit

from ...text.proportions import wilson
from ..content.performance import Calibration, CalibrationBin
from ..content.phrases import digits3, share, value_and_interval
from ..content.values import Interval, MeasureEstimate
from ..prepared import Prepared
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.answers import (
    MIN_BIN_ROWS,
    Answered,
    answered,
    bins,
    estimated,
    intervals_of,
    mean_of,
)

Line = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[float, float]]
LEAST_PROBABILITY = 1e-9  # the logit of 0 is not finite
STEP_TOL = 1e-7  # the step after it is 1e-14: Newton's steps square the error
MAX_ROWS_CONVERGED = 5_000  # of resamples that are iterated; with more a step is within 1 % of se
NO_SPREAD = "The predictions hardly differ, so no calibration slope can be estimated."
MAX_STEPS = 50  # more only where the classes are separated, so that no slope is finite


def make(prepared: Prepared, settings: Settings, result: ProcedureResult) -> Calibration | None:
    """Bins, slope, intercept and Brier score; None with too few rows for two bins."""
    found = answered(prepared, result)
    if found.n < 2 * MIN_BIN_ROWS:
        return None
    if prepared.task == "numbers":
        return _numbers(settings, found)
    before = result.calibration or "The model's own probabilities; they were not recalibrated."
    if prepared.positive is None:
        return _several_classes(settings, found, before)
    brier = next((e for e in result.others if e.name == "Brier score"), None)
    return _two_classes(prepared, settings, found, before, brier)


# --- two classes ----------------------------------------------------------------------------------


def _two_classes(
    prepared: Prepared,
    settings: Settings,
    found: Answered,
    before: str,
    brier: MeasureEstimate | None,
) -> Calibration:
    assert prepared.positive is not None
    y, p = found.target.astype(float), found.output
    z = logit(np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    best = logistic_line(y, z, found.weights)
    again: Line = logistic_line
    if np.isfinite(best).all():
        steps = 1 if found.n > MAX_ROWS_CONVERGED else MAX_STEPS
        again = partial(logistic_line, start=best, most=steps)
    slope, intercept = _line(y, z, found, settings, again)
    if brier is None:
        mean = mean_of(y)(found.weights)
        brier = estimated("Brier score", mean_of((p - y) ** 2), found, settings, mean * (1 - mean),
                          "the mean squared distance between probability and outcome")  # fmt: skip
    shown = _bins_of_shares(y, p, settings)
    positive = prepared.classes[prepared.positive]
    top = shown[-1]
    text = (
        f"Of the {top.n:,} rows with the highest probabilities (mean {share(top.predicted)}), "
        f"{share(top.observed)} are '{positive}'. {_reading(slope, intercept, _no_slope(y, z))}"
    )
    return Calibration(text, shown, slope, intercept, brier, before)


def _bins_of_shares(y: np.ndarray, p: np.ndarray, settings: Settings) -> tuple[CalibrationBin, ...]:
    made = []
    for rows in bins(p):
        low, high = wilson(float(y[rows].sum()), len(rows), settings.confidence)
        interval = Interval(float(low), float(high), settings.confidence)
        made.append(
            CalibrationBin(float(p[rows].mean()), float(y[rows].mean()), len(rows), interval)
        )
    return tuple(made)


def logistic_line(
    y: np.ndarray, z: np.ndarray, s: np.ndarray, start: tuple[float, float] = (0.0, 0.0),
    most: int = MAX_STEPS,
) -> tuple[float, float]:  # fmt: skip
    """Intercept and slope of logit P(y = 1) = a + b·z by Newton's method; NaN if separated.

    ``most`` 1: a single step, which from the slope of all rows is enough for a resample of many.
    """
    v = np.array(start)

    def loss(v: np.ndarray) -> float:
        f = v[0] + v[1] * z
        return float(s @ (np.logaddexp(0, f) - y * f))

    now = np.inf if most == 1 else loss(v)
    for _ in range(most):
        p = expit(v[0] + v[1] * z)
        w, r = s * p * (1 - p), s * (y - p)
        h00, h01, h11 = float(w.sum()), float(w @ z), float(w @ z**2)
        g0, g1, determinant = float(r.sum()), float(r @ z), h00 * h11 - h01 * h01
        if not determinant > 1e-14 * h00 * h11:
            return np.nan, np.nan
        step = np.array([h11 * g0 - h01 * g1, h00 * g1 - h01 * g0]) / determinant
        if most == 1 or float(np.abs(step).max()) < STEP_TOL * (1 + float(np.abs(v).max())):
            return float(v[0] + step[0]), float(v[1] + step[1])
        t = 1.0
        while (after := loss(v + t * step)) > now and t > 1e-10:
            t /= 2
        v, now = v + t * step, after
    return np.nan, np.nan


def straight_line(y: np.ndarray, z: np.ndarray, s: np.ndarray) -> tuple[float, float]:
    """Intercept and slope of y = a + b·z by least squares; NaN where all z are equal."""
    total = float(s.sum())
    if total <= 0:
        return np.nan, np.nan
    mean_z, mean_y = float(s @ z) / total, float(s @ y) / total
    squares = float(s @ (z - mean_z) ** 2)
    if squares <= 0:
        return np.nan, np.nan
    b = float(s @ ((z - mean_z) * (y - mean_y))) / squares
    return mean_y - b * mean_z, b


def _line(
    y: np.ndarray, z: np.ndarray, found: Answered, settings: Settings, line: Line
) -> tuple[MeasureEstimate | None, MeasureEstimate | None]:
    """Slope and intercept with intervals; None where they are not finite."""
    a, b = line(y, z, found.weights)
    if not np.isfinite([a, b]).all():
        return None, None
    ends = intervals_of(lambda s: np.array(line(y, z, s)), found, settings)
    of_slope = "1 if predictions are neither too extreme (below 1) nor too timid (above 1)"
    of_intercept = "0 if predictions are neither too high nor too low"
    return (
        MeasureEstimate("slope", b, found.n, ends[1], 1.0, of_slope),
        MeasureEstimate("intercept", a, found.n, ends[0], 0.0, of_intercept),
    )


def _no_slope(y: np.ndarray, z: np.ndarray) -> str:
    """Why two classes have no finite slope, if they have none."""
    positive, negative = z[y == 1], z[y == 0]
    both = len(positive) and len(negative)
    if both and (positive.min() > negative.max() or negative.min() > positive.max()):
        return "The predictions separate the classes, so there is no finite calibration slope."
    return NO_SPREAD


def _reading(
    slope: MeasureEstimate | None, intercept: MeasureEstimate | None, no_slope: str
) -> str:
    """What slope and intercept say; ``no_slope``: why they are not finite, if they are not."""
    if slope is None or intercept is None:
        return no_slope
    if slope.interval is None:
        return f"The calibration slope is {digits3(slope.value)}."
    shown = f"calibration slope {value_and_interval(slope.value, slope.interval)}"
    if slope.interval.high < 1:
        return f"Predictions are too extreme ({shown}; 1 is right)."
    if slope.interval.low > 1:
        return f"Predictions are too timid ({shown}; 1 is right)."
    if intercept.interval is not None and (
        intercept.interval.low > 0 or intercept.interval.high < 0
    ):
        way = "low" if intercept.value > 0 else "high"
        ends = value_and_interval(intercept.value, intercept.interval)
        return f"Predictions are too {way} (intercept {ends}; 0 is right; {shown})."
    return f"Nothing speaks against the predictions as they are ({shown}; 1 is right)."


# --- more classes, numbers ------------------------------------------------------------------------


def _several_classes(settings: Settings, found: Answered, before: str) -> Calibration:
    """Is the answer right as often as its probability says?"""
    p = found.output.max(axis=1)
    right = (found.output.argmax(axis=1) == found.target).astype(float)
    target = np.zeros_like(found.output)
    target[np.arange(found.n), found.target] = 1.0
    shares = found.weights @ target / found.weights.sum()
    brier = estimated(
        "Brier score", mean_of(((found.output - target) ** 2).sum(axis=1)), found, settings,
        float(1 - shares @ shares), "the mean squared distance between probabilities and outcome",
    )  # fmt: skip
    mean_p, mean_right = mean_of(p)(found.weights), mean_of(right)(found.weights)
    text = (
        f"The most probable class has a probability of {share(mean_p)} on average, and is right in "
        f"{share(mean_right)} of {found.n:,} rows."
    )
    return Calibration(text, _bins_of_shares(right, p, settings), None, None, brier, before)


def _numbers(settings: Settings, found: Answered) -> Calibration:
    y, predicted = found.target, found.output
    slope, intercept = _line(y, predicted, found, settings, straight_line)
    made = []
    for rows in bins(predicted):
        of, n = y[rows], len(rows)
        half = float(stdtrit(n - 1, (1 + settings.confidence) / 2) * of.std(ddof=1) / np.sqrt(n))
        mean = float(of.mean())
        made.append(CalibrationBin(
            float(predicted[rows].mean()), mean, n,
            Interval(mean - half, mean + half, settings.confidence),
        ))  # fmt: skip
    first, last = made[0], made[-1]
    text = (
        f"The tenth with the lowest predictions (mean {digits3(first.predicted)}) has a mean of "
        f"{digits3(first.observed)}, that with the highest ({digits3(last.predicted)}) one of "
        f"{digits3(last.observed)}. {_reading(slope, intercept, NO_SPREAD)}"
    )
    return Calibration(text, tuple(made), slope, intercept, None)
