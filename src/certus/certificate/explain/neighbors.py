"""Texts for nearest neighbours: which answers were recomputed, and the first wrong one."""

from typing import TYPE_CHECKING

from ...text.format import count, small
from ..findings import NeighborFinding, finding_of
from .exact import ExactWording, far_from_origin
from .local import FIT_AGAIN
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

# distance of the rows from the origin, over their spread: beyond it, ‖x‖² − 2xᵀq + ‖q‖² loses half
# its digits
MAX_ORIGIN_RATIO = 1e4


class NeighborWording(ExactWording):
    INDEPENDENCE = "answers alone are the model's"
    DOES_NOT_SAY = (
        "that the answers for other rows are right, that the distance suits the data, or that the "
        "model predicts well"
    )

    def recomputed(self, c: "Certificate") -> str:
        """the 5 nearest of 16 sampled rows recomputed from all 1,797."""
        return f"{_query_text(c)} of {_sample_text(c)} recomputed from all {c.shape[0]:,}"

    def certified(self, c: "Certificate") -> Lines:
        finding = finding_of(c, NeighborFinding)
        right = f"right to {small(c.residual)}" if c.residual > 0 else "right to the last digit"
        answers = count(finding.answers, "distance")
        ties = (
            "the first row before later ones" if finding.ours else "any order was taken for right"
        )
        rows = [
            ("Recomputed", self.recomputed(c)),
            ("Distances", f"{answers}, {right}; no nearer row was missed"),
            ("Ties", ties),
        ]
        if c.parameters["votes"] is not None:
            what = "predictions" if c.labels is None else "predictions and probabilities"
            rows.append(("Votes", f"{what} for these follow from the neighbours"))
        return rows

    def failure_rows(self, c: "Certificate") -> Lines:
        cause = _likely_cause(c)
        return [*self.wrong_rows(c), *cause_and_remedy(cause, _remedy(c, cause))]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        votes = "" if c.parameters["votes"] is None else ", and so are its predictions for them"
        return (
            f"{c.model} ({count(n, 'row')}, {count(p, 'column')}): {c.formula} were recomputed for "
            f"{_sample_text(c)} from all rows and are those that the model names{votes}"
        )


def _query_text(c: "Certificate") -> str:
    k, radius = c.parameters.get("k"), c.parameters.get("radius")
    if radius is not None:
        return f"the rows within {radius:g}"
    return "the nearest" if k == 1 else f"the {k:,} nearest"


def _sample_text(c: "Certificate") -> str:
    pairs = c.parameters["query_pairs"]
    points = int((pairs[:, 0] != pairs[:, 1]).sum())
    if not points:
        return count(len(pairs), "sampled row")
    return f"{count(len(pairs), 'sampled row')} and points between them"


def _likely_cause(c: "Certificate") -> str | None:
    finding = finding_of(c, NeighborFinding)
    if finding.ours or not finding.far > MAX_ORIGIN_RATIO:
        return None
    return (
        f"{far_from_origin(finding.far)}, where distances by ‖x‖² − 2xᵀq + ‖q‖² lose their digits"
    )


def _remedy(c: "Certificate", cause: str | None) -> str:
    if c._finding.ours:
        return FIT_AGAIN
    name = c.model.rsplit(".", 1)[-1]
    if cause is None:
        return f"give the rows of the fit, or fit again, or use certus.neighbors.{name}"
    return f"subtract the column means first, or use certus.neighbors.{name}"
