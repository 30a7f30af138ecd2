"""``.npy`` files are read where they are."""

import os

import numpy as np
import pytest

import certus
from certus.exceptions import SourceChangedError, TableError
from certus.sources import numpy_files
from tests.sources.tables_on_disk import whole


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(numpy_files, "BATCH_BYTES", 1 << 10)


def save(path, array):
    np.save(path, array)
    return path


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "u8", "?", ">f8", ">i4"])
def test_rows_are_those_of_the_array(order, dtype, tmp_path):
    X = np.asarray(np.random.default_rng(0).integers(0, 9, (500, 3)).astype(dtype), order=order)
    rows = certus.open_rows(save(tmp_path / "X.npy", X))
    read = whole(rows)[0]
    np.testing.assert_array_equal(read, X)
    assert read.dtype == rows.dtype == (np.float32 if dtype == "f4" else np.float64)
    assert read.flags.c_contiguous


def test_several_files_with_targets_and_weights_in_files_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(500, 3)), rng.normal(size=(500, 2)), rng.uniform(size=500)
    for i, (a, b) in enumerate([(0, 120), (120, 120), (120, 499), (499, 500)]):
        save(tmp_path / f"X-{i}.npy", X[a:b])
    save(tmp_path / "y.npy", np.asfortranarray(y))
    save(tmp_path / "s.npy", s)
    rows = certus.open_rows(
        tmp_path / "X-*.npy", target=tmp_path / "y.npy", weights=str(tmp_path / "s.npy")
    )
    for found, expected in zip(whole(rows), (X, y, s), strict=True):
        np.testing.assert_array_equal(found, expected)
    i = np.array([499, 120, 119, 3, 3])
    for found, expected in zip(rows.gather(i), (X[i], y[i], s[i]), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_targets_and_weights_may_be_columns(tmp_path):
    A = np.random.default_rng(0).uniform(size=(400, 5))
    path = save(tmp_path / "A.npy", A)
    rows = certus.open_rows(path, target=3, weights=0)
    for found, expected in zip(whole(rows), (A[:, [1, 2, 4]], A[:, [3]], A[:, 0]), strict=True):
        np.testing.assert_array_equal(found, expected)
    X, y, _ = whole(certus.open_rows(path, [4, 1], target=[0, 2]))
    np.testing.assert_array_equal(X, A[:, [4, 1]])
    np.testing.assert_array_equal(y, A[:, [0, 2]])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.array(["no", "yes", "a"])[np.arange(300) % 3], ["a", "no", "yes"]),
        (np.arange(300) % 2 == 0, [False, True]),
    ],
    ids=["text", "truth"],
)
def test_text_and_truth_values_are_classes(y, classes, tmp_path):
    X = save(tmp_path / "X.npy", np.ones((300, 1)))
    rows = certus.open_rows(X, target=save(tmp_path / "y.npy", y))
    assert rows.classes.tolist() == classes
    assert [classes[k] for k in whole(rows)[1][:, 0].astype(int)] == y.tolist()


def test_whole_numbers_are_classes_when_a_classifier_asks_or_the_user_says_so(tmp_path):
    y = np.arange(300) % 4 * 10
    X, path = save(tmp_path / "X.npy", np.ones((300, 1))), save(tmp_path / "y.npy", y)
    rows = certus.open_rows(X, target=path)
    assert rows.classes is None
    assert rows.distinct_targets.tolist() == [0, 10, 20, 30]
    np.testing.assert_array_equal(whole(rows)[1][:, 0], y)
    rows = certus.open_rows(X, target=path, classes=True)
    assert rows.classes.tolist() == [0, 10, 20, 30]
    np.testing.assert_array_equal(whole(rows)[1][:, 0], y // 10)
    save(tmp_path / "y.npy", y + 2**53)
    assert certus.open_rows(X, target=path).distinct_targets is None
    with pytest.raises(TableError, match=r"2\^53"):
        certus.open_rows(X, target=path, classes=True)


def refused(tmp_path):
    X = save(tmp_path / "X.npy", np.arange(12.0).reshape(6, 2))
    fields = np.zeros(3, [("a", float), ("b", float)])
    other = {
        name: save(tmp_path / f"{name}.npy", array)
        for name, array in {
            "five": np.ones(5), "wide": np.ones((6, 3)), "cube": np.ones((2, 2, 2)),
            "objects": np.array([None, 1]), "fields": fields, "complex": np.ones((2, 2)) * 1j,
            "text": np.array([["a", "b"]]), "none": np.ones((0, 2)), "nan": np.array([1, np.nan]),
            "minus": np.array([1, 1, -2.0, 1, 1, 1]), "zero": np.zeros(6), "texts": np.full(6, "a"),
        }.items()
    }  # fmt: skip
    cut = tmp_path / "cut.npy"
    cut.write_bytes(X.read_bytes()[:-8])
    damaged = tmp_path / "damaged.npy"
    damaged.write_bytes(X.read_bytes()[:40])
    return {
        "records": (other["fields"], {}, r"fields.npy holds an array of shape \(3,\) and type"),
        "three dimensions": (other["cube"], {}, "cube.npy holds an array of shape"),
        "objects": (other["objects"], {}, "objects.npy holds Python objects"),
        "complex": (other["complex"], {}, "complex.npy holds an array"),
        "text": (other["text"], {}, "text.npy holds text, and X needs numbers"),
        "no rows": (other["none"], {}, "none.npy has no rows"),
        "cut off": (cut, {}, r"cut.npy is cut off: its header states 224 bytes, and it has 216"),
        "damaged": (damaged, {}, "damaged.npy cannot be read as .npy"),
        "NaN": (other["nan"], {}, r"column 0 has a missing value \(NaN; row 1 of nan.npy"),
        "other columns": (
            [X, other["wide"]], {}, "wide.npy has 3 columns, and X.npy has 2: give files",
        ),
        "other type": (
            [X, other["text"]], {}, "text.npy holds <U1, and X.npy float64: give files",
        ),
        "no such column": (X, {"target": 2}, "X.npy has no column 2: it has columns 0 to 1"),
        "nothing left": (X, {"target": [0, 1]}, "X.npy has no columns left"),
        "short target": (
            X, {"target": other["five"]}, r"target: five.npy has 5 rows, and X.npy has 6",
        ),
        "wide weights": (X, {"weights": other["wide"]}, "weights: wide.npy has 3 columns"),
        "weight below 0": (
            X, {"weights": other["minus"]}, r"the weights, minus.npy, have -2 \(row 2 of X.npy",
        ),
        "no weight": (X, {"weights": other["zero"]}, "the weights, zero.npy, are all 0"),
        "text as numbers": (
            X, {"target": other["texts"], "classes": False}, "the target holds text",
        ),
    }  # fmt: skip


def test_what_cannot_be_rows_is_refused_by_name(tmp_path):
    for source, options, words in refused(tmp_path).values():
        with pytest.raises(TableError, match=words):
            certus.open_rows(source, **options)


def test_columns_of_npy_files_are_numbers(tmp_path):
    X = save(tmp_path / "X.npy", np.ones((6, 2)))
    with pytest.raises(TypeError, match="given by their numbers"):
        certus.open_rows(X, columns=["a"])
    with pytest.raises(ValueError, match="column 1 is in columns and is target or weights too"):
        certus.open_rows(X, columns=[0, 1], target=1)
    with pytest.raises(ValueError, match="give each column once"):
        certus.open_rows(X, columns=[0, 0])
    (tmp_path / "y.csv").write_text("y\n1\n")
    with pytest.raises(TableError, match=r"is no .npy file, as X is"):
        certus.open_rows(X, target=tmp_path / "y.csv")


def test_no_file_stays_open(tmp_path):
    path = save(tmp_path / "X.npy", np.ones((600, 2)))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    rows = certus.open_rows(path)
    whole(rows)
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


def test_another_order_of_rows_is_noticed_even_if_the_file_looks_unchanged(tmp_path, monkeypatch):
    monkeypatch.setattr("certus.sources.changes.HASHED_BYTES", 64)
    X = np.arange(1200.0).reshape(600, 2)
    path = save(tmp_path / "X.npy", X)
    rows, status = certus.open_rows(path), os.stat(path)
    save(path, X[::-1])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(SourceChangedError, match=r"X.npy has other values in row \d+ than when"):
        whole(rows)
