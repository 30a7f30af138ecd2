"""The gap statistic: how much more compact clusters are than those of unstructured data.

    W_k    = Σ_C Σ_{i ∈ C} s_i ‖x_i − m_C‖²,        m_C the weighted mean of cluster C
    Gap(k) = (1/B) Σ_b log W*_kb − log W_k,        s_k = sd_b(log W*_kb) · √(1 + 1/B)
    k̂      = the least k with Gap(k) ≥ Gap(k + 1) − s_{k+1}

W*_kb is W_k of the b-th of B samples of a uniform distribution over the box of the data along their
principal axes (Tibshirani, Walther & Hastie 2001).
"""

import numpy as np


def within(X: np.ndarray, labels: np.ndarray, s: np.ndarray | None = None) -> float:
    """Return W_k."""
    X, labels = np.asarray(X, dtype=float), np.asarray(labels)
    s = np.ones(len(X)) if s is None else np.asarray(s, dtype=float)
    total = 0.0
    for c in np.unique(labels):
        x, w = X[labels == c], s[labels == c, None]
        m = x[0] + (w * (x - x[0])).sum(axis=0) / w.sum()
        total += float((w * (x - m) ** 2).sum())
    return total


def gaps(log_W: np.ndarray, references: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (Gap, s_k), each (m,), from log W_k (m,) and log W*_kb (B, m)."""
    B = len(references)
    gap = np.mean(references, axis=0) - np.asarray(log_W)
    return gap, np.std(references, axis=0) * np.sqrt(1 + 1 / B)


def first_within_one_error(ks: np.ndarray, gap: np.ndarray, s: np.ndarray) -> int | None:
    """Return k̂, or None if the gap still rises at the last k."""
    for t in range(len(ks) - 1):
        if gap[t] >= gap[t + 1] - s[t + 1]:
            return int(ks[t])
    return None


def box(
    X: np.ndarray, s: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (mean, axes as rows, low, high): every row is mean + zᵀ axes with low ≤ z ≤ high."""
    X = np.asarray(X, dtype=float)
    s = np.ones(len(X)) if s is None else np.asarray(s, dtype=float)
    mean = X[0] + np.average(X - X[0], axis=0, weights=s)
    centered = X - mean
    _, _, axes = np.linalg.svd(np.sqrt(s)[:, None] * centered, full_matrices=False)
    z = centered @ axes.T
    return mean, axes, z.min(axis=0), z.max(axis=0)
