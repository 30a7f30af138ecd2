"""A certificate as a box in a notebook: an icon and a word, the rest under Details."""

from html import escape
from typing import TYPE_CHECKING

from ..registry import claim_of
from .certificate import PROBABLY_OTHER_ROWS, explain
from .left_out import among

if TYPE_CHECKING:
    from ..certificate import Certificate

ICON = {
    "optimal": "✔", "stationary": "✔", "exact": "✔", "nearly optimal": "◐", "local optimum": "◐",
    "degenerate": "◐",
}  # fmt: skip
# the notebook's own text colour on a tint of it: legible in light and dark alike
STYLE = (
    "display:inline-block;border:1px solid currentColor;border-radius:6px;padding:.4em .8em;"
    "margin:.3em 0;font-family:system-ui,sans-serif;max-width:75ch;color:inherit"
)


def html(c: "Certificate") -> str:
    icon, words = ICON.get(c.status, "✖"), claim_of(c).wording
    claim = c.status.capitalize() + among(c)
    if c.other_rows:
        claim = PROBABLY_OTHER_ROWS.capitalize()
    details = escape(explain(c))
    return (
        f'<div style="{STYLE}" role="note" aria-label="certificate">'
        f"<strong>{icon} {escape(claim)}</strong> · {escape(words.summary(c))}"
        f'<div>{words.verb(c)} <math aria-label="{escape(c.formula)}">'
        f"{words.equation(c)}</math></div>"
        f"<details><summary>Details</summary>"
        f'<pre style="white-space:pre-wrap;color:inherit;background:none">{details}</pre>'
        "</details></div>"
    )
