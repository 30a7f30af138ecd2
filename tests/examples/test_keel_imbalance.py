"""The KEEL study reads what KEEL writes, and sees no row that it is asked to predict."""

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).parents[2] / "examples" / "keel_imbalance.py"
HEAD = """@relation made
@attribute A1 real [0.0, 9.0]
@attribute Sex {M, F,I}
@attribute Class {positive, negative}
@inputs A1, Sex
@outputs Class
@data
"""


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location(PROGRAM.stem, PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(seed, n=60):
    rng = np.random.default_rng(seed)
    for i in range(n):
        kind = "positive" if i % 6 == 0 else "negative"
        a = rng.normal() + 3 * (kind == "positive")
        yield f"{a:.3f}, {rng.choice(['M', 'F', 'I'])},{kind}\n"


def test_numbers_categories_gaps_and_classes_are_read(example):
    text = HEAD + "1.5, M, negative\n2, I,positive\n<null>, F, negative\n\n"
    table, kinds, y = example.read_keel(text.splitlines())
    assert kinds == [None, ["F", "I", "M"]]
    assert y.tolist() == [False, True]
    assert example.numbers(table, kinds).tolist() == [[1.5, 0, 0, 1], [2, 0, 1, 0]]


def zipped(folder, name="made"):
    with zipfile.ZipFile(folder / f"{name}-5-fold.zip", "w") as files:
        for fold in range(1, 6):
            files.writestr(f"{name}-5-{fold}tra.dat", HEAD + "".join(lines(fold)))
            files.writestr(f"{name}-5-{fold}tst.dat", HEAD + "".join(lines(10 + fold, 24)))
    return folder / f"{name}-5-fold.zip"


def test_the_folds_are_those_of_the_archive(example, tmp_path):
    found = list(example.folds(zipped(tmp_path)))
    assert [(len(X), len(new)) for X, _, new, _ in found] == [(60, 24)] * 5
    first = float(next(lines(13)).split(",")[0])
    assert found[2][2][0, 0] == first


def test_a_plain_file_is_parted_with_the_share_of_each_class(example, tmp_path):
    (tmp_path / "made.dat").write_text(HEAD + "".join(lines(0)))
    found = list(example.folds(tmp_path / "made.dat"))
    assert [int(y_new.sum()) for *_, y_new in found] == [2] * 5
    assert sum(len(y_new) for *_, y_new in found) == 60


def test_class_weights_find_more_of_the_minority_than_density_alone(example, tmp_path):
    means = example.study(zipped(tmp_path)).mean(axis=0)
    assert means.shape == (3, 2)
    balanced, density, both = means[:, 0]
    assert balanced > density
    assert both > density
    assert (means[:, 1] > 0.8).all(), "the ranking hardly differs"


def test_the_command_prints_a_table_of_a_folder(tmp_path):
    zipped(tmp_path), zipped(tmp_path, "other")
    done = subprocess.run(
        [sys.executable, PROGRAM, tmp_path, "made"],
        capture_output=True, encoding="utf-8", timeout=300, check=True,
        env={"PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(PROGRAM.parents[1] / "src")},
    )  # fmt: skip
    heading, _, one, mean = done.stdout.splitlines()
    assert heading == "| G-mean, ROC area | class weights | density | both |"
    assert one.startswith("| made | 0.")
    assert mean.replace("mean of 1", "made") == one
