"""Logistic regression by hand, with the optimisers of the slides, in plain NumPy.

    min over w of Q(w) = (1/n) Σ_i log(1 + exp(−y_i wᵀx_i)) + λ/2·‖w‖²,   y_i = ±1

Where slides or notes err, the line says "corrected". Run it: python examples/logistic_by_hand.py
"""

from collections import deque

import numpy as np


def objective(X, y, w, lam):
    """Q. Corrected: a mean. The slides minimise a sum, and later divide its gradient by n; steps of
    a mean fit any number of rows. log(1 + eᵗ) by logaddexp, which no t makes infinite."""
    return np.logaddexp(0, -y * (X @ w)).mean() + lam / 2 * (w @ w)


def row_gradient(x, y, w, lam):
    """∂/∂w of log(1 + exp(−y wᵀx)) + λ/2·‖w‖². Corrected: −yx/(1 + exp(+y wᵀx)). One slide prints
    exp(−y wᵀx), by which steps shrink on rows that are wrong; another leaves out the minus, by
    which the gradient of a row leads up."""
    return -y * x * np.exp(-np.logaddexp(0, y * (x @ w))) + lam * w


def gradient(X, y, w, lam):
    """∂Q/∂w. Corrected: 1/n, without which it is not the mean of the rows' gradients."""
    return -(y * np.exp(-np.logaddexp(0, y * (X @ w)))) @ X / len(X) + lam * w


def descend(X, y, lam, step, steps, beta=0.0):
    """Gradient descent; with β > 0 "accelerated", which is the heavy ball: where the gradient keeps
    its direction, v nears g/(1 − β) and a step α/(1 − β)·g. So α is smaller for larger β.

    Corrected: Q is descended, w − αv. The notes take θ − α∇J of a log-likelihood J = −nQ, and leave
    its maximum; J is ascended, θ + α∇J. Corrected: all coordinates change together. Other slides
    bring w_0 to convergence, then w_1, …, each once, which ends away from the optimum."""
    w = v = np.zeros(X.shape[1])
    values = [objective(X, y, w, lam)]
    for _ in range(steps):
        v = beta * v + gradient(X, y, w, lam)
        w = w - step * v
        values.append(objective(X, y, w, lam))
    return w, values


def descend_by_rows(X, y, lam, step, passes, beta=0.0, decay=0.9, tail=0, seed=0):
    """Stochastic gradient descent, with β > 0 accelerated. Rows are drawn without replacement, anew
    for each pass; after it the step is multiplied by ``decay``: of a step that does not fall, the
    noise of single rows keeps w away from the optimum. Handed out is the last w, or (tail > 0) the
    mean of the last ``tail`` of them, from which most of the noise is gone."""
    rng = np.random.default_rng(seed)
    w = v = np.zeros(X.shape[1])
    last, values = deque(maxlen=max(tail, 1)), [objective(X, y, w, lam)]
    for _ in range(passes):
        for i in rng.permutation(len(X)):
            v = beta * v + row_gradient(X[i], y[i], w, lam)
            w = w - step * v
            last.append(w)
        step *= decay
        values.append(objective(X, y, np.mean(last, axis=0), lam))
    return np.mean(last, axis=0), values


if __name__ == "__main__":
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1.0, -1.0)  # +1: benign
    X = np.column_stack([X, np.ones(len(X))])  # the intercept, which λ holds too
    for name, step, beta in (("gradient descent", 0.1, 0.0), ("heavy ball", 0.01, 0.9)):
        _, values = descend(X, y, 0.01, step, 100, beta)
        printed = ", ".join(f"{values[t]:.10f}" for t in (1, 10, 100))
        print(f"{name}, α = {step}, β = {beta}: Q = {printed} after 1, 10, 100 steps")
    for name, step, beta in (("SGD", 0.1, 0.0), ("accelerated SGD", 0.01, 0.9)):
        for tail in (0, len(X)):
            _, values = descend_by_rows(X, y, 0.01, step, 20, beta, tail=tail)
            printed = ", ".join(f"{values[t]:.6f}" for t in (1, 10, 20))
            answer = f"mean of {tail} w" if tail else "last w"
            print(f"{name}, α = {step}, β = {beta}, {answer}: Q = {printed} after 1, 10, 20 passes")
