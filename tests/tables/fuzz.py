"""Fuzz the reader of tables: ``python -m tests.tables.fuzz --inputs 100000``.

Tables in all formats are damaged, byte by byte or cell by cell, and random bytes are tried too.
Whatever comes of it, reading must end in a table or in ``TableError``, within a time, and must not
start a process or open a connection.
"""

import argparse
import bz2
import collections
import gzip
import io
import time
import warnings

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

from certus.exceptions import TableError
from certus.tables import Table, read_table
from tests.model_files.fuzz import forbidden_events, limited

SECONDS = 20  # of CPU time that one input may take
CELLS = [
    "", "1", "-2.5", "1,5", "1.234,5", "007", "1e400", "inf", "nan", "NA", "-", "true", "no", "x",
    "Å", '"', '""', '"a\nb"', "\r", "\x00", "2020-01-31", "12%", "$5", "9" * 40, "0x1F", "1_000",
    "\ufeff", "−5", "1 234", "<script>", "a" * 5000, ";", ",", "\t", "|", "'", "\\", "\u2028",
    "sep=;",
]  # fmt: skip
ENCODINGS = ["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "utf-32"]


def originals() -> list[bytes]:
    """Tables in all formats."""
    data = pa.table(
        {
            "i": [1, 2, None, 4, 5] * 5,
            "x": [0.5, None, 2.5, -1.0, 1e9] * 5,
            "t": ["a", "b", None, "ü", "a"] * 5,
            "d": pa.array(["u", "v", "u", None, "v"] * 5).dictionary_encode(),
            "b": [True, False, None, True, True] * 5,
            "l": [[1], [2, 3], None, [], [4]] * 5,
            "when": pa.array([10**15, 2, None, 4, 5] * 5, pa.timestamp("us")),
        }
    )
    files = []
    for write in (
        parquet.write_table,
        lambda d, s: parquet.write_table(d, s, compression="gzip", use_dictionary=False),
        feather.write_feather,
        lambda d, s: feather.write_feather(d, s, compression="uncompressed"),
        _write_stream,
        lambda d, s: np.save(s, np.arange(20.0).reshape(10, 2)),
        lambda d, s: np.save(s, np.array([(1, "a"), (2, "b")], dtype=[("n", ">i4"), ("t", "U2")])),
    ):
        stream = io.BytesIO()
        write(data, stream)
        files.append(stream.getvalue())
    return files


def _write_stream(data: pa.Table, stream: io.BytesIO) -> None:
    with pa.ipc.new_stream(stream, data.schema) as writer:
        writer.write_table(data)


# --- damage ---------------------------------------------------------------------------------------


def damaged(rng: np.random.Generator, files: list[bytes]) -> bytes:
    """Random bytes, a random text table, or one of the files, changed."""
    kind = rng.random()
    if kind < 0.05:
        content = rng.integers(256, size=rng.integers(300), dtype=np.uint8).tobytes()
    elif kind < 0.5:
        content = _text(rng)
    else:
        content = files[rng.integers(len(files))]
        if rng.random() < 0.05:
            content = gzip.compress(content)
    for _ in range(rng.integers(0 if kind < 0.5 else 1, 3)):
        content = _changed(rng, content)
    return content


def _text(rng: np.random.Generator) -> bytes:
    delimiter = rng.choice([",", ";", "\t", "|", " "])
    end = rng.choice(["\n", "\r\n", "\r"])
    n_columns = rng.integers(1, 6)
    pool = rng.choice(CELLS, size=rng.integers(1, 8)).tolist()
    rows = []
    for _ in range(rng.integers(0, 30)):
        cells = rng.choice(pool, size=n_columns).tolist()
        if rng.random() < 0.02:
            cells.append("more")
        rows.append(delimiter.join(cells))
    text = end.join([delimiter.join("abcdef"[:n_columns]), *rows, ""])
    content = text.encode(ENCODINGS[rng.integers(len(ENCODINGS))], errors="replace")
    if rng.random() < 0.1:
        content = rng.choice([gzip.compress, bz2.compress])(content)
    return content


def _changed(rng: np.random.Generator, content: bytes) -> bytes:
    if not content:
        return content
    if rng.random() < 0.5:
        changed = bytearray(content)
        for _ in range(rng.integers(1, 8)):
            changed[rng.integers(len(changed))] = rng.integers(256)
        return bytes(changed)
    a, b = np.sort(rng.integers(len(content) + 1, size=2))
    return content[:a] + content[b:] if rng.random() < 0.5 else content[:b] + content[a:]


# --- one input ------------------------------------------------------------------------------------


def outcome(content: bytes) -> str:
    """ "read" or "refused"; anything else raises."""
    try:
        table = read_table(io.BytesIO(content))
    except TableError:
        return "refused"
    assert isinstance(table, Table)
    assert table.report.lines()
    table.schema()
    return "read"


def run(inputs: int, seed: int = 0, seconds: float = float("inf"), report=None) -> dict[str, int]:
    """Counts of outcomes; raises at the first input that breaks the rule, naming its number."""
    files, counts = originals(), collections.Counter()
    end = time.monotonic() + seconds
    with forbidden_events() as events, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for content in files:
            assert outcome(content) == "read"
        for number in range(inputs):
            content = damaged(np.random.default_rng([seed, number]), files)
            with limited(SECONDS, f"input {number} of seed {seed}"):
                counts[outcome(content)] += 1
            assert not events, f"input {number} of seed {seed}: {events}"
            if report is not None and number % 1000 == 999:
                report(number + 1, counts)
            if time.monotonic() > end:
                break
    return dict(counts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tables.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    how = parser.parse_args()
    counts = run(how.inputs, how.seed, report=lambda n, c: print(f"{n:,}: {dict(c)}", flush=True))
    print(counts)


if __name__ == "__main__":
    main()
