"""How uncertain the coefficients of the chosen model are: by theory, or by refits.

    theory      θ̂ ± q·se, from the information matrix: without a penalty
    bootstrap   refits with the chosen parameters on resampled rows; quantiles of the refits

A penalty biases coefficients, which no covariance accounts for: then the rows are resampled. A
resample is a fit with whole-number weights; the encoding (medians, scales, categories) stays. The
choice of the model is not repeated.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from sklearn.base import clone

from ....exceptions import InferenceError
from ...prepared import Prepared
from ...procedure.folds import kept_together
from ...procedure.result import ProcedureResult
from ...settings import Settings
from .linear import coefficients, encoded, linear_model

N_REFITS, MIN_REFITS = 200, 50
MAX_OPERATIONS = 2e10  # of all refits together: about 40 s on two cores
STEPS = 10  # of a fit, each with a product of n·m·min(n, m)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Uncertainty of θ = (b, w) of each score.

    ``draws`` (B, K, m + 1), or a ``covariance`` (m + 1, m + 1) of a single score.
    """

    note: str  # a sentence: how it was computed, or why it was not
    draws: np.ndarray | None = None
    covariance: np.ndarray | None = None
    degrees_of_freedom: float = np.inf
    has_tests: bool = False  # a penalty biases tests

    @property
    def is_known(self) -> bool:
        """Are there intervals?"""
        return self.draws is not None or self.covariance is not None

    def interval(
        self, k: int, estimate: float, c: np.ndarray, level: float
    ) -> tuple[float, float] | None:
        """Interval of cᵀθ of score k."""
        if self.draws is not None:
            tail = (1 - level) / 2
            used = np.flatnonzero(c)
            low, high = np.quantile(self.draws[:, k, used] @ c[used], [tail, 1 - tail])
            return float(low), float(high)
        error = self._error(c)
        if error is None:
            return None
        half = float(_quantile((1 + level) / 2, self.degrees_of_freedom)) * error
        return estimate - half, estimate + half

    def p_value(self, estimate: float, c: np.ndarray) -> float | None:
        """Two-sided p-value of cᵀθ = 0, by theory and without a penalty alone."""
        error = self._error(c) if self.has_tests else None
        if not error:
            return None
        t = -abs(estimate) / error
        of = ndtr(t) if np.isinf(self.degrees_of_freedom) else stdtr(self.degrees_of_freedom, t)
        return float(2 * of)

    def root(self, k: int, C: np.ndarray) -> np.ndarray | None:
        """R with R·Rᵀ the covariance of Cθ of score k; C is (r, m + 1), R (r, at most r)."""
        if self.covariance is not None:
            used = C.any(axis=0)
            part = C[:, used] @ self.covariance[np.ix_(used, used)] @ C[:, used].T
        elif self.draws is not None:
            values = self.draws[:, k] @ C.T
            centered = values - values.mean(axis=0)
            part = centered.T @ centered / (len(values) - 1)
        else:
            return None
        if not np.isfinite(part).all():
            return None
        variances, directions = np.linalg.eigh((part + part.T) / 2)
        kept = variances > 1e-12 * max(float(variances.max(initial=0.0)), 0.0)
        return np.asarray(directions[:, kept] * np.sqrt(variances[kept]))

    def _error(self, c: np.ndarray) -> float | None:
        if self.covariance is None:
            return None
        used = np.flatnonzero(c)
        part = self.covariance[np.ix_(used, used)]
        variance = float(c[used] @ part @ c[used])
        return float(np.sqrt(variance)) if variance >= 0 else None  # NaN: not estimable


def _quantile(probability: float, nu: float) -> float:
    return float(ndtri(probability) if np.isinf(nu) else stdtrit(nu, probability))


_made: "WeakKeyDictionary[ProcedureResult, Uncertainty]" = WeakKeyDictionary()


def uncertainty(prepared: Prepared, settings: Settings, result: ProcedureResult) -> Uncertainty:
    """The uncertainty of a linear chosen model; made once for a result."""
    if result not in _made:
        _made[result] = _made_for(prepared, settings, result)
    return _made[result]


def _made_for(prepared: Prepared, settings: Settings, result: ProcedureResult) -> Uncertainty:
    """Theory without a penalty; else refits; and theory again where these would take too long."""
    found = _by_theory(prepared, result) if is_unpenalized(result.model) else None
    if found is None:
        found = _by_refits(prepared, settings, result)
    if not found.is_known:
        found = _by_theory(prepared, result) or found
    return found


def _by_theory(prepared: Prepared, result: ProcedureResult) -> Uncertainty | None:
    """By the model's own ``inference``; None where theory has no answer."""
    model: Any = result.model
    if prepared.task in ("classes", "ordered classes"):
        return None
    try:
        rows = slice(None) if result.rows is None else result.rows
        s = None if prepared.weights is None else prepared.weights[rows]
        inference = model.inference(encoded(prepared, result), prepared.y[rows], s)
    except (InferenceError, AttributeError):
        return None
    nu = float(getattr(inference, "degrees_of_freedom", np.inf))
    covariance = np.asarray(inference.covariance, dtype=float)
    note, has_tests = "by theory (the model has no penalty)", is_unpenalized(model)
    if not has_tests:
        note = "by theory, which ignores that the penalty shrinks coefficients towards 0"
    return Uncertainty(note, covariance=covariance, degrees_of_freedom=nu, has_tests=has_tests)


def is_unpenalized(model: object) -> bool:
    """Are the coefficients those of least squares, or of the largest likelihood?"""
    given = vars(model)
    return type(model).__name__ == "LinearRegression" or given.get("C") == np.inf


def _by_refits(prepared: Prepared, settings: Settings, result: ProcedureResult) -> Uncertainty:
    linear = linear_model(prepared, result)
    assert linear is not None
    A = encoded(prepared, result)
    n, m = A.shape
    one = STEPS * n * m * min(n, m) * max(1, len(linear.w) ** 2)
    count = int(min(N_REFITS, MAX_OPERATIONS // one))
    if count < MIN_REFITS:
        return Uncertainty(f"no intervals: {n:,} rows × {m:,} columns are too many for refits")

    def parameters(model: object) -> np.ndarray:
        w, b, _ = coefficients(prepared, model)
        return np.column_stack([b, w])

    draws = refits(prepared, settings, result, A, count, parameters)
    shape = (len(linear.w), m + 1)
    draws = [d for d in draws if d.shape == shape and np.isfinite(d).all()]
    if len(draws) < MIN_REFITS:
        return Uncertainty("no intervals: most resamples of the rows could not be fitted")
    return Uncertainty(
        f"by {len(draws)} refits on resampled rows (bootstrap) with the chosen penalty, which "
        "shrinks coefficients towards 0",
        draws=np.array(draws),
    )


def refits(
    prepared: Prepared, settings: Settings, result: ProcedureResult, A: np.ndarray, count: int,
    parameters: Callable[[object], np.ndarray],
) -> list[np.ndarray]:  # fmt: skip
    """Parameters of fits of the chosen model to resampled rows; fits that fail are left out."""
    rows = np.arange(prepared.n) if result.rows is None else result.rows
    y, s = prepared.y[rows], np.ones(len(rows))
    if prepared.weights is not None:
        s = prepared.weights[rows]
    rng = np.random.default_rng(settings.seed)
    sets, place = np.unique(kept_together(prepared)[0][rows], return_inverse=True)
    found = []
    for _ in range(count):
        drawn = np.bincount(rng.integers(0, len(sets), len(sets)), minlength=len(sets))
        weights = s * drawn[place]
        used = weights > 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = clone(result.model).fit(A[used], y[used], sample_weight=weights[used])
            found.append(parameters(model))
        except ValueError:  # a resample without one of the classes
            continue
    return found
