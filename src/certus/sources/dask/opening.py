"""Dask arrays, data frames and delayed blocks as tables whose parts stay on the workers.

A collection is computed once, cut into parts of good size, checked and encoded where it is:

    chunks of X, y, s  ─►  stored parts and the first pass  ─►  categories and classes of all parts
                       ─►  parts (X_b, y_b, s_b), C-contiguous
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engines.dask import start
from ...engines.direct import ask
from ...engines.on_workers import Opaque
from ...engines.workers import require_equal_workers
from ...exceptions import TableError
from ..columns import Columns
from ..encoding import BatchEncoder, Expansion, require_same_names
from ..first_pass import FirstPass
from ..parts import Place
from ..targets import codes_of_target
from .collection import (
    Chunks,
    Collection,
    PartPlaces,
    computed,
    cuts_of,
    require_equal_lengths,
)
from .failed_chunks import failures_named
from .parts import (
    ChunkKind,
    FrameReader,
    PartPlan,
    PartSummary,
    kind_of_chunk,
    readable_part,
    stored_part,
    summary_of,
)
from .request import Request, plan_of
from .table import AnswerSource, DaskTable

if TYPE_CHECKING:
    from distributed import Client


def dask_table(client: "Client", request: Request) -> DaskTable:
    """Return the rows of a collection on the workers of a client, computed and checked."""
    require_equal_workers(client)
    started: list[tuple[Collection, list[Any]]] = []
    with failures_named(started):
        return _opened(client, request, started)


def _opened(
    client: "Client", request: Request, started: list[tuple[Collection, list[Any]]]
) -> DaskTable:
    x, y, s = request.collections()
    rows = computed(client, x, started)
    edges = np.cumsum(rows.lengths[:-1]).tolist()
    targets = None if y is None else computed(client, y, started, edges)
    weights = None if s is None else computed(client, s, started, edges)
    n = sum(rows.lengths)
    require_equal_lengths(n, targets, weights)
    kinds = _kinds(client, request, rows, targets)
    chosen, plan = plan_of(request, *kinds, targets is not None, weights is not None)
    threads = max(1, sum(client.nthreads().values()))
    cuts = cuts_of(rows.lengths, len(chosen.features) * plan.dtype.itemsize, threads)
    spread_parts = PartPlaces(client, rows, len(cuts) - 1)
    stored = []
    sent = Opaque(plan)
    for i, (a, b) in enumerate(pairwise(cuts)):
        pieces = [None if c is None else c.pieces(a, b) for c in (rows, targets, weights)]
        ranges = tuple(None if ps is None else [p[1:] for p in ps] for ps in pieces)
        places = [Place(x.place(k), begin) for k, begin, _ in pieces[0] or ()]
        lengths = tuple(
            None if ps is None else [c.lengths[p[0]] for p in ps]  # type: ignore[union-attr]
            for c, ps in zip((rows, targets, weights), pieces, strict=True)
        )
        if spread_parts.slots:  # their rows are counted where they are cut
            lengths[0][:] = [stop - begin for _, begin, stop in pieces[0] or ()]  # type: ignore[index]
        part = start(
            client, stored_part, spread_parts.cut(pieces[0] or [], ranges),
            *(None if ps is None else [c.futures[p[0]] for p in ps]  # type: ignore[union-attr]
              for c, ps in zip((targets, weights), pieces[1:], strict=True)),
            sent, Opaque((ranges, places, lengths)), workers=spread_parts.workers(i),
        )  # fmt: skip
        stored.append(part)
    return _table(client, request, chosen, plan, stored, cuts)


def _table(
    client: "Client",
    request: Request,
    chosen: Columns,
    plan: PartPlan,
    stored: list[Any],
    cuts: list[int],
) -> DaskTable:
    found, encoder = _merged(ask(client, stored, summary_of), chosen, plan)
    found.require_rows("the collection", chosen.weights is not None)
    expansion = Expansion(encoder, request.drop_first)
    require_same_names(expansion.names)
    if not expansion.names:
        raise TableError("no column is left for X: each text has one category alone")
    codes = codes_of_target(encoder, chosen, plan.labels, found, request.classes)
    parts = stored
    if expansion.is_needed or codes is not None:
        with_all = Opaque((expansion, codes)), Opaque(encoder)
        parts = [start(client, readable_part, part, *with_all) for part in stored]
    is_named = plan.frame is not None
    reader = FrameReader(encoder, expansion) if expansion.is_needed else None
    table = DaskTable(
        (cuts[-1], len(expansion.names)),
        plan.dtype,
        (chosen.targets, chosen.weights),
        parts,
        [b - a for a, b in pairwise(cuts)],
        client,
        AnswerSource(request.source, chosen.features if is_named else None, reader),
    )
    table.names = expansion.names if is_named else None
    table.categories, table.missing = expansion.categories, request.missing
    if codes is not None:
        table.classes = codes.classes
    elif found.distinct is not None and found.distinct.values is not None:
        table.distinct_targets = found.distinct.values.astype(found.distinct.dtype)
    return table


def _kinds(
    client: "Client", request: Request, rows: Chunks, targets: Chunks | None
) -> tuple[ChunkKind, ChunkKind | None]:
    """Return what X and the targets hold, as their first chunks with rows say."""
    if request.is_frame:
        first = [request.source._meta_nonempty]
    else:
        first = []
    asked = [_first(rows)] if not first else []
    asked += [] if targets is None else [_first(targets)]
    kinds = [kind_of_chunk(chunk) for chunk in first]
    kinds += ask(client, asked, kind_of_chunk)
    return kinds[0], kinds[1] if len(kinds) > 1 else None


def _first(chunks: Chunks) -> Any:
    return next(c for c, n in zip(chunks.futures, chunks.lengths, strict=True) if n)


def _merged(
    summaries: Sequence[PartSummary], chosen: Columns, plan: PartPlan
) -> tuple[FirstPass, BatchEncoder]:
    """Return what was found in all parts; raise the error of the first part that has one."""
    for summary in summaries:
        if summary.error is not None:
            raise TableError(summary.error)
    first_pass = FirstPass(plan.roles, plan.distinct)
    for summary in summaries:
        assert summary.found is not None
        first_pass.include(summary.found)
    # columns of an array are numbers, whatever their kind
    kinds = chosen.kinds if plan.frame is not None else {
        name: "real" if name in chosen.features else kind for name, kind in chosen.kinds.items()
    }  # fmt: skip
    encoder = BatchEncoder(chosen._replace(kinds=kinds), plan.labels)
    texts = [v for v in encoder.features if v is not None]
    for summary in summaries:
        for vocabulary, values in zip(texts, summary.features, strict=True):
            vocabulary.include(values)
        if encoder.target is not None:
            encoder.target.include(summary.target)
    for vocabulary in encoder.vocabularies:
        vocabulary.complete = True
    return first_pass, encoder
