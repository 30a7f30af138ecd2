"""Calls of the pages of linear classifiers."""

from collections.abc import Iterator

import numpy as np

from ...audit import Labels
from ...definitions.terms.direction import Direction
from ...definitions.terms.independent import Independent
from ...definitions.terms.targets import AgainstRest, Classes, Signs
from ..parameters import Parameters
from .problem import PageCall


def softmax(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield the one problem of all classes."""
    w, b, scaling = p["w"], p["b"], _scaling(p)
    arguments: dict[str, object] = {"w": w, "b": b, **_penalty(p), **without_penalty(p)}
    if scaling is not None:
        arguments |= {"w": np.vstack([w, b / scaling]), "b": 0 * b}
    yield PageCall("softmax", Classes(_class_weight(p)), arguments, scaling)


def ordinal(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield the one problem of all classes."""
    arguments: dict[str, object] = {
        "w": p["w"][:, 0], "c": p["thresholds"], "alpha": float(p["alpha"]), **without_penalty(p),
    }  # fmt: skip
    yield PageCall("ordinal", Classes(), arguments)


def firth(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield the one problem of two classes."""
    arguments: dict[str, object] = {
        "w": p["w"][:, 0], "b": float(p["b"][0]), "fit_intercept": p["fit_intercept"],
        "independent": Independent(),
    }  # fmt: skip
    yield PageCall("firth", Signs(), arguments)


def squared_hinge(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield a problem for each column of w."""
    yield from columns("squared_hinge", p)


def huber(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield a problem for each column of w."""
    for problem in columns("huber", p):
        yield problem._replace(arguments={**problem.arguments, "delta": p["delta"]})


def hinge(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield a problem for each column of w, with its dual variables if the model has them."""
    problems, beta = list(columns("hinge", p)), p.get("beta")
    if beta is None:
        yield from problems
        return
    for problem, dual in zip(problems, beta.reshape(len(problems), -1), strict=True):
        yield problem._replace(arguments={**problem.arguments, "beta": dual})


def columns(page: str, p: Parameters) -> Iterator[PageCall]:
    """Yield a problem for each column of w: one for two classes, else each against the rest."""
    c, scaling = _class_weight(p), _scaling(p)
    for k, (w, b) in enumerate(zip(p["w"].T, p["b"], strict=True)):
        targets = AgainstRest(k, c) if p.get("one_vs_rest") else Signs(1, c)
        if scaling is not None:
            w, b = np.append(w, b / scaling), 0.0
        yield PageCall(page, targets, {"w": w, "b": float(b), **_penalty(p)}, scaling)


def _penalty(p: Parameters) -> dict[str, object]:
    """C, l1 and l2, and whether the intercept is free or a coefficient of a constant column."""
    constant = _scaling(p) is not None
    return {
        "C": p["C"], "l1": p["l1"], "l2": p["l2"],
        "fit_intercept": p["fit_intercept"] and not constant, "constant": constant,
    }  # fmt: skip


def _scaling(p: Parameters) -> float | None:
    """The constant whose coefficient is a penalised intercept, as in liblinear; else None."""
    penalized = p["fit_intercept"] and p["l1"] + p["l2"] > 0
    return (p.get("intercept_scaling") or None) if penalized else None


def _class_weight(p: Parameters) -> list[float] | str | None:
    c = p.get("class_weight")
    return c.tolist() if isinstance(c, np.ndarray) else c


def without_penalty(p: Parameters) -> dict[str, object]:
    """The term of a model without a penalty: a separating direction, or independent columns."""
    direction = p.get("direction")
    if (p.get("l1") or p.get("l2") or p.get("alpha")) and not (direction and p.get("family")):
        return {}
    if direction:
        u, c = direction  # (p, k) and (k,), as one vector
        return {"direction": Direction([*np.ravel(u).tolist(), *np.ravel(c).tolist()])}
    return {"independent": Independent()}
