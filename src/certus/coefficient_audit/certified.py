"""What was found as a ``CoefficientAudit``: certificates, differences of each term, decisions."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..audit import Reading
from ..certificate import Certificate, certify_reading
from ..certificate.decisions import comparison
from ..certificate.decisions.record import Decisions
from ..data.rows import Rows
from ..text.format import number
from .claims import claims_of
from .judge import MAX_RATIO, Judgement, at_strengths
from .matching import Matcher, Matches, PresetFit
from .mistakes import Mistake, mean_residual, rounded_too_far
from .objective import Objective
from .result import AuditedTerm, CoefficientAudit, FittingObjective
from .rows import AuditedRows
from .standard_errors import StandardErrors, compared
from .table.read_table import CoefficientTable

TO_THE_DIGITS = "optimal to the digits printed"
FEWER_DIGITS = "optimal, to fewer digits than printed"
TOO_COARSE = "rounded too far to tell"
NOT_OPTIMAL = "not optimal"
NOT_PROVEN = "not proven"
NO_OPTIMUM = "no finite optimum"
CHANGED_SHARE = 0.01  # of the typical error: a prediction that moves by less does not count


def conclude(
    table: CoefficientTable, found: AuditedRows, matcher: Matcher, matches: Matches,
    mistake: Mistake | None, notes: tuple[str, ...], tol: float, what_fails: str,
) -> CoefficientAudit:  # fmt: skip
    """Return the result of an audit; ``what_fails``: what is said where nothing fits."""
    shown, verdict = _shown(found, matcher, matches, mistake)
    errors = _errors(table, found, shown, verdict)
    certificate, at_optimum, decisions = _certified(found, shown, tol)
    if NO_OPTIMUM in {one.status for one in (certificate, at_optimum) if one is not None}:
        verdict, errors, mistake = NO_OPTIMUM, None, None
    elif verdict in (TO_THE_DIGITS, FEWER_DIGITS) and at_optimum and not at_optimum.certified:
        verdict, errors = NOT_PROVEN, None
    fits, weak = matches.fits, matches.weak
    cured: tuple[PresetFit, ...] = ()
    if mistake is not None and mistake.matches is not None:
        cured = mistake.matches.fits
    optimal = verdict in (TO_THE_DIGITS, FEWER_DIGITS)
    if optimal and errors is not None and not errors.agree:
        notes = (*notes, _errors_note(table, errors))
    elif table.errors is not None and optimal and errors is None:
        notes = (*notes, "the standard errors were not recomputed: the objective has a penalty")
    nearest = None
    if verdict == NOT_OPTIMAL and mistake is None:
        nearest = f"{what_fails}. Nearest: {_nearest(found, matches, shown)}"
    n, p = found.design.X.shape
    return CoefficientAudit(
        verdict=verdict,
        holds=optimal and (errors is None or errors.agree),
        shape=(n, p),
        digits=table.estimates.digits,
        fits=tuple(map(_public, fits)),
        weak=tuple(map(_public, weak)),
        mistake=None if mistake is None else _mistake_words(mistake, cured),
        nearest=nearest,
        terms=_terms(table, found, shown, errors),
        cov=errors.cov if errors is not None and errors.agree else None,
        certificate=certificate,
        optimum_certificate=at_optimum,
        decisions=decisions,
        n_omitted=found.n_omitted,
        notes=notes,
    )


def _public(fit: PresetFit) -> FittingObjective:
    return FittingObjective(fit.preset.name, dict(fit.strengths), dict(fit.ranges))


def _shown(
    found: AuditedRows, matcher: Matcher, matches: Matches, mistake: Mistake | None
) -> tuple[Judgement | None, str]:
    """Return the judgement that the terms are shown by, and the verdict."""
    if matches.fits:
        best = matches.fits[0]
        shown = matcher.at(best, found.printed) if best.ranges else best.judgement
        if rounded_too_far(shown) and shown.to_the_digits:
            return shown, TOO_COARSE
        return shown, TO_THE_DIGITS if best.judgement.to_the_digits else FEWER_DIGITS
    near = matches.nearest
    if mistake is not None and mistake.matches is not None:
        near = mistake.matches.fits[0].judgement
    if near is None:
        return None, NOT_OPTIMAL
    return (
        at_strengths(near.structure, matcher.objective(near.structure), found.printed, near.l1,
                     near.l2),
        NOT_OPTIMAL,
    )  # fmt: skip


def _errors(
    table: CoefficientTable, found: AuditedRows, shown: Judgement | None, verdict: str
) -> StandardErrors | None:
    if table.errors is None or shown is None or shown.optimum is None or verdict == NOT_OPTIMAL:
        return None
    if shown.structure.shape != "none":
        return None
    return compared(shown.objective, shown.optimum.v, table.errors, found.order)


def _errors_note(table: CoefficientTable, errors: StandardErrors) -> str:
    assert table.errors is not None  # they were compared
    shown = [
        f"'{table.names[j]}' {table.errors.texts[j]}, classical "
        f"{number(float(errors.recomputed[j]), 5)}"
        for j in errors.wrong[:3]
    ]
    more = f" and {len(errors.wrong) - 3} more" if len(errors.wrong) > 3 else ""
    return (
        "the standard errors are not those of this model, neither classical nor quasi-likelihood "
        f"nor HC0 to HC3: {'; '.join(shown)}{more}"
    )


def _mistake_words(mistake: Mistake, cured: Sequence[PresetFit]) -> str:
    if not cured:
        return mistake.text
    return f"{mistake.text}. With that undone, it is an optimum of {cured[0].words}"


def _nearest(found: AuditedRows, matches: Matches, shown: Judgement | None) -> str:
    """Return the objective that is missed by least, and what its intercept says."""
    near = matches.nearest
    if near is None:
        return "there are too few coefficients beside the strengths to tell objectives apart"
    s = near.structure
    words = {"none": "without a penalty", "l1": "with L1", "l2": "with L2"}
    penalty = words.get(s.shape, "with L1 and L2")
    metric = ", standardised" if s.standardized else ""
    where = ", intercept penalised" if s.intercept_penalized else ""
    if near.optimum is None and shown is not None and shown.optimum is not None:
        share, ratio = shown.share, shown.ratio
    else:
        share, ratio = near.share, near.ratio
    text = f"{s.loss} loss {penalty}{metric}{where}: "
    if shown is not None and shown.optimum is None and near.optimum is None:
        text += "no finite optimum was found, perhaps since the classes are separated"
    elif np.isfinite(share):
        text += f"the objective misses its optimum by {number(share, 2)} of the null model's"
    else:
        text += "it has no finite optimum"
    if np.isfinite(ratio) and shown and shown.optimum and not found.full_digits:
        text += f", a coefficient by {number(ratio / 2, 2)} units of its last digit"
    off = mean_residual(found.design, found.printed, near)
    return f"{text}; {off}" if off else text


# --- terms ----------------------------------------------------------------------------------------


def _terms(
    table: CoefficientTable, found: AuditedRows, shown: Judgement | None,
    errors: StandardErrors | None,
) -> tuple[AuditedTerm, ...]:  # fmt: skip
    k = len(table.terms)
    optimum, units, within = np.full(k, np.nan), np.full(k, np.nan), np.zeros(k, dtype=bool)
    if shown is not None and shown.optimum is not None:
        order = list(found.order)
        difference = shown.printed - shown.optimum.v
        optimum[order] = shown.optimum.v / shown.objective.d
        units[order] = difference / (2 * shown.h)
        within[order] = np.abs(difference) - shown.optimum.error <= MAX_RATIO * shown.h
    rows = []
    for j in range(k):
        row = AuditedTerm(
            table.names[j], table.estimates.texts[j], float(optimum[j]), float(units[j]),
            bool(within[j]),
        )  # fmt: skip
        if errors is not None and table.errors is not None:
            row = replace(
                row, printed_error=table.errors.texts[j], error=float(errors.recomputed[j]),
                error_agrees=j not in errors.wrong,
            )  # fmt: skip
        rows.append(row)
    return tuple(rows)


# --- certificates ---------------------------------------------------------------------------------


def _certified(
    found: AuditedRows, shown: Judgement | None, tol: float
) -> tuple[Certificate | None, Certificate | None, Decisions | None]:
    """Return the certificates of the printed coefficients and of the optimum, and the decisions."""
    if shown is None:
        return None, None, None
    classes = None if found.classes is None else np.array(found.classes)
    rows, printed, optimum = claims_of(shown, classes)
    names = _column_names(shown.objective)
    with np.errstate(all="ignore"):
        certificate = certify_reading(printed, rows, names, tol)
        best = None if optimum is None else certify_reading(optimum, rows, names, tol)
    decisions = None
    if optimum is not None:
        decisions = _decisions(printed, rows, shown, tol)
        certificate = replace(certificate, decisions=decisions)
    return certificate, best, decisions


def _column_names(objective: Objective) -> tuple[str, ...]:
    names = objective.design.names
    penalized = objective.design.intercept and objective.intercept_penalized
    return ("(Intercept)", *names) if penalized else names


def _decisions(printed: Reading, rows: Rows, shown: Judgement, tol: float) -> Decisions | None:
    if printed.definition != "log_link":
        return comparison.compare(printed, rows, tol, True)[0]
    objective, optimum = shown.objective, shown.optimum
    assert optimum is not None
    with np.errstate(all="ignore"):
        before = np.exp(objective.scores(shown.printed))
        after = np.exp(objective.scores(optimum.v))
    s = objective.design.weights
    counts = np.flatnonzero(s > 0)
    change = np.abs(before - after)[counts]
    if not np.isfinite(change).all():
        return None
    unit = CHANGED_SHARE * float(np.sqrt(s @ (objective.design.y - after) ** 2 / s.sum()))
    at = int(np.argmax(change))
    return Decisions(
        n=len(counts), n_changed=int((change > unit).sum()), answer="prediction",
        max_change=float(change[at]), row=int(counts[at]), bound=None, unit=unit,
        objective=objective.value(optimum.v, shown.l1, shown.l2) / float(s.sum()),
    )  # fmt: skip
