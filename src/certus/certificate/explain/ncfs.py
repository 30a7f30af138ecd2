"""Texts for NCFS: where F still rises, the columns with weight, and the leave-one-out score."""

from typing import TYPE_CHECKING

from ...text.format import count, name_of, number, small
from ..findings import SelectionFinding, finding_of
from .local import FIT_AGAIN, LocalWording, wrong_rows
from .stopping import stopped_by
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate


def _finding(c: "Certificate") -> SelectionFinding:
    return finding_of(c, SelectionFinding)


class SelectionWording(LocalWording):
    DOES_NOT_SAY = (
        "that no other weights are better, that a column without weight is useless, or how well "
        "new rows are predicted"
    )

    def claim(self, c: "Certificate") -> str:
        """objective 118.63; no useful bound; 2 of 4 columns have weight, 1 is selected (…)."""
        parts = [f"objective {number(c.objective, 5)}", self.best_known(c)]
        if c.certified:
            parts.append(_with_weight(c))
        return "; ".join(parts)

    def best_known(self, c: "Certificate") -> str:
        return "no useful bound" if c.certified else _worst_slope(c)

    def certified(self, c: "Certificate") -> Lines:
        objective = f"{number(c.objective, 7)}; {self.best_known(c)}"
        rows = [("Objective", objective), ("Slopes", _slopes(c)), *_left_out(c), *_batches(c)]
        if _finding(c).ours and _finding(c).iteration.aims is None:
            rows.append(("On the way", "the objective never fell, as reported by the solver"))
        return rows

    def failure_rows(self, c: "Certificate") -> Lines:
        wrong, aims = _finding(c).contradictions, _finding(c).iteration.aims
        rows = [("Objective", number(c.objective, 7)), ("Slopes", _worst_slope(c)), *_left_out(c)]
        rows += _batches(c)
        rows += wrong_rows(c)
        if aims and not wrong:
            return [*rows, ("Why", aims), ("What to do", _remedy(c))]
        return [*rows, *cause_and_remedy(None if wrong else stopped_by(c), _remedy(c))]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        return (
            f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) is at a local optimum of "
            f"{c.formula}: the objective is {number(c.objective, 7)}, recomputed from the data; no "
            f"slope is more than {_in_units(c, small(c.residual))}; {_with_weight(c)}"
        )


def _with_weight(c: "Certificate") -> str:
    used, p, selected = _finding(c).used, c.shape[1], _finding(c).selected
    text = f"{used:,} of {count(p, 'column')} {'has' if used == 1 else 'have'} weight"
    if selected is None or selected[0] == used:
        return text
    chosen, why = selected
    return f"{text}, {chosen:,} {'is' if chosen == 1 else 'are'} selected ({why})"


def _in_units(c: "Certificate", share: str) -> str:
    return f"{share} of {'alpha' if _finding(c).penalized else 'the largest there can be'}"


def _worst_slope(c: "Certificate") -> str:
    """The column that violates its condition most."""
    finding = _finding(c)
    name, share = name_of(finding.worst, c.feature_names), number(c.residual, 2)
    if c.residual <= c.tol:
        return f"no slope is more than {_in_units(c, small(c.residual))}"
    if finding.weight > 0:
        rises = "more" if finding.slope > 0 else "less"
        return f"it rises with {rises} weight of {name} (its slope is {_in_units(c, share)})"
    if finding.kink:
        return (
            f"it rises with some weight of {name}, now 0, by which rows at distance 0 would differ "
            f"(its slope in √W is {_in_units(c, share)})"
        )
    return f"it rises with some weight of {name}, now 0 (its slope is {_in_units(c, share)})"


def _slopes(c: "Certificate") -> str:
    used, constant = _finding(c).used, _finding(c).constant
    others = c.shape[1] - used - constant
    most, parts = _in_units(c, small(c.residual)), []
    if used:
        what = "column" if used == 1 else f"{used:,} columns"
        parts.append(f"0 for the {what} with weight, up to {most}")
    if others:
        what = "other" if others == 1 else f"{others:,} others"
        parts.append(f"not above {'that' if used else most} for the {what}")
    if constant:
        never = "never changes and has none" if constant == 1 else "never change and have none"
        parts.append(f"{count(constant, 'column')} {never}")
    return "; ".join(parts)


def _left_out(c: "Certificate") -> Lines:
    score, batches = _finding(c).score, _finding(c).batches
    if score.value is None:
        return []
    others = "the others" if batches in (None, 1) else "the others of its batch"
    return [("Left out", f"each row by {others}: {score.kind} {number(score.value, 4)}")]


def _batches(c: "Certificate") -> Lines:
    batches = _finding(c).batches
    if batches in (None, 1):
        return []
    return [
        (
            "Batches",
            f"{batches:,} of consecutive rows, all recomputed; the objective does not compare rows "
            "of different batches",
        )
    ]


def _remedy(c: "Certificate") -> str:
    finding = _finding(c)
    if finding.contradictions:
        return FIT_AGAIN
    if finding.iteration.aims:
        return (
            "where a local optimum is wanted, go on from here with solver='lbfgs', warm_start=True"
        )
    if finding.iteration.max_iter is not None:
        return "raise max_iter"
    return "fit again, with a smaller tol"
