"""Run the page of a model on whole arrays."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import cast

import numpy as np

from ...data.rows import Rows
from ...definitions.terms.claim import Claim
from .problem import PageCall

Targets = Callable[[object, np.ndarray], tuple[np.ndarray | None, np.ndarray]]

MAX_DENSE_BYTES = 1 << 31  # of X as dense float64; a page works with a few copies of it


def run_page(problems: Iterable[PageCall], rows: Rows, tol: float) -> Claim:
    """The claim of a page on all rows, summed over the problems of a model."""
    n, p = rows.shape
    if 8 * n * p > MAX_DENSE_BYTES:
        raise MemoryError(
            f"a page works on whole dense arrays, and X would take {8e-9 * n * p:.1f} GB of "
            'memory: certus.verify without by="page" works block by block'
        )
    X, y, s = rows.X[:n], rows.y, rows.s
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    s = np.ones(n) if s is None else np.asarray(s, dtype=float)
    claims = []
    for page, targets, arguments, constant in problems:
        columns = X if constant is None else np.column_stack([X, np.full(n, constant)])
        check = import_module(f"certus.definitions.{page}").check
        t, weights = cast(Targets, targets)(y, s)
        with np.errstate(over="ignore", invalid="ignore"):  # absurd parameters: nothing holds
            claims.append(check(columns, t, weights, **arguments, tol=tol))
    return total(claims)


def total(claims: list[Claim]) -> Claim:
    """The claim of problems that share no parameters; it holds if each of them holds."""
    kinds, objectives, misses, scales, tols, bounds = zip(*claims, strict=True)
    if len(claims) == 1:
        return claims[0]
    shares = [m / s if s > 0 else m and np.inf for m, s in zip(misses, scales, strict=True)]
    bound = None if None in bounds else sum(bounds)
    return Claim(kinds[0], sum(objectives), max(shares) * sum(scales), sum(scales), tols[0], bound)
