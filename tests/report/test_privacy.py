"""Nothing of what only a row holds is in a file of its report: planted texts and numbers."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest

import certus
from certus.cli import main
from tests.report.command import write_table

N = 150
NUMBERS = (98765.4321, -54321.1234)


def planted() -> dict[str, list[object]]:
    """Canaries: a category and a class of one row, ids, free text, a constant, dates, numbers."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, N)).round(4)
    b[7], c[8] = NUMBERS
    city = rng.choice(["Oslo", "Bergen", "Rome"], N).tolist()
    city[5] = city[6] = "canary city"
    ill = np.where(a + 0.5 * rng.normal(size=N) > 0, "yes", "no").tolist()
    ill[9] = "canary class"
    return {
        "key": [f"canary{i:03d}" for i in range(N)],
        "a": a.tolist(),
        "b": b.tolist(),
        "c": c.tolist(),
        "city": city,
        "note": [f"canary note {i}" for i in range(N)],
        "same": ["canary same"] * N,
        "day": [f"2031-01-{1 + i % 28:02d}" for i in range(N)],
        "mixed": ["canary cell" if i == 20 else i for i in range(N)],
        "group": [f"canary group {i // 3}" for i in range(N)],
        "ill": ill,
        "price": (a + 0.3 * rng.normal(size=N)).round(4).tolist(),
    }


def leaks(folder: Path) -> list[str]:
    """Canaries in the files of a report, as text and as float64."""
    found = []
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        found += [f"{path.name}: {m[0]!r}" for m in re.finditer(rb"canary.{20}|2031-01", content)]
        for number in NUMBERS:
            digits = rf"(?<!\d){abs(number)}".encode()
            packed = struct.pack("<d", number)
            if re.search(digits, content) or packed in content:
                found.append(f"{path.name}: {number}")
    return found


@pytest.mark.costly
@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("ill", ("--models", "logistic")),
        ("ill", ("--models", "sparse-logistic", "--time", "day", "--by", "city")),
        ("ill", ("--models", "logistic", "--group", "group", "--id", "key", "--cost", "fp=1,fn=2")),
        ("price", ("--models", "ridge,lasso", "--drop", "ill")),
        (None, ("--cluster",)),
    ],
    ids=["classes", "time", "group", "numbers", "structure"],
)
def test_no_planted_text_or_number_is_in_any_file(tmp_path, target, options):
    table = write_table(tmp_path / "rows.csv", planted())
    chosen = ("--target", target) if target else ()
    out = tmp_path / "out"
    assert main(["report", str(table), *chosen, *options, "--out", str(out)]) == 0
    assert (out / "report.html").exists()
    assert not leaks(out)


@pytest.mark.costly
def test_a_model_that_keeps_rows_shows_none_on_the_page_and_says_so(tmp_path):
    table = write_table(tmp_path / "rows.csv", planted())
    out = tmp_path / "out"
    assert (
        main(["report", str(table), "--target", "ill", "--models", "knn", "--out", str(out)]) == 0
    )
    files = {path.name for path in out.iterdir()}
    assert "check.py" not in files
    (out / "model.certus").unlink()  # whoever has it has the rows
    assert not leaks(out)
    assert "keeps rows of the table" in (out / "report.md").read_text("utf-8")


def test_the_search_for_canaries_finds_them(tmp_path):
    (tmp_path / "a.md").write_text("a row of canary class, which is somewhere, and 98765.4321")
    (tmp_path / "b.bin").write_bytes(b"\0" + struct.pack("<d", NUMBERS[1]))
    assert len(leaks(tmp_path)) == 3


@pytest.mark.costly
def test_show_rows_shows_cells_of_explained_rows_alone(tmp_path):
    table = write_table(tmp_path / "rows.csv", planted())
    found = certus.report(table, "price", models="ridge", show_rows=True)
    assert found.content.cases is not None
    assert all(case.cells for case in found.content.cases.cases)
    hidden = certus.report(table, "price", models="ridge")
    assert hidden.content.cases is not None
    assert not any(case.cells for case in hidden.content.cases.cases)
