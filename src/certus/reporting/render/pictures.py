"""All charts of a report, by the names under which templates ask for them."""

from dataclasses import dataclass

from ..content.document import ReportContent
from ..content.performance import Measures
from ..content.values import MeasureEstimate
from .charts import calibration, distributions, evidence, forests, reasons, threshold_curves, trees
from .charts.chart import Chart


@dataclass(frozen=True)
class Pictures:
    """The charts; None where the content has nothing to draw."""

    verdict: Chart | None
    candidates: Chart | None
    headroom: Chart | None
    curves: tuple[Chart, ...]  # ROC, precision–recall, decision curve
    deciles: Chart | None
    residuals: Chart | None
    calibration: Chart | None
    effects: Chart | None
    ceiling: Chart | None
    rows: Chart | None
    variables: Chart | None
    evidence: Chart | None
    cases: tuple[Chart | None, ...]
    subgroups: tuple[Chart | None, ...]


def pictures(content: ReportContent) -> Pictures:
    """Draw every chart of a report."""
    measure, measures, structure = content.verdict.measure, content.measures, content.structure
    counts = measures.counts if measures else None
    numbers = content.question.task == "numbers"
    found = content.calibration
    threshold = counts.thresholds[counts.selected] if counts else None
    return Pictures(
        verdict=forests.verdict(measure) if measure else None,
        candidates=forests.candidates(content.comparison) if content.comparison else None,
        headroom=forests.headroom(content.headroom) if content.headroom else None,
        curves=_curves(measures) if measures else (),
        deciles=distributions.deciles(measures.deciles) if measures and measures.deciles else None,
        residuals=(
            distributions.residuals(measures.residuals) if measures and measures.residuals else None
        ),
        calibration=(
            calibration.calibration(found, numbers, threshold) if found and found.bins else None
        ),
        effects=forests.effects(content.uses) if content.uses else None,
        ceiling=forests.ceiling(content.ceiling) if content.ceiling else None,
        rows=(
            trees.dendrogram("rows", structure.rows, "row")
            if structure and structure.rows
            else None
        ),
        variables=(
            trees.dendrogram("variables", structure.variables, "column")
            if structure and structure.variables
            else None
        ),
        evidence=(
            evidence.evidence(structure.evidence) if structure and structure.evidence else None
        ),
        cases=tuple(
            reasons.reasons(case, k + 1)
            for k, case in enumerate(content.cases.cases if content.cases else ())
        ),
        subgroups=tuple(forests.subgroups(s, k + 1) for k, s in enumerate(content.subgroups)),
    )


def _curves(measures: Measures) -> tuple[Chart, ...]:
    counts = measures.counts
    if counts is None or not counts.n_positive or not counts.n_negative:
        return ()
    areas: dict[str, MeasureEstimate] = {area.name.lower(): area for area in measures.areas}
    return (
        threshold_curves.roc(counts, areas.get("auc")),
        threshold_curves.precision_recall(counts, areas.get("average precision")),
        threshold_curves.decision(counts),
    )
