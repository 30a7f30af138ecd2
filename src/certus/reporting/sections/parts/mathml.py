"""Formulas in one line of Unicode as MathML: Σ (yᵢ − xᵢᵀw)² becomes sums, sub- and superscripts.

letters → <mi>   digits → <mn>   other signs → <mo>   ᵢ, ₖ, ₁ … → <msub>   ᵀ, ², ⁻¹ … → <msup>
"""

import re
from html import escape

LOWERED = dict(zip("ᵢⱼₖₗₘₙₚₜ₀₁₂₃₄₅₆₇₈₉₊₋", "ijklmnpt0123456789+−", strict=True))
RAISED = dict(zip("ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "T0123456789+−n", strict=True))
TOKEN = re.compile(
    rf"(?P<mn>\d[\d.,]*\d|[\d½])|(?P<mo>[Σ∏])|(?P<mi>[^\W\d_{''.join(LOWERED)}{''.join(RAISED)}]+\u0304?)"
    rf"|(?P<sub>[{''.join(LOWERED)}]+)|(?P<sup>[{''.join(RAISED)}]+)|(?P<sign>\S)"
)
SPACE = '<mspace width="0.17em"></mspace>'
PROSE = re.compile(r"[a-z]{3,} [a-z]{2,}")  # two words in a row: a sentence, not a formula


def from_text(formula: str) -> str:
    """The formula as a <math> element; "" for one that is written in words.

    >>> from_text("yᵢ²")
    '<math><msubsup><mi>y</mi><mi>i</mi><mn>2</mn></msubsup></math>'
    >>> from_text("the 7 nearest rows")
    ''
    """
    if not formula or PROSE.search(formula):
        return ""
    atoms: list[tuple[str, str, str]] = []  # a sign, what is below it, what is above it
    end = 0
    for token in TOKEN.finditer(formula):
        kind, text = str(token.lastgroup), token.group()
        kind = "mo" if kind == "sign" else kind
        is_apart, end = token.start() > end, token.end()
        if kind == "mi" and is_apart and atoms and atoms[-1][0].startswith("<mi>"):
            atoms.append((SPACE, "", ""))
        if kind in ("sub", "sup") and atoms:
            base, below, above = atoms[-1]
            signs = "".join(_sign((LOWERED if kind == "sub" else RAISED)[x]) for x in text)
            signs = signs if len(text) == 1 else f"<mrow>{signs}</mrow>"
            atoms[-1] = (base, signs, above) if kind == "sub" else (base, below, signs)
        elif kind not in ("sub", "sup"):
            atoms.append((f"<{kind}>{escape(text)}</{kind}>", "", ""))
    return f"<math>{''.join(_placed(*atom) for atom in atoms)}</math>"


def _sign(text: str) -> str:
    tag = "mn" if text.isdigit() else "mi" if text.isalpha() else "mo"
    return f"<{tag}>{text}</{tag}>"


def _placed(base: str, below: str, above: str) -> str:
    if below and above:
        return f"<msubsup>{base}{below}{above}</msubsup>"
    if below:
        return f"<msub>{base}{below}</msub>"
    return f"<msup>{base}{above}</msup>" if above else base
