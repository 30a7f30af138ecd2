"""The verdict: an answer in words, by the score of the whole procedure on rows it had not seen.

    suspiciously good   D-LEAK was found, or the measure is at least 0.99
    too few rows        a class has fewer than 10 rows, or there are fewer than 20 rows, or the
                        interval is wider than 0.4 and holds the score of guessing
    no evidence         the interval holds the score of guessing
    yes                 weakly, moderately, strongly or very strongly, by the value of the measure:

                        AUC below 0.65, 0.8, 0.9 and above;   R² below 0.1, 0.4, 0.7 and above

The first that applies is the verdict; D-LEAK and "too few rows" come before 0.99.
"""

import numpy as np

from ..content.answer import Verdict
from ..content.data import DataProblem, Problems
from ..content.phrases import (
    count,
    digits3,
    interval_decimals,
    interval_text,
    listed,
    number_as,
    percent,
    share,
)
from ..content.values import Interval, MeasureEstimate
from ..prepared import Prepared
from ..procedure.candidates import BASELINE_KEY
from ..procedure.result import ProcedureResult
from ..settings import Settings

STRENGTHS = ("weakly", "moderately", "strongly", "very strongly")
AUC_CUTS = (0.65, 0.8, 0.9)
R2_CUTS = (0.1, 0.4, 0.7)
SUSPICIOUS = 0.99
MIN_CLASS_ROWS, MIN_ROWS = 10, 20
MAX_WIDTH = 0.4  # of an interval that holds the score of guessing
LEAK = "D-LEAK"


def make(
    prepared: Prepared, settings: Settings, result: ProcedureResult, problems: Problems
) -> Verdict:
    """The answer."""
    measure = result.measure
    interval = measure.interval or Interval(-np.inf, np.inf, settings.confidence)
    guess = 0.0 if measure.baseline is None else measure.baseline
    leaks = [p for p in problems.problems if p.code == LEAK]
    beats = interval.low > guess
    few = _rows_of_rarest(prepared) < MIN_CLASS_ROWS or prepared.n < MIN_ROWS
    too_wide = not beats and interval.high - interval.low > MAX_WIDTH
    if leaks and beats:
        kind, headline, text = "suspiciously good", "Suspiciously good", _leak(measure, leaks)
    elif few or too_wide:
        kind, headline, text = "too few rows", "Too few rows to say", _too_few(prepared, measure)
    elif not beats:
        kind, headline, text = "no evidence", "No evidence", _no_evidence(prepared, result)
    elif measure.value >= SUSPICIOUS:
        kind, headline = "suspiciously good", "Suspiciously good"
        text = f"{_finding(prepared, settings, result)} {_look_for_a_leak(problems)}"
    else:
        kind, headline = "yes", f"Yes, {strength(measure)}"
        text = _finding(prepared, settings, result)
    return Verdict(kind, f"{headline}.", text, measure, result.others, _how(result))


def strength(measure: MeasureEstimate) -> str:
    """The strength of a measure in a word."""
    cuts = R2_CUTS if measure.name == "R²" else AUC_CUTS
    return STRENGTHS[int(np.searchsorted(cuts, measure.value, side="right"))]


def _rows_of_rarest(prepared: Prepared) -> int:
    if prepared.task == "numbers":
        return prepared.n
    return int(np.bincount(prepared.codes(), minlength=len(prepared.classes)).min())


# --- sentences ------------------------------------------------------------------------------------


def _finding(prepared: Prepared, settings: Settings, result: ProcedureResult) -> str:
    """What the chosen model can do, with the interval, guessing and the number of rows."""
    if prepared.task == "numbers":
        return _finding_of_numbers(result)
    m = result.measure
    shown = f"{_value_and_interval(m)}; guessing {number_as(m.baseline or 0.0, 2)}"
    often = share(m.value)
    if prepared.positive is not None:
        positive = prepared.classes[prepared.positive]
        other = prepared.classes[1 - prepared.positive]
        n_positive = int(np.sum(prepared.codes() == prepared.positive))
        return (
            f"On rows it had not seen, the chosen model ranks a row of '{positive}' above one of "
            f"'{other}' {often} of the time ({shown}; {count(prepared.n, 'row')}, {n_positive:,} "
            f"of '{positive}')."
        )
    order = "lower from the higher" if prepared.task == "ordered classes" else "one from the other"
    return (
        f"Given two rows of different classes that it had not seen, the chosen model tells the "
        f"{order} {often} of the time ({shown}; {count(prepared.n, 'row')} of "
        f"{len(prepared.classes)} classes)."
    )


def _finding_of_numbers(result: ProcedureResult) -> str:
    m = result.measure
    within = "" if m.interval is None else f" ({_shares(m.interval)})"
    text = f"On rows it had not seen, the chosen model explains {share(m.value)} of the variance"
    errors = [e for e in result.others if e.name == "typical error"]
    text += within
    if errors and errors[0].baseline is not None:
        text += (
            f"; its typical error is {digits3(errors[0].value)}, against "
            f"{digits3(errors[0].baseline)} for always answering the mean"
        )
    return f"{text} ({count(m.n, 'row')})."


def _no_evidence(prepared: Prepared, result: ProcedureResult) -> str:
    m = result.measure
    n = sum(c.key != BASELINE_KEY and c.score is not None for c in result.comparison.candidates)
    best = f"The best of {n} models does" if n > 1 else f"{result.name} does"
    if prepared.task == "numbers":
        always, value = "always answering the mean", _value_and_interval(m)
    else:
        always, value = f"always answering '{_commonest(prepared)}'", _value_and_interval(m)
    text = f"{best} not beat {always} on rows it had not seen ({value}, n = {prepared.n:,})."
    text += " That is not proof that nothing is there"
    if m.interval is not None and np.isfinite(m.interval.high):
        reach = max(m.interval.high, m.baseline or 0.0)
        most = share(reach) if m.name == "R²" else f"{m.name} {_as(m, reach)}"
        text += f": these rows cannot rule out anything up to {most}"
    return f"{text}."


def _too_few(prepared: Prepared, measure: MeasureEstimate) -> str:
    text = f"There are only {count(prepared.n, 'row')}"
    if prepared.task != "numbers":
        sizes = np.bincount(prepared.codes(), minlength=len(prepared.classes))
        rarest = int(sizes.argmin())
        verb = "is" if sizes[rarest] == 1 else "are"
        text = f"Only {count(int(sizes[rarest]), 'row')} {verb} '{prepared.classes[rarest]}'"
    if measure.interval is None:
        return f"{text}: not enough for an interval of the {measure.name}."
    return (
        f"{text}; the {percent(measure.interval.level)} interval of the {measure.name} is "
        f"{interval_text(measure.interval)} (guessing {number_as(measure.baseline or 0.0, 2)})."
    )


def _leak(measure: MeasureEstimate, leaks: list[DataProblem]) -> str:
    names = list(dict.fromkeys(name for leak in leaks for name in leak.columns))
    quoted = listed([f"'{name}'" for name in names])
    one = len(names) == 1
    return (
        f"{_value_and_interval(measure)}, but {leaks[0].title}. {'Is' if one else 'Are'} {quoted} "
        f"known when you predict? If not, leave {'it' if one else 'them'} out (--drop) and ask "
        f"again. [{LEAK}]"
    )


def _look_for_a_leak(problems: Problems) -> str:
    checked = (
        f" No single column gives it away [{LEAK} not found]." if LEAK in problems.checked else ""
    )
    return (
        f"Real problems are rarely that easy.{checked} Make sure that every column is known when "
        "you predict, and that no row is a copy or a follow-up of another."
    )


def _how(result: ProcedureResult) -> str:
    how = result.how.strip().rstrip(".")
    return f"{how[:1].upper()}{how[1:]}." if how else ""


# --- numbers --------------------------------------------------------------------------------------


def _value_and_interval(m: MeasureEstimate) -> str:
    if m.interval is None:
        return f"{m.name} {digits3(m.value)}, no interval"
    if m.name == "R²":
        return f"{share(m.value)} of the variance, {_shares(m.interval)}"
    level = f"{percent(m.interval.level)} interval"
    return f"{m.name} {_as(m, m.value)}, {level} {interval_text(m.interval)}"


def _shares(interval: Interval) -> str:
    """ "95 % interval 55–66 %" """
    low, high = share(interval.low), share(interval.high)
    ends = f"{low.removesuffix(' %')}–{high}" if interval.low >= 0 else f"{low} to {high}"
    return f"{percent(interval.level)} interval {ends}"


def _as(m: MeasureEstimate, value: float) -> str:
    """A value with the decimals of the measure's interval."""
    return digits3(value) if m.interval is None else number_as(value, interval_decimals(m.interval))


def _commonest(prepared: Prepared) -> str:
    sizes = np.bincount(prepared.codes(), minlength=len(prepared.classes))
    return prepared.classes[int(sizes.argmax())]
