"""What the tests of the pages of classifiers share: calls of a page, references, agreement."""

import inspect
from collections.abc import Callable
from copy import deepcopy
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from scipy.optimize import minimize

import certus
from certus.certificate.certificate import Certificate
from certus.certificate.pages import classes, logistic
from certus.definitions.terms.claim import Claim

from .lines import lines_to_read

CLOSE = 1e-9  # of objectives, relative


def rows(n: int, p: int, K: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """X with columns of several sizes, classes that overlap, weights of which some are 0."""
    rng = np.random.default_rng(seed)
    size = np.logspace(-1, 1, p)
    X = rng.normal(size=(n, p)) * size + 3 * size
    z = (X / size - 3) @ rng.normal(size=(p, K)) + rng.gumbel(size=(n, K))
    return X, z.argmax(axis=1), rng.integers(0, 4, n).astype(float)


def is_short(page: ModuleType, *terms: type) -> bool:
    """At most 80 lines of code and 100 lines in all."""
    return lines_to_read(page, terms) <= 80 and len(inspect.getsource(page).splitlines()) <= 100


def claims(c: Certificate, X: Any, y: Any, s: Any = None) -> list[Claim]:
    """What the page says of the parameters that a certificate holds, on the rows given."""
    adaptors = {**vars(classes), **vars(logistic)}
    assert c.labels is not None
    numbers = np.searchsorted(c.labels.classes, y)
    s = np.ones(len(y)) if s is None else np.asarray(s, dtype=float)
    found = []
    for problem in adaptors[c.definition.rpartition(".")[2]](c.parameters, c.labels):
        page = import_module(f"certus.definitions.{problem.page}")
        columns = X
        if problem.constant is not None:
            columns = np.column_stack([X, np.full(len(X), problem.constant)])
        found.append(page.check(columns, *problem.targets(numbers, s), **problem.arguments))
    return found


def holds(found: list[Claim]) -> bool:
    return all(claim.holds for claim in found)


def agree(model: Any, X: Any, y: Any, s: Any = None) -> tuple[Certificate, list[Claim]]:
    """Page and proof say the same of a fitted model: objective, interval, verdict."""
    c = certus.verify(model, X, y, sample_weight=s)
    found = claims(c, X, y, s)
    F, f0 = sum(claim.objective for claim in found), sum(claim.scale for claim in found)
    assert abs(F - c.objective) <= CLOSE * abs(c.objective), (F, c.objective)
    if c.status == "no finite optimum":
        assert {claim.kind for claim in found} == {"no finite optimum"}
        assert holds(found)
    else:
        assert holds(found) == c.certified, (c, found)
    if c.bound is not None and all(claim.bound is not None for claim in found):
        bound = sum(claim.bound for claim in found)  # type: ignore[misc]
        assert bound <= c.objective + CLOSE * f0
        assert c.bound <= F + CLOSE * f0
    assert min(claim.miss for claim in found) >= 0
    return c, found


def refuse(model: Any, X: Any, y: Any, s: Any = None) -> None:
    """Page and proof both refuse the model, whose parameters are not optimal for these rows."""
    c = certus.verify(model, X, y, sample_weight=s)
    assert not c.certified, c
    assert not holds(claims(c, X, y, s))


def edited(model: Any, name: str, factor: float = 1.01) -> Any:
    """A copy with the largest entry of an attribute multiplied."""
    model = deepcopy(model)
    numbers = np.array(getattr(model, name), dtype=float)
    at = np.unravel_index(np.abs(numbers).argmax(), numbers.shape)
    numbers[at] *= factor
    setattr(model, name, numbers)
    return model


def smooth_minimum(
    loss: Callable[[Any], tuple[float, Any]], X: Any, K: int, l1: float, l2: float, intercept: bool
) -> tuple[float, Any, Any]:
    """min of loss(Xw + b) + l1‖w‖₁ + l2/2 ‖w‖² by L-BFGS-B, with w and b.

    ``loss(z)`` returns its value and its slopes, (n, K) or (n,). w is a difference of two w ≥ 0.
    """
    p, center = X.shape[1], X.mean(axis=0) * intercept
    Z = (X - center) / (size := np.abs(X - center).max(axis=0))[None]

    def of(theta: Any) -> tuple[float, Any]:
        u, b = theta[: 2 * p * K].reshape(2, p, K), theta[2 * p * K :]
        w = (u[0] - u[1]) / size[:, None]
        z = Z @ (u[0] - u[1]) + b
        value, slope = loss(z[:, 0] if K == 1 else z)
        slope = slope.reshape(len(Z), K)
        g = Z.T @ slope + l2 * w / size[:, None]
        pull = l1 / size[:, None]
        value += (pull * u.sum(axis=0)).sum() + l2 / 2 * (w**2).sum()
        g_b = slope.sum(axis=0) if intercept else np.zeros(K)
        return value, np.concatenate([(g + pull).ravel(), (pull - g).ravel(), g_b])

    bounds = [(0.0, None)] * (2 * p * K) + [(None, None) if intercept else (0.0, 0.0)] * K
    theta, options = np.zeros(len(bounds)), {"maxiter": 50000, "maxfun": 200000, "maxcor": 50}
    for _ in range(3):  # restarts forget the memory of bad steps
        found = minimize(
            of, theta, jac=True, bounds=bounds, options={**options, "ftol": 0.0, "gtol": 1e-12}
        )
        theta = found.x
    u = theta[: 2 * p * K].reshape(2, p, K)
    w, b = (u[0] - u[1]) / size[:, None], theta[2 * p * K :]
    b = b - center @ w
    return float(found.fun), (w[:, 0] if K == 1 else w), (float(b[0]) if K == 1 else b)
