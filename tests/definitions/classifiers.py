"""Pages of classifiers, called with what the certificate of a fitted model holds."""

from importlib import import_module
from math import inf
from typing import Any

import numpy as np

import certus
from certus.certificate.certificate import Certificate
from certus.certificate.pages import classes, logistic
from certus.definitions.terms.claim import Claim


def claims(c: Certificate, X: Any, y: Any, s: Any = None, **changed: Any) -> list[Claim]:
    """What the page says of the parameters that a certificate holds, on the rows given."""
    adaptors = {**vars(classes), **vars(logistic)}
    assert c.labels is not None
    numbers = np.searchsorted(c.labels.classes, y)
    s = np.ones(len(y)) if s is None else np.asarray(s, dtype=float)
    found = []
    for problem in adaptors[c.definition.rpartition(".")[2]](c.parameters, c.labels):
        page = import_module(f"certus.definitions.{problem.page}")
        rows = X
        if problem.constant is not None:
            rows = np.column_stack([X, np.full(len(X), problem.constant)])
        arguments = {**problem.arguments, **changed}
        found.append(page.check(rows, *problem.targets(numbers, s), **arguments))
    return found


def audited(model: Any, X: Any, y: Any, s: Any = None) -> Certificate:
    """The certificate of a fitted model of any library."""
    return certus.verify(model, X, y, sample_weight=s)


def holds(found: list[Claim]) -> bool:
    return all(claim.holds for claim in found)


def objective(found: list[Claim]) -> float:
    return sum(claim.objective for claim in found)


def bound(found: list[Claim]) -> float:
    return sum(-inf if claim.bound is None else claim.bound for claim in found)


def miss(found: list[Claim]) -> float:
    return sum(claim.miss for claim in found)


def scale(found: list[Claim]) -> float:
    return sum(claim.scale for claim in found)
