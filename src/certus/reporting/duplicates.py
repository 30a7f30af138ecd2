"""Which rows are equal in every used column.

Columns are coded one after the other; rows that differ in the columns so far are never compared
again, and once all differ the rest is not read.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


def codes_of(values: "pa.ChunkedArray") -> np.ndarray:
    """Codes of the values of a column, in the order of their first rows; −1 where one is missing.

    NaN counts as missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    encoded = values.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):  # before Arrow 18, of an array without chunks
        encoded = encoded.combine_chunks()
    return np.array(pc.fill_null(encoded.indices.cast(pa.int64()), -1).to_numpy())


def codes_of_rows(X: "pa.Table") -> np.ndarray:
    """Codes (n,) that equal rows share, in the order of their first rows."""
    n = len(X)
    codes = np.zeros(n, dtype=np.int64)
    n_codes = min(n, 1)
    for column in X.columns:
        if n_codes == n:
            break
        of_column = codes_of(column) + 1
        _, codes = np.unique(
            codes * (of_column.max(initial=0) + 1) + of_column, return_inverse=True
        )
        n_codes = int(codes.max(initial=-1)) + 1
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[codes]
