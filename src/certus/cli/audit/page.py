"""An audit as one page that stands by itself: no network, no script."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ...text.box import preformatted
from ...text.files import write_whole

if TYPE_CHECKING:
    from ...certificate import Certificate

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
th { text-align: left; font-weight: 600; padding-right: 1.5rem; vertical-align: top }
td { overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
"""


def write_page(
    path: str, certificate: "Certificate", facts: Mapping[str, str], warnings: Sequence[str]
) -> None:
    """Write the page of a model's audit."""
    write_document(
        path, f"Audit of {facts['model file']}", certificate._repr_html_(), facts,
        certificate.explain(), warnings, certificate.note(),
    )  # fmt: skip


def write_document(
    path: str, title: str, box: str, facts: Mapping[str, str], finding: str,
    warnings: Sequence[str], note: str | None,
) -> None:  # fmt: skip
    """Write a page; what was there stays until all of it is written."""
    write_whole(path, document(title, box, facts, finding, warnings, note))


def document(
    title: str, box: str, facts: Mapping[str, str], finding: str, warnings: Sequence[str],
    note: str | None,
) -> str:  # fmt: skip
    """Return the verdict (``box``, in HTML), the facts of the audit and the finding as HTML."""
    from ... import __version__

    rows = "".join(
        f"<tr><th scope=row>{escape(name.capitalize())}</th><td>{escape(text)}</td></tr>"
        for name, text in [*facts.items(), ("checked by", f"certus {__version__}")]
    )
    warned = "".join(f"<li>{escape(text)}</li>" for text in warnings)
    sentence = "" if note is None else f"<h2>For a methods section</h2><p>{escape(note)}</p>"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(title)}</h1>{box}"
        f"<h2>What was audited</h2><table>{rows}</table>"
        f"<h2>The finding</h2>{preformatted(finding)}"
        f"{f'<h2>Warnings</h2><ul>{warned}</ul>' if warned else ''}"
        f"{sentence}</main></body></html>\n"
    )
