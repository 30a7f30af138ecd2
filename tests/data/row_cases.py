"""Rows, and statistics to reduce them to."""

import numpy as np


def gram(X, y, s):
    return (X.T @ X,)


def column_sums(X, y, s):
    return (X.sum(axis=0), float(len(X)))


def many_rows(n=30_000, p=5, dtype=float):
    return np.random.default_rng(0).normal(size=(n, p)).astype(dtype)
