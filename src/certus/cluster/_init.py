"""The parameters ``init`` and ``n_init`` of k-means, checked and turned into starts.

A start is an array (k, p) of centres in float64: drawn from the rows by a named method, given as an
array, or returned by a function of (X, k, random_state).
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from ..data.csr import CSR
from ..data.rows import Rows, as_floats
from ..data.types import Seed
from ..data.validation import as_numbers, one_of, positive_whole
from ..runtime.pool import blas_limiter
from ..runtime.user_frame import warn_user
from ..solvers.kmeans import lloyd
from ..solvers.kmeans.draws import start_rows
from ..solvers.kmeans.starts import parallel, plus_plus, random_rows

SQUARES_OVERFLOW = "X and the centres are so far apart that squares of their differences overflow"
BY_NAME: dict[str, Callable[..., np.ndarray]] = {
    "k-means++": lambda rows, k, random_state: plus_plus(rows, k, random_state)[0],
    "k-means||": lambda rows, k, random_state: parallel(rows, k, random_state),
    "random": lambda rows, k, random_state: random_rows(rows, k, random_state)[0],
}
Init = str | npt.ArrayLike | Callable[..., npt.ArrayLike]
N_INIT_AUTO = 10  # starts of n_init="auto" for random ones and functions; scikit-learn's


def check_init(init: Init) -> None:
    """Check that ``init`` is a known name, an array or a function; shapes are checked later."""
    if isinstance(init, str):
        one_of("init", init, BY_NAME)
    elif not callable(init) and np.ndim(init) == 0 and not issparse(init):
        names = ", ".join(map(repr, BY_NAME))
        raise ValueError(f"init={init!r}: give {names}, an array of centres or a function")


def check_n_init(n_init: object) -> None:
    if not (isinstance(n_init, str) and n_init == "auto"):
        positive_whole("n_init", n_init)


def resolve_n_init(
    name: str, init: object, n_init: int | Literal["auto"], auto: int = N_INIT_AUTO
) -> int:
    """Return the number of starts: "auto" means ``auto`` for random ones and functions, else 1."""
    drawn = isinstance(init, str) or callable(init)
    if isinstance(n_init, str):
        uninformed = callable(init) or (isinstance(init, str) and init == "random")
        return auto if uninformed else 1
    if not drawn and n_init != 1:
        warn_user(
            f"Explicit initial center position passed: performing only one init in {name} instead "
            f"of n_init={n_init}.",
            RuntimeWarning,
        )
        return 1
    return int(n_init)


def starts(
    init: object,
    rows: Rows,
    k: int,
    random_state: Seed,
    polish: float | None = None,
    unit: float = 1.0,
) -> Callable[[], np.ndarray]:
    """Return a function that gives the next start.

    ``unit``: that of the rows and starts; what the user gives and is given is not divided by it.
    Starts of streamed rows are drawn from a sample of them. ``polish``: where that is not all of
    them, Lloyd's steps on the sample improve the start, up to this ``tol``.
    """
    draw = check_random_state(random_state)
    if not (isinstance(init, str) or callable(init)):
        given = _in_unit(_as_centers(init, k, rows.shape[1], "init"), unit, rows)
        return lambda: given
    drawn_from = start_rows(rows, k)
    if isinstance(init, str):
        by_name = BY_NAME[init]

        def start() -> np.ndarray:
            return by_name(drawn_from, k, draw)
    else:

        def start() -> np.ndarray:
            X = _for_user_function(drawn_from.X)
            found = init(X if unit == 1.0 else X * unit, k, random_state=draw)
            centers = _as_centers(found, k, rows.shape[1], "what init returned")
            return _in_unit(centers, unit, drawn_from)

    if polish is None or drawn_from.shape[0] == rows.shape[0]:
        return start

    def polished() -> np.ndarray:
        begin = start()
        with blas_limiter.for_work(drawn_from.shape), np.errstate(over="ignore", invalid="ignore"):
            return lloyd(drawn_from, begin, tol=polish).centers

    return polished


def _in_unit(centers: np.ndarray, unit: float, rows: Rows) -> np.ndarray:
    """Return centres in the unit of the rows, so near them that squares of differences are held."""
    x = rows.sample_block(1)[0]
    with np.errstate(over="ignore"):
        scaled = centers / unit
        squares = ((scaled - (x.toarray() if issparse(x) else x)) ** 2).sum()
    if not np.isfinite(squares):
        raise ValueError(f"{SQUARES_OVERFLOW}: give init in the units of X")
    return scaled


def _for_user_function(X: object) -> Any:
    """Return X as a user's function expects it: an array of floats, or SciPy's sparse rows."""
    return as_floats(X[0 : X.shape[0]] if isinstance(X, CSR) else X)


def _as_centers(values: Any, k: int, p: int, what: str) -> np.ndarray:
    dense = values.toarray() if issparse(values) else values
    centers = np.array(as_numbers(dense, what), dtype=np.float64, order="C")
    if centers.ndim != 2 or centers.shape[0] != k:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"clusters {k}: {what} must be of shape {(k, p)}"
        )
    if centers.shape[1] != p:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"features of the data {p}: {what} must be of shape {(k, p)}"
        )
    bad = np.argwhere(~np.isfinite(centers))
    if len(bad):
        raise ValueError(
            f"{what} holds {centers[tuple(bad[0])]} (centre {bad[0][0]}, column {bad[0][1]}): give "
            "finite centres"
        )
    return centers
