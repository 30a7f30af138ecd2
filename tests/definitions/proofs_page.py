"""``python -m tests.definitions.proofs_page``: write docs/proofs.md, the pages and their lines."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import certus
import certus.definitions
from certus.certificate.pages.lines import lines_to_read, n_lines
from certus.certificate.registry import claim_of
from tests.definitions.fitted_cases import CASES, fitted

PATH = Path(__file__).parents[2] / "docs" / "proofs.md"
HEAD = """# The pages

To believe a certificate one should have to read little. For each model there is a *page*: a
module of `certus.definitions`, plain NumPy on whole arrays, which states the objective, computes
it, and decides whether the parameters are optimal. Pages, proofs (`certus.proofs`, block by block,
with every rounding error bounded) and solvers share no code: three independent answers, which tests
compare on every estimator.

    certus.verify(model, X, y)                the proof
    certus.verify(model, X, y, by="page")     the page
    model.certificate_.export("check.py")     the page as a script that needs NumPy alone

A page needs X in memory as a dense array, does not bound rounding errors, and states where it is
weaker than the proof. Losses, penalties, distances and kernels are *terms*
(`certus.definitions.terms`, at most 15 lines each), which a page is given. This file is written by
`python -m tests.definitions.proofs_page`.

## Lines to read per model

Lines of code of the page and of the terms that one fitted model needs, without docstrings, comments
and blank lines; where configurations differ, the fewest and the most. At most 80 are allowed.

| model | page | lines |
|---|---|---|
"""


PAGES = """
## Every page

| page | what it decides | lines of code |
|---|---|---|
"""


def pages() -> dict[str, str]:
    """Name and source of every page."""
    names = sorted(m.name for m in pkgutil.iter_modules(certus.definitions.__path__) if not m.ispkg)
    modules = {name: importlib.import_module(f"certus.definitions.{name}") for name in names}
    return {name: inspect.getsource(module) for name, module in modules.items()}


def models() -> dict[tuple[str, str], list[int]]:
    """Lines to read of every estimator in the table of laws, by its class and its page."""
    found: dict[tuple[str, str], list[int]] = {}
    for case in CASES:
        model, X, y = fitted(case)
        certificate = certus.verify(model, X, y)
        problems = list(claim_of(certificate).page(certificate.parameters, certificate.labels))
        key = type(model).__name__, problems[0].page
        found.setdefault(key, []).append(lines_to_read(problems))
    return found


def row_of(model: str, page: str, lines: list[int]) -> str:
    """The row of a model in the table of lines to read."""
    least, most = min(lines), max(lines)
    return f"| {model} | [{page}](#{page}) | {least if least == most else f'{least}–{most}'} |\n"


def text(rows: list[str]) -> str:
    """The whole of docs/proofs.md; ``rows``: the table of models."""
    table, body = [], []
    for name, source in pages().items():
        title = source.splitlines()[0].lstrip('r"').rstrip('."')
        table.append(f"| [{name}](#{name}) | {title} | {n_lines(source)} |\n")
        body.append(f"\n## {name}\n\n```python\n{source.rstrip()}\n```\n")
    return HEAD + "".join(rows) + PAGES + "".join(table) + "".join(body)


if __name__ == "__main__":
    made = [row_of(*key, lines) for key, lines in sorted(models().items())]
    PATH.write_text(text(made), encoding="utf-8", newline="\n")
