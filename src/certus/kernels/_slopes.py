"""Slopes ∂ℓ/∂z of the loss of one row, for kernels that update w row by row.

squared z − y · Huber z − y, clipped to ±δ · logistic −y/(1 + e^{yz}) ·
squared hinge −2y[1 − yz]₊ · softmax e^{z_k}/Σ e^z − 1[k = y]
"""

from certus.kernels._compile import kernel_in_order
from certus.kernels._elementary import exp_below

SQUARED, HUBER, LOGISTIC, SQUARED_HINGE, SOFTMAX = range(5)


def check_scores(code, y, K) -> None:
    """Raise ValueError unless labels match the scores, since kernels index scores by labels."""
    if code != SOFTMAX and K != 1:
        raise ValueError(f"{K} scores a row do not match a loss of one")
    if code == SOFTMAX and len(y) and not 0 <= y.min() <= y.max() < K:
        raise ValueError(f"classes from {y.min():g} to {y.max():g} do not match {K} scores")


@kernel_in_order
def slope(code, delta, y, z):
    """Slope of a loss of one score."""
    if code == LOGISTIC:
        m = y * z
        e = exp_below(-abs(m))
        return -y * (e if m > 0 else 1.0) / (1.0 + e)
    if code == SQUARED_HINGE:
        return -2.0 * y * max(1.0 - y * z, 0.0)
    r = z - y
    return min(max(r, -delta), delta) if code == HUBER else r


@kernel_in_order
def slopes(code, delta, y, z):
    """Replace the scores z (K,) by the slopes at z."""
    if code != SOFTMAX:
        z[0] = slope(code, delta, y, z[0])
        return
    largest = z[0]
    for k in range(1, len(z)):
        largest = max(largest, z[k])
    total = 0.0
    for k in range(len(z)):
        z[k] = exp_below(z[k] - largest)
        total += z[k]
    for k in range(len(z)):
        z[k] /= total
    z[int(y)] -= 1.0
