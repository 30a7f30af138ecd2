"""Centres and spacings of basis functions.

    quantile   μ_j = the (j − 1)/(k − 1) quantile of the column, itself a value of it
    uniform    μ_j = min + (j − 1)/(k − 1)·(max − min)
    spacing    h_j = mean distance of μ_j to its neighbours (one at the ends, two inside)

Equivariant to shifts and scales: centres and spacings of a·x + c are a·μ + c and a·h.
"""

from collections.abc import Sequence

import numpy as np

from ..data.finite import column_name
from ..data.validation import one_of, positive_whole
from ..exceptions import DegenerateWarning
from ..runtime.user_frame import warn_user

CENTER_RULES = ("quantile", "uniform")
MAX_FLOAT = float(np.finfo(float).max)
MIN_NORMAL_FLOAT = float(np.finfo(float).tiny)  # for smaller h, 1/h would overflow


def place_centers(
    X: np.ndarray, n_centers: object, centers: object, names: Sequence[str] | None
) -> list[np.ndarray]:
    """Centres μ of every column: by a rule, ascending and distinct; or as given."""
    p = X.shape[1]
    if not isinstance(centers, str):
        mu = numbers_per_column("centers", centers, p, "'quantile', 'uniform'")
        for values in mu:
            _refuse_repeated(values)
        return mu
    one_of("centers", centers, CENTER_RULES)
    k = positive_whole("n_centers", n_centers)
    mu = [np.unique(_centers_by_rule(X[:, j].astype(float), k, centers)) for j in range(p)]
    _warn_of_fewer(X, mu, k, names)
    return mu


def _centers_by_rule(x: np.ndarray, k: int, rule: str) -> np.ndarray:
    levels = np.linspace(0.0, 1.0, k) if k > 1 else np.array([0.5])
    if rule == "quantile":
        # "nearest" returns values of the column, so that equal quantiles are bitwise equal
        at: np.ndarray = np.quantile(x, levels, method="nearest")
        return at
    low, high = float(x.min()), float(x.max())
    return np.clip((1 - levels) * low + levels * high, low, high)


def spacing(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Spacing h of every centre; of a single centre, the column's range, or 1 if that is 0."""
    with np.errstate(over="ignore"):
        if len(mu) == 1:
            return np.array([min(float(x.max()) - float(x.min()), MAX_FLOAT) or 1.0])
        order = np.argsort(mu)
        h = np.minimum(np.diff(mu[order]), MAX_FLOAT)
    mean = np.empty(len(mu))
    mean[order] = np.append(h[:1], h) / 2 + np.append(h, h[-1:]) / 2
    return np.maximum(mean, MIN_NORMAL_FLOAT)


def numbers_per_column(name: str, value: object, p: int, rules: str) -> list[np.ndarray]:
    """Numbers for each of p columns: the same for all from (k,), separate ones from (p, k)."""
    try:
        values = np.array(value, dtype=float, ndmin=1)
    except (TypeError, ValueError):
        values = np.empty(0)
    is_valid = values.ndim <= 2 and values.size > 0 and np.isfinite(values).all()
    if not is_valid or (values.ndim == 2 and len(values) != p):
        raise ValueError(
            f"{name}={value!r}: give {rules}, finite numbers for every column, or an array of "
            f"shape (columns, numbers): X has {p} columns"
        )
    return list(values) if values.ndim == 2 else [values] * p


def broadcast_to_centers(
    name: str, values: list[np.ndarray], mu: list[np.ndarray]
) -> list[np.ndarray]:
    """Broadcast ``values`` to the centres: one number for all of a column, or one for each."""
    for j, (v, m) in enumerate(zip(values, mu, strict=True)):
        if len(v) not in (1, len(m)):
            raise ValueError(
                f"{name} has {len(v)} numbers and column {j} of X has {len(m)} centres: give one "
                "number, or one for each centre"
            )
    return [np.broadcast_to(v, len(m)).copy() for v, m in zip(values, mu, strict=True)]


def flatten(per_column: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Column index and value of every function, in one dimension."""
    column = np.repeat(np.arange(len(per_column)), [len(v) for v in per_column])
    return column, np.concatenate(per_column)


def _refuse_repeated(mu: np.ndarray) -> None:
    values, times = np.unique(mu, return_counts=True)
    if times.max() > 1:
        raise ValueError(
            f"centers holds {values[times.argmax()]:g} {times.max()} times: equal centres give "
            "equal columns; give each once"
        )


def _warn_of_fewer(
    X: np.ndarray, mu: list[np.ndarray], k: int, names: Sequence[str] | None
) -> None:
    short_columns = [j for j, values in enumerate(mu) if len(values) < k]
    if not short_columns:
        return
    descriptions = []
    for j in short_columns[:3]:
        constant = X[:, j].min() == X[:, j].max()
        what = "is constant" if constant else f"gives {len(mu[j])} different centres"
        descriptions.append(f"{column_name(j, names)} {what}")
    others = f"; and {len(short_columns) - 3} more columns" if len(short_columns) > 3 else ""
    warn_user(
        f"n_centers={k}, but {'; '.join(descriptions)}{others}. Equal centres were used once. "
        "Lower n_centers, use centers='uniform' for values that repeat, or drop constant columns",
        DegenerateWarning,
    )
