"""Tables for reports, and the command in a folder of its own."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from certus.cli import main
from tests.house.source import SOURCE

QUICK = ("--models", "logistic")
FILES = {"report.html", "report.md", "report.json", "model.certus", "check.py", "run.json"}


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def write_table(path: Path, columns: dict[str, list[object]]) -> Path:
    """Write columns as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def patients(n: int = 90, seed: int = 0) -> dict[str, list[object]]:
    """Two numbers, of which one matters, a category and a target of two classes."""
    rng = np.random.default_rng(seed)
    age, dose = rng.integers(20, 80, n), rng.normal(10, 2, n).round(3)
    ill = (age - 50) / 12 + rng.normal(size=n) > 0.4
    return {
        "age": age.tolist(),
        "dose": dose.tolist(),
        "city": rng.choice(["Oslo", "Bergen"], n).tolist(),
        "ill": np.where(ill, "yes", "no").tolist(),
    }


def run(capfd, *arguments: object) -> Ran:
    """Run a command in this process."""
    capfd.readouterr()
    code = main([str(a) for a in arguments])
    out, err = capfd.readouterr()
    return Ran(code, out, err)


def process(*arguments: object, cwd: Path, **options) -> subprocess.Popen:
    """Run a command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "certus", *map(str, arguments)],
        cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip
