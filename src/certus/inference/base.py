"""Base class of estimated coefficients: tests, intervals and tables.

    t_j = θ̂_j/se_j,   p_j = P(|T| > |t_j|),   θ̂_j ± q·se_j,   P(T ≤ q) = (1 + level)/2

T is Student's t, or normal.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InferenceError
from ..text.cells import Precision, pvalue
from ..text.format import count, listed, number
from ..text.table import ResultTable
from .fitted_columns import FittedColumns
from .new_rows import read_new_rows, require_determined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import ForestDisplay

BIAS = "ignores the bias of the penalty"


@dataclass(frozen=True, eq=False, repr=False)
class Estimated(ABC):
    """Coefficients with their covariance. Arrays are (m,), or (m, k) for k targets or classes."""

    names: tuple[str, ...]
    coef: np.ndarray
    standard_errors: np.ndarray
    covariance: np.ndarray
    n: Any
    cov: str
    fit_intercept: bool
    alpha: Any  # of a penalty α‖w‖²/2 or α‖w‖²: 0 without one
    # L and M of each target's covariance LMLᵀ, or of that of all classes
    factors: tuple[tuple[np.ndarray | None, np.ndarray], ...] = field(default=(), kw_only=True)
    design: FittedColumns | None = field(default=None, kw_only=True)
    n_groups: int | None = field(default=None, kw_only=True)  # of cov="cluster"
    # what a pipeline does with rows before the model
    prepare: Callable[[object], object] | None = field(default=None, kw_only=True)
    remarks: tuple[str, ...] = field(default=(), kw_only=True)  # below every table

    # --- defined by each model --------------------------------------------------------------------

    @property
    @abstractmethod
    def _kind(self) -> tuple[str, str, str]:
        """The model's name, the letter of its statistic, and the unpenalised alternative."""

    @abstractmethod
    def _quantile(self, probability: float) -> Any:
        """Quantile of T."""

    @abstractmethod
    def _lower_tail(self, statistic: np.ndarray) -> np.ndarray:
        """P(T ≤ statistic)."""

    @abstractmethod
    def _keys(self) -> dict[str, list[str]]:
        """Key columns of a table: names of its rows."""

    @abstractmethod
    def _facts(self) -> list[str]:
        """Lines of numbers about the whole fit."""

    @property
    def reads_rows(self) -> bool:
        """Whether some of the results are computed, when they are asked for, from the rows."""
        return False

    # --- tests and intervals ----------------------------------------------------------------------

    @property
    def statistic(self) -> np.ndarray:
        self._refuse_penalized("a test of a coefficient")
        return self._statistic()

    def _statistic(self) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):  # a perfect fit has no errors
            return self.coef / self.standard_errors

    @property
    def pvalues(self) -> np.ndarray:
        self._refuse_penalized("a p-value")
        return 2 * self._lower_tail(-np.abs(self._statistic()))

    @property
    def _penalized(self) -> bool:
        return bool(np.any(self.alpha))

    def _refuse_penalized(self, what: str) -> None:
        if self._penalized:
            raise InferenceError(
                f"{what} {BIAS}: coefficients are shrunk towards 0, so it would be misleading. "
                "standard_errors, covariance and conf_int() are available; for tests, fit "
                f"without a penalty ({self._kind[2]})"
            )

    def _interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        half = self._quantile((1 + share(level)) / 2) * self.standard_errors
        return self.coef - half, self.coef + half

    # --- tables -----------------------------------------------------------------------------------

    def _interval_table(
        self,
        level: float,
        interval: tuple[np.ndarray, np.ndarray],
        title: str,
        per: Mapping[str, float] | None = None,
    ) -> ResultTable:
        coef, low, high = self._in_units(per, self.coef, *interval)
        return self._table(
            {**self._keys_per(per), "low": low, "high": high},
            f"{percent(level)} {title}",
            [],
            precision=[Precision(("low", "high"), half_widths(coef, low, high))],
            interval=("low", "high", f"{percent(level)} interval"),
        )

    def summary(self, level: float = 0.95, per: Mapping[str, float] | None = None) -> ResultTable:
        """Table of coefficients, standard errors, tests and intervals, with facts of the fit.

        Parameters
        ----------
        level : float, default=0.95
        per : dict, optional
            Units by which columns are counted: with {"age": 10} the coefficient of age is that of
            10 years.
        """
        coef, errors, low, high = self._in_units(
            per, self.coef, self.standard_errors, *self._interval(level)
        )
        model, letter, _ = self._kind
        columns: dict[str, Any] = {**self._keys_per(per), "coef": coef, "std error": errors}
        if not self._penalized:
            columns |= {letter: stacked(self.statistic), "p": stacked(self.pvalues)}
        ends = f"{percent(level)} low", "high"
        columns |= {ends[0]: low, ends[1]: high}
        n = float(self.n)
        rows = count(int(n), "row") if n.is_integer() else f"rows of total weight {number(n)}"
        return self._table(
            columns,
            f"{model}, {rows}, {self._cov_text()} standard errors",
            self._facts(),
            precision=[Precision(("coef", "std error", *ends), errors)],
            statistics=(letter,),
            interval=(*ends, f"{percent(level)} interval"),
        )

    def _table(
        self, columns: dict[str, Any], title: str, notes: list[str], **layout: Any
    ) -> ResultTable:
        if self._penalized:
            title += f" ({BIAS})"
        return ResultTable(
            columns,
            keys=len(self._keys()),
            title=title,
            notes=[*notes, *self._undetermined(), *self.remarks],
            pvalues=("p",),
            **layout,
        )

    def _cov_text(self) -> str:
        if self.n_groups is None:
            return self.cov
        return f"{self.cov} ({count(self.n_groups, 'group')})"

    # --- new rows and nested models ---------------------------------------------------------------

    def _new_rows(self, X_new: object) -> np.ndarray:
        """Return [1 X] of new rows, after the steps of the pipeline."""
        require_determined(self.standard_errors)
        X_new = X_new if self.prepare is None else self.prepare(X_new)
        return read_new_rows(X_new, self._feature_names, self.fit_intercept)

    @property
    def _feature_names(self) -> tuple[str, ...]:
        """The names of the columns of X."""
        return self.names[int(self.fit_intercept) :]

    def _with_features(self, features: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of all coefficients, with other names of the columns of X."""
        return (*self.names[: int(self.fit_intercept)], *features)

    @property
    def _n_parameters(self) -> float:
        """The number of coefficients that the rows determine."""
        raise self._not_comparable()

    @property
    def _fit_value(self) -> float:
        """The log-likelihood, or the residual sum of squares."""
        raise self._not_comparable()

    def _compared_with(self, small: Any, more: float) -> tuple[float, float | None]:
        """Return the statistic of ``more`` coefficients, and its residual degrees of freedom."""
        raise self._not_comparable()

    def _difference_of_targets(self, small: Any) -> str | None:
        """Describe how the targets differ beyond their values; None where they do not."""
        return None

    def _not_comparable(self) -> InferenceError:
        return InferenceError(f"{self._kind[0]} models have no test of nested models")

    # --- plots ------------------------------------------------------------------------------------

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        level: float = 0.95,
        per: Mapping[str, float] | None = None,
        columns: Sequence[str] | None = None,
    ) -> "ForestDisplay":
        """Forest plot of the coefficients and their intervals; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        level : float, default=0.95
        per : dict, optional
            Units, as in ``summary``.
        columns : sequence of str, optional
            Columns to draw, from top to bottom; by default all, up to 40.

        Returns
        -------
        certus.plotting.ForestDisplay
        """
        table = self.summary(level, per)
        ends = f"{percent(level)} low", "high"
        return self._forest(table, ("coef", *ends), self._ratio_rows, columns, "coefficient", ax)

    def _forest(
        self,
        table: ResultTable,
        of: tuple[str, str, str],
        slopes: np.ndarray,
        columns: Sequence[str] | None,
        label: str,
        ax: "Axes | None",
    ) -> "ForestDisplay":
        """Draw the estimates and intervals of some rows of a table; ``slopes``: the candidates."""
        from ..plotting import ForestDisplay

        keys = self._keys()
        names = np.array(keys["name"])[self._ratio_rows]
        groups = next((values for key, values in keys.items() if key != "name"), None)
        rows = np.arange(len(names))
        if columns is not None:
            columns = [columns] if isinstance(columns, str) else columns
            for column in columns:
                if column not in names:
                    raise ValueError(
                        f"columns has {column!r}, which is no column. There are "
                        f"{listed([repr(name) for name in self._feature_names])}"
                    )
            rows = np.concatenate([np.flatnonzero(names == column) for column in columns])
        rows = np.flatnonzero(slopes)[rows]
        shown = table["name"]
        if groups is not None:
            own = np.array(groups)[self._ratio_rows] if len(groups) != len(shown) else groups
            shown = np.array([f"{a}: {b}" for a, b in zip(own, shown, strict=True)])
        estimates, low, high = (table[name] for name in of)
        text = (table.texts(name) for name in of)
        texts = [f"{a} ({b} to {c})" for a, b, c in zip(*text, strict=True)]
        return ForestDisplay(
            [str(shown[i]) for i in rows],
            estimates[rows],
            low[rows],
            high[rows],
            ratio=of[0].endswith("ratio"),
            label=label,
            texts=[texts[i] for i in rows],
        ).plot(ax)

    @property
    def _ratio_rows(self) -> np.ndarray:
        """Which coefficients, in one dimension, are slopes."""
        slopes = np.arange(len(self.names)) >= int(self.fit_intercept)
        return np.tile(slopes, self.coef.size // len(self.names))

    # --- units ------------------------------------------------------------------------------------

    def _in_units(
        self, per: Mapping[str, float] | None, *values: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return coefficients or their errors per unit of ``per``, in one dimension."""
        units = self._units(per)
        return tuple(stacked((one.T * units).T) for one in values)

    def _units(self, per: Mapping[str, float] | None) -> np.ndarray:
        """Return the unit of each name, 1 unless ``per`` has it."""
        per = {} if per is None else per
        columns = self._feature_names
        for name, unit in per.items():
            if name not in columns:
                raise ValueError(
                    f"per has {name!r}, which is no column. There are "
                    f"{listed([repr(column) for column in columns])}"
                )
            if not (isinstance(unit, Real) and 0 < float(unit) < np.inf):
                raise ValueError(f"per={{{name!r}: {unit!r}}}: give a number above 0, such as 10")
        return np.array([float(per.get(name, 1.0)) for name in self.names])

    def _keys_per(self, per: Mapping[str, float] | None) -> dict[str, list[str]]:
        """Return the key columns with the units in their names: "age (per 10)"."""
        keys = self._keys()
        if per:
            shown = {name: f"{name} (per {number(float(unit))})" for name, unit in per.items()}
            keys["name"] = [shown.get(name, name) for name in keys["name"]]
        return keys

    def _undetermined(self) -> list[str]:
        missing = np.isnan(self.standard_errors.reshape(len(self.names), -1)[:, 0])
        if not missing.any():
            return []
        which = listed([f"'{self.names[j]}'" for j in np.flatnonzero(missing)])
        return [f"no standard error for {which}: columns repeat others, so the rows do not "
                "determine them"]  # fmt: skip

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def feature_names(names: Sequence[str] | None, p: int, fit_intercept: bool) -> tuple[str, ...]:
    """Names of the coefficients, the intercept first."""
    features = [f"x{j}" for j in range(p)] if names is None else [str(name) for name in names]
    return ("intercept", *features) if fit_intercept else tuple(features)


def stacked(values: np.ndarray) -> np.ndarray:
    """Values in one dimension, ordered by target or class."""
    return values.ravel(order="F")


def half_widths(coef: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the distance from each estimate to the nearer end of its interval."""
    nearer: np.ndarray = np.fmin(coef - low, high - coef)
    return np.where(nearer > 0, nearer, np.nan)


def percent(level: float) -> str:
    return f"{number(100 * level, 6)} %"


def facts_line(facts: dict[str, Any]) -> str:
    """Return numbers with their names; "p" is a p-value."""
    return "; ".join(
        f"p {pvalue(float(value))}" if name == "p" else f"{name} {_numbers(value)}"
        for name, value in facts.items()
    )


def share(level: float) -> float:
    """Return a level, refused unless it is a share between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: give a share between 0 and 1, such as 0.95")
    return level


def _numbers(values: np.ndarray) -> str:
    return listed([number(float(v), 6) for v in np.ravel(values)])
