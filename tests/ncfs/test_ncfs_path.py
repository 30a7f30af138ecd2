"""Weights for many λ: no worse than fits from W = 1, on a grid between values that matter."""

from copy import copy

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from certus.solvers.ncfs import (
    ClassGains,
    NCFSProblem,
    alpha_grid,
    ascending_path,
    descending_path,
    largest_alpha,
    lbfgs,
    two_way_path,
)
from tests.ncfs.ncfs_cases import minmax, signal, yangs_toy


def problem_of(X, y, metric="manhattan", alpha=0.0):
    k = np.unique(y, return_inverse=True)[1]
    G = ClassGains(k, np.eye(k.max() + 1))
    return NCFSProblem(minmax(X), G, np.ones(len(k)), 1.0, alpha, metric)


def xor(seed=0):
    X = np.random.default_rng(seed).uniform(size=(120, 6))
    return X, (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)


def noise(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 40)), np.arange(60) % 2


SETS = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "signal": signal(0, n=90, P=12),
    "xor": xor(),
    "noise": noise(),
}
each_set = pytest.mark.parametrize("data", SETS.values(), ids=SETS)


def solver(problem, starts=None):
    def solve(alpha, W):
        at = copy(problem)
        at.alpha = alpha
        if starts is not None:
            starts.append((alpha, W.copy()))
        return lbfgs(at, W, tol=1e-3)

    return solve


def paths(data, m=10):
    problem = problem_of(*data)
    ones, alphas = np.ones(problem.shape[1]), alpha_grid(problem, m)
    solve = solver(problem)
    apart = np.array([solve(alpha, ones).objective for alpha in alphas]) / problem.shape[0]
    fits = two_way_path(solve, ones, alphas.tolist())
    return apart, np.array([fit.objective for fit in fits]) / problem.shape[0], fits


@each_set
def test_a_path_is_as_good_as_separate_fits(data):
    """F has several maxima: for a single λ either may be ahead a little."""
    apart, along, _ = paths(data)
    assert (along - apart).mean() > -1e-3
    assert (along - apart).min() > -0.02


def test_over_many_problems_a_path_is_better_than_separate_fits():
    gained = [np.mean(along - apart) for apart, along, _ in map(paths, SETS.values())]
    assert np.mean(gained) > 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_there_and_back_finds_what_separate_fits_miss(seed):
    """From W = 1 the strongest λ that keeps a pair of columns drives both to 0."""
    gained = [paths(xor(10 * seed + t), 8) for t in range(3)]
    assert max((along - apart).max() for apart, along, _ in gained) > 0.01


@each_set
def test_fits_are_local_optima_of_their_own_alpha(data):
    problem = problem_of(*data)
    alphas = alpha_grid(problem, 6)
    for alpha, fit in zip(
        alphas, two_way_path(solver(problem), np.ones(problem.shape[1]), list(alphas)), strict=True
    ):
        at = copy(problem)
        at.alpha = alpha
        value = at.value_and_slope(fit.W)
        assert fit.objective == pytest.approx(value.F, rel=1e-12)
        assert np.where(fit.W > 0, abs(value.slope), value.slope).max() <= 1.01e-3 * alpha


def test_a_path_never_begins_at_zero():
    problem, starts = problem_of(*noise()), []
    top = largest_alpha(problem)
    alphas = [4 * top, 2 * top, top, top / 2]
    two_way_path(solver(problem, starts), np.ones(40), alphas)
    assert len(starts) == 8
    assert [alpha for alpha, _ in starts] == [*alphas[::-1], *alphas]
    assert all(W.any() for _, W in starts)


@pytest.mark.costly
@each_set
def test_a_way_back_with_few_explored_is_nearly_as_good(data):
    apart, both, _ = paths(data)
    problem = problem_of(*data)
    alphas, solve = alpha_grid(problem, 10).tolist(), solver(problem)
    fits = descending_path(solve, solve, np.ones(problem.shape[1]), alphas)
    F = np.array([fit.objective for fit in fits]) / problem.shape[0]
    # columns of noise have many optima, and rounding on another CPU leads to another one
    allowed = 0.03 if problem.shape[1] == noise()[0].shape[1] else 0.005
    assert F.mean() > max(apart.mean(), both.mean()) - allowed
    assert (np.diff(F) > -1e-9).all(), "a weaker penalty costs less"


def test_what_is_explored_goes_from_the_middle_to_the_strongest_and_then_back():
    problem, explored, solved = problem_of(*SETS["signal"]), [], []
    alphas = alpha_grid(problem, 20).tolist()
    descending_path(solver(problem, solved), solver(problem, explored), np.ones(12), alphas)
    assert [alphas.index(alpha) for alpha, _ in explored] == [10, 6, 2, 0]
    assert list(dict.fromkeys(alpha for alpha, _ in solved)) == alphas
    assert len(explored) + len(solved) <= 2 * len(alphas)
    np.testing.assert_array_equal(explored[0][1], 1.0)
    np.testing.assert_array_equal(solved[0][1], 1.0)


def test_a_fit_that_was_explored_is_taken_where_it_is_better():
    problem, alphas = problem_of(*SETS["signal"]), [2.0, 1.0]
    solve, far = solver(problem), np.zeros(12)
    best = solve(1.0, np.ones(12))

    def worse(alpha, W):
        fit = solve(alpha, W)
        better = alpha == 1.0 and W is best.W
        return fit if better else fit._replace(W=far, objective=fit.objective - 1.0)

    fits = descending_path(worse, lambda alpha, W: best, np.ones(12), alphas)
    assert fits[1].objective == pytest.approx(best.objective, rel=1e-9)
    assert fits[1].W.any()


def test_one_way_goes_from_the_weakest_and_answers_in_the_order_asked():
    problem, starts = problem_of(*SETS["iris"]), []
    fits = ascending_path(solver(problem, starts), np.ones(4), [10.0, 1.0, 0.1])
    assert [alpha for alpha, _ in starts] == [0.1, 1.0, 10.0]
    np.testing.assert_array_equal(starts[1][1], fits[2].W)
    assert [np.count_nonzero(fit.W) for fit in fits] == [1, 2, 3]


@each_set
@pytest.mark.parametrize("metric", ["manhattan", "sqeuclidean", "euclidean"])
def test_from_the_strongest_alpha_on_zero_is_a_local_maximum_and_weights_fall_from_one(
    data, metric
):
    top = largest_alpha(problem_of(*data, metric))
    P = data[0].shape[1]
    zero = problem_of(*data, metric, 1.001 * top)
    if metric != "euclidean":  # it has a kink there
        assert zero.value_and_slope(np.zeros(P)).slope.max() < 0
    assert zero.value_and_slope(np.ones(P)).slope.max() < 0
    weaker = problem_of(*data, metric, 0.999 * top)
    slopes = [weaker.value_and_slope(W).slope.max() for W in (np.zeros(P), np.ones(P))]
    assert max(slopes) > 0


@pytest.mark.parametrize("seed", range(5))
def test_nothing_survives_just_above_the_strongest_alpha(seed):
    X, y = signal(seed, n=90, P=12)
    top = largest_alpha(problem_of(X, y))
    assert not lbfgs(problem_of(X, y, alpha=1.1 * top), np.ones(12)).W.any()
    assert lbfgs(problem_of(X, y, alpha=0.3 * top), np.ones(12)).W.any()


def test_the_strongest_alpha_does_not_depend_on_that_of_the_problem():
    X, y = SETS["wine"]
    a, b = largest_alpha(problem_of(X, y)), largest_alpha(problem_of(X, y, alpha=3.0))
    assert a == pytest.approx(b, rel=1e-12)


def test_the_grid_falls_by_equal_shares_to_a_thousandth():
    problem = problem_of(*SETS["iris"])
    alphas = alpha_grid(problem, 7)
    assert alphas[0] == pytest.approx(largest_alpha(problem))
    np.testing.assert_allclose(alphas[1:] / alphas[:-1], 10**-0.5)


def test_without_any_slope_the_grid_begins_at_the_weight_of_a_row():
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    problem = problem_of(X, [0, 0, 1, 1])  # equal rows are of other classes: weights do harm
    assert largest_alpha(problem) == 1.0


def test_both_clouds_of_yangs_toy_are_found_along_the_path():
    problem = problem_of(*yangs_toy(0))
    alphas = [2.0, 1.0, 0.5]
    for fit in two_way_path(solver(problem), np.ones(102), alphas):
        assert np.flatnonzero(fit.W).tolist() == [0, 1]
