"""staleness(): is a model out of date?

    old model ── loss on new rows ──┐
                                    ├── gain ◄── compared with what chance alone gives
    certified refit ── loss ────────┘

The refit starts from the old coefficients and minimises the same objective; steps of a pipeline
before the model stay as they are.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..audit import Reading, Unwrapped
from ..certificate.fingerprint import fingerprint
from ..certificate.problem import in_words, read_given, unwrapped
from ..certificate.verification import feature_names
from ..data.rows import Rows
from ..exceptions import CannotVerifyError
from ..refits import CONVEX
from ..runtime.refusals import refuses_in_one_frame
from .bootstrap import OnStep
from .comparison import ComparisonSettings, compared, judged
from .losses import LOSSES
from .old_rows import fingerprint_of_fit, rows_of_old_fit
from .parameters import has_likelihood
from .periods import Periods, split
from .result import StalenessResult

MAX_PERIODS = 1000
N_RESAMPLES = 199


@refuses_in_one_frame
def staleness(
    model: object,
    X: Any,
    y: object = None,
    sample_weight: ArrayLike | None = None,
    *,
    by: ArrayLike | str | None = None,
    n_old: int | None = None,
    method: Literal["auto", "bootstrap"] = "auto",
    level: float = 0.05,
    n_resamples: int | None = None,
    random_state: int = 0,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
    on_step: OnStep | None = None,
) -> StalenessResult:
    """Compare a fitted model on new rows with a certified refit, and with what chance alone gives.

    A refit always lowers the loss of the rows that it is fitted to. The question is whether it does
    so by more than it would if nothing had changed since the model was fitted.

    Parameters
    ----------
    model : fitted model
        A linear, ridge, lasso, elastic-net, logistic, ordinal, Poisson, Gamma or LinearSVC model of
        certus or scikit-learn, also inside a pipeline or a search; a result of statsmodels.
    X, y, sample_weight : array-like
        The new rows, which the model was not fitted on.
    by : array-like of shape (n_samples,) or str, optional
        Also compare each of these periods; or the name of the column of X that holds them.
    n_old : int, optional
        Rows that the model was fitted on, whose sampling error is part of what chance gives. By
        default from its certificate, or from a step that recorded it.
    method : {"auto", "bootstrap"}, default="auto"
        "auto": F for least squares and for Poisson and Gamma regression, chi-squared for logistic
        and ordinal regression, all without penalty and weights; else resampled rows. "bootstrap":
        resampled rows, which do not assume that the model is right.
    level : float, default=0.05
        The probability of a false alarm: with periods, of a single one among all verdicts (Holm).
    n_resamples : int, optional
        Certified refits of resampled rows, for the bootstrap. By default 199, or with m − 1 periods
        at least 2m/level, since each p-value is compared with level/m.
    random_state : int, default=0
        Seed of the resamples.
    offset, exposure : array-like, optional
        Those of the new rows, for a PoissonRegressor or GammaRegressor.
    on_step : callable, optional
        Called with the numbers of finished and of all resamples.

    Returns
    -------
    StalenessResult

    Examples
    --------
    >>> import numpy as np
    >>> import certus
    >>> from certus.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=600)
    >>> model = LinearRegression().fit(X[:300], y[:300])
    >>> certus.staleness(model, X[300:], y[300:])
    StalenessResult(no sign of drift: a refit lowers the mean squared error by 0.89 %; ...)
    >>> certus.staleness(model, X[300:], y[300:] + X[300:, 0]).verdict
    'the model is stale'
    """
    _require(n_old, method, level)
    X, periods = split(model, X, by)
    given = unwrapped(model, X, y, sample_weight, offset, exposure)
    inner = given.inner
    if given.parts is not None:
        raise CannotVerifyError(
            f"{type(inner.model).__name__} holds several models: compare each on its own rows"
        )
    with in_words(inner.model):
        rows, reading = read_given(given)
    _require_known(reading, rows)
    if periods is not None:
        periods.require(rows.shape[0], MAX_PERIODS)
    notes: list[str] = []
    if n_old is None:
        n_old, who = rows_of_old_fit(model, inner)
        if n_old is not None and who != "its certificate":
            notes.append(f"the rows of the old fit are those that {who} has seen")
    if n_old is None:
        notes.append("the rows of the old fit are not known, so its own sampling error is left out")
    likelihood = method == "auto" and has_likelihood(reading, rows)
    n_tests = 1 if periods is None else 1 + len(periods.names)
    settings = ComparisonSettings(
        "likelihood" if likelihood else "bootstrap", n_old, level,
        _resamples(n_resamples, n_tests, level), random_state, on_step,
        feature_names(inner.model),
    )  # fmt: skip
    notes += _notes(inner, rows)
    return _result(reading, rows, settings, periods, tuple(notes))


def _result(
    reading: Reading,
    rows: Rows,
    settings: ComparisonSettings,
    periods: Periods | None,
    notes: tuple[str, ...],
) -> StalenessResult:
    tested = [compared(None, reading, rows, settings)]
    if periods is not None:
        tested += [
            compared(name, reading, rows.take(i), settings) for name, i in periods.row_numbers()
        ]
    overall, *lines = judged(tested, settings.level, settings.n_old)
    name = {"least_squares": "F", "log_link": "F"}.get(reading.definition, "chi-squared")
    return StalenessResult(
        model=reading.model, loss_name=LOSSES[reading.definition].name,
        method=name if settings.method == "likelihood" else "bootstrap", n_old=settings.n_old,
        level=settings.level, n_columns=rows.shape[1], all_rows=overall, periods=tuple(lines),
        notes=notes,
    )  # fmt: skip


def _require(n_old: int | None, method: str, level: float) -> None:
    if method not in ("auto", "bootstrap"):
        raise ValueError(f'method={method!r}: use "auto" or "bootstrap"')
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: give a number between 0 and 1")
    if n_old is not None and not n_old >= 1:
        raise ValueError(f"n_old={n_old!r}: give the number of rows that the model was fitted on")


def _resamples(given: int | None, n_tests: int, level: float) -> int:
    """The number of resamples; the smallest p-value, 1/(resamples + 1), must be able to decide."""
    least = int(np.ceil(n_tests / level)) - 1
    if given is None:
        return max(N_RESAMPLES, 2 * least + 1)
    if given < least:
        raise ValueError(f"n_resamples={given!r}: {least:,} are needed for p ≤ {level / n_tests:g}")
    return given


def _require_known(reading: Reading, rows: Rows) -> None:
    huber = reading.parameters.get("loss") not in (None, {"name": "squared"})
    if reading.definition not in LOSSES or reading.definition not in CONVEX or huber:
        raise CannotVerifyError(
            f"{reading.model} has no refit that staleness could compare it with: it knows linear, "
            "ridge, lasso, elastic-net, logistic, ordinal, Poisson, Gamma and LinearSVC models"
        )
    if rows.streamed:
        raise CannotVerifyError(
            "staleness needs all new rows in memory: give arrays, of a sample for example "
            "(table.gather(numbers of rows))"
        )


def _notes(inner: Unwrapped, rows: Rows) -> list[str]:
    notes = []
    if inner.path:
        notes.append(
            f"the coefficients inside {' → '.join(inner.path)} are compared; steps before them are "
            "those of the old fit"
        )
    seen = fingerprint_of_fit(inner)
    if seen is not None and seen.differs(fingerprint(rows)) is None:
        notes.append("these are the rows of the fit, where it is never stale: give new ones")
    return notes
