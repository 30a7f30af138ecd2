"""ncafs minimises Σ_i Σ_j p_ij loss(y_i, y_j)/n + α Σ w², which is 1 − F/n for the loss 1 − y_ij
and α = λ/n.

Its NCAFSC fails on NumPy 2.4 (an array as a number); of the classes 0 and 1, the loss |y_i − y_j|
of NCAFSR is the same. Unlike its default, nothing is scaled, all rows are one problem, and w has no
upper bound. exp(−D/σ) is not taken of differences to the nearest row: it underflows for small σ.
"""

import numpy as np
from ncafs import NCAFSR
from ncafs.core import cost_nca, pairwise_feature_distance


class Fit:
    def __init__(self, sigma, lam, steps=None):
        self.sigma, self.lam = sigma, lam

    def fit(self, X, y):
        model = NCAFSR(
            sigma=self.sigma, alpha=self.lam / len(X), standardize=False, fit_method="full",
            bounds=(0, None),
        ).fit(X, y)  # fmt: skip
        self.weights_ = model.weights_**2
        return self


class Evaluations:
    def __init__(self, sigma, lam, count):
        self.sigma, self.lam, self.count = sigma, lam, count

    def fit(self, X, y):
        n, p = X.shape
        deltas, loss = pairwise_feature_distance(X), np.abs(y[:, None] - y).astype(float)
        for _ in range(self.count):
            cost, slope = cost_nca(np.ones(p), deltas, loss, self.sigma, self.lam / n)
        self.F_, self.slope_ = n * (1 - cost), -n * slope
        return self
