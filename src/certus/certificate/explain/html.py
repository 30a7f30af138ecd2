"""A certificate as a box in a notebook: an icon and a word, the rest under Details."""

from html import escape
from typing import TYPE_CHECKING

from ...text.box import BOX_STYLE, preformatted
from ..registry import claim_of
from .certificate import PROBABLY_OTHER_ROWS, explain, labeled_lines
from .left_out import among

if TYPE_CHECKING:
    from ..certificate import Certificate

ICON = {
    "optimal": "✔", "stationary": "✔", "exact": "✔", "nearly optimal": "◐", "local optimum": "◐",
    "degenerate": "◐",
}  # fmt: skip


# lines of ``explain`` that are not under Details; the title of a claim that holds has its gap
HEADLINES = ("At the optimum", "What is wrong", "Why no more")
MAX_HEADLINES = 2


def verdict(c: "Certificate") -> str:
    """✔ Optimal: an icon and a word."""
    claim = c.status.capitalize() + among(c)
    if c.other_rows:
        claim = PROBABLY_OTHER_ROWS.capitalize()
    return f"{ICON.get(c.status, '✖')} {claim}"


def caption(c: "Certificate") -> str:
    """The verdict and its numbers on one line, without markup."""
    return f"{verdict(c)}: {claim_of(c).wording.summary(c)}"


def html(c: "Certificate") -> str:
    words = claim_of(c).wording
    return (
        f'<div style="{BOX_STYLE}" role="note" aria-label="certificate">'
        f"<strong>{escape(verdict(c))}</strong> · {escape(words.summary(c))}"
        f'<div>{words.verb(c)} <math aria-label="{escape(c.formula)}">'
        f"{words.equation(c)}</math></div>"
        f"{_headlines(c)}"
        f"<details><summary>Details</summary>"
        f"{preformatted(explain(c))}</details></div>"
    )


def _headlines(c: "Certificate") -> str:
    """How far from the optimum, and what it means for predictions: the numbers of the verdict."""
    texts = [(label, text) for label, text in labeled_lines(c) if label in HEADLINES]
    return "".join(
        f"<div><strong>{escape(label)}</strong> {escape(text)}</div>"
        for label, text in texts[:MAX_HEADLINES]
    )
