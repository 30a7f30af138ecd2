"""``open_rows``: which reader a source gets, the first pass, and where its rows are kept."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import MissingExtraError, TableError
from ..runtime.refusals import refuses_in_one_frame
from .arrow_rows import ArrowRows
from .collections import is_dask
from .columns import chosen_columns
from .dask.collection import users_client
from .dask.local import batches_of, names_beside, with_answers
from .dask.opening import dask_table
from .dask.request import Request
from .dask.table import DaskTable
from .encoding import BatchEncoder, Expansion, require_same_names
from .first_pass import (
    MAX_DISTINCT_TARGETS,
    MAX_STATED_CLASSES,
    DistinctTargets,
    FirstPass,
    Roles,
)
from .kept import DiskFullError, KeptRows, size_in_words
from .numpy_files import NumpyColumns, NumpyFile, NumpyRows
from .parts import Place, SourcePart
from .paths import files_of, is_paths, kind_of_files, names_of, parts_of
from .read_ahead import CHUNK_BYTES, MAX_CHUNKS, DecodedRows
from .streams import ARRAY_TARGET, ARRAY_WEIGHT, ARRAYS_MARK, StreamPart, flat, stream_part
from .table import COLUMN_BYTES, MAX_BYTES_BESIDE, SourceTable, Store, TargetCodes
from .targets import codes_of_target, distinct_targets, holds_labels

CATEGORIES = ("one-hot", "drop-first")


@refuses_in_one_frame
def open_rows(
    source: Any,
    columns: Any = None,
    target: Any = None,
    weights: Any = None,
    *,
    classes: Any = "auto",
    categories: str = "one-hot",
    missing: bool = False,
    cache: Any = "auto",
) -> SourceTable | DaskTable:
    """Open files, a stream or a Dask collection as rows that are read block by block.

    ``fit``, ``predict``, ``score`` and ``certus.verify`` take them in place of arrays, however much
    larger than memory they are.

    One pass reads everything: it counts the rows, finds the classes and categories, and refuses
    what no model can use with its file, row and column. Later passes are compared with it: a source
    that changed in between stops a fit with ``SourceChangedError``.

    Parameters
    ----------
    source : path, glob, folder, list of paths, stream, or Dask collection
        Parquet, Feather (Arrow), CSV or ``.npy`` files, all of one kind, with the same columns,
        one after another; or an object with ``__arrow_c_stream__`` (a lazy frame of polars, a
        relation of DuckDB, a table of Ibis, a dataset of pyarrow); or a function that returns an
        iterable of batches: Arrow batches, frames, or tuples of arrays (X, y, weights). What can be
        read only once (a reader, a generator) is kept in a temporary file. A Dask array, a Dask
        frame or a list of delayed blocks is persisted, and its parts stay on the workers.
    columns : list of str, default=None
        The columns of X, in this order; None: all but target and weights. For ``.npy``: their
        numbers, from 0.
    target : str or list of str, default=None
        The column of y, or several of a regression (of counts, also their exposure). For
        ``.npy``: the number of a column, or the path of another ``.npy`` file; for Dask arrays and
        blocks: another collection or array.
    weights : str, default=None
        The column of sample weights. For ``.npy`` as ``target``.
    classes : "auto", True or False, default="auto"
        Whether targets are labels. "auto": text, categories, True and False are; whole numbers are
        numbers for a regression and, if at most 1,000 differ, labels for a classifier.
    categories : "one-hot" or "drop-first", default="one-hot"
        A column of text or categories becomes a column of 0 and 1 for each category, named as
        scikit-learn's OneHotEncoder names them ("drop-first": but the first category).
    missing : bool, default=False
        Whether numbers of X may be missing (NaN), for models that accept it: mixtures.
    cache : "auto", True or False, default="auto"
        Whether the decoded rows are kept in an unnamed temporary file (in ``TMPDIR``), which is
        faster to read than to decode the source again in every pass. "auto": if the disk has room.
        ``.npy`` files are read where they are, and what can be read only once is always kept.

    Returns
    -------
    SourceTable or DaskTable
        With ``shape``, ``names``, ``classes``, ``notes``; ``head()``, ``batches()``, ``close()``.

    Raises
    ------
    TableError
        If rows cannot be read, or no model can use them; it names file, row and column.
    SourceChangedError
        Later, when a pass reads other rows than the first one.
    MissingExtraError
        Without pyarrow, which all but ``.npy`` files need, or without Dask for its collections.

    Examples
    --------
    >>> import tempfile, numpy as np, certus
    >>> path = tempfile.mkdtemp() + "/rows.npy"
    >>> np.save(path, np.column_stack([np.arange(1000.0), np.ones(1000), np.arange(1000) % 3]))
    >>> rows = certus.open_rows(path, target=2)
    >>> rows
    rows.npy: 1,000 rows × 2 columns (float64)
    target: 'column 2'
    >>> rows.means
    array([499.5,   1. ])
    >>> rows.close()
    """
    if classes not in ("auto", True, False):
        raise ValueError(f"classes={classes!r}: give 'auto', True or False")
    if cache not in ("auto", True, False):
        raise ValueError(f"cache={cache!r}: give 'auto', True or False")
    if categories not in CATEGORIES:
        raise ValueError(f"categories={categories!r}: give one of {', '.join(CATEGORIES)}")
    if is_dask(source):
        drop_first = categories == "drop-first"
        return _dask_table(
            Request(source, columns, target, weights, classes, drop_first, missing),
            categories,
            cache,
        )
    if is_paths(source):
        files = files_of(source)
        kind = kind_of_files(files)
        if kind == "NumPy":
            return _numpy_table(files, columns, target, weights, classes, missing)
        _require_pyarrow()
        parts = parts_of(files, kind)
        name = names_of(files)[0] if len(files) == 1 else f"{len(files)} {kind} files"
    else:
        _require_pyarrow()
        parts = [stream_part(source)]
        name = parts[0].name
    return _arrow_table(parts, name, columns, target, weights, classes, categories, missing, cache)


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            'open_rows needs pyarrow for all but .npy files: pip install "certus[tables]"'
        ) from error


def _dask_table(request: Request, categories: str, cache: Any) -> SourceTable | DaskTable:
    """Return rows on the workers of the user's client, or a stream from Dask's own scheduler."""
    client = users_client()
    if client is not None:
        return dask_table(client, request)
    _require_pyarrow()
    name = "the Dask collection"
    part = StreamPart(lambda: flat(batches_of(request)), name, False)
    table = _arrow_table(
        [part], name, request.columns, *names_beside(request), request.classes, categories,
        request.missing, cache,
    )  # fmt: skip
    return with_answers(table, request)


# --- Arrow ----------------------------------------------------------------------------------------


def _arrow_table(
    parts: list[SourcePart],
    name: str,
    columns: Any,
    target: Any,
    weights: Any,
    classes: Any,
    categories: str,
    missing: bool,
    cache: Any,
) -> SourceTable:
    schema = parts[0].schema
    is_arrays = (schema.metadata or {}).get(b"certus") == ARRAYS_MARK["certus"].encode()
    if is_arrays and not (columns is None and target is None and weights is None):
        raise ValueError(
            "batches of arrays are (X, y, weights) already: columns, target and weights name "
            "columns of tables"
        )
    if is_arrays:
        target = [n for n in schema.names if n.startswith(ARRAY_TARGET)] or None
        weights = ARRAY_WEIGHT if ARRAY_WEIGHT in schema.names else None
    chosen = chosen_columns(parts, columns, target, weights)
    labels = holds_labels(chosen, classes)
    encoder = BatchEncoder(chosen, labels)
    source = ArrowRows(parts, encoder)
    distinct = distinct_targets(chosen, classes)
    roles = Roles(
        [f"column '{column}'" for column in chosen.features],
        [f"column '{column}'" for column in chosen.targets],
        f"column '{chosen.weights}'",
        [vocabulary is not None for vocabulary in encoder.features],
        missing,
    )
    found = FirstPass(roles, distinct, source.known_rows)
    notes: list[str] = []
    for part in parts:
        notes += getattr(part, "notes", [])
    kept = _kept(source, cache, notes)
    try:
        with closing(source.first_pass()) as blocks:  # its thread ends, whatever happens
            for placed in blocks:
                found.add(placed.rows, Place(parts[placed.part].name, placed.row))
                kept = _append(kept, placed.rows, source, cache, notes)
        found.require_rows(name, chosen.weights is not None)
        expansion = Expansion(encoder, categories == "drop-first")
        require_same_names(expansion.names)
        if not expansion.names:
            raise TableError(f"{name} has no columns left for X: each text has one category alone")
        codes = codes_of_target(encoder, chosen, labels, found, classes)
    except BaseException:
        if kept is not None:
            kept.close()
        raise
    store: Store = kept if kept is not None else DecodedRows(source, found.n_rows)
    if kept is not None:
        size = size_in_words(kept.row_bytes * found.n_rows)
        notes.append(
            f"can be read only once: its rows are kept in a temporary file ({size})"
            if source.once
            else f"rows are decoded once and kept in a temporary file ({size})"
        )
    elif not source.once:
        notes.append("rows are decoded again in every pass")
    return SourceTable(
        source, store, found,
        dtype=encoder.dtype,
        names=None if is_arrays else expansion.names,
        roles=(chosen.targets, chosen.weights),
        expansion=expansion,
        encoder=encoder,
        target_codes=codes,
        missing=missing,
        description=name,
        notes=notes,
        memory_bound=_memory_bound(source, is_kept=kept is not None),
    )  # fmt: skip


def _memory_bound(source: ArrowRows, is_kept: bool) -> int:
    """Return the bytes that reading takes at most, whatever the number of rows."""
    batch = source.batch_rows * source.row_bytes  # decoded, waiting, being encoded or stored
    chunk = max(CHUNK_BYTES, source.row_bytes)  # ready, being filled, in use by threads
    pages = COLUMN_BYTES * len(source.encoder.columns.read)
    return MAX_BYTES_BESIDE + pages + (6 * batch if is_kept else (MAX_CHUNKS + 5) * chunk)


def _kept(source: ArrowRows, cache: Any, notes: list[str]) -> KeptRows | None:
    if cache is False and not source.once:
        return None
    columns = source.encoder.columns
    try:
        return KeptRows(
            len(columns.features), source.encoder.dtype, len(columns.targets),
            columns.weights is not None, source.known_rows,
        )  # fmt: skip
    except DiskFullError as error:
        if cache is True or source.once:
            raise
        notes.append(str(error).partition(". Set")[0])
        return None


def _append(
    kept: KeptRows | None, block: Any, source: ArrowRows, cache: Any, notes: list[str]
) -> KeptRows | None:
    if kept is None:
        return None
    try:
        kept.append(block)
    except DiskFullError as error:
        if cache is True or source.once:
            raise
        notes.append(str(error).partition(". Set")[0])
        return None
    return kept


# --- .npy -----------------------------------------------------------------------------------------


def _numpy_table(
    files: list[Path], columns: Any, target: Any, weights: Any, classes: Any, missing: bool
) -> SourceTable:
    names = names_of(files)
    X = NumpyColumns([NumpyFile(str(f), name) for f, name in zip(files, names, strict=True)])
    y = _beside(target, "target")
    weighing = _beside(weights, "weights")
    if isinstance(weighing, list) and len(weighing) != 1:
        raise ValueError(f"weights={weights!r}: give one column")
    s = weighing[0] if isinstance(weighing, list) else weighing
    chosen = None if columns is None else _column_numbers(columns, "columns")
    source = NumpyRows(X, chosen, y, s)
    roles = Roles(
        [f"column {j}" for j in source.columns],
        [y.name] * y.shape[1] if isinstance(y, NumpyColumns) else [f"column {j}" for j in y or ()],
        s.name if isinstance(s, NumpyColumns) else f"column {s}",
        [False] * source.p,
        missing,
    )
    is_text = source.target_dtype is not None and source.target_dtype.kind == "U"
    if is_text and (classes is False or source.n_targets > 1):
        raise TableError(
            "the target holds text: one column of it is labels, and classes=False is not"
        )
    distinct = None
    if source.n_targets == 1 and classes is not False and not is_text:
        distinct = DistinctTargets(MAX_STATED_CLASSES if classes is True else MAX_DISTINCT_TARGETS)
        if source.target_dtype is not None and source.target_dtype.kind in "iu":
            distinct.dtype = np.dtype(np.int64)
    found = FirstPass(roles, distinct, source.known_rows)
    for placed in source.first_pass():
        found.add(placed.rows, source.place_in(placed.part, placed.row))
    description = names[0] if len(names) == 1 else f"{len(names)} .npy files"
    found.require_rows(description, s is not None)
    return SourceTable(
        source, source, found,
        dtype=source.dtype,
        names=None,
        roles=(tuple(roles.targets), None if s is None else roles.weights),
        expansion=None,
        encoder=None,
        target_codes=_numpy_codes(source, classes, distinct, is_text),
        missing=missing,
        description=description,
        notes=(),
        memory_bound=MAX_BYTES_BESIDE,
    )  # fmt: skip


def _numpy_codes(
    source: NumpyRows, classes: Any, distinct: DistinctTargets | None, is_text: bool
) -> TargetCodes | None:
    if is_text:
        labels = sorted(source.labels)
        place = {label: i for i, label in enumerate(labels)}
        ranks = np.array([place[label] for label in source.labels], dtype=np.intp)
        return TargetCodes(np.array(labels, dtype=object), ranks, None)
    is_truth = source.target_dtype is not None and source.target_dtype.kind == "b"
    if distinct is None or not (classes is True or is_truth):
        return None
    if distinct.values is None:
        raise TableError(
            f"classes=True, but the target holds {distinct.reason}: labels are text, or whole "
            "numbers"
        )
    dtype = bool if is_truth else distinct.dtype
    return TargetCodes(distinct.values.astype(dtype), None, distinct.values)


def _beside(given: Any, option: str) -> NumpyColumns | list[int] | None:
    """Return files, or numbers of columns of X."""
    if given is None:
        return None
    if is_paths(given):
        files = files_of(given)
        if kind_of_files(files) != "NumPy":
            raise TableError(f"{option}={os.fspath(given)!r} is no .npy file, as X is")
        return NumpyColumns(
            [NumpyFile(str(f), n) for f, n in zip(files, names_of(files), strict=True)]
        )
    return _column_numbers(given, option)


def _column_numbers(given: Any, option: str) -> list[int]:
    numbers = [given] if isinstance(given, (int, np.integer)) else list(given)
    if isinstance(given, bool) or not all(
        isinstance(j, (int, np.integer)) and not isinstance(j, bool) for j in numbers
    ):
        raise TypeError(f"{option}={given!r}: columns of .npy files are given by their numbers")
    if len(set(numbers)) < len(numbers) or not numbers:
        raise ValueError(f"{option}={given!r}: give each column once, and at least one")
    return [int(j) for j in numbers]
