"""The certificate of a fitted model: the claim that was recomputed from its data.

``verification.py`` makes it; ``explain/`` renders it as text and HTML, ``export/`` as a script.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING

from ..audit import ColumnStep, Labels
from .decisions.record import Decisions
from .findings import Finding, UndefinedFinding
from .fingerprint import Fingerprint
from .parameters import Parameters
from .parts import PartFinding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting.convergence import Along, ConvergenceDisplay
    from ..runtime.progress import TracePoint
    from ..text.plain import Plain

TOL = 1e-6  # residual up to which a fit is optimal


@dataclass(frozen=True, eq=False)
class Certificate:
    """The claim about one fitted model that was recomputed from the data.

    Attributes
    ----------
    objective : float
        The objective at the model's parameters. It is minimised (NCFS and mixtures: maximised).
    bound : float or None
        The optimum cannot be lower than this. None where no bound is known.
    gap : float
        objective − bound, enlarged by a bound on all rounding errors: the true distance to the
        optimum is never larger. Infinite where there is no bound.
    residual : float
        The gap as a share of the null model's objective: that of the intercept alone (where w = 0
        is not allowed, of the allowed w nearest to 0). Where there is no bound, the share that one
        more Newton step would gain; for regression, the largest slope as a share of the largest
        possible one. Clusters: the share of the objective by which one more step lowers it.
        Mixtures: the gain of one more EM step per unit of weight. NCFS: the slope that violates its
        condition most, as a share of α. For kernel machines the rounding error of the objective
        itself is left out.
    kind : str
        "global": the bound holds for every choice of parameters. "stationary": no bound is known,
        but no small step lowers the objective; where a penalty is not convex, nothing is then known
        about a global optimum. "local": no step of the algorithm improves the objective, which is
        the claim for clusters, whose steps are not small, for mixtures and for feature weights
        (NCFS). "exact": there is nothing to minimise; ``objective`` counts the recomputed answers
        or merges that are wrong.
    status : str
        "optimal" (residual ≤ tol), "stationary" (the same without a bound), "local optimum" and
        "not a local optimum" (clusters, mixtures and NCFS), "degenerate" (clusters: fewer distinct
        rows than clusters, so that the objective is 0 and cannot be lower; mixtures: a component
        without a spread of its own), "exact" (neighbours and trees), "nearly optimal" (residual ≤
        1e-3), "not optimal", "not stationary" (a penalty that is not convex), "no finite optimum"
        (the classes are separated, so coefficients grow without limit), "not proven" (neither the
        claim nor its opposite could be shown: sparse rows with many columns and no penalty,
        directions whose curvature is within rounding error, or a loss, penalty or distance of your
        own), "contradicted" (another fitted attribute, or an answer, disagrees with the data),
        "other rows" (not those of the fit) or "stopped" (by Ctrl-C or a callback, before the
        optimum).
    certified : bool
        The claim was recomputed from the data and holds.
    tol, coef_error, seconds, fingerprint
        The tolerance; the largest possible difference between a coefficient and the optimum's
        (None: unknown); the time of the check; the shape and hashes by which rows are recognised.
    trace : tuple of TracePoint(iteration, seconds, objective, bound)
        The solver's report of each step; empty where nothing iterated. Not part of the proof.
    parameters : dict
        The certified parameters, as arguments of the proof's ``check``; a copy of the model's.
    labels : Labels or None
        The classes of a classifier, and how its definition reads them.
    decisions : Decisions or None
        How predictions on these rows differ from those at the optimum, where ``verify`` compared
        them: the number that change, the largest change, its row, and a proven bound on it.
    other_rows : tuple of str
        What says that a model of another library was not fitted on these rows; empty: nothing.
    parts : tuple of PartFinding(name, model, status, certified, objective, gap, residual)
        The models inside one that fits several, such as a OneVsRestClassifier; else empty. The
        other fields are those of the part that is farthest from its claim.
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
    _finding: Finding = field(repr=False)
    trace: "tuple[TracePoint, ...]" = ()
    notes: tuple[str, ...] = ()
    parameters: Parameters = field(default_factory=Parameters, repr=False)
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)
    labels: Labels | None = field(default=None, repr=False)
    other_rows: tuple[str, ...] = ()
    decisions: Decisions | None = None
    parts: tuple[PartFinding, ...] = ()
    # columns as the steps of a pipeline made them; None: no pipeline, or one that mixes columns
    _steps: tuple[ColumnStep, ...] | None = field(default=None, repr=False)

    @property
    def maximized(self) -> bool:
        """Whether a larger objective is better."""
        return self._finding.maximized

    def _stopped(self, by_whom: str) -> "Certificate":
        """The certificate of a fit that was stopped; ``by_whom``, and when, in words."""
        finding = replace(self._finding, stopped=by_whom)
        return replace(self, status="stopped", certified=False, _finding=finding)

    def _with_objective_of_solver(self, objective: float, maximized: bool) -> "Certificate":
        """The certificate of a fit without a proof; ``objective``: the solver's own value."""
        finding = self._finding
        if isinstance(finding, UndefinedFinding):
            finding = replace(finding, objective=objective, larger_is_better=maximized)
        return replace(self, objective=objective, _finding=finding)

    def _contradicted(self, contradictions: Iterable[str]) -> "Certificate":
        """The certificate of a model whose answers contradict its parameters."""
        finding = self._finding
        finding = replace(finding, contradictions=(*finding.contradictions, *contradictions))
        return replace(self, status="contradicted", certified=False, _finding=finding)

    def __repr__(self) -> str:
        from .explain.certificate import one_line

        return one_line(self)

    def explain(self) -> str:
        """The whole finding as text: claim, numbers, likely cause, remedy and who checked it."""
        from .explain.certificate import explain

        return explain(self)

    def note(self) -> str:
        """One sentence for a methods section."""
        from .explain.certificate import note

        return note(self)

    def export(self, path: str | PathLike[str]) -> None:
        """Write a script that recomputes the claim and needs only NumPy and the data.

        ``python check.py X.npy y.npy [weights.npy]``; CSV files work too. The script holds what was
        certified: coefficients, centres, components, merges (these three need no y), feature
        weights, or the sampled answers of a neighbours model.
        """
        from .export.script import export

        export(self, path)

    def to_dict(self) -> "dict[str, Plain]":
        """The certificate as plain values, which ``json.dumps`` accepts with ``allow_nan=False``.

        The names are those of the attributes, and ``explanation`` for ``explain()``; parameters,
        trace and seconds are left out. Numbers that are not finite are the texts "inf", "-inf" and
        "nan". ``docs/schemas/certificate.json`` is the schema.
        """
        from .as_dict import as_dict

        return as_dict(self)

    def to_json(self, indent: int | None = None) -> str:
        """``to_dict()`` as strict JSON, in ASCII; ``indent`` as for ``json.dumps``."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def plot(self, ax: "Axes | None" = None, *, x: "Along" = "iterations") -> "ConvergenceDisplay":
        """Draw the trace: the objective falls, the bound rises, and the gap between is shaded.

        A maximised objective rises. ``x`` as in ``certus.plotting.ConvergenceDisplay.plot``, whose
        display is returned. A fit without iterations raises ``CertificateError``.
        """
        from ..plotting import ConvergenceDisplay

        return ConvergenceDisplay(self.trace, name=self.model).plot(ax, x=x)

    def _repr_html_(self) -> str:
        from .explain.html import html

        return html(self)
