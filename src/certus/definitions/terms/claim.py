"""What a page returns."""

from typing import NamedTuple


class Claim(NamedTuple):
    """A claim holds where ``miss`` is at most ``tol`` times ``scale``."""

    kind: str  # "global optimum", "stationary", "local optimum", "exact", "no finite optimum"
    objective: float
    miss: float  # objective − bound; without a bound, how far the optimality condition is missed
    scale: float  # what ``miss`` is a share of
    tol: float
    bound: float | None = None  # no parameters are better than this

    @property
    def holds(self) -> bool:
        return bool(self.miss <= self.tol * self.scale)
