"""Starts of EM for Gaussians: from a partition of the rows, or from the user's values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.validation import as_numbers
from ..solvers.mixture.covariances import CovarianceShape, Gaussians, Regularization
from ..solvers.mixture.gaussian import GaussianFamily, ScaledCoordinates
from ..solvers.mixture.starts import Assignment, assignments

START_PRIOR_ROWS = 1.0  # pseudo-rows at the start in components with too few rows for a Σ
MIN_START_WEIGHT = 1e-3  # of a component at the start, in rows: an empty one can still gain rows


@dataclass(frozen=True, eq=False)
class GaussianInit:
    """Parameters of the estimator that determine the starts of EM."""

    n_components: int
    init_params: str
    weights_init: npt.ArrayLike | None
    means_init: npt.ArrayLike | None
    precisions_init: npt.ArrayLike | None

    @property
    def user_init(self) -> bool:
        """Whether the user gives any of the starting values."""
        values = (self.weights_init, self.means_init, self.precisions_init)
        return any(x is not None for x in values)


def starts(
    family: GaussianFamily, init: GaussianInit, rng: np.random.RandomState, missing: bool
) -> Callable[[], Gaussians]:
    """Return a function that gives the next start; ``missing``: whether rows have NaN."""
    k, coordinates = int(init.n_components), family.coordinates
    user_init = UserInit(init, k, coordinates, family.shape)
    mean = coordinates.mean if missing else None
    next_assignment = assignments(family.rows, init.init_params, k, rng, mean)

    def next_start() -> Gaussians:
        if user_init.complete:
            return user_init.override(family, None)
        return user_init.override(family, from_assignment(family, next_assignment(), k))

    return next_start


def from_assignment(family: GaussianFamily, assignment: Assignment, k: int) -> Gaussians:
    """Maximiser for a partition; components with too few rows for a Σ get one pseudo-row."""
    p = len(family.coordinates.kept)
    about = np.zeros((k, p))
    about_zero = family.statistics_of(assignment, about)
    about = about_zero.A / np.where(about_zero.N > 0, about_zero.N, 1.0)[:, None]
    statistics = family.statistics_of(assignment, about)  # again, about means that may be far apart
    N = statistics.N
    mu, S = family.about_means(statistics, None)
    strong = Regularization(START_PRIOR_ROWS, family.regularization.D, family.regularization.added)
    cov = family.shape.maximize(N, S, family.regularization, 1.0)
    strong_cov = family.shape.maximize(N, S, strong, 1.0)
    matrices = family.shape.name in ("full", "tied")
    rows = N.sum(keepdims=True) if family.shape.shared else N
    too_few = (rows <= (p + 1 if matrices else 1)).reshape((-1,) + (1,) * (cov.ndim - 1))
    too_few = too_few.reshape(-1)[0] if family.shape.shared else too_few
    weights = np.maximum(N, MIN_START_WEIGHT)
    return family.theta(weights / weights.sum(), mu, np.where(too_few, strong_cov, cov))


class UserInit:
    """Validated weights_init, means_init and precisions_init."""

    def __init__(
        self, init: GaussianInit, k: int, coordinates: ScaledCoordinates, shape: CovarianceShape
    ):
        p = len(coordinates.mean)
        self.coordinates, self.shape = coordinates, shape
        self.pi = _validated(init.weights_init, "weights_init", (k,))
        self.means = _validated(init.means_init, "means_init", (k, p))
        name = shape.name
        shapes = {"full": (k, p, p), "tied": (p, p), "diag": (k, p), "spherical": (k,)}
        self.precisions = _validated(init.precisions_init, "precisions_init", shapes[name])
        if self.pi is not None:
            _check_weights(self.pi)
        if self.precisions is not None:
            self.precisions = _check_precisions(self.precisions, name)
        self.complete = all(x is not None for x in (self.pi, self.means, self.precisions))

    def override(self, family: GaussianFamily, theta: Any) -> Gaussians:
        """Replace parts of theta by the user's values; theta is None if all are given."""
        coordinates, kept = self.coordinates, self.coordinates.kept
        pi = theta.pi if self.pi is None else self.pi
        if self.means is None:
            mu = theta.mu
        else:
            mu = (self.means[:, kept] - coordinates.c) / coordinates.q
        if self.precisions is None:
            cov = theta.cov
        else:
            cov = self._covariances(len(pi))
        return family.theta(pi, mu, cov)

    def _covariances(self, k: int) -> np.ndarray:
        assert self.precisions is not None
        P, kept, q = self.precisions, self.coordinates.kept, self.coordinates.q
        if self.shape.name == "spherical":
            return np.repeat(1 / P[:, None], len(kept), axis=1) / q**2
        if self.shape.name == "diag":
            return 1 / (P[:, kept] * q**2)
        inverse = np.linalg.inv(P[..., kept[:, None], kept] * np.multiply.outer(q, q))
        return np.asarray((inverse + np.swapaxes(inverse, -1, -2)) / 2)


def _validated(
    values: npt.ArrayLike | None, name: str, shape: tuple[int, ...]
) -> np.ndarray | None:
    """Return finite numbers of this shape, or None."""
    if values is None:
        return None
    array = np.array(as_numbers(values, name), dtype=float)
    if array.shape != shape:
        raise ValueError(f"{name} should have the shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are not finite: replace them")
    return array


def _check_weights(pi: np.ndarray) -> None:
    if (pi < 0).any() or (pi > 1).any():
        raise ValueError(
            "The parameter 'weights_init' should be in the range [0, 1], but got max value "
            f"{pi.max():.5f}, min value {pi.min():.5f}"
        )
    if abs(pi.sum() - 1) > 1e-6:
        raise ValueError(
            f"The parameter 'weights_init' should be normalized, but got sum {pi.sum():.5f}"
        )


def _check_precisions(P: np.ndarray, name: str) -> np.ndarray:
    if name in ("full", "tied"):
        symmetric = np.allclose(P, np.swapaxes(P, -1, -2), rtol=1e-6, atol=0)
        if not symmetric or not (np.linalg.eigvalsh(P) > 0).all():
            raise ValueError(
                f"precisions_init of {name!r} covariances should be symmetric, positive-definite"
            )
        return (P + np.swapaxes(P, -1, -2)) / 2
    if not (P > 0).all():
        raise ValueError(f"precisions_init of {name!r} covariances should be positive")
    return P
