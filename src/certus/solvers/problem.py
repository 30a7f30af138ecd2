"""A smooth or composite problem: a loss plus a penalty.

    F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + pen(w)

s is the product of C, class weight and sample weight. w is (p, K), b is (K,).
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..data.csr import Block
from ..data.rows import Rows, spread
from ..losses import Loss
from ..penalties import Penalty
from .lasso.coordinate_penalty import L1_L2, NON_NEGATIVE

MAX_SAMPLE_ELEMENTS = 1 << 24  # of X: a sample is a share of the rows, but no larger than this


@dataclass
class Problem:
    """Data, loss and penalty of F, with what the solvers cache about X."""

    rows: Rows  # y: (n, 1), as the loss takes it
    loss: Loss
    penalty: Penalty
    fit_intercept: bool = True
    outputs: int = 1
    shift: float = 0.0  # was subtracted from y; to be added to b
    goal: float = 0.0  # excess at which the solver may stop; set by the loop
    last_step: bool = False  # whether the next step is the last one; set by the loop
    passes: float = 0.0  # over X in earlier calls of the loop; the next call continues the count
    cache: dict[str, Any] = field(default_factory=dict)  # what solvers have computed from X

    @property
    def y(self) -> np.ndarray:
        """Targets (n,); streamed rows have them block by block only, and raise TypeError."""
        return np.asarray(self.rows.y)[:, 0]

    @property
    def l1(self) -> float:
        return float(getattr(self.penalty, "l1", np.nan))

    @property
    def l2(self) -> float:
        return float(getattr(self.penalty, "l2", np.nan))

    @property
    def positive(self) -> bool:
        """Whether w ≥ 0 is required."""
        return bool(getattr(self.penalty, "positive", False))

    @property
    def code(self) -> int:
        """Code of an L1 or elastic-net penalty in the coordinate kernels."""
        return NON_NEGATIVE if self.positive else L1_L2

    @property
    def curved(self) -> bool:
        """Whether every loss is curved everywhere, so that Newton's steps end quadratically."""
        return bool(getattr(self.loss, "curved", self.loss.never_zero))

    @property
    def has_unbounded_curvature(self) -> bool:
        """Whether the loss is exponential."""
        return bool(np.isinf(self.loss.curvature_bound))

    def is_separated(self, n_correct: int) -> bool:
        """Return whether F is known to have no minimum.

        ``n_correct``: rows whose loss is below log 2. If that is every row and there is no penalty,
        the classes are separated, and F falls for ever as w grows.
        """
        free = self.loss.never_zero and self.l1 == 0 and self.l2 == 0
        return bool(free and n_correct == self.rows.shape[0])

    def subsample(self, count: int) -> "Problem":
        """Return the problem on a sample of the rows, weighted to represent all of them."""
        return self._on_sample(self.rows.sample(count))

    def subsamples(self, *counts: int) -> tuple["Problem", ...]:
        """Return the problems on several samples; streamed rows are read once for all of them."""
        if not self.rows.streamed:
            return tuple(self.subsample(count) for count in counts)
        n, largest = self.rows.shape[0], max(counts)
        sample = self.rows.sample(largest)
        if largest >= n:
            return tuple(self.subsample(count) for count in counts)
        numbers = spread(n, largest)  # those of smaller samples are among them
        return tuple(
            self._on_sample(sample.take(np.searchsorted(numbers, spread(n, count))))
            for count in counts
        )

    def _on_sample(self, sample: Rows) -> "Problem":
        n, m = self.rows.shape[0], sample.shape[0]
        sample = Rows(sample.X, sample.y, sample.s, threads=sample.threads, population=n)
        sample.s = np.full(m, n / m) if sample.s is None else sample.s * (n / m)
        return replace(self, rows=sample, cache={})

    def has_every_class(self) -> bool:
        """Return whether every class has weight; the scores of an absent class would diverge."""
        return bool((class_weight_sums(self) > 0).all())

    @cached_property
    def null_w(self) -> np.ndarray:
        """0, or the feasible point nearest to it where the penalty excludes 0."""
        w = np.zeros((self.rows.shape[1], self.outputs))
        if self.penalty.value(w) < np.inf:
            return w
        nearest: np.ndarray = self.penalty.prox(w, 1.0)
        return nearest

    @cached_property
    def null(self) -> tuple[np.ndarray, float]:
        """(b, F) of the best model with w = ``null_w``; for logistic and softmax losses w = 0."""
        return null_model(self)


def objective(problem: Problem, w: np.ndarray, b: np.ndarray) -> float:
    """Return F(w, b)."""
    z = np.empty((problem.rows.shape[0], problem.outputs))
    problem.rows.map(_scores, z, w, b)
    value = problem.loss.value(problem.y, z if problem.loss.several else z[:, 0])
    s = problem.rows.s
    return float((value.sum() if s is None else s @ value) + problem.penalty.value(w))


def _scores(X: Block, _y: np.ndarray, _s: object, w: np.ndarray, b: np.ndarray) -> Any:
    return X @ w + b


def null_model(problem: Problem) -> tuple[np.ndarray, float]:
    """Return (b, F) of the best model with w = ``problem.null_w``."""
    loss, K = problem.loss, problem.outputs
    if loss.name in ("logistic", "softmax"):
        return _null_from_class_weights(class_weight_sums(problem), problem.fit_intercept)
    if hasattr(loss, "best_constant") and not problem.null_w.any():
        return _null_of_log_link(problem)
    if problem.rows.streamed and not (problem.fit_intercept or problem.null_w.any()):
        (F,) = problem.rows.reduce_targets(_loss_of_zero, loss)
        return np.zeros(K), float(F)
    y, s = problem.y, problem.rows.s
    s, z = np.ones(len(y)) if s is None else s, np.zeros((len(y), K))
    if problem.null_w.any():
        problem.rows.map(_scores, z, problem.null_w, np.zeros(K))
    b = _best_constant(loss, y, s, z[:, 0]) if problem.fit_intercept else np.zeros(K)
    return b, float(s @ loss.value(y, z[:, 0] + b[0]))


def _null_of_log_link(problem: Problem) -> tuple[np.ndarray, float]:
    """Return (b, F) of a loss whose best constant is a logarithm of a ratio of sums."""
    loss, b = problem.loss, np.zeros(1)
    if problem.fit_intercept:
        above, below = problem.rows.reduce_targets(_constant_sums, loss)
        with np.errstate(divide="ignore"):  # all counts are 0: the intercept is −∞
            b = np.array([np.log(above / below)])
    (F,) = problem.rows.reduce_targets(_loss_of_constant, loss, b[0])
    return b, float(F)


def _constant_sums(y: np.ndarray, s: np.ndarray | None, loss: Any) -> tuple[float, float]:
    above, below = loss.best_constant(y[:, 0], s, np.zeros(len(y)))
    return above, below


def _loss_of_constant(y: np.ndarray, s: np.ndarray | None, loss: Loss, b: float) -> tuple[float]:
    """Return Σ s ℓ(y, b) of one block, for a loss of one score."""
    values = loss.value(y[:, 0], np.full(len(y), b))
    return (float(values.sum() if s is None else s @ values),)


def _loss_of_zero(y: np.ndarray, s: np.ndarray | None, loss: Loss) -> tuple[float]:
    """Return Σ s ℓ(y, 0) of one block, for a loss of one score."""
    values = loss.value(y[:, 0], np.zeros(len(y)))
    return (float(values.sum() if s is None else s @ values),)


def class_weight_sums(problem: Problem) -> np.ndarray:
    """Return Σ s of each class; of streamed rows it is read once."""
    known: np.ndarray | None = problem.cache.get("class weights")
    if known is not None:
        return known
    if problem.loss.several:
        (sums,) = problem.rows.reduce_targets(weights_of_classes, problem.outputs)
    else:
        (sums,) = problem.rows.reduce_targets(_weights_of_signs)
    result: np.ndarray = sums
    if problem.rows.streamed:
        problem.cache["class weights"] = result
    return result


def weights_of_classes(y: np.ndarray, s: np.ndarray | None, n_classes: int) -> tuple[np.ndarray]:
    """Return Σ s of each class of one block; y (n, 1) holds class indices."""
    return (np.bincount(y[:, 0].astype(np.intp), s, n_classes).astype(float),)


def _weights_of_signs(y: np.ndarray, s: np.ndarray | None) -> tuple[np.ndarray]:
    """Return Σ s of the rows with y = −1 and of those with y = 1."""
    plus = y[:, 0] > 0  # summed per class: total minus the other class would leave rounding, not 0
    if s is None:
        count = np.count_nonzero(plus)
        return (np.array([len(y) - count, count], dtype=float),)
    return (np.array([s @ ~plus, s @ plus]),)


def _null_from_class_weights(weight: np.ndarray, fit_intercept: bool) -> tuple[np.ndarray, float]:
    """Return (b, F): the best b are the logarithms of the class shares, F = −Σ_k S_k log(S_k/S)."""
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
    """Return argmin_b Σ s ℓ(y, z + b)."""
    residual = y - z
    if loss.name == "squared":
        return np.array([s @ residual / s.sum()])
    if (residual == residual[0]).all() and not loss.value(y, z + residual).any():
        return residual[:1].copy()  # exact, so that a loss of 0 is exactly 0
    # Σ s ℓ'(y, z + b) rises with b from below 0 to above 0: bisect
    low, high = float(np.min(residual)) - 1.0, float(np.max(residual)) + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if s @ loss.slope(y, z + middle) > 0:
            high = middle
        else:
            low = middle
    return np.array([(low + high) / 2])
