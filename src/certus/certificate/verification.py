"""verify(): run the proof of a fitted model's claim over its rows, and certify the result.

Every certificate is made here, those of our own fits included. The solver takes no part in it.
"""

import copy
import re
import time
from dataclasses import replace
from functools import partial
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from .. import audit
from ..data.rows import Rows
from ..exceptions import CannotVerifyError
from ..runtime.pool import OutOfTime, in_time, proof_seconds
from ..runtime.refusals import refuses_in_one_frame
from .answers.compared_answers import compared_with_answers
from .certificate import TOL, Certificate
from .decisions import comparison
from .explain.classes import notes_on_classes
from .explain.penalized import not_unique
from .facts import ClassFacts, PenalizedFacts
from .findings import (
    ClusterFinding,
    ExactFinding,
    Finding,
    OptimumFinding,
    PageFinding,
    UndefinedFinding,
)
from .fingerprint import fingerprint
from .fitted_rows import compared_with_fit
from .linkage_matrix import certify_matrix
from .pages.run import run_page
from .parameters import Parameters
from .parts import of_parts
from .problem import in_words, read_claim, read_given, unwrapped
from .proving import prove, with_causes
from .registry import CLAIMS
from .status import CERTIFIED_STATUSES, KIND_OF_PAGE, PROOF_TAKES_LONGER, status_of, status_of_page

By = Literal["proof", "page"]


def certify(model: object, rows: Rows, tol: float = TOL) -> Certificate:
    """Return the certificate of a fitted model on the rows of its fit."""
    return _certify(read_claim(model, rows), rows, tol, feature_names(model))


def certify_reading(
    reading: audit.Reading, rows: Rows, names: tuple[str, ...] | None = None, tol: float = TOL
) -> Certificate:
    """Return the certificate of a claim that is not that of a fitted model."""
    return _certify(reading, rows, tol, names)


def unproven(
    model: object,
    rows: Rows,
    formula: str,
    objective: float,
    why: str,
    tol: float = TOL,
    kind: str = "stationary",
) -> Certificate:
    """Certificate of a model without a definition; ``objective`` is the solver's own value."""
    finding: Finding = _undefined(objective, why)
    if kind == ExactFinding.kind:
        finding = ExactFinding(
            objective=objective, bound=None, gap=float("inf"), residual=float("inf"), unproven=why
        )
    return Certificate(
        model=type(model).__name__, shape=rows.shape, formula=formula, definition="",
        objective=objective, bound=None, gap=finding.gap, residual=finding.residual,
        kind=finding.kind, status="not proven", certified=False, tol=tol, coef_error=None,
        seconds=0.0, fingerprint=fingerprint(rows), _finding=finding,
        feature_names=feature_names(model),
    )  # fmt: skip


def feature_names(model: object) -> tuple[str, ...] | None:
    """Return the names of the columns that a model was fitted on, if they had names."""
    names = vars(model).get("feature_names_in_", vars(model).get("columns_"))
    return None if names is None else tuple(names)


def _certify(
    reading: audit.Reading,
    rows: Rows,
    tol: float,
    names: tuple[str, ...] | None,
    bound: bool = False,
) -> Certificate:
    started = time.perf_counter()
    claim, bound = CLAIMS[reading.definition], bound and reading.bound_on_demand
    proof = partial(prove, claim, reading, rows, tol, bound)
    seconds = proof_seconds.get()
    try:
        finding = proof() if seconds is None else in_time(proof, seconds)
    except OutOfTime:
        return _without_proof(reading, rows, tol, names)
    status = status_of(finding, tol)
    if status == "stationary" and reading.parameters.get("direction") is not None:
        status = "not optimal"  # the fit saw the classes separated, up to rounding
    finding = with_causes(finding, reading, rows, status)
    return Certificate(
        model=reading.model,
        shape=rows.shape,
        formula=_formula(reading, rows),
        definition=claim.proof,
        objective=finding.objective,
        bound=finding.bound,
        gap=finding.gap,
        residual=finding.residual,
        kind=finding.kind,
        status=status,
        certified=status in CERTIFIED_STATUSES,
        tol=tol,
        coef_error=finding.coef_error if isinstance(finding, OptimumFinding) else None,
        seconds=time.perf_counter() - started,
        fingerprint=fingerprint(rows),
        notes=reading.notes + _notes(reading, finding, names),
        _finding=finding,
        parameters=_copied_parameters(reading, finding, bound),
        feature_names=names,
        labels=reading.labels,
    )


def _certify_by_page(
    reading: audit.Reading,
    rows: Rows,
    tol: float,
    names: tuple[str, ...] | None,
    bound: bool = False,
) -> Certificate:
    """Certificate by the model's page, which works on whole arrays."""
    if rows.streamed:
        raise CannotVerifyError(
            "a page works on whole arrays, and these rows are read block by block: leave "
            'by="page" out, or give arrays'
        )
    started = time.perf_counter()
    parameters = cast(Parameters, {**copy.deepcopy(reading.parameters), "bound": bound})
    if reading.extra_claims.get("by_tree"):  # labels are those of the splits
        parameters["labels"] = reading.extra_claims["labels"]
    problems = list(CLAIMS[reading.definition].page(parameters, reading.labels))
    if not problems:
        raise CannotVerifyError(
            f"there is no page for this {reading.model}: a function of yours, or a distance that "
            'no page has, is part of it. Use certus.verify without by="page"'
        )
    claim = run_page(problems, rows, tol)
    residual = claim.miss / claim.scale if claim.miss > 0 and claim.scale else claim.miss
    # of a local optimum ``miss`` is what a step gains, not the distance to the bound
    gap = float("inf") if claim.bound is None else max(claim.miss, claim.objective - claim.bound)
    finding = PageFinding(
        objective=claim.objective, bound=claim.bound, gap=gap, residual=residual,
        claim_name=reading.definition, claim=claim.kind, holds=claim.holds,
        contradictions=tuple(reading.contradictions),
        larger_is_better=CLAIMS[reading.definition].maximized, ours=reading.ours,
    )  # fmt: skip
    status = status_of_page(finding)
    return Certificate(
        model=reading.model, shape=rows.shape, formula=_formula(reading, rows),
        definition=f"certus.definitions.{problems[0].page}", objective=finding.objective,
        bound=finding.bound, gap=finding.gap, residual=finding.residual,
        kind=KIND_OF_PAGE[claim.kind], status=status, certified=status in CERTIFIED_STATUSES,
        tol=tol, coef_error=None, seconds=time.perf_counter() - started,
        fingerprint=fingerprint(rows),
        notes=reading.notes, _finding=finding, parameters=parameters, feature_names=names,
        labels=reading.labels,
    )  # fmt: skip


def _without_proof(
    reading: audit.Reading, rows: Rows, tol: float, names: tuple[str, ...] | None
) -> Certificate:
    """Certificate of a stopped fit whose proof takes longer than people wait after Ctrl-C."""
    finding = _undefined(float("nan"), PROOF_TAKES_LONGER, reading.ours)
    return Certificate(
        model=reading.model, shape=rows.shape, formula=_formula(reading, rows), definition="",
        objective=finding.objective, bound=None, gap=finding.gap, residual=finding.residual,
        kind=finding.kind, status="not proven", certified=False, tol=tol, coef_error=None,
        seconds=0.0, fingerprint=fingerprint(rows), notes=reading.notes, _finding=finding,
        parameters=_copied_parameters(reading, finding, bound=False), feature_names=names,
        labels=reading.labels,
    )  # fmt: skip


def _undefined(objective: float, why: str, ours: bool = True) -> UndefinedFinding:
    return UndefinedFinding(
        objective=objective, bound=None, gap=float("inf"), residual=float("inf"), unproven=why,
        ours=ours, null_objective=float("nan"),
    )  # fmt: skip


def _formula(reading: audit.Reading, rows: Rows) -> str:
    """The objective as printed: without sᵢ where there are no weights."""
    return reading.formula if rows.s is not None else re.sub("sᵢ ?", "", reading.formula)


def _copied_parameters(reading: audit.Reading, finding: Finding, bound: bool) -> Parameters:
    """Copy the parameters: editing the model in place must not edit what was certified."""
    copied = cast(Parameters, copy.deepcopy(reading.parameters))
    if isinstance(finding, ClusterFinding):  # a script needs these as well
        copied["ties"], copied["bound"] = finding.ties, bound
    return copied


def _notes(
    reading: audit.Reading, finding: Finding, names: tuple[str, ...] | None
) -> tuple[str, ...]:
    """Notes on classes, and on columns that repeat others."""
    facts = finding.facts if isinstance(finding, OptimumFinding) else None
    if isinstance(facts, PenalizedFacts) and facts.not_unique:
        return (not_unique(facts.not_unique, names),)
    if reading.labels is None or not isinstance(facts, ClassFacts):
        return ()
    weighted = reading.parameters.get("class_weight") is not None
    return notes_on_classes(reading.labels.classes, facts, weighted)


@refuses_in_one_frame
def verify(
    model: object,
    X: object = None,
    y: object = None,
    sample_weight: ArrayLike | None = None,
    tol: float | None = None,
    bound: bool = False,
    by: By = "proof",
    decisions: comparison.When = "auto",
    *,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> Certificate:
    """Recompute from the data what a fitted model claims. The model is not fitted again.

    Parameters
    ----------
    model : fitted model
        A model of certus or scikit-learn; also a Pipeline (its last step, on the transformed data),
        a GridSearchCV (its best estimator), a TransformedTargetRegressor, or a model that fits
        several (one against the rest, voting, bagging, …), each of which is verified. Of
        statsmodels the result of ``fit``. An array of shape (n - 1, 4) is a linkage matrix of
        SciPy: its merges are compared with those of all seven linkages by Euclidean distance, or by
        the distances that X holds. A sparse matrix is a spanning tree, which must be minimal.
    X, y, sample_weight : array-like, or Dask collections
        The rows that the model was fitted on, with the weights that it was fitted with. X may be
        a table of ``certus.open_rows``, which has its targets and weights among its columns.
        A result of statsmodels recorded its rows, weights and offsets: each may be left out.
    tol : float, optional
        Residual up to which the model is called optimal (default 1e-6).
    bound : bool, default=False
        For k-means, also compute a lower bound over every choice of centres, from all eigenvalues
        of the rows' covariance. For other models a known bound is always part of the claim.
    by : {"proof", "page"}, default="proof"
        "proof": the module of ``certus.proofs``, which works block by block and bounds every
        rounding error. "page": the module of ``certus.definitions``, at most 80 lines of NumPy on
        whole dense arrays, which ``export`` writes as a script.
    offset, exposure : array-like or str, optional
        Those that a PoissonRegressor, a GammaRegressor or a result of statsmodels was fitted with.
    decisions : {"auto", True, False}, default="auto"
        Whether to compare the model's predictions on these rows with those at the optimum, which
        costs a fit that starts from the model's parameters: ``Certificate.decisions``. "auto":
        where the model misses the optimum, and the fit takes seconds. Linear models with a convex
        objective only.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> import certus
    >>> X, y = load_diabetes(return_X_y=True)
    >>> certus.verify(LinearRegression().fit(X, y), X, y)
    Certificate(optimal: objective 1,263,986, at most ... above the best possible)
    """
    tol = TOL if tol is None else tol
    make = _certify_by_page if by == "page" else _certify
    if not tol >= 0:
        raise ValueError(f"tol={tol!r}: give a number that is not negative")
    if by not in ("proof", "page"):
        raise ValueError(f'by={by!r}: use "proof" or "page"')
    if decisions not in ("auto", True, False):
        raise ValueError(f'decisions={decisions!r}: use "auto", True or False')
    if isinstance(model, np.ndarray) or issparse(model):
        beside = (y, sample_weight, offset, exposure)
        return certify_matrix(model, X, beside, partial(make, tol=tol, names=None))
    given = unwrapped(model, X, y, sample_weight, offset, exposure)
    if given.parts is not None:
        one = partial(verify, tol=tol, bound=bound, by=by, decisions=decisions)
        return of_parts(type(given.inner.model).__name__, given.parts, one)
    inner = given.inner
    with in_words(inner.model):
        rows, reading = read_given(given)
        certificate = make(reading, rows, tol, feature_names(inner.model), bound)
        certificate = replace(certificate, _steps=None if inner.steps is None else (*inner.steps,))
        if certificate.certified:
            certificate = compared_with_answers(certificate, inner.model, rows, reading)
    certificate = compared_with_fit(certificate, inner, reading, rows, given.sample_weight)
    if not comparison.wanted(decisions, certificate.status, bool(certificate.other_rows)):
        return certificate
    found, reason = comparison.compare(reading, rows, tol, decisions)
    notes = certificate.notes if reason is None else (*certificate.notes, reason)
    return replace(certificate, decisions=found, notes=notes)
