"""A result as a box in a notebook: a line that says it all, the rest under Details."""

from html import escape

# the notebook's own text colour on a tint of it: legible in light and dark alike
BOX_STYLE = (
    "display:inline-block;border:1px solid currentColor;border-radius:6px;padding:.4em .8em;"
    "margin:.3em 0;font-family:system-ui,sans-serif;max-width:75ch;color:inherit"
)
PRE_STYLE = "white-space:pre-wrap;color:inherit;background:none"
SCROLL_STYLE = "max-height:24em;overflow:auto"  # long tables scroll inside the box


def box(label: str, icon: str, head: str, text: str, details: str) -> str:
    """Return a box in HTML: icon and ``head`` in bold, ``text``, and ``details`` folded.

    ``label``: what it is, for screen readers. ``head`` and ``text`` are escaped here; ``details``
    is HTML (``preformatted``, or a table).
    """
    beside = f" · {escape(text)}" if text else ""
    folded = f'<summary>Details</summary><div style="{SCROLL_STYLE}">{details}</div>'
    return (
        f'<div style="{BOX_STYLE}" role="note" aria-label="{escape(label)}">'
        f"<strong>{f'{icon} {escape(head)}'.strip()}</strong>{beside}"
        f"{f'<details>{folded}</details>' if details else ''}</div>"
    )


def preformatted(text: str) -> str:
    """Return text of the terminal as HTML."""
    return f'<pre style="{PRE_STYLE}">{escape(text)}</pre>'
