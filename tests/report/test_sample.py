"""A report about a sample of the rows says so, and can be checked on the whole."""

import contextlib
import io
import json

import numpy as np
import pytest

from certus.cli import main
from certus.cli.command import _parser
from certus.cli.files import opening
from certus.cli.report import _read
from certus.exceptions import TableError, UsageError
from certus.reporting.prepare import prepare
from certus.reporting.settings import Settings
from certus.sources import FileTable, read_sample
from certus.sources import samples as module
from certus.sources.samples import rows_by_number
from certus.tables import read_table
from tests.report.command import QUICK, patients, run, write_table

N, M = 400, 150


def tables(folder):
    """Write the visits as one file and as two; a visit has no target."""
    columns = {"visit": list(range(1, N + 1)), **patients(N)}
    columns["ill"] = ["" if i == 20 else ill for i, ill in enumerate(columns["ill"])]
    write_table(folder / "all.csv", columns)
    for name, rows in (("v1.csv", slice(0, 170)), ("v2.csv", slice(170, N))):
        write_table(folder / name, {k: v[rows] for k, v in columns.items()})


@pytest.fixture
def files(tmp_path, monkeypatch):
    tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- the sample -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 7, M, N - 1])
def test_a_sample_has_that_many_different_rows_in_their_order(files, rows):
    table = read_sample("all.csv", rows)
    numbers = table.sample.numbers
    assert len(numbers) == rows == table.report.n_rows
    assert (np.diff(numbers) > 0).all()
    assert table.data.column("visit").to_pylist() == numbers.tolist()
    assert table.report.lines()[0] == f"all.csv: CSV, a sample of {rows:,} of {N} rows"


def test_the_same_seed_draws_the_same_rows_however_they_are_read(files, monkeypatch):
    numbers = read_sample("all.csv", M).sample.numbers
    np.testing.assert_array_equal(read_sample(["v1.csv", "v2.csv"], M).sample.numbers, numbers)
    monkeypatch.setattr(module, "BLOCK_VALUES", 5 * 256)
    np.testing.assert_array_equal(read_sample("v?.csv", M).sample.numbers, numbers)
    assert not np.array_equal(read_sample("all.csv", M, seed=1).sample.numbers, numbers)


def test_every_row_is_as_likely_as_any_other(files):
    drawn = np.concatenate([read_sample("all.csv", 20, seed=s).sample.numbers for s in range(40)])
    first_half = np.mean(drawn <= N // 2)
    assert abs(first_half - 0.5) < 4 * 0.5 / np.sqrt(len(drawn))


def test_few_rows_are_all_read_and_are_no_sample(files):
    table, whole = read_sample("all.csv", N), read_table("all.csv")
    assert table.sample is None
    assert table.data.equals(whole.data)
    assert table.columns == whole.columns


def test_rows_are_read_by_their_numbers(files):
    numbers = np.array([400, 3, 171, 170])
    table = rows_by_number(FileTable(["v1.csv", "v2.csv"]), ["visit", "age"], numbers)
    assert table.data.column("visit").to_pylist() == numbers.tolist()
    with pytest.raises(TableError, match=r"all\.csv has 400 rows, .* row 401"):
        rows_by_number(FileTable("all.csv"), ["visit"], np.array([7, 401]))


def test_cells_of_a_sample_are_named_by_their_rows_in_the_file(files):
    columns = {"x": [1.0 + i for i in range(N)], "y": [0.5 * i for i in range(N)]}
    columns["x"][320] = float("inf")
    columns["y"][321] = ""
    write_table(files / "odd.csv", columns)
    table = read_sample("odd.csv", N - 1, seed=3)
    assert {321, 322} <= set(table.sample.numbers.tolist())
    assert len(table.data) < N
    with pytest.raises(TableError, match=r"'x' is infinite in 1 row \(row 321\)"):
        table.select(["x"])
    with pytest.raises(TableError, match=r"'y' is missing in 1 row \(row 322\)"):
        table.target("y")


def test_a_sample_without_rows_is_refused(files):
    with pytest.raises(UsageError, match="a sample of 0 rows: give a number from 1 up"):
        read_sample("all.csv", 0)


# --- the report -----------------------------------------------------------------------------------

STATED = f"a sample of {M} of {N} rows"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report about a sample, and what the command printed to stderr."""
    folder = tmp_path_factory.mktemp("sampled")
    tables(folder)
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stderr(said):
        code = main(["report", "v1.csv", "v2.csv", "--sample", str(M), "--target", "ill", "--drop",
                     "visit", *QUICK, "--out", "page"])  # fmt: skip
    assert code == 0, said.getvalue()
    return folder, said.getvalue()


@pytest.fixture
def document(report):
    return json.loads((report[0] / "page" / "report.json").read_text("utf-8"))


def test_page_markdown_and_json_state_the_sample(report, document):
    folder, said = report
    assert STATED in said
    for name in ("report.html", "report.md", "report.json"):
        assert STATED in (folder / "page" / name).read_text("utf-8")
    assert document["question"]["n_rows"] <= M
    assert document["notes"][0]["text"].startswith(f"This report is about {STATED}, drawn at")
    assert not (folder / "page" / "check.py").exists()
    assert "some of the rows" in document["reproduction"]["script_reason"]


def test_the_model_is_verified_on_the_rows_of_the_sample_in_the_whole(
    report, document, capfd, monkeypatch
):
    monkeypatch.chdir(report[0])
    recheck = document["reproduction"]["recheck"]
    assert recheck == "certus verify model.certus v1.csv v2.csv"
    given = recheck.split()[3:]
    for table in (given, ["all.csv"], ["all.csv", "--stream"], ["all.csv", "--by", "page"]):
        ran = run(capfd, "verify", "page/model.certus", *table)
        assert ran.code == 0, ran.err
        assert f"rows of {N}: the model was fitted" in ran.err
    short = run(capfd, "verify", "page/model.certus", "v1.csv", "--stream")
    assert short.code == 3
    assert "v1.csv has 170 rows" in short.err


def test_the_snippet_draws_the_sample_again(report, document, monkeypatch):
    monkeypatch.chdir(report[0])
    snippet = document["reproduction"]["snippet"]
    assert f'read_sample(["v1.csv", "v2.csv"], rows={M}, seed=0)' in snippet
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(snippet)
    assert float(printed.getvalue().split()[-1]) == document["reproduction"]["value"]


def test_a_row_without_a_target_is_named_by_its_number_in_the_whole(files):
    numbers = np.r_[5:300:2]  # row 21 has no target
    table = rows_by_number(FileTable("all.csv"), ["visit", "age", "ill"], numbers)
    found = prepare(table, Settings(target="ill", drop=("visit",)))
    assert "1 row without a target (row 21)" in found.dropped
    np.testing.assert_array_equal(found.row_numbers, np.delete(numbers, 8))
    visits = found.table.data.column("visit").to_numpy()[found.positions]
    np.testing.assert_array_equal(visits, found.row_numbers)


def test_files_that_take_much_of_the_memory_are_sampled(files, monkeypatch):
    monkeypatch.setattr(opening, "available_memory", lambda: 1000)
    monkeypatch.setattr(module, "ROWS", M)
    args = _parser()[0].parse_args(["report", "all.csv", "--target", "ill", "--seed", "3"])
    found = _read(args)
    np.testing.assert_array_equal(
        found.sample.numbers, read_sample("all.csv", M, seed=3).sample.numbers
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["-", "--sample", "5", "--target", "ill"], "standard input is read as a whole"),
        (["all.csv", "--sample", "0", "--target", "ill"], "a sample of 0 rows"),
        (["all.csv", "--sample", "9", "--demo"], "--demo reads its own table"),
    ],
)
def test_samples_that_make_no_sense_are_refused(files, capfd, given, message):
    ran = run(capfd, "report", *given)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
