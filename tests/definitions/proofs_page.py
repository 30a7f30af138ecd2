"""``python -m tests.definitions.proofs_page``: write docs/proofs.md, the pages and their lines."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import certus.definitions
from certus.certificate.pages.lines import n_lines

PATH = Path(__file__).parents[2] / "docs" / "proofs.md"
HEAD = """# The pages

To believe a certificate one should have to read little. For each model there is a *page*: a module of
`certus.definitions`, plain NumPy on whole arrays, which states the objective, computes it, and decides whether the
parameters are optimal. Pages, proofs (`certus.proofs`, block by block, with every rounding error bounded) and solvers
share no code: three independent answers, which tests compare on every estimator.

    certus.verify(model, X, y)                the proof
    certus.verify(model, X, y, by="page")     the page

A page needs X in memory as a dense array, does not bound rounding errors, and states where it is weaker than the proof.
Losses, penalties, distances and kernels are *terms* (`certus.definitions.terms`, at most 15 lines each), which a page is given; with those
that one fitted model needs, no page has more than 80 lines to read. This file is written by `python -m tests.definitions.proofs_page`.

| page | what it decides | lines of code |
|---|---|---|
"""


def pages() -> dict[str, str]:
    """Name and source of every page."""
    names = sorted(m.name for m in pkgutil.iter_modules(certus.definitions.__path__) if not m.ispkg)
    modules = {name: importlib.import_module(f"certus.definitions.{name}") for name in names}
    return {name: inspect.getsource(module) for name, module in modules.items()}


def text() -> str:
    """The whole of docs/proofs.md."""
    table, body = [], []
    for name, source in pages().items():
        title = source.splitlines()[0].lstrip('r"').rstrip('."')
        table.append(f"| [{name}](#{name}) | {title} | {n_lines(source)} |\n")
        body.append(f"\n## {name}\n\n```python\n{source.rstrip()}\n```\n")
    return HEAD + "".join(table) + "".join(body)


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8", newline="\n")
