"""Minimax concave penalty, which sets small coefficients to 0 and does not shrink large ones."""

import numpy as np

from .nonconvex import NonConvex


class MCP(NonConvex):
    """g(w) = Σ_j m(|w_j|), m(u) = λu − u²/(2γ) up to γλ, and γλ²/2 beyond; λ = strength.

    The minimax concave penalty (Zhang 2010): the slope decreases from λ at 0 to 0 at γλ, so large
    coefficients are not shrunk. It is not convex: a fit may end at a local optimum.

    Parameters
    ----------
    strength : float, default=1.0
        λ ≥ 0.
    gamma : float, default=3.0
        γ > 1. The larger γ, the closer to ``L1``.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import MCP
    >>> MCP(1.0, gamma=3.0).prox(np.array([-5.0, 0.5, 2.0]), step=1.0)
    array([-5. ,  0. ,  1.5])
    """

    name = "mcp"
    formula = "Σ λ|wⱼ| − wⱼ²/(2γ) where |wⱼ| ≤ γλ, γλ²/2 beyond"
    min_gamma = 1.0

    def __init__(self, strength: float = 1.0, gamma: float = 3.0):
        super().__init__(strength, gamma)

    def of_size(self, u: np.ndarray) -> np.ndarray:
        inner = np.minimum(u, self.gamma * self.strength)
        return inner * (self.strength - inner / (2 * self.gamma))

    def slope(self, u: np.ndarray) -> np.ndarray:
        return np.maximum(self.strength - u / self.gamma, 0.0)

    def prox_of_size(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        lam, gamma = self.strength, self.gamma
        bend = 1 - step / gamma  # curvature of the inner piece; if it is concave, 0 or v is best
        inner = np.maximum(v - step * lam, 0.0) / np.where(bend > 0, bend, 1.0)
        smooth = np.where(v <= gamma * lam, inner, v)
        jump = np.where(v <= lam * np.sqrt(step * gamma), 0.0, v)
        return np.where(bend > 0, smooth, jump)
