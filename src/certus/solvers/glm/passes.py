"""Matrix-free passes over X: the gradient, and products of the Hessian with a direction.

About a centre a (see ``newton_cg.py``), for scores z and slopes g of the losses:

    gradient       Σ s g (x − a)ᵀ,  Σ s g
    Hessian · V    Σ s D t (x − a)ᵀ,  Σ s D t,    t = (x − a)ᵀV + v,  D the loss's curvature

Either reads X once: a slice of rows that stays in cache is multiplied from both sides.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...data.csr import Block
from ...data.rows import Rows
from ...kernels import compiled_or
from ...losses import Loss
from ..linalg.sparse_sums import KERNEL_ENTRIES
from ..problem import Problem
from .coordinates import Coordinates, coordinates, sampled_coordinates

SLICE_ELEMENTS = 1 << 16  # of X: a slice stays in cache while it is multiplied from both sides
EVALUATED_SLICE_ELEMENTS = 1 << 18  # larger where losses are evaluated too, to make fewer calls
COORDINATE_SAMPLE_ROWS = 1024  # enough to centre and to precondition
MAX_KERNEL_CLASSES = 32  # beyond, BLAS is faster than the softmax kernel
MIN_KERNEL_BLOCK_ENTRIES = 1 << 16  # of sparse rows, from which the compiled products pay off
MIN_KERNEL_ELEMENTS = 1 << 20  # of X, from which a compiled product is worth loading Numba
# share of the largest curvature of a loss that preconditioners assume where the loss is linear
MIN_CURVATURE_SHARE = 1e-3


class FirstOrderSums(NamedTuple):
    """First-order sums of one block or of all rows."""

    f: float  # Σ s ℓ
    n_correct: int  # rows whose loss is below log 2, or whose weight is 0
    Xg: np.ndarray  # (p, K): Xᵀ(s∘g)
    g: np.ndarray  # (K,): Σ s g
    Xd: np.ndarray  # (p,): Xᵀd, d the curvature (its trace, for several scores)
    d: np.ndarray  # (K,): Σ d for each score


def coordinates_for(problem: Problem, all_rows: bool = False) -> Coordinates:
    """Return the coordinates of all rows, or of a sample where rows are many."""
    if all_rows or "coordinates" not in problem.cache:
        rows, center = problem.rows, problem.fit_intercept
        sampled = None
        if not (all_rows or rows.sparse or rows.shape[0] < 4 * COORDINATE_SAMPLE_ROWS):
            sampled = sampled_coordinates(rows, center, COORDINATE_SAMPLE_ROWS)
            varies = sampled.variance > 0
            # a column that is constant in the sample may vary elsewhere
            usual = np.median(sampled.variance[varies]) if varies.any() else 1.0
            sampled = sampled._replace(variance=np.where(varies, sampled.variance, usual))
        problem.cache["coordinates"] = sampled or coordinates(rows, center)
    cached: Coordinates = problem.cache["coordinates"]
    return cached


def allocate_states(problem: Problem) -> Any:
    """Return room for the losses' states, (n,) or (n, K), as ``Rows.allocate`` does."""
    rows, K = problem.rows, problem.outputs
    if K == 1:
        return rows.allocate()
    return rows.allocate((K,), order="C" if _uses_softmax_kernel(rows, problem.loss, K) else "F")


def _uses_softmax_kernel(rows: Rows, loss: Loss, K: int) -> bool:
    """Return whether the softmax kernel applies and is faster than BLAS."""
    plain = rows.row_major
    is_large = rows.population * rows.shape[1] >= MIN_KERNEL_ELEMENTS
    return loss.name == "softmax" and plain and is_large and K <= MAX_KERNEL_CLASSES


def curvature_scale(problem: Problem, d: np.ndarray) -> np.ndarray:
    """Return Σ d for a preconditioner, bounded below where losses are linear and d is 0."""
    if problem.curved:
        return d
    return np.maximum(d, MIN_CURVATURE_SHARE * problem.loss.curvature_bound * problem.rows.S)


def first_order(
    rows: Rows, loss: Loss, at: Coordinates, u: np.ndarray, beta: np.ndarray, state: Any
) -> FirstOrderSums:  # fmt: skip
    """Return the gradient's sums at (u, β), and fill ``state`` for ``curvature``.

    ``state`` None: no Hessian products will follow, and Xd is 0.
    """
    c = at.correction
    beta = beta if c is None else beta - c @ u
    block: Callable[..., FirstOrderSums] = _first_order_block
    if loss.name == "logistic" and _compiled_for(rows, at) is _dense_rows:
        block = compiled_or(_logistic_kernel_block, _first_order_block)
    elif _uses_softmax_kernel(rows, loss, u.shape[1]) and not at.shifted:
        block = compiled_or(_softmax_kernel_block, _first_order_block)
    if state is None:
        first: FirstOrderSums = rows.reduce(partial(_without_state, block), loss, at, u, beta)
        return first
    sums: FirstOrderSums = rows.reduce(block, loss, at, u, beta, beside=(state,))
    return sums


def _without_state(
    block: Callable[..., FirstOrderSums], X: Block, y: np.ndarray, s: np.ndarray, *args: object
) -> FirstOrderSums:
    return block(X, y, s, None, *args)


def _logistic_kernel_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    state: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> FirstOrderSums:
    """Compiled sums of the logistic loss, for dense rows in C order."""
    from ...kernels.glm.logistic import gradient

    (f, g, d, n_correct), XG = gradient(X, y[:, 0], s, u[:, 0], beta[0], state)
    Xd = np.zeros(len(u)) if state is None else XG[1]
    return FirstOrderSums(f, int(n_correct), XG[0][:, None], np.array([g]), Xd, np.array([d]))


def _softmax_kernel_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    state: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> FirstOrderSums:
    """Compiled sums of the softmax loss, for dense rows in C order."""
    from ...kernels.glm.softmax import first_order as kernel

    K = u.shape[1]
    state = np.empty((len(X), K)) if state is None else state
    total, XG = kernel(X, y[:, 0], s, u.T, beta, state)
    f, n_correct, g, d = total[0], int(total[1]), total[2 : K + 2], total[K + 2 :]
    return FirstOrderSums(f, n_correct, XG[:K].T, g, XG[K], d)


def _first_order_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    state: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> FirstOrderSums:
    p, K = u.shape
    dense = isinstance(X, np.ndarray)
    step = max(1, EVALUATED_SLICE_ELEMENTS // max(1, p)) if dense else len(y)
    times, add = _times, _add
    if not dense and len(X.data) >= MIN_KERNEL_BLOCK_ENTRIES:
        times, add = compiled_or(_compiled_times, _times), compiled_or(_compiled_add, _add)
    f, n_correct, sums = 0.0, 0, np.zeros(2 * K)
    both = np.zeros((p, K if state is None else K + 1))
    for start in range(0, len(y), step):
        part = slice(start, start + step)
        A = at.block(X[part]) if dense else X
        z = times(A, u)
        z += beta
        value, g, loss_state = loss.evaluate(y[part, 0], z if K > 1 else z[:, 0])
        is_correct = value < np.log(2)
        if s is not None:
            weight = s[part]
            is_correct |= weight == 0
            value, g = weight * value, (weight * g.T).T
            if K == 1:
                loss_state *= weight
        if state is not None:
            state[part] = loss_state
        d = loss_state if K == 1 else loss_state * (1 - loss_state)
        if s is not None and K > 1:
            d *= s[part, None]
        side = g.reshape(-1, K)
        if state is not None:
            side = np.column_stack([g, d if K == 1 else d.sum(axis=1)])
        f += value.sum()
        n_correct += int(is_correct.sum())
        add(A, side, both)
        sums[:K] += g.sum(axis=0)
        sums[K:] += d.sum(axis=0)
    Xd = np.zeros(p) if state is None else both[:, K]
    return FirstOrderSums(f, n_correct, both[:, :K], sums[:K], Xd, sums[K:])


def curvature(
    rows: Rows, loss: Loss, at: Coordinates, state: Any, a: np.ndarray, V: np.ndarray
) -> np.ndarray:
    """Return the Hessian of the losses times V (p+1, K), about the centre a (p,)."""
    u, v = V[:-1], V[-1] - a @ V[:-1]
    compiled = _compiled_for(rows, at) if V.shape[1] == 1 else None
    if compiled is not None:
        block = compiled_or(compiled, partial(_curvature_block_of_one_score, at))
        Xt, st = rows.with_targets(None, state).reduce(block, u, v)
    else:
        use_kernel = _uses_softmax_kernel(rows, loss, V.shape[1]) and not at.shifted
        block = (
            compiled_or(_softmax_curvature, _curvature_block) if use_kernel else _curvature_block
        )
        Xt, st = rows.reduce(block, loss, at, u, v, beside=(state,))
    return np.vstack([Xt - np.multiply.outer(a, st), st])


def _softmax_curvature(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    state: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    v: np.ndarray,
) -> tuple[Any, Any]:
    from ...kernels.glm.softmax import curvature as kernel

    st, XG = kernel(X, s, u.T, v, state)
    return XG.T, st


def _curvature_block(
    X: Block,
    y: object,
    s: np.ndarray | None,
    state: np.ndarray,
    loss: Loss | None,
    at: Coordinates,
    u: np.ndarray,
    v: np.ndarray,
) -> tuple[Any, Any]:
    p, K = u.shape
    dense = isinstance(X, np.ndarray)
    step = max(1, SLICE_ELEMENTS // max(1, p)) if dense else X.shape[0]
    Xt, st = np.zeros((p, K)), np.zeros(K)
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        A = at.block(X[part]) if isinstance(X, np.ndarray) else X
        t = _times(A, u)
        t += v
        if K == 1:
            t *= state[part, None]  # the state includes the weights
        else:
            assert loss is not None
            t = loss.curvature_product(state[part], t)
            if s is not None:
                t *= s[part, None]
        Xt += np.dot(A.T, t) if isinstance(A, np.ndarray) else A.T @ t
        st += t.sum(axis=0)
    return Xt, st


def _curvature_block_of_one_score(
    at: Coordinates, X: np.ndarray, _y: np.ndarray, d: np.ndarray, u: np.ndarray, v: np.ndarray
) -> tuple[Any, Any]:
    """``_curvature_block`` of one score, with the arguments of the compiled products."""
    return _curvature_block(X, None, None, d, None, at, u, v)


def _times(A: Block, u: np.ndarray) -> np.ndarray:
    """Return Au; in Fortran order for several scores, so that sums over them are vector sums."""
    if not isinstance(A, np.ndarray):
        return np.asfortranarray(A @ u)
    return np.dot(A, u) if u.shape[1] == 1 else np.dot(u.T, A.T).T


def _compiled_times(A: Block, u: np.ndarray) -> np.ndarray:
    from ...kernels.glm.csr import times

    return times(A, u) if u.shape[1] == 1 else np.asfortranarray(times(A, u))


def _add(A: Block, side: np.ndarray, total: np.ndarray) -> None:
    """Add Aᵀ·side to ``total``."""
    total += np.dot(A.T, side) if isinstance(A, np.ndarray) else A.T @ side


def _compiled_add(A: Block, side: np.ndarray, total: np.ndarray) -> None:
    from ...kernels.glm.csr import add_transposed

    add_transposed(A, side, total)


def _compiled_for(rows: Rows, at: Coordinates) -> Any:
    """Return the compiled product for one score; None where there is none or it does not pay."""
    if rows.sparse:
        return _sparse_rows if rows.X.entries >= KERNEL_ENTRIES else None
    plain = not at.shifted and rows.row_major
    return _dense_rows if plain and rows.population * rows.shape[1] >= MIN_KERNEL_ELEMENTS else None


def _dense_rows(
    X: np.ndarray, _y: np.ndarray, d: np.ndarray, u: np.ndarray, v: np.ndarray
) -> tuple[Any, Any]:
    from ...kernels.glm.products import twice

    Xt = np.zeros(len(u))
    st = twice(X, d, u[:, 0], -v[0], Xt)
    return Xt[:, None], np.array([st])


def _sparse_rows(
    X: np.ndarray, _y: np.ndarray, d: np.ndarray, u: np.ndarray, v: np.ndarray
) -> tuple[Any, Any]:
    from ...kernels.glm.csr import twice

    Xt, st, stt = np.zeros((1, len(u))), np.zeros(1), np.zeros(1)
    twice(X, d, u.T, -v[:, None], Xt, st, stt)
    return Xt.T, st
