"""What certificates of neighbours say: which answers were recomputed, and the first wrong one.

For the words that all certificates share see ``_explain.py``.
"""

from typing import TYPE_CHECKING

from ._words import count, small

if TYPE_CHECKING:
    from .certificate import Certificate

FAR = 1e4  # times their spread: so far from the origin, ‖x‖² − 2xᵀq + ‖q‖² loses half its digits
ASKED = "answers alone are the model's"


def claim(c: "Certificate") -> str:
    """the 5 nearest of 16 sampled rows recomputed from all 1,797."""
    return f"{_wanted(c)} of {_sampled(c)} recomputed from all {c.shape[0]:,}"


def _wanted(c: "Certificate") -> str:
    k, radius = c.parameters.get("k"), c.parameters.get("radius")
    if radius is not None:
        return f"the rows within {radius:g}"
    return "the nearest" if k == 1 else f"the {k:,} nearest"


def _sampled(c: "Certificate") -> str:
    asked = c.parameters["asked"]
    points = int((asked[:, 0] != asked[:, 1]).sum())
    if not points:
        return count(len(asked), "sampled row")
    return f"{count(len(asked), 'sampled row')} and points between them"


def certified(c: "Certificate") -> list[tuple[str, str]]:
    found = c.found
    right = f"right to {small(c.residual)}" if c.residual > 0 else "right to the last digit"
    answers = count(found["answers"], "distance")
    rows = [
        ("Recomputed", claim(c)),
        ("Distances", f"{answers}, {right}; no row is nearer and was not named"),
    ]
    ties = "the first row before later ones" if found["ours"] else "any order was taken for right"
    rows.append(("Ties", ties))
    if c.parameters["votes"] is not None:
        said = "predictions" if c.labels is None else "predictions and probabilities"
        rows.append(("Votes", f"{said} for these are what the neighbours say"))
    return rows


def refused(c: "Certificate") -> list[tuple[str, str]]:
    wrong = c.found["wrong"]
    rows = [("Recomputed", claim(c)), ("What is wrong", f"{first_wrong(c)}")]
    rows += [("", text) for text in wrong[1:3]]
    cause = likely_cause(c)
    if cause is not None:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c, cause)))
    return rows


def first_wrong(c: "Certificate") -> str:
    wrong = c.found["wrong"]
    more = len(wrong) - 1
    return f"{wrong[0]}{f' (and {more} more like it)' if more else ''}"


def likely_cause(c: "Certificate") -> str | None:
    if c.found["ours"] or not c.found["far"] > FAR:
        return None
    return (
        f"the rows lie {c.found['far']:.0e} times as far from the origin as from each other, where "
        "distances by ‖x‖² − 2xᵀq + ‖q‖² lose their digits"
    )


def _remedy(c: "Certificate", cause: str | None) -> str:
    if c.found["ours"]:
        return "fit again: the model was changed after its fit, or this is a bug of certus"
    name = c.model.rsplit(".", 1)[-1]
    if cause is None:
        return f"give the rows of the fit, or fit again, or use certus.neighbors.{name}"
    return f"subtract the column means first, or use certus.neighbors.{name}"


def note(c: "Certificate") -> str:
    """Without who checked it."""
    n, p = c.shape
    votes = "" if c.parameters["votes"] is None else ", and so are its predictions for them"
    return (
        f"{c.model} ({count(n, 'row')}, {count(p, 'column')}): {c.formula} were recomputed for "
        f"{_sampled(c)} from all rows and are those that the model names{votes}"
    )


DOES_NOT_SAY = (
    "that the rows not sampled are answered as well, that the distance suits the data, or that the "
    "model predicts well"
)
