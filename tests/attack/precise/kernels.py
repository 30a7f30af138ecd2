"""Kernel matrices of rows in high precision."""

from typing import Any

import numpy as np
from flint import arb, arb_mat

from ..judges.verdict import NotJudged
from .balls import balls, dot, total


def gram(X: np.ndarray, kernel: Any, gamma: float, degree: float, coef0: float) -> arb_mat:
    """K(x_i, x_j) of all pairs."""
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise NotJudged(f"kernel {kernel}")
    rows = [balls(x) for x in X]
    n, g, c = len(rows), arb(float(gamma)), arb(float(coef0))
    K = arb_mat(n, n)
    for i in range(n):
        for j in range(i + 1):
            K[i, j] = KERNELS[kernel](rows[i], rows[j], g, c, int(degree))
            K[j, i] = K[i, j]
    return K


def _differences(x: list[arb], z: list[arb]) -> list[arb]:
    return [abs(a - b) for a, b in zip(x, z, strict=True)]


def _cosine(x: list[arb], z: list[arb], *_: Any) -> arb:
    length = (dot(x, x) * dot(z, z)).sqrt()
    return dot(x, z) / length if length > 0 else arb(0)


KERNELS: dict[str, Any] = {
    "linear": lambda x, z, g, c, d: dot(x, z),
    "rbf": lambda x, z, g, c, d: (-g * total(u * u for u in _differences(x, z))).exp(),
    "laplacian": lambda x, z, g, c, d: (-g * total(_differences(x, z))).exp(),
    "poly": lambda x, z, g, c, d: (g * dot(x, z) + c) ** d,
    "cosine": _cosine,
}
