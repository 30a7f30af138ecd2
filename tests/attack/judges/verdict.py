"""What a judge says of a certificate: nothing, or which of its claims are false."""

from dataclasses import dataclass
from typing import Any

from flint import arb

SLACK = arb(1) + arb(2) ** -40  # relative, of a printed float that is compared

LITTLE = 1e-2  # of tol, by which the residual of a mixture may be off, and no other


@dataclass(frozen=True)
class Fault:
    """One claim that high precision does not bear out."""

    claim: str
    printed: float
    true: float

    def __str__(self) -> str:
        return f"{self.claim}: printed {self.printed:.6g}, true {self.true:.6g}"


class NotJudged(Exception):
    """The judge does not know the problem that a certificate is about."""


def above(claim: str, true: arb, printed: float, extra: Any = 0) -> list[Fault]:
    """A fault if a true value is above what is printed, with certainty."""
    if printed == float("inf"):
        return []
    if true > arb(float(printed)) * SLACK + extra:
        return [Fault(claim, float(printed), float(true.mid()))]
    return []
