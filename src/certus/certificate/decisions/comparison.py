"""What a missed optimum means for decisions: answers of the model beside those at the optimum.

    model ── |answer − answer'| ──► certified refit ── √(gap/…) ──► optimum

The refit starts from the model's own parameters, and the proof of the claim is run on it as on any
model. How far its answers can be from the optimum's follows from its gap
(``proofs/optimum_answers.py``); the sum bounds the distance of the model's own.
"""

from dataclasses import replace
from typing import Literal, cast

import numpy as np

from ...audit import Reading
from ...data.rows import Rows
from ...proofs import optimum_answers
from ...refits import CONVEX, NoRefitError, refit
from ..findings import OptimumFinding
from ..parameters import Parameters
from ..proving import as_defined, prove
from ..registry import CLAIMS
from .answers import RowAnswers, answers, kind_of_answer, row_lengths
from .record import Decisions

When = Literal["auto"] | bool
# statuses of which "auto" compares the decisions
MISSED = ("nearly optimal", "not optimal")
# n·m·min(n, m) of m coefficients, a step of Newton's method: at 1e9 refits took 1 to 3 s
MAX_WORK = 4e9
MAX_FACTORED = 300  # coefficients beyond which most solvers do not factor
MANY_STEPS = {"hinge": 5.0, "huber_regression": 20.0}  # how much longer these take
CHANGED_SHARE = 0.01  # of the typical error: a prediction that moves by less does not count


def wanted(when: When, status: str, other_rows: bool) -> bool:
    """Return whether decisions are to be compared, by the argument of ``verify``."""
    return status in MISSED and not other_rows if when == "auto" else when


def compare(
    reading: Reading, rows: Rows, tol: float, when: When
) -> tuple[Decisions | None, str | None]:
    """Return the decisions, or None with the reason why they were not compared."""
    if reading.definition not in CONVEX:
        return None, None
    n, m = rows.shape[0], np.size(reading.parameters["w"])
    if rows.streamed:
        return None, "decisions are not compared on rows that are read block by block"
    if when == "auto" and _work(reading.definition, n, m) > MAX_WORK:
        return None, (
            "decisions are not compared with the optimum's: a refit of so many rows and columns "
            "takes long. decisions=True does it"
        )
    if not np.isfinite(reading.parameters["w"]).all():
        return None, None
    try:
        with np.errstate(all="ignore"):  # coefficients near the limits of float64
            return _compared(reading, rows, tol), None
    except NoRefitError as error:
        return None, f"decisions are not compared with the optimum's: {error}"
    except Exception as error:  # a solver's failure must not hide the verdict
        name = type(error).__name__
        return None, f"decisions are not compared with the optimum's: the refit failed ({name})"


def _work(definition: str, n: int, m: int) -> float:
    most = m if definition == "hinge" else MAX_FACTORED
    return MANY_STEPS.get(definition, 1.0) * n * m * min(n, m, most)


def certified_refit(reading: Reading, rows: Rows, tol: float) -> tuple[Reading, OptimumFinding]:
    """Return the claim at its optimum, and what the proof says of it.

    Raises ``NoRefitError`` if there is no optimum, or none was reached.
    """
    K = 0 if reading.labels is None else len(reading.labels.classes)
    at_optimum = refit(reading.definition, reading.parameters, as_defined(rows, reading.labels), K)
    of_refit = replace(
        reading, parameters=at_optimum, rank=None, spectrum={}, cv_claim=None, contradictions=(),
        iteration={},
    )  # fmt: skip
    claim = CLAIMS[reading.definition]
    finding = cast(OptimumFinding, prove(claim, of_refit, rows, tol, False))
    if finding.is_separated:
        raise NoRefitError("there is no optimum")
    if not finding.residual <= tol:
        raise NoRefitError("a refit did not reach it either")
    return of_refit, finding


def _compared(reading: Reading, rows: Rows, tol: float) -> Decisions:
    of_refit, finding = certified_refit(reading, rows, tol)
    defined = as_defined(rows, reading.labels)
    weight = row_weights(reading, defined)
    before = answers(reading, cast(Parameters, reading.parameters), rows)
    after = answers(reading, cast(Parameters, of_refit.parameters), rows)
    return _decisions(reading, rows, weight, before, after, finding)


def _decisions(
    reading: Reading, rows: Rows, weight: np.ndarray, before: RowAnswers, after: RowAnswers,
    finding: OptimumFinding,
) -> Decisions:  # fmt: skip
    counts = np.flatnonzero(weight > 0)
    change = np.abs(before.values - after.values).max(axis=1)[counts]
    if not (len(change) and np.isfinite(change).all()):
        raise NoRefitError("there are predictions that are not finite")
    at = int(np.argmax(change))
    unit = None
    if before.label is None or after.label is None:
        unit = CHANGED_SHARE * _typical_error(rows, weight, after.values)
        changed = change > unit
    else:
        changed = (before.label != after.label)[counts]
    error = _error_of_refit(reading, rows, weight, finding.gap, after.values)
    bound = None
    if error is not None:
        bound = float((change + error[counts]).max()) + before.rounding + after.rounding
        bound = bound if np.isfinite(bound) else None
    return Decisions(
        n=len(counts), n_changed=int(changed.sum()), answer=kind_of_answer(reading),
        max_change=float(change[at]), row=int(counts[at]), bound=bound, unit=unit,
        objective=finding.objective,
    )  # fmt: skip


def _typical_error(rows: Rows, weight: np.ndarray, predicted: np.ndarray) -> float:
    residual = np.asarray(rows.y)[:, : predicted.shape[1]] - predicted  # offsets are beside
    return float(np.sqrt(np.max(weight @ residual**2 / weight.sum())))


def row_weights(reading: Reading, defined: Rows) -> np.ndarray:
    """Return the factor u of each row's loss in the objective, without those of the penalty."""
    n, p = defined.shape[0], reading.parameters
    u = np.ones(n) if defined.s is None else np.asarray(defined.s, dtype=float)
    c = p.get("class_weight")
    if c is not None and not p.get("one_vs_rest"):
        assert defined.y is not None
        k = defined.y[:, 0].astype(np.intp)
        if isinstance(c, str):
            sums = np.bincount(k, u)
            c = sums.sum() / (len(sums) * sums)
        u = u * np.asarray(c)[k]
    u = u * float(p.get("C", 1.0))
    divided_by = "weights" if reading.definition == "log_link" else p.get("divisor") or ""
    divisor = {"rows": float(n), "weights": defined.S}.get(divided_by, 1.0)
    weights: np.ndarray = u / divisor
    return weights


def _error_of_refit(
    reading: Reading, rows: Rows, weight: np.ndarray, gap: float, values: np.ndarray
) -> np.ndarray | None:
    """Return how far each row's answer can be from the optimum's; None where that is not known."""
    p, name = reading.parameters, reading.definition
    with np.errstate(divide="ignore"):  # rows of weight 0 are left out
        if name == "least_squares":
            return optimum_answers.score_error(gap, weight)
        if name == "penalized" and p["loss"] == {"name": "squared"}:  # ½r²
            return optimum_answers.score_error(gap, weight / 2)
        if name == "log_link":
            if p["family"] == "poisson":
                return optimum_answers.count_error(gap, weight, values[:, 0])
            y = np.asarray(rows.y)[:, 0]
            return optimum_answers.amount_error(gap, weight, y, values[:, 0])
        several = len(reading.labels.classes) > 2 if reading.labels is not None else False
        if name == "softmax" or (name == "logistic" and not (several and p.get("one_vs_rest"))):
            return optimum_answers.probability_error(gap, weight)
    if name not in ("hinge", "squared_hinge", "huber") or not p["l2"] > 0:
        return None
    scaling = p.get("intercept_scaling") if p["fit_intercept"] else 0.0
    if scaling is None:  # the intercept is free
        return None
    lengths = row_lengths(rows, float(scaling))
    return optimum_answers.score_error_by_penalty(gap, p["l2"], lengths)
