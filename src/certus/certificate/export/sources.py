"""The source of a page and of its terms, as a script holds it."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from ..pages.lines import terms_of
from ..pages.problem import PageCall
from .template import CLAIM, IMPORTS

MIN_PARAGRAPHS = 3  # of a page's docstring in every script: subject, objective, module name


class ModuleSource(NamedTuple):
    """A module without its imports, and those imports that are not ours."""

    imports: list[str]
    text: str


def variants(problems: list[PageCall]) -> Iterator[str]:
    """Yield the sources of a page and its terms, each shorter than the one before.

    First the derivation is dropped, paragraph by paragraph, since the page has it; the objective
    stays. Then the docstrings of terms are cut to their first line, and at last blank lines go.
    """
    page = import_module(f"certus.definitions.{problems[0].page}")
    paragraphs = (inspect.getdoc(page) or "").split("\n\n")
    yield _assembled(problems, paragraphs)
    while len(paragraphs) > MIN_PARAGRAPHS:
        paragraphs[-2:] = [f"The whole text: {page.__name__}."]
        yield _assembled(problems, paragraphs)
    yield _assembled(problems, paragraphs, brief=True)
    yield re.sub(r"\n\n+", "\n", _assembled(problems, paragraphs, brief=True))


def _assembled(problems: list[PageCall], paragraphs: list[str], brief: bool = False) -> str:
    """Imports, terms and page, in the order in which they need each other."""
    page = import_module(f"certus.definitions.{problems[0].page}")
    terms = dict.fromkeys(t for p in problems for t in terms_of([p.targets, p.arguments]))
    modules = [*(import_module(term.__module__) for term in terms), page]
    sources = [_without_imports(inspect.getsource(module)) for module in modules]
    imports = sorted({*IMPORTS, *(line for source in sources for line in source.imports)})
    code = re.sub(r'^r?""".*?"""', "", sources[-1].text, count=1, flags=re.DOTALL)
    classes = [inspect.getsource(term).rstrip() for term in terms]
    text = "\n".join(paragraphs)
    parts = ["\n".join(imports), CLAIM, *(map(_brief, classes) if brief else classes)]
    return _dense("\n\n".join([*parts, f'r"""{text}\n"""\n{code.lstrip()}']))


def _without_imports(text: str) -> ModuleSource:
    lines, imports = text.splitlines(), []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            rows = range(node.lineno - 1, node.end_lineno or node.lineno)
            if not (getattr(node, "module", None) or "").startswith("certus."):
                imports.append(" ".join(lines[i].strip() for i in rows))
            for i in rows:
                lines[i] = ""
    return ModuleSource(imports, "\n".join(lines).strip())


def _brief(text: str) -> str:
    """Source whose docstrings have one line each."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            if first < last:
                lines[first] += '"""'
                lines[first + 1 : last + 1] = ["\0"] * (last - first)
    return "\n".join(line for line in lines if line != "\0")


def _dense(text: str) -> str:
    """Source with a blank line before definitions and none within them."""
    text = re.sub(r"\n\n+(?=[ )\]])", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text)
