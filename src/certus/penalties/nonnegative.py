"""Nonnegativity constraint on the coefficients."""

from .base import L1PlusL2


class NonNegative(L1PlusL2):
    """g(w) = 0 where w ≥ 0, infinite elsewhere.

    To combine it with a penalty, use ``L1``, ``L2`` or ``ElasticNet`` with ``positive=True``.

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
