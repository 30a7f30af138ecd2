"""Calls of the page of logistic regression."""

from collections.abc import Iterator

from ...audit import Labels
from ..parameters import Parameters
from .classes import columns, without_penalty
from .problem import PageCall


def logistic(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield a problem for each column of w: one for two classes, else each against the rest."""
    for problem in columns("logistic", p):
        yield problem._replace(arguments={**problem.arguments, **without_penalty(p)})
