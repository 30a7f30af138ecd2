"""Gaussian components: from moments of the columns to a problem for EM, and back to attributes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.finite import column_name, require_finite
from ..data.rows import Rows
from ..solvers.linalg.column_moments import Moments, column_moments
from ..solvers.mixture.covariances import COVARIANCES, Gaussians, Holding
from ..solvers.mixture.densities import way_of
from ..solvers.mixture.gaussian import Coordinates, GaussianFamily
from ..solvers.mixture.gaussian_row_space import (
    OF_ROWS,
    RowSpaceFamily,
    expanded,
    row_space_family,
    worth_it,
)
from ..solvers.mixture.missing_entries import Observed
from ..solvers.mixture.starts import filled
from ._family import Names
from ._gaussian_init import Init, starts
from ._gaussian_units import attributes, coordinates, fitted_theta, holding, in_coordinates

if TYPE_CHECKING:
    from ._base import Mixture

PATTERN_ROWS = 4096  # rows of a block with missing entries: few blocks share few patterns


@dataclass(frozen=True, eq=False)
class GaussianComponents:
    """N(x | μ_k, Σ_k), with Σ of one shape. A missing entry of x is integrated out."""

    covariance_type: str
    reg_covar: float | str | None
    init: Init
    row_space: bool  # may EM run on the rows' own span, where they are fewer than columns?

    def problem(self, rows: Rows, names: Names) -> GaussianFamily:
        with np.errstate(over="ignore", invalid="ignore"):
            moments = column_moments(rows)
        self._refuse(rows, moments, names)
        at = coordinates(moments, self.covariance_type, self.reg_covar)
        hold = holding(moments, at, self.reg_covar)
        shape = COVARIANCES[self.covariance_type]
        if not moments.missing and self._in_row_space(rows, at):
            return row_space_family(rows, at, self.covariance_type, hold.epsilon)
        if not moments.missing:
            return GaussianFamily(rows, at, shape, hold)
        seen = moments.observed[at.kept]
        return GaussianFamily(rows, at, shape, hold, seen, Observed, PATTERN_ROWS)

    def _in_row_space(self, rows: Rows, at: Coordinates) -> bool:
        """Fewer rows than columns, a prior that knows no direction, and a start from the rows."""
        return (
            self.row_space
            and self.covariance_type in OF_ROWS
            and self.reg_covar == "relative"
            and not self.init.given
            and worth_it(rows, at)
        )

    def _refuse(self, rows: Rows, moments: Moments, names: Names) -> None:
        """Refuse columns of which no density can be fitted."""
        if moments.infinite:
            X = np.asarray(rows.X[: rows.shape[0]])
            require_finite(np.where(np.isnan(X), 0.0, X), names)
        unseen = np.flatnonzero(moments.observed == 0)
        if len(unseen):
            raise ValueError(f"{column_name(unseen[0], names)} has no observed value: drop it")
        if not np.isfinite(moments.variance).all():
            raise ValueError("X is so large that squares overflow: divide X by a power of 10")
        constant = np.flatnonzero(moments.variance == 0)
        if self.reg_covar == "relative" and len(constant) == rows.shape[1]:
            raise ValueError(
                "every column of X is constant: there is no spread to fit. Give reg_covar as a "
                "number, or other data"
            )
        if not self.reg_covar and len(constant):
            raise ValueError(
                f"{column_name(constant[0], names)} is constant, so its likelihood has no maximum: "
                "drop it, or use reg_covar='relative'"
            )

    def starts(
        self, problem: GaussianFamily, draw: np.random.RandomState, fitted: "Mixture | None"
    ) -> Callable[[], Gaussians]:
        if fitted is not None:
            at, theta = fitted_theta(fitted, self.covariance_type)
            same = np.array_equal(at.kept, problem.at.kept)
            if same and len(theta.pi) == self.init.n_components:
                return lambda: in_coordinates(theta, at, problem.at, problem)
        rows = problem.rows
        if problem.way_of is Observed:
            rows = filled(rows, problem.at.mean)
        return starts(problem, rows, self.init, draw)

    def attributes(self, problem: GaussianFamily, theta: Gaussians) -> dict[str, Any]:
        if isinstance(problem, RowSpaceFamily):
            of_columns = expanded(theta, problem.at)
            return attributes(
                of_columns.theta, problem.at.of_columns, self.covariance_type, of_columns.precisions
            )
        return attributes(theta, problem.at, self.covariance_type)

    def log_joint(self, rows: Rows, fitted: "Mixture", names: Names) -> Callable[..., np.ndarray]:
        at, theta = fitted_theta(fitted, self.covariance_type)
        X = rows.X[: rows.shape[0]]
        if np.isinf(X).any():
            require_finite(np.where(np.isnan(X), 0.0, X), names)
        way = Observed if np.isnan(X).any() else way_of
        none = Holding(0.0, np.zeros(len(at.kept)), np.zeros(len(at.kept)))
        shape = COVARIANCES[self.covariance_type]
        return GaussianFamily(rows, at, shape, none, way_of=way).log_joint(theta)

    def draw_rows(
        self, draw: np.random.RandomState, y: np.ndarray, fitted: "Mixture"
    ) -> np.ndarray:
        at, theta = fitted_theta(fitted, self.covariance_type)
        k, p = len(fitted.means_), len(at.kept)
        C = COVARIANCES[self.covariance_type].matrices(theta.cov, k, p)
        X: np.ndarray = fitted.means_[y]
        for i, matrix in enumerate(C):
            Z = draw.standard_normal((np.count_nonzero(y == i), p))
            X[np.ix_(y == i, at.kept)] += np.dot(Z, np.linalg.cholesky(matrix).T) * at.q
        return X

    def n_parameters(self, fitted: "Mixture") -> int:
        k, p = fitted.means_.shape
        p -= len(fitted.constant_columns_)
        cov: int = COVARIANCES[self.covariance_type].numbers(k, p)
        return cov + k * p + k - 1
