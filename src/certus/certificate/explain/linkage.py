"""What certificates of trees say: which merges were recomputed, and the first that is wrong.

For the words that all certificates share see ``certificate.py``.
"""

from typing import TYPE_CHECKING

from ...text.format import count, listed, small
from ..findings import TreeFinding, finding_of
from .exact import ExactWording, far_from_origin
from .local import FIT_AGAIN
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

FAR = 1e4  # times their spread: so far from the origin, sums of squares lose half their digits


def _found(c: "Certificate") -> TreeFinding:
    return finding_of(c, TreeFinding)


class TreeWording(ExactWording):
    NOT_ASKED = "tree alone is the model's"
    DOES_NOT_SAY = "that the data have clusters, how many, or that the distance suits them"
    step = "merge"

    def recomputed(self, c: "Certificate") -> str:
        """all 149 merges recomputed; 2 inversions."""
        if _found(c).merges == 0:
            return "one row, nothing to merge"
        inversions = _found(c).inversions
        told = f"; {count(len(inversions), 'inversion')}" if inversions else ""
        return f"{self._sampled(c)} recomputed{told}"

    def _sampled(self, c: "Certificate") -> str:
        sampled, merges = _found(c).sampled, _found(c).merges
        if sampled == merges:
            return f"all {merges:,} {self.step}s" if merges != 1 else f"the one {self.step}"
        return f"{sampled:,} of {count(merges, self.step)}"

    def certified(self, c: "Certificate") -> Lines:
        found, rows = _found(c), [("Recomputed", self.recomputed(c))]
        if found.heights:
            right = f"right to {small(c.residual)}" if c.residual > 0 else "right to the last digit"
            all_of_them = found.heights == found.merges
            some = "all" if all_of_them else f"{found.heights:,} of {found.merges:,}"
            rows.append(("Heights", f"{some} recomputed, {right}; their order is that of a tree"))
        others = "" if found.sampled == found.merges else "; the others were not looked at"
        if found.merges:
            rows.append((f"{self.step.capitalize()}s", f"{self.rule(c)}{others}"))
        if found.inversions:
            these = listed([str(t) for t in found.inversions])
            rows.append(("Inversions", f"merges below one that they join: {these}"))
        if c.parameters.get("labels") is not None:
            rows.append(("Labels", f"are those of {_cut(c)}"))
        rows.append(("Ties", f"any order was taken for right{_equal(c)}"))
        return rows

    def rule(self, c: "Certificate") -> str:
        """What holds for the merges that were recomputed."""
        if c.parameters["method"] in ("centroid", "median"):
            all_of_them = _found(c).sampled == _found(c).merges
            other = "no pair of clusters" if all_of_them else "no other pair that was looked at"
            return f"{other} was nearer when each of these was made"
        return "no cluster was nearer to either of the two when each of these was made"

    def failure_rows(self, c: "Certificate") -> Lines:
        if c.status == "not proven":
            tree = "that the merges are a tree, its sizes, its order and the labels"
            not_proven = f"{_found(c).unproven}."
            return [("Not proven", not_proven), ("Checked", f"{tree}, and nothing else")]
        return [*self.wrong_rows(c), *cause_and_remedy(_likely_cause(c), _remedy(c))]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        labels = ""
        if c.parameters.get("labels") is not None:
            labels = f", and its labels are those of {_cut(c)}"
        one = _found(c).merges == 1
        right = f"{'was' if one else 'were'} recomputed from the data and {'is' if one else 'are'}"
        return (
            f"{c.model} ({count(n, 'row')}, {count(p, 'column')}): {c.formula}; {self._sampled(c)} "
            f"{right} right{labels}"
        )


class DivisiveWording(TreeWording):
    """Trees that are made from the top."""

    step = "split"

    def rule(self, c: "Certificate") -> str:
        return "done again for these clusters: each row went where the rule sends it"


def _equal(c: "Certificate") -> str:
    """What of distances that are 1 less a cosine was taken for a tie."""
    below = _found(c).equal_below
    return f"; distances that differ by less than {small(below)} are ties" if below else ""


def _cut(c: "Certificate") -> str:
    threshold = c.parameters.get("threshold")
    if threshold is not None:
        return f"the tree cut at {threshold:g}"
    return f"the tree cut into {count(c.parameters['n_clusters'], 'cluster')}"


def _likely_cause(c: "Certificate") -> str | None:
    found, metric = _found(c), c.parameters.get("metric")
    if found.ours and c.model != "Tree":
        return None
    if metric in ("cosine", "correlation") and found.top < 1e-6:
        return (
            f"all rows point nearly one way: their {metric} distances are at most "
            f"{small(found.top)}, of which 1 − cos keeps few digits"
        )
    return far_from_origin(found.far) if found.far > FAR else None


def _remedy(c: "Certificate") -> str:
    name = c.model.rsplit(".", 1)[-1]
    if _found(c).ours and name != "Tree":
        return FIT_AGAIN
    ours = {"Tree": "linkage", "FeatureAgglomeration": "VariableClustering"}.get(name, name)
    return f"give the rows, the method and the metric of the fit, or use certus.cluster.{ours}"
