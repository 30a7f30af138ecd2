"""Passes over X that multiply and do not factor: the gradient, and the Hessian times a direction.

About a centre a (see ``newton_cg.py``), for scores z and slopes g of the losses:

    gradient       Σ s g (x − a)ᵀ,  Σ s g
    Hessian · V    Σ s D t (x − a)ᵀ,  Σ s D t,    t = (x − a)ᵀV + v,  D the loss's curvature

X is read once in either: a slice of rows that stays near the core is multiplied from both sides.
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
from .coordinates import Coordinates, coordinates, coordinates_of_some

SLICE = 1 << 16  # elements of X that are multiplied from both sides before the next are read
LARGER = 1 << 18  # … where the losses are evaluated in between, which is more calls
ENOUGH_ROWS = 1024
FEW_CLASSES = 32
ENTRIES_OF_A_BLOCK = 1 << 16  # of sparse rows, above which the compiled products pay for themselves
KERNEL_ELEMENTS = 1 << 20  # above which the compiled product pays for loading its compiler
STRAIGHT = 1e-3  # of the most curvature that a loss has, for a preconditioner where it shows none


class First(NamedTuple):
    """Of one block, or all."""

    f: float  # Σ s ℓ
    right: int  # rows whose loss is below log 2, or that do not count
    Xg: np.ndarray  # (p, K): Xᵀ(s∘g)
    g: np.ndarray  # (K,): Σ s g
    Xd: np.ndarray  # (p,): Xᵀd, d the curvature (of several scores: its trace)
    d: np.ndarray  # (K,): Σ d, score by score


def coordinates_for(problem: Problem, of_all: bool = False) -> Coordinates:
    """Of all rows, or of enough of many to centre and to precondition by."""
    if of_all or "coordinates" not in problem.cache:
        rows, centre = problem.rows, problem.fit_intercept
        found = None
        if not (of_all or rows.sparse or rows.shape[0] < 4 * ENOUGH_ROWS):
            found = coordinates_of_some(rows, centre, ENOUGH_ROWS)
            varies = found.variance > 0
            # what does not vary among them may do so elsewhere
            usual = np.median(found.variance[varies]) if varies.any() else 1.0
            found = found._replace(variance=np.where(varies, found.variance, usual))
        problem.cache["coordinates"] = found or coordinates(rows, centre)
    kept: Coordinates = problem.cache["coordinates"]
    return kept


def room_for_states(problem: Problem) -> np.ndarray:
    """For the losses' states, (n,) or (n, K)."""
    n, K = problem.rows.shape[0], problem.outputs
    if K == 1:
        return np.empty(n)
    return np.empty((n, K), order="C" if _few_classes(problem.rows, problem.loss, K) else "F")


def _few_classes(rows: Rows, loss: Loss, K: int) -> bool:
    """So few that the kernel beats BLAS, on rows that it takes."""
    plain = isinstance(rows.X, np.ndarray) and rows.X.flags.c_contiguous
    enough = rows.population * rows.shape[1] >= KERNEL_ELEMENTS
    return loss.name == "softmax" and plain and enough and K <= FEW_CLASSES


def scale_of(problem: Problem, d: np.ndarray) -> np.ndarray:
    """Σ d for a preconditioner: where losses are straight lines d is 0, and a share of the most
    that it can be is taken."""
    if problem.loss.never_zero:
        return d
    return np.maximum(d, STRAIGHT * problem.loss.curvature_bound * problem.rows.S)


def first_order(
    rows: Rows, loss: Loss, at: Coordinates, u: np.ndarray, beta: np.ndarray,
    state: np.ndarray | None,
) -> First:  # fmt: skip
    """The gradient's sums at (u, β); ``state`` is filled with what ``curvature`` needs. None: no
    Hessian will be asked for, and Xd is 0."""
    c = at.correction
    beta = beta if c is None else beta - c @ u
    block: Callable[..., First] = _first
    if loss.name == "logistic" and _compiled_for(rows, at) is _dense_rows:
        block = compiled_or(_logistic, _first)
    elif _few_classes(rows, loss, u.shape[1]) and not at.shifted:
        block = compiled_or(_softmax, _first)
    if state is None:
        first: First = rows.reduce(partial(_gradient_alone, block), loss, at, u, beta)
        return first
    sums: First = rows.reduce(block, loss, at, u, beta, beside=(state,))
    return sums


def _gradient_alone(
    block: Callable[..., First], X: Block, y: np.ndarray, s: np.ndarray, *args: object
) -> First:
    return block(X, y, s, None, *args)


def _logistic(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    state: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> First:
    """The logistic loss on dense rows in C order: compiled."""
    from ...kernels.glm.logistic import gradient

    (f, g, d, right), XG = gradient(X, y[:, 0], s, u[:, 0], beta[0], state)
    Xd = np.zeros(len(u)) if state is None else XG[1]
    return First(f, int(right), XG[0][:, None], np.array([g]), Xd, np.array([d]))


def _softmax(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    state: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> First:
    """The softmax loss on dense rows in C order: compiled."""
    from ...kernels.glm.softmax import first

    K = u.shape[1]
    state = np.empty((len(X), K)) if state is None else state
    total, XG = first(X, y[:, 0], s, u.T, beta, state)
    f, right, g, d = total[0], int(total[1]), total[2 : K + 2], total[K + 2 :]
    return First(f, right, XG[:K].T, g, XG[K], d)


def _first(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    state: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> First:
    p, K = u.shape
    dense = isinstance(X, np.ndarray)
    step = max(1, LARGER // max(1, p)) if dense else len(y)
    times, add = _times, _add
    if not dense and len(X.data) >= ENTRIES_OF_A_BLOCK:
        times, add = compiled_or(_compiled_times, _times), compiled_or(_compiled_add, _add)
    f, right, sums = 0.0, 0, np.zeros(2 * K)
    both = np.zeros((p, K if state is None else K + 1))
    for start in range(0, len(y), step):
        part = slice(start, start + step)
        A = at.block(X[part]) if dense else X
        z = times(A, u)
        z += beta
        value, g, inside = loss.evaluate(y[part, 0], z if K > 1 else z[:, 0])
        low = value < np.log(2)
        if s is not None:
            weight = s[part]
            low |= weight == 0
            value, g = weight * value, (weight * g.T).T
            if K == 1:
                inside *= weight
        if state is not None:
            state[part] = inside
        d = inside if K == 1 else inside * (1 - inside)
        if s is not None and K > 1:
            d *= s[part, None]
        side = g.reshape(-1, K)
        if state is not None:
            side = np.column_stack([g, d if K == 1 else d.sum(axis=1)])
        f += value.sum()
        right += int(low.sum())
        add(A, side, both)
        sums[:K] += g.sum(axis=0)
        sums[K:] += d.sum(axis=0)
    Xd = np.zeros(p) if state is None else both[:, K]
    return First(f, right, both[:, :K], sums[:K], Xd, sums[K:])


def curvature(
    rows: Rows, loss: Loss, at: Coordinates, state: np.ndarray, a: np.ndarray, V: np.ndarray
) -> np.ndarray:
    """Hessian of the losses times V (p+1, K), about the centre a (p,)."""
    u, v = V[:-1], V[-1] - a @ V[:-1]
    compiled = _compiled_for(rows, at) if V.shape[1] == 1 else None
    if compiled is not None:
        block = compiled_or(compiled, partial(_curvature_of_one, at))
        Xt, st = rows.with_targets(None, state).reduce(block, u, v)
    else:
        few = _few_classes(rows, loss, V.shape[1]) and not at.shifted
        block = compiled_or(_softmax_curvature, _curvature) if few else _curvature
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
    from ...kernels.glm.softmax import curve

    st, XG = curve(X, s, u.T, v, state)
    return XG.T, st


def _curvature(
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
    step = max(1, SLICE // max(1, p)) if dense else X.shape[0]
    Xt, st = np.zeros((p, K)), np.zeros(K)
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        A = at.block(X[part]) if isinstance(X, np.ndarray) else X
        t = _times(A, u)
        t += v
        if K == 1:
            t *= state[part, None]  # weights are in it
        else:
            assert loss is not None
            t = loss.curvature_product(state[part], t)
            if s is not None:
                t *= s[part, None]
        Xt += np.dot(A.T, t) if isinstance(A, np.ndarray) else A.T @ t
        st += t.sum(axis=0)
    return Xt, st


def _curvature_of_one(
    at: Coordinates, X: np.ndarray, _y: np.ndarray, d: np.ndarray, u: np.ndarray, v: np.ndarray
) -> tuple[Any, Any]:
    """``_curvature`` of one score, with the arguments of the compiled products."""
    return _curvature(X, None, None, d, None, at, u, v)


def _times(A: Block, u: np.ndarray) -> np.ndarray:
    """Au; several scores lie score after score, for sums over them are then sums of vectors."""
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
    """The compiled product for one score; None where there is none, or it would not pay."""
    if rows.sparse:
        return _sparse_rows if rows.X.entries >= KERNEL_ENTRIES else None
    plain = not at.shifted and isinstance(rows.X, np.ndarray) and rows.X.flags.c_contiguous
    return _dense_rows if plain and rows.population * rows.shape[1] >= KERNEL_ELEMENTS else None


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
