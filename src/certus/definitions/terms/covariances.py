"""Shapes of the covariances of normal components, with their maximum likelihood estimates.

``matrices(C, p)`` has a matrix for each distinct C; a single one is common to all components.
``fitted(S, n, P, e)`` takes the components' scatter matrices S and weights n, and the prior: e
pseudo-rows whose scatter is P.
"""

from typing import NamedTuple

import numpy as np


class Full(NamedTuple):
    """Any C_k."""

    def matrices(self, C, p):
        return (C + C.swapaxes(1, 2)) / 2

    def fitted(self, S, n, P, e):
        return (S + P) / (n + e)[:, None, None]


class Tied(NamedTuple):
    """One C for all components."""

    def matrices(self, C, p):
        return ((C + C.T) / 2)[None]

    def fitted(self, S, n, P, e):
        return ((S.sum(axis=0) + P) / (n.sum() + e))[None]


class Diagonal(NamedTuple):
    """C_k = diag(v_k)."""

    def matrices(self, C, p):
        return C[:, :, None] * np.eye(p)

    def fitted(self, S, n, P, e):
        return (S + P) / (n + e)[:, None, None] * np.eye(len(P))


class Spherical(NamedTuple):
    """C_k = v_k I."""

    def matrices(self, C, p):
        return C[:, None, None] * np.eye(p)

    def fitted(self, S, n, P, e):
        v = np.trace(S + P, axis1=1, axis2=2) / (len(P) * (n + e))
        return v[:, None, None] * np.eye(len(P))
