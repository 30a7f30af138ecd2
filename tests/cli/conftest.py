"""Tables and a model file, as a new user has them."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from certus.cli import main

N_ROWS = 60
HEADER = ["patient_id", "age", "dose", "city", "ill"]


def rows_of(seed: int = 0) -> list[list[object]]:
    """Patients: an id, two numbers (a dose is missing), a category and the target."""
    rng = np.random.default_rng(seed)
    rows: list[list[object]] = []
    for i in range(N_ROWS):
        age, dose = int(rng.integers(20, 80)), round(float(rng.normal(10, 2)), 3)
        city = str(rng.choice(["Oslo", "Bergen", "Tromsø"]))
        ill = "yes" if age / 20 + rng.normal() > 2.5 else "no"
        rows.append([f"p{i:03d}", age, "NA" if i == 3 else dose, city, ill])
    return rows


def write_csv(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with patients.csv."""
    write_csv(tmp_path / "patients.csv", HEADER, rows_of())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def certus(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command in the folder, in this process."""

    def run(*arguments: object) -> Ran:
        capfd.readouterr()
        code = main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def model(certus: Callable[..., Ran]) -> str:
    """A model file of the patients."""
    assert certus("fit", "patients.csv", "--target", "ill", "--out", "m.certus").code == 0
    return "m.certus"


@pytest.fixture
def patients() -> list[list[Any]]:
    return rows_of()
