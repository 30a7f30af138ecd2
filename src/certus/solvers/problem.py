"""The smooth or composite problem that losses and penalties make.

    F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + pen(w)

s holds every weight there is (C times class weight times sample weight). w is (p, K), b is (K,).
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..data.csr import Block
from ..data.rows import Rows
from ..losses import Loss
from ..penalties import Penalty
from .lasso.coordinate_penalty import L1_L2, NON_NEGATIVE


@dataclass
class Problem:
    rows: Rows  # y: (n, 1), as the loss wants it
    loss: Loss
    penalty: Penalty
    fit_intercept: bool = True
    outputs: int = 1
    shift: float = 0.0  # what was taken away from y, and belongs to b
    goal: float = 0.0  # excess that a solver shall reach; set by the loop
    last_step: bool = False  # is the next one the last? set by the loop
    passes: float = 0.0  # over X, when the loop ended last; the next call goes on counting
    cache: dict[str, Any] = field(default_factory=dict)  # what a solver has found out about X

    @property
    def y(self) -> np.ndarray:
        assert self.rows.y is not None
        return self.rows.y[:, 0]

    @property
    def l1(self) -> float:
        return float(getattr(self.penalty, "l1", np.nan))

    @property
    def l2(self) -> float:
        return float(getattr(self.penalty, "l2", np.nan))

    @property
    def positive(self) -> bool:
        """w ≥ 0 alone is allowed."""
        return bool(getattr(self.penalty, "positive", False))

    @property
    def code(self) -> int:
        """Of an L1 or elastic-net penalty, for coordinate kernels."""
        return NON_NEGATIVE if self.positive else L1_L2

    def separated(self, right: int) -> bool:
        """``right``: rows whose loss is below log 2. If all are, nothing bounds w: F has no least
        value, and every further step only lengthens w."""
        free = self.loss.never_zero and self.l1 == 0 and self.l2 == 0
        return bool(free and right == self.rows.shape[0])

    def subsample(self, count: int) -> "Problem":
        """The problem of some rows, whose weights stand for all."""
        some = self.rows.sample(count)
        n, m = self.rows.shape[0], some.shape[0]
        some = Rows(some.X, some.y, some.s, threads=some.threads, population=n)
        some.s = np.full(m, n / m) if some.s is None else some.s * (n / m)
        return replace(self, rows=some, cache={})

    def has_every_class(self) -> bool:
        """Without one, a sample would send its scores far away."""
        return bool((weight_of_classes(self) > 0).all())

    @cached_property
    def null_w(self) -> np.ndarray:
        """0, or what is nearest to it where the penalty does not allow 0."""
        w = np.zeros((self.rows.shape[1], self.outputs))
        if self.penalty.value(w) < np.inf:
            return w
        nearest: np.ndarray = self.penalty.prox(w, 1.0)
        return nearest

    @cached_property
    def null(self) -> tuple[np.ndarray, float]:
        """(b, F) of the best model with w = ``null_w``; of probabilities, with w = 0."""
        return null_model(self)


def objective(problem: Problem, w: np.ndarray, b: np.ndarray) -> float:
    """F(w, b), as written."""
    z = np.empty((problem.rows.shape[0], problem.outputs))
    problem.rows.map(_scores, z, w, b)
    value = problem.loss.value(problem.y, z if problem.loss.several else z[:, 0])
    s = problem.rows.s
    return float((value.sum() if s is None else s @ value) + problem.penalty.value(w))


def _scores(X: Block, _y: np.ndarray, _s: object, w: np.ndarray, b: np.ndarray) -> Any:
    return X @ w + b


def null_model(problem: Problem) -> tuple[np.ndarray, float]:
    y, s, loss, K = problem.y, problem.rows.s, problem.loss, problem.outputs
    if loss.name in ("logistic", "softmax"):
        return _by_shares(weight_of_classes(problem), problem.fit_intercept)
    s, z = np.ones(len(y)) if s is None else s, np.zeros((len(y), K))
    if problem.null_w.any():
        problem.rows.map(_scores, z, problem.null_w, np.zeros(K))
    b = _best_constant(loss, y, s, z[:, 0]) if problem.fit_intercept else np.zeros(K)
    return b, float(s @ loss.value(y, z[:, 0] + b[0]))


def weight_of_classes(problem: Problem) -> np.ndarray:
    """Σ s, class by class."""
    y, s = problem.y, problem.rows.s
    if problem.loss.several:
        return np.bincount(y.astype(np.intp), weights=s, minlength=problem.outputs)
    plus = y > 0  # a difference of sums would leave rounding where a class is not there
    if s is None:
        count = np.count_nonzero(plus)
        return np.array([len(y) - count, count], dtype=float)
    return np.array([s @ ~plus, s @ plus])


def _by_shares(weight: np.ndarray, fit_intercept: bool) -> tuple[np.ndarray, float]:
    """The best constants are the logarithms of the shares: F = −Σ_k S_k log(S_k/S)."""
    K, total = len(weight), float(weight.sum())
    with np.errstate(divide="ignore", invalid="ignore"):  # a sample may lack a class
        log = np.log(weight)
        F = total * np.log(total) - float(np.sum(np.where(weight > 0, weight * log, 0.0)))
    if not fit_intercept:
        return np.zeros(1 if K == 2 else K), total * float(np.log(K))
    if K == 2:
        return log[1:] - log[:1], F
    log = np.maximum(log, np.log(np.finfo(float).tiny))
    return log - log.mean(), F


def _best_constant(loss: Loss, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> np.ndarray:
    """argmin_b Σ s ℓ(y, z + b)."""
    left = y - z
    if loss.name == "squared":
        return np.array([s @ left / s.sum()])
    if (left == left[0]).all() and not loss.value(y, z + left).any():
        return left[:1].copy()  # to the last digit, beside which 0 would not be 0
    # Σ s ℓ'(y, z + b) rises with b, from below 0 to above: halve the bracket
    low, high = float(np.min(left)) - 1.0, float(np.max(left)) + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if s @ loss.slope(y, z + middle) > 0:
            high = middle
        else:
            low = middle
    return np.array([(low + high) / 2])
