"""Elastic-net penalty: a mixture of L1 and L2."""

from .base import L1PlusL2, checked_strength


class ElasticNet(L1PlusL2):
    """g(w) = strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²).

    Parameters
    ----------
    strength : float, default=1.0
    l1_ratio : float, default=0.5
        From 0, which is ``L2``, to 1, which is ``L1``.
    positive : bool, default=False
        Constrain w ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import ElasticNet
    >>> ElasticNet(2.0, l1_ratio=0.5).prox(np.array([-3.0, 0.5, 4.0]), step=1.0)
    array([-1. ,  0. ,  1.5])
    """

    name = "elastic_net"
    formula = "strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²)"

    def __init__(self, strength: float = 1.0, l1_ratio: float = 0.5, *, positive: bool = False):
        if not 0 <= l1_ratio <= 1:
            raise ValueError(f"l1_ratio={l1_ratio!r}: give a number from 0 to 1")
        self.strength, self.l1_ratio = checked_strength(strength), float(l1_ratio)
        super().__init__(
            l1=self.strength * l1_ratio,
            l2=self.strength * (1 - l1_ratio),
            positive=positive,
        )
