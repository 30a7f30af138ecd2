"""Solvers of smooth losses and L2: their derivatives, their optima, and the loop around them.

F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + l2/2 ‖w‖²
"""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from certus.csr import CSR
from certus.kernels.products import twice
from certus.losses import Huber, Logistic, Softmax, Squared, SquaredHinge
from certus.penalties import L2
from certus.rows import Rows
from certus.solvers import LBFGS, Newton, NewtonCG, sampled_newton
from certus.solvers.coordinates import FAR, coordinates, coordinates_of_some
from certus.solvers.gram import NonFiniteError
from certus.solvers.loop import SAFETY, Fit, State, minimise
from certus.solvers.newton import second_order
from certus.solvers.newton_cg import _Here
from certus.solvers.problem import Problem, objective
from certus.solvers.products import curvature, first_order, room_for_states
from certus.solvers.sampled_newton import SampledNewton

LOSSES = {
    "squared": Squared(),
    "huber": Huber(0.7),
    "logistic": Logistic(),
    "squared hinge": SquaredHinge(),
    "softmax": Softmax(),
}
SOLVERS = {"newton": Newton, "newton-cg": NewtonCG, "lbfgs": LBFGS}
each_loss = pytest.mark.parametrize("loss", LOSSES)
each_solver = pytest.mark.parametrize("solver", SOLVERS)
intercepts = pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])


def targets(loss, z, rng):
    """As the loss wants them, drawn around scores z (n, K)."""
    if loss.several:
        return (z + rng.gumbel(size=z.shape)).argmax(axis=1).astype(float)
    if loss.name in ("squared", "huber"):
        return z[:, 0] + rng.standard_t(2, size=len(z))
    return np.where(z[:, 0] + rng.logistic(size=len(z)) > 0, 1.0, -1.0)


def problem_of(name, *, l2=0.3, n=80, p=3, intercept=True, weighted=False, change=None, seed=0):
    """``change``: what is done to X before it becomes Rows."""
    loss, rng = LOSSES[name], np.random.default_rng(seed)
    K = 3 if loss.several else 1
    X = rng.normal(size=(n, p))
    y = targets(loss, X @ rng.normal(size=(p, K)) + 0.5, rng)
    s = rng.integers(0, 4, size=n).astype(float) if weighted else None
    X = X if change is None else change(X)
    return Problem(Rows(X, y[:, None], s), loss, L2(l2), intercept, K)


def dense(problem: Problem) -> Any:
    """X, with its zeros."""
    X = problem.rows.X
    if isinstance(X, CSR):
        return sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape).toarray()
    return X


def exact_objective(problem: Problem, w: Any, b: Any) -> float:
    """F by its formula, in extended precision where that exists."""
    wide = np.longdouble
    z = np.asarray(dense(problem), dtype=wide) @ np.asarray(w, dtype=wide) + np.asarray(
        b, dtype=wide
    )
    loss = problem.loss
    value = loss.value(problem.y, z if loss.several else z[:, 0])
    s = 1.0 if problem.rows.s is None else problem.rows.s
    return np.sum(s * value) + wide(problem.l2) / 2 * np.sum(np.asarray(w, dtype=wide) ** 2)


# --- derivatives ----------------------------------------------------------------------------------

CHANGES = {
    "as drawn": None,
    "float32": lambda X: X.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "far": lambda X: X + 64 * FAR,
    "large and small": lambda X: X * [1e170, 1.0, 1e-170],
    "constant column": lambda X: X * [1, 0, 1] + [0, 3, 0],
    "sparse": lambda X: CSR(sparse.csr_array(X * (np.abs(X) > 0.5))),
}
each_change = pytest.mark.parametrize("change", CHANGES)


def somewhere(problem, at, seed=1):
    """(u, β) with scores of ordinary size, whatever the columns' units."""
    rng = np.random.default_rng(seed)
    size = np.sqrt(np.where(at.variance > 0, at.variance, 1.0))
    u = rng.normal(size=(problem.rows.shape[1], problem.outputs)) / size[:, None]
    return u, rng.normal(size=problem.outputs) * problem.fit_intercept


def losses_at(problem, at, u, beta):
    """Σ s ℓ in (u, β)."""
    X = (np.asarray(dense(problem), dtype=np.longdouble) - at.c) * at.scale
    z = X @ u + beta
    value = problem.loss.value(problem.y, z if problem.loss.several else z[:, 0])
    return np.sum(value if problem.rows.s is None else problem.rows.s * value)


def differences(problem, at, u, beta):
    """Gradient of the losses in θ = (u, β), (p+1, K), by central differences."""
    theta = np.vstack([u, beta]).astype(np.longdouble)
    size = np.sqrt(np.where(at.variance > 0, at.variance, 1.0))
    out = np.empty(theta.shape)
    for j, k in np.ndindex(*theta.shape):
        h = np.zeros_like(theta)
        h[j, k] = 1e-6 / (size[j] if j < len(size) else 1.0)
        up, down = theta + h, theta - h
        rise = losses_at(problem, at, up[:-1], up[-1]) - losses_at(problem, at, down[:-1], down[-1])
        out[j, k] = rise / (2 * h[j, k])
    return out


def in_units(theta, at):
    """Rows of θ or ∇ made comparable: columns of another unit are multiplied by their spread."""
    size = np.sqrt(np.where(at.variance > 0, at.variance, 1.0))
    return (np.r_[1 / size, 1.0] * theta.T).T


@each_loss
@each_change
@intercepts
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_gradients_are_the_slopes_of_the_objective(loss, change, intercept, weighted):
    if change == "sparse" and intercept:
        pytest.skip("sparse columns are not shifted: the sums are about 0, see the next test")
    problem = problem_of(loss, intercept=intercept, weighted=weighted, change=CHANGES[change])
    at = coordinates(problem.rows.dense(), intercept)
    u, beta = somewhere(problem, at)
    truth = differences(problem, at, u, beta)
    sums = second_order(problem, at, u, beta)
    assert float(sums.f) == pytest.approx(float(losses_at(problem, at, u, beta)), rel=1e-10)
    error = np.abs(in_units(sums.g - truth, at)).max()
    assert error <= 1e-6 * np.abs(in_units(truth, at)).max()
    at = coordinates(problem.rows, intercept)
    first = first_order(problem.rows, problem.loss, at, u, beta, room_for_states(problem))
    assert float(first.f) == pytest.approx(float(sums.f), rel=1e-10)
    c = at.correction
    Xg = first.Xg if c is None else first.Xg - np.multiply.outer(c, first.g)
    error = np.abs(in_units(np.vstack([Xg, first.g]) - truth, at)).max()
    assert error <= 1e-6 * np.abs(in_units(truth, at)).max()


@each_loss
@each_change
@intercepts
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_products_with_the_hessian_are_the_change_of_the_gradient(
    loss, change, intercept, weighted
):
    problem = problem_of(loss, intercept=intercept, weighted=weighted, change=CHANGES[change])
    at = coordinates(problem.rows, intercept)
    u, beta = somewhere(problem, at)
    room = room_for_states(problem), room_for_states(problem)
    with np.errstate(over="ignore"):  # of its squares, which are not used here
        here = _Here(problem, at, u, beta, room)
    V, v_beta = somewhere(problem, at, seed=2)
    V = np.vstack([V, v_beta])
    ours = curvature(problem.rows, problem.loss, at, room[0], here.a, V)

    def gradient(t):
        """About the centre a, which does not move."""
        room = room_for_states(problem)
        moved = u + t * V[:-1], beta + t * (V[-1] - here.m @ V[:-1])
        sums = first_order(problem.rows, problem.loss, at, *moved, room)
        return np.vstack([sums.Xg - np.multiply.outer(here.a, sums.g), sums.g])

    h = 1e-6
    truth = (gradient(h) - gradient(-h)) / (2 * h)
    size = np.abs(in_units(truth, at)).max()
    kinks = loss in ("huber", "squared hinge")  # a row may cross one on the way
    tolerance = 2e-2 if kinks else 1e-6
    np.testing.assert_allclose(in_units(ours, at), in_units(truth, at), atol=tolerance * size)
    if change != "sparse":
        # and those of the whole matrix, about c
        dense_at = coordinates(problem.rows.dense(), intercept)
        H = second_order(problem, dense_at, u, beta).H
        W = np.vstack([V[:-1], V[-1] - here.m @ V[:-1]])
        HV = np.einsum("klij,jl->ik", H, W)
        HV[:-1] -= np.multiply.outer(here.m, HV[-1])
        np.testing.assert_allclose(in_units(HV, at), in_units(ours, at), atol=1e-9 * size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
@each_loss
def test_the_compiled_sums_are_those_of_numpy(loss, dtype, weighted, far, monkeypatch):
    def change(X):
        return (X + 100 * FAR * far).astype(dtype)

    problem = problem_of(loss, n=333, p=5, weighted=weighted, change=change)
    at = coordinates(problem.rows, True)
    assert at.shifted == far
    u, beta = somewhere(problem, at)
    V = np.vstack(somewhere(problem, at, seed=2))
    a = at.c * (not far) + 0.01
    found = []
    for work in (1e18, 0):
        monkeypatch.setattr("certus.solvers.newton.KERNEL_WORK", work)
        monkeypatch.setattr("certus.solvers.products.KERNEL_ELEMENTS", work)
        room = room_for_states(problem)
        first_order(problem.rows, problem.loss, at, u, beta, room)
        product = curvature(problem.rows, problem.loss, at, room, a, V)
        found.append((*second_order(problem, at, u, beta), product))
    for plain, compiled in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-9 * np.abs(plain).max())


# --- the kernel -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", range(1, 10))
def test_rows_multiplied_from_both_sides(dtype, p):
    rng = np.random.default_rng(p)
    for n in range(10):
        X = rng.normal(size=(n, p)).astype(dtype)
        X.flags.writeable = False
        d, u, c = rng.normal(size=n), rng.normal(size=p), float(rng.normal())
        before = rng.normal(size=p)
        Xt = before.copy()
        total = twice(X, d, u, c, Xt)
        t = d * (X.astype(float) @ u - c)
        np.testing.assert_allclose(Xt, before + X.astype(float).T @ t, rtol=1e-12, atol=1e-12)
        assert total == pytest.approx(t.sum(), rel=1e-12, abs=1e-12)
        for odd in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
            again = before.copy()
            assert twice(odd, d, u, c, again) == total
            np.testing.assert_array_equal(again, Xt)


def test_arrays_that_do_not_match_are_refused():
    X, d, u = np.ones((6, 2)), np.ones(6), np.ones(2)
    for wrong in (
        (X, d[:5], u, np.zeros(2)), (X, d, np.ones(3), np.zeros(2)), (X, d, u, np.zeros(3)),
        (X, d, u, np.zeros(2, dtype=np.float32)), (X, d, u, np.zeros(4)[::2]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="do not match"):
            twice(*wrong[:3], 0.0, wrong[3])
    with pytest.raises(TypeError, match="float32 or float64"):
        twice(X.astype(int), d, u, 0.0, np.zeros(2))


# --- optima ---------------------------------------------------------------------------------------


def optimum(problem):
    """By SciPy, polished by its own Newton-free method: (w, b, F)."""
    p, K = problem.rows.shape[1], problem.outputs

    def unpack(theta):
        theta = theta.reshape(p + 1, K)
        return theta[:-1], theta[-1] * problem.fit_intercept

    def f(theta):
        w, b = unpack(theta)
        X = np.asarray(problem.rows.X, dtype=float)
        z = X @ w + b
        several = problem.loss.several
        value, slope, _ = problem.loss.evaluate(problem.y, z if several else z[:, 0])
        s = np.ones(len(z)) if problem.rows.s is None else problem.rows.s
        g = (s * slope.T).T.reshape(len(z), K)
        gradient = np.vstack([X.T @ g + problem.l2 * w, g.sum(axis=0) * problem.fit_intercept])
        return s @ value + problem.l2 / 2 * (w**2).sum(), gradient.ravel()

    start = np.zeros((p + 1) * K)
    found = minimize(f, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    return *unpack(found.x), found.fun


@each_loss
@each_solver
@intercepts
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("l2", [0.0, 0.3, 30.0])
def test_every_solver_finds_the_optimum(loss, solver, intercept, weighted, l2):
    problem = problem_of(loss, l2=l2, n=200, intercept=intercept, weighted=weighted)
    fit = minimise(problem, SOLVERS[solver](), tol=1e-11, max_iter=2000)
    w, b, best = optimum(problem)
    assert fit.solver == solver
    assert fit.stopped_at is None
    ours = objective(problem, fit.w, fit.b)
    assert ours == pytest.approx(float(exact_objective(problem, fit.w, fit.b)), rel=1e-12)
    assert ours <= best * (1 + 1e-9)
    if problem.loss.several:  # what all scores share is free, where nothing penalises it
        w, ours_w = (v - v.mean(axis=1, keepdims=True) for v in (w, fit.w))
        b, ours_b = b - b.mean(), fit.b - fit.b.mean()
    else:
        ours_w, ours_b = fit.w, fit.b
    np.testing.assert_allclose(ours_w, w, atol=2e-4)
    np.testing.assert_allclose(ours_b, b, atol=2e-4)


@each_loss
@each_solver
@pytest.mark.parametrize("change", ["float32", "Fortran order", "far", "sparse"])
def test_the_dress_of_the_data_does_not_move_the_optimum(loss, solver, change):
    problem = problem_of(loss, change=CHANGES[change])
    fit = minimise(problem, SOLVERS[solver](), tol=1e-11, max_iter=2000)
    X = np.asarray(dense(problem), dtype=float) - (64 * FAR if change == "far" else 0.0)
    plain = Problem(Rows(X, problem.rows.y), problem.loss, problem.penalty, True, problem.outputs)
    here = minimise(plain, Newton(), tol=1e-12)
    np.testing.assert_allclose(fit.w, here.w, atol=2e-4)


@each_solver
def test_excess_and_bound_of_a_state_hold(solver):
    for loss in LOSSES:
        problem = problem_of(loss, l2=0.5)
        best = minimise(problem, Newton(), tol=1e-13, max_iter=500)
        least = objective(problem, best.w, best.b)
        heard: list = []
        minimise(problem, SOLVERS[solver](), tol=1e-9, max_iter=500, on_step=heard.append)
        assert len(heard) > 1
        for step in heard:
            assert step.bound <= least * (1 + 1e-9), (loss, step.iteration)
            fit = step.parameters()
            true = objective(problem, fit.w, fit.b)
            # the last of Newton's steps is not evaluated but foretold
            assert step.objective == pytest.approx(true, rel=1e-6)
        values = [step.objective for step in heard]
        assert values == sorted(values, reverse=True)


@each_solver
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_singular_hessians_are_no_obstacle(loss, solver):
    def repeated(X):
        return X[:, [0, 1, 2, 0, 1]]

    for l2 in (0.0, 1e-9, 1.0):
        problem = problem_of(loss, l2=l2, n=200, change=repeated)
        single = problem_of(loss, l2=0.0, n=200)
        fit = minimise(problem, SOLVERS[solver](), tol=1e-9, max_iter=3000)
        assert fit.stopped_at is None
        assert np.isfinite(fit.w).all()
        if l2 < 1:
            here = minimise(single, Newton(), tol=1e-12)
            least = objective(single, here.w, here.b)
            assert objective(problem, fit.w, fit.b) == pytest.approx(least, rel=1e-6)


@each_solver
def test_columns_that_do_not_vary_and_rows_that_do_not_count(solver):
    problem = problem_of("logistic", change=CHANGES["constant column"])
    fit = minimise(problem, SOLVERS[solver](), tol=1e-10)
    assert fit.stopped_at is None
    assert fit.w[1, 0] == pytest.approx(0.0, abs=1e-12)
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(60, 2)), rng.choice([-1.0, 1.0], size=(60, 1)), np.ones(60)
    X[::3], s[::3] = 1e6, 0.0
    kept = s > 0
    fits = [
        minimise(Problem(Rows(*rows), Logistic(), L2(1.0)), SOLVERS[solver](), tol=1e-12)
        for rows in ((X, y, s), (X[kept], y[kept], s[kept]))
    ]
    np.testing.assert_allclose(fits[0].w, fits[1].w, atol=1e-6)


@each_solver
def test_separated_classes_end_the_steps(solver):
    X = np.linspace(-1, 1, 40)[:, None]
    problem = Problem(Rows(X, np.sign(X)), Logistic(), L2(0.0))
    fit = minimise(problem, SOLVERS[solver](), tol=1e-12, max_iter=500)
    assert fit.stopped_at is None
    assert fit.n_iter < 50
    assert np.isfinite(fit.w).all()
    assert (X[:, 0] * (X @ fit.w + fit.b)[:, 0] > 0).all()


@each_solver
def test_a_value_that_is_not_finite_is_an_error(solver):
    for bad in (np.nan, np.inf):
        problem = problem_of("logistic")
        problem.rows.X[5, 1] = bad
        with pytest.raises(NonFiniteError):
            minimise(problem, SOLVERS[solver]())


# --- a first guess from some of the rows ----------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_hessian_of_a_sample_changes_the_way_not_the_answer(weighted, l2, order):
    fits = []
    for solver in (Newton(), SampledNewton()):
        problem = problem_of(
            "logistic",
            n=4000,
            l2=l2,
            weighted=weighted,
            change=lambda X: np.asarray(X, order=order),
        )
        heard = []
        fits.append(minimise(problem, solver, tol=1e-12, on_step=heard.append))
    assert heard[0].objective < 0.98 * problem.null[1], "the first guess is no better than none"
    assert len(heard) > 1
    assert fits[1].arrived
    np.testing.assert_allclose(fits[1].w, fits[0].w, atol=1e-6)
    np.testing.assert_allclose(fits[1].b, fits[0].b, atol=1e-6)


@pytest.mark.parametrize("change", [lambda X: X + 1e5, lambda X: X.astype(np.float32)])
def test_the_gradient_of_all_rows_is_that_of_the_hessians_pass(change):
    problem = problem_of("logistic", n=500, weighted=True, change=change)
    at = coordinates(problem.rows, True)
    rng = np.random.default_rng(0)
    u, beta = rng.normal(size=(3, 1)), rng.normal(size=1)
    ours, truth = (
        sampled_newton.first_order(problem, at, u, beta),
        second_order(problem, at, u, beta),
    )
    np.testing.assert_allclose(ours.f, truth.f, rtol=1e-12)
    np.testing.assert_allclose(ours.g, truth.g, rtol=1e-9, atol=1e-9 * np.abs(truth.g).max())


def test_a_sample_that_misleads_hands_over_to_newton(monkeypatch):
    problem = problem_of("logistic", n=4000)
    right = sampled_newton.inverse
    wrong = lambda *args: (lambda g: 0.3 * right(*args)[0](g), False)  # noqa: E731
    monkeypatch.setattr(sampled_newton, "inverse", wrong)
    fit = minimise(problem, SampledNewton(), tol=1e-12)
    here = minimise(problem, Newton(), tol=1e-12)
    assert fit.arrived
    np.testing.assert_allclose(fit.w, here.w, atol=1e-6)


@pytest.mark.parametrize("singular", [False, True])
def test_a_hessian_of_few_digits_is_enough_or_is_not_used(monkeypatch, singular):
    asked, with_hessian, inverse = [], sampled_newton.with_hessian, sampled_newton.inverse

    def listening(*args):
        asked.append(args[-1])
        return with_hessian(*args)

    def doubting(*args):
        solve, _ = inverse(*args)
        return solve, singular and asked[-1]

    monkeypatch.setattr(sampled_newton, "with_hessian", listening)
    monkeypatch.setattr(sampled_newton, "inverse", doubting)
    problem = problem_of("softmax", n=4000, weighted=True)
    here, fit = (minimise(problem, solver, tol=1e-9) for solver in (Newton(), SampledNewton()))
    assert asked == ([True, False] if singular else [True])
    assert fit.arrived
    np.testing.assert_allclose(fit.w, here.w, atol=1e-4)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_class_that_is_not_there_weighs_nothing_at_all(sign):
    rng = np.random.default_rng(0)
    for n in range(1, 200, 7):
        s = rng.uniform(size=n)
        one = Problem(Rows(np.ones((n, 1)), np.full((n, 1), sign), s), Logistic(), L2(1.0))
        assert not one.has_every_class()
        one.rows.y[0] = -sign
        assert one.has_every_class() == (n > 1)


def test_a_sample_without_a_rare_class_is_no_harm():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8000, 2)), -np.ones((8000, 1))
    y[[17, 4321]] = 1.0
    problem = Problem(Rows(X, y), Logistic(), L2(1.0))
    here, fit = (minimise(problem, solver, tol=1e-11) for solver in (Newton(), SampledNewton()))
    assert fit.arrived
    np.testing.assert_allclose(fit.w, here.w, atol=1e-4)


def test_rows_larger_than_all_that_a_sample_holds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    y = np.where(X @ [1, 1] + rng.logistic(size=5000) > 0, 1.0, -1.0)[:, None]
    X[1234, 0] = 1e160
    fit = minimise(Problem(Rows(X, y), Logistic(), L2(1.0)), SampledNewton(), max_iter=50)
    assert np.isfinite(fit.w).all()


@each_solver
@each_loss
def test_the_same_bits_on_any_number_of_threads(loss, solver, monkeypatch):
    monkeypatch.setattr("certus.rows.SMALL_WORK", 0)
    monkeypatch.setattr("certus.rows.BLOCK_BYTES", 1 << 12)
    fits = []
    for threads in (1, 2, 3):
        problem = problem_of(loss, n=3000, weighted=True)
        problem.rows.threads = threads
        fits.append(minimise(problem, SOLVERS[solver](), tol=1e-9, max_iter=200))
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.w, fits[0].w)
        np.testing.assert_array_equal(fit.b, fits[0].b)
        assert fit.n_iter == fits[0].n_iter


# --- the loop -------------------------------------------------------------------------------------


class Halving:
    """Excess 1, ½, ¼ …, or what a test says."""

    name = "halving"

    def __init__(self, stuck_at=None):
        self.stuck_at, self.steps = stuck_at, 0

    def init(self, problem, w, b):
        return State(w, b, 2.0, 1.0, 1.0)

    def step(self, problem, state):
        self.steps += 1
        if self.steps == self.stuck_at:
            state.stuck = True
            return state
        e = state.excess / 2
        return State(state.w + 1, state.b, 1.0 + e, e, 1.0)


@pytest.fixture
def plain():
    problem = problem_of("logistic")
    problem.null = (np.zeros(1), 1.0)
    return problem


def test_it_stops_when_the_excess_is_small_enough_with_some_to_spare(plain):
    fit = minimise(plain, Halving(), tol=2.0**-8)
    assert fit.n_iter == 8 + int(np.log2(SAFETY))
    assert (fit.arrived, fit.stopped_at) == (True, None)
    assert (fit.w == fit.n_iter).all()
    assert isinstance(fit, Fit)


@pytest.mark.parametrize("max_iter", [0, 1, 5])
def test_it_stops_at_max_iter_and_says_so(plain, max_iter):
    fit = minimise(plain, Halving(), tol=1e-9, max_iter=max_iter)
    assert (fit.n_iter, fit.stopped_at, fit.arrived) == (max_iter, max_iter, False)


def test_arriving_in_the_last_step_is_arriving(plain):
    fit = minimise(plain, Halving(), tol=SAFETY * 2.0**-5, max_iter=5)
    assert (fit.n_iter, fit.stopped_at, fit.arrived) == (5, None, True)


def test_it_stops_where_a_solver_is_stuck(plain):
    fit = minimise(plain, Halving(stuck_at=3), tol=1e-9)
    assert (fit.n_iter, fit.stopped_at, fit.arrived) == (3, None, False)
    assert (fit.w == 2).all(), "the best so far"


def test_it_tells_every_step_and_stops_when_told(plain):
    heard = []

    def on_step(step):
        heard.append(step)
        return step.iteration == 3

    fit = minimise(plain, Halving(), tol=1e-9, on_step=on_step)
    assert [step.iteration for step in heard] == [0, 1, 2, 3]
    assert (fit.n_iter, fit.stopped_at, fit.arrived) == (3, None, False)
    assert [step.objective for step in heard] == [2.0, 1.5, 1.25, 1.125]
    assert all(step.bound == 1.0 for step in heard)
    assert [step.parameters().n_iter for step in heard] == [0, 1, 2, 3]


def test_going_on_counts_from_before_and_tells_no_step_twice(plain):
    heard = []
    fit = minimise(plain, Halving(), tol=1e-3, on_step=heard.append, before=4)
    assert heard[0].iteration == 5
    assert fit.n_iter == heard[-1].iteration


def test_a_start_that_is_worse_than_nothing_or_not_finite_is_not_used():
    problem = problem_of("logistic")
    truth = minimise(problem, Newton(), tol=1e-12)
    for start in (1e3, -1e6, np.nan, np.inf):
        heard = []
        fit = minimise(
            problem, Newton(), (np.full((3, 1), start), np.zeros(1)), tol=1e-12,
            on_step=heard.append,
        )  # fmt: skip
        assert heard[0].objective == pytest.approx(problem.null[1])
        np.testing.assert_allclose(fit.w, truth.w, atol=1e-6)
    heard.clear()
    minimise(problem, Newton(), (truth.w, truth.b), on_step=heard.append)
    assert len(heard) == 1


# --- the model without columns --------------------------------------------------------------------


@each_loss
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_null_model_is_the_best_constant(loss, weighted):
    problem = problem_of(loss, weighted=weighted)
    b, f0 = problem.null
    w = np.zeros((3, problem.outputs))
    assert f0 == pytest.approx(objective(problem, w, b), rel=1e-12)
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        for _ in range(10):
            other = b + size * rng.normal(size=b.shape)
            assert objective(problem, w, other) >= f0 * (1 - 1e-12)
    free = problem_of(loss, weighted=weighted, intercept=False)
    np.testing.assert_array_equal(free.null[0], 0)


# --- coordinates ----------------------------------------------------------------------------------


@intercepts
@each_change
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_scores_are_the_same_in_and_out(change, intercept, weighted):
    problem = problem_of("softmax", intercept=intercept, change=CHANGES[change], weighted=weighted)
    at = coordinates(problem.rows, intercept)
    u, beta = somewhere(problem, at)
    w, b = at.outside(u, beta)
    back = at.inside(w, b)
    np.testing.assert_allclose(back[0], u, rtol=1e-14)
    np.testing.assert_allclose(back[1], beta, rtol=1e-6, atol=1e-6)
    X = np.asarray(dense(problem), dtype=np.longdouble)
    block = X if problem.rows.sparse else at.block(problem.rows.X)
    c = at.correction
    inside = block @ u + beta - (0.0 if c is None else c @ u)
    np.testing.assert_allclose(inside.astype(float), (X @ w + b).astype(float), atol=1e-6)
    s = np.ones(len(X)) if problem.rows.s is None else problem.rows.s
    if intercept:
        mean = (s @ X / s.sum()).astype(float)
        np.testing.assert_allclose(at.c, mean, rtol=1e-9, atol=1e-15)
        np.testing.assert_array_equal(at.variance == 0, X.std(axis=0) == 0)
    else:
        np.testing.assert_array_equal(at.c, 0)
    q = np.broadcast_to(at.scale, (3,))
    np.testing.assert_array_equal(q, 2.0 ** np.round(np.log2(q)))
    if change != "sparse":
        some = coordinates_of_some(problem.rows, intercept)
        np.testing.assert_allclose(some.c, at.c, rtol=1e-9, atol=1e-15)


def test_columns_far_from_0_are_shifted_and_near_ones_corrected():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    near = coordinates(Rows(X + 10), True)
    far = coordinates(Rows(X + np.array([0, 1e7])), True)
    assert not near.shifted
    assert near.correction is not None
    assert far.shifted
    assert far.correction is None
    np.testing.assert_allclose(far.variance, X.var(axis=0), rtol=1e-6)
    np.testing.assert_allclose(near.variance, X.var(axis=0), rtol=1e-10)
    assert not coordinates(Rows(X + 1e7), False).shifted


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@intercepts
def test_columns_that_are_not_finite_are_found(bad, intercept):
    X = np.ones((9, 2))
    X[4, 1] = bad
    with pytest.raises(NonFiniteError):
        coordinates(Rows(X), intercept)


def test_lbfgs_remembers_as_much_as_it_is_told():
    problem = problem_of("logistic", n=200, p=6)
    best = minimise(problem, Newton(), tol=1e-12)
    for memory in (1, 3, 30):
        fit = minimise(problem, LBFGS(memory=memory), tol=1e-11, max_iter=2000)
        np.testing.assert_allclose(fit.w, best.w, atol=1e-4)
    with pytest.raises(ValueError, match="memory=0"):
        LBFGS(memory=0)
