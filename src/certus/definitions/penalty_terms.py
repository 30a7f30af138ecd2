r"""Penalties of linear regression: their values, and what a dual point may do with them.

    pen*(v) = sup_w vᵀw − pen(w)        F(w, b) ≥ (1/D) Σ_i s_i G_i(a_i) − pen*(v)

For each: ``value``; ``conjugate``, pen* at most, for every v within ``error``; ``scale``, a τ with
pen*(τv) = 0 for all of them (0 where there is none); ``excludes``, what is wrong with a w that is
not allowed. Arrays are p×k in the user's units, and each column of w is its own problem.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.definitions.linear_sums import gamma

LITTLE_LESS = 1 - 2.0**-50  # a quotient that rounding made no larger


class ElasticNetTerm(NamedTuple):
    """l1‖w‖₁ + l2/2 ‖w‖², over w ≥ 0 if ``positive``. pen* = Σ_j [|v_j| − l1]₊²/(2 l2), or of
    [v_j − l1]₊; where l2 = 0, 0 if these are all 0 and else infinite."""

    l1: float
    l2: float
    positive: bool = False
    convex: bool = True

    def value(self, w: Any) -> Any:
        value = self.l1 * np.abs(w).sum(axis=0)
        return value + self.l2 / 2 * (w * w).sum(axis=0) if self.l2 else value

    def excludes(self, w: Any) -> str:
        below = self.positive and (w < 0).any()
        return "a coefficient is below 0, which positive=True excludes" if below else ""

    def _size(self, v: Any, error: Any) -> Any:
        return ((v if self.positive else np.abs(v)) + error) * (1 + gamma(4))

    def scale(self, v: Any, error: Any) -> Any:
        largest = self._size(v, error).max(axis=0, initial=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(largest > 0, self.l1 / largest, np.inf) * LITTLE_LESS

    def conjugate(self, v: Any, error: Any) -> Any:
        beyond = np.maximum(self._size(v, error) - self.l1, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            most = np.where(beyond > 0, beyond**2 / (2 * self.l2), 0.0).sum(axis=0)
        return most * (1 + gamma(len(v) + 8))


def term_of(penalty: dict[str, Any], p: int) -> Any:
    """The penalty that a model names, for p columns."""
    given = dict(penalty)
    return TERMS[given.pop("name")](**given)


TERMS = {"elastic_net": ElasticNetTerm}
