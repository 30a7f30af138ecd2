"""Benchmarks of k-means: one start and one objective for all, and answers judged by plain NumPy.

Nothing here looks at how long anything takes.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks import __main__ as command
from benchmarks import generators, harness
from benchmarks.harness import Contestant, Options
from benchmarks.kmeans_peers import start, trials
from benchmarks.suites import kmeans

ONCE = Options(repeats=1, cold_start=False, memory=False)
FLOAT = np.dtype("float64")
ROWS = {row.name: row for row in kmeans.SUITE.rows}
SYNTHETIC = [
    generators.uniform_noise, generators.blobs_10, generators.blobs_64, generators.blobs_256,
    generators.blobs_1000, generators.digits,
]  # fmt: skip


def mini(name, n=500, p=6, k=7, **settings):
    """A row of the suite on small data."""
    row = ROWS[name]
    return replace(row, n=n, p=p, params=row.params | {"k": k}, **settings)


def cost(X, centers):
    """J by the differences of all pairs."""
    return float(((X[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1).sum())


@pytest.mark.parametrize("generator", SYNTHETIC, ids=lambda g: g.__name__)
@pytest.mark.parametrize("order", ["C", "F"])
def test_data_have_the_dtype_and_order_the_row_names(generator, order):
    X, y = generator(60, 5, 0, np.dtype("float32"), order)
    other, _ = generator(60, 5, 1, np.dtype("float32"), order)
    assert (X.shape, X.dtype) == ((60, 5), np.float32)
    assert X.flags[f"{order}_CONTIGUOUS"]
    assert not np.array_equal(X, other)
    assert np.array_equal(np.sort(y), np.arange(60))
    assert not np.array_equal(y, np.arange(60))


@pytest.mark.parametrize("p", [2, 40])
def test_blobs_are_a_few_sigma_apart_at_any_p(p):
    X, _ = generators.blobs_10(4000, p, 0, FLOAT, "C")
    found = KMeans(10, n_init=5, random_state=0).fit(X)
    sigma = np.sqrt(found.inertia_ / X.size)
    centers = found.cluster_centers_
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2) + np.diag([np.inf] * 10)
    assert np.median(apart.min(axis=1)) / sigma == pytest.approx(generators.SEPARATION, rel=0.1)


def test_blocks_do_not_show_in_the_blobs(monkeypatch):
    whole, _ = generators.blobs_64(300, 3, 0, FLOAT, "C")
    monkeypatch.setattr(generators, "BLOCK_ROWS", 64)
    assert np.array_equal(generators.blobs_64(300, 3, 0, FLOAT, "C")[0], whole)


def test_digits_are_images_with_little_noise():
    images = load_digits().data
    X, _ = generators.digits(50, 64, 0, FLOAT, "C")
    nearest = ((X[:, None] - images[None]) ** 2).sum(axis=2).min(axis=1)
    assert np.sqrt(nearest.mean() / 64) == pytest.approx(0.1 * images.std(), rel=0.05)


@pytest.mark.parametrize("ending", ["npy", "csv", "csv.gz"])
def test_rows_of_a_file_are_its_middle_columns(ending, tmp_path, monkeypatch):
    table = np.arange(35.0).reshape(5, 7) * 1000
    path = str(tmp_path / f"table.{ending}")
    np.save(path, table) if ending == "npy" else np.savetxt(path, table, delimiter=",")
    monkeypatch.setenv(generators.DATA_FILE, path)
    monkeypatch.setattr(generators, "COPY_NOISE", 0.0)
    X, y = generators.rows_of_a_file(20, 3, 0, FLOAT, "C")
    assert {tuple(x) for x in X} == {tuple(x) for x in table[:, 2:5]}
    assert len(y) == 20
    X, _ = generators.rows_of_a_file(20, 6, 0, FLOAT, "C")
    assert {tuple(x) for x in X} == {tuple(x) for x in table[:, :6]}  # a last column is a label's
    with pytest.raises(ValueError, match=r"\(5, 7\): .* asks for 8 columns"):
        generators.rows_of_a_file(20, 8, 0, FLOAT, "C")


def test_rows_that_take_a_file_run_only_with_one(tmp_path, monkeypatch):
    def names(*arguments):
        options = command.parser().parse_args(["kmeans", *arguments])
        return {row.name for row in command.selected(kmeans.SUITE, options).rows}

    assert names("--data", "some.npy") == set(ROWS)
    of_a_file = set(ROWS) - names()
    assert {ROWS[name].generator for name in of_a_file} == {generators.rows_of_a_file}
    assert of_a_file == {name for name in ROWS if name.startswith("file")}


def test_the_command_reads_the_file_and_does_not_name_it(tmp_path, monkeypatch, capsys):
    path = tmp_path / "images.npy"
    np.save(path, load_digits().data)
    row = mini("file 20 steps", n=300, p=20)
    suite = harness.Suite("kmeans", (kmeans.LLOYD,), (row,))
    monkeypatch.setattr(command, "load_suite", lambda name: suite)
    monkeypatch.setattr(harness, "call_in_fresh_process", lambda f, *args, threads: f(*args))
    monkeypatch.setenv(generators.DATA_FILE, "")  # so that it is as before afterwards
    stored = tmp_path / "out.json"
    given = ["kmeans", "--repeats", "1", "--no-cold-start", "--no-memory"]
    assert command.main([*given, "--data", str(path), "--json", str(stored)]) == 0
    report = json.loads(stored.read_text())
    assert report["results"][0]["cells"]["sklearn lloyd"]["excess"] == 0
    assert "images" not in stored.read_text() + capsys.readouterr().out


@pytest.mark.parametrize("shift", [0, 1e7])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_objective_is_the_equation_also_far_from_the_origin(dtype, shift, monkeypatch):
    monkeypatch.setattr(kmeans, "BLOCK_ROWS", 130)
    row = mini("p=16 noise 20 steps", dtype=dtype)
    X, y = row.data()
    X = (X + shift).astype(dtype)
    centers = X[:9] + X.dtype.type(0.01)
    truth = cost(X.astype(float), centers.astype(float))
    found = row.objective(row, X, y)(SimpleNamespace(centers_=centers))
    assert found == pytest.approx(truth, rel=1e-9)


def test_start_is_the_rows_named_first_and_at_most_half_of_them():
    X, y = generators.uniform_noise(20, 2, 0, FLOAT, "C")
    assert np.array_equal(start(X, y, 3), X[y[:3]])
    assert len(start(X, y, 1000)) == 10


def test_candidates_of_the_greedy_start_are_as_many_as_the_readme_says():
    assert [trials(k) for k in (2, 10, 64, 1000)] == [2, 4, 6, 8]


STEPS = ["p=16 noise 20 steps", "p=16 blobs to the end", "p=784 noise float32 20 steps"]


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")  # 20 steps
@pytest.mark.parametrize("name", [*STEPS, "digits to the end", "p=2 blobs to the end"])
@pytest.mark.parametrize("contestant", kmeans.SUITE.contestants, ids=lambda c: c.name)
def test_libraries_are_at_the_same_centres_after_the_same_steps(name, contestant):
    if contestant.name in ROWS[name].without:
        pytest.skip("left out of the row")
    pytest.importorskip(contestant.package)
    row = mini(name)
    X, y = row.data()
    reference = KMeans(7, init=start(X, y, 7), n_init=1, tol=0, max_iter=row.params["max_iter"])
    expected = reference.fit(X).cluster_centers_
    _, model = contestant.timed_fit(row, X, y)
    np.testing.assert_allclose(model.centers_, expected, atol=2e-5 * np.abs(X).max())
    J = row.objective(row, X, y)
    assert J(model) == pytest.approx(J(SimpleNamespace(centers_=expected)), rel=1e-5)


@pytest.mark.parametrize("name", ["p=16 blobs fit", "p=16 blobs k-means++", "p=16 noise k-means‖"])
@pytest.mark.parametrize("contestant", kmeans.SUITE.contestants, ids=lambda c: c.name)
def test_starts_by_chance_are_much_better_than_rows_at_random(name, contestant):
    if contestant.name in ROWS[name].without:
        pytest.skip("left out of the row")
    pytest.importorskip(contestant.package)
    row = mini(name, n=2000, k=20, generator=generators.blobs_10)
    X, y = row.data()
    _, model = contestant.timed_fit(row, X, y)
    assert model.centers_.shape == (20, 6)
    J = row.objective(row, X, y)
    at_random = [
        J(SimpleNamespace(centers_=X[np.random.default_rng(seed).permutation(2000)[:20]]))
        for seed in range(10)
    ]
    assert J(model) < 0.9 * np.mean(at_random)


class OneCenterOff(Contestant):
    """The answer of scikit-learn with a centre moved."""

    def timed_fit(self, row, X, y):
        seconds, model = kmeans.LLOYD.timed_fit(row, X, y)
        model.centers_ = model.centers_ + 0.3 * np.eye(len(model.centers_), X.shape[1])
        return seconds, model


def test_wrong_centres_have_an_excess_above_the_limit():
    row = mini("p=16 noise 20 steps")
    wrong = OneCenterOff("wrong", "sklearn", "sklearn", "scikit-learn")
    cells, _ = harness.contest(row, (kmeans.LLOYD, wrong), ONCE)
    assert cells["sklearn lloyd"]["excess"] == 0
    assert cells["wrong"]["excess"] > row.excess_limit


def test_steps_are_as_many_as_the_row_says():
    row = mini("p=16 noise 20 steps")
    cells, _ = harness.contest(row, (kmeans.LLOYD, kmeans.ELKAN), ONCE)
    assert {cell["iterations"] for cell in cells.values()} == {20}


def test_rows_leave_out_only_contestants_of_their_suite_and_never_certus():
    names = {contestant.name for contestant in kmeans.SUITE.contestants}
    for row in kmeans.SUITE.rows:
        assert set(row.without) < names
        assert "certus" not in row.without
        assert np.isfinite(row.excess_limit)  # JSON has no infinity


def test_quick_rows_and_those_that_warm_up_have_more_rows_than_centres():
    for row in kmeans.SUITE.rows:
        quick = row.divided_by_ten()
        assert quick.n >= 10 * quick.params["k"]
        assert row.small().n == 200
