"""``certificate_.export``: a script that recomputes the claim where certus does not exist."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from certus.exceptions import AliasWarning, NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge
from tests.contract.laws import ESTIMATORS
from tests.contract.problems import regression, weights

ABSENT = ["certus", "scipy", "sklearn", "numba", "threadpoolctl", "joblib", "pandas"]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """An environment in which only NumPy can be imported."""
    folder = tmp_path_factory.mktemp("absent")
    for name in ABSENT:
        (folder / f"{name}.py").write_text(f"raise ImportError('there is no {name} here')")
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"}

    def run(*arguments, cwd):
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=cwd, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    return run


def saved(folder, **arrays):
    """Arrays as files; the names of those that are there, in the order that the script wants."""
    for name, array in arrays.items():
        if array is not None:
            np.save(folder / f"{name}.npy", array)
    return [f"{name}.npy" for name in ("X", "y", "s") if arrays.get(name) is not None]


def fitted(case, X, y, s=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AliasWarning)
        return case.make().fit(X, y, sample_weight=s)


@pytest.mark.parametrize("name", ABSENT)
def test_nothing_but_numpy_can_be_imported_there(elsewhere, tmp_path, name):
    found = elsewhere("-c", f"import {name}", cwd=tmp_path)
    assert "ImportError" in found.stderr


@pytest.mark.costly
@pytest.mark.parametrize("case", ESTIMATORS, ids=str)
def test_the_claim_holds_where_certus_cannot_be_imported(case, elsewhere, tmp_path):
    X, y, _ = case.draw(5)
    s = None if case.name.startswith("Linear") else weights(5, len(X))
    model = fitted(case, X, y, s)
    model.certificate_.export(tmp_path / "check.py")
    files = saved(tmp_path, X=X, y=y, s=s)
    found = elsewhere("check.py", *files, cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "the claim holds" in found.stdout
    assert not found.stderr
    saved(tmp_path, X=X, y=case.spoil(y, [0], y[0] + 0.5 * np.abs(y).max()), s=s)
    found = elsewhere("check.py", *files, cwd=tmp_path)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "THE CLAIM DOES NOT HOLD" in found.stdout


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float64])
def test_several_blocks_of_any_kind_of_number_are_summed(dtype, elsewhere, tmp_path):
    X, y, _ = regression(5, n=5000, p=3)
    X = np.round(8 * X).astype(dtype)
    LinearRegression().fit(X, y).certificate_.export(tmp_path / "check.py")
    found = elsewhere("check.py", *saved(tmp_path, X=X, y=y), cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr


def test_nearly_collinear_columns_hold_in_several_blocks(elsewhere, tmp_path):
    x = np.linspace(0, 1, 5000)
    X, y = x[:, None] ** np.arange(1, 8), np.sin(9 * x)
    LinearRegression().fit(X, y).certificate_.export(tmp_path / "check.py")
    found = elsewhere("check.py", *saved(tmp_path, X=X, y=y), cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("edit", ["X", "y", "s", "no weights", "rows swapped"])
def test_any_edit_of_the_data_is_found(edit, elsewhere, tmp_path):
    X, y, _ = regression(5)
    s = weights(5, len(X))
    Ridge().fit(X, y, s).certificate_.export(tmp_path / "check.py")
    arrays = {"X": X.copy(), "y": y.copy(), "s": s.copy()}
    if edit in arrays:
        arrays[edit][3] += 1.0
    elif edit == "no weights":
        arrays["s"] = None
    else:
        arrays["y"][[0, 1]] = arrays["y"][[1, 0]]
    found = elsewhere("check.py", *saved(tmp_path, **arrays), cwd=tmp_path)
    assert found.returncode == 1, found.stdout + found.stderr


@pytest.mark.parametrize("targets", [None, 1, 2])
def test_csv_files_do_too(targets, elsewhere, tmp_path):
    X, y, _ = regression(5, p=2, k=targets)
    s = weights(5, len(X))
    LinearRegression().fit(X, y, s).certificate_.export(tmp_path / "check.py")
    for name, array in (("X", X), ("y", y), ("s", s)):
        np.savetxt(tmp_path / f"{name}.csv", array, delimiter=",", fmt="%.17g")
    found = elsewhere("check.py", "X.csv", "y.csv", "s.csv", cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    X[0, 0] += 1
    np.savetxt(tmp_path / "X.csv", X, delimiter=",", fmt="%.17g")
    assert elsewhere("check.py", "X.csv", "y.csv", "s.csv", cwd=tmp_path).returncode == 1


def test_a_csv_of_one_column_is_read(elsewhere, tmp_path):
    X, y, _ = regression(5, p=1)
    LinearRegression().fit(X, y).certificate_.export(tmp_path / "check.py")
    np.savetxt(tmp_path / "X.csv", X, fmt="%.17g")
    np.savetxt(tmp_path / "y.csv", y, fmt="%.17g")
    found = elsewhere("check.py", "X.csv", "y.csv", cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["X.npy"],
        ["X.npy", "y.npy", "s.npy", "more.npy"],
        ["missing.npy", "y.npy"],
        ["X.npy", "missing.csv"],
        ["narrow.npy", "y.npy"],
        ["X.npy", "short.npy"],
        ["X.npy", "y.npy", "short.npy"],
        ["X.npy", "text.csv"],
        ["X.npy", "twice.npy"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_read_or_has_another_shape_exits_with_2(arguments, elsewhere, tmp_path):
    X, y, _ = regression(5)
    LinearRegression().fit(X, y).certificate_.export(tmp_path / "check.py")
    saved(tmp_path, X=X, y=y, s=np.ones(len(X)))
    np.save(tmp_path / "narrow.npy", X[:, :2])
    np.save(tmp_path / "short.npy", y[:-1])
    np.save(tmp_path / "twice.npy", np.column_stack([y, y]))
    (tmp_path / "text.csv").write_text("height\n1.0\n")
    found = elsewhere("check.py", *arguments, cwd=tmp_path)
    assert found.returncode == 2, found.stdout + found.stderr
    assert "Traceback" not in found.stderr


def test_the_script_says_what_it_claims_and_is_only_the_definition(tmp_path):
    X, y, _ = regression(5)
    c = Ridge().fit(X, y).certificate_
    c.export(str(tmp_path / "check.py"))
    text = (tmp_path / "check.py").read_text(encoding="utf-8")
    assert "from certus" not in text
    assert "import certus" not in text
    assert repr(c.objective) in text
    assert c.formula in text
    compile(text, "check.py", "exec")


def test_a_claim_that_does_not_hold_has_a_script_that_says_so(
    elsewhere, tmp_path, patch_everywhere
):
    from certus.solvers.least_squares.least_squares import solve

    def spoiled(*args, **kwargs):
        solution = solve(*args, **kwargs)
        return solution._replace(w=solution.w * 1.1)

    patch_everywhere(solve, new=spoiled)
    X, y, _ = regression(5)
    with pytest.warns(NotCertifiedWarning):
        model = Ridge().fit(X, y)
    model.certificate_.export(tmp_path / "check.py")
    assert "Found:     not optimal, objective" in (tmp_path / "check.py").read_text("utf-8")
    found = elsewhere("check.py", *saved(tmp_path, X=X, y=y), cwd=tmp_path)
    assert found.returncode == 1
    assert found.stdout.endswith("THE CLAIM DOES NOT HOLD\n")


def test_a_folder_that_does_not_exist_is_an_error_and_leaves_nothing(tmp_path):
    X, y, _ = regression(5)
    c = Ridge().fit(X, y).certificate_
    with pytest.raises(FileNotFoundError):
        c.export(tmp_path / "no such folder" / "check.py")
    assert not list(tmp_path.iterdir())


def test_an_older_script_is_replaced_whole(tmp_path):
    X, y, _ = regression(5)
    path = tmp_path / "check.py"
    path.write_text("old")
    Ridge().fit(X, y).certificate_.export(path)
    assert [file.name for file in tmp_path.iterdir()] == ["check.py"]
    assert "old" not in path.read_text(encoding="utf-8").splitlines()
