"""Certificates, warnings and audits in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._words import count, listed, magnitude, number, printable, small

if TYPE_CHECKING:
    from .certificate import Certificate

MARK = {"optimal": "[OK]", "nearly optimal": "[!]", "not proven": "[?]"}
TITLE = {"contradicted": "CONTRADICTED", "other rows": "NOT THE ROWS IT WAS FITTED ON"}


def one_line(c: "Certificate") -> str:
    if c.status == "other rows":
        return printable(f"Certificate({c.notes[-1]})")
    if c.status == "contradicted":
        return printable(f"Certificate(contradicted: {c.found['wrong'][0]})")
    distance = f"at most {small(c.gap)} above the best possible"
    if not c.certified:
        distance = f"the best possible is {_best(c)}"
    status = f"stopped {c.found['stopped']}" if c.status == "stopped" else c.status
    return printable(f"Certificate({status}: objective {number(c.objective, 7)}, {distance})")


def _best(c: "Certificate") -> str:
    return f"at least {number(c.bound, 7)}" if c.bound else "not known to be above 0"


def explain(c: "Certificate") -> str:
    n, p = c.shape
    title = TITLE.get(c.status, c.status.upper())
    shape = f"{count(n, 'row')} × {count(p, 'column')}"
    lines = [f"{MARK.get(c.status, '[!!]')} {title}   {c.model}, {shape}"]
    lines += [f"{label:<14} {text}" for label, text in _body(c)]
    return printable("\n".join(lines))


def _body(c: "Certificate") -> list[tuple[str, str]]:
    wrong = c.found.get("wrong", [])
    rows = [("Minimised", c.formula)]
    if c.status == "other rows":
        rows.append(("What is wrong", c.notes[-1]))
        rows.append(
            ("What to do", "give the X, y and sample_weight of the fit, rows in the same order")
        )
    elif c.status == "stopped":
        rows.append(("Objective", f"{number(c.objective, 7)}; the best possible is {_best(c)}"))
        rows.append(("What is wrong", f"stopped {c.found['stopped']}"))
        rows.append(("What to do", "fit again and let it finish"))
    elif c.residual <= c.tol:
        rows += _certified(c)
        rows += [("What is wrong", text) for text in wrong]
    else:
        rows += _refused(c)
    notes = c.notes[:-1] if c.status == "other rows" else c.notes
    rows += [("Note", f"{text}.") for text in notes]
    rows.append(("Checked by", f"{c.definition}, from the data; the solver was not asked"))
    if c.certified:
        rows.append(
            ("Does not say", "that the model is true, the data sound, or that it predicts well")
        )
    return rows


def _certified(c: "Certificate") -> list[tuple[str, str]]:
    rows = [
        ("Objective", f"{number(c.objective, 7)}{_r_squared(c, c.objective)}; the best possible is "
                      f"{_best(c)}"),
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
    if np.any(c.parameters.get("alpha", 0)) or c.parameters["w"].shape[1] > 1:
        return ""
    return f" (R² {number(1 - f / c.found['null_objective'], 4)})"


def _refused(c: "Certificate") -> list[tuple[str, str]]:
    if c.found["infeasible"]:
        return [("What is wrong", c.found["infeasible"])]
    rows = [("Objective", number(c.objective, 7) + _r_squared(c, c.objective))]
    if "unproven" in c.found:
        rows.append(("Best possible", _best(c)))
        gain = c.found["at_least"]
        if c.status == "not proven":
            rows.append(("What is wrong", f"nothing that one step shows: it gains {small(gain)} of "
                                          "what the intercept alone leaves"))  # fmt: skip
        else:
            rows.append(("What is wrong", f"one step lowers the objective by {number(gain, 2)} of "
                                          "what the intercept alone leaves"))  # fmt: skip
        rows.append(("Why no more", c.found["unproven"]))
        rows.append(("What to do", _to_prove_it(c)))
        return rows
    best = c.bound or 0.0
    times = c.objective / best if best > 0 else np.inf
    lower = f": {number(times, 3)} times lower" if 1.1 < times < np.inf else ""
    if c.parameters.get("positive"):
        rows.append(("Best possible", f"{_best(c)}{_r_squared(c, best)}"))
    else:
        rows.append(("Best possible", f"{number(best, 7)}{_r_squared(c, best)}{lower}"))
    worst = _worst_coefficient(c)
    if worst:
        rows.append(("What is wrong", worst))
    cause = _likely_cause(c)
    if cause:
        rows.append(("Likely cause", cause))
    name = c.model.rsplit(".", 1)[-1]
    if not c.found["ours"]:
        remedy = f"standardise first, or use certus.linear_model.{name}"
    else:
        remedy = "drop or combine columns that nearly repeat others"
    rows.append(("What to do", remedy))
    return rows


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


def _likely_cause(c: "Certificate") -> str | None:
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


def name_of(j: int, names: Sequence[str] | None) -> str:
    return f"'{names[j]}'" if names is not None else f"column {j}"


def note(c: "Certificate") -> str:
    from . import __version__

    n, p = c.shape
    if not c.certified:
        return printable(f"Not certified: {one_line(c)[12:-1]}.")
    return printable(
        f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) minimises {c.formula}; the objective "
        f"{number(c.objective, 7)} was recomputed from the data and is at most {small(c.gap)} "
        f"above the best possible (certus {__version__}, {c.definition})."
    )


def not_certified(c: "Certificate", stopped_at: int | None = None) -> str:
    """What a fit warns of. ``stopped_at``: the max_iter that ended it."""
    if c.status == "contradicted":
        return f"{c.model}: {'; '.join(c.found['wrong'])}."
    if stopped_at is not None:
        return printable(_stopped(c, stopped_at))
    if c.status == "not proven":
        return printable(
            f"{c.model} is not certified: objective {number(c.objective, 7)}, and there are "
            f"{c.found['unproven']}. No step was found that lowers it: {_to_prove_it(c)}."
        )
    share = c.gap / c.bound if c.bound else np.inf
    percent = f"up to {number(100 * share, 2)} % too high" if share < np.inf else "not bounded"
    if c.status == "stopped":
        return printable(
            f"{c.model} stopped {c.found['stopped']}: objective {number(c.objective, 7)}, the best "
            f"possible is {_best(c)}, so {percent}. Let it run longer."
        )
    cause = _likely_cause(c)
    return printable(
        f"{c.model} is not certified: objective {number(c.objective, 7)}, the best possible is "
        f"{_best(c)}, so {percent}. "
        + (f"Likely cause: {cause}. " if cause else "")
        + "See certificate_.explain()."
    )


def _to_prove_it(c: "Certificate") -> str:
    if np.all(c.parameters["alpha"]):
        return "a larger alpha proves more; so do fewer columns"
    return "use Ridge, whose penalty proves the fit, or fewer columns"


def _stopped(c: "Certificate", stopped_at: int) -> str:
    best = f"the best possible is {_best(c)}"
    too_high = ""
    if c.bound:
        low, high = number(c.bound, 4), number(c.objective, 4)
        best = f"best possible between {low} and {high}"
        too_high = f", so up to {number(100 * c.gap / c.bound, 2)} % too high"
    return (
        f"{c.model} stopped at max_iter={stopped_at} before the optimum: objective "
        f"{number(c.objective, 4)}, {best}{too_high}. Raise max_iter or use solver='auto'."
    )


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
