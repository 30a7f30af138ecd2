"""Certificates, warnings and audits in words.

What only some models have to say is in ``_explain_linear.py``, ``_explain_penalised.py``,
``_explain_classes.py``, ``_explain_neighbors.py``, ``_explain_clusters.py``,
``_explain_linkage.py``, ``_explain_mixture.py``, ``_explain_ncfs.py``, ``_explain_svm.py`` and
``_explain_firth.py``; directions that a claim leaves out are worded in ``_explain_left_out.py``,
coefficients that it leaves open in ``_explain_coefficients.py``.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import (
    _explain_classes,
    _explain_clusters,
    _explain_firth,
    _explain_linear,
    _explain_linkage,
    _explain_mixture,
    _explain_ncfs,
    _explain_neighbors,
    _explain_penalised,
    _explain_svm,
)
from ._explain_coefficients import known_only_to
from ._explain_left_out import among, left_out_rows
from ._explain_linear import repeated_columns
from ._words import best_possible, count, number, printable, small

if TYPE_CHECKING:
    from .certificate import Certificate

__all__ = ["distance", "explain", "not_certified", "note", "one_line", "repeated_columns"]

MARK = {
    "optimal": "[OK]", "stationary": "[OK]", "exact": "[OK]", "nearly optimal": "[!]",
    "not proven": "[?]", "local optimum": "[OK]", "degenerate": "[!]",
}  # fmt: skip
TITLE = {"contradicted": "CONTRADICTED", "other rows": "NOT THE ROWS IT WAS FITTED ON"}
DOES_NOT_SAY = "that the model is true, the data sound, or that it predicts well"
SQUARES = "certus.definitions.least_squares"
WORDS = {  # of a definition; of classifiers where it is not named
    SQUARES: _explain_linear,
    "certus.definitions.penalised": _explain_penalised,
    "certus.definitions.huber_regression": _explain_penalised,
    "certus.definitions.neighbors": _explain_neighbors,
    "certus.definitions.linkage": _explain_linkage,
    "certus.definitions.diana": _explain_linkage,
    "certus.definitions.kmeans": _explain_clusters,
    "certus.definitions.mixture": _explain_mixture,
    "certus.definitions.ncfs": _explain_ncfs,
    "certus.definitions.lssvm": _explain_svm,
    "certus.definitions.lssvm_primal": _explain_svm,
    "certus.definitions.svc": _explain_svm,
    "certus.definitions.firth": _explain_firth,
}


def _words_of(c: "Certificate") -> Any:
    return WORDS.get(c.definition, _explain_classes)


def _convex(c: "Certificate") -> bool:
    """False: nothing is claimed of an optimum."""
    return bool(c.found.get("convex", True))


def _aims_elsewhere(c: "Certificate") -> bool:
    """It does not claim to be at an optimum, and is at none."""
    return c.status == "not a local optimum" and "aims" in c.found["iteration"]


def one_line(c: "Certificate") -> str:
    if c.status == "other rows":
        return printable(f"Certificate({c.notes[-1]})")
    if c.status == "contradicted":
        return printable(f"Certificate(contradicted: {c.found['wrong'][0]})")
    if c.kind == "exact" and c.status == "not proven":
        return printable(f"Certificate(not proven: {c.found['unproven']})")
    if c.kind == "exact":
        return printable(f"Certificate(exact: {_words_of(c).claim(c)})")
    if c.status == "no finite optimum":
        return printable(f"Certificate(no finite optimum: {_explain_classes.separates(c)})")
    status = f"stopped {c.found['stopped']}" if c.status == "stopped" else c.status
    if c.kind == "local":
        return printable(f"Certificate({status}: {_words_of(c).claim(c)})")
    near = distance(c) + known_only_to(c) if c.certified else _words_of(c).best(c)
    status += among(c)  # a bound that is not reached holds among the same models
    return printable(f"Certificate({status}: objective {number(c.objective, 7)}, {near})")


def distance(c: "Certificate") -> str:
    if c.bound is None:
        return str(_words_of(c).stationary(c))
    return f"at most {small(c.gap)} above the best possible"


def explain(c: "Certificate") -> str:
    n, p = c.shape
    title = TITLE.get(c.status, c.status.upper())
    shape = f"{count(n, 'row')} × {count(p, 'column')}"
    mark = "[i]" if _aims_elsewhere(c) else MARK.get(c.status, "[!!]")
    title += among(c) + known_only_to(c)
    lines = [f"{mark} {title}   {c.model}, {shape}"]
    lines += [f"{label:<14} {text}" for label, text in _body(c)]
    return printable("\n".join(lines))


def verb(c: "Certificate") -> str:
    """What was done with the formula."""
    if c.kind == "exact":
        return "claimed"
    if c.definition and not _convex(c) and _words_of(c) is _explain_svm:
        return "stationary"  # what has a saddle is not minimised
    return "maximised" if c.maximised else "minimised"


def _body(c: "Certificate") -> list[tuple[str, str]]:
    wrong = c.found.get("wrong", [])
    rows = [(verb(c).capitalize(), c.formula)]
    if c.status == "other rows":
        rows.append(("What is wrong", c.notes[-1]))
        rows.append(
            ("What to do", "give the X, y and sample_weight of the fit, rows in the same order")
        )
    elif c.status == "stopped":
        rows.append(("Objective", f"{number(c.objective, 7)}; {_words_of(c).best(c)}"))
        rows.append(("What is wrong", f"stopped {c.found['stopped']}"))
        rows.append(("What to do", "fit again and let it finish"))
    elif c.status == "no finite optimum":
        rows += _explain_classes.no_finite_optimum(c)
    elif c.kind == "exact" and not c.definition:
        rows.append(("Not proven", f"{c.found['unproven']}."))
        rows.append(("Checked by", "nothing: the answers are the search's own"))
        return rows
    elif c.kind in ("exact", "local"):
        rows += _words_of(c).certified(c) if c.certified else _words_of(c).refused(c)
    elif c.residual <= c.tol:
        rows += _words_of(c).certified(c)
        rows += left_out_rows(c)
        rows += [("What is wrong", text) for text in wrong]
    elif not c.definition:
        rows += [("Objective", number(c.objective, 7)), ("Not proven", f"{c.found['unproven']}.")]
        rows.append(("Checked by", "nothing: the numbers are the solver's own"))
        return rows
    else:
        rows += _words_of(c).refused(c)
        rows += left_out_rows(c)
    notes = c.notes[:-1] if c.status == "other rows" else c.notes
    rows += [("Note", f"{text}.") for text in notes]
    asked = _words_of(c).ASKED if c.kind == "exact" else "solver was not asked"
    rows.append(("Checked by", f"{c.definition}, from the data; the {asked}"))
    if c.certified:
        of_kind = c.kind in ("exact", "local")
        rows.append(("Does not say", _words_of(c).DOES_NOT_SAY if of_kind else DOES_NOT_SAY))
    return rows


def note(c: "Certificate") -> str:
    from . import __version__

    n, p = c.shape
    if not c.certified:
        said = one_line(c)[12:-1]
        if c.kind == "local":
            return printable(f"{c.model}: {said}.")
        return printable(f"Not certified: {said}." if _convex(c) else f"{said.capitalize()}.")
    if c.kind in ("exact", "local"):
        return printable(f"{_words_of(c).note(c)} (certus {__version__}, {c.definition}).")
    if not _convex(c):
        return printable(
            f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) is at {distance(c)}{among(c)}. "
            f"The objective, {c.formula}, is {number(c.objective, 7)} there, recomputed from the "
            f"data (certus {__version__}, {c.definition})."
        )
    near = f"is {distance(c)}" if c.bound is not None else f"is stationary: {distance(c)}"
    near += among(c) + known_only_to(c)
    return printable(
        f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) minimises {c.formula}; the objective "
        f"{number(c.objective, 7)} was recomputed from the data and {near} "
        f"(certus {__version__}, {c.definition})."
    )


def not_certified(c: "Certificate", stopped_at: int | None = None) -> str:
    """What a fit warns of. ``stopped_at``: the max_iter that ended it."""
    if c.kind == "exact" and c.definition and c.status != "not proven":
        return printable(f"{c.model}: {_words_of(c).first_wrong(c)}.")
    if c.kind == "exact":
        return printable(f"{c.model} is not certified: {c.found['unproven']}.")
    if c.status == "contradicted":
        return f"{c.model}: {'; '.join(c.found['wrong'])}."
    if c.kind == "local":
        return printable(_words_of(c).not_certified(c, stopped_at))
    if stopped_at is not None:
        return printable(_stopped(c, stopped_at))
    if not c.definition:
        return printable(f"{c.model} is not certified: {c.found['unproven']}.")
    if c.status == "not proven":
        return printable(
            f"{c.model} is not certified: objective {number(c.objective, 7)}, and there are "
            f"{c.found['unproven']}. No step was found that lowers it: "
            f"{_words_of(c).to_prove_it(c)}."
        )
    if not _convex(c):
        how = (
            f"stopped {c.found['stopped']}"
            if c.status == "stopped"
            else "is not at a stationary point"
        )
        return printable(
            f"{c.model} {how}: objective {number(c.objective, 7)}, and "
            f"{_words_of(c).too_steep(c)}. See certificate_.explain()."
        )
    best = best_possible(c.bound)
    share = c.gap / c.bound if c.bound else np.inf
    percent = f"up to {number(100 * share, 2)} % too high" if share < np.inf else "not bounded"
    if c.status == "stopped":
        return printable(
            f"{c.model} stopped {c.found['stopped']}: objective {number(c.objective, 7)}, the best "
            f"possible is {best}, so {percent}. Let it run longer."
        )
    cause = _words_of(c).likely_cause(c)
    return printable(
        f"{c.model} is not certified: objective {number(c.objective, 7)}, the best possible is "
        f"{best}, so {percent}. "
        + (f"Likely cause: {cause}. " if cause else "")
        + "See certificate_.explain()."
    )


def _stopped(c: "Certificate", stopped_at: int) -> str:
    if not _convex(c):
        return (
            f"{c.model} stopped at max_iter={stopped_at} before a stationary point: objective "
            f"{number(c.objective, 4)}, and {_words_of(c).too_steep(c)}. Raise max_iter."
        )
    best = f"the best possible is {best_possible(c.bound)}"
    too_high, instead = "", " or use solver='auto'"
    if c.found["iteration"].get("one_solver"):
        instead = ""
    if c.bound:
        low, high = number(c.bound, 4), number(c.objective, 4)
        best = f"best possible between {low} and {high}"
        too_high = f", so up to {number(100 * c.gap / c.bound, 2)} % too high"
    return (
        f"{c.model} stopped at max_iter={stopped_at} before the optimum: objective "
        f"{number(c.objective, 4)}, {best}{too_high}. Raise max_iter{instead}."
    )
