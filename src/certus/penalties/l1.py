"""L1 penalty, which sets coefficients to 0."""

from .base import L1PlusL2, checked_strength


class L1(L1PlusL2):
    """g(w) = strength·‖w‖₁.

    Parameters
    ----------
    strength : float, default=1.0
    positive : bool, default=False
        Constrain w ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import L1
    >>> L1(2.0).prox(np.array([-3.0, 0.5, 4.0]), step=1.0)
    array([-1.,  0.,  2.])
    """

    name = "l1"
    formula = "strength·‖w‖₁"

    def __init__(self, strength: float = 1.0, *, positive: bool = False):
        self.strength = checked_strength(strength)
        super().__init__(l1=self.strength, l2=0.0, positive=positive)
