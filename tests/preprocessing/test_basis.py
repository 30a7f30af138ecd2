"""Basis functions: each value is its equation, and curves do not depend on units."""

import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus.linear_model import LinearRegression, RidgeCV
from certus.preprocessing import GaussianBasis, PolynomialBasis, SigmoidBasis
from tests.preprocessing.basis_cases import ALL, each, each_learning

ROOT = Path(__file__).parents[2]


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 3)) * [1, 10, 0.1] + [0, 5, 100]


# --- scikit-learn's world -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")  # tiny data of checks
@parametrize_with_checks([*ALL, *(clone(basis).set_params(lazy=True) for basis in ALL)])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_frames_give_names_and_get_frames_back(X):
    frame = pd.DataFrame(X, columns=["age", "dose", "year"])
    found = GaussianBasis(2).set_output(transform="pandas").fit_transform(frame)
    assert list(found.columns)[:3] == ["age_gaussian_0", "age_gaussian_1", "dose_gaussian_0"]
    np.testing.assert_array_equal(found.to_numpy(), GaussianBasis(2).fit_transform(X))
    basis = SigmoidBasis(2).set_output(transform="polars").fit(pl.DataFrame(frame))
    assert basis.transform(pl.DataFrame(frame)).columns[-1] == "year_sigmoid_1"
    with pytest.raises(ValueError, match=r"must be in the same order .*\nIn another place"):
        basis.transform(frame[["year", "age", "dose"]])


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_lazy_rows_are_no_frame(X, output):
    basis = GaussianBasis(2, lazy=True).fit(X)
    message = rf"'{output}' with lazy=True: lazy rows .* cannot be a frame\. Use lazy=False"
    with config_context(transform_output=output), pytest.raises(ValueError, match=message):
        basis.transform(X)
    with pytest.raises(ValueError, match=message):
        clone(basis.set_output(transform=output)).fit_transform(X)
    assert basis.set_output(transform="default").transform(X).shape == (60, 6)
    assert len(basis.set_params(lazy=False).set_output(transform=output).transform(X)) == 60


def test_names_say_the_power_and_whether_it_is_of_x_itself(X):
    of_one = X[:, :1]
    raw = PolynomialBasis(3, raw=True).fit(of_one)
    assert list(raw.get_feature_names_out(["t"])) == ["t", "t^2", "t^3"]
    assert list(PolynomialBasis(2).fit(of_one).get_feature_names_out()) == [
        "x0_scaled", "x0_scaled^2",
    ]  # fmt: skip


def test_pieces_of_scikit_learn_take_it(X):
    frame = pd.DataFrame(X, columns=list("abc"))
    y = np.sin(frame["a"]) + frame["b"] ** 2
    each_its_own = ColumnTransformer(
        [("a", GaussianBasis(4), ["a"]), ("b", PolynomialBasis(2), ["b"])], remainder="drop"
    )
    model = make_pipeline(each_its_own, LinearRegression()).fit(frame, y)
    assert model.score(frame, y) > 0.99
    search = GridSearchCV(
        make_pipeline(GaussianBasis(lazy=True), RidgeCV()),
        {"gaussianbasis__n_centers": [2, 4], "gaussianbasis__centers": ["quantile", "uniform"]},
        cv=3,
    ).fit(frame, y)
    assert certus.verify(search, frame, y).certified


# --- values ---------------------------------------------------------------------------------------


def by_hand(X, function, *of_columns):
    """One value after the other, from lists of parameters a column."""
    return [
        [
            function(x, *parameters)
            for x, lists in zip(row, zip(*of_columns, strict=True), strict=True)
            for parameters in zip(*lists, strict=True)
        ]
        for row in X.tolist()
    ]


def bump(x, mu, s):
    return math.exp(-((x - mu) ** 2) / (2 * s**2))


def step(x, mu, a):
    return 1 / (1 + math.exp(-a * (x - mu)))


@pytest.mark.parametrize("centers", ["quantile", "uniform"])
def test_bumps_and_steps_are_their_equations(X, centers):
    bumps = GaussianBasis(4, centers=centers).fit(X)
    expected = by_hand(X, bump, bumps.centers_, bumps.widths_)
    np.testing.assert_allclose(bumps.transform(X), expected, rtol=1e-13, atol=1e-300)
    steps = SigmoidBasis(4, centers=centers).fit(X)
    expected = by_hand(X, step, steps.centers_, steps.slopes_)
    np.testing.assert_allclose(steps.transform(X), expected, rtol=1e-13)


def test_the_slides_sigmoid_has_slopes_and_no_centre(X):
    found = SigmoidBasis(centers=None, slopes=[0.1, 0.2, -0.3]).fit_transform(X)
    expected = [[1 / (1 + math.exp(-s * x)) for x in row for s in (0.1, 0.2, -0.3)] for row in X]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert found.shape == (60, 9)


def test_powers_are_their_equation(X):
    raw = PolynomialBasis(4, raw=True).fit_transform(X)
    expected = [[x**d for x in row for d in (1, 2, 3, 4)] for row in X.tolist()]
    np.testing.assert_allclose(raw, expected, rtol=1e-14)
    t = 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1
    scaled = PolynomialBasis(4).fit_transform(X)
    expected = [[x**d for x in row for d in (1, 2, 3, 4)] for row in t.tolist()]
    np.testing.assert_allclose(scaled, expected, atol=1e-12)
    assert np.abs(scaled).max() <= 1 + 1e-15


def test_powers_of_x_and_scaled_ones_span_the_same_curves(X):
    y = np.sin(X[:, 0])
    both = [
        make_pipeline(PolynomialBasis(3, raw=raw), LinearRegression()).fit(X[:, :2], y)
        for raw in (True, False)
    ]
    np.testing.assert_allclose(*(model.predict(X[:, :2]) for model in both), atol=1e-9)


def test_centres_and_widths_can_be_given(X):
    mu = [[0.0, 1], [5, 9], [100, 101]]
    found = GaussianBasis(centers=mu, width=[1.0, 2]).fit_transform(X)
    expected = by_hand(X, bump, mu, [[1.0, 2]] * 3)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    found = GaussianBasis(centers=[3.0, 1.0], width=2).fit_transform(X)
    np.testing.assert_allclose(found, by_hand(X, bump, [[3.0, 1.0]] * 3, [[2.0, 2.0]] * 3))


def test_width_follows_the_neighbours_of_each_centre_in_any_order():
    basis = GaussianBasis(centers=[7.0, 0, 1]).fit([[0.0], [1.0]])
    np.testing.assert_allclose(basis.widths_[0], 0.7 * np.array([6, 1, 3.5]))
    basis = SigmoidBasis(centers=[7.0, 0, 1]).fit([[0.0], [1.0]])
    np.testing.assert_allclose(basis.slopes_[0], 2 / np.array([6, 1, 3.5]))


def test_the_sum_of_bumps_is_level_and_they_are_not_nearly_dependent():
    x = np.linspace(0, 1, 20001)[:, None]
    Phi = GaussianBasis(60, centers="uniform").fit_transform(x)
    inside = Phi.sum(axis=1)[5000:15000]
    ripple = (inside.max() / inside.min() - 1) / 2
    assert ripple == pytest.approx(2 * math.exp(-2 * math.pi**2 * 0.49), rel=1e-2)
    far = np.linspace(-1, 2, 60001)[:, None]
    Phi = GaussianBasis(60, centers="uniform").fit(x).transform(far)
    assert np.linalg.cond(Phi.T @ Phi) == pytest.approx(math.exp(math.pi**2 * 0.49) / 2, rel=0.05)


def test_the_sum_of_steps_is_a_line():
    x = np.linspace(0, 1, 20001)[:, None]
    total = SigmoidBasis(60, centers="uniform").fit_transform(x).sum(axis=1)[5000:15000]
    slope = np.diff(total)
    assert (slope.max() / slope.min() - 1) / 2 < 2.1e-3


def test_quantiles_are_values_of_the_column_from_end_to_end(X):
    (mu, *_) = GaussianBasis(7).fit(X).centers_
    assert np.isin(mu, X[:, 0]).all()
    assert mu[0] == X[:, 0].min()
    assert mu[-1] == X[:, 0].max()
    ranks = np.searchsorted(np.sort(X[:, 0]), mu)
    np.testing.assert_allclose(np.diff(ranks), 59 / 6, atol=1)
    (mu, *_) = GaussianBasis(1).fit(X).centers_
    assert abs(np.searchsorted(np.sort(X[:, 0]), mu[0]) - 29.5) <= 0.5, "the median"


# --- laws -----------------------------------------------------------------------------------------


@each_learning
def test_a_shift_and_a_scale_of_x_change_no_prediction(basis, X):
    y = np.sin(X[:, 0]) + X[:, 1]
    moved = X * [1000, 1e-3, 7] + [1e5, -3, 20]
    predictions = [
        make_pipeline(clone(basis), RidgeCV()).fit(given, y).predict(given) for given in (X, moved)
    ]
    np.testing.assert_allclose(*predictions, rtol=1e-8, atol=1e-8)


@each_learning
def test_a_scale_by_a_power_of_two_changes_no_bit(basis, X):
    np.testing.assert_array_equal(
        clone(basis).fit_transform(X), clone(basis).fit_transform(X * 2.0**300)
    )


@each
def test_rows_in_another_order_are_the_same_rows(basis, X):
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(
        clone(basis).fit(X[order]).transform(X), clone(basis).fit_transform(X)
    )


@each
def test_many_columns_are_one_after_the_other(basis, rng):
    X = rng.normal(size=(40, 50))
    alone = [clone(basis).fit_transform(X[:, [j]]) for j in range(50)]
    np.testing.assert_array_equal(clone(basis).fit_transform(X), np.hstack(alone))


# --- the example ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("matplotlib")
    path = ROOT / "examples" / "basis.py"
    spec = importlib.util.spec_from_file_location("example_of_bases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_finds_the_curve(example):
    X, y = example.noisy(300)
    for name, model in example.fits(X, y).items():
        assert model[-1].certificate_.certified
        error = np.sqrt(np.mean((model.predict(X) - example.truth(X[:, 0])) ** 2))
        assert error < 0.2, name
        assert 0.29 < example.left_out(model) < 0.35, "the noise is 0.3"


def test_the_example_draws_its_picture(example, tmp_path):
    path = tmp_path / "basis.png"
    found = subprocess.run(
        [sys.executable, ROOT / "examples" / "basis.py", path, "--rows", "80"],
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1", "MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert found.stdout.count("error on rows left out") == 3
    assert found.stdout.count("Certificate(optimal") == 3
