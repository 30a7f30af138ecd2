"""Targets of a page, and the weights of its rows, from y and the weights as the user gave them.

A classifier is given the numbers of the classes, 0 … K − 1. c holds the weights of the classes, or
is "balanced": S/(K n_k), with S the sum of all weights and n_k that of class k.
"""

from typing import NamedTuple

import numpy as np


class TargetColumn(NamedTuple):
    """Column k of y."""

    k: int = 0

    def __call__(self, y, s):
        return y.reshape(len(y), -1)[:, self.k].astype(float), s


class TargetColumns(NamedTuple):
    """All columns of y: values, or the numbers of classes of several outputs."""

    def __call__(self, y, s):
        return y.reshape(len(y), -1).astype(float), s


class Averaged(NamedTuple):
    """Column k of y, with weights times ``factor``, divided by their sum or the number of rows."""

    k: int = 0
    divisor: str | None = "weights"  # or "rows", or None: not divided
    factor: float = 1.0

    def __call__(self, y, s):
        D = {"weights": s.sum(), "rows": len(s), None: 1.0}[self.divisor]
        return y.reshape(len(y), -1)[:, self.k].astype(float), s * (self.factor / D)


class Classes(NamedTuple):
    """Numbers of classes, whose weights are c."""

    c: list[float] | str | None = None

    def __call__(self, y, s):
        y = y.ravel().astype(int)
        n = np.bincount(y, s)
        c = n.sum() / (len(n) * n) if self.c == "balanced" else np.array(self.c or np.ones(len(n)))
        return y, s * c[y]


class Signs(NamedTuple):
    """1 for class k and −1 for the others; c are the weights of the classes."""

    k: int = 1
    c: list[float] | str | None = None

    def __call__(self, y, s):
        y = y.ravel().astype(int)
        n = np.bincount(y, s)
        c = n.sum() / (len(n) * n) if self.c == "balanced" else np.array(self.c or np.ones(len(n)))
        return np.where(y == self.k, 1.0, -1.0), s * c[y]


class SignColumns(NamedTuple):
    """(n, K): 1 in the column of the row's class, else −1; of two classes, the second's column."""

    c: list[float] | str | None = None

    def __call__(self, y, s):
        y = y.ravel().astype(int)
        n, k = np.bincount(y, s), np.arange(y.max() + 1)
        c = n.sum() / (len(n) * n) if self.c == "balanced" else np.array(self.c or np.ones(len(n)))
        return np.where(y[:, None] == (k if len(k) > 2 else k[1:]), 1.0, -1.0), s * c[y]


class AgainstRest(NamedTuple):
    """1 for class k, whose weight is c, and −1 for the others, whose weight is 1."""

    k: int
    c: list[float] | str | None = None

    def __call__(self, y, s):
        y = y.ravel().astype(int)
        n = np.bincount(y, s)
        c = n.sum() / (len(n) * n) if self.c == "balanced" else np.array(self.c or np.ones(len(n)))
        return np.where(y == self.k, 1.0, -1.0), s * np.where(y == self.k, c[self.k], 1.0)


class NoTargets(NamedTuple):
    """Nothing: clusters and the like have no targets."""

    def __call__(self, y, s):
        return None, s
