"""Logistic regression with L2 by plain Newton steps: what a search for C should find.

min  C Σ log(1 + exp(−y z)) + ½‖w‖²,   z = Xw + b,   y = ±1
"""

import numpy as np
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

STEPS = 50


def newton(X, y, C):
    """(w, b) to rounding: damped steps, until the next one cannot lower F."""
    Phi = np.column_stack([X, np.ones(len(X))])
    ridge = np.append(np.ones(X.shape[1]), 0.0)
    theta = np.zeros(Phi.shape[1])

    def F(theta):
        return C * np.sum(np.logaddexp(0.0, -y * (Phi @ theta))) + theta @ (ridge * theta) / 2

    for _ in range(STEPS):
        p = expit(Phi @ theta)
        g = C * Phi.T @ (p - (y > 0)) + ridge * theta
        H = C * (Phi.T * (p * (1 - p))) @ Phi + np.diag(ridge)
        step, t = np.linalg.solve(H, g), 1.0
        while t > 1e-3 and F(theta - t * step) > F(theta):
            t /= 2
        theta = theta - t * step
        if g @ step <= 1e-14 * F(theta):
            break
    return theta[:-1], theta[-1]


def cross_validated_losses(X, y, Cs, folds):
    """Mean over the folds of the log loss on the rows left out, per C."""
    losses = np.zeros(len(Cs))
    for train, test in StratifiedKFold(folds).split(X, y):
        for i, C in enumerate(Cs):
            w, b = newton(X[train], y[train], C)
            losses[i] += np.mean(np.logaddexp(0.0, -y[test] * (X[test] @ w + b))) / folds
    return losses
