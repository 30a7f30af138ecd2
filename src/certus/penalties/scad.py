"""SCAD penalty, which sets small coefficients to 0 and does not shrink large ones."""

import numpy as np

from .nonconvex import NonConvex


class SCAD(NonConvex):
    """g(w) = Σ_j m(|w_j|), m'(u) = λ up to λ, (γλ − u)/(γ − 1) up to γλ, 0 beyond; λ = strength.

    The smoothly clipped absolute deviation (Fan and Li 2001). It is not convex: a fit may end at a
    local optimum.

    Parameters
    ----------
    strength : float, default=1.0
        λ ≥ 0.
    gamma : float, default=3.7
        γ > 2. The larger γ, the closer to ``L1``.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import SCAD
    >>> SCAD(1.0, gamma=3.0).prox(np.array([-5.0, 0.5, 1.5, 2.5]), step=1.0)
    array([-5. ,  0. ,  0.5,  2. ])
    """

    name = "scad"
    formula = "Σ λ|wⱼ| where |wⱼ| ≤ λ, (2γλ|wⱼ| − wⱼ² − λ²)/(2(γ − 1)) up to γλ, λ²(γ + 1)/2 beyond"
    min_gamma = 2.0

    def __init__(self, strength: float = 1.0, gamma: float = 3.7):
        super().__init__(strength, gamma)

    def of_size(self, u: np.ndarray) -> np.ndarray:
        lam, gamma = self.strength, self.gamma
        start = np.minimum(u, lam)
        bent = np.clip(u, lam, gamma * lam) - lam
        return lam * start + bent * (lam - bent / (2 * (gamma - 1)))

    def slope(self, u: np.ndarray) -> np.ndarray:
        return np.clip((self.gamma * self.strength - u) / (self.gamma - 1), 0.0, self.strength)

    def prox_of_size(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        lam, gamma = self.strength, self.gamma
        start = np.maximum(v - step * lam, 0.0)
        # curvature of the middle piece; if it is concave, start or v is best
        bend = 1 - step / (gamma - 1)
        bent = (v - step * gamma * lam / (gamma - 1)) / np.where(bend > 0, bend, 1.0)
        smooth = np.where(v <= (1 + step) * lam, start, np.where(v <= gamma * lam, bent, v))
        # v is better where step·m(γλ) < ½(start − v)² + step·λ·start
        far = np.where(step <= gamma + 1, (gamma + 1 + step) / 2, np.sqrt(step * (gamma + 1)))
        return np.where(bend > 0, smooth, np.where(v <= lam * far, start, v))
