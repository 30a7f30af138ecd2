r"""Sums of gradients over clusters of rows, for errors that are correlated within a cluster.

    M = G/(G − 1) · (n − 1)/(n − r) · Σ_g u_g u_gᵀ,   u_g = Σ_{i in g} (gradient of row i)

for G clusters, n rows and r coefficients (Liang and Zeger 1986; the factor is Stata's and
statsmodels'). Blocks return the sums of the clusters that they meet, which are merged two by two.
"""

from typing import Any, NamedTuple

import numpy as np

from ...exceptions import InferenceError
from ...text.format import count


class Clusters(NamedTuple):
    """The cluster of each row."""

    codes: np.ndarray  # (n,): 0 … G − 1; −1 for rows of weight 0
    n_clusters: int

    def factor(self, n: float, rank: int) -> float:
        """Return the correction for few clusters and for the coefficients."""
        G = self.n_clusters
        if G < 2:
            raise InferenceError(
                f"groups has {count(G, 'group')}: cov='cluster' compares groups, so it needs two "
                "or more, and for reliable errors about 40"
            )
        return G / (G - 1) * (n - 1) / (n - rank)


class ClusterSums(NamedTuple):
    """Sums of some clusters."""

    codes: np.ndarray  # (g,), increasing
    sums: np.ndarray  # (g, …)


def cluster_sums(codes: np.ndarray, values: np.ndarray) -> ClusterSums:
    """Return Σ values of each code, without the code −1."""
    order = np.argsort(codes, kind="stable")
    order = order[np.searchsorted(codes[order], 0) :]
    found, starts = np.unique(codes[order], return_index=True)
    if not len(found):
        return ClusterSums(found, np.zeros((0, *values.shape[1:])))
    return ClusterSums(found, np.add.reduceat(values[order], starts, axis=0))


def merged(a: ClusterSums, b: ClusterSums) -> ClusterSums:
    """Return the sums of two sets of rows together."""
    return cluster_sums(np.concatenate([a.codes, b.codes]), np.concatenate([a.sums, b.sums]))


def merged_sums(a: Any, b: Any) -> ClusterSums:
    """Combine the sums of two blocks."""
    return merged(ClusterSums(*a), ClusterSums(*b))


def merged_results(a: Any, b: Any) -> Any:
    """Combine (Σ e², codes, sums) of two blocks."""
    both = merged(ClusterSums(*a[1:]), ClusterSums(*b[1:]))
    return (a[0] + b[0], *both)
