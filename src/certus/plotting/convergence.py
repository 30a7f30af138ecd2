"""Convergence of a fit: the objective falls, the bound rises, the optimum lies between.

f(w_t) ≥ f* ≥ bound_t,    so  excess_t = f(w_t) − f* ≤ f(w_t) − (the best bound known)

If the objective is maximised, it rises, and its distance to the largest value found is plotted.
"""

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from ..exceptions import CertificateError
from ..text.format import listed, small
from .style import COLORS, curve, marker, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from ..runtime.progress import TracePoint

X_LABEL = {"iterations": "iteration", "passes": "passes over the data", "seconds": "seconds"}
Along = Literal["iterations", "passes", "seconds"]


class ConvergenceDisplay:
    """The trace of a fit: objective, bound, and the gap between them shaded.

    Parameters
    ----------
    trace : sequence of TracePoint
        ``certificate_.trace``; may not be empty. A fit that does not iterate has none.
    name : str, optional
        Title of the plot.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    line_ : Line2D
        The objective.
    bound_ : Line2D or None
        The best bound so far; None if the solver reports none.
    gap_ : PolyCollection or None
        The shaded gap.
    lines_ : dict of str to Line2D
        With ``from_estimators``: one for each model.

    Examples
    --------
    >>> from certus.plotting import ConvergenceDisplay
    >>> trace = [(0, 0.0, 9.0, 1.0), (1, 0.1, 5.0, 3.0), (2, 0.2, 4.1, 4.0)]
    >>> display = ConvergenceDisplay(trace).plot()
    >>> display.line_.get_ydata().tolist()
    [9.0, 5.0, 4.1]
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    line_: "Line2D"
    bound_: "Line2D | None"
    gap_: "PolyCollection | None"
    lines_: "dict[str, Line2D]"

    def __init__(self, trace: "Sequence[TracePoint]", *, name: str | None = None):
        if not len(trace):
            raise CertificateError(
                f"{name or 'this fit'} has no trace: nothing iterated, so there is nothing to "
                "draw. certificate_.explain() has its objective and gap"
            )
        self.trace = trace
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: "Axes | None" = None, **kwargs: Any
    ) -> "ConvergenceDisplay":
        """Draw the trace of a fitted model; ``kwargs`` as in ``plot``."""
        certificate = estimator.certificate_
        return cls(certificate.trace, name=certificate.model).plot(ax, **kwargs)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        x: Along = "iterations",
    ) -> "ConvergenceDisplay":
        """Draw objective, bound and gap.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; if not given, a new figure of 600 × 400 px.
        x : {"iterations", "passes", "seconds"}
            Quantity on the horizontal axis. "passes": passes over the data that the method needs;
            not every solver counts them.

        Returns
        -------
        self
        """
        at = _x_values(self.trace, x)
        f = [float(point[2]) for point in self.trace]
        bound = _best_bounds(self.trace)
        with style() as plt:
            self.figure_, self.ax_ = _axes(plt, ax)
            points = len(f)
            (self.line_,) = self.ax_.plot(at, f, label="objective", **curve(0, points))
            self.bound_ = self.gap_ = None
            bounds = [(i, b) for i, b in enumerate(bound) if b is not None]
            if bounds:
                xs, low = [at[i] for i, _ in bounds], [b for _, b in bounds]
                (self.bound_,) = self.ax_.plot(
                    xs, low, label="bound: no w is lower", **curve(1, points)
                )
                self.gap_ = self.ax_.fill_between(
                    xs, low, [f[i] for i, _ in bounds], color=COLORS[3], alpha=0.25, linewidth=0,
                    label=f"gap: {small(max(0.0, f[-1] - low[-1]))} at the end",
                )  # fmt: skip
                _cut_off_low_bounds(self.ax_, f)
            self.ax_.set(xlabel=X_LABEL[x], ylabel="objective", title=self.name or "")
            _integer_ticks(self.ax_, plt, x)
            self.ax_.legend(loc="lower right" if f[-1] > f[0] else "upper right")
        return self

    @classmethod
    def from_estimators(
        cls,
        models: Mapping[str, Any],
        *,
        ax: "Axes | None" = None,
        x: Along = "iterations",
    ) -> "ConvergenceDisplay":
        """Draw how far several fits of one problem were from the best possible, on a log scale.

        Parameters
        ----------
        models : dict of str to fitted model
            All with the same objective and rows. One that did not iterate is a single marker.
        ax, x
            As in ``plot``.
        """
        certificates = {name: model.certificate_ for name, model in models.items()}
        _require_one_problem(certificates)
        bounds = [c.bound for c in certificates.values() if c.bound is not None]
        sign = -1 if any(c.maximized for c in certificates.values()) else 1
        least = min(sign * c.objective for c in certificates.values())
        best = min(max(bounds, default=least), least)
        floor = max(1e-16 * abs(best), 1e-300)  # smaller excesses are rounding
        traces = {
            name: c.trace or [(1, 0.0, c.objective, None)] for name, c in certificates.items()
        }
        x_values = {name: _x_values(trace, x) for name, trace in traces.items()}
        display = cls(next(iter(traces.values())))
        display.bound_ = display.gap_ = None
        display.lines_ = {}
        with style() as plt:
            display.figure_, display.ax_ = _axes(plt, ax)
            for i, (name, trace) in enumerate(traces.items()):
                excess = [max(sign * float(point[2]) - best, floor) for point in trace]
                marks = curve(i, len(trace))
                if len(trace) == 1:
                    marks |= {"linestyle": "none", "marker": marker(i), "markersize": 9}
                (line,) = display.ax_.plot(x_values[name], excess, label=name, **marks)
                display.lines_[name] = line
            what = "objective − best possible, at most" if sign > 0 else "largest found − objective"
            display.ax_.set(xlabel=X_LABEL[x], ylabel=what, yscale="log")
            _integer_ticks(display.ax_, plt, x)
            # above the axes, since curves can be anywhere in them
            display.ax_.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
        display.line_ = next(iter(display.lines_.values()))
        return display


def _axes(plt: ModuleType, ax: "Axes | None") -> "tuple[Figure | SubFigure, Axes]":
    if ax is None:
        return plt.subplots()
    return ax.figure, ax


def _x_values(trace: Sequence[Any], x: str) -> list[float]:
    if x not in X_LABEL:
        raise ValueError(f"x={x!r}: give {listed([repr(name) for name in X_LABEL])}")
    field = {"iterations": 0, "seconds": 1, "passes": 4}[x]
    if x == "passes" and any(len(point) < 5 or point[4] is None for point in trace):
        raise ValueError(
            "x='passes': this fit's solver does not count its passes over the data (those of "
            "certus.solvers do, except CoordinateDescent): use x='seconds'"
        )
    return [float(point[field]) for point in trace]


def _best_bounds(trace: Sequence[Any]) -> list[float | None]:
    """Return the largest bound up to each step: a bound that held once holds for good."""
    best: float | None = None
    bounds: list[float | None] = []
    for point in trace:
        bound = point[3]
        if bound is not None:
            best = float(bound) if best is None else max(best, float(bound))
        bounds.append(best)
    return bounds


def _cut_off_low_bounds(ax: "Axes", f: list[float]) -> None:
    """Cut the axis off below the last objective by as much as the objective decreased.

    Otherwise very low first bounds would flatten the curve of the objective.
    """
    finite = [value for value in f if math.isfinite(value)]
    decrease = max(finite, default=0.0) - f[-1]
    if math.isfinite(decrease) and decrease > 0 and ax.get_ylim()[0] < f[-1] - decrease:
        ax.set_ylim(f[-1] - decrease, f[-1] + 1.1 * decrease)


def _integer_ticks(ax: "Axes", plt: ModuleType, x: str) -> None:
    if x != "seconds":
        ax.xaxis.set_major_locator(plt.MaxNLocator(integer=True))


def _require_one_problem(certificates: Mapping[str, Any]) -> None:
    if not certificates:
        raise ValueError("no model to draw: give {name: fitted model, …}")
    (first, one), *others = certificates.items()
    for name, other in others:
        difference = one.fingerprint.differs(other.fingerprint)
        if one.formula != other.formula:
            difference = f"{one.formula} and {other.formula}"
        penalties = [str(c.parameters.get("alpha")) for c in (one, other)]
        if difference is None and penalties[0] != penalties[1]:
            difference = f"penalties {penalties[0]} and {penalties[1]}"
        if difference is not None:
            raise ValueError(
                f"'{first}' and '{name}' are not of one problem ({difference}), so their "
                "objectives cannot be compared"
            )
