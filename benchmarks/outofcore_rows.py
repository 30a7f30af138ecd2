"""Fits to a Parquet file, beside fits to the array of the same rows.

    kept        the rows that open_rows decoded once and keeps in a temporary file
    decoded     the Parquet file is decoded again in every pass
    in memory   the file as one array, which is in memory before the fit

Each is a process of its own. The first row, "open", is what comes before a fit: the first pass, or
reading the file into an array. Memory is that of opening and one fit together.
"""

import atexit
import functools
import shutil
import sys
import tempfile
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.entry import empty_cell, iterations_of
from benchmarks.fresh_process import FreshProcessFailed, available_cpus, call_in_fresh_process
from benchmarks.harness import Contestant, add_excess
from benchmarks.measure import OtherProcesses, extra_memory_of, seconds_of

WRITTEN_ROWS = 1 << 18  # that are made at a time
GROUP_ROWS = 1 << 20
CLUSTERS, SEPARATION = 8, 4.0  # of the rows; distance of their centres from 0, in σ
MAX_REPEATS = 3
GIGABYTES = "CERTUS_BENCHMARK_GIGABYTES"  # environment variable: of X as float64


def contestant(name):
    return Contestant(name, "certus", "benchmarks.outofcore_rows", "certus")


CERTUS, DECODED, IN_MEMORY = map(contestant, ("certus", "decoded", "in memory"))


def centers(p):
    """The centres of the clusters that rows are drawn from."""
    Z = np.random.default_rng(1).standard_normal((CLUSTERS, p))
    return SEPARATION * Z / np.linalg.norm(Z, axis=1, keepdims=True)


def block_of_rows(rng, rows, p):
    """X in clusters, y of a linear model and a class of a logistic one."""
    X = centers(p)[rng.integers(0, CLUSTERS, rows)] + rng.standard_normal((rows, p))
    z = X @ np.linspace(-1, 1, p)
    return (
        X,
        1 + z + rng.standard_normal(rows),
        (rng.random(rows) < 1 / (1 + np.exp(-z))).astype(int),
    )


@functools.cache
def file_of(n, p):
    """Return the path of a file of n rows, which is deleted when this process ends."""
    import pyarrow as pa
    from pyarrow import parquet

    folder = tempfile.mkdtemp(prefix="certus-benchmark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path, rng = str(Path(folder) / f"{n}.parquet"), np.random.default_rng(0)
    names = [f"x{j}" for j in range(p)]
    schema = pa.schema([*((name, pa.float64()) for name in [*names, "y"]), ("label", pa.int64())])
    with parquet.ParquetWriter(path, schema) as file:
        for start in range(0, n, WRITTEN_ROWS):
            X, y, label = block_of_rows(rng, min(WRITTEN_ROWS, n - start), p)
            columns = [*np.ascontiguousarray(X.T), y, label]
            file.write_table(pa.table(columns, schema=schema), row_group_size=GROUP_ROWS)
    return path


@dataclass(frozen=True)
class FileRow:
    """One fit to a file of n rows and p columns; without an estimator, what comes before a fit."""

    name: str
    n: int
    p: int
    module: str = ""
    estimator: str | None = None
    target: str | None = None
    params: dict = field(default_factory=dict)
    excess_limit: float = 1e-9

    def divided_by_ten(self):
        return replace(self, n=max(self.n // 10, 1000))

    def facts(self):
        shown = {key: np.asarray(value).tolist() for key, value in self.params.items()}
        return {
            "row": self.name, "estimator": self.estimator, "params": shown,
            "generator": file_of.__name__, "seed": 0, "n": self.n, "p": self.p,
            "dtype": "float64", "order": "Parquet", "threads": len(available_cpus()), "tol": None,
            "excess_limit": self.excess_limit,
        }  # fmt: skip

    def measure(self, contestants, options):
        path, warming = file_of(self.n, self.p), file_of(min(self.n, 20_000), self.p)
        repeats = min(options.repeats, MAX_REPEATS)
        cells, others = {}, []
        for entered in contestants:
            other_processes = OtherProcesses()
            try:
                cell = call_in_fresh_process(
                    measured, self, entered.name, path, warming, repeats, options.memory
                )
            except FreshProcessFailed as error:
                print(f"{self.name}, {entered.name}: {error}", file=sys.stderr)
                cell = empty_cell("process failed", failed=True)
            cells[entered.name] = cell
            others.append(other_processes.cpus_used() or 0.0)
        add_excess(cells)
        return cells, max(others)

    def opened(self, how, path):
        """The rows and, for an array, y: what is given to ``fit``."""
        names = [f"x{j}" for j in range(self.p)]
        if how == IN_MEMORY.name:
            return in_memory(path, names, self.target)
        from certus import open_rows

        return (open_rows(path, names, self.target, cache=how == CERTUS.name),)

    def fitted(self, data):
        return getattr(import_module(self.module), self.estimator)(**self.params).fit(*data)


def in_memory(path, names, target):
    """Read a file into an array, row group after row group."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        X, start = np.empty((file.metadata.num_rows, len(names))), 0
        y = None if target is None else np.empty(len(X))
        for batch in file.iter_batches(GROUP_ROWS >> 4):
            rows = slice(start, start + batch.num_rows)
            for j, name in enumerate(names):
                X[rows, j] = batch[name]
            if y is not None:
                y[rows] = batch[target]
            start = rows.stop
    return X, y


def measured(row, how, path, warming, repeats, memory):
    """Return the cell of one contestant: best seconds, objective, and memory at the peak."""
    import warnings

    warnings.simplefilter("ignore")  # fits of a fixed number of steps say that they were stopped
    cell = empty_cell()
    try:
        warm(row, how, warming)
        if row.estimator is None:
            seconds = [seconds_of(lambda: row.opened(how, path))[0] for _ in range(repeats)]
        else:
            data = row.opened(how, path)
            timed = [seconds_of(lambda: row.fitted(data)) for _ in range(repeats)]
            seconds, model = [each for each, _ in timed], timed[0][1]
            objective = model.certificate_.objective
            cell.update(objective=float(objective), iterations=iterations_of(model))
            del data, model, timed
    except TypeError as error:
        print(f"  {row.name}, {how}: {error}", file=sys.stderr)
        return empty_cell("not offered")
    cell.update(seconds=min(seconds), all_seconds=seconds)
    if memory:
        extra, method = call_in_fresh_process(memory_of, row, how, path, warming)
        shared = {} if extra is None else {"extra_memory": extra / (8 * row.n * row.p)}
        cell.update(extra_memory_bytes=extra, extra_memory_method=method, **shared)
    return cell


def warm(row, how, warming):
    """Load and compile what a fit needs; a wide problem has the kernels of a long one."""
    from certus.linear_model import Ridge

    X = np.random.default_rng(0).standard_normal((9000, 130))
    Ridge().fit(X, X[:, 0])
    data = row.opened(how, warming)
    if row.estimator is not None:
        row.fitted(data)


def memory_of(row, how, path, warming):
    """(bytes of opening and one fit, method)."""
    warm(row, how, warming)

    def call():
        data = row.opened(how, path)
        if row.estimator is not None:
            row.fitted(data)

    return extra_memory_of(call)
