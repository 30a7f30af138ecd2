"""Groups of rows whose errors are correlated: patients with several visits, pupils of a school."""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ...exceptions import InferenceError
from ...solvers.inference.clusters import Clusters


def read_groups(groups: object, rows: Rows, cov: str) -> Clusters | None:
    """Return the cluster of each row, from one label a row; None unless cov is "cluster"."""
    if cov != "cluster":
        if groups is not None:
            raise ValueError(f"groups are used by cov='cluster' only, and cov is {cov!r}")
        return None
    if groups is None:
        raise ValueError("cov='cluster' needs groups=: the group of each row, such as a patient")
    if rows.engine is not None:
        raise InferenceError(
            "cov='cluster' adds up the rows of each group, which may be on several workers: give "
            "the rows as arrays or as files (certus.open_rows)"
        )
    labels = np.asarray(groups)
    if labels.shape != (rows.shape[0],):
        raise ValueError(
            f"groups has shape {labels.shape}: give one label for each of the {rows.shape[0]:,} "
            "rows"
        )
    missing = np.flatnonzero(_missing(labels))
    if len(missing):
        raise ValueError(f"groups has no value for row {missing[0]}: give each row a group")
    if labels.dtype == object:
        labels = labels.astype(str)
    _, codes = np.unique(labels, return_inverse=True)
    codes = np.where(_of_positive_weight(rows), codes, -1)
    found, codes = np.unique(codes, return_inverse=True)
    return Clusters(codes - int(found[0] == -1), len(found) - int(found[0] == -1))


def n_groups_of(clusters: Clusters | None) -> int | None:
    return None if clusters is None else clusters.n_clusters


def _missing(labels: np.ndarray) -> np.ndarray:
    """Return which labels are None, NaN or NaT: they differ from themselves, or are None."""
    if labels.dtype.kind not in "fcmMO":
        return np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind == "O":
        return np.array([one is None or bool(one != one) for one in labels.tolist()])
    different: np.ndarray = labels != labels
    return different


def _of_positive_weight(rows: Rows) -> np.ndarray | bool:
    if rows.s is None:
        return True
    positive: np.ndarray = rows.reduce_targets(_positive, combine=_joined)[0]
    return positive


def _positive(_y: object, s: np.ndarray) -> tuple[Any]:
    return (s > 0,)


def _joined(a: tuple[Any], b: tuple[Any]) -> tuple[Any]:
    return (np.concatenate([a[0], b[0]]),)
