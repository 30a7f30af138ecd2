"""Rows that are kept in temporary files: deleted in the end, and never half-written."""

import errno
import gc
import os
from collections import namedtuple

import numpy as np
import pyarrow as pa
import pytest

import certus
from certus.linear_model import Ridge
from certus.sources import arrow_rows, kept
from tests.sources.tables_on_disk import N, arrays, numbers, whole, write


@pytest.fixture(autouse=True)
def temporary(monkeypatch, tmp_path_factory):
    """The folder of temporary files, which is empty after the test."""
    monkeypatch.setattr(arrow_rows, "BATCH_BYTES", 1 << 13)
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    gc.collect()
    assert not list(folder.iterdir())


def open_files():
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("open files are listed by Linux only")
    return sum(map(is_a_file, os.listdir("/proc/self/fd")))


def is_a_file(number):
    """Whether it is a file, deleted or not; sockets and pipes are those of other threads."""
    try:
        target = os.readlink(f"/proc/self/fd/{number}")
    except OSError:  # that of the listing
        return False
    return target.startswith("/") and not target.startswith(("/dev/", "/proc/"))


@pytest.fixture
def path(tmp_path):
    return write(numbers(), tmp_path / "rows.parquet")


def full(monkeypatch, after):
    """Let the disk be full after so many writes."""
    writes = iter(range(after))

    def write_from(*_):
        if next(writes, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept, "write_from", write_from)


def test_a_full_disk_stops_with_what_to_do(path, monkeypatch):
    Ridge().fit(certus.open_rows(path, target="y"))  # whatever is opened once is open
    gc.collect()
    before = open_files()
    full(monkeypatch, after=20)
    with pytest.raises(kept.DiskFullError) as error:
        certus.open_rows(path, target="y", cache=True)
    assert "is full after 2,560 rows were kept there, which are deleted. Set TMPDIR" in (
        str(error.value)
    )
    with pytest.raises(kept.DiskFullError, match="is full after"):
        certus.open_rows(numbers().to_reader(), target="y")
    del error
    gc.collect()
    assert open_files() == before


def test_a_disk_that_fills_up_makes_rows_be_decoded_again_if_that_is_possible(path, monkeypatch):
    full(monkeypatch, after=20)
    rows = certus.open_rows(path, target="y", weights="s")
    assert "is full after" in rows.notes[0]
    assert rows.notes[1] == "rows are decoded again in every pass"
    np.testing.assert_array_equal(whole(rows)[0], arrays(numbers())[0])


Usage = namedtuple("Usage", "total used free")


def test_a_disk_without_room_is_noticed_before_anything_is_written(path, monkeypatch):
    monkeypatch.setattr(kept.shutil, "disk_usage", lambda _: Usage(10**9, 0, 50 * 10**6 + 100_000))
    with pytest.raises(kept.DiskFullError) as error:
        certus.open_rows(path, target="y", weights="s", cache=True)
    assert "they take 144 kB, and 50.1 MB are free. Set TMPDIR to a folder" in str(error.value)
    rows = certus.open_rows(path, target="y")
    assert "no room in " in rows.notes[0]
    assert rows.notes[1] == "rows are decoded again in every pass"


def test_a_stream_of_unknown_length_stops_before_the_disk_is_full(monkeypatch):
    free = iter([10**9, 10**9, 10**7])
    monkeypatch.setattr(kept, "CHECKED_BYTES", 1 << 15)
    monkeypatch.setattr(kept.shutil, "disk_usage", lambda _: Usage(10**9, 0, next(free)))
    with pytest.raises(kept.DiskFullError, match="10 MB are free"):
        certus.open_rows(numbers().to_reader(), target="y")


@pytest.mark.parametrize("ends", ["close", "with", "collected"])
def test_the_files_are_gone_when_the_table_is(ends, path):
    Ridge().fit(certus.open_rows(path, target="y", cache=False))
    gc.collect()
    before = open_files()
    rows = certus.open_rows(path, target="y", cache=True)
    assert open_files() > before
    if ends == "with":
        with rows:
            pass
    elif ends == "close":
        rows.close()
    else:
        del rows
        gc.collect()
    assert open_files() == before


def test_a_reading_that_fails_leaves_no_file(path):
    certus.open_rows(path, target="y").close()
    before = open_files()
    table = numbers()
    column = np.ones(N)
    column[100] = np.nan
    write(table.set_column(0, "x0", pa.array(column)), path)
    for cache in (True, False, "auto"):
        with pytest.raises(ValueError, match="row 100 of") as error:
            certus.open_rows(path, target="y", cache=cache)
        assert open_files() == before  # while somebody holds the error with its frames
        assert error.traceback


def test_a_function_that_fails_in_the_middle_leaves_no_file():
    def batches():
        yield from numbers().to_batches(100)
        raise KeyError("the end")

    certus.open_rows(numbers(), target="y").close()
    before = open_files()
    with pytest.raises(KeyError, match="the end"):
        certus.open_rows(batches, target="y")
    gc.collect()
    assert open_files() == before


def test_sizes_are_in_words():
    assert [kept.size_in_words(n) for n in (144_000, 2.5e6, 4e9)] == ["144 kB", "2.5 MB", "4 GB"]
