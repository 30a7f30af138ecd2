"""Texts of certificates, warnings and audits that are the same for all models.

The texts of a family are in its own module (``registry.py`` says which).
"""

from typing import TYPE_CHECKING

from ...text.format import count, printable
from ..pages.lines import PageToRead, page_of
from ..parts import in_words
from ..registry import claim_of
from .left_out import among
from .optimum import known_only_to
from .stopping import decision_rows
from .wording import Lines

if TYPE_CHECKING:
    from ..certificate import Certificate

MARK = {
    "optimal": "[OK]", "stationary": "[OK]", "exact": "[OK]", "nearly optimal": "[!]",
    "not proven": "[?]", "local optimum": "[OK]", "degenerate": "[!]",
}  # fmt: skip
BELOW_HEADLINE = ("Note", "Checked by", "Does not say")
PROBABLY_OTHER_ROWS = "probably not the rows it was fitted on"
TITLE = {"contradicted": "CONTRADICTED", "other rows": "NOT THE ROWS IT WAS FITTED ON"}


def one_line(c: "Certificate") -> str:
    """The certificate as its repr shows it."""
    return printable(f"Certificate({status_and_claim(c)})")


def status_and_claim(c: "Certificate") -> str:
    """Status and claim on one line, in all the characters that they need."""
    if c.status == "other rows":
        return c.notes[-1]
    if c.status == "contradicted" and c._finding.contradictions:  # a page names none
        return f"contradicted: {c._finding.contradictions[0]}"
    status = f"stopped {c._finding.stopped}" if c.status == "stopped" else c.status
    if c.status != "no finite optimum":
        status += among(c)  # an unreached bound, too, holds only among these models
    doubt = f"; {PROBABLY_OTHER_ROWS}" if c.other_rows else ""
    return f"{status}: {claim_of(c).wording.claim(c)}{doubt}"


def explain(c: "Certificate") -> str:
    """The whole finding as text."""
    return printable("\n".join([_title(c), *_as_text(labeled_lines(c))]))


def headline(c: "Certificate") -> str:
    """Verdict, what it means, how far the model is from the best possible, and the remedy."""
    lines = [
        (label, text)
        for label, text in labeled_lines(c)
        if label not in BELOW_HEADLINE and text != c.formula
    ]
    return printable("\n".join([_title(c), *_as_text(lines)]))


def _as_text(lines: Lines) -> list[str]:
    return [f"{label:<14} {text}" for label, text in lines]


def _title(c: "Certificate") -> str:
    """The first line of ``explain``: verdict, model and shape."""
    n, p = c.shape
    title = TITLE.get(c.status, c.status.upper())
    shape = f"{count(n, 'row')} × {count(p, 'column')}"
    # a solver that does not aim at an optimum has not failed where it is at none
    no_failure = c.status == "not a local optimum" and c._finding.iteration.aims is not None
    mark = "[i]" if no_failure else MARK.get(c.status, "[!!]")
    title += among(c) + known_only_to(c)
    if c.other_rows:
        mark, title = "[?]", PROBABLY_OTHER_ROWS.upper()
    return f"{mark} {title}   {c.model}, {shape}"


def labeled_lines(c: "Certificate") -> Lines:
    """The lines of ``explain`` below its title, in all the characters that they need."""
    words = claim_of(c).wording
    rows = [*decision_rows(c), (words.verb(c).capitalize(), c.formula)]
    notes = c.notes if c.definition else ()
    if c.status == "other rows":
        remedy = "give the X, y and sample_weight of the fit, rows in the same order"
        rows += [("What is wrong", c.notes[-1]), ("What to do", remedy)]
        notes = c.notes[:-1]
    elif c.other_rows:
        rows += _other_rows(c)
    elif c.status == "stopped":
        rows += words.stopped_rows(c)
    else:
        rows += words.lines(c)
    if c.parts:
        rows.append(("Parts", in_words(c.parts)))
    rows += [("Note", f"{text}.") for text in notes]
    rows.append(("Checked by", words.checked_by(c) + _page(c)))
    if c.certified:
        rows.append(("Does not say", words.DOES_NOT_SAY))
    return rows


def _other_rows(c: "Certificate") -> Lines:
    """Lines on a claim that fails because the rows are probably others."""
    return [
        ("What is wrong", f"these are {PROBABLY_OTHER_ROWS}: {'; '.join(c.other_rows)}"),
        ("Likely cause", "other rows or weights, or a model changed after its fit; not its solver"),
        ("What to do", "give the X, y and sample_weight of the fit"),
        ("On these rows", f"{c.status}: {claim_of(c).wording.claim(c)}"),
    ]


def _page(c: "Certificate") -> str:
    """The page that states the claim, and its lines; empty where the model has no page."""
    claim, page = claim_of(c), page_to_read(c)
    if page is None:
        return ""
    lines = "" if page.n_lines is None else count(page.n_lines, "line")
    if c.definition == page.module:  # the check was the page itself
        to_read = f"{lines} to read; " if lines else ""
        return f"; {to_read}{claim.proof} also bounds rounding errors"
    return f"; its page is {page.module}{', ' if lines else ''}{lines}"


def page_to_read(c: "Certificate") -> PageToRead | None:
    """The page of a certified model and its lines of code; None where there is no page."""
    return page_of(claim_of(c).page(c.parameters, c.labels))


def note(c: "Certificate") -> str:
    """One sentence for a methods section."""
    from ... import __version__

    words = claim_of(c).wording
    if not c.certified:
        return printable(words.failure_note(c, one_line(c)[len("Certificate(") : -1]))
    return printable(f"{words.note(c)} (certus {__version__}, {c.definition}).")


def not_certified(c: "Certificate", stopped_at: int | None = None) -> str:
    """Warning of an uncertified fit. ``stopped_at``: the max_iter that ended it."""
    words = claim_of(c).wording
    if c.status == "contradicted":
        return printable(words.contradicted(c))
    return printable(words.not_certified(c, stopped_at))
