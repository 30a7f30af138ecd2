"""Coefficients that are not negative."""

from .base import L1PlusL2


class NonNegative(L1PlusL2):
    """g(w) = 0 where w ≥ 0, infinite elsewhere.

    With a penalty beside it: ``L1(strength, positive=True)``, ``L2``, ``ElasticNet``.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import NonNegative
    >>> NonNegative().prox(np.array([-3.0, 0.5, 4.0]), step=1.0)
    array([0. , 0.5, 4. ])
    """

    name = "nonnegative"
    formula = "0 where w ≥ 0, ∞ elsewhere"

    def __init__(self) -> None:
        super().__init__(l1=0.0, l2=0.0, positive=True)

    def __repr__(self) -> str:
        return "NonNegative()"
