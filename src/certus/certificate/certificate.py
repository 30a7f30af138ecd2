"""The certificate of a fitted model: what was recomputed from its data.

``verification.py`` makes it; what it says in words, in HTML and as a script is in ``explain/`` and
``export/``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING

from ..audit import ColumnStep, Labels
from .findings import Finding, UndefinedFinding
from .fingerprint import Fingerprint
from .parameters import Parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting.convergence import Along, ConvergenceDisplay
    from ..runtime.progress import TracePoint

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
    parameters : dict
        What was certified, as arguments of the proof's ``check``. A copy of what the model held.
    labels : Labels or None
        The classes of a classifier, and how its definition reads them.
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
    # columns as the steps of a pipeline made them; None: no pipeline, or one that mixes columns
    _steps: tuple[ColumnStep, ...] | None = field(default=None, repr=False)

    @property
    def maximised(self) -> bool:
        """Is a larger objective the better one?"""
        return self._finding.maximised

    def _stopped(self, how: str) -> "Certificate":
        """The certificate of a fit that was stopped; ``how``: by whom and when."""
        finding = replace(self._finding, stopped=how)
        return replace(self, status="stopped", certified=False, _finding=finding)

    def _with_objective_of_solver(self, objective: float, maximised: bool) -> "Certificate":
        """The certificate of a fit without a proof; ``objective``: the solver's own value."""
        finding = self._finding
        if isinstance(finding, UndefinedFinding):
            finding = replace(finding, objective=objective, larger_is_better=maximised)
        return replace(self, objective=objective, _finding=finding)

    def _contradicted(self, contradictions: Iterable[str]) -> "Certificate":
        """The certificate of a model whose answers are not those of its parameters."""
        found = self._finding
        finding = replace(found, contradictions=(*found.contradictions, *contradictions))
        return replace(self, status="contradicted", certified=False, _finding=finding)

    def __repr__(self) -> str:
        from .explain.certificate import one_line

        return one_line(self)

    def explain(self) -> str:
        """The whole finding in words."""
        from .explain.certificate import explain

        return explain(self)

    def note(self) -> str:
        """One sentence for a methods section."""
        from .explain.certificate import note

        return note(self)

    def export(self, path: str | PathLike[str]) -> None:
        """Write a script that recomputes the claim and needs only NumPy and the data.

        ``python check.py X.npy y.npy [weights.npy]``; CSV files do too. Of neighbours the script
        holds the sampled answers; of clusters the centres, of mixtures the components, of trees the
        merges, and it is given no y; of NCFS the weights.
        """
        from .export.script import export

        export(self, path)

    def plot(self, ax: "Axes | None" = None, *, x: "Along" = "iterations") -> "ConvergenceDisplay":
        """Draw the trace: objective falling, bound rising, the gap shaded. What is maximised rises.

        ``x`` as in ``certus.plotting.ConvergenceDisplay.plot``, which this returns. A fit that
        did not iterate has nothing to draw, which is a ``CertificateError``.
        """
        from ..plotting import ConvergenceDisplay

        return ConvergenceDisplay(self.trace, name=self.model).plot(ax, x=x)

    def _repr_html_(self) -> str:
        from .explain.html import html

        return html(self)
