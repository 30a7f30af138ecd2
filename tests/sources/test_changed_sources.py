"""A source that changes between passes stops what reads it, and names where."""

import os
import shutil

import numpy as np
import pyarrow as pa
import pytest

import certus
from certus.exceptions import SourceChangedError
from certus.linear_model import Ridge
from certus.sources import arrow_rows, changes, read_ahead
from tests.sources.tables_on_disk import WRITERS, N, numbers, whole, write

CACHE = pytest.mark.parametrize("cache", [True, False], ids=["kept", "decoded in every pass"])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(arrow_rows, "BATCH_BYTES", 1 << 13)
    monkeypatch.setattr(read_ahead, "CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(changes, "HASHED_BYTES", 1 << 9)  # a row of ten


@CACHE
@pytest.mark.parametrize("ending", [*WRITERS, "npy"])
def test_a_file_that_was_written_again_is_noticed(ending, cache, tmp_path):
    path = tmp_path / f"part-1.{ending}"
    table = numbers()

    def written():
        if ending == "npy":
            np.save(path, np.column_stack(table.columns))
            return {"target": 4}
        write(table, path)
        return {"target": "y"}

    rows = certus.open_rows(path, **written(), cache=cache)
    model = Ridge().fit(rows)
    written()  # the same rows, at another time
    os.utime(path, (1, 1))
    for reads in (rows.head, lambda: Ridge().fit(rows), lambda: model.predict(rows)):
        with pytest.raises(SourceChangedError, match=f"part-1.{ending} was written again since"):
            reads()
    path.unlink()
    with pytest.raises(SourceChangedError, match=f"part-1.{ending} was removed"):
        rows.head()


@CACHE
def test_rows_of_other_files_can_still_be_read(cache, tmp_path):
    for i in range(3):
        write(numbers(seed=i), tmp_path / f"part-{i}.parquet")
    rows = certus.open_rows(tmp_path, cache=cache)
    (tmp_path / "part-2.parquet").unlink()
    rows.read(0, N)
    with pytest.raises(SourceChangedError, match=r"part-2\.parquet was removed"):
        rows.read(2 * N - 1, 2 * N + 1)


def replaced_unseen(path, table):
    """Write a file again so that it looks untouched: the same size, time and inode."""
    status = os.stat(path)
    copy = write(table, path.with_name("copy" + path.suffix))
    data = copy.read_bytes()
    copy.unlink()
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return os.stat(path).st_size == status.st_size


def test_other_rows_in_a_file_that_looks_untouched_are_noticed(tmp_path):
    table = numbers()
    paths = [write(table, tmp_path / f"part-{i}.arrows") for i in range(2)]
    rows = certus.open_rows(tmp_path, target="y", cache=False)
    Ridge().fit(rows)
    assert replaced_unseen(paths[1], table.take(np.arange(N)[::-1]))
    with pytest.raises(
        SourceChangedError,
        match=r"part-1.arrows has other values in row \d+ than when open_rows read it first .rows "
        "counted from 0.: open it again, and fit again",
    ):
        Ridge().fit(rows)


class Changing:
    """A function of batches whose rows change when they are told to."""

    def __init__(self):
        self.table = numbers()

    def __call__(self):
        return self.table.to_batches(500)


CHANGES = {
    "values": (lambda t: t.set_column(0, "x0", pa.array(np.arange(1.0 * N))), "has other values"),
    "order": (lambda t: t.take(np.roll(np.arange(N), 1)), "has other values in row "),
    "more rows": (lambda t: pa.concat_tables([t, t[:1]]), "has more than the 3,000 rows"),
    "fewer rows": (lambda t: t[:2999], "gives 2,999 rows, and gave 3,000"),
    "half the rows": (lambda t: t[:1500], "gives 1,500 rows, and gave 3,000"),
    "no rows": (lambda t: t[:0], "gives 0 rows, and gave 3,000"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_stream_that_is_another_one_in_a_later_pass_stops_the_fit(kind):
    change, words = CHANGES[kind]
    source = Changing()
    rows = certus.open_rows(source, target="y", cache=False)
    before = Ridge().fit(rows)
    table = source.table
    source.table = change(table)
    with pytest.raises(SourceChangedError, match=words) as error:
        Ridge().fit(rows)
    assert "or open it with cache=True, which keeps the rows of the first pass" in str(error.value)
    source.table = table  # and back: nothing was lost
    np.testing.assert_array_equal(Ridge().fit(rows).coef_, before.coef_)


@pytest.mark.parametrize("kind", CHANGES)
def test_rows_that_are_kept_are_those_of_the_first_pass(kind):
    source = Changing()
    rows = certus.open_rows(source, target="y", cache=True)
    before = Ridge().fit(rows)
    source.table = CHANGES[kind][0](source.table)
    np.testing.assert_array_equal(Ridge().fit(rows).coef_, before.coef_)


def test_a_new_category_in_a_later_pass_is_noticed(monkeypatch):
    monkeypatch.setattr(changes, "HASHED_BYTES", 1 << 30)
    source = Changing()
    source.table = pa.table({"a": ["x", "y"] * 500, "x": np.zeros(1000)})
    rows = certus.open_rows(source, cache=False)
    source.table = pa.table({"a": ["x", "z"] * 500, "x": np.zeros(1000)})
    with pytest.raises(SourceChangedError, match="column 'a' holds 'z', which it did not when"):
        whole(rows)


def test_a_new_class_in_a_later_pass_is_noticed(monkeypatch):
    monkeypatch.setattr(changes, "HASHED_BYTES", 1 << 30)
    source = Changing()
    source.table = pa.table({"x": np.zeros(1000), "y": [1, 3] * 500})
    rows = certus.open_rows(source, target="y", classes=True, cache=False)
    source.table = pa.table({"x": np.zeros(1000), "y": [1, 2] * 500})
    with pytest.raises(SourceChangedError, match="holds a class that it did not when"):
        rows.read(500, 1000)


def test_a_folder_that_is_removed_is_a_changed_source(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    write(numbers(), folder / "a.parquet")
    rows = certus.open_rows(folder, target="y", cache=False)
    shutil.rmtree(folder)
    with pytest.raises(SourceChangedError, match=r"a\.parquet was removed or cannot be read"):
        Ridge().fit(rows)
