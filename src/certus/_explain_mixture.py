"""What certificates of mixtures say: what one more EM step would gain, which components collapsed.

For the words that all certificates share see ``_explain.py``.
"""

from typing import TYPE_CHECKING, Any

from ._explain_stopping import stopped_by
from ._words import count, magnitude, number, small

if TYPE_CHECKING:
    from .certificate import Certificate

FAR = 1e4  # times their spread: half the digits of Σ r x² − μ² are lost
DOES_NOT_SAY = (
    "that no other parameters are likelier, that the rows come from such components, or from this "
    "many"
)
STEP = "(responsibilities, then shares and components)"


def claim(c: "Certificate") -> str:
    """objective -180.19; no useful bound; 9 of 10 restarts agree."""
    said = [f"objective {number(c.objective, 5)}", best(c)]
    if c.status == "degenerate":
        said.insert(1, collapsed(c))
    if c.certified and c.found["restarts"] is not None:
        said.append(_agreement(c))
    return "; ".join(said)


def _agreement(c: "Certificate") -> str:
    same, starts, _ = c.found["restarts"]
    return "one start" if starts == 1 else f"{same} of {starts} restarts agree"


def best(c: "Certificate") -> str:
    """That nothing is known of the best possible, or that there is better."""
    if "unproven" in c.found:
        return "a local optimum is not proven"
    return "no useful bound" if c.certified else f"one more step {_gains(c)}"


def _gains(c: "Certificate") -> str:
    if "unproven" in c.found:
        return "cannot be told from rounding"
    if c.residual == float("inf"):
        return "leaves a component without spread: the likelihood has no maximum"
    if c.residual <= c.tol:
        return f"gains {_at_most(c)}"
    if c.found["ascent"]:
        least = "at least " if c.found.get("at_least") else ""
        return f"raises it by {least}{number(c.residual, 2)} a row"
    return f"changes it by {number(c.found['gain'] / c.found['weight'], 2)} a row"


def _at_most(c: "Certificate") -> str:
    return f"at most {small(c.residual)} a row" if c.residual > 0 else "nothing"


def collapsed(c: "Certificate") -> str:
    """component 2 of 5 has collapsed onto row 14."""
    first, *others = c.found["degenerate"]
    more = f"; so {'has' if len(others) == 1 else 'have'} {len(others)} more" if others else ""
    return _of_one(first, c.found["components"]) + more


def _of_one(one: dict[str, Any], k: int) -> str:
    if one["component"] is None:
        where = "" if one["whole"] else " in some direction"
        return f"the components have no spread of their own{where}"
    name = f"component {one['component']} of {k}"
    if not one["whole"]:
        return f"{name} has no spread in some direction ({count(one['rows'], 'row')} of its own)"
    if one["rows"] == 0:
        return f"{name} has collapsed"
    if one["rows"] == 1:
        return f"{name} has collapsed onto row {one['row']}"
    return f"{name} has collapsed onto {one['rows']:,} rows (first: row {one['row']})"


def certified(c: "Certificate") -> list[tuple[str, str]]:
    rows = [("Objective", f"{number(c.objective, 7)}; {best(c)}"), ("One more step", _step(c))]
    if c.status == "degenerate":
        rows.append(("Components", f"{collapsed(c)}: {_held(c)}"))
    rows += _prior(c) + _conditions(c) + _restarts(c)
    if c.found["ours"] and c.found["ascent"]:
        rows.append(("On the way", "the objective never fell, as the solver saw it"))
    return rows


def _step(c: "Certificate") -> str:
    if c.residual <= c.tol:
        verb = "raise" if c.found["ascent"] else "change"
        return f"would {verb} it by {_at_most(c)} {STEP}"
    return f"{_gains(c)} {STEP}"


def _held(c: "Certificate") -> str:
    """What keeps a covariance from 0, and what follows."""
    if c.parameters.get("added"):
        by = f"reg_covar={c.parameters['added']:g} alone holds it up"
    elif c.parameters["epsilon"]:
        by = "the prior alone holds it up"
    else:
        by = "the likelihood has no maximum"
    return f"{by}. Do not compare BIC"


def _prior(c: "Certificate") -> list[tuple[str, str]]:
    """What the formula's ε and D, or a and x̄, are; or what is in no formula."""
    if c.parameters.get("added"):
        added = f"reg_covar={c.parameters['added']:g} to each variance, in every step"
        return [("Added", f"{added}: not a prior, so a step may lower the objective")]
    rows = f"{c.parameters['epsilon']:g}"
    if not c.parameters["epsilon"]:
        return []
    if "values" in c.parameters["theta"]:
        return [("Prior", f"a = {rows} rows at x̄, the mean row, for each component")]
    return [("Prior", f"ε = {rows} rows that vary as the columns do (D, diagonal)")]


def _conditions(c: "Certificate") -> list[tuple[str, str]]:
    if c.found["conditions"] is None or not len(c.found["conditions"]):
        return []
    most = float(max(c.found["conditions"]))
    said = f"condition numbers up to {number(most, 2)}, columns in units of their spread"
    return [("Covariances", said)]


def _restarts(c: "Certificate") -> list[tuple[str, str]]:
    if c.found["restarts"] is None:
        return []
    same, starts, spread = c.found["restarts"]
    if starts == 1:
        return [("Restarts", "one start" + ("; another may end higher" * _several(c)))]
    if same == starts:
        return [("Restarts", f"all {starts} ended here")]
    return [
        ("Restarts", f"{same} of {starts} ended here, the worst {number(spread, 2)} a row below")
    ]


def _several(c: "Certificate") -> bool:
    return bool(c.found["components"] > 1)


def refused(c: "Certificate") -> list[tuple[str, str]]:
    wrong = c.found["wrong"]
    rows = [("Objective", number(c.objective, 7))]
    if c.objective == c.objective:
        rows.append(("One more step", _step(c)))
    rows += [("What is wrong", said) for said in wrong]
    if c.found["degenerate"]:
        rows.append(("Components", f"{collapsed(c)}: {_held(c)}"))
    if "unproven" in c.found and not wrong:
        rows.append(("Why", c.found["unproven"]))
    cause = _far(c) or (None if wrong else stopped_by(c))
    if cause:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c)))
    return rows


def _far(c: "Certificate") -> str | None:
    if c.found["ours"] or not c.found["far"] > FAR or c.parameters["family"] == "full":
        return None
    return (
        f"the rows lie {magnitude(c.found['far'])} times their spread from the origin, where "
        "variances by Σ r x² − μ² lose their digits"
    )


def _remedy(c: "Certificate") -> str:
    name = f"certus.mixture.{c.model.rsplit('.', 1)[-1]}"
    wrong = c.found["wrong"]
    if wrong and c.found["ours"]:
        return "fit again: the model was changed after its fit, or this is a bug of certus"
    if _far(c):
        return f"subtract the column means first, or use {name}"
    if wrong:
        return f"give the rows of the fit, or fit again, or use {name}"
    if c.residual == float("inf") or "unproven" in c.found:
        return 'use fewer components, or reg_covar="relative" of certus.mixture.GaussianMixture'
    if c.found["iteration"].get("max_iter") is not None:
        return "raise max_iter"
    if c.found["ours"]:
        return "fit again, with a smaller tol"
    return f"lower tol, or use {name}: it goes on until a step gains next to nothing"


def note(c: "Certificate") -> str:
    """Without who checked it."""
    n, p = c.shape
    said = [
        f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) is at a local optimum of "
        f"{c.formula}: the objective is {number(c.objective, 7)}, recomputed from the data",
        f"one more step would {'raise' if c.found['ascent'] else 'change'} it by {_at_most(c)}",
    ]
    if c.status == "degenerate":
        said.append(collapsed(c))
    if c.found["restarts"] is not None:
        said.append(_agreement(c))
    return "; ".join(said)


def not_certified(c: "Certificate", stopped_at: int | None) -> str:
    where = f"objective {number(c.objective, 5)}, and {best(c)}"
    if c.status == "stopped":
        return f"{c.model} stopped {c.found['stopped']}: {where}. Let it run longer."
    if "unproven" in c.found:
        return f"{c.model}: {where}: {c.found['unproven']}."
    if stopped_at is not None:
        return (
            f"{c.model} stopped at max_iter={stopped_at} before a local optimum: {where}. "
            "Raise max_iter."
        )
    return f"{c.model} is not at a local optimum: {where}. See certificate_.explain()."
