"""Memory of the commands on a large CSV: ``python -m tests.tables.memory --gigabytes 1``.

Writes a table of 13 columns of numbers and 2 of categories, some cells missing, fits a linear model
to it, verifies, predicts, and prints the peak of resident memory of each command.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

ROWS_AT_ONCE = 200_000
N_NUMBERS = 12
COLOURS = np.array(["red", "green", "blue", "grey", "black"])


def write_csv(path, n_bytes):
    """A CSV file of at least this size, in blocks of rows."""
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    w = rng.normal(size=N_NUMBERS)
    with path.open("wb") as f:
        while f.tell() < n_bytes:
            X = rng.normal(size=(ROWS_AT_ONCE, N_NUMBERS)).round(5)
            colour, town = rng.integers(5, size=ROWS_AT_ONCE), rng.integers(20, size=ROWS_AT_ONCE)
            columns = {
                f"x{j}": pa.array(X[:, j], mask=(rng.random(ROWS_AT_ONCE) < 0.01) & (j < 4))
                for j in range(N_NUMBERS)
            }
            columns["colour"] = pa.array(COLOURS[colour], mask=rng.random(ROWS_AT_ONCE) < 0.01)
            columns["town"] = pa.array(np.char.add("town", town.astype(str)))
            columns["y"] = pa.array((X @ w + colour + rng.normal(size=ROWS_AT_ONCE)).round(4))
            options = csv.WriteOptions(include_header=f.tell() == 0, quoting_style="needed")
            csv.write_csv(pa.table(columns), f, options)


def peak_of(*arguments):
    """Peak of resident memory of one command, in GB."""
    pid = os.spawnv(
        os.P_NOWAIT, sys.executable, [sys.executable, "-m", "certus", *map(str, arguments)]
    )
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"certus {arguments[0]} ended with {os.waitstatus_to_exitcode(status)}")
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_maxrss * unit / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--stream", action="store_true", help="read it block by block")
    given = parser.parse_args()
    size, stream = given.gigabytes, ["--stream"] if given.stream else []
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "big.csv", Path(folder) / "big.certus"
        write_csv(path, size * 1e9)
        commands = {
            "fit": (path, "--target", "y", "--model", "linear", "--out", model, *stream),
            "verify": (model, path, *stream),
            "predict": (model, path, "--out", Path(folder) / "answers.csv", *stream),
        }
        peaks = {name: peak_of(name, *arguments) for name, arguments in commands.items()}
    for name, peak in peaks.items():
        print(f"{name:<8} {peak:.2f} GB")


if __name__ == "__main__":
    main()
