"""What a page returns."""

from typing import NamedTuple


class Claim(NamedTuple):
    """``kind`` is proven where ``miss`` is at most ``tol`` times ``scale``."""

    kind: str  # "global optimum", "stationary", "local optimum", "exact", "no finite optimum"
    objective: float
    miss: float  # objective − bound; without a bound, how far the optimality condition is missed
    scale: float  # what ``miss`` is a share of
    tol: float
    bound: float | None = None  # no parameters are better than this

    @property
    def holds(self) -> bool:
        return bool(self.miss <= self.tol * self.scale)


def total(claims: list[Claim]) -> Claim:
    """The claim of problems that share no parameters."""
    kinds, objectives, misses, scales, tols, bounds = zip(*claims, strict=True)
    bound = None if None in bounds else sum(bounds)
    return Claim(kinds[0], sum(objectives), sum(misses), sum(scales), tols[0], bound)
