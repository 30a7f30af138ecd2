"""Step lengths: L bounds every curvature, and searches satisfy their conditions."""

import numpy as np
import pytest
from scipy import sparse

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.losses import Squared
from certus.penalties import L2
from certus.solvers import (
    LBFGS,
    SAGA,
    SGD,
    Backtracking,
    Fixed,
    GradientDescent,
    HeavyBall,
    Lipschitz,
    Nesterov,
    Wolfe,
)
from certus.solvers.first_order.step_rules import MAX_GRAM_COLUMNS, Line, Trial, largest_curvature
from certus.solvers.first_order.stochastic import row_curvature
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem
from tests.first_order.optimiser_cases import Twin, each_layout, make_problem, optimum, weights
from tests.glm.smooth_cases import LOSSES, each_loss, intercepts, problem_of

# --- L --------------------------------------------------------------------------------------------


@each_loss
@weights
@intercepts
def test_no_curvature_of_q_is_above_l(loss, weighted, intercept):
    for seed in range(3):
        problem = problem_of(loss, weighted=weighted, intercept=intercept, seed=seed)
        twin, L = Twin(loss, problem), largest_curvature(problem)
        rng = np.random.default_rng(seed)
        for size in (0.0, 0.1, 1.0, 10.0):
            theta = size * rng.normal(size=twin.shape)
            assert twin.hessian_eigenvalue(theta) <= L * (1 + 1e-6)
        if loss in ("squared", "logistic"):  # but for the intercept, which has no λ, L is met at 0
            at_zero = twin.hessian_eigenvalue(np.zeros(twin.shape))
            assert L - twin.lam * (1 if intercept else 1e-5) <= at_zero * (1 + 1e-5)


@each_layout
def test_l_is_the_same_in_every_dress(layout):
    L = largest_curvature(make_problem("logistic", "C order", weighted=True))
    candidate = largest_curvature(make_problem("logistic", layout, weighted=True))
    assert candidate == pytest.approx(L, rel=1e-6 if "float32" in layout else 1e-12)


@intercepts
@pytest.mark.parametrize("thin", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_l_of_many_columns_is_a_bound_too(intercept, thin, shift):
    rng = np.random.default_rng(0)
    X = (
        rng.normal(size=(40, MAX_GRAM_COLUMNS + 50))
        * (rng.random((40, MAX_GRAM_COLUMNS + 50)) < 0.2)
        + shift
    )
    s = rng.integers(0, 3, size=40).astype(float)
    rows = Rows(CSR(sparse.csr_array(X)) if thin else X, np.ones((40, 1)), s)
    L = largest_curvature(Problem(rows, Squared(), L2(3.0), intercept))
    X1 = np.column_stack([X, np.full(40, float(intercept))])
    true = np.linalg.eigvalsh(X1 * np.sqrt(s)[:, None] @ (X1 * np.sqrt(s)[:, None]).T)[-1]
    assert (true + 3.0) / s.sum() <= L <= 1.02 * (true + 3.0) / s.sum()


@pytest.mark.parametrize("p", [3, MAX_GRAM_COLUMNS + 1])
def test_x_of_zeros_has_a_step_and_x_whose_squares_overflow_is_named(p):
    def of(X):
        return Problem(Rows(X, np.ones((9, 1))), Squared(), L2(0.0), False)

    assert largest_curvature(of(np.zeros((9, p)))) == 1.0
    assert SGD().alpha(of(np.zeros((9, p)))) == 1.0
    assert SAGA().gamma(of(np.zeros((9, p)))) == 1.0
    for function in (largest_curvature, row_curvature):
        with pytest.raises(ValueError, match=r"the squares of X overflow.*scale the columns"):
            function(of(np.full((9, p), 1e200)))


@each_layout
def test_the_curvature_of_a_row_is_that_of_its_loss(layout):
    for loss in LOSSES:
        problem = make_problem(loss, layout, weighted=True)
        twin = Twin(loss, problem)
        each = twin.loss.curvature_bound * twin.s * twin.n / twin.S * (twin.X**2).sum(axis=1)
        result = row_curvature(problem)
        np.testing.assert_allclose(result, [each.max(), each.mean(), twin.lam], rtol=1e-6)
        n = twin.n
        assert result.of_batch(1, n) == pytest.approx(each.max() + twin.lam, rel=1e-6)
        assert result.of_batch(n, n) == pytest.approx(each.mean() + twin.lam, rel=1e-6)
        between = [result.of_batch(size, n) for size in range(1, n + 1)]
        assert between == sorted(between, reverse=True)


# --- searches -------------------------------------------------------------------------------------


class Listening:
    """A rule that writes down what it found."""

    def __init__(self, rule):
        self.rule, self.searches, self.heard = rule, rule.searches, []

    def find(self, line):
        result = self.rule.find(line)
        self.heard.append((line, result))
        return result


@each_loss
@weights
@pytest.mark.parametrize("rule", [Backtracking(), Backtracking(0.3, 0.8), Wolfe(), Wolfe(0.2, 0.4)])
def test_what_a_search_finds_keeps_its_conditions(loss, weighted, rule):
    problem = problem_of(loss, weighted=weighted)
    twin, solver = Twin(loss, problem), GradientDescent()
    solver.step_rule = listening = Listening(rule)
    minimize(problem, solver, tol=0.0, max_iter=25)
    theta, result = np.zeros(twin.shape), 0
    for _, step in listening.heard:
        if step is None:
            break
        t, _ = step
        V = -twin.gradient(theta)
        slope, candidate = -np.sum(V**2), theta + t * V
        rounding = 1e-13 * abs(twin.Q(theta))
        assert twin.Q(candidate) <= twin.Q(theta) + rule.sufficient_decrease * t * slope + rounding
        if isinstance(rule, Wolfe):
            assert (
                np.sum(twin.gradient(candidate) * V)
                >= rule.curvature * slope * (1 + 1e-9) - rounding
            )
        theta, result = candidate, result + 1
    assert result >= 3


@each_loss
def test_a_search_ends_where_rounding_hides_what_a_step_gains(loss):
    problem = problem_of(loss)
    theta, _ = optimum(problem)
    for rule in ("backtracking", "wolfe"):
        solver = GradientDescent(rule)
        fit = minimize(problem, solver, (theta[:-1], theta[-1]), tol=0.0, max_iter=10_000)
        assert fit.stopped_at is None, "it stopped by itself"
        np.testing.assert_allclose(np.vstack([fit.w, fit.b]), theta, atol=1e-5)


def line(function, slope, first=1.0):
    heard = []

    def trial(t):
        heard.append(t)
        return Trial(*function(t), None)

    return Line(function(0.0)[0], slope, first, trial), heard


def test_searches_on_a_parabola():
    """Q(t) = (t − 8)²: the slope at 0 is −16."""

    def parabola(t):
        return (t - 8.0) ** 2, 2 * (t - 8.0)

    search_line, heard = line(parabola, -16.0)
    assert Backtracking().find(search_line)[0] == 2.0
    assert heard == [2.0]
    search_line, heard = line(parabola, -16.0, first=64.0)
    assert Backtracking(sufficient_decrease=0.5).find(search_line)[0] == 8.0
    assert heard == [128.0, 64.0, 32.0, 16.0, 8.0]
    search_line, heard = line(parabola, -16.0)
    assert Wolfe(sufficient_decrease=0.1, curvature=0.2).find(search_line)[0] == 8.0
    assert heard == [1.0, 2.0, 4.0, 8.0]
    search_line, heard = line(parabola, -16.0, first=40.0)
    assert Wolfe(sufficient_decrease=0.1, curvature=0.2).find(search_line)[0] == 10.0
    assert heard == [40.0, 20.0, 10.0]
    for rule in (Backtracking(), Wolfe()):
        assert rule.find(line(parabola, 0.0)[0]) is None
        assert rule.find(line(lambda t: (1.0 + t, 1.0), -1.0)[0]) is None, "it goes up"
        search_line, _ = line(lambda t: (np.nan if t > 1e-3 else 1.0 - t, -1.0), -1.0)
        result = rule.find(search_line)
        assert result is None or result[0] <= 1e-3, "no number is no way down"


def test_lbfgs_uses_the_line_search_that_it_is_given():
    problem = problem_of("logistic", n=200)
    theta, _ = optimum(problem)
    for rule in (None, Wolfe(), Wolfe(0.3, 0.5)):
        solver = LBFGS(line_search=rule)
        fit = minimize(problem, solver, tol=1e-11, max_iter=500)
        np.testing.assert_allclose(fit.w, theta[:-1], atol=1e-4)
    with pytest.raises(ValueError, match="line_search='wolfe'"):
        LBFGS(line_search="wolfe")


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GradientDescent(-1), "step=-1.0: give a finite number above 0"),
        (lambda: GradientDescent(0), "step=0.0: give a finite number above 0"),
        (lambda: GradientDescent(np.nan), "step=nan: give a finite number above 0"),
        (lambda: GradientDescent("newton"), "step='newton': give a number, 'lipschitz'"),
        (lambda: GradientDescent(True), "step=True: give a number"),
        (lambda: GradientDescent(None), "step=None: give a number"),
        (lambda: HeavyBall("wolfe"), "step='wolfe': give a number, 'lipschitz', or Fixed, Lipsch"),
        (lambda: HeavyBall(Backtracking()), r"step=Backtracking\(0.0001, 0.5\): give a number"),
        (lambda: HeavyBall(beta=1), "beta=1: give a number from 0 to below 1"),
        (lambda: HeavyBall(beta=True), "beta=True: give a number from 0 to below 1"),
        (lambda: Nesterov("wolfe"), "step='wolfe': give a number, 'lipschitz', 'backtracking', or"),
        (lambda: Nesterov(beta=-0.1), "beta=-0.1: give a number from 0 to below 1"),
        (lambda: SGD(-1), "step=-1: give a finite number above 0"),
        (lambda: SGD("wolfe"), "step='wolfe': give a finite number above 0"),
        (lambda: SGD(momentum=1), "momentum=1: give a number from 0 to below 1"),
        (lambda: SGD(average=-1), "average=-1: give a whole number, 0 or above"),
        (lambda: SGD(average=1.0), "average=1.0: give a whole number, 0 or above"),
        (lambda: SGD(batch_size=0), "batch_size=0: give a whole number, 1 or above"),
        (lambda: SGD(batch_size=True), "batch_size=True: give a whole number, 1 or above"),
        (lambda: SGD(order="x"), "order='x': give one of 'shuffle', 'random'"),
        (lambda: SGD(schedule="x"), "schedule='x': give one of 'constant', 'geometric', '1/t'"),
        (lambda: SGD(schedule=None), "schedule=None: give one of"),
        (lambda: SGD(decay=0), "decay=0: give a finite number above 0"),
        (lambda: SGD(start="x"), "start='x': give one of 'zero', 'random'"),
        (lambda: SGD(change=-1), "change=-1: give a number that is not negative, or None"),
        (lambda: SGD(change=np.inf), "change=inf: give a number that is not negative, or None"),
        (lambda: SAGA("wolfe"), "step='wolfe': give a finite number above 0"),
        (lambda: SAGA(order="x"), "order='x': give one of 'shuffle', 'random'"),
        (lambda: Fixed(0), "step=0: give a finite number above 0"),
        (lambda: Lipschitz(-2), "share=-2: give a finite number above 0"),
        (lambda: Backtracking(sufficient_decrease=1), "=1: give a number from 0 to below 1"),
        (lambda: Backtracking(shrink=0), "shrink=0.0: give a finite number above 0"),
        (lambda: Wolfe(0.5, 0.5), "curvature=0.5: give sufficient_decrease < curvature"),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense_are_refused_in_words(make, message):
    with pytest.raises(ValueError, match=message):
        make()
