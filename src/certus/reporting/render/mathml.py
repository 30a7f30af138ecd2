"""Formulas as MathML, let through only if they hold nothing but MathML."""

from html import escape
from html.parser import HTMLParser

TAGS = frozenset(
    {
        "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "msub", "msup", "msubsup",
        "munder", "mover", "munderover", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd",
        "mstyle", "mpadded", "mphantom", "semantics",
    }
)  # fmt: skip
ATTRIBUTES = frozenset(
    {
        "display", "mathvariant", "stretchy", "fence", "separator", "lspace", "rspace", "width",
        "accent", "accentunder", "displaystyle", "scriptlevel", "movablelimits", "form",
    }
)  # fmt: skip


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.allowed = True
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.allowed &= tag in TAGS and all(name in ATTRIBUTES for name, _ in attrs)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.allowed &= tag in TAGS and all(name in ATTRIBUTES for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        self.allowed &= bool(self.open) and self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        self.allowed = False

    def handle_decl(self, decl: str) -> None:
        self.allowed = False

    def unknown_decl(self, data: str) -> None:
        self.allowed = False

    def handle_pi(self, data: str) -> None:
        self.allowed = False


def formula(markup: str, text: str = "") -> str:
    """Return markup of a formula; ``text`` in its place where it holds anything but MathML.

    >>> formula("<mi>x</mi>"), formula("<b>x</b>", "x < 1")
    ('<math><mi>x</mi></math>', '<span class="formula-text">x &lt; 1</span>')
    """
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    if markup and reader.allowed and not reader.open:
        return markup if markup.startswith("<math") else f"<math>{markup}</math>"
    return f'<span class="formula-text">{escape(text)}</span>' if text else ""
