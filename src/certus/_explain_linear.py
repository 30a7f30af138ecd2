"""What least squares and ridge certificates say: R², rank, the worst coefficient, repeated columns.

For the words that all certificates share see ``_explain.py``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._words import best_possible, count, listed, magnitude, name_of, number, printable, small

if TYPE_CHECKING:
    from .certificate import Certificate


def certified(c: "Certificate") -> list[tuple[str, str]]:
    rows = [
        ("Objective", f"{number(c.objective, 7)}{_r_squared(c, c.objective)}; the best possible is "
                      f"{best_possible(c.bound)}"),
        ("Gap", f"at most {small(c.gap)}, {small(c.residual)} of what the intercept alone leaves"),
    ]  # fmt: skip
    if c.coef_error is not None:
        rows.append(("Coefficients", f"none is more than {small(c.coef_error)} from the optimum's"))
    p, rank = c.shape[1], c.found.get("rank")
    if c.found.get("claimed_rank") is not None and rank is not None:
        said = f"{rank} of {count(p, 'column')}"
        if rank < p:
            said += ": some repeat others, so coefficients are not unique (the smallest were taken)"
        rows.append(("Rank", said))
    if c.found.get("loo_score") is not None:
        rows.append(
            ("Left out", f"mean squared error on rows left out {number(-c.found['loo_score'])}, "
                         "the least over alphas")
        )  # fmt: skip
    rows.append(("Proven by", f"the gradient and {c.found['proof']}"))
    return rows


def _r_squared(c: "Certificate", f: float) -> str:
    """(R² 0.52), for one target without a penalty."""
    penalised = np.any(c.parameters.get("alpha", 0))
    if penalised or c.parameters["w"].shape[1] > 1 or c.labels is not None:
        return ""
    return f" (R² {number(1 - f / c.found['null_objective'], 4)})"


def best(c: "Certificate") -> str:
    return f"the best possible is {best_possible(c.bound)}"


def refused(c: "Certificate") -> list[tuple[str, str]]:
    if c.found["infeasible"]:
        return [("What is wrong", c.found["infeasible"])]
    rows = [("Objective", number(c.objective, 7) + _r_squared(c, c.objective))]
    if "unproven" in c.found:
        rows.append(("Best possible", best_possible(c.bound)))
        gain = c.found["at_least"]
        if gain <= c.tol:
            rows.append(("What is wrong", f"nothing that one step shows: it gains {small(gain)} of "
                                          "what the intercept alone leaves"))  # fmt: skip
        else:
            rows.append(("What is wrong", f"one step lowers the objective by {number(gain, 2)} of "
                                          "what the intercept alone leaves"))  # fmt: skip
        rows.append(("Why no more", c.found["unproven"]))
        rows.append(("What to do", to_prove_it(c)))
        return rows
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
    cause = likely_cause(c)
    if cause:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c)))
    return rows


def _remedy(c: "Certificate") -> str:
    if c.found["ours"]:
        return "drop or combine columns that nearly repeat others"
    if c.labels is not None:  # of RidgeClassifier there is none of ours
        return "standardise first, or use solver='svd'"
    return f"standardise first, or use certus.linear_model.{c.model.rsplit('.', 1)[-1]}"


def _worst_coefficient(c: "Certificate") -> str | None:
    if "best_w" not in c.found or c.parameters.get("positive"):
        return None  # the best step is known where it may be taken whole
    best, norm = c.found["best_w"], c.found["norm"]
    w = c.parameters["w"]
    off = np.abs(best - w) * norm[:, None]
    j, t = np.unravel_index(np.argmax(off), off.shape)
    if off[j, t] <= 1e-9 * np.max(np.abs(best) * norm[:, None], initial=0.0):
        return "the intercept: the residuals do not sum to 0"
    return (
        f"the coefficient of {name_of(int(j), c.feature_names)} is {number(w[j, t], 3)}; the "
        f"optimum has {number(best[j, t], 3)}"
    )


def likely_cause(c: "Certificate") -> str | None:
    norm, claimed, rank = c.found.get("norm"), c.found.get("claimed_rank"), c.found.get("rank")
    causes = []
    if norm is not None and (norm > 0).any():
        ratio = norm.max() / norm[norm > 0].min()
        if ratio > 1e4:
            causes.append(f"column scales differ by {magnitude(ratio)}")
    if claimed is not None and rank is not None and claimed < rank:
        causes.append(f"rank_ is {claimed} of {rank}, so a column was dropped without a warning")
    condition = c.found.get("condition")
    if condition is not None and condition > 1e7:
        causes.append(f"columns nearly repeat others (condition number {number(condition, 2)})")
    return "; ".join(causes) or None


def to_prove_it(c: "Certificate") -> str:
    if np.all(c.parameters["alpha"]):
        return "a larger alpha proves more; so do fewer columns"
    return "use Ridge, whose penalty proves the fit, or fewer columns"


# --- repeated columns -----------------------------------------------------------------------------


def repeated_columns(aliases: Any, names: Sequence[str] | None, n: int, p: int) -> str:
    """AliasWarning: which columns repeat which."""
    columns, kept, coef = aliases
    if len(kept) >= n - 1 and len(columns) > 0 and p >= n:
        return printable(
            f"{count(n, 'row')} cannot determine {count(p, 'coefficient')}: they are not unique "
            "(the smallest were taken) and have no standard errors. Use Ridge, or fewer columns."
        )
    told = [_alias(int(j), kept, c, names) for j, c in zip(columns, coef.T, strict=False)]
    dropped = listed([name_of(int(j), names) for j in columns])
    verb = "repeats" if len(columns) == 1 else "repeat"
    more = len(columns) - len(told)
    shown = "; ".join(told) + (f"; and {more} more" if more else "")
    return printable(
        f"{len(columns)} of {count(p, 'column')} {verb} others: {shown}. Predictions are "
        "unaffected. Their coefficients are not unique (the smallest were taken) and have no "
        "standard errors. "
        f"Drop {' and '.join(dropped.rsplit(', ', 1))} for unique ones."
    )


def _alias(j: int, kept: Any, coef: Any, names: Sequence[str] | None) -> str:
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
        name = name_of(int(kept[i]), names)
        factor = "" if abs(size - 1) < 1e-6 else f"{number(size, 4)} × "
        sign = ("−" if coef[i] < 0 else "") if not text else (" − " if coef[i] < 0 else " + ")
        text += f"{sign}{factor}{name}"
    return f"{left} = {text}"
