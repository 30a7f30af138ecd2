"""k-means by hand is what the estimator does; the picture of what a step costs is drawn."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from certus.cluster import KMeans

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def by_hand():
    path = EXAMPLES / "kmeans_by_hand.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(path.read_text("utf-8").splitlines()) <= 80
    return module


def rows(seed, n=120, p=3):
    return np.random.default_rng(seed).normal(size=(n, p))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("offset", [0, 1e6])
def test_the_steps_by_hand_end_where_the_estimator_does(by_hand, seed, k, offset):
    X = rows(seed) + offset
    start = X[np.random.default_rng(seed).choice(len(X), size=k, replace=False)]
    mu, labels, costs = by_hand.k_means(X, start)
    model = KMeans(k, init=start, n_init=1, tol=0, single_moves=False).fit(X)
    assert np.array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, mu, rtol=1e-12)
    assert model.inertia_ == pytest.approx(costs[-1], rel=1e-9)
    assert model.certificate_.status == "local optimum"


def test_the_cost_falls_with_each_step(by_hand):
    for seed in range(6):
        X = rows(seed)
        _, _, costs = by_hand.k_means(X, X[:5])
        assert len(costs) > 3
        assert np.all(np.diff(costs[:-1]) < 0)
        assert costs[-1] <= costs[-2]


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_the_first_steps_are_the_same_too(by_hand, stop):
    X = rows(3)
    mu = X[:6]
    for _ in range(stop):
        mu = by_hand.move(X, by_hand.assign(X, mu), mu)
    with pytest.warns(UserWarning, match=f"max_iter={stop}"):
        model = KMeans(6, init=X[:6], n_init=1, tol=0, max_iter=stop).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, mu, rtol=1e-12)


def test_a_row_between_two_centres_goes_to_the_first(by_hand):
    X = np.array([[0.0], [1], [2]])
    start = np.array([[0.0], [2]])
    assert list(by_hand.assign(X, start)) == [0, 0, 1]
    assert list(KMeans(2, init=start, n_init=1, tol=0).fit(X).labels_) == [0, 0, 1]
    assert list(by_hand.assign(X, start[::-1])) == [1, 0, 0]
    assert list(KMeans(2, init=start[::-1], n_init=1, tol=0).fit(X).labels_) == [1, 0, 0]


def test_a_centre_without_rows_takes_the_farthest_row(by_hand):
    X = np.array([[0.0], [1], [2], [10], [30]])
    start = np.array([[1.0], [100], [10]])  # nobody is nearest to 100 but 30 is nearer to 10
    assert list(by_hand.assign(X, start)) == [0, 0, 0, 2, 2]
    mu, labels, costs = by_hand.k_means(X, start)
    model = KMeans(3, init=start, n_init=1, tol=0).fit(X)
    assert list(labels) == list(model.labels_) == [0, 0, 0, 2, 1]
    np.testing.assert_allclose(model.cluster_centers_, mu)
    assert model.inertia_ == pytest.approx(costs[-1]) == 2


def test_more_centres_than_distinct_rows_end_at_cost_0(by_hand):
    X = np.repeat(np.arange(3.0), 4)[:, None]
    _, labels, costs = by_hand.k_means(X, X[[0, 1, 4, 8]])
    assert costs[-1] == 0
    assert len(np.unique(labels)) == 3


def test_the_example_by_hand_runs_on_numpy_alone():
    program = (EXAMPLES / "kmeans_by_hand.py").read_text("utf-8")
    imports = [line for line in program.splitlines() if "import " in line]
    assert imports == ["import numpy as np"]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "kmeans_by_hand.py"],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout.count("J = ") == 5


@pytest.mark.costly
@pytest.mark.parametrize("model", ["kmeans", "mixture"])
def test_the_picture_of_the_cost_is_drawn(model, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "cost.png"
    small = ["--rows", "3000", "--columns", "3"]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "cost.py", model, picture, *small],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout.count("growing as rows^") == 2
    assert picture.stat().st_size > 5000


def test_the_slope_of_a_straight_line_is_one():
    spec = importlib.util.spec_from_file_location("cost", EXAMPLES / "cost.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    n = np.array([10.0, 100, 1000, 10_000])
    assert module.slope(n, 3e-8 * n) == pytest.approx(1)
    assert module.slope(n, 3e-8 * n**2) == pytest.approx(2)
