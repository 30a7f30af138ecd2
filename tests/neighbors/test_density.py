"""Densities are counts over volumes, and the volumes are right."""

import math
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from certus.exceptions import DegenerateWarning
from certus.neighbors import density
from certus.neighbors.ball_density import log_ball_volume
from tests.neighbors.neighbor_choices import blobs, nearest

P = {"manhattan": 1, "euclidean": 2, "chebyshev": math.inf}


# --- volumes --------------------------------------------------------------------------------------


def exact_volume(p, d):
    """Volume of the unit ball as (rational, power of π)."""
    if p == 1:
        return Fraction(2**d, math.factorial(d)), 0
    if p == math.inf:
        return Fraction(2**d), 0
    volume, power = (Fraction(1), 0) if d % 2 == 0 else (Fraction(2), 0)
    for n in range(2 + d % 2, d + 1, 2):  # V_n = 2π/n · V_{n−2}
        volume, power = volume * Fraction(2, n), power + 1
    return volume, power


@pytest.mark.parametrize("p", P.values())
@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 20, 101])
def test_volumes_are_those_of_exact_arithmetic(d, p):
    rational, power = exact_volume(p, d)
    with mpmath.workdps(40):
        truth = mpmath.log(mpmath.mpf(rational.numerator) / rational.denominator)
        truth += power * mpmath.log(mpmath.pi) + d * mpmath.log(mpmath.mpf("0.3"))
    assert log_ball_volume(0.3, d, p) == pytest.approx(float(truth), rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, 7.5])
def test_volumes_are_what_random_points_fill(p):
    rng = np.random.default_rng(0)
    inside = ((np.abs(rng.uniform(-1, 1, size=(200_000, 3))) ** p).sum(axis=1) <= 1).mean()
    share = math.exp(log_ball_volume(1.0, 3, p)) / 8
    assert abs(inside - share) < 5 * math.sqrt(share * (1 - share) / 200_000)


def test_volumes_in_many_dimensions_do_not_vanish():
    assert np.isfinite(log_ball_volume(np.array([1e-300, 1e300]), 5000)).all()
    assert log_ball_volume(0.0, 3) == -math.inf


# --- densities ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", P)
@pytest.mark.parametrize("seed", range(3))
def test_a_density_is_a_count_over_rows_and_volume(seed, metric):
    X, y = blobs(seed, n=50)
    Q = np.random.default_rng(seed).normal(size=(9, 3))
    result = density(X, Q, k=6, y=y, metric=metric)
    for i, q in enumerate(Q):
        d, rows = nearest(X, q, 6, metric)
        volume = math.exp(log_ball_volume(d[-1], 3, P[metric]))
        assert result.radius[i] == pytest.approx(d[-1], rel=1e-14)
        assert math.exp(result.log_density[i]) == pytest.approx(6 / (50 * volume), rel=1e-12)
        for c in range(3):
            counted = (y[rows] == c).sum()
            assert result.class_counts[i, c] == counted
            truth = counted / ((y == c).sum() * volume)
            assert math.exp(result.log_class_density[i, c]) == pytest.approx(truth, rel=1e-12)


def test_at_the_rows_themselves_each_is_left_out():
    X, y = blobs(1, n=30)
    result = density(X, k=4, y=y)
    assert result.n == 29
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        one = density(X[rest], X[i : i + 1], k=4, y=y[rest])
        assert result.log_density[i] == pytest.approx(one.log_density[0], rel=1e-13)
        np.testing.assert_allclose(result.log_class_density[i], one.log_class_density[0])


def test_class_densities_and_shares_are_the_votes_by_bayes_rule():
    X, y = blobs(2, n=80)
    result = density(X, X[:10] + 0.1, k=7, y=y)
    prior = np.bincount(y) / len(y)
    posterior = prior * np.exp(result.log_class_density - result.log_density[:, None])
    np.testing.assert_allclose(posterior, result.class_counts / 7, rtol=1e-12)


@pytest.mark.parametrize("metric", P)
@pytest.mark.parametrize("p", [1, 2, 5])
def test_a_uniform_density_is_found(p, metric):
    """K/(N·V) is too high by K/(K − 1) on average; N·V = Beta(K, N − K + 1) in distribution."""
    rng = np.random.default_rng(p)
    result = []
    for _ in range(40):
        X = rng.uniform(-0.5, 0.5, size=(600, p))
        result.append(math.exp(density(X, np.zeros((1, p)), k=20, metric=metric).log_density[0]))
    # one estimate has a standard error of about 1/√20
    assert np.mean(result) == pytest.approx(20 / 19, abs=4 / math.sqrt(20 * 40))


def test_shift_and_scale():
    X, _ = blobs(3, n=40)
    X = np.round(X * 64) / 64
    near, far = density(X, k=5), density(X + 2.0**20, k=5)
    np.testing.assert_array_equal(near.log_density, far.log_density)
    scaled = density(8 * X, k=5)
    np.testing.assert_allclose(scaled.log_density, near.log_density - 3 * math.log(8), rtol=1e-13)


def test_minkowski_takes_p():
    X, _ = blobs(4)
    for p, metric in ((1, "manhattan"), (2, "euclidean")):
        one = density(X, k=3, metric="minkowski", metric_params={"p": p})
        np.testing.assert_allclose(one.log_density, density(X, k=3, metric=metric).log_density)
    assert np.isfinite(
        density(X, k=3, metric="minkowski", metric_params={"p": 3}).log_density
    ).all()


def test_copies_have_an_infinite_density_and_are_named():
    X = np.array([[0.0], [0.0], [0.0], [5.0], [6.0], [7.0]])
    with pytest.warns(
        DegenerateWarning, match=r"3 of 6 points coincide with 2 or more rows \(point 0, 1, 2\)"
    ):
        result = density(X, k=2, y=list("aabbbb"))
    np.testing.assert_array_equal(result.infinite, [0, 1, 2])
    assert np.isposinf(result.log_density[:3]).all()
    assert np.isfinite(result.log_density[3:]).all()
    assert result.log_class_density[2].tolist() == [math.inf, -math.inf]
    assert "infinite at 3" in repr(result)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(density(X, k=3).log_density).all()


def test_a_class_of_one_row_has_no_density_without_it():
    result = density([[0.0], [1.0], [2.0]], k=1, y=["a", "b", "b"])
    assert np.isnan(result.log_class_density[0, 0])
    assert np.isfinite(result.log_class_density[0, 1])


def test_k_is_about_the_root_of_the_rows():
    X, _ = blobs(0, n=50)
    assert density(X).k == 7
    assert density(X, X).k == 8
    assert density([[0.0], [1.0]]).k == 1


def test_same_bits_on_any_number_of_threads():
    X, y = blobs(3, n=300)
    one, two = (density(X, k=9, y=y, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.log_density, two.log_density)
    np.testing.assert_array_equal(one.log_class_density, two.log_class_density)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 5}, "k=5, but there are only 3 possible neighbours"),
        ({"k": 0}, "k=0: give a whole number"),
        (
            {"metric": "cosine"},
            "metric='cosine': the volume of a ball of that metric is not implemented",
        ),
        ({"metric_params": {"w": [1.0]}}, "the volume of a ball with w is not implemented"),
        ({"Q": [[1.0, 2.0]]}, "X has 2 features, but density is expecting 1"),
        ({"y": [0, 1]}, "X has 4 rows, y has 2"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_words(given, message):
    with pytest.raises(ValueError, match=message):
        density([[0.0], [1.0], [2.0], [3.0]], **given)
