"""An audit of coefficients as text and as a box in a notebook: the verdict first, on one screen."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..text.box import BOX_STYLE, SCROLL_STYLE, preformatted
from ..text.format import count, number, printable, small
from ..text.table import ResultTable

if TYPE_CHECKING:
    from .result import AuditedTerm, CoefficientAudit, FittingObjective

MARK = {
    "optimal to the digits printed": "[OK]", "optimal, to fewer digits than printed": "[OK]",
    "rounded too far to tell": "[?]", "not optimal": "[!!]",
    "not proven": "[?]", "no finite optimum": "[!!]",
}  # fmt: skip
ICON = {"[OK]": "✔", "[?]": "◐", "[!]": "◐", "[!!]": "✖"}
LABEL_WIDTH = 14
MAX_LISTED = 4  # objectives on a line
MAX_TERMS = 40  # below the text; ``table`` has all
FULL_DIGITS = 15
SHOWN_DIGITS = 6  # of numbers that were printed in full
WIDE_RANGE = 0.05  # of a strength, as a share of it: the digits then leave it open


def mark(audit: "CoefficientAudit") -> str:
    """Return the mark of the verdict; of optimal coefficients with wrong errors, a warning."""
    found = MARK[audit.verdict]
    return "[!]" if found == "[OK]" and not audit.holds else found


def one_line(audit: "CoefficientAudit") -> str:
    """Return the audit as its repr shows it."""
    if audit.fits:
        text = f"{audit.verdict}: {audit.fits[0]}"
        if len(audit.fits) > 1:
            text += f" and {count(len(audit.fits) - 1, 'objective')} more"
        if not audit.holds and audit.verdict.startswith("optimal"):
            text += "; its standard errors are not"
    else:
        text = f"{audit.verdict}: {audit.mistake or audit.nearest}"
    return printable(f"CoefficientAudit({text})")


def explain(audit: "CoefficientAudit") -> str:
    """Return the whole finding as text."""
    lines = [f"{mark(audit)} {audit.verdict.upper()}   {_shape(audit)}"]
    lines += [f"{label:<{LABEL_WIDTH}} {text}" for label, text in labeled_lines(audit)]
    lines.append("")
    table = table_of(audit)
    lines.append(str(table))
    return printable("\n".join(lines))


def _shape(audit: "CoefficientAudit") -> str:
    n, _ = audit.shape
    return f"{count(len(audit.terms), 'coefficient')}, {count(n, 'row')}"


def labeled_lines(audit: "CoefficientAudit") -> list[tuple[str, str]]:
    """Return the lines below the verdict."""
    lines: list[tuple[str, str]] = []
    if audit.fits:
        lines.append(("An optimum of", _listed(audit.fits)))
        if len(audit.fits) > 1:
            lines.append(("", "the data cannot tell these apart: they have one optimum"))
    if audit.weak and not _in_full(audit):
        lines.append(("Or penalised", _weak(audit.weak)))
    if audit.mistake:
        lines.append(("Likely mistake", audit.mistake))
    if audit.nearest:
        lines.append(("Why", audit.nearest))
    if audit.verdict == "rounded too far to tell":
        lines.append(("Why", f"with {count(audit.digits, 'digit')}, rounding alone may undo a "
                      "quarter or more of what the fit gains: give more digits"))  # fmt: skip
    if audit.verdict == "not proven":
        why = "the optimum that the table agrees with could not be certified"
        lines.append(
            ("Why", f"{why}: the classes may be nearly separated, or columns repeat others")
        )
    if audit.verdict == "no finite optimum":
        lines.append(("Why", "the classes are separated: coefficients grow without limit, and the "
                      "table is where a solver gave up"))  # fmt: skip
    lines += _digits(audit)
    if audit.cov:
        lines.append(("Std errors", f"{audit.cov}: all agree"))
    lines += _decisions(audit)
    if audit.optimum_certificate is not None:
        lines.append(("Proof", _proof(audit)))
    lines += [("Note", f"{text}.") for text in audit.notes]
    if audit.holds:
        lines.append(("Does not say", "whether the model is the right one, or the rows"))
    return lines


def _listed(fits: "tuple[FittingObjective, ...]") -> str:
    shown = "; ".join(f"{fit}{_open_ranges(fit)}" for fit in fits[:MAX_LISTED])
    return shown if len(fits) <= MAX_LISTED else f"{shown}; and {len(fits) - MAX_LISTED} more"


def _open_ranges(fit: "FittingObjective") -> str:
    """Return the ranges of strengths that the digits leave open."""
    wide = [
        f"{name} {low:.2g} to {high:.2g}"
        for name, (low, high) in fit.ranges.items()
        if high - low > WIDE_RANGE * max(abs(high), abs(low))
    ]
    return f" [{', '.join(wide)}]" if wide else ""


def _weak(fits: "tuple[FittingObjective, ...]") -> str:
    texts: dict[str, str] = {}
    for fit in fits:
        name, (low, high) = next(iter(fit.ranges.items()))
        limit = f"≥ {low:.2g}" if name == "C" else f"≤ {high:.2g}"
        texts.setdefault(fit.name, f"{fit.name}({name} {limit})")
    shown = "; ".join([*texts.values()][:2])
    more = f"; and {len(texts) - 2} more" if len(texts) > 2 else ""
    return f"too weakly for any digit to show: {shown}{more}"


def _digits(audit: "CoefficientAudit") -> list[tuple[str, str]]:
    known = [term for term in audit.terms if np.isfinite(term.optimum)]
    if not known:
        return []
    inside = sum(term.within for term in known)
    given = "in full" if _in_full(audit) else f"with {count(audit.digits, 'digit')}"
    text = f"{inside} of {len(known)} are the optimum's, rounded (printed {given})"
    if inside < len(known):
        worst = min(known, key=agreement)
        digits = count(max(int(agreement(worst)), 0), "digit")
        text += f"; the farthest is '{worst.term}', which agrees to {digits}"
    return [("Coefficients", text)]


def _in_full(audit: "CoefficientAudit") -> bool:
    return audit.digits >= FULL_DIGITS


def agreement(term: "AuditedTerm") -> float:
    """Return how many significant digits of a term are those of the optimum."""
    value = float(term.printed)
    if value == term.optimum:
        return 17.0
    scale = max(abs(value), abs(term.optimum))
    return float(np.floor(-np.log10(abs(value - term.optimum) / scale)))


def _decisions(audit: "CoefficientAudit") -> list[tuple[str, str]]:
    d = audit.decisions
    if d is None:
        return []
    if d.answer == "prediction":
        unit = f" by more than {number(d.unit, 2)}" if d.unit is not None else ""
        text = f"{d.n_changed:,} of {count(d.n, 'prediction')} differ from the optimum's{unit}"
    else:
        text = f"{d.n_changed:,} of {count(d.n, 'label')} differ from those at the optimum"
    text += f"; the largest change of a {d.answer} is {number(d.max_change, 2)} (row {d.row})"
    if d.bound is not None:
        text += f", proven to be at most {small(d.bound)}"
    return [("Decisions", text)]


def _proof(audit: "CoefficientAudit") -> str:
    best = audit.optimum_certificate
    assert best is not None
    text = f"the optimum is {best.status}"
    if np.isfinite(best.gap):
        text += f", its objective at most {small(best.gap)} above the best possible"
    return f"{text} ({best.definition}); minimise {best.formula}"


def table_of(audit: "CoefficientAudit") -> ResultTable:
    """Return the terms as a table; of numbers that were printed in full, a few digits."""
    terms, full = audit.terms, _in_full(audit)
    columns: dict[str, list[object]] = {
        "term": [term.term for term in terms],
        "printed": [_shortened(term.printed) if full else term.printed for term in terms],
        "optimum": [_as_printed(term, full) for term in terms],
    }
    if full:
        known = [np.isfinite(term.optimum) for term in terms]
        digits = [agreement(term) if k else np.nan for term, k in zip(terms, known, strict=True)]
        columns["digits agree"] = [min(d, FULL_DIGITS) for d in digits]
        note = "digits agree: significant digits of the optimum that were printed"
    else:
        columns["units off"] = [term.units for term in terms]
        columns[""] = [_agrees(term) for term in terms]
        note = "units off: (printed − optimum) in units of the last digit printed"
    if any(term.error is not None for term in terms):
        errors = [term.printed_error or "" for term in terms]
        columns["std error"] = [_shortened(text) for text in errors] if full else list(errors)
        columns["recomputed"] = [term.error if term.error is not None else np.nan for term in terms]
    return ResultTable(columns, notes=[note])


def _shortened(text: str) -> str:
    return number(float(text), SHOWN_DIGITS) if text else ""


def _agrees(term: "AuditedTerm") -> str:
    if term.within:
        return "ok"
    return "differs" if np.isfinite(term.units) else ""


def _as_printed(term: "AuditedTerm", full: bool) -> str:
    """Return the optimum with two digits more than were printed."""
    if not np.isfinite(term.optimum):
        return "–"
    if full:
        return number(term.optimum, SHOWN_DIGITS)
    digits = len(term.printed.partition("e")[0].lstrip("+-0.").replace(".", ""))
    return number(term.optimum, min(max(digits + 2, 4), 17))


def html(audit: "CoefficientAudit") -> str:
    """Return a box for notebooks."""
    head = f"{ICON[mark(audit)]} {audit.verdict.capitalize()}"
    rows = "".join(
        f"<div><strong>{escape(label)}</strong> {escape(text)}</div>"
        for label, text in labeled_lines(audit)[:4]
    )
    return (
        f'<div style="{BOX_STYLE}" role="note" aria-label="audit of coefficients">'
        f"<strong>{escape(head)}</strong> · {escape(_shape(audit))}{rows}"
        f'<div style="{SCROLL_STYLE}">{table_of(audit)._repr_html_()}</div>'
        f"<details><summary>Details</summary>{preformatted(explain(audit))}</details></div>"
    )
