"""Box constraint on the coefficients."""

from typing import Any

import numpy as np


class Box:
    """g(w) = 0 where low ≤ w ≤ high, infinite elsewhere.

    Parameters
    ----------
    low, high : float or array-like of shape (n_features,)
        Bounds, one for all coefficients or one for each; ±inf for no bound.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import Box
    >>> Box(-1, 1).prox(np.array([-3.0, 0.5, 4.0]), step=1.0)
    array([-1. ,  0.5,  1. ])
    """

    name = "box"
    formula = "0 where low ≤ w ≤ high, ∞ elsewhere"
    convex = True
    separable = True

    def __init__(self, low: object, high: object):
        self.low, self.high = _bound("low", low), _bound("high", high)
        try:
            above = np.asarray(self.low > self.high)
        except ValueError:
            raise ValueError(
                f"low has {np.size(self.low)} numbers and high has {np.size(self.high)}: give one "
                "number for each column in both, or a single number"
            ) from None
        if above.any():
            at = f" (coefficient {int(above.argmax())})" if above.ndim else ""
            raise ValueError(f"low={low!r}, high={high!r}: low is above high{at}; exchange them")
        if np.any(np.equal(self.low, np.inf)) or np.any(np.equal(self.high, -np.inf)):
            raise ValueError(f"low={low!r}, high={high!r}: no coefficient is infinite; widen them")

    def _bounds(self, w: np.ndarray) -> tuple[Any, Any]:
        """Bounds in the shape of w, (p,) or (p, K)."""
        for name, bound in (("low", self.low), ("high", self.high)):
            if np.ndim(bound) and len(bound) != len(w):
                raise ValueError(
                    f"{name}: it has {len(bound)} numbers, the data have {len(w)} columns; give "
                    "one for each"
                )
        shape = np.shape(w)[:0:-1]
        low, high = (np.broadcast_to(x, (*shape, len(w))).T for x in (self.low, self.high))
        return low, high

    def value(self, w: np.ndarray) -> float:
        w = np.asarray(w, dtype=float)
        low, high = self._bounds(w)
        return 0.0 if ((low <= w) & (w <= high)).all() else np.inf

    def prox(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        return np.clip(v, *self._bounds(v))

    def conjugate(self, v: np.ndarray) -> float:
        v = np.asarray(v, dtype=float)
        low, high = self._bounds(v)
        best = np.where(v > 0, high, np.where(v < 0, low, 0.0))  # 0·∞ would be NaN
        return float(np.sum(v * best))

    def distance(self, w: np.ndarray, g: np.ndarray) -> np.ndarray:
        w, g = np.asarray(w, dtype=float), np.asarray(g, dtype=float)
        low, high = self._bounds(w)
        # at a bound, F may decrease outwards: beyond high if g < 0, beyond low if g > 0
        left = np.where(w == high, np.maximum(g, 0.0), np.where(w == low, np.maximum(-g, 0.0), g))
        left = np.where(low == high, 0.0, np.abs(left))
        return np.where((low <= w) & (w <= high), left, np.inf)

    def __repr__(self) -> str:
        low, high = (x.tolist() if isinstance(x, np.ndarray) else x for x in (self.low, self.high))
        return f"Box(low={low!r}, high={high!r})"


def _bound(name: str, given: object) -> Any:
    try:
        bound = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        bound = np.full((0, 0), np.nan)
    if bound.ndim > 1 or np.isnan(bound).any() or bound.size == 0:
        raise ValueError(f"{name}={given!r}: give a number, or one for each column")
    return float(bound) if bound.ndim == 0 else bound
