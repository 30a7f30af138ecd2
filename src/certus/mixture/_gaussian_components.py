"""Gaussian components: the problem that EM solves, and the attributes made from its solution."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.entries import missing_and_infinite
from ..data.finite import column_name, require_finite
from ..data.rows import Rows
from ..solvers.linalg.column_moments import ObservedMoments, column_moments
from ..solvers.mixture.covariances import COVARIANCES, Gaussians, Regularization
from ..solvers.mixture.densities import density_method
from ..solvers.mixture.gaussian import GaussianFamily, GaussianImputer, ScaledCoordinates
from ..solvers.mixture.gaussian_row_space import (
    ROW_SPACE_SHAPES,
    RowSpaceFamily,
    expand,
    row_space_family,
    row_space_pays,
)
from ..solvers.mixture.missing_entries import MissingEntries
from ._family import LogJoint, Names
from ._gaussian_init import GaussianInit, starts
from ._gaussian_units import (
    attributes,
    change_coordinates,
    coordinates_of,
    fitted_theta,
    regularization_of,
)

if TYPE_CHECKING:
    from ._base import Mixture

# of blocks with missing entries: rows that share a pattern are handled together
MIN_PATTERN_BLOCK_ROWS = 4096


def _require_no_infinity(rows: Rows, names: Names) -> None:
    """Raise for rows in memory of which an entry is infinite; streamed ones never are."""
    X = np.asarray(rows.X[: rows.shape[0]])
    require_finite(np.where(np.isnan(X), 0.0, X), names)


@dataclass(frozen=True, eq=False)
class GaussianComponents:
    """Components N(x | μ_k, Σ_k) with Σ of one shape; missing entries are integrated out."""

    covariance_type: str
    reg_covar: float | str | None
    init: GaussianInit
    row_space: bool  # whether EM may run in the span of the rows if there are fewer than columns

    def problem(self, rows: Rows, names: Names) -> GaussianFamily:
        with np.errstate(over="ignore", invalid="ignore"):
            moments = column_moments(rows)
        self._validate(rows, moments, names)
        coordinates = coordinates_of(moments, self.covariance_type, self.reg_covar)
        regularization = regularization_of(moments, coordinates, self.reg_covar)
        shape = COVARIANCES[self.covariance_type]
        if not moments.missing and self._in_row_space(rows, coordinates):
            return row_space_family(rows, coordinates, self.covariance_type, regularization.epsilon)
        if not moments.missing:
            return GaussianFamily(rows, coordinates, shape, regularization)
        return GaussianFamily(
            rows, coordinates, shape, regularization, moments.observed[coordinates.kept],
            MissingEntries(), MIN_PATTERN_BLOCK_ROWS,
        )  # fmt: skip

    def _in_row_space(self, rows: Rows, coordinates: ScaledCoordinates) -> bool:
        """Return whether rows are few, the prior is isotropic and the start comes from the rows."""
        return (
            self.row_space
            and self.covariance_type in ROW_SPACE_SHAPES
            and self.reg_covar == "relative"
            and not self.init.user_init
            and row_space_pays(rows, coordinates)
        )

    def _validate(self, rows: Rows, moments: ObservedMoments, names: Names) -> None:
        """Raise ValueError for columns to which no density can be fitted."""
        if moments.infinite:
            _require_no_infinity(rows, names)
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
        self, problem: GaussianFamily, rng: np.random.RandomState, fitted: "Mixture | None"
    ) -> Callable[[], Gaussians]:
        if fitted is not None:
            coordinates, theta = fitted_theta(fitted, self.covariance_type)
            same = np.array_equal(coordinates.kept, problem.coordinates.kept)
            if same and len(theta.pi) == self.init.n_components:
                return lambda: change_coordinates(theta, coordinates, problem.coordinates, problem)
        return starts(problem, self.init, rng, isinstance(problem.density_method, MissingEntries))

    def attributes(self, problem: GaussianFamily, theta: Gaussians) -> dict[str, Any]:
        if isinstance(problem, RowSpaceFamily):
            space = problem.coordinates
            expanded = expand(theta, space)
            return attributes(
                expanded.theta, space.column_coordinates, self.covariance_type, expanded.precisions
            )
        return attributes(theta, problem.coordinates, self.covariance_type)

    def log_joint(self, rows: Rows, fitted: "Mixture", names: Names) -> LogJoint:
        coordinates, theta = fitted_theta(fitted, self.covariance_type)
        missing, infinite = missing_and_infinite(rows)
        if infinite:
            _require_no_infinity(rows, names)
        method: Any = MissingEntries() if missing else density_method
        none = Regularization(0.0, np.zeros(len(coordinates.kept)), np.zeros(len(coordinates.kept)))
        shape = COVARIANCES[self.covariance_type]
        return GaussianFamily(rows, coordinates, shape, none, density_method=method).log_joint(
            theta
        )

    def imputer(self, rows: Rows, fitted: "Mixture", names: Names) -> GaussianImputer:
        """Return the function from a block of rows to the rows without missing entries."""
        if missing_and_infinite(rows)[1]:
            _require_no_infinity(rows, names)
        coordinates, theta = fitted_theta(fitted, self.covariance_type)
        shape = COVARIANCES[self.covariance_type]
        return GaussianImputer(coordinates, MissingEntries()(shape, theta, rows.shape[0]))

    def draw_rows(self, rng: np.random.RandomState, y: np.ndarray, fitted: "Mixture") -> np.ndarray:
        coordinates, theta = fitted_theta(fitted, self.covariance_type)
        k, p = len(fitted.means_), len(coordinates.kept)
        C = COVARIANCES[self.covariance_type].matrices(theta.cov, k, p)
        X: np.ndarray = fitted.means_[y]
        for i, matrix in enumerate(C):
            Z = rng.standard_normal((np.count_nonzero(y == i), p))
            noise = np.dot(Z, np.linalg.cholesky(matrix).T) * coordinates.q
            X[np.ix_(y == i, coordinates.kept)] += noise
        return X

    def n_parameters(self, fitted: "Mixture") -> int:
        k, p = fitted.means_.shape
        p -= len(fitted.constant_columns_)
        cov: int = COVARIANCES[self.covariance_type].n_parameters(k, p)
        return cov + k * p + k - 1
