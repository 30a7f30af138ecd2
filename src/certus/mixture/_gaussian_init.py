"""Where EM of Gaussians begins: a partition of the rows, and what the user gives in its place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.rows import Rows
from ..data.validation import as_numbers
from ..solvers.mixture.covariances import CovarianceShape, Gaussians, Holding
from ..solvers.mixture.gaussian import Coordinates, GaussianFamily
from ..solvers.mixture.starts import STARTS

ONE_ROW = 1.0  # imaginary rows that hold the Σ of a few rows, at the start


@dataclass(frozen=True, eq=False)
class Init:
    """Parameters of the estimator that say where EM begins."""

    n_components: int
    init_params: str
    weights_init: npt.ArrayLike | None
    means_init: npt.ArrayLike | None
    precisions_init: npt.ArrayLike | None

    @property
    def given(self) -> bool:
        """Does the user give some of it?"""
        given = (self.weights_init, self.means_init, self.precisions_init)
        return any(x is not None for x in given)


def starts(
    family: GaussianFamily, rows: Rows, init: Init, draw: np.random.RandomState
) -> Callable[[], Gaussians]:
    """A function that gives the next start. ``rows``: without missing entries."""
    k, at = int(init.n_components), family.at
    given = Given(init, k, at, family.shape)

    def next_start() -> Gaussians:
        if given.complete:
            return given.put(family, None)
        labels = STARTS[init.init_params](rows, k, draw)
        return given.put(family, of_responsibilities(family, labels, k))

    return next_start


def of_responsibilities(family: GaussianFamily, R: np.ndarray, k: int) -> Gaussians:
    """The maximiser for a partition; components of too few rows for a Σ are held by one more."""
    p = len(family.at.kept)
    about = np.zeros((k, p))
    rough = family.statistics_of(R, about)
    about = rough.A / np.where(rough.N > 0, rough.N, 1.0)[:, None]
    statistics = family.statistics_of(R, about)  # about the means: centres may be far apart
    N = statistics.N
    mu, S = family.about_means(statistics, None)
    held = Holding(ONE_ROW, family.hold.D, family.hold.added)
    cov = family.shape.maximise(N, S, family.hold, 1.0)
    safe = family.shape.maximise(N, S, held, 1.0)
    matrices = family.shape.name in ("full", "tied")
    rows = N.sum(keepdims=True) if family.shape.shared else N
    few = (rows <= (p + 1 if matrices else 1)).reshape((-1,) + (1,) * (cov.ndim - 1))
    few = few.reshape(-1)[0] if family.shape.shared else few
    return family.theta(
        np.maximum(N, 1e-3) / np.maximum(N, 1e-3).sum(), mu, np.where(few, safe, cov)
    )


class Given:
    """weights_init, means_init and precisions_init, checked."""

    def __init__(self, init: Init, k: int, at: Coordinates, shape: CovarianceShape):
        p = len(at.mean)
        self.at, self.shape = at, shape
        self.pi = _checked(init.weights_init, "weights_init", (k,))
        self.means = _checked(init.means_init, "means_init", (k, p))
        name = shape.name
        shapes = {"full": (k, p, p), "tied": (p, p), "diag": (k, p), "spherical": (k,)}
        self.precisions = _checked(init.precisions_init, "precisions_init", shapes[name])
        if self.pi is not None:
            _check_weights(self.pi)
        if self.precisions is not None:
            self.precisions = _check_precisions(self.precisions, name)
        self.complete = all(x is not None for x in (self.pi, self.means, self.precisions))

    def put(self, family: GaussianFamily, theta: Any) -> Gaussians:
        """What was given, and theta for the rest; None where there is none."""
        at, kept = self.at, self.at.kept
        pi = theta.pi if self.pi is None else self.pi
        if self.means is None:
            mu = theta.mu
        else:
            mu = (self.means[:, kept] - at.c) / at.q
        if self.precisions is None:
            cov = theta.cov
        else:
            cov = self._covariances(len(pi))
        return family.theta(pi, mu, cov)

    def _covariances(self, k: int) -> np.ndarray:
        assert self.precisions is not None
        P, kept, q = self.precisions, self.at.kept, self.at.q
        if self.shape.name == "spherical":
            return np.repeat(1 / P[:, None], len(kept), axis=1) / q**2
        if self.shape.name == "diag":
            return 1 / (P[:, kept] * q**2)
        inverse = np.linalg.inv(P[..., kept[:, None], kept] * np.multiply.outer(q, q))
        return np.asarray((inverse + np.swapaxes(inverse, -1, -2)) / 2)


def _checked(values: npt.ArrayLike | None, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
    if values is None:
        return None
    array = np.array(as_numbers(values, name), dtype=float)
    if array.shape != shape:
        raise ValueError(f"{name} should have the shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds values that are not finite: give finite ones")
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
