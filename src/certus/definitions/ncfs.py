r"""NCFS: are the feature weights W a stationary point of F on W ≥ 0?

    p_ij = exp(−D_W(x_i, x_j)/σ) / Σ_{k≠i} exp(−D_W(x_i, x_k)/σ),  p_ii = 0
    q_i  = Σ_j p_ij G_ij
    F(W) = Σ_i a_i q_i − λ Σ_l W_l,  W ≥ 0                                            (maximised)

G_ij is the gain of row i if row j is its neighbour: 1[y_i = y_j], or minus a loss. Rows are scaled,
x ← (x − shift)/scale; a constant column must have weight 0. a_i = s_i; with a prior π of the
classes, S π_c s_i/S_c, S_c being the sum of s over the class of i; "balanced": s_i/S_c; all divided
by S = Σs in the mean form. (A row of weight 0 is still a neighbour of others.)

F is not concave, so that no bound is known. The Karush–Kuhn–Tucker conditions are

    ∂F/∂W_l = 0 where W_l > 0,    ∂F/∂W_l ≤ 0 where W_l = 0,
    ∂F/∂W_l = Σ_ij C_ij ∂D_ij/∂W_l − λ,    C_ij = a_i p_ij (q_i − G_ij)/σ.

(In w = √W the slope is 0 wherever w_l = 0, for any data, and proves nothing.) ``miss`` is the
largest violation. Its scale is λ; without λ, an upper bound on the sum.

If D is a square root, it has no slope at D = 0: rows that differ only in columns of weight 0 move
apart by |w_l||Δ_l|, and Σ C_ij|Δ_l| over these must not be above 0 either. Φ_s is the same for W
and cW: ΣW = P is required, and λ has no effect.

With a batch size m the rows are cut into B = ⌈n/m⌉ batches, the rows from ⌊b n/B⌋ up to the next
batch. Then k and j run over the rows of i's batch, and unless all a are divided by S they are
divided by B. Nothing is claimed about pairs of rows of different batches.

Time O(n²·P), in batches O(n·m·P); memory: a few arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, W, sigma, alpha, distance, gain, shift, scale, prior=None, mean=False,
          batch_size=None, tol=1e-6):  # fmt: skip
    """Check W (P,) on X (n, P), y (n,) and weights s (n,)."""
    P, lam = len(W), 0.0 if distance.fixed_sum else alpha
    varies = X.max(axis=0) > X.min(axis=0)
    feasible = W.min() >= 0 and not W[~varies].any()
    if distance.fixed_sum:
        feasible &= np.count_nonzero(W) > 1 and abs(fsum(W) - P) <= 1e-9 * P
    if not feasible:
        return Claim("stationary", inf, inf, 1.0, tol)
    X, W = ((X - shift) / scale)[:, varies], W[varies]
    n = len(X)
    B = -(-n // (batch_size or n))
    a = weights_of_rows(y, s, prior, mean) / (1 if mean else B)
    q, span, slope, kink = np.zeros(n), np.zeros(n), np.zeros(len(W)), np.zeros(len(W))
    for i, x in enumerate(X):
        b = (B * (i + 1) - 1) // n  # the batch of row i
        first, last = b * n // B, (b + 1) * n // B
        Z, others = X[first:last], np.arange(first, last) != i
        G, D = gain(y[first:last], i - first), distance(Z, x, W)
        p = neighbor_probabilities(D, others, sigma)
        q[i], span[i] = p @ G, np.ptp(G[others])
        C = a[i] * p * (q[i] - G) / sigma
        slope += C @ distance.slopes(Z, x, W)
        if distance.root:
            kink += C[D == 0] @ np.abs(Z[D == 0] - x)
    F = fsum(a * q) - lam * fsum(W)
    slope -= lam
    violation = np.where(W > 0, np.abs(slope), np.maximum(np.maximum(slope, kink), 0.0))
    R = np.ptp(X, axis=0).max(initial=0.0)
    unit = lam or fsum(a * span) / (2 * sigma) * distance.size(R, P) or 1.0
    return Claim("stationary", F, float(violation.max(initial=0.0)), unit, tol)


def weights_of_rows(y, s, prior, mean):
    """Row weights a_i."""
    a, S = s.astype(float), fsum(s)
    if prior is not None:
        c = y.astype(int)
        S_c = np.bincount(c, s)
        a = a / np.where(S_c > 0, S_c, 1.0)[c]
        a = a if isinstance(prior, str) else S * np.array(prior)[c] * a
    return a / S if mean else a


def neighbor_probabilities(D, others, sigma):
    """Probabilities p_ij of the neighbours of one row."""
    nearest = D[others].min()
    if nearest == inf:  # all are infinitely far, and so equally near
        D, nearest = np.zeros(len(D)), 0.0
    E = np.where(others, np.exp(-np.maximum(D - nearest, 0.0) / sigma), 0.0)
    return E / E.sum()
