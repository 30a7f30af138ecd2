"""What certificates of clusters say: what one more step, one row's move, other starts would gain.

For the words that all certificates share see ``certificate.py``.
"""

from typing import TYPE_CHECKING

from ...text.format import count, number, small
from ..findings import ClusterFinding, finding_of
from .local import FIT_AGAIN, LocalWording, agreement, restart_rows, wrong_rows
from .stopping import stopped_by
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

FAR = 1e4  # times their distance to centres: half the digits of ‖x‖² − 2xᵀμ + ‖μ‖² are lost


def _found(c: "Certificate") -> ClusterFinding:
    return finding_of(c, ClusterFinding)


class ClusterWording(LocalWording):
    DOES_NOT_SAY = (
        "that no other clustering is better, that there are clusters in the data, or that there "
        "are this many"
    )

    def claim(self, c: "Certificate") -> str:
        """objective 78.851; no useful bound; 9 of 10 restarts agree."""
        said, points = [f"objective {number(c.objective, 5)}"], _found(c).degenerate
        if c.status == "degenerate" and points is not None:
            said.append(count(points, "distinct point"))
        said.append(self.best_known(c))
        return "; ".join(filter(None, [*said, agreement(c) if c.certified else None]))

    def best_known(self, c: "Certificate") -> str:
        if _found(c).unproven is not None:
            return "a local optimum is not proven"
        if not c.certified:
            least = "at least " if _found(c).at_least else ""
            return f"one more step lowers it by {least}{percent(c.residual)}"
        if c.bound is None:
            return "no useful bound"
        if c.bound == 0:
            stored = ", but for the digits that its centres do not have"
            return "it cannot be lower" + (stored if c.objective > 0 else "")
        return f"the best possible is at least {number(c.bound, 5)}"

    def certified(self, c: "Certificate") -> Lines:
        found, rows = _found(c), [("Objective", f"{number(c.objective, 7)}; {self.best_known(c)}")]
        if c.status == "degenerate":
            rows.append(("Clusters", _degenerate(c)))
        elif c.objective > 0:
            rows.append(("One more step", _step(c)))
            if found.moves_at_most is not None:  # not where every cluster is one point
                rows.append(("Single rows", _single_rows(c, found.moves_at_most)))
        if found.labels_cost > 0:
            cost = small(found.labels_cost)
            told = f"rounding gave some rows a centre that is not their nearest, for {cost} of it"
            rows.append(("Labels", told))
        rows += _bound_rows(c) + _restarts(c)
        if found.ours and not found.by_tree and found.iteration.aims is None:
            rows.append(("On the way", "the objective never rose, as the solver saw it"))
        return rows

    def failure_rows(self, c: "Certificate") -> Lines:
        found, aims = _found(c), _found(c).iteration.aims
        wrong = found.contradictions
        rows = [("Objective", number(c.objective, 7)), ("One more step", _step(c)), *wrong_rows(c)]
        if found.unproven is not None and not wrong:
            return [*rows, ("Why", found.unproven)]
        if aims and not wrong:
            return [*rows, ("Why", aims), ("What to do", _remedy(c))]
        return [*rows, *cause_and_remedy(_far(c) if wrong else stopped_by(c), _remedy(c))]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        who = f"{c.model} ({count(n, 'row')}, {count(p, 'column')})"
        if c.status == "degenerate":
            return f"{who}: {_degenerate(c)}"
        said = (
            f"{who} is at a local optimum of {c.formula}: the objective is "
            f"{number(c.objective, 7)}, recomputed from the data; one more step would lower it by "
            f"at most {small(c.residual)} of it"
        )
        return "; ".join(filter(None, [said, agreement(c)]))


def percent(share: float) -> str:
    """1.2 %, of the objective."""
    return f"{number(100 * share, 2)} %"


def _step(c: "Certificate") -> str:
    found, how = _found(c), "rows to nearest centres, centres to their means"
    if found.unproven is not None:
        return "not known"
    if c.residual > c.tol:
        return f"lowers it by {number(found.gain, 3)}, {percent(c.residual)} ({how})"
    gain = f"at most {small(c.residual)} of it" if c.residual > 0 else "nothing"
    if found.unrounded > c.tol:
        how += (
            " as numbers that are stored; means of more digits than X has would lower it by "
            f"{percent(found.unrounded)}"
        )
    return f"would lower it by {gain} ({how})"


def _single_rows(c: "Certificate", most: float) -> str:
    found = _found(c)
    move = found.move
    if move is None:
        rows = "every row"
        if found.untested:
            rows += f" but {found.untested:,} with nearly all weight of their clusters"
        return (
            f"no row's move to another cluster lowers it by more than {small(most)} of it "
            f"(Hartigan's test, {rows})"
        )
    others = found.movable - 1
    more = f"; {count(others, 'other row')} would too" if others > 0 else ""
    return (
        f"moving row {move.row} from cluster {move.source} to {move.target} would lower it by "
        f"{number(move.gain, 3)}, {percent(move.gain / c.objective)} (Hartigan's test{more})"
    )


def _degenerate(c: "Certificate") -> str:
    found = _found(c)
    assert found.degenerate is not None
    return (
        f"the rows hold {count(found.degenerate, 'distinct point')}, so {found.clusters:,} "
        f"clusters cannot exist; {found.effective:,} {'has' if found.effective == 1 else 'have'} "
        "rows"
    )


def _bound_rows(c: "Certificate") -> Lines:
    found = _found(c)
    if c.bound:
        how = "there is one mean" if found.clusters == 1 else "all eigenvalues of the covariance"
        above = f"at most {small(c.gap)} above the best possible, {percent(c.gap / c.bound)} of it"
        return [("Bound", f"{above} ({how})")]
    if found.no_bound:
        return [("Bound", found.no_bound)]
    if found.spectral is not None:
        value = number(found.spectral, 5)
        return [("Bound", f"{value}, less than half of the objective, says too little")]
    return []


def _restarts(c: "Certificate") -> Lines:
    restarts, alone = _found(c).restarts, _found(c).clusters > 1 and c.objective > 0
    worst = "" if restarts is None else f"{percent(restarts.spread)} above"
    return restart_rows(c, "; another may end lower" if alone else "", worst)


def _far(c: "Certificate") -> str | None:
    far = _found(c).far
    if _found(c).ours or not far > FAR:
        return None
    return (
        f"the rows lie {far:.0e} times as far from the origin as from their centres, where "
        "distances by ‖x‖² − 2xᵀμ + ‖μ‖² lose their digits"
    )


def _remedy(c: "Certificate") -> str:
    found, name = _found(c), f"certus.cluster.{c.model.rsplit('.', 1)[-1]}"
    if found.contradictions:
        if found.ours:
            return FIT_AGAIN
        if _far(c):
            return f"subtract the column means first, or use {name}"
        return f"give the rows and weights of the fit, or fit again, or use {name}"
    if found.iteration.aims:
        return "where a local optimum is wanted, use certus.cluster.KMeans(init=its centres)"
    if found.iteration.max_iter is not None:
        return "raise max_iter"
    if found.ours:
        return "fit again"
    return f"lower tol, or use {name}: it goes on until nothing moves"
