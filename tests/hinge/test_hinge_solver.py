"""solvers/hinge: both solvers reach the same optimum, and their bounds hold at every step."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.solvers.hinge import (
    curvature,
    dispatch,
    dual_coordinates,
    newton,
)
from certus.solvers.hinge.dispatch import HingeProblem, solve
from certus.solvers.hinge.dual_coordinates import DualCoordinates
from certus.solvers.hinge.newton import ProximalNewton
from tests.contract.classification import classes
from tests.hinge import hinge_cases

SOLVERS = [ProximalNewton(), DualCoordinates()]
each_solver = pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.name)


def problem(seed=0, n=40, p=3, c=1.0, kind="dense", C=0.5):
    X, y = classes(seed, n, p, 2)
    u = C * np.random.default_rng(seed).integers(0, 3, size=n).astype(float)
    made = {
        "dense": X,
        "F": np.asfortranarray(X),
        "sparse": CSR(csr_array(X)),
        "whole": np.round(3 * X).astype(np.int8),
        "float32": X.astype(np.float32),
    }[kind]
    dense = np.asarray(made, dtype=float) if isinstance(made, np.ndarray) else X
    return dense, 2.0 * y - 1, u, HingeProblem(Rows(made), 2.0 * y - 1, u, c)


@pytest.mark.parametrize("kind", ["dense", "F", "sparse", "whole", "float32"])
@pytest.mark.parametrize("c", [1.0, 0.0, 7.0])
@each_solver
def test_the_optimum_is_that_of_50_digits(solver, c, kind):
    X, y, u, given = problem(c=c, kind=kind)
    best = hinge_cases.exact(X, y, u, c)
    fit = solve(given, solver, None, 1e-12, 1000)
    assert fit.converged
    np.testing.assert_allclose(fit.w, best.w, atol=1e-6)
    np.testing.assert_allclose(fit.b, best.b, atol=1e-6)
    np.testing.assert_allclose(fit.alpha, best.alpha, atol=1e-5)
    assert (fit.alpha >= 0).all()
    assert (fit.alpha <= u).all()


@each_solver
def test_objective_and_bound_enclose_the_optimum_at_every_step(solver):
    X, y, u, given = problem(seed=1, n=60)
    best, steps = float(hinge_cases.exact(X, y, u, 1.0).value), []
    fit = solve(given, solver, None, 1e-9, 1000, lambda step: bool(steps.append(step)))
    assert all(s.bound <= best * (1 + 1e-12) and s.objective >= best * (1 - 1e-12) for s in steps)
    assert [s.objective for s in steps] == sorted((s.objective for s in steps), reverse=True)
    assert [s.bound for s in steps] == sorted(s.bound for s in steps)
    assert steps[0].iteration == 0
    assert steps[-1].iteration == fit.n_iter
    kept = steps[-1].parameters()
    np.testing.assert_array_equal(kept.w, fit.w)


@each_solver
def test_a_listener_and_max_iter_stop_it_with_the_best_so_far(solver):
    *_, given = problem(seed=1, n=60)
    fit = solve(given, solver, None, 1e-12, 1000, lambda step: step.iteration == 2)
    assert (fit.n_iter, fit.converged, fit.stopped_at) == (2, False, None)
    *_, given = problem(seed=1, n=60)
    fit = solve(given, solver, None, 1e-12, 1)
    assert (fit.n_iter, fit.converged, fit.stopped_at) == (1, False, 1)
    assert fit.w.any()


@each_solver
def test_it_goes_on_from_where_it_stopped(solver):
    *_, given = problem(seed=1, n=60)
    rough = solve(given, solver, None, 1e-2, 1000)
    fine = solve(given, solver, rough, 1e-10, 1000)
    assert fine.converged
    assert fine.n_iter > rough.n_iter
    fresh = solve(problem(seed=1, n=60)[-1], solver, None, 1e-10, 1000)
    np.testing.assert_allclose(fine.w, fresh.w, atol=1e-5)


def test_many_rows_begin_with_a_sample_of_them(monkeypatch):
    monkeypatch.setattr(newton, "MIN_SAMPLED_ROWS", (100, 5))
    *_, given = problem(seed=2, n=400)
    sampled = solve(given, ProximalNewton(), None, 1e-10, 1000)
    monkeypatch.setattr(newton, "MIN_SAMPLED_ROWS", (10**9, 5))
    whole = solve(problem(seed=2, n=400)[-1], ProximalNewton(), None, 1e-10, 1000)
    np.testing.assert_allclose(sampled.w, whole.w, atol=1e-5)
    assert sampled.n_iter < whole.n_iter


@pytest.mark.parametrize("limits", [{"MAX_CONDITION": 0.0}, {"MAX_FACTORED_SIZE": 0}], ids=str)
def test_triangles_and_conjugate_gradients_give_the_steps_that_cholesky_gives(limits, monkeypatch):
    plain = solve(problem(seed=3, n=80)[-1], ProximalNewton(), None, 1e-10, 1000)
    for name, value in limits.items():
        monkeypatch.setattr(curvature, name, value)
    for kind in ("dense", "sparse"):
        fit = solve(problem(seed=3, n=80, kind=kind)[-1], ProximalNewton(), None, 1e-10, 1000)
        assert fit.converged
        np.testing.assert_allclose(fit.w, plain.w, atol=1e-5)


@each_solver
def test_columns_far_from_the_origin_and_of_all_scales_are_no_obstacle(solver):
    X, y, u, _ = problem(seed=4, n=80, p=4)
    X = X * [1e-4, 1.0, 1e2, 1e3] + [0.0, 100.0, 0.0, 1e4]
    fit = solve(HingeProblem(Rows(X), y, u, 1.0), solver, None, 1e-8, 1000)
    assert fit.converged


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_columns_near_the_ends_of_floats_are_scaled_by_powers_of_two(size):
    X, y, u, _ = problem(seed=4, n=80, p=3)
    X[:, 0] *= size
    fit = solve(HingeProblem(Rows(X), y, u, 1.0), ProximalNewton(), None, 1e-6, 1000)
    assert fit.converged or size > 1  # squares of what rounding leaves of v overflow: no bound
    m = y * (X @ fit.w + fit.b)
    assert u @ np.maximum(1 - m, 0.0) < u.sum()


def test_coordinate_steps_that_are_too_slow_hand_over(monkeypatch):
    monkeypatch.setattr(dual_coordinates, "MAX_ROUNDS_TO_HALVE_GAP", 1)
    taken = []
    monkeypatch.setattr(
        newton.ProximalNewton, "solve", lambda self, *args: bool(taken.append(args)) or True
    )
    solve(problem()[-1], DualCoordinates(), None, 1e-12, 1000)
    assert taken


@each_solver
def test_same_bits_on_any_number_of_threads(solver, monkeypatch):
    monkeypatch.setattr(dual_coordinates, "CHUNK_ELEMENTS", 64)
    X, y, u, _ = problem(seed=5, n=3000, p=20)
    fits = [
        solve(HingeProblem(Rows(X, threads=t), y, u, 1.0), solver, None, 1e-8, 50) for t in (1, 3)
    ]
    np.testing.assert_array_equal(fits[0].w, fits[1].w)
    np.testing.assert_array_equal(fits[0].alpha, fits[1].alpha)


def test_the_seed_changes_the_way_and_not_the_end():
    X, y, u, _ = problem(seed=5, n=300, p=8)
    rough, fine = (
        [
            solve(HingeProblem(Rows(X), y, u, 1.0, seed), DualCoordinates(), None, tol, 500)
            for seed in (1, 2)
        ]
        for tol in (0.1, 1e-12)
    )
    assert (rough[0].w != rough[1].w).any()
    np.testing.assert_allclose(fine[0].w, fine[1].w, atol=1e-6)


def test_few_columns_are_for_newton_and_many_for_the_dual():
    for shape, sparse, name in (
        ((50, 1000), False, "newton"), ((50, 1001), False, "dual"),
        ((50, 300), True, "newton"), ((50, 301), True, "dual"),
    ):  # fmt: skip
        X = np.zeros(shape)
        assert dispatch.choose(Rows(CSR(csr_array(X)) if sparse else X)).name == name
