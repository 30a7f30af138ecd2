"""What certificates of trees say: which merges were recomputed, and the first that is wrong.

For the words that all certificates share see ``_explain.py``.
"""

from typing import TYPE_CHECKING

from ._words import count, listed, small

if TYPE_CHECKING:
    from .certificate import Certificate

FAR = 1e4  # times their spread: so far from the origin, sums of squares lose half their digits
ASKED = "tree alone is the model's"
DIANA = "certus.definitions.diana"


def claim(c: "Certificate") -> str:
    """all 149 merges recomputed; 2 inversions."""
    if c.found["merges"] == 0:
        return "one row, nothing to merge"
    inversions = c.found["inversions"]
    told = f"; {count(len(inversions), 'inversion')}" if inversions else ""
    return f"{_recomputed(c)} recomputed{told}"


def _recomputed(c: "Certificate") -> str:
    what = "split" if c.definition == DIANA else "merge"
    sampled, merges = c.found["sampled"], c.found["merges"]
    if sampled == merges:
        return f"all {merges:,} {what}s" if merges != 1 else f"the one {what}"
    return f"{sampled:,} of {count(merges, what)}"


def certified(c: "Certificate") -> list[tuple[str, str]]:
    found = c.found
    rows = [("Recomputed", claim(c))]
    if found["heights"]:
        right = f"right to {small(c.residual)}" if c.residual > 0 else "right to the last digit"
        all_of_them = found["heights"] == found["merges"]
        some = "all" if all_of_them else f"{found['heights']:,} of {found['merges']:,}"
        rows.append(("Heights", f"{some} recomputed, {right}; their order is that of a tree"))
    others = "" if found["sampled"] == found["merges"] else "; the others were not looked at"
    if found["merges"]:
        rows.append((_step(c), f"{_nearest(c)}{others}"))
    if found["inversions"]:
        these = listed([str(t) for t in found["inversions"]])
        rows.append(("Inversions", f"merges below one that they join: {these}"))
    if c.parameters.get("labels") is not None:
        rows.append(("Labels", f"are those of {_cut(c)}"))
    rows.append(("Ties", f"any order was taken for right{_equal(c)}"))
    return rows


def _equal(c: "Certificate") -> str:
    """What of distances that are 1 less a cosine was taken for a tie."""
    below = c.found.get("equal_below", 0.0)
    return f"; distances that differ by less than {small(below)} are ties" if below else ""


def _step(c: "Certificate") -> str:
    return "Splits" if c.definition == DIANA else "Merges"


def _nearest(c: "Certificate") -> str:
    if c.definition == DIANA:
        return "done again for these clusters: each row went where the rule sends it"
    if c.parameters["method"] in ("centroid", "median"):
        all_of_them = c.found["sampled"] == c.found["merges"]
        other = "no pair of clusters" if all_of_them else "no other pair that was looked at"
        return f"{other} was nearer when each of these was made"
    return "no cluster was nearer to either of the two when each of these was made"


def _cut(c: "Certificate") -> str:
    threshold = c.parameters.get("threshold")
    if threshold is not None:
        return f"the tree cut at {threshold:g}"
    return f"the tree cut into {count(c.parameters['n_clusters'], 'cluster')}"


def refused(c: "Certificate") -> list[tuple[str, str]]:
    if c.status == "not proven":
        tree = "that the merges are a tree, its sizes, its order and the labels"
        return [("Not proven", f"{c.found['unproven']}."), ("Checked", f"{tree}, and nothing else")]
    rows = [("Recomputed", claim(c)), ("What is wrong", first_wrong(c))]
    rows += [("", text) for text in c.found["wrong"][1:3]]
    cause = likely_cause(c)
    if cause is not None:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c)))
    return rows


def first_wrong(c: "Certificate") -> str:
    wrong = c.found["wrong"]
    more = max(len(wrong), int(c.objective)) - 1
    return f"{wrong[0]}{f' (and {more:,} more like it)' if more else ''}"


def likely_cause(c: "Certificate") -> str | None:
    metric = c.parameters.get("metric")
    if c.found["ours"] and c.model != "Tree":
        return None
    if metric in ("cosine", "correlation") and c.found["top"] < 1e-6:
        return (
            f"all rows point nearly one way: their {metric} distances are at most "
            f"{small(c.found['top'])}, of which 1 − cos keeps few digits"
        )
    if c.found["far"] > FAR:
        return f"the rows lie {c.found['far']:.0e} times as far from the origin as from each other"
    return None


def _remedy(c: "Certificate") -> str:
    name = c.model.rsplit(".", 1)[-1]
    if c.found["ours"] and name != "Tree":
        return "fit again: the model was changed after its fit, or this is a bug of certus"
    ours = {"Tree": "linkage", "FeatureAgglomeration": "VariableClustering"}.get(name, name)
    return f"give the rows, the method and the metric of the fit, or use certus.cluster.{ours}"


def note(c: "Certificate") -> str:
    """Without who checked it."""
    n, p = c.shape
    labels = (
        "" if c.parameters.get("labels") is None else f", and its labels are those of {_cut(c)}"
    )
    right = (
        "was recomputed from the data and is"
        if c.found["merges"] == 1
        else ("were recomputed from the data and are")
    )
    return (
        f"{c.model} ({count(n, 'row')}, {count(p, 'column')}): {c.formula}; {_recomputed(c)} "
        f"{right} right{labels}"
    )


DOES_NOT_SAY = "that the data have clusters, how many, or that the distance suits them"
