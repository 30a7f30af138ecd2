"""What certificates of classifiers say: bounds, likely causes, separation, shifted probabilities.

For the words that all certificates share see ``_explain.py``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._explain_stopping import loose, stopped_by, too_high
from ._words import best_possible, count, listed, magnitude, name_of, number, printable, small

if TYPE_CHECKING:
    from .certificate import Certificate

ORDINAL = "certus.definitions.ordinal"
SCALES = 1e3  # ratio of the columns' spreads from which solvers of others suffer
PROOF = {"a dual point": "dual bound"}
FAR = 30.0  # spreads from 0 from which they do


def certified(c: "Certificate") -> list[tuple[str, str]]:
    null = "the thresholds alone leave" if c.definition == ORDINAL else "the intercept alone leaves"
    alone = f"{small(c.residual)} of what {null}"
    if c.bound is None:
        rows = [
            ("Objective", f"{number(c.objective, 7)}; no bound on the best possible is known"),
            ("Stationary", f"one more Newton step would gain {small(newton_gain(c))}, {alone}"),
        ]
    else:
        best = f"the best possible is {best_possible(c.bound)}{_by(c)}"
        rows = [
            ("Objective", f"{number(c.objective, 7)}; {best}"),
            ("Gap", f"at most {small(c.gap)}, {alone}"),
        ]
    if c.coef_error is not None:
        rows.append(("Coefficients", f"none is more than {small(c.coef_error)} from the optimum's"))
    return rows


def best(c: "Certificate") -> str:
    return f"the best possible is {best_possible(c.bound)}"


def stationary(c: "Certificate") -> str:
    return f"one more Newton step would gain {small(newton_gain(c))}; no bound is known"


def newton_gain(c: "Certificate") -> float:
    """Half the squared Newton decrement, where no bound is known."""
    return float(c.residual * c.found["null_objective"])


def _by(c: "Certificate") -> str:
    proof = c.found["proof"]
    return f" ({PROOF.get(proof, proof)})" if c.bound else ""


def refused(c: "Certificate") -> list[tuple[str, str]]:
    if c.found["infeasible"]:
        return [("What is wrong", c.found["infeasible"])]
    rows = [("Objective", number(c.objective, 7))]
    if c.status == "not proven":
        return [
            *rows, ("Best possible", best_possible(c.bound)),
            ("Why no more", f"there are {c.found['unproven']}"), ("What to do", to_prove_it(c)),
        ]  # fmt: skip
    if c.bound is None:
        rows.append(("Best possible", "not known"))
        if np.isfinite(newton_gain(c)):
            said = f"one Newton step would lower the objective by {number(newton_gain(c), 2)}"
            rows.append(("What is wrong", said))
    else:
        rows.append(("Best possible", f"{best_possible(c.bound)}{_by(c)}"))
        rows.append(("What is wrong", too_high(c)))
    cause = likely_cause(c)
    if cause:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c)))
    return rows


def to_prove_it(c: "Certificate") -> str:
    penalty = "alpha > 0" if c.definition == ORDINAL else "a finite C"
    return f"drop or combine columns that nearly repeat others, or use {penalty}"


def likely_cause(c: "Certificate") -> str | None:
    return "; ".join(filter(None, [*_odd_columns(c), stopped_by(c)])) or None


def _odd_columns(c: "Certificate") -> list[str]:
    columns = c.found.get("columns")
    if columns is None:
        return []
    mean, spread = columns["mean"], columns["spread"]
    varies = spread > 0
    told = []
    if varies.any():
        ratio = spread.max() / spread[varies].min()
        if ratio > SCALES:
            told.append(f"column scales differ by {magnitude(ratio)}")
        away = np.where(varies, np.abs(mean), 0.0) / np.where(varies, spread, 1.0)
        j = int(np.argmax(away))
        if away[j] > FAR:
            told.append(
                f"{name_of(j, c.feature_names)} lies far from 0 (mean {number(mean[j], 3)}, "
                f"spread {number(spread[j], 2)})"
            )
    return told


def _remedy(c: "Certificate") -> str:
    iteration = c.found.get("iteration", {})
    if c.found["ours"]:
        return "raise max_iter" + ("" if iteration.get("one_solver") else ", or use solver='auto'")
    if iteration.get("stochastic"):
        return _instead_of_sgd(c)
    ours = c.model.replace("sklearn", "certus", 1)
    steps = ["standardise first"] if _odd_columns(c) else []
    if iteration.get("max_iter") is not None:
        steps.append("raise max_iter")
    if loose(iteration):
        steps.append(f"lower tol (it was {iteration['tol']:g})")
    return ", or ".join([*filter(None, [", ".join(steps)]), f"use {ours}"])


def _instead_of_sgd(c: "Certificate") -> str:
    p = c.parameters
    strength = p["l1"] + p["l2"]
    said = "standardise first and take average=True and more epochs"
    if p["one_vs_rest"]:
        return said
    C = number(p["C"] / strength, 6).replace(",", "") if strength else "np.inf"
    if not c.definition.endswith("logistic"):
        loss = c.definition.rpartition(".")[2]
        if p["l1"]:
            return said
        return (
            f"{said}, or use certus.svm.LinearSVC(loss={loss!r}, C={C}, intercept_scaling=100): "
            "nearly the same problem, with a small penalty on the intercept"
        )
    ratio = f", l1_ratio={number(p['l1'] / strength, 3)}" if p["l1"] else ""
    return f"{said}, or use certus.linear_model.LogisticRegression(C={C}{ratio}): the same problem"


# --- class weights --------------------------------------------------------------------------------


def notes_on_classes(classes: np.ndarray, found: dict[str, Any], weighted: bool) -> tuple[str, ...]:
    """Notes on classes without weight, and (``weighted``) on what class weights did."""
    notes = [_weightless(classes, found)]
    if weighted:
        notes.append(class_weights_shift(classes, found))
    return tuple(note for note in notes if note is not None)


def _weightless(classes: np.ndarray, found: dict[str, Any]) -> str | None:
    share = found.get("share")
    k = np.flatnonzero(np.asarray(1.0 if share is None else share) == 0)
    if not len(k):
        return None
    labels = [repr(label) for label in classes[k].tolist()]
    return f"no row of {listed(labels)} has a weight above 0"


def class_weights_shift(classes: np.ndarray, found: dict[str, Any]) -> str | None:
    """Mean probability beside the observed share, of the second class or the one farthest off."""
    mean, share = found.get("mean_probability"), found.get("share")
    if mean is None or share is None:
        return None
    mean, share = np.asarray(mean, dtype=float), np.asarray(share, dtype=float)
    k = 1 if len(classes) == 2 else int(np.argmax(np.abs(mean - share)))
    return (
        f"class weights shift probabilities: mean {_share(mean[k])}, observed share "
        f"{_share(share[k])} of {classes.tolist()[k]!r}"
    )


def _share(x: float) -> str:
    """.39, .045: as shares are printed."""
    text = number(x, 2)
    return text[1:] if text.startswith("0.") else text


# --- separation -----------------------------------------------------------------------------------


def separates(c: "Certificate") -> str:
    """The finding of ``explain_separation`` alone, for one line."""
    told = _finding(c.feature_names, _classes(c), c.found["separated"])[0]
    return told[0].lower() + told[1:]


def no_finite_optimum(c: "Certificate") -> list[tuple[str, str]]:
    told, grow, remedy = _finding(c.feature_names, _classes(c), c.found["separated"])
    return [
        ("Objective", f"{number(c.objective, 7)}; larger coefficients always have a lower one"),
        ("What is wrong", f"{told}, so {grow}"),
        ("What to do", f"do not read the coefficients, odds ratios or p-values; {remedy}"),
    ]


def _classes(c: "Certificate") -> np.ndarray:
    assert c.labels is not None
    return c.labels.classes


def separation_warning(c: "Certificate") -> str:
    return explain_separation(c.feature_names, _classes(c), c.found["separated"])


def explain_separation(
    names: Sequence[str] | None, classes: np.ndarray, facts: dict[str, Any]
) -> str:
    """SeparationWarning: what separates the classes.

    ``facts`` of one column: ``column`` j; ``side`` ">" or "<" (default ">") of ``threshold``;
    ``class`` k of every row there and ``rows``, their number; ``other``, the class of every other
    row (None: several), and ``other_rows``. Of several columns: ``columns``, and ``classes`` with
    their ``rows`` where two are told apart. All may be absent: then only the fact is told.
    """
    told, grow, remedy = _finding(names, classes, facts)
    return printable(
        f"no finite optimum. {told}, so {grow}. Do not read the coefficients, odds ratios or "
        f"p-values. {remedy[0].upper()}{remedy[1:]}."
    )


def _finding(
    names: Sequence[str] | None, classes: np.ndarray, facts: dict[str, Any]
) -> tuple[str, str, str]:
    """What separates; what grows; what to use."""
    if facts.get("ordered"):
        return _in_order(names, facts)
    labels = [repr(label) for label in np.asarray(classes).tolist()]
    firth = "FirthLogisticRegression, " if len(labels) == 2 else ""
    j = facts.get("column")
    if j is not None:
        return (
            _by_one_column(names, labels, facts),
            "its coefficient grows without limit",
            f"use {firth}a finite C, or drop {name_of(int(j), names)}",
        )
    columns = [name_of(int(i), names) for i in facts.get("columns", ())]
    what = f"A combination of {listed(columns)}" if columns else "A combination of columns"
    if len(columns) == 1:
        what = columns[0][0].upper() + columns[0][1:]
    between = facts.get("classes")
    if between is None:
        whom = "the classes"
    else:
        rows = facts.get("rows", (None, None))
        a, b = (_counted(labels[k], m) for k, m in zip(between, rows, strict=True))
        whom = f"{a} from {b}"
    grow = "its coefficients grow without limit"
    return f"{what} separates {whom}", grow, f"use {firth}a finite C, or fewer columns"


def _in_order(names: Sequence[str] | None, facts: dict[str, Any]) -> tuple[str, str, str]:
    """The same of ordered classes."""
    columns = [name_of(int(j), names) for j in facts["columns"]]
    if len(columns) == 1:
        side, name = "above" if facts["rises"] else "below", columns[0]
        told = f"No row of a class has {name} {side} that of a row of the next class"
        return told, "its coefficient grows without limit", f"use alpha > 0, or drop {name}"
    told = f"A combination of {listed(columns)} puts all rows in the order of their classes"
    return told, "its coefficients grow without limit", "use alpha > 0, or fewer columns"


def _counted(label: str, rows: Any) -> str:
    return label if rows is None else f"{label} ({count(int(rows), 'row')})"


def _by_one_column(names: Sequence[str] | None, labels: list[str], facts: dict[str, Any]) -> str:
    j = int(facts["column"])
    name = str(names[j]) if names is not None else f"column {j}"
    side, threshold = facts.get("side", ">"), number(facts["threshold"], 15)
    here = _counted(labels[facts["class"]], facts.get("rows"))
    told = f"Every row with {name} {side} {threshold} is {here}"
    other = facts.get("other")
    if other is not None:
        told += f" and every other row is {_counted(labels[other], facts.get('other_rows'))}"
    return told
