"""Gradients of smooth losses, and Hessians times a direction, against finite differences."""

import numpy as np
import pytest

from certus.kernels.glm.products import twice
from certus.solvers.glm.coordinates import MAX_MEAN_TO_DEVIATION, coordinates
from certus.solvers.glm.newton import second_order
from certus.solvers.glm.newton_cg import NewtonCGState
from certus.solvers.glm.passes import allocate_states, curvature, first_order
from tests.glm.smooth_cases import (
    CHANGES,
    dense,
    each_change,
    each_loss,
    intercepts,
    problem_of,
    somewhere,
)

# --- derivatives ----------------------------------------------------------------------------------


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
    first = first_order(problem.rows, problem.loss, at, u, beta, allocate_states(problem))
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
    buffers = allocate_states(problem), allocate_states(problem)
    with np.errstate(over="ignore"):  # of its squares, which are not used here
        reference = NewtonCGState(problem, at, u, beta, buffers)
    V, v_beta = somewhere(problem, at, seed=2)
    V = np.vstack([V, v_beta])
    ours = curvature(problem.rows, problem.loss, at, buffers[0], reference.a, V)

    def gradient(t):
        """About the centre a, which does not move."""
        buffers = allocate_states(problem)
        moved = u + t * V[:-1], beta + t * (V[-1] - reference.m @ V[:-1])
        sums = first_order(problem.rows, problem.loss, at, *moved, buffers)
        return np.vstack([sums.Xg - np.multiply.outer(reference.a, sums.g), sums.g])

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
        W = np.vstack([V[:-1], V[-1] - reference.m @ V[:-1]])
        HV = np.einsum("klij,jl->ik", H, W)
        HV[:-1] -= np.multiply.outer(reference.m, HV[-1])
        np.testing.assert_allclose(in_units(HV, at), in_units(ours, at), atol=1e-9 * size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
@each_loss
def test_the_compiled_sums_are_those_of_numpy(loss, dtype, weighted, far, monkeypatch):
    def change(X):
        return (X + 100 * MAX_MEAN_TO_DEVIATION * far).astype(dtype)

    problem = problem_of(loss, n=333, p=5, weighted=weighted, change=change)
    at = coordinates(problem.rows, True)
    assert at.shifted == far
    u, beta = somewhere(problem, at)
    V = np.vstack(somewhere(problem, at, seed=2))
    a = at.c * (not far) + 0.01
    result = []
    for work in (1e18, 0):
        monkeypatch.setattr("certus.solvers.glm.newton.KERNEL_WORK", work)
        monkeypatch.setattr("certus.solvers.glm.passes.MIN_KERNEL_ELEMENTS", work)
        buffers = allocate_states(problem)
        first_order(problem.rows, problem.loss, at, u, beta, buffers)
        product = curvature(problem.rows, problem.loss, at, buffers, a, V)
        result.append((*second_order(problem, at, u, beta), product))
    for plain, compiled in zip(*result, strict=True):
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
