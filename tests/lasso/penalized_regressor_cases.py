"""Losses and penalties that a regression is fitted with, and its rows."""

import numpy as np
import pytest

from certus.losses import Huber, Squared
from certus.penalties import L1, L2, MCP, SCAD, Box, ElasticNet, GroupL2, NonNegative, Simplex
from tests.contract.problems import regression, weights

P = 6
GROUPS = [[0, 3], [1], [2, 4, 5]]
CONVEX = [
    None, L1(15.0), L2(3.0), ElasticNet(20.0, 0.6), L1(15.0, positive=True),
    L2(3.0, positive=True), GroupL2(9.0, groups=GROUPS), Box(-1.0, 0.8),
    Box(np.linspace(-1, 0, P), np.inf), NonNegative(), Simplex(2.0),
]  # fmt: skip
NOT_CONVEX = [MCP(15.0, gamma=1.5), SCAD(15.0)]
LOSSES = [Squared(), Huber(0.8)]
uncertified = pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
each_convex = pytest.mark.parametrize("penalty", CONVEX, ids=repr)


def drawn(seed=0, n=70, k=None):
    X, y, _ = regression(seed, n=n, p=P, k=k)
    X = X * np.linspace(0.5, 2, P) + 1
    return X, y, weights(seed, n)


def objective(loss, penalty, X, y, s, w, b):
    value = 0.0 if penalty is None else penalty.value(w)
    return float(s @ loss.value(y, X @ w + b) + value)


class Sorted:
    """w₁ ≤ w₂ ≤ …: known by its prox alone, isotonic regression."""

    def value(self, w):
        return 0.0 if (np.diff(np.asarray(w), axis=0) >= -1e-12).all() else np.inf

    def prox(self, v, step):
        from sklearn.isotonic import isotonic_regression

        return isotonic_regression(np.asarray(v)[:, 0])[:, None]

    def __repr__(self):
        return "Sorted()"
