"""Checks of the arguments of ``choose_n_clusters``: methods, numbers of clusters, rows, seeds."""

from collections.abc import Iterable

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..data.csr import CSR
from ..data.finite import require_finite
from ..data.types import Seed
from ..data.validation import as_numbers, data_for_search, one_of, positive_whole
from ..data.validation import weights as row_weights
from ..text.format import count, magnitude
from ._n_clusters_result import METHODS

MAX_SPREAD_RATIO = 100.0  # of columns; beyond it the narrow ones hardly affect distances


def methods_of(methods: Iterable[str]) -> tuple[str, ...]:
    """Return the methods in their fixed order, or raise an error for unknown ones."""
    given = [methods] if isinstance(methods, str) else list(methods)
    if not given:
        raise ValueError(f"methods is empty: give some of {', '.join(map(repr, METHODS))}")
    for method in given:
        one_of("methods", method, METHODS)
    return tuple(method for method in METHODS if method in given)


def numbers_of_clusters(ks: object) -> np.ndarray:
    """Return the numbers of clusters, ascending and distinct."""
    given = [ks] if isinstance(ks, str) or not hasattr(ks, "__iter__") else list(ks)
    values = as_numbers(given, "ks")
    if values.ndim != 1 or not len(values) or not (values == np.floor(values)).all():
        raise ValueError(f"ks={ks!r}: give whole numbers of clusters, such as range(1, 11)")
    values = np.unique(values.astype(np.intp))
    if values[0] < 1:
        raise ValueError(f"ks holds {values[0]}: at least 1 cluster is needed")
    return values


def rows_of(
    X: object, sample_weight: object, max_rows: int | None, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Return (X, weights or None, notes): rows of positive weight, at most ``max_rows``."""
    reader = type("choose_n_clusters", (BaseEstimator,), {"fit": None})()
    X = data_for_search(reader, X, reset=True)
    if isinstance(X, CSR):
        raise TypeError(
            "Sparse data was passed, but choose_n_clusters needs a dense array, since noise is "
            "dense: use X.toarray(), or reduce the columns with TruncatedSVD"
        )
    X = np.asarray(X)
    require_finite(X, vars(reader).get("feature_names_in_"))
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    s = row_weights(sample_weight, len(X))
    rows = np.arange(len(X)) if s is None else np.flatnonzero(s)
    notes = []
    if max_rows is not None and len(rows) > positive_whole("max_rows", max_rows):
        notes.append(f"A random sample of {max_rows:,} of {count(len(rows), 'row')} was clustered.")
        rows = np.sort(rng.permutation(rows)[:max_rows])
    if len(rows) < len(X):
        X, s = X[rows], None if s is None else s[rows]
    _require_squares(X)
    spread = X.std(axis=0, dtype=np.float64)
    low, high = spread[spread > 0].min(initial=np.inf), spread.max()
    if high > MAX_SPREAD_RATIO * low:
        notes.append(
            f"Spreads of the columns differ by a factor of {magnitude(float(high / low))}: the "
            "narrow ones hardly count. Scale the columns first, unless their units are comparable."
        )
    return X, s, notes


def _require_squares(X: np.ndarray) -> None:
    half = X.max(axis=0).astype(np.float64) / 2 - X.min(axis=0).astype(np.float64) / 2
    widest = float(half.max())  # half of the range: the whole could overflow
    if 0 < widest < 1e-140 or widest > 1e150:
        raise ValueError(
            f"the values of a column of X differ by up to {widest:.2g}, and squares of that are "
            "out of range: multiply X by a power of 10"
        )


def generator(random_state: Seed) -> np.random.RandomState:
    """Return a RandomState: scikit-learn's ``check_random_state``, which also takes Generators."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    rng: np.random.RandomState = check_random_state(random_state)
    return rng
