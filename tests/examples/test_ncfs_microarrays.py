"""The study of microarrays: what is left out of a fit is not looked at, and intervals are right."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

PROGRAM = Path(__file__).parents[2] / "examples" / "ncfs_microarrays.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location(PROGRAM.stem, PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(seed, n=60, P=80, shift=2.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(["a", "b"], n // 2))
    X = rng.normal(size=(n, P))
    X[:, :3] += shift * (y == "b")[:, None]
    return X, y


def test_selection_finds_the_columns_that_tell_and_helps_neighbours(example):
    X, y = rows(0)
    right, selected = example.study(X, y, [1.0], folds=5, repeats=2)
    assert right[1.0].mean() > right[None].mean() + 0.05
    assert set(selected[None]) == {80}
    assert max(selected[1.0]) <= 10
    assert all(0 <= share <= 1 for shares in right.values() for share in shares)


@pytest.mark.parametrize("choice", ["1se", "best"])
def test_the_penalty_can_be_chosen_within_the_folds(example, choice, monkeypatch):
    monkeypatch.setattr(example, "ALPHAS", (1.0, 0.3))
    X, y = rows(0, n=40, P=20)
    right, selected = example.study(X, y, [choice], folds=4, repeats=1)
    assert right[choice].mean() >= 0.85
    assert max(selected[choice]) <= 10
    report = list(example.lines("made", X, y, right, selected))
    assert f"λ chosen, {choice}" in report[1]


def test_classes_drawn_at_random_are_not_predicted(example):
    """Selection outside of the folds finds columns that predict noise very well."""
    X, _ = rows(1, P=400)
    y = np.random.default_rng(2).permutation(np.repeat([0, 1], 30))
    right, _ = example.study(X, y, [0.3], folds=5, repeats=4)
    assert abs(right[0.3].mean() - 0.5) < 0.2
    columns = example.NCFSClassifier(0.3).fit(X, y).get_support()
    outside, _ = example.study(X[:, columns], y, [], folds=5, repeats=4)
    assert outside[None].mean() > 0.75


def test_nothing_selected_is_the_most_frequent_class(example):
    y = np.array(["u", "v", "v"])
    assert example.neighbors(np.zeros((3, 0)), y, np.zeros((2, 0)), 1).tolist() == ["v", "v"]


@pytest.mark.parametrize(("hits", "n"), [(50, 72), (3, 62), (20, 20)])
def test_the_interval_is_wilsons(example, hits, n):
    interval = binomtest(hits, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(example.wilson(hits / n, n), interval, atol=1e-4)


def test_the_bootstrap_covers_the_mean_as_often_as_it_says(example):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        low, high = example.bootstrap(rng.normal(0.1, 0.4, size=60), draws=500)
        covered += low <= 0.1 <= high
    assert 0.88 <= covered / 200 <= 0.99


def test_the_command_prints_a_table_of_a_folder(tmp_path):
    X, y = rows(0, n=24, P=12)
    np.savez(tmp_path / "made.npz", X=X.astype(np.float32), y=y)
    done = subprocess.run(
        [sys.executable, PROGRAM, tmp_path, "--folds", "3", "--repeats", "1", "--alphas", "1"],
        capture_output=True, encoding="utf-8", timeout=300, check=True,
        env={"PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(PROGRAM.parents[1] / "src")},
    )  # fmt: skip
    heading, _, before, after = done.stdout.splitlines()
    assert heading.startswith("| data | columns | genes")
    assert before.startswith("| made | all genes | 12 | ")
    assert after.startswith("| made | NCFS, λ = 1 | ")
