"""Rows of a table as the numbers that candidates compare, computed from training rows alone.

Medians, scales and categories are those of the training rows. Columns of numbers have variance 1,
so that penalties and distances do not depend on units.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...tables import pipeline_for
from ..prepared import Prepared

if TYPE_CHECKING:
    import pyarrow as pa
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from ...tables import Column


@dataclass(frozen=True, eq=False)
class Training:
    """Rows of ``Prepared`` that a choice may use: of an outer fold, or all."""

    columns: "tuple[Column, ...]"
    X: "pa.Table"
    y: np.ndarray  # labels, or numbers
    target: np.ndarray  # two classes: 1 is the positive; more: index of the class; or numbers
    labels: tuple[object, ...]
    positive: int | None
    task: str
    s: np.ndarray | None
    together: np.ndarray
    times: np.ndarray | None

    @classmethod
    def of(cls, prepared: Prepared, together: np.ndarray) -> "Training":
        """All rows."""
        return cls(
            prepared.columns, prepared.X, prepared.y, target_of(prepared), prepared.labels,
            prepared.positive, prepared.task, prepared.weights, together, prepared.times,
        )  # fmt: skip

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_outputs(self) -> int:
        """Columns of an answer: one of numbers and of two classes, else one for each class."""
        return len(self.labels) if self.task in ("classes", "ordered classes") else 1

    def take(self, rows: np.ndarray) -> "Training":
        """These rows alone."""
        return Training(
            self.columns, self.X.take(rows), self.y[rows], self.target[rows], self.labels,
            self.positive, self.task, None if self.s is None else self.s[rows],
            self.together[rows], None if self.times is None else self.times[rows],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Encoded:
    """Training rows as a matrix."""

    A: np.ndarray  # (n, m)
    target: np.ndarray
    s: np.ndarray | None
    n_outputs: int
    task: str

    def take(self, rows: np.ndarray) -> "Encoded":
        """These rows alone."""
        s = None if self.s is None else self.s[rows]
        return Encoded(self.A[rows], self.target[rows], s, self.n_outputs, self.task)


def target_of(prepared: Prepared) -> np.ndarray:
    """Two classes: 1 for the positive; more: index of the class; or the numbers."""
    if prepared.task == "numbers":
        return np.asarray(prepared.y, dtype=float)
    codes = prepared.codes()
    return (codes == prepared.positive).astype(np.intp) if prepared.task == "two classes" else codes


def pipeline(columns: "Sequence[Column]", model: "BaseEstimator", n_rows: int) -> "Pipeline":
    """The pipeline of a candidate: the encoding, and the model."""
    return pipeline_for(columns, model, n_rows, scaled=())


def encoder_for(columns: "Sequence[Column]", n_rows: int) -> "Pipeline":
    """The encoding alone, as in every candidate's pipeline; not fitted."""
    from ...linear_model import Ridge

    return pipeline(columns, Ridge(), n_rows)[:-1]


def encoded(train: Training, held_out: "pa.Table") -> tuple[Encoded, np.ndarray]:
    """Training rows as a matrix, and held-out rows in the same columns."""
    encoder = encoder_for(train.columns, train.n)
    A = np.asarray(encoder.fit_transform(train.X), dtype=float)
    B = np.asarray(encoder.transform(held_out), dtype=float)
    return Encoded(A, train.target, train.s, train.n_outputs, train.task), B
