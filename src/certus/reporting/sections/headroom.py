"""Headroom: what a boosted tree, which nobody can read or certify, reaches on the same folds.

difference = reference − chosen; its interval resamples the rows of both alike (paired).
"""

import numpy as np

from ..content.answer import Headroom
from ..content.phrases import digits3, interval_decimals, interval_text, number_as, percent, share
from ..content.values import Interval, MeasureEstimate
from ..prepared import Prepared
from ..procedure.measures import measure_of
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.answers import Answered, answered, guesses, interval_of

LABEL = "reference, not certified"


def make(prepared: Prepared, settings: Settings, result: ProcedureResult) -> Headroom | None:
    """The comparison; None where the reference was not fitted."""
    if result.reference is None or result.reference_measure is None:
        return None
    chosen, reference = result.measure, result.reference_measure
    interval = _paired_interval(prepared, settings, result)
    difference = reference.value - chosen.value
    text = _text(chosen, reference, difference, interval)
    return Headroom(chosen.name, reference, chosen, difference, interval, text)


def _paired_interval(
    prepared: Prepared, settings: Settings, result: ProcedureResult
) -> Interval | None:
    assert result.reference is not None
    ours, theirs = answered(prepared, result), answered(prepared, result, result.reference)
    both = np.intersect1d(ours.rows, theirs.rows)
    if len(both) == 0:
        return None
    a, b = _those(ours, both), _those(theirs, both)
    measure = measure_of(prepared.task)
    guess = guesses(prepared, a) if prepared.task == "numbers" else a.output
    of_chosen = measure.weighted(a.target, a.output, a.fold, guess)
    of_reference = measure.weighted(b.target, b.output, b.fold, guess)
    return interval_of(lambda s: of_reference(s) - of_chosen(s), a, settings)


def _those(found: Answered, rows: np.ndarray) -> Answered:
    at = np.searchsorted(found.rows, rows)
    return Answered(
        rows, found.target[at], found.output[at], found.fold[at], found.weights[at],
        found.together[at],
    )  # fmt: skip


def _text(
    chosen: MeasureEstimate,
    reference: MeasureEstimate,
    difference: float,
    interval: Interval | None,
) -> str:
    reaches, ours = (_shown(e) for e in (reference, chosen))
    if interval is None:
        return (
            f"A boosted tree ({LABEL}) reaches {reaches}, the chosen model {ours}. There are too "
            "few rows for an interval of the difference."
        )
    decimals = interval_decimals(interval)
    size = number_as(abs(difference), decimals)
    within = f"{percent(interval.level)} interval of the difference {interval_text(interval)}"
    start = f"A boosted tree ({LABEL}) reaches {reaches} on the same folds"
    if interval.low > 0:
        return f"{start}; you give up {size} ({within}) for a model that you can read and check."
    if interval.high < 0:
        return (
            f"{start}: {size} less than the chosen model, which you can read and check ({within})."
        )
    if difference > 0:
        return (
            f"{start}, the chosen model {ours}. That is {size} more, which may be chance "
            f"({within}): nothing is known to be given up for a model that you can read and check."
        )
    return (
        f"{start}: no better than the chosen model with {ours}, which you can read and check "
        f"({within})."
    )


def _shown(estimate: MeasureEstimate) -> str:
    if estimate.name == "R²":
        return f"{share(estimate.value)} of the variance"
    if estimate.interval is None:
        return f"{estimate.name} {digits3(estimate.value)}"
    return f"{estimate.name} {number_as(estimate.value, interval_decimals(estimate.interval))}"
