"""Silhouettes: how much nearer a row is to its own cluster than to the next one.

    sil_i = (b_i − a_i) / max(a_i, b_i)                     0 for a row that is alone
    a_i   = Σ_{j ∈ C(i)} s_j d_ij / (N_{C(i)} − min(1, s_i))
    b_i   = min_{C ≠ C(i)} Σ_{j ∈ C} s_j d_ij / N_C,        N_C = Σ_{j ∈ C} s_j

d_ij = ‖x_i − x_j‖ (Rousseeuw 1987). A row is not compared with itself: a row of weight 3 stands for
three rows, of which two remain.
"""

import numpy as np


def silhouettes(X: np.ndarray, labels: np.ndarray, s: np.ndarray | None = None) -> np.ndarray:
    """Return the silhouettes (n,) of at least two clusters."""
    X, labels = np.asarray(X, dtype=float), np.asarray(labels)
    s = np.ones(len(X)) if s is None else np.asarray(s, dtype=float)
    clusters = [labels == c for c in np.unique(labels)]
    sil = np.zeros(len(X))
    for i, x in enumerate(X):
        d = np.sqrt(((X - x) ** 2).sum(axis=1))
        others = s[labels == labels[i]].sum() - min(1.0, s[i])
        if others > 0 and len(clusters) > 1:
            a = np.sum((s * d)[labels == labels[i]]) / others
            b = min(np.sum((s * d)[C]) / s[C].sum() for C in clusters if not C[i])
            sil[i] = (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return sil


def mean_silhouette(X: np.ndarray, labels: np.ndarray, s: np.ndarray | None = None) -> float:
    """Return Σ s_i sil_i / Σ s_i."""
    return float(np.average(silhouettes(X, labels, s), weights=s))
