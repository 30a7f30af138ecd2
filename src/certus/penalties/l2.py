"""L2 penalty, which shrinks coefficients."""

from .base import L1PlusL2, checked_strength


class L2(L1PlusL2):
    """g(w) = strength/2·‖w‖².

    Parameters
    ----------
    strength : float, default=1.0
    positive : bool, default=False
        Constrain w ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import L2
    >>> L2(3.0).prox(np.array([-3.0, 0.5, 4.0]), step=1.0)
    array([-0.75 ,  0.125,  1.   ])
    """

    name = "l2"
    formula = "strength/2·‖w‖²"

    def __init__(self, strength: float = 1.0, *, positive: bool = False):
        self.strength = checked_strength(strength)
        super().__init__(l1=0.0, l2=self.strength, positive=positive)
