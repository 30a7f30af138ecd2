"""What certificates of clusters say: what one more step, one row's move, other starts would gain.

For the words that all certificates share see ``_explain.py``.
"""

from typing import TYPE_CHECKING

from ._explain_stopping import stopped_by
from ._words import count, number, small

if TYPE_CHECKING:
    from .certificate import Certificate

FAR = 1e4  # times their distance to centres: half the digits of ‖x‖² − 2xᵀμ + ‖μ‖² are lost
DOES_NOT_SAY = (
    "that no other clustering is better, that there are clusters in the data, or that there are "
    "this many"
)


def claim(c: "Certificate") -> str:
    """objective 78.851; no useful bound; 9 of 10 restarts agree."""
    said = [f"objective {number(c.objective, 5)}", best(c)]
    if c.status == "degenerate":
        said.insert(1, f"{count(c.found['degenerate'], 'distinct point')}")
    if c.certified and c.found["restarts"] is not None:
        same, starts, _ = c.found["restarts"]
        said.append("one start" if starts == 1 else f"{same} of {starts} restarts agree")
    return "; ".join(said)


def best(c: "Certificate") -> str:
    """What is known of the best possible, or that there is better."""
    if "unproven" in c.found:
        return "a local optimum is not proven"
    if not c.certified:
        least = "at least " if c.found.get("at_least") else ""
        return f"one more step lowers it by {least}{percent(c.residual)}"
    if c.bound is None:
        return "no useful bound"
    if c.bound == 0:
        stored = ", but for the digits that its centres do not have"
        return "it cannot be lower" + (stored if c.objective > 0 else "")
    return f"the best possible is at least {number(c.bound, 5)}"


def percent(share: float) -> str:
    """1.2 %, of the objective."""
    return f"{number(100 * share, 2)} %"


def certified(c: "Certificate") -> list[tuple[str, str]]:
    rows = [("Objective", f"{number(c.objective, 7)}; {best(c)}")]
    if c.status == "degenerate":
        rows.append(("Clusters", _degenerate(c)))
    elif c.objective > 0:
        rows.append(("One more step", _step(c)))
        if "moves_at_most" in c.found:  # not where every cluster is one point
            rows.append(("Single rows", _single_rows(c)))
    if c.found["labels_cost"] > 0:
        cost = small(c.found["labels_cost"])
        told = f"rounding gave some rows a centre that is not their nearest, for {cost} of it"
        rows.append(("Labels", told))
    if c.bound:
        rows.append(("Bound", _of_bound(c)))
    elif c.found.get("no_bound"):
        rows.append(("Bound", f"{c.found['no_bound']}"))
    elif c.found.get("spectral") is not None:
        value = number(c.found["spectral"], 5)
        rows.append(("Bound", f"{value}, less than half of the objective, says too little"))
    rows += _restarts(c)
    if c.found["ours"] and not c.found["by_tree"] and "aims" not in c.found["iteration"]:
        rows.append(("On the way", "the objective never rose, as the solver saw it"))
    return rows


def _step(c: "Certificate") -> str:
    if "unproven" in c.found:
        return "not known"
    if c.residual <= c.tol:
        gain = f"at most {small(c.residual)} of it" if c.residual > 0 else "nothing"
        step = f"would lower it by {gain} (rows to nearest centres, centres to their means"
        unrounded = c.found.get("unrounded", 0.0)
        if unrounded > c.tol:
            return (
                f"{step} as numbers that are stored; means of more digits than X has would lower "
                f"it by {percent(unrounded)})"
            )
        return f"{step})"
    return (
        f"lowers it by {number(c.found['gain'], 3)}, {percent(c.residual)} (rows to nearest "
        "centres, centres to their means)"
    )


def _single_rows(c: "Certificate") -> str:
    move = c.found["move"]
    if move is None:
        rows, untested = "every row", c.found["untested"]
        if untested:
            rows += f" but {untested:,} with nearly all weight of their clusters"
        return (
            "no row's move to another cluster lowers it by more than "
            f"{small(c.found['moves_at_most'])} of it (Hartigan's test, {rows})"
        )
    others = c.found["movable"] - 1
    more = f"; {count(others, 'other row')} would too" if others > 0 else ""
    return (
        f"moving row {move['row']} from cluster {move['from']} to {move['to']} would lower it by "
        f"{number(move['gain'], 3)}, {percent(move['gain'] / c.objective)} (Hartigan's test{more})"
    )


def _degenerate(c: "Certificate") -> str:
    points, k = c.found["degenerate"], c.found["clusters"]
    return (
        f"the rows hold {count(points, 'distinct point')}, so {k:,} clusters cannot exist; "
        f"{c.found['effective']:,} {'has' if c.found['effective'] == 1 else 'have'} rows"
    )


def _of_bound(c: "Certificate") -> str:
    assert c.bound is not None
    how = "there is one mean" if c.found["clusters"] == 1 else "all eigenvalues of the covariance"
    above = f"at most {small(c.gap)} above the best possible, {percent(c.gap / c.bound)} of it"
    return f"{above} ({how})"


def _restarts(c: "Certificate") -> list[tuple[str, str]]:
    if c.found["restarts"] is None:
        return []
    same, starts, spread = c.found["restarts"]
    if starts == 1:
        alone = c.found["clusters"] > 1 and c.objective > 0
        return [("Restarts", "one start" + ("; another may end lower" if alone else ""))]
    if same == starts:
        return [("Restarts", f"all {starts} ended here")]
    return [("Restarts", f"{same} of {starts} ended here, the worst {percent(spread)} above")]


def refused(c: "Certificate") -> list[tuple[str, str]]:
    wrong = c.found["wrong"]
    rows = [("Objective", number(c.objective, 7)), ("One more step", _step(c))]
    rows += [("What is wrong", said) for said in wrong]
    aims = c.found["iteration"].get("aims")
    cause = _far(c) if wrong else stopped_by(c)
    if "unproven" in c.found and not wrong:
        return [*rows, ("Why", c.found["unproven"])]
    if aims and not wrong:
        rows.append(("Why", aims))
    elif cause:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c)))
    return rows


def _far(c: "Certificate") -> str | None:
    if c.found["ours"] or not c.found["far"] > FAR:
        return None
    return (
        f"the rows lie {c.found['far']:.0e} times as far from the origin as from their centres, "
        "where distances by ‖x‖² − 2xᵀμ + ‖μ‖² lose their digits"
    )


def _remedy(c: "Certificate") -> str:
    name = c.model.rsplit(".", 1)[-1]
    if c.found["wrong"] and c.found["ours"]:
        return "fit again: the model was changed after its fit, or this is a bug of certus"
    if c.found["wrong"] and _far(c):
        return f"subtract the column means first, or use certus.cluster.{name}"
    if c.found["wrong"]:
        return f"give the rows and weights of the fit, or fit again, or use certus.cluster.{name}"
    if c.found["iteration"].get("aims"):
        return "where a local optimum is wanted, use certus.cluster.KMeans(init=its centres)"
    if c.found["iteration"].get("max_iter") is not None:
        return "raise max_iter"
    if c.found["ours"]:
        return "fit again"
    return f"lower tol, or use certus.cluster.{name}: it goes on until nothing moves"


def note(c: "Certificate") -> str:
    """Without who checked it."""
    n, p = c.shape
    if c.status == "degenerate":
        return f"{c.model} ({count(n, 'row')}, {count(p, 'column')}): {_degenerate(c)}"
    restarts = ""
    if c.found["restarts"] is not None:
        same, starts, _ = c.found["restarts"]
        restarts = "; one start" if starts == 1 else f"; {same} of {starts} restarts agree"
    return (
        f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) is at a local optimum of "
        f"{c.formula}: the objective is {number(c.objective, 7)}, recomputed from the data; one "
        f"more step would lower it by at most {small(c.residual)} of it{restarts}"
    )


def not_certified(c: "Certificate", stopped_at: int | None) -> str:
    where = f"objective {number(c.objective, 5)}, and {best(c)}"
    if "unproven" in c.found and not c.found["wrong"]:
        return f"{c.model}: {where}: {c.found['unproven']}."
    if c.status == "stopped":
        return f"{c.model} stopped {c.found['stopped']}: {where}. Let it run longer."
    if stopped_at is not None:
        return (
            f"{c.model} stopped at max_iter={stopped_at} before a local optimum: {where}. "
            "Raise max_iter."
        )
    return f"{c.model} is not at a local optimum: {where}. See certificate_.explain()."
