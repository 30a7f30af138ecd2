"""Texts for least squares and ridge: R², rank, the worst coefficient, repeated columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...text.format import (
    best_possible,
    count,
    listed,
    magnitude,
    name_of,
    number,
    printable,
    small,
)
from ..facts import SquaresFacts
from ..findings import facts_of
from .optimum import (
    OptimumWording,
    coefficients_row,
    gap_row,
    infeasible_rows,
    objective_row,
    optimum_finding,
)
from .stopping import of_statsmodels, replacement
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

Aliases = tuple[np.ndarray, np.ndarray, np.ndarray]  # columns, those they repeat, and how
INTERCEPT_ALONE = "what the intercept alone leaves"
# the equation as MathML
SQUARES = (
    "<munder><mo>∑</mo><mi>i</mi></munder>{weight}<msup><mrow><mo>(</mo><msub><mi>y</mi>"
    "<mi>i</mi></msub><mo>−</mo><msubsup><mi>x</mi><mi>i</mi><mi>T</mi></msubsup><mi>w</mi>"
    "<mo>−</mo><mi>b</mi><mo>)</mo></mrow><mn>2</mn></msup>"
)
PENALTY = "<mo>+</mo><mi>α</mi><msup><mrow><mo>‖</mo><mi>w</mi><mo>‖</mo></mrow><mn>2</mn></msup>"


class SquaresWording(OptimumWording):
    def certified(self, c: "Certificate") -> Lines:
        facts = facts_of(c, SquaresFacts)
        best = f"the best possible is {best_possible(c.bound)}"
        rows = objective_row(c, f"{_r_squared(c, c.objective)}; {best}")
        rows += gap_row(c, INTERCEPT_ALONE) + coefficients_row(c)
        p, rank = c.shape[1], facts.rank
        if facts.claimed_rank is not None and rank is not None:
            text = f"{rank} of {count(p, 'column')}"
            if rank < p:
                text += (
                    ": some repeat others, so coefficients are not unique (the smallest were taken)"
                )
            rows.append(("Rank", text))
        if facts.loo_score is not None:
            error = number(-facts.loo_score)
            text = f"mean squared error on rows left out {error}, the least over alphas"
            rows.append(("Left out", text))
        rows.append(("Proven by", f"the gradient and {optimum_finding(c).proof}"))
        return rows

    def failure_rows(self, c: "Certificate") -> Lines:
        if optimum_finding(c).infeasible:
            return infeasible_rows(c)
        rows = objective_row(c, _r_squared(c, c.objective))
        if optimum_finding(c).unproven is not None:
            return [*rows, *self._unproven_rows(c)]
        best = c.bound or 0.0
        times = c.objective / best if best > 0 else np.inf
        lower = f": {number(times, 3)} times lower" if 1.1 < times < np.inf else ""
        if c.parameters.get("positive"):
            rows.append(("Best possible", f"{best_possible(c.bound)}{_r_squared(c, best)}"))
        else:
            rows.append(("Best possible", f"{number(best, 7)}{_r_squared(c, best)}{lower}"))
        worst = _worst_coefficient(c)
        if worst:
            rows.append(("What is wrong", worst))
        return [*rows, *cause_and_remedy(self.likely_cause(c), _remedy(c))]

    def _unproven_rows(self, c: "Certificate") -> Lines:
        gain = optimum_finding(c).step_gain
        if gain <= c.tol:
            text = f"nothing that one step shows: it gains {small(gain)} of {INTERCEPT_ALONE}"
        else:
            text = f"one step lowers the objective by {number(gain, 2)} of {INTERCEPT_ALONE}"
        return [
            ("Best possible", best_possible(c.bound)), ("What is wrong", text),
            ("Why no more", str(optimum_finding(c).unproven)),
            ("What to do", self.remedy_for_proof(c)),
        ]  # fmt: skip

    def likely_cause(self, c: "Certificate") -> str | None:
        facts = facts_of(c, SquaresFacts)
        norm, claimed, rank = facts.norm, facts.claimed_rank, facts.rank
        causes = []
        if norm is not None and (norm > 0).any():
            ratio = norm.max() / norm[norm > 0].min()
            if ratio > 1e4:
                causes.append(f"column scales differ by {magnitude(ratio)}")
        if claimed is not None and rank is not None and claimed < rank:
            causes.append(
                f"rank_ is {claimed} of {rank}, so a column was dropped without a warning"
            )
        if facts.condition is not None and facts.condition > 1e7:
            condition = number(facts.condition, 2)
            causes.append(f"columns nearly repeat others (condition number {condition})")
        return "; ".join(causes) or None

    def remedy_for_proof(self, c: "Certificate") -> str:
        if np.all(c.parameters["alpha"]):
            return super().remedy_for_proof(c)
        return "use Ridge, whose penalty proves the fit, or fewer columns"

    def equation(self, c: "Certificate") -> str:
        weight = "".join(
            f"<msub><mi>{name}</mi><mi>i</mi></msub>" for name in "sc" if f"{name}ᵢ" in c.formula
        )
        penalty = PENALTY if "α" in c.formula else ""
        return f"<mrow>{SQUARES.format(weight=weight)}{penalty}</mrow>"


def _r_squared(c: "Certificate", f: float) -> str:
    """(R² 0.52), for one target without a penalty."""
    penalized = np.any(c.parameters.get("alpha", 0))
    if penalized or c.parameters["w"].shape[1] > 1 or c.labels is not None:
        return ""
    return f" (R² {number(1 - f / optimum_finding(c).null_objective, 4)})"


def _remedy(c: "Certificate") -> str:
    if optimum_finding(c).ours:
        return "drop or combine columns that nearly repeat others"
    if c.labels is not None:  # of RidgeClassifier there is none of ours
        return "standardise first, or use solver='svd'"
    if of_statsmodels(c):  # pinv and QR, whatever the columns' scales
        return f"use {replacement(c)}"
    return f"standardise first, or use certus.linear_model.{c.model.rsplit('.', 1)[-1]}"


def _worst_coefficient(c: "Certificate") -> str | None:
    facts = facts_of(c, SquaresFacts)
    best, norm = facts.best_w, facts.norm
    if best is None or norm is None or c.parameters.get("positive"):
        return None  # the best step is known where it may be taken whole
    w = c.parameters["w"]
    off = np.abs(best - w) * norm[:, None]
    j, t = np.unravel_index(np.argmax(off), off.shape)
    if off[j, t] <= 1e-9 * np.max(np.abs(best) * norm[:, None], initial=0.0):
        return "the intercept: the residuals do not sum to 0"
    return (
        f"the coefficient of {name_of(int(j), c.feature_names)} is {number(w[j, t], 3)}; the "
        f"optimum has {number(best[j, t], 3)}"
    )


# --- repeated columns -----------------------------------------------------------------------------


def repeated_columns(aliases: Aliases, names: Sequence[str] | None, n: int, p: int) -> str:
    """Message of AliasWarning: which columns repeat which others."""
    columns, basis, coef = aliases
    if len(basis) >= n - 1 and len(columns) > 0 and p >= n:
        return printable(
            f"{count(n, 'row')} cannot determine {count(p, 'coefficient')}: they are not unique "
            "(the smallest were taken) and have no standard errors. Use Ridge, or fewer columns."
        )
    equations = [_alias(int(j), basis, c, names) for j, c in zip(columns, coef.T, strict=False)]
    dropped = listed([name_of(int(j), names) for j in columns])
    verb = "repeats" if len(columns) == 1 else "repeat"
    more = len(columns) - len(equations)
    shown = "; ".join(equations) + (f"; and {more} more" if more else "")
    return printable(
        f"{len(columns)} of {count(p, 'column')} {verb} others: {shown}. Predictions are "
        "unaffected. Their coefficients are not unique (the smallest were taken) and have no "
        "standard errors. "
        f"Drop {' and '.join(dropped.rsplit(', ', 1))} for unique ones."
    )


def _alias(j: int, basis: np.ndarray, coef: np.ndarray, names: Sequence[str] | None) -> str:
    """'total' = 'price' + 'tax'."""
    terms = np.flatnonzero(coef)
    left = name_of(j, names)
    if len(terms) == 0:
        return f"{left} is constant"
    if len(terms) > 4:
        return f"{left} = a combination of {len(terms)} columns"
    text = ""
    for i in terms:
        size = abs(coef[i])
        name = name_of(int(basis[i]), names)
        factor = "" if abs(size - 1) < 1e-6 else f"{number(size, 4)} × "
        sign = ("−" if coef[i] < 0 else "") if not text else (" − " if coef[i] < 0 else " + ")
        text += f"{sign}{factor}{name}"
    return f"{left} = {text}"
