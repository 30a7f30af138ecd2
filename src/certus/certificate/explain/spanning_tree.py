"""Texts for minimum spanning trees and the clusters that HDBSCAN chooses in them."""

from typing import TYPE_CHECKING

from ...text.format import count, number, small
from ..findings import SpanningTreeFinding, finding_of
from .exact import far_from_origin
from .linkage import MAX_ORIGIN_RATIO, TreeWording
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate


def _finding(c: "Certificate") -> SpanningTreeFinding:
    return finding_of(c, SpanningTreeFinding)


class SpanningTreeWording(TreeWording):
    """HDBSCAN."""

    def certified(self, c: "Certificate") -> Lines:
        finding = _finding(c)
        right = f"right to {small(c.residual)}" if c.residual > 0 else "right to the last digit"
        rows = [
            ("Recomputed", self.recomputed(c)),
            ("Spanning tree", f"{number(finding.length)} long in total, and none is shorter"),
            ("Heights", f"all recomputed from all distances, {right}"),
        ]
        if c.parameters.get("edges") is not None:
            rows.append(("Edges", "are a minimum spanning tree with these lengths"))
        if c.parameters.get("labels") is not None:
            rows.append(("Labels", f"and probabilities are those of {_choice(c)}"))
        return [*rows, ("Ties", _ties(finding))]

    def failure_rows(self, c: "Certificate") -> Lines:
        if c.status == "not proven":
            return super().failure_rows(c)
        finding, rows = _finding(c), self.wrong_rows(c)
        if finding.excess > 0:
            length = number(finding.length)
            rows.append(("Too long", f"by {number(finding.excess)} or more, of {length} in total"))
        remedy, cause = "give the rows and the parameters of the fit", None
        if finding.far > MAX_ORIGIN_RATIO:
            cause = far_from_origin(finding.far)
            remedy = "subtract the means of the columns before the fit, or use algorithm='kd_tree'"
        if c.model.startswith("hdbscan."):
            remedy += "; if they are these, fit with approx_min_span_tree=False"
        return [*rows, *cause_and_remedy(cause, remedy)]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        labels = ""
        if c.parameters.get("labels") is not None:
            labels = f", and its labels are those of {_choice(c)}"
        return (
            f"{c.model} ({count(n, 'row')}, {count(p, 'column')}): {c.formula}; "
            f"{self.recomputed(c)} from the data and right{labels}"
        )


def _choice(c: "Certificate") -> str:
    within = "that are not split further" if c.parameters["leaves"] else "with most mass"
    return f"the clusters {within}, of {c.parameters['least_size']} rows or more"


def _ties(finding: SpanningTreeFinding) -> str:
    if not finding.ties:
        return "any order was taken for right"
    return (
        f"any order was taken for right; {count(finding.ties, 'merge')} of equal height joined "
        "rows that touch only through others, and in another order labels could differ"
    )
