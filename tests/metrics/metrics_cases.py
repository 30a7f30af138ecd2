"""Labels, scores and probabilities of imbalanced classes."""

import numpy as np
from scipy.special import expit


def scored(seed, n=200, share=0.2, apart=1.5, ties=False):
    """Return y of 0 and 1, with both classes, and scores that are higher for 1."""
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < share).astype(int)
    y[:2] = 0, 1
    scores = rng.normal(size=n) + apart * y - apart / 2
    return y, scores.round(1) if ties else scores


def probable(seed, n=200, shift=-1.5):
    """Return y drawn with the given probabilities."""
    rng = np.random.default_rng(seed)
    p = expit(shift + 1.5 * rng.normal(size=n))
    y = (rng.uniform(size=n) < p).astype(int)
    y[:2] = 0, 1
    return y, p


def rare(seed, n=4000, cut=3.5):
    """Return X and y, 'yes' in a few of a hundred rows, logistic in the first column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(1.5 * X[:, 0] + rng.logistic(size=n) > cut, "yes", "no")
    return X, y
