"""What certificates of NCFS say: where F still rises, how many columns count, rows left out.

For the words that all certificates share see ``_explain.py``.
"""

from typing import TYPE_CHECKING

from ._explain_stopping import stopped_by
from ._words import count, name_of, number, small

if TYPE_CHECKING:
    from .certificate import Certificate

DOES_NOT_SAY = (
    "that no other weights are better, that a column without weight is useless, or how well new "
    "rows are predicted"
)


def claim(c: "Certificate") -> str:
    """objective 118.63; no useful bound; 2 of 4 columns have weight."""
    said = [f"objective {number(c.objective, 5)}", best(c)]
    if c.certified:
        said.append(_with_weight(c))
    return "; ".join(said)


def _with_weight(c: "Certificate") -> str:
    used, p = c.found["used"], c.shape[1]
    return f"{used:,} of {count(p, 'column')} {'has' if used == 1 else 'have'} weight"


def best(c: "Certificate") -> str:
    """That nothing is known of the best possible, or where it rises."""
    return "no useful bound" if c.certified else _steepest(c)


def _of_unit(c: "Certificate", share: str) -> str:
    return f"{share} of {'alpha' if c.found['penalised'] else 'the largest there can be'}"


def _steepest(c: "Certificate") -> str:
    """The column that violates its condition most."""
    name, share = name_of(c.found["worst"], c.feature_names), number(c.residual, 2)
    if c.residual <= c.tol:
        return f"no slope is more than {_of_unit(c, small(c.residual))}"
    if c.found["weight"] > 0:
        rises = "more" if c.found["slope"] > 0 else "less"
        return f"it rises with {rises} weight of {name} (its slope is {_of_unit(c, share)})"
    if c.found["kink"]:
        return (
            f"it rises with some weight of {name}, now 0, by which rows at distance 0 would differ "
            f"(its slope in √W is {_of_unit(c, share)})"
        )
    return f"it rises with some weight of {name}, now 0 (its slope is {_of_unit(c, share)})"


def certified(c: "Certificate") -> list[tuple[str, str]]:
    rows = [("Objective", f"{number(c.objective, 7)}; {best(c)}"), ("Slopes", _slopes(c))]
    rows += _left_out(c)
    if c.found["ours"] and "aims" not in c.found["iteration"]:
        rows.append(("On the way", "the objective never fell, as the solver saw it"))
    return rows


def _slopes(c: "Certificate") -> str:
    used = c.found["used"]
    others = c.shape[1] - used - c.found["constant"]
    most, said = _of_unit(c, small(c.residual)), []
    if used:
        what = "column" if used == 1 else f"{used:,} columns"
        said.append(f"0 for the {what} with weight, but for {most} at most")
    if others:
        what = "other" if others == 1 else f"{others:,} others"
        said.append(f"not above {'that' if used else most} for the {what}")
    if c.found["constant"]:
        said.append(f"{count(c.found['constant'], 'column')} never changes and has none")
    return "; ".join(said).replace("columns never changes and has", "columns never change and have")


def _left_out(c: "Certificate") -> list[tuple[str, str]]:
    score = c.found["score"]
    if score.value is None:
        return []
    return [("Left out", f"each row by the others: {score.kind} {number(score.value, 4)}")]


def refused(c: "Certificate") -> list[tuple[str, str]]:
    wrong, aims = c.found["wrong"], c.found["iteration"].get("aims")
    rows = [("Objective", number(c.objective, 7)), ("Slopes", _steepest(c)), *_left_out(c)]
    rows += [("What is wrong", said) for said in wrong]
    cause = None if wrong else stopped_by(c)
    if aims and not wrong:
        rows.append(("Why", aims))
    elif cause:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c)))
    return rows


def _remedy(c: "Certificate") -> str:
    if c.found["wrong"]:
        return "fit again: the model was changed after its fit, or this is a bug of certus"
    if c.found["iteration"].get("aims"):
        return (
            "where a local optimum is wanted, go on from here with solver='lbfgs', n_partitions=1, "
            "warm_start=True"
        )
    if c.found["iteration"].get("max_iter") is not None:
        return "raise max_iter"
    return "fit again, with a smaller tol"


def note(c: "Certificate") -> str:
    """Without who checked it."""
    n, p = c.shape
    return (
        f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) is at a local optimum of "
        f"{c.formula}: the objective is {number(c.objective, 7)}, recomputed from the data; no "
        f"slope is more than {_of_unit(c, small(c.residual))}; {_with_weight(c)}"
    )


def not_certified(c: "Certificate", stopped_at: int | None) -> str:
    where = f"objective {number(c.objective, 5)}, and {best(c)}"
    if c.status == "stopped":
        return f"{c.model} stopped {c.found['stopped']}: {where}. Let it run longer."
    if stopped_at is not None:
        return (
            f"{c.model} stopped at max_iter={stopped_at} before a local optimum: {where}. "
            "Raise max_iter."
        )
    return f"{c.model} is not at a local optimum: {where}. See certificate_.explain()."
