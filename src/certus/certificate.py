"""Certificate, and verify(): run a definition over the rows and say what it found.

Every certificate comes from here, that of our own fits too. The solver is not asked.
"""

import copy
import time
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from . import audit
from ._answers import compared_with_answers
from ._data import Data as _Data
from ._data import checked
from ._own_rows import compared_with_fit
from ._pool import blas_limiter
from ._separating import what_separates
from ._status import CERTIFIED, contradictions, status_of
from ._validation import data_for_verify
from .definitions.linear_sums import dense, few_rows
from .exceptions import CannotVerifyError
from .fingerprint import Fingerprint, fingerprint
from .rows import Rows

if TYPE_CHECKING:
    from ._watching import TracePoint

TOL = 1e-6  # residual up to which a fit is optimal


@dataclass(frozen=True, eq=False)
class Certificate:
    """What was recomputed from the data about one fitted model.

    Attributes
    ----------
    objective : float
        What the model minimises (NCFS and mixtures: maximises), at its parameters.
    bound : float or None
        The optimum cannot be lower than this. None where no bound is known.
    gap : float
        objective − bound, enlarged by all that rounding can have done: the true distance to the
        optimum is never larger. Infinite where there is no bound.
    residual : float
        gap as a share of what the intercept alone leaves (where w = 0 is not allowed, of what the
        allowed w nearest to 0 leaves); where there is no bound, the share that one more Newton step
        would gain, or of regression the largest slope, as a share of the largest there can be; of
        clusters, the share of the objective that one more step takes away; of mixtures, what one
        more EM step gains, a unit of weight; of NCFS, the slope that violates its condition most,
        as a share of α. Of kernel machines, without what rounding can have done to the objective
        itself.
    kind : str
        "global": the bound holds for every choice of parameters. "stationary": no bound is known,
        but no small step lowers the objective. Where a penalty is not convex, nothing is then known
        of a global optimum. "local": the same of clusters, where steps are not small, and of
        weights of columns (NCFS), where the objective is maximised. "exact": there is nothing to
        minimise; ``objective`` counts what was recomputed, answers or merges, and is wrong.
    status : str
        "optimal" (residual ≤ tol), "stationary" (the same without a bound), "local optimum" and
        "not a local optimum" (of clusters, mixtures and NCFS), "degenerate" (of clusters: fewer
        distinct rows than clusters, so that the objective is 0 and cannot be lower; of mixtures: a
        component without a spread of its own), "exact" (of answers and trees), "nearly optimal" (≤
        1e-3), "not optimal", "not stationary" (of a penalty that is not convex), "no finite
        optimum" (the classes are separated, so coefficients grow without limit), "not proven"
        (sparse rows of many columns without a penalty, directions whose curvature cannot be told
        from rounding, or a loss, penalty or distance of your own: neither could be shown),
        "contradicted" (another fitted attribute, or an answer, disagrees
        with the data), "other rows" (not those of the fit) or "stopped" (by Ctrl-C or a callback,
        before the optimum).
    certified : bool
        The claim was recomputed from the data and holds.
    tol, coef_error, seconds, fingerprint
        The tolerance; the most by which a coefficient can differ from the optimum's (None:
        unknown); what the check took; what the rows are recognised by.
    trace : tuple of TracePoint(iteration, seconds, objective, bound)
        What the solver told after each step; empty where nothing iterated. Not part of the proof.
    """

    model: str
    shape: tuple[int, int]
    formula: str
    definition: str
    objective: float
    bound: float | None
    gap: float
    residual: float
    kind: str
    status: str
    certified: bool
    tol: float
    coef_error: float | None
    seconds: float
    fingerprint: Fingerprint
    trace: "tuple[TracePoint, ...]" = ()
    notes: tuple[str, ...] = ()
    found: dict[str, Any] = field(default_factory=dict, repr=False)
    parameters: dict[str, Any] = field(default_factory=dict, repr=False)
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)
    labels: audit.Labels | None = field(default=None, repr=False)  # of a classifier

    @property
    def maximised(self) -> bool:
        """Is a larger objective the better one?"""
        return bool(self.found.get("maximised", False))

    def __repr__(self) -> str:
        from ._explain import one_line

        return one_line(self)

    def explain(self) -> str:
        """The whole finding in words."""
        from ._explain import explain

        return explain(self)

    def note(self) -> str:
        """One sentence for a methods section."""
        from ._explain import note

        return note(self)

    def export(self, path: Any) -> None:
        """Write a script that recomputes the claim and needs only NumPy and the data.

        ``python check.py X.npy y.npy [weights.npy]``; CSV files do too. Of neighbours the script
        holds the sampled answers; of clusters the centres, of mixtures the components, of trees the
        merges, and it is given no y; of NCFS the weights.
        """
        from . import (
            _export,
            _export_clusters,
            _export_linkage,
            _export_mixture,
            _export_ncfs,
            _export_neighbors,
            _export_svm,
        )

        of_kind = {"exact": _export_neighbors, "local": _export_clusters}.get(self.kind, _export)
        named = {
            "ncfs": _export_ncfs, "mixture": _export_mixture, "linkage": _export_linkage,
            "diana": _export_linkage,
        }  # fmt: skip
        of_kind = named.get(self.definition.rpartition(".")[2], of_kind)
        of_kind = _export_svm if self.definition in _export_svm.DEFINITIONS else of_kind
        _export.export(self, path, of_kind.script)

    def plot(self, ax: Any = None, **how: Any) -> Any:
        """Draw the trace: objective falling, bound rising, the gap shaded. What is maximised rises.

        ``how`` as in ``certus.plotting.ConvergenceDisplay.plot``, which this returns. A fit that
        did not iterate has nothing to draw, which is a ``CertificateError``.
        """
        from .plotting import ConvergenceDisplay

        return ConvergenceDisplay(self.trace, name=self.model).plot(ax, **how)

    def _repr_html_(self) -> str:
        from ._explain_html import html

        return html(self)


def certify(model: Any, rows: Rows, tol: float = TOL) -> Certificate:
    """The certificate of a fitted model on rows that are known to be its own."""
    return _certify(_read(model, rows), rows, tol, _feature_names(model))


def _read(model: Any, rows: Rows) -> audit.Reading:
    try:
        return audit.read(model, rows)
    except ValueError as error:
        raise CannotVerifyError(str(error)) from error


def unproven(
    model: Any,
    rows: Rows,
    formula: str,
    objective: float,
    why: str,
    tol: float = TOL,
    kind: str = "stationary",
) -> Certificate:
    """Of a fitted model that no definition knows: its objective is its own word."""
    return Certificate(
        model=type(model).__name__, shape=rows.shape, formula=formula, definition="",
        objective=objective, bound=None, gap=float("inf"), residual=float("inf"),
        kind=kind, status="not proven", certified=False, tol=tol, coef_error=None,
        seconds=0.0, fingerprint=fingerprint(rows), found={"unproven": why, "ours": True},
        feature_names=_feature_names(model),
    )  # fmt: skip


def _feature_names(model: Any) -> tuple[str, ...] | None:
    names = vars(model).get("feature_names_in_")
    return None if names is None else tuple(names)


def _certify(
    reading: audit.Reading,
    rows: Rows,
    tol: float,
    names: tuple[str, ...] | None,
    bound: bool = False,
) -> Certificate:
    started = time.perf_counter()
    definition = import_module(f"certus.definitions.{reading.definition}")
    data = _Data(_as_defined(rows, reading.labels))
    asked = dict(reading.claims)  # what else the model claims
    if bound and reading.bound_on_demand:
        asked["bound"] = True
    if reading.ours and reading.rank is not None:
        asked["rank"] = reading.rank
    if reading.ours and reading.spectrum:
        asked["spectrum"] = True
    with blas_limiter.for_work(rows.shape):
        found = checked(definition, data, **reading.parameters, **asked, tol=tol)
        wrong = [*reading.wrong, *found.get("wrong", ()), *contradictions(reading, found)]
        if reading.choice is not None:
            choice = import_module("certus.definitions.ridge_cv")
            chosen = choice.check(data, **reading.choice, tol=tol)
            wrong += chosen["wrong"]
            found["loo_score"] = chosen.get("loo_score")
    kind = found.get("kind", "global")
    status = status_of(found, kind, wrong, tol)
    if status == "stationary" and reading.parameters.get("direction") is not None:
        status = "not optimal"  # the fit saw the classes separated, up to rounding
    certified = status in CERTIFIED
    found |= {"wrong": wrong, "claimed_rank": reading.rank, "ours": reading.ours}
    found["iteration"] = reading.iteration
    if reading.labels is not None and not certified and kind not in ("exact", "local"):
        found["columns"] = _columns(rows)
    if status == "no finite optimum":
        assert reading.labels is not None
        proof = found["separated"]
        K, ordered = len(reading.labels.classes), proof.get("ordered", False)
        facts = what_separates(rows, K, proof["direction"], ordered)
        found["separated"] = {**facts, "proof": proof}
    # copies: an edit of the model in place must not edit what was certified
    parameters = copy.deepcopy(reading.parameters)
    if "ties" in found:  # what a script needs besides
        parameters |= {"ties": found["ties"], "bound": asked.get("bound", False)}
    formula = reading.formula
    if rows.s is None:
        formula = formula.replace("sᵢ ", "").replace("sᵢ", "")
    return Certificate(
        model=reading.model,
        shape=rows.shape,
        formula=formula,
        definition=f"certus.definitions.{reading.definition}",
        objective=found["objective"],
        bound=found["bound"],
        gap=found["gap"],
        residual=found["residual"],
        kind=kind,
        status=status,
        certified=certified,
        tol=tol,
        coef_error=found.get("coef_error"),
        seconds=time.perf_counter() - started,
        fingerprint=fingerprint(rows),
        notes=reading.notes + _notes_on_classes(reading, found) + _note_on_repeats(found, names),
        found=found,
        parameters=parameters,
        feature_names=names,
        labels=reading.labels,
    )


def _as_defined(rows: Rows, labels: audit.Labels | None) -> Rows:
    """The rows with targets and weights as the definition reads them."""
    if labels is None:
        return rows
    assert rows.y is not None
    y, s = labels.targets(rows.y), labels.weights(rows.y, rows.s)
    return rows.but(y, s)


def _columns(rows: Rows) -> dict[str, np.ndarray]:
    """Mean and spread of the columns, from a few rows: for the likely cause of a bad fit."""
    X, _, _ = rows.some(few_rows(rows.shape[1]))
    X = dense(X)
    size = np.abs(X).max(axis=0, initial=0.0).astype(float)
    size[size == 0] = 1.0
    X = X / size  # squares of 1e200 would be infinite
    return {"mean": size * X.mean(axis=0), "spread": size * X.std(axis=0)}


def _notes_on_classes(reading: audit.Reading, found: dict[str, Any]) -> tuple[str, ...]:
    from ._explain_classes import notes_on_classes

    if reading.labels is None:
        return ()
    weighted = reading.parameters.get("class_weight") is not None
    return notes_on_classes(reading.labels.classes, found, weighted)


def _note_on_repeats(found: dict[str, Any], names: tuple[str, ...] | None) -> tuple[str, ...]:
    from ._explain_penalised import not_unique

    return (not_unique(found["not_unique"], names),) if found.get("not_unique") else ()


def verify(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    tol: float | None = None,
    bound: bool = False,
) -> Certificate:
    """Recompute from the data what a fitted model claims. Nothing is fitted.

    Parameters
    ----------
    model : fitted model
        Of certus or scikit-learn; also a Pipeline (its last step, on the transformed data), a
        GridSearchCV (its best estimator) or a TransformedTargetRegressor.
    X, y, sample_weight : array-like
        The rows that the model was fitted on, with the weights that it was fitted with.
    tol : float, optional
        Residual up to which the model is called optimal (default 1e-6).
    bound : bool, default=False
        Of k-means, compute a lower bound on every choice of centres too, from all eigenvalues of
        the rows' covariance. Other models have theirs in any case, if one is known.

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
    if not tol >= 0:
        raise ValueError(f"tol={tol!r}: give a number that is not negative")
    try:
        inner = audit.unwrap(model, X, y)
        if not audit.known(inner.model):
            raise CannotVerifyError(
                f"{type(inner.model).__name__} cannot be audited. What can: {audit.readable()}."
            )
        if hasattr(inner.model, "fit"):  # a Tree has none
            check_is_fitted(inner.model)
    except NotFittedError as error:
        raise CannotVerifyError(f"{type(model).__name__} is not fitted: fit it first") from error
    except AttributeError as error:
        raise CannotVerifyError(audit.why_unreadable(model, error)) from error
    try:
        rows = data_for_verify(inner.model, inner.X, inner.y, sample_weight)
        reading = _read(inner.model, rows)
        certificate = _certify(reading, rows, tol, _feature_names(inner.model), bound)
        if certificate.certified:
            certificate = compared_with_answers(certificate, inner.model, rows, reading)
    except CannotVerifyError:
        raise
    except audit.UNREADABLE as error:
        raise CannotVerifyError(audit.why_unreadable(inner.model, error)) from error
    return compared_with_fit(certificate, inner, reading, sample_weight)
