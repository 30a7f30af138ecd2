"""Reading ahead: the same rows in any order of questions; threads end, whatever happens."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import certus
from certus.data.streamed import RowBlock
from certus.runtime.pool import run_on_threads
from certus.sources import arrow_rows, read_ahead
from certus.sources.read_ahead import DecodedRows, ahead
from tests.sources.tables_on_disk import N, arrays, numbers, write


def reading_threads():
    return [t for t in threading.enumerate() if t.name == "certus read-ahead"]


@pytest.fixture(autouse=True)
def threads_end(monkeypatch):
    monkeypatch.setattr(arrow_rows, "BATCH_BYTES", 1 << 13)
    monkeypatch.setattr(read_ahead, "CHUNK_BYTES", 1 << 12)
    yield
    gc.collect()
    deadline = time.monotonic() + 10
    while reading_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not reading_threads()


# --- one pass -------------------------------------------------------------------------------------


def test_items_come_in_order_and_no_more_than_depth_are_read_ahead():
    read = []

    def items():
        for i in range(50):
            read.append(i)
            yield i

    for got in ahead(items(), depth=2):
        assert len(read) <= got + 1 + 2 + 1  # taken, waiting, and in the thread's hand
    assert read == list(range(50))


def test_an_error_of_the_iterator_comes_after_its_items():
    def items():
        yield 1
        raise OSError("gone")

    got = ahead(items())
    assert next(got) == 1
    with pytest.raises(OSError, match="gone"):
        next(got)


def test_an_iterator_that_is_left_is_closed():
    closed = threading.Event()

    def items():
        try:
            yield from range(1000)
        finally:
            closed.set()

    got = ahead(items())
    next(got)
    got.close()
    assert closed.is_set()


# --- rows in any order ----------------------------------------------------------------------------


class Counting:
    """A source of the numbers 0 … n − 1 that counts how often it is begun."""

    row_bytes = 8

    def __init__(self, n, fails_at=None):
        self.n, self.fails_at, self.begun = n, fails_at, 0

    def rows_from(self, start):
        self.begun += 1
        for row in range(start, self.n, 100):
            if self.fails_at is not None and row + 100 > self.fails_at:
                raise OSError("the disk is gone")
            X = np.arange(row, min(self.n, row + 100), dtype=float)[:, None]
            yield RowBlock(X, None, None)


def rows_of(block):
    return block.X[:, 0].astype(int).tolist()


def test_a_pass_in_order_reads_the_source_once():
    source = Counting(20_000)
    rows = DecodedRows(source, 20_000)
    for start in range(0, 20_000, 130):
        stop = min(20_000, start + 130)
        assert rows_of(rows.read(start, stop)) == list(range(start, stop))
    assert source.begun == 1
    rows.close()


def test_questions_may_come_in_any_order():
    source = Counting(20_000)
    rows = DecodedRows(source, 20_000)
    rng = np.random.default_rng(0)
    for start in rng.integers(0, 20_000, 60):
        stop = min(20_000, start + 700)
        assert rows_of(rows.read(start, stop)) == list(range(start, stop))
    assert rows.read(5, 5).X.shape == (0, 1)
    rows.close()


@pytest.mark.parametrize("passes", [1, 3], ids=["a pass", "three passes at once"])
def test_threads_that_share_passes_get_their_rows(passes):
    n = 40_000
    rows = DecodedRows(Counting(n), n)
    edges = [(a, min(n, a + 333)) for a in range(0, n, 333)]
    found = np.zeros((passes, n))

    def of_pass(k):
        def one(i):
            start, stop = edges[i]
            found[k, start:stop] = rows.read(start, stop).X[:, 0]

        run_on_threads(one, len(edges), 2)

    threads = [threading.Thread(target=of_pass, args=(k,)) for k in range(passes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    np.testing.assert_array_equal(found, np.tile(np.arange(n), (passes, 1)))
    rows.close()


def test_no_more_chunks_are_in_memory_than_stated(monkeypatch):
    rows = DecodedRows(Counting(100_000), 100_000)
    for start in range(0, 100_000, 1000):
        rows.read(start, start + 1000)
        assert len(rows._ready) <= read_ahead.MAX_CHUNKS
    rows.close()


def test_an_error_reaches_who_asks_and_a_later_question_may_succeed():
    source = Counting(10_000, fails_at=6000)
    rows = DecodedRows(source, 10_000)
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is gone"):
            rows.read(0, 10_000)
    source.fails_at = None
    assert rows_of(rows.read(8000, 8003)) == [8000, 8001, 8002]
    rows.close()


def test_rows_that_are_closed_are_not_read():
    rows = DecodedRows(Counting(10_000), 10_000)
    rows.read(0, 100)
    rows.close()
    assert not reading_threads()
    with pytest.raises(ValueError, match="the table was closed while it was read"):
        rows.read(5000, 5001)


def test_a_table_that_is_forgotten_in_the_middle_of_a_pass_stops_its_thread(tmp_path):
    path = write(numbers(), tmp_path / "rows.parquet")
    rows = certus.open_rows(path, target="y", cache=False)
    rows.read(0, 10)
    del rows


# --- forks and Ctrl-C -----------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("cache", [True, False], ids=["kept", "decoded in every pass"])
def test_a_fork_in_the_middle_of_a_pass_reads_its_rows(cache, tmp_path):
    table = numbers()
    path = write(table, tmp_path / "rows.feather")
    rows = certus.open_rows(path, target="y", weights="s", cache=cache)
    rows.read(0, 10)
    child = os.fork()
    if child == 0:
        try:
            same = np.array_equal(rows.read(0, N).X, arrays(table)[0])
            os._exit(0 if same else 1)
        finally:
            os._exit(2)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child waits for a thread that stayed in its parent")
        time.sleep(0.01)
    assert ended[1] == 0
    np.testing.assert_array_equal(rows.read(0, N).X, arrays(table)[0])


INTERRUPTED = """
import os, signal, threading, time
import pyarrow as pa
import certus

def batches():
    for i in range(10**9):
        if i == 30:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        if i > 30:
            time.sleep(0.01)
        yield pa.record_batch({"x": [1.0, float(i)], "y": [float(i), 0.0]})

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    certus.open_rows(batches, target="y")
except KeyboardInterrupt:
    print("opening was interrupted")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_ctrl_c_interrupts_opening():
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60
    )
    assert run.stdout == "opening was interrupted\n"
    assert not run.stderr


WAITING = """
import os, signal, threading, time
import numpy as np
from certus.data.streamed import RowBlock
from certus.sources.read_ahead import DecodedRows

class Slow:
    row_bytes = 1 << 22
    def rows_from(self, start):
        for row in range(start, 1000):
            time.sleep(0.5 if row > 3 else 0)
            yield RowBlock(np.zeros((1, 1)), None, None)

signal.signal(signal.SIGINT, signal.default_int_handler)
rows = DecodedRows(Slow(), 1000)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    rows.read(0, 1000)
except KeyboardInterrupt:
    print("reading was interrupted")
rows.close()
print([t.name for t in threading.enumerate()])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_ctrl_c_interrupts_a_wait_for_rows_and_the_thread_ends():
    run = subprocess.run(
        [sys.executable, "-c", WAITING], capture_output=True, text=True, timeout=60
    )
    assert run.stdout == "reading was interrupted\n['MainThread']\n"
    assert not run.stderr


def test_a_process_that_ends_in_the_middle_of_a_pass_ends_quietly(tmp_path):
    path = write(numbers(), tmp_path / "rows.parquet")
    code = (
        "import certus\n"
        "from certus.sources import read_ahead\n"
        "read_ahead.CHUNK_BYTES = 1 << 10\n"
        f"rows = certus.open_rows({str(path)!r}, target='y', cache=False)\n"
        "rows.read(0, 10)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
