"""Targets of a page, and the weights of its rows, from y and the weights as the user gave them.

A classifier is given the numbers of the classes, 0 … K − 1. c holds the weight of each class, or
is "balanced": S/(K n_k), with S the sum of all weights and n_k that of class k.
"""

from typing import NamedTuple

import numpy as np


def class_weights(y, s, c):
    n = np.bincount(y, s, minlength=int(y.max()) + 1)
    return n.sum() / (len(n) * n) if isinstance(c, str) else np.asarray(c, dtype=float)


class Column(NamedTuple):
    """Column k of y."""

    k: int = 0

    def __call__(self, y, s):
        return y.reshape(len(y), -1)[:, self.k].astype(float), s


class Columns(NamedTuple):
    """All columns of y (n, q)."""

    def __call__(self, y, s):
        return y.reshape(len(y), -1).astype(float), s


class Classes(NamedTuple):
    """Numbers of classes."""

    c: list[float] | str | None = None

    def __call__(self, y, s):
        y = y.ravel().astype(int)
        return y, s if self.c is None else s * class_weights(y, s, self.c)[y]


class Signs(NamedTuple):
    """1 for class k and −1 for the others."""

    k: int = 1
    c: list[float] | str | None = None

    def __call__(self, y, s):
        y, s = Classes(self.c)(y, s)
        return np.where(y == self.k, 1.0, -1.0), s


class SignColumns(NamedTuple):
    """(n, K): 1 in the column of the row's class, else −1; of two classes, the second's column."""

    c: list[float] | str | None = None

    def __call__(self, y, s):
        y = y.ravel().astype(int)
        k = np.arange(y.max() + 1)
        s = s if self.c is None else s * class_weights(y, s, self.c)[y]
        return np.where(y[:, None] == (k if len(k) > 2 else k[1:]), 1.0, -1.0), s


class AgainstRest(NamedTuple):
    """1 for class k and −1 for the others, which weigh 1 each, whatever their class."""

    k: int
    c: list[float] | str | None = None

    def __call__(self, y, s):
        y = y.ravel().astype(int)
        weight = 1.0 if self.c is None else class_weights(y, s, self.c)[self.k]
        return np.where(y == self.k, 1.0, -1.0), s * np.where(y == self.k, weight, 1.0)


class NoTargets(NamedTuple):
    """Nothing: clusters and the like have no targets."""

    def __call__(self, y, s):
        return None, s
