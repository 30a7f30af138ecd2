"""Arrow batches as arrays: numbers as they are, text as codes in the order of first occurrence.

    stored row  =  [numbers and codes of X | targets | weight]
    X           =  numbers, and for a code k of a column of text the unit vector of rank(k)

The first pass meets the categories, and only when it is done are they sorted; so rows are stored
with codes, and ``Expansion`` makes X of them when they are read.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.streamed import RowBlock
from ..exceptions import SourceChangedError, TableError
from .columns import Columns

if TYPE_CHECKING:
    import pyarrow as pa

MAX_CATEGORIES = 1000  # of a column of X, each with a column of its own
MAX_CLASSES = 10_000  # of a target of text


class Vocabulary:
    """The values of a column of text with their codes, which are the order of first occurrence."""

    def __init__(self, column: str, most: int, remedy: str):
        self.column, self.most, self.remedy = column, most, remedy
        self.codes: dict[Any, int] = {}
        self.complete = False  # after the first pass no value is new

    def encode(self, values: "pa.Array") -> np.ndarray:
        """Return the code of every value, as floats; NaN where it is missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        at = pc.fill_null(values.indices, 0).to_numpy(zero_copy_only=False)
        is_missing = values.is_null().to_numpy(zero_copy_only=False)
        n_distinct = len(values.dictionary)
        codes = np.full(max(1, n_distinct), np.nan)
        occurring = np.flatnonzero(np.bincount(at[~is_missing], minlength=n_distinct))
        if len(occurring) > self.most:
            raise self._too_many()
        found = values.dictionary.take(pa.array(occurring)).to_pylist()
        codes[occurring] = [self._code(value) for value in found]
        out = codes[at]
        out[is_missing] = np.nan
        return out

    def _code(self, value: Any) -> float:
        if value is None or value != value:
            return np.nan
        code = self.codes.get(value)
        if code is None:
            if self.complete:
                raise SourceChangedError(
                    f"column '{self.column}' holds {value!r}, which it did not when open_rows "
                    "read it first: the source has changed, open it again"
                )
            if len(self.codes) >= self.most:
                raise self._too_many()
            code = self.codes[value] = len(self.codes)
        return code

    def include(self, values: Iterable[Any]) -> None:
        """Give a code to each value that has none."""
        for value in values:
            self._code(value)

    def _too_many(self) -> TableError:
        return TableError(
            f"column '{self.column}' has more than {self.most:,} different values: {self.remedy}"
        )

    def ranked(self) -> tuple[list[Any], np.ndarray]:
        """Return the values in order, and the place of each code among them."""
        values = sorted(self.codes)
        place = {value: i for i, value in enumerate(values)}
        return values, np.array([place[value] for value in self.codes], dtype=np.intp)


class BatchEncoder:
    """Batches of the chosen columns as stored rows."""

    def __init__(self, columns: Columns, labels: bool):
        self.columns = columns
        kinds = columns.kinds
        self.dtype = np.dtype(
            np.float32
            if all(kinds[name] in ("float32", "text") for name in columns.features)
            and any(kinds[name] == "float32" for name in columns.features)
            else np.float64
        )
        self.features = [
            Vocabulary(
                name, MAX_CATEGORIES, "each would be a column of X; leave it out of columns=[…], "
                "or make numbers or fewer categories of it",
            ) if kinds[name] == "text" else None
            for name in columns.features
        ]  # fmt: skip
        self.target = (
            Vocabulary(
                columns.targets[0], MAX_CLASSES, "is it a target? Give one with fewer classes"
            )
            if labels and kinds[columns.targets[0]] == "text"
            else None
        )

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Those of X and of the target."""
        return [v for v in (*self.features, self.target) if v is not None]

    def encode(self, batch: "pa.RecordBatch") -> RowBlock:
        """Return the stored rows of a batch whose columns are ``columns.read``."""
        n, p, k = batch.num_rows, len(self.columns.features), len(self.columns.targets)
        X = np.empty((n, p), self.dtype)
        for j, vocabulary in enumerate(self.features):
            X[:, j] = _floats(batch.column(j), vocabulary)
        y = np.empty((n, k)) if k else None
        for j in range(k):
            y[:, j] = _floats(batch.column(p + j), self.target)  # type: ignore[index]
        s = _floats(batch.column(p + k), None).astype(float) if self.columns.weights else None
        return RowBlock(X, y, s)


def _floats(column: "pa.Array", vocabulary: Vocabulary | None) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if vocabulary is not None:
        return vocabulary.encode(column)
    if pa.types.is_decimal(column.type) or (
        column.null_count and not pa.types.is_floating(column.type)
    ):
        column = pc.cast(column, pa.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)


class Indicators(NamedTuple):
    """The columns of X that a column of codes becomes: one for each rank from ``dropped`` on."""

    stored: int  # column of the stored rows
    first: int  # column of X
    ranks: np.ndarray  # of each code, less the number of categories dropped


class Expansion:
    """Stored rows as rows of X, with the indicators of categories in place of their codes."""

    def __init__(self, encoder: BatchEncoder, drop_first: bool = False):
        names: list[str] = []
        self._plain: list[tuple[int, int]] = []
        self._coded: list[Indicators] = []
        self.categories: dict[str, list[Any]] = {}
        for j, (name, vocabulary) in enumerate(
            zip(encoder.columns.features, encoder.features, strict=True)
        ):
            if vocabulary is None:
                self._plain.append((j, len(names)))
                names.append(name)
                continue
            values, ranks = vocabulary.ranked()
            self.categories[name] = values
            self._coded.append(Indicators(j, len(names), ranks - drop_first))
            names += [f"{name}_{value}" for value in values[int(drop_first) :]]
        self.names = tuple(names)

    @property
    def is_needed(self) -> bool:
        """Whether rows of X differ from the stored rows."""
        return bool(self._coded)

    def expand(self, stored: np.ndarray) -> np.ndarray:
        """Return X of stored rows."""
        if not self._coded:
            return stored
        X = np.zeros((len(stored), len(self.names)), stored.dtype)
        if self._plain:
            at, to = (list(columns) for columns in zip(*self._plain, strict=True))
            X[:, to] = stored[:, at]
        for column in self._coded:
            rank = column.ranks[stored[:, column.stored].astype(np.intp)]
            rows = np.flatnonzero(rank >= 0)
            X[rows, column.first + rank[rows]] = 1
        return X


def require_same_names(names: Sequence[str]) -> None:
    """Raise ``TableError`` if an indicator has the name of another column."""
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if twice:
        raise TableError(
            f"two columns of X would be named '{twice[0]}': rename a column, since categories are "
            "columns named column_category"
        )
