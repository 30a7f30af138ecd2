"""Tables of text as Markdown, LaTeX and HTML, with all text escaped."""

import re
from collections.abc import Sequence
from html import escape

Cells = Sequence[Sequence[str]]  # rows of a table, the head first

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "–": "--", "…": r"\ldots{}",
    "²": r"\textsuperscript{2}", "χ": r"$\chi$", "Σ": r"$\Sigma$", "α": r"$\alpha$", "−": "$-$",
}  # fmt: skip
_NUMBER = re.compile(r"(< )?(-?)([\d,]*\d(?:\.\d+)?)(?:e(-?\d+))?")


def markdown(rows: Cells, keys: int, caption: str, notes: Sequence[str]) -> str:
    """Return a pipe table, as GitHub, Quarto and pandoc read it."""
    head, *body = [[_markdown_text(cell) for cell in row] for row in rows]
    widths = [max(3, *(len(row[j]) for row in (head, *body))) for j in range(len(head))]
    lines = [_markdown_text(caption), ""] if caption else []
    rule = ["-" * width if j < keys else "-" * (width - 1) + ":" for j, width in enumerate(widths)]
    for row in (head, rule, *body):
        cells = [
            f"{cell:<{width}}" if j < keys else f"{cell:>{width}}"
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(_markdown_text(note) + "  " for note in notes)] if notes else []
    return "\n".join(lines).rstrip() + "\n"


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_|<\[\]~])", r"\\\1", text)


def latex(rows: Cells, keys: int, caption: str, notes: Sequence[str]) -> str:
    """Return a table environment with the rules of booktabs (``\\usepackage{booktabs}``)."""
    head, *body = [
        [_latex_text(cell) if j < keys else _latex_number(cell) for j, cell in enumerate(row)]
        for row in rows
    ]
    columns = "l" * keys + "r" * (len(head) - keys)
    lines = [r"\begin{table}", r"\centering"]
    lines += [rf"\caption{{{_latex_text(caption)}}}"] if caption else []
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(head) + r" \\"]
    lines += [r"\midrule", *(" & ".join(row) + r" \\" for row in body), r"\bottomrule"]
    lines += [r"\end{tabular}"]
    lines += [rf"\par\footnotesize {_latex_number(note)}" for note in notes]
    return "\n".join([*lines, r"\end{table}", ""])


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)


def _latex_number(text: str) -> str:
    """Return numbers in math mode, so that −0.5 has a minus sign, not a hyphen."""
    parts, end = [], 0
    for found in _NUMBER.finditer(text):
        less, sign, digits, exponent = found.groups()
        digits = digits.replace(",", "{,}")
        power = rf" \times 10^{{{exponent}}}" if exponent else ""
        shown = f"{'< ' if less else ''}{sign}{digits}{power}"
        plain = not (less or sign or exponent or "{" in digits)
        parts += [_latex_text(text[end : found.start()]), shown if plain else f"${shown}$"]
        end = found.end()
    return "".join([*parts, _latex_text(text[end:])])


def html(rows: Cells, keys: int, caption: str, notes: Sequence[str]) -> str:
    """Return a table element with its notes, for any page."""
    head, *body = rows
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return (
        f"<div><table>{above}<thead>{_html_row(head, keys, 'th')}</thead><tbody>"
        f"{''.join(_html_row(row, keys, 'td') for row in body)}</tbody></table>{below}</div>"
    )


def _html_row(row: Sequence[str], keys: int, tag: str) -> str:
    cells = [
        f'<{"th" if j < keys else tag} style="text-align:{"left" if j < keys else "right"}">'
        f"{escape(cell)}</{'th' if j < keys else tag}>"
        for j, cell in enumerate(row)
    ]
    return f"<tr>{''.join(cells)}</tr>"
