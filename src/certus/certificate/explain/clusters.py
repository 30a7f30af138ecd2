"""Texts for k-means: the gain of one more step, of one row's move, and of other starts."""

from typing import TYPE_CHECKING

from ...text.format import count, number, small
from ..findings import ClusterFinding, finding_of
from .local import FIT_AGAIN, LocalWording, agreement, restart_rows, wrong_rows
from .stopping import stopped_by
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

# distance of the rows from the origin, over that from their centres: beyond it, half the digits of
# ‖x‖² − 2xᵀμ + ‖μ‖² are lost
MAX_CENTER_RATIO = 1e4


def _finding(c: "Certificate") -> ClusterFinding:
    return finding_of(c, ClusterFinding)


class ClusterWording(LocalWording):
    DOES_NOT_SAY = (
        "that no other clustering is better, that there are clusters in the data, or that there "
        "are this many"
    )

    def claim(self, c: "Certificate") -> str:
        """objective 78.851; no useful bound; 9 of 10 restarts agree."""
        parts, points = [f"objective {number(c.objective, 5)}"], _finding(c).degenerate
        if c.status == "degenerate" and points is not None:
            parts.append(count(points, "distinct point"))
        parts.append(self.best_known(c))
        return "; ".join(filter(None, [*parts, agreement(c) if c.certified else None]))

    def best_known(self, c: "Certificate") -> str:
        if _finding(c).unproven is not None:
            return "a local optimum is not proven"
        if not c.certified:
            at_least = "at least " if _finding(c).at_least else ""
            return f"one more step lowers it by {at_least}{percent(c.residual)}"
        if c.bound is None:
            return "no useful bound"
        if c.bound == 0:
            stored = ", except for digits that the stored centres cannot hold"
            return "it cannot be lower" + (stored if c.objective > 0 else "")
        return f"the best possible is at least {number(c.bound, 5)}"

    def certified(self, c: "Certificate") -> Lines:
        finding, rows = (
            _finding(c),
            [("Objective", f"{number(c.objective, 7)}; {self.best_known(c)}")],
        )
        if c.status == "degenerate":
            rows.append(("Clusters", _degenerate(c)))
        elif c.objective > 0:
            rows.append(("One more step", _step(c)))
            if finding.moves_at_most is not None:  # not where every cluster is one point
                rows.append(("Single rows", _single_rows(c, finding.moves_at_most)))
        if finding.labels_cost > 0:
            cost = small(finding.labels_cost)
            text = f"rounding gave some rows a centre that is not their nearest, for {cost} of it"
            rows.append(("Labels", text))
        rows += _bound_rows(c) + _restarts(c)
        if finding.ours and not finding.by_tree and finding.iteration.aims is None:
            rows.append(("On the way", "the objective never rose, as reported by the solver"))
        return rows

    def failure_rows(self, c: "Certificate") -> Lines:
        finding, aims = _finding(c), _finding(c).iteration.aims
        wrong = finding.contradictions
        rows = [("Objective", number(c.objective, 7)), ("One more step", _step(c)), *wrong_rows(c)]
        if finding.unproven is not None and not wrong:
            return [*rows, ("Why", finding.unproven)]
        if aims and not wrong:
            return [*rows, ("Why", aims), ("What to do", _remedy(c))]
        return [
            *rows,
            *cause_and_remedy(_far_from_origin(c) if wrong else stopped_by(c), _remedy(c)),
        ]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        subject = f"{c.model} ({count(n, 'row')}, {count(p, 'column')})"
        if c.status == "degenerate":
            return f"{subject}: {_degenerate(c)}"
        parts = (
            f"{subject} is at a local optimum of {c.formula}: the objective is "
            f"{number(c.objective, 7)}, recomputed from the data; one more step would lower it by "
            f"at most {small(c.residual)} of it"
        )
        return "; ".join(filter(None, [parts, agreement(c)]))


def percent(share: float) -> str:
    """1.2 %, of the objective."""
    return f"{number(100 * share, 2)} %"


def _step(c: "Certificate") -> str:
    finding, step = _finding(c), "rows to nearest centres, centres to their means"
    if finding.unproven is not None:
        return "not known"
    if c.residual > c.tol:
        return f"lowers it by {number(finding.gain, 3)}, {percent(c.residual)} ({step})"
    gain = f"at most {small(c.residual)} of it" if c.residual > 0 else "nothing"
    if finding.unrounded > c.tol:
        step += (
            " as stored numbers; means with more digits than X has would lower it by "
            f"{percent(finding.unrounded)}"
        )
    return f"would lower it by {gain} ({step})"


def _single_rows(c: "Certificate", most: float) -> str:
    finding = _finding(c)
    move = finding.move
    if move is None:
        rows = "every row"
        if finding.untested:
            rows += f" except {finding.untested:,} with nearly all weight of their clusters"
        return (
            f"no row's move to another cluster lowers it by more than {small(most)} of it "
            f"(Hartigan's test, {rows})"
        )
    others = finding.movable - 1
    more = f"; {count(others, 'other row')} would too" if others > 0 else ""
    return (
        f"moving row {move.row} from cluster {move.source} to {move.target} would lower it by "
        f"{number(move.gain, 3)}, {percent(move.gain / c.objective)} (Hartigan's test{more})"
    )


def _degenerate(c: "Certificate") -> str:
    finding = _finding(c)
    assert finding.degenerate is not None
    return (
        f"the rows hold {count(finding.degenerate, 'distinct point')}, so {finding.clusters:,} "
        f"clusters cannot exist; {finding.effective:,} "
        f"{'has' if finding.effective == 1 else 'have'} rows"
    )


def _bound_rows(c: "Certificate") -> Lines:
    finding = _finding(c)
    if c.bound:
        one_mean = finding.clusters == 1
        reason = "there is one mean" if one_mean else "all eigenvalues of the covariance"
        above = f"at most {small(c.gap)} above the best possible, {percent(c.gap / c.bound)} of it"
        return [("Bound", f"{above} ({reason})")]
    if finding.no_bound:
        return [("Bound", finding.no_bound)]
    if finding.spectral is not None:
        value = number(finding.spectral, 5)
        return [("Bound", f"{value}, less than half of the objective: too weak to be useful")]
    return []


def _restarts(c: "Certificate") -> Lines:
    restarts, may_end_lower = _finding(c).restarts, _finding(c).clusters > 1 and c.objective > 0
    worst = "" if restarts is None else f"{percent(restarts.spread)} above"
    return restart_rows(c, "; another may end lower" if may_end_lower else "", worst)


def _far_from_origin(c: "Certificate") -> str | None:
    far = _finding(c).far
    if _finding(c).ours or not far > MAX_CENTER_RATIO:
        return None
    return (
        f"the rows lie {far:.0e} times as far from the origin as from their centres, where "
        "distances by ‖x‖² − 2xᵀμ + ‖μ‖² lose their digits"
    )


def _remedy(c: "Certificate") -> str:
    finding, name = _finding(c), f"certus.cluster.{c.model.rsplit('.', 1)[-1]}"
    if finding.contradictions:
        if finding.ours:
            return FIT_AGAIN
        if _far_from_origin(c):
            return f"subtract the column means first, or use {name}"
        return f"give the rows and weights of the fit, or fit again, or use {name}"
    if finding.iteration.aims:
        return "where a local optimum is wanted, use certus.cluster.KMeans(init=its centres)"
    if finding.iteration.max_iter is not None:
        return "raise max_iter"
    if finding.ours:
        return "fit again"
    return f"lower tol, or use {name}, which iterates until nothing moves"
