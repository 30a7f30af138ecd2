"""Small tables written in every kind of file that ``open_rows`` reads."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet

N = 3000


def numbers(n=N, p=4, seed=0):
    """Columns x0 … and the target y, a line in them with noise; weights s."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + np.arange(p)
    y = X @ np.arange(1.0, p + 1) + rng.normal(size=n)
    columns = {f"x{j}": X[:, j] for j in range(p)} | {"y": y, "s": rng.integers(0, 3, n) * 1.0}
    return pa.table(columns)


def arrays(table, target="y", weights="s"):
    """X, y and s of a table of numbers."""
    names = [name for name in table.column_names if name not in (target, weights)]
    X = np.column_stack([table[name].to_numpy() for name in names])
    return X, table[target].to_numpy(), table[weights].to_numpy()


def write_parquet(table, path: Path, **options) -> Path:
    parquet.write_table(table, path, **options)
    return path


def write_feather(table, path: Path) -> Path:
    feather.write_feather(table, path, chunksize=700)
    return path


def write_stream(table, path: Path) -> Path:
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=700)
    return path


def write_csv(table, path: Path) -> Path:
    csv.write_csv(table, path)
    return path


def write_text(text: str, path: Path, encoding="utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


WRITERS = {
    "parquet": write_parquet, "feather": write_feather, "arrows": write_stream, "csv": write_csv,
}  # fmt: skip


def write(table, path: Path) -> Path:
    """Write a table in the format that the end of the name says."""
    return WRITERS[path.suffix[1:]](table, path)


def whole(rows):
    """X, y and s of all rows of an opened table, which are read in several blocks."""
    n = rows.shape[0]
    edges = sorted({0, n // 3, n // 2, n})
    blocks = [rows.read(a, b) for a, b in pairwise(edges)]
    return [None if part[0] is None else np.concatenate(part) for part in zip(*blocks, strict=True)]
