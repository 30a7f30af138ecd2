"""A certificate as a box in a notebook: an icon and a word, the rest under Details."""

from html import escape
from typing import TYPE_CHECKING

from ._explain import SQUARES, WORDS, distance, explain, verb
from ._explain_classes import separates
from ._explain_coefficients import known_only_to
from ._explain_left_out import among
from ._words import number

if TYPE_CHECKING:
    from .certificate import Certificate

ICON = {
    "optimal": "✔", "stationary": "✔", "exact": "✔", "nearly optimal": "◐", "local optimum": "◐",
    "degenerate": "◐",
}  # fmt: skip
# the notebook's own text colour on a tint of it: legible in light and dark alike
STYLE = (
    "display:inline-block;border:1px solid currentColor;border-radius:6px;padding:.4em .8em;"
    "margin:.3em 0;font-family:system-ui,sans-serif;max-width:75ch;color:inherit"
)
MATHML = {
    "SQUARES": "<munder><mo>∑</mo><mi>i</mi></munder>{weight}<msup><mrow><mo>(</mo><msub><mi>y</mi>"
    "<mi>i</mi></msub><mo>−</mo><msubsup><mi>x</mi><mi>i</mi><mi>T</mi></msubsup><mi>w</mi>"
    "<mo>−</mo><mi>b</mi><mo>)</mo></mrow><mn>2</mn></msup>",
    "PENALTY": "<mo>+</mo><mi>α</mi><msup><mrow><mo>‖</mo><mi>w</mi><mo>‖</mo></mrow><mn>2</mn>"
    "</msup>",
}


def _equation(c: "Certificate") -> str:
    if c.definition != SQUARES:
        return f'<math aria-label="{escape(c.formula)}"><mtext>{escape(c.formula)}</mtext></math>'
    weight = "".join(
        f"<msub><mi>{name}</mi><mi>i</mi></msub>" for name in "sc" if f"{name}ᵢ" in c.formula
    )
    body = MATHML["SQUARES"].format(weight=weight)
    if "α" in c.formula:
        body += MATHML["PENALTY"]
    return f'<math aria-label="{escape(c.formula)}"><mrow>{body}</mrow></math>'


def html(c: "Certificate") -> str:
    icon = ICON.get(c.status, "✖")
    if c.status == "no finite optimum":
        summary = separates(c)
    elif c.kind == "local":
        wrong = c.found["wrong"]
        summary = str(wrong[0]) if c.status == "contradicted" else WORDS[c.definition].claim(c)
    elif c.kind == "exact" and c.status == "not proven":
        summary = str(c.found["unproven"])
    elif c.kind == "exact":
        words = WORDS[c.definition]
        summary = words.first_wrong(c) if c.status == "contradicted" else words.claim(c)
    else:
        summary = f"objective {number(c.objective, 7)}"
    if c.certified and c.kind not in ("exact", "local"):
        summary += f", {distance(c)}{known_only_to(c)}"
    claim = c.status.capitalize() + among(c)
    details = escape(explain(c))
    return (
        f'<div style="{STYLE}" role="note" aria-label="certificate">'
        f"<strong>{icon} {escape(claim)}</strong> · {escape(summary)}"
        f"<div>{verb(c)} {_equation(c)}</div>"
        f"<details><summary>Details</summary>"
        f'<pre style="white-space:pre-wrap;color:inherit;background:none">{details}</pre>'
        "</details></div>"
    )
