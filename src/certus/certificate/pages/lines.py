"""The lines of code of a page; docstrings, comments and blank lines are not counted."""

import ast
import inspect
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from .problem import PageCall

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def n_lines(text: str) -> int:
    """Number of lines of a source that hold code."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in LAYOUT and token.type != tokenize.ENDMARKER
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - docstrings)


class PageToRead(NamedTuple):
    """The page of a fitted model; ``n_lines`` is None where no sources are installed."""

    module: str
    n_lines: int | None


def page_of(problems: Iterable[PageCall]) -> PageToRead | None:
    """The page of a model, with the lines that one has to read; None where there is no page."""
    problems = list(problems)
    if not problems:
        return None
    try:
        lines = lines_to_read(problems)
    except OSError:  # no sources, as in a frozen application
        lines = None
    return PageToRead(f"certus.definitions.{problems[0].page}", lines)


def lines_to_read(problems: Iterable[PageCall]) -> int:
    """Lines of the page of a model and of the terms that it is given."""
    problems = list(problems)
    page = import_module(f"certus.definitions.{problems[0].page}")
    terms = {term for problem in problems for term in terms_of(problem.arguments)}
    return n_lines(inspect.getsource(page)) + sum(n_lines(inspect.getsource(t)) for t in terms)


def terms_of(value: object) -> Iterator[type]:
    """Classes of the terms within a value, in the order in which they occur."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        yield type(value)
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        for part in value:
            yield from terms_of(part)
