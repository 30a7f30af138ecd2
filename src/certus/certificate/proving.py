"""Run the proof of a claim over the rows, and gather what contradicts the model."""

from dataclasses import replace

import numpy as np

from ..audit import Labels, Reading
from ..data.rows import Rows
from ..proofs.least_squares import ridge_cv
from ..proofs.linalg.linear_sums import dense, view_sample_rows
from ..runtime.pool import blas_limiter
from .causes.falling_columns import what_falls
from .causes.separating_columns import what_separates
from .check_results import CvChoice, from_check
from .data import Data, checked
from .facts import ClassFacts, ColumnSpread, CountFacts, SquaresFacts
from .findings import Finding, OptimumFinding
from .registry import ClaimKind
from .status import CERTIFIED_STATUSES, contradicted_attributes


def prove(claim: ClaimKind, reading: Reading, rows: Rows, tol: float, bound: bool) -> Finding:
    """Finding of the proof on these rows. ``bound``: compute one even where it costs extra."""
    data, options = Data(as_defined(rows, reading.labels)), dict(reading.extra_claims)
    if bound:
        options["bound"] = True
    if reading.ours and reading.rank is not None:
        options["rank"] = reading.rank
    if reading.ours and reading.spectrum:
        options["spectrum"] = True
    choice = CvChoice()
    with blas_limiter.for_work(rows.shape):
        result = checked(claim, data, **reading.parameters, **options, tol=tol)
        if reading.cv_claim is not None:
            choice = CvChoice.from_check(ridge_cv.check(data, **reading.cv_claim, tol=tol))
    finding = from_check(claim, result, reading)
    wrong = (*contradicted_attributes(reading, finding), *choice.contradictions)
    finding = replace(finding, contradictions=(*finding.contradictions, *wrong))
    if isinstance(finding, OptimumFinding) and isinstance(finding.facts, SquaresFacts):
        facts = replace(finding.facts, claimed_rank=reading.rank, loo_score=choice.loo_score)
        return replace(finding, facts=facts)
    return finding


def as_defined(rows: Rows, labels: Labels | None) -> Rows:
    """The rows with targets and weights as the definition reads them."""
    if labels is None:
        return rows
    return rows.recoded(_by_labels, labels)


def _by_labels(
    y: np.ndarray, s: np.ndarray | None, labels: Labels
) -> tuple[np.ndarray, np.ndarray | None]:
    return labels.targets(y), labels.weights(y, s)


def with_causes(finding: Finding, reading: Reading, rows: Rows, status: str) -> Finding:
    """The finding of a linear classifier, with the facts that explain a claim that fails."""
    if not (isinstance(finding, OptimumFinding) and isinstance(finding.facts, ClassFacts)):
        return finding
    facts, labels = finding.facts, reading.labels
    if status not in CERTIFIED_STATUSES:
        facts = replace(facts, columns=_columns(rows))
    if isinstance(facts, CountFacts) and facts.separated is not None:
        facts = replace(facts, separation=what_falls(rows, facts.separated))
    elif facts.separated is not None:
        assert labels is not None
        separation = what_separates(rows, len(labels.classes), facts.separated)
        facts = replace(facts, separation=separation)
    return replace(finding, facts=facts)


def _columns(rows: Rows) -> ColumnSpread:
    """Mean and spread of the columns, from a few rows, to name the likely cause of a bad fit."""
    X, _, _ = rows.sample_block(view_sample_rows(rows.shape[1]))
    X = dense(X)
    size = np.abs(X).max(axis=0, initial=0.0).astype(float)
    size[size == 0] = 1.0
    X = X / size  # squares of 1e200 would be infinite
    return ColumnSpread(size * X.mean(axis=0), size * X.std(axis=0))
