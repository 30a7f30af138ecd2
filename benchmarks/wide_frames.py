"""CPU time of Ridge, fit and predict, on wide frames over that on the array.

Run it: python -m benchmarks.wide_frames
"""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from certus.linear_model import Ridge

ROWS, COLUMNS, REPETITIONS = 72, 7_129, 60


def fit_and_predict(X, y):
    """Return the CPU time of a fit and its predictions."""
    begin = time.process_time()
    Ridge().fit(X, y).predict(X)
    return time.process_time() - begin


if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    table = {f"gene {j}": X[:, j].copy() for j in range(COLUMNS)}
    makers: dict[str, Callable[..., object]] = {
        "pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table,
    }  # fmt: skip
    given = {"array": X} | {name: make(table) for name, make in makers.items()}
    best = dict.fromkeys(given, np.inf)
    for _ in range(REPETITIONS):  # in turns, so that other processes slow all of them
        for name, frame in given.items():
            best[name] = min(best[name], fit_and_predict(frame, X[:, 0]))
    for name, seconds in best.items():
        print(f"{name:8}{1000 * seconds:6.1f} ms  {seconds / best['array']:.2f}")
