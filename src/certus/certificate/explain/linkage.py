"""Texts for trees of clusters: which merges were recomputed, and the first wrong one."""

from typing import TYPE_CHECKING

from ...text.format import count, listed, number, small
from ..findings import SpanningTreeFinding, TreeFinding, finding_of
from .exact import ExactWording, far_from_origin
from .local import FIT_AGAIN
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

# distance of the rows from the origin, over their spread: beyond it, sums of squares lose half
# their digits
MAX_ORIGIN_RATIO = 1e4


def _finding(c: "Certificate") -> TreeFinding:
    return finding_of(c, TreeFinding)


class TreeWording(ExactWording):
    INDEPENDENCE = "tree alone is the model's"
    DOES_NOT_SAY = "that the data have clusters, how many, or that the distance suits them"
    step = "merge"

    def recomputed(self, c: "Certificate") -> str:
        """all 149 merges recomputed; 2 inversions."""
        if _finding(c).merges == 0:
            return "one row, nothing to merge"
        inversions = _finding(c).inversions
        inversions_text = f"; {count(len(inversions), 'inversion')}" if inversions else ""
        return f"{self._sampled(c)} recomputed{inversions_text}"

    def _sampled(self, c: "Certificate") -> str:
        sampled, merges = _finding(c).sampled, _finding(c).merges
        if sampled == merges:
            return f"all {merges:,} {self.step}s" if merges != 1 else f"the one {self.step}"
        return f"{sampled:,} of {count(merges, self.step)}"

    def certified(self, c: "Certificate") -> Lines:
        finding, rows = _finding(c), [("Recomputed", self.recomputed(c))]
        if finding.heights:
            right = f"right to {small(c.residual)}" if c.residual > 0 else "right to the last digit"
            all_of_them = finding.heights == finding.merges
            which = "all" if all_of_them else f"{finding.heights:,} of {finding.merges:,}"
            rows.append(("Heights", f"{which} recomputed, {right}; their order is that of a tree"))
        others = "" if finding.sampled == finding.merges else "; the others were not checked"
        if finding.merges:
            rows.append((f"{self.step.capitalize()}s", f"{self.rule(c)}{others}"))
        if finding.inversions:
            these = listed([str(t) for t in finding.inversions])
            rows.append(("Inversions", f"merges below one that they join: {these}"))
        if c.parameters.get("labels") is not None:
            rows.append(("Labels", f"are those of {_cut(c)}"))
        rows.append(("Ties", f"any order was taken for right{_tie_tolerance(c)}"))
        return rows

    def rule(self, c: "Certificate") -> str:
        """The property that was recomputed for these merges."""
        if c.parameters["method"] in ("centroid", "median"):
            all_of_them = _finding(c).sampled == _finding(c).merges
            other = "no pair of clusters" if all_of_them else "no other pair that was checked"
            return f"{other} was nearer when each of these was made"
        return "no cluster was nearer to either of the two when each of these was made"

    def failure_rows(self, c: "Certificate") -> Lines:
        if c.status == "not proven":
            tree = "that the merges are a tree, its sizes, its order and the labels"
            not_proven = f"{_finding(c).unproven}."
            return [("Not proven", not_proven), ("Checked", f"{tree}; nothing else")]
        return [*self.wrong_rows(c), *cause_and_remedy(_likely_cause(c), _remedy(c))]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        labels = ""
        if c.parameters.get("labels") is not None:
            labels = f", and its labels are those of {_cut(c)}"
        one = _finding(c).merges == 1
        right = f"{'was' if one else 'were'} recomputed from the data and {'is' if one else 'are'}"
        return (
            f"{c.model} ({count(n, 'row')}, {count(p, 'column')}): {c.formula}; {self._sampled(c)} "
            f"{right} right{labels}"
        )


class DivisiveWording(TreeWording):
    """Trees that are built from the top, by splits."""

    step = "split"

    def rule(self, c: "Certificate") -> str:
        return "repeated for these clusters: each row is where the rule puts it"


def _tie_tolerance(c: "Certificate") -> str:
    """Tolerance for ties of distances that are 1 minus a cosine; empty for other distances."""
    below = _finding(c).equal_below
    return f"; distances that differ by less than {small(below)} are ties" if below else ""


def _cut(c: "Certificate") -> str:
    threshold = c.parameters.get("threshold")
    if threshold is not None:
        return f"the tree cut at {threshold:g}"
    return f"the tree cut into {count(c.parameters['n_clusters'], 'cluster')}"


def _likely_cause(c: "Certificate") -> str | None:
    finding, metric = _finding(c), c.parameters.get("metric")
    if finding.ours and c.model != "Tree":
        return None
    if metric in ("cosine", "correlation") and finding.top < 1e-6:
        return (
            f"all rows have nearly the same direction: their {metric} distances are at most "
            f"{small(finding.top)}, of which 1 − cos has few digits"
        )
    return far_from_origin(finding.far) if finding.far > MAX_ORIGIN_RATIO else None


def _remedy(c: "Certificate") -> str:
    name = c.model.rsplit(".", 1)[-1]
    if _finding(c).ours and name != "Tree":
        return FIT_AGAIN
    if name == "linkage matrix":
        return (
            "give the rows in the order of the fit. If the distance was another, name it: "
            "certus.verify(certus.cluster.Tree(Z, method='average', metric='cityblock'), X)"
        )
    ours = {"Tree": "linkage", "FeatureAgglomeration": "VariableClustering"}.get(name, name)
    return f"give the rows, the method and the metric of the fit, or use certus.cluster.{ours}"


# --- HDBSCAN --------------------------------------------------------------------------------------


def _spanning(c: "Certificate") -> SpanningTreeFinding:
    return finding_of(c, SpanningTreeFinding)


class SpanningTreeWording(TreeWording):
    """HDBSCAN."""

    def certified(self, c: "Certificate") -> Lines:
        finding = _spanning(c)
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
        finding, rows = _spanning(c), self.wrong_rows(c)
        if finding.excess > 0:
            length = number(finding.length)
            rows.append(("Too long", f"by {number(finding.excess)} or more, of {length} in total"))
        remedy, cause = "give the rows and the parameters of the fit", None
        if c.model == "spanning tree":
            remedy = "give the rows, or the distances, that the tree was computed from"
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
