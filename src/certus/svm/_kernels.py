r"""Validation of kernel parameters, and their conversion for the solver.

    rbf exp(−γ‖x − z‖²)      linear xᵀz      poly (γxᵀz + c)^d      sigmoid tanh(γxᵀz + c)

γ: "scale" is 1/(p·Var X), "auto" 1/p, as in scikit-learn. Var is the variance of all entries of X,
rows counted by their sample weights, so that a weight of 2 is the row twice. Besides, the kernel
matrix itself ("precomputed"), or a function of two sets of rows.
"""

from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..data.rows import Rows, spread
from ..data.validation import one_of
from ..solvers.lssvm import Kernel
from ..text.format import count
from ._parameters import is_finite

if TYPE_CHECKING:
    from ._base import KernelMachine

KernelOrName = str | Callable[..., np.ndarray]

KERNELS = ("rbf", "linear", "poly", "sigmoid", "precomputed")
KERNELS_WITH_GAMMA = ("rbf", "poly", "sigmoid")
TRIAL_ROWS = 64  # on which a user's function is tested before the fit
SYMMETRY_TOLERANCE = 1e-8  # of |K_ij − K_ji|, relative to the largest entry


def check_kernel(model: "KernelMachine") -> None:
    """Check the parameters of a kernel except γ."""
    if not callable(model.kernel):
        one_of("kernel", model.kernel, KERNELS)
    degree, coef0 = model.degree, model.coef0
    if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 1:
        raise ValueError(f"degree={degree!r}: give a whole number above 0")
    if not is_finite(coef0):
        raise ValueError(f"coef0={coef0!r}: give a finite number")


def check_gamma(gamma: float | str, name: str = "gamma") -> None:
    """Check γ."""
    remedy = "give 'scale', 'auto' or a finite number above 0"
    if isinstance(gamma, str):
        one_of(name, gamma, ("scale", "auto"))
    elif not is_finite(gamma):
        raise ValueError(f"{name}={gamma!r}: {remedy}")
    elif gamma <= 0:
        raise ValueError(f"{name}={gamma!r} makes all rows alike, or distant ones closer: {remedy}")


def gamma_of(gamma: float | str, kernel: KernelOrName, rows: Rows) -> float:
    """Return γ as a number; 1 where the kernel has none."""
    if callable(kernel) or kernel not in KERNELS_WITH_GAMMA:
        return 1.0
    p = rows.shape[1]
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / p
    variance = _variance(rows)
    return 1.0 / (p * variance) if variance > 0 else 1.0  # all entries equal: as scikit-learn


def _variance(rows: Rows) -> float:
    X, s = rows.X, rows.s
    if s is None:
        return float(np.var(X, dtype=float))
    S = s.sum() * rows.shape[1]
    mean = s @ X.sum(axis=1, dtype=float) / S
    return float(s @ np.square(X - mean).sum(axis=1) / S)


def kernel_of(model: "KernelMachine", gamma: float) -> Kernel:
    """Return the kernel of a model for the solver."""
    return Kernel(model.kernel, gamma, int(model.degree), float(model.coef0))


def name_of(kernel: KernelOrName) -> str:
    return repr(getattr(kernel, "__name__", kernel) if callable(kernel) else kernel)


def require_kernel_matrix(model: "KernelMachine", X: np.ndarray) -> None:
    """Raise unless a precomputed matrix, or a user's function, is square and symmetric."""
    if callable(model.kernel):
        sample = X[spread(len(X), min(TRIAL_ROWS, len(X)))]
        K = kernel_of(model, 1.0).gram(sample, sample)
        _require_symmetric(K, f"kernel {name_of(model.kernel)}")
    elif model.kernel == "precomputed":
        n, p = X.shape
        if n != p:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. X has {count(n, 'row')} and "
                f"{count(p, 'column')}: with kernel='precomputed' give K(X, X), in predict "
                "K(new rows, rows of the fit)"
            )
        _require_symmetric(X, "the precomputed kernel")


def _require_symmetric(K: np.ndarray, what: str) -> None:
    difference = np.abs(K - K.T)
    if difference.max(initial=0.0) > SYMMETRY_TOLERANCE * np.abs(K).max(initial=0.0):
        i, j = np.unravel_index(int(difference.argmax()), K.shape)
        raise ValueError(
            f"{what} is not symmetric: it is {K[i, j]:.6g} for rows {i} and {j}, but "
            f"{K[j, i]:.6g} for {j} and {i}"
        )
