"""What certificates of kernel machines say: gaps, rows left out, kernels that are not definite.

For the words that all certificates share see ``_explain.py``.
"""

from typing import TYPE_CHECKING

from ._explain_stopping import loose, stopped_by
from ._words import best_possible, count, number, small

if TYPE_CHECKING:
    from .certificate import Certificate

PROOF = {"a dual point": "dual bound", "the gradient and the penalty": "gradient and penalty"}


def certified(c: "Certificate") -> list[tuple[str, str]]:
    if c.bound is None:
        rows = [
            ("Objective", number(c.objective, 7)),
            ("Equations", f"of the fit: they hold, but for {small(c.residual)} of {_left(c)}"),
            ("Kernel", _indefinite(c)),
        ]  # fmt: skip
    else:
        rows = [
            ("Objective", f"{number(c.objective, 7)}; {best(c)} ({PROOF[c.found['proof']]})"),
            ("Gap", f"at most {small(c.gap)}, {small(c.residual)} of {_left(c)}"),
        ]
    if c.coef_error is not None:
        said = f"none is more than {small(c.coef_error)} from the optimum's"
        rows.append(("Coefficients", said))
    return rows + _rows(c)


def _rows(c: "Certificate") -> list[tuple[str, str]]:
    """What is known of the rows."""
    n, found, rows = c.shape[0], c.found, []
    if found.get("support") is not None:
        rows.append(("Support", f"{found['support']:,} of {count(n, 'row')} have a coefficient"))
    if found.get("effective") is not None:
        rows.append(("Parameters", f"{number(found['effective'], 4)} in effect"))
    if found.get("loo") is not None:
        said = f"each row by a fit without it: {found['loo_kind']} {number(found['loo'], 4)}"
        rows.append(("Left out", said))
    if found["left_out_rows"]:
        rows.append(("No part", f"{count(found['left_out_rows'], 'row')} of weight 0"))
    return rows


def best(c: "Certificate") -> str:
    return too_steep(c) if c.bound is None else f"the best possible is {best_possible(c.bound)}"


def _left(c: "Certificate") -> str:
    alone = c.parameters.get("fit_intercept", True)
    return "what the intercept alone leaves" if alone else "what f = 0 leaves"


def _indefinite(c: "Certificate") -> str:
    least = number(c.found["least_eigenvalue"], 2)
    return (
        f"not positive semidefinite (an eigenvalue is below 0, none below {least}): the objective "
        "has a saddle, nothing is minimised and no bound exists"
    )


def stationary(c: "Certificate") -> str:
    return (
        "a stationary point: the equations of the fit hold, but the kernel has an eigenvalue below "
        "0 and nothing is minimised"
    )


def too_steep(c: "Certificate") -> str:
    """Of a kernel that is not definite."""
    return c.found["infeasible"] or (
        f"the equations of the fit are missed by {number(c.residual, 2)} of {_left(c)}"
    )


def refused(c: "Certificate") -> list[tuple[str, str]]:
    if c.found["infeasible"]:
        return [("What is wrong", c.found["infeasible"])]
    rows = [("Objective", number(c.objective, 7))]
    if c.bound is None:
        rows += [("What is wrong", too_steep(c)), ("Kernel", _indefinite(c))]
    else:
        rows.append(("Best possible", f"{best_possible(c.bound)} ({PROOF[c.found['proof']]})"))
        rows.append(("What is wrong", _too_high(c)))
    rows += [("What is wrong", text) for text in c.found["wrong"]]
    cause = likely_cause(c)
    if cause:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c)))
    return rows


def _too_high(c: "Certificate") -> str:
    share = f"the objective may be too high by {number(100 * c.residual, 2)} % of {_left(c)}"
    pair = c.found.get("pair")
    if pair is None or c.labels is None:
        return share
    k, l = (repr(c.labels.classes.tolist()[k]) for k in pair)
    return f"between {k} and {l} {share}"


def likely_cause(c: "Certificate") -> str | None:
    return stopped_by(c)


def _remedy(c: "Certificate") -> str:
    iteration = c.found.get("iteration", {})
    if c.definition.endswith(".svc"):
        steps = ["raise max_iter"] if iteration.get("max_iter") is not None else []
        if loose(iteration):
            steps.append(f"lower tol (it was {iteration['tol']:g})")
        return ", ".join(steps) or "standardise first, or take a smaller C"
    if c.found["ours"]:
        return "the model was changed after its fit, or C is too large for its kernel: take less"
    return "take a larger alpha, or use certus.svm.LSSVR"


def to_prove_it(c: "Certificate") -> str:
    return _remedy(c)
