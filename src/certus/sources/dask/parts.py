"""Pieces of chunks as one part (X, y, s) of a table, checked and encoded on a worker.

    stored_part      stored rows (``sources/encoding.py``) and what the first pass finds in them
    readable_part    X with indicators for the categories, y with indices of classes

A code of text is the order of first occurrence within the part; the categories of all parts give
each its place among all.
"""

import copy
from typing import Any, NamedTuple

import numpy as np

from ...data.streamed import RowBlock
from ...engines.on_workers import Opaque, WorkerPart
from ...exceptions import TableError
from ...runtime.pool import blas_limiter
from ...tables.binary_files import first_line
from ...text.format import count
from ..columns import Columns, kind_of
from ..encoding import BatchEncoder, Expansion
from ..first_pass import DistinctTargets, FirstPass, Roles
from ..parts import Place
from ..table import TargetCodes
from .collection import require_length, rows_of

NUMBERS = "fiub"  # kinds of NumPy's types that X may have


class ChunkKind(NamedTuple):
    """What a chunk holds: the Arrow schema of a frame, or the columns of an array."""

    schema: Any
    width: int
    kind: str


class PartPlan(NamedTuple):
    """How parts are made of chunks; the same for all parts."""

    frame: Columns | None  # the columns that pieces of X hold, if these are frames
    beside: Columns | None  # targets and weights that are other collections
    roles: Roles
    distinct: DistinctTargets | None
    labels: bool
    dtype: np.dtype

    def encoders(self) -> tuple[BatchEncoder | None, BatchEncoder | None]:
        """Return those of frames, and of what is beside X."""
        return self._encoder(self.frame), self._encoder(self.beside)

    def _encoder(self, columns: Columns | None) -> BatchEncoder | None:
        labels = self.labels and bool(columns and columns.targets)
        return None if columns is None else BatchEncoder(columns, labels)


class PartSummary(NamedTuple):
    """What the first pass found in a part."""

    error: str | None
    found: FirstPass | None = None
    features: tuple[tuple[Any, ...], ...] = ()  # values of each column of text
    target: tuple[Any, ...] = ()


def kind_of_chunk(chunk: Any) -> ChunkKind:
    """Return what a chunk holds."""
    if hasattr(chunk, "columns"):
        import pyarrow as pa

        schema = pa.Schema.from_pandas(chunk, preserve_index=False)
        kinds = {kind_of(field.type) or "text" for field in schema}
        return ChunkKind(schema, len(schema), kinds.pop() if len(kinds) == 1 else "real")
    values = np.asarray(chunk)
    width = values.shape[1] if values.ndim == 2 else 1
    if values.dtype.kind not in NUMBERS and not hasattr(chunk, "toarray"):
        import pyarrow as pa

        return ChunkKind(None, width, kind_of(_arrow(values.reshape(-1)).type) or "text")
    names = {"f": "float32" if values.dtype == np.float32 else "real", "b": "truth"}
    return ChunkKind(None, width, names.get(values.dtype.kind, "whole"))


def stored_part(
    X: list[Any], y: list[Any] | None, s: list[Any] | None, plan: Opaque, own: Opaque
) -> WorkerPart:
    """Return the stored rows of a part, with what was found in it as its summary.

    ``X, y, s``: chunks; ``own``: which rows of each, and the places of those of X.
    """
    try:
        return _stored_part((X, y, s), plan.value, *own.value)
    except TableError as error:  # of several parts, the first one's is raised
        return WorkerPart(None, None, None, PartSummary(str(error)))


def _stored_part(
    chunks: tuple[Any, Any, Any], plan: PartPlan, ranges: Any, places: list[Place], lengths: Any
) -> WorkerPart:
    for k, (chunk, length) in enumerate(zip(chunks[0], lengths[0], strict=True)):
        require_length(chunk, length, places[k].part)
    for what, given, expected in zip(("y", "the weights"), chunks[1:], lengths[1:], strict=True):
        for chunk, length in zip(given or (), expected or (), strict=True):
            require_length(chunk, length, f"a chunk of {what}")
    frame, beside = plan.encoders()
    targets, weights = (
        None if c is None else _joined([rows_of(chunk, *r) for chunk, r in zip(c, rs, strict=True)])
        for c, rs in zip(chunks[1:], ranges[1:], strict=True)
    )
    found = PartPass(plan.roles, copy.deepcopy(plan.distinct))
    blocks, before = [], 0
    for chunk, (a, b), place in zip(chunks[0], ranges[0], places, strict=True):
        X, y, s = _block(rows_of(chunk, a, b), frame, plan, place)
        after = before + len(X)
        if beside is not None:
            y1, s1 = _beside(beside, targets, weights, slice(before, after), place)
            y, s = (y if y1 is None else y1), (s if s1 is None else s1)
        found.add(RowBlock(X, y, s), place)
        blocks.append(RowBlock(X, y, s))
        before = after
    texts = () if frame is None else tuple(tuple(v.codes) for v in frame.features if v is not None)
    labels = next((e.target for e in (frame, beside) if e is not None and e.target), None)
    summary = PartSummary(None, found, texts, () if labels is None else tuple(labels.codes))
    return WorkerPart(*joined(blocks), summary)


class PartPass(FirstPass):
    """A first pass whose sums, by BLAS in a third of the time, only tell what is finite."""

    def _column_sums(self, X: np.ndarray) -> np.ndarray:
        with blas_limiter:
            return np.ones(len(X), X.dtype) @ X


def joined(blocks: list[RowBlock]) -> RowBlock:
    """Return the rows of consecutive blocks."""
    return RowBlock(*(_joined(list(parts)) for parts in zip(*blocks, strict=True)))


def _joined(arrays: list[Any]) -> Any:
    arrays = [a if a is None else np.asarray(a) for a in arrays]
    if arrays[0] is None or len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays)


def _block(rows: Any, encoder: BatchEncoder | None, plan: PartPlan, place: Place) -> RowBlock:
    if encoder is not None:
        return encoded_frame(rows, encoder, place.part)
    require_dense(rows, place.part)
    X = np.asarray(rows)
    p = len(plan.roles.features)
    if X.ndim != 2 or X.shape[1] != p:
        raise TableError(f"{place.part} has the shape {X.shape}, and others have {p} columns")
    if X.dtype.kind not in NUMBERS:
        try:
            X = X.astype(float)
        except (TypeError, ValueError) as error:
            raise TableError(
                f"{place.part} holds something that is no number ({error}): encode text as "
                "numbers, or give a Dask frame, whose text becomes categories"
            ) from error
    return RowBlock(np.ascontiguousarray(X, dtype=plan.dtype), None, None)


def require_dense(chunk: Any, where: str) -> None:
    """Refuse a sparse chunk."""
    if hasattr(chunk, "toarray") or hasattr(chunk, "todense"):
        raise TableError(
            f"{where} is sparse, and rows of a collection are dense: make arrays of its blocks "
            "(block.toarray()), or fit a sparse matrix in memory"
        )


def encoded_frame(rows: Any, encoder: BatchEncoder, where: str) -> RowBlock:
    """Return stored rows of a frame of pandas."""
    import pyarrow as pa

    read = encoder.columns.read
    missing = [name for name in read if name not in rows.columns]
    if missing:
        raise TableError(f"{where} has no column '{missing[0]}', and others have")
    try:
        table = pa.Table.from_pandas(rows[read], preserve_index=False)
        return joined([encoder.encode(batch) for batch in table.to_batches()])
    except TableError:
        raise
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(
            f"{where} holds something else than other partitions do: {first_line(error)}"
        ) from error


def _beside(
    encoder: BatchEncoder, y: Any, s: Any, rows: slice, place: Place
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return targets and weights, as floats and codes, of some rows."""
    n = rows.stop - rows.start
    Y = None
    if y is not None:
        k = len(encoder.columns.targets)
        y = np.asarray(y)[rows].reshape(n, -1)
        if y.shape[1] != k:
            raise TableError(
                f"the targets beside {place.part} have {count(y.shape[1], 'column')}, not {k}"
            )
        if encoder.target is not None:
            Y = encoder.target.encode(_arrow(y[:, 0]))[:, None]
        else:
            Y = _floats(y, f"the targets beside {place.part}")
    S = None
    if s is not None:
        S = _floats(np.asarray(s)[rows].reshape(n), f"the weights beside {place.part}")
    return Y, S


def _floats(values: np.ndarray, what: str) -> np.ndarray:
    try:
        return np.ascontiguousarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise TableError(f"{what} hold something that is no number: {error}") from error


def _arrow(values: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.array(values, from_pandas=True)


# --- with the categories and classes of all parts -------------------------------------------------


def readable_part(stored: WorkerPart, of: Opaque, encoder: Opaque) -> WorkerPart:
    """Return a part with indicators of categories and indices of classes.

    ``encoder``: with the categories of all parts.
    """
    expansion, codes = of.value
    X, y, s = stored
    summary: PartSummary = stored.summary
    everything: BatchEncoder = encoder.value
    columns = [j for j, v in enumerate(everything.features) if v is not None]
    if columns:
        X = X.copy()
        for j, values in zip(columns, summary.features, strict=True):
            of_all = everything.features[j].codes  # type: ignore[union-attr]
            X[:, j] = np.array([of_all[value] for value in values])[X[:, j].astype(np.intp)]
        X = expansion.expand(X)
    return WorkerPart(X, class_indices(y, summary, codes, everything), s)


def class_indices(
    y: np.ndarray | None, summary: PartSummary, codes: TargetCodes | None, encoder: BatchEncoder
) -> np.ndarray | None:
    """Return targets as indices of classes, or as they are."""
    if y is None or codes is None:
        return y
    if codes.ranks is None:
        assert codes.numbers is not None
        return np.searchsorted(codes.numbers, y).astype(float)
    assert encoder.target is not None
    places = np.array([codes.ranks[encoder.target.codes[value]] for value in summary.target])
    return places[y.astype(np.intp)].astype(float)


def summary_of(part: WorkerPart) -> PartSummary:
    """Return what the first reading of a part found."""
    summary: PartSummary = part.summary
    return summary


class FrameReader:
    """Frames as X of a model whose columns include indicators of categories."""

    def __init__(self, encoder: BatchEncoder, expansion: Expansion):
        features = encoder.columns._replace(targets=(), weights=None)
        self.encoder, self.expansion = BatchEncoder(features, False), expansion
        self.encoder.features = encoder.features

    def __call__(self, chunk: Any) -> Any:
        return self._frame(self.expansion.expand(encoded_frame(chunk, self.encoder, "a chunk").X))

    def template(self) -> Any:
        """Return a row of zeros."""
        return self._frame(np.zeros((1, len(self.expansion.names)), self.encoder.dtype))

    def _frame(self, X: np.ndarray) -> Any:
        import pandas as pd

        return pd.DataFrame(X, columns=list(self.expansion.names))
