"""The old model on some new rows beside a certified refit, and what chance alone gives.

gain = (L(θ_old) − L(θ_new))/L(θ_old),     L the mean loss of the new rows, without the penalty
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..audit import Reading
from ..certificate import TOL, certify_reading
from ..certificate.decisions.comparison import certified_refit
from ..data.rows import Rows
from ..exceptions import CannotVerifyError
from ..refits import NoRefitError
from ..text.format import count
from . import parameters
from .bootstrap import OnStep, gains_by_chance, mean_loss
from .reference import Chance, by_chi_squared, by_f, by_resamples
from .result import FRESH, STALE, TOO_FEW, UNDECIDED, RefitGain

# χ² holds for many rows; with fewer than these its level is too far off to be quoted
MIN_ROWS_PER_PARAMETER = {"logistic": 20, "softmax": 20, "ordinal": 20, "log_link": 10}
MIN_ROWS_OF_CLASS = 5
MIN_RESIDUAL_DF = 10  # of least squares, where F is exact
MIN_RESAMPLED_ROWS = 30


@dataclass(frozen=True)
class ComparisonSettings:
    """What does not depend on the rows."""

    method: str  # "likelihood" or "bootstrap"
    n_old: int | None
    level: float
    n_resamples: int
    seed: int
    on_step: OnStep | None
    names: tuple[str, ...] | None


def compared(name: str | None, reading: Reading, rows: Rows, by: ComparisonSettings) -> RefitGain:
    """Return the gain of a refit on these rows, or why there is none."""
    n = rows.shape[0] if rows.s is None else int(np.sum(np.asarray(rows.s) > 0))
    with np.errstate(all="ignore"):  # coefficients near the limits of float64
        loss = mean_loss(reading, reading.parameters, rows) if n else float("nan")
        try:
            return _compared(name, reading, rows, by, n, loss)
        except NoRefitError as error:
            return RefitGain(name=name, n=n, loss=loss, verdict=TOO_FEW, reason=str(error))


def _compared(
    name: str | None, reading: Reading, rows: Rows, by: ComparisonSettings, n: int, loss: float
) -> RefitGain:
    p = parameters.free_parameters(reading, rows) if by.method == "likelihood" else None
    _require_rows(reading, n, p)
    _require_classes(reading, rows)
    if not np.isfinite(loss):
        raise CannotVerifyError("the loss of the model on these rows is not finite")
    at_refit, _ = certified_refit(reading, rows, TOL)
    certificate = certify_reading(at_refit, rows, by.names)
    after = mean_loss(at_refit, at_refit.parameters, rows)
    r = _ratio(n, by.n_old, p or 0)
    if p is None:
        gains = gains_by_chance(at_refit, rows, r, by.n_resamples, by.seed, TOL, by.on_step)
        chance = by_resamples(loss - after, gains, by.level)
    else:
        chance = _by_likelihood(at_refit, rows, loss - after, after, n, p, r, by.level)
    share = 1 / loss if loss > 0 else 0.0
    return RefitGain(
        name=name, n=n, loss=loss, verdict=FRESH, loss_of_refit=after,
        gain=(loss - after) * share, chance=chance.mean * share, chance_high=chance.high * share,
        pvalue=chance.pvalue, statistic=chance.statistic, n_parameters=p,
        stale_above=_stale_above(by, n, chance), certificate=certificate,
    )  # fmt: skip


def _ratio(n: int, n_old: int | None, p: int) -> float:
    """Return r: how many times the old coefficients' variance is that of the refit's."""
    if n_old is None:
        return 0.0
    if n_old <= 2 * p:
        raise NoRefitError(f"the old fit had {count(n_old, 'row')} for {count(p, 'parameter')}")
    return n / (n_old - p - 1 if p else n_old)


def _stale_above(by: ComparisonSettings, n: int, chance: Chance) -> float | None:
    """The rows of the old fit above which chance is ruled out, where they are not known."""
    if by.n_old is not None or chance.pvalue > by.level or not chance.max_ratio:
        return None
    return n / chance.max_ratio


def _by_likelihood(
    at_refit: Reading, rows: Rows, gain: float, after: float, n: int, p: int, r: float, level: float
) -> Chance:  # fmt: skip
    if at_refit.definition == "least_squares":  # the mean loss is RSS/n
        return by_f(n * gain, n * after / (n - p), n, p, r, level, per_row=1.0)
    if at_refit.definition == "log_link":  # it is half the deviance/n
        return by_f(2 * n * gain, _dispersion(at_refit, rows, n - p), n, p, r, level, per_row=0.5)
    return by_chi_squared(2 * n * gain, n, p, r, level)


def _dispersion(at_refit: Reading, rows: Rows, df: int) -> float:
    """φ̂ = Σ (y − μ)²/V(μ)/(n − p), V(μ) = μ for counts and μ² for amounts."""
    p, X = at_refit.parameters, rows.block(0, rows.shape[0])[0]
    y = np.asarray(rows.y)
    mean = np.exp((X @ p["w"] + p["b"])[:, 0] + y[:, 1:].sum(axis=1))
    variance = mean if p["family"] == "poisson" else mean**2
    return float(np.sum((y[:, 0] - mean) ** 2 / variance) / df)


def _require_classes(reading: Reading, rows: Rows) -> None:
    if reading.labels is None:
        return
    k = np.asarray(rows.y)[:, 0].astype(np.intp)
    counts = np.bincount(k, None if rows.s is None else np.asarray(rows.s) > 0,
                         minlength=len(reading.labels.classes))  # fmt: skip
    least = int(np.argmin(counts))
    if counts[least] < MIN_ROWS_OF_CLASS:
        label = reading.labels.classes[least]
        rows_of = count(int(counts[least]), "row") if counts[least] else "no row"
        raise NoRefitError(f"class {str(label)!r} has {rows_of}, {MIN_ROWS_OF_CLASS} are needed")


def _require_rows(reading: Reading, n: int, p: int | None) -> None:
    if p is None:
        needed, why = MIN_RESAMPLED_ROWS, ""
    elif reading.definition == "least_squares":
        needed, why = p + MIN_RESIDUAL_DF, f" for {count(p, 'parameter')}"
    else:
        needed, why = (
            MIN_ROWS_PER_PARAMETER[reading.definition] * p,
            f" for {count(p, 'parameter')}",
        )
    if n < needed:
        raise NoRefitError(f"{count(n, 'row')}, {needed:,} are needed{why}")


def judged(gains: Sequence[RefitGain], level: float, n_old: int | None) -> list[RefitGain]:
    """Return the gains with verdicts by Holm's method: any false alarm has probability ``level``.

    The k-th smallest of m p-values is compared with level/(m − k + 1), up to the first that is
    larger. Where the rows of the old fit are not known, no gain is called stale.
    """
    tested = sorted((g.pvalue, i) for i, g in enumerate(gains) if g.pvalue is not None)
    found, holds = list(gains), True
    for rank, (pvalue, i) in enumerate(tested):
        holds = holds and pvalue <= level / (len(tested) - rank)
        beyond = STALE if n_old is not None else UNDECIDED
        found[i] = replace(gains[i], verdict=beyond if holds else FRESH)
    return found
