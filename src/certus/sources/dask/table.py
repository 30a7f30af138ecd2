"""Rows whose parts stay on Dask's workers."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ...data.rows import BLOCK_BYTES, Rows, spread
from ...data.streamed import RowBlock, StreamedTable, sample_rows
from ...engines.dask import DaskEngine
from ...text.format import count, listed

if TYPE_CHECKING:
    from distributed import Client


class AnswerSource(NamedTuple):
    """The collection that lazy answers are about, and how its chunks become X of a model."""

    X: Any
    features: tuple[str, ...] | None  # columns of a frame
    reader: Any = None  # FrameReader, where columns of text became several


class DaskTable(StreamedTable):
    """Rows whose parts are on Dask's workers; made by ``certus.open_rows`` from a collection.

    Attributes
    ----------
    shape : (rows, columns of X)
    names : tuple of str, or None
        Names of the columns of X.
    classes : ndarray or None
        The classes, where the target holds labels.
    distinct_targets : ndarray or None
        The different targets, where they are few whole numbers: the classes for a classifier.
    categories : dict of str to list
        The categories of each column of text, which became a column of X each.
    notes : tuple of str
        What a reader should know.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: Any,
        roles: tuple[tuple[str, ...], str | None],
        parts: Sequence[Any],
        lengths: Sequence[int],
        client: "Client",
        answers_to: AnswerSource,
    ):
        super().__init__(shape, dtype, len(roles[0]), roles[1] is not None)
        self.target_names, self.weights_name = roles
        self.answers_to = answers_to
        self.categories: dict[str, list[Any]] = {}
        self.engine: DaskEngine = DaskEngine(client, parts, lengths)
        self.description = "the Dask collection"
        self.notes: tuple[str, ...] = (f"{count(len(parts), 'part')} on Dask's workers",)
        n, p = shape
        i = spread(n, min(n, sample_rows(p)))
        self.keep_sample(i, self.gather(i))

    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop, from the workers."""
        return self.gather(np.arange(start, stop))

    # --- what people use ---

    @property
    def means(self) -> np.ndarray:
        """The mean of each column of X."""
        (total,) = Rows(self.X).reduce(_sums)
        return np.asarray(total / self.shape[0])

    def batches(self, rows: int | None = None) -> Iterator[RowBlock]:
        """Yield all rows in order, as blocks of arrays (X, y, s).

        Parameters
        ----------
        rows : int, default=None
            Of a block; None: about 1 MB.
        """
        n, p = self.shape
        step = rows or max(256, BLOCK_BYTES // (8 * p))
        for start in range(0, n, step):
            yield self.read(start, min(n, start + step))

    def head(self, rows: int = 5) -> RowBlock:
        """Return the first rows as arrays (X, y, s)."""
        return self.read(0, min(rows, self.shape[0]))

    def close(self) -> None:
        """Let go of the parts, which the workers then forget. The table cannot be read afterwards.

        The same happens when nothing refers to the table any more.
        """
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        n, p = self.shape
        lines = [f"{self.description}: {count(n, 'row')} × {count(p, 'column')} ({self.dtype})"]
        if self.target_names:
            lines.append(f"target: {listed([repr(name) for name in self.target_names])}")
            if self.classes is not None:
                shown = listed([repr(c) for c in self.classes.tolist()])
                lines[-1] += f", {len(self.classes)} classes ({shown})"
        if self.weights_name is not None:
            lines.append(f"weights: {self.weights_name!r}")
        return "\n".join([*lines, *self.notes])


def _sums(X: np.ndarray, y: object, s: object) -> tuple[np.ndarray]:
    return (X.sum(axis=0, dtype=float),)
