"""Calls of the pages of regression."""

from collections.abc import Iterator, Mapping

import numpy as np

from ...audit import Labels
from ...definitions.terms.families import GammaAmounts, PoissonCounts
from ...definitions.terms.penalties.elastic_net import ElasticNet
from ...definitions.terms.penalties.group_l2 import GroupL2
from ...definitions.terms.penalties.mcp import MCP
from ...definitions.terms.penalties.scad import SCAD
from ...definitions.terms.penalties.simplex import Simplex
from ...definitions.terms.targets import Averaged, Signs, TargetColumn, TargetColumns
from ..parameters import Parameters
from .classes import without_penalty
from .problem import PageCall

Arguments = dict[str, object]


def least_squares(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield a problem for each target; for a classifier, for ±1 of each class (of two, one)."""
    alphas = np.broadcast_to(np.ravel(p["alpha"]), p["b"].shape)
    for k, model in _models(p):
        arguments = {**model, "alpha": float(alphas[k]), "positive": p.get("positive", False)}
        yield PageCall("least_squares", _column(k, labels), arguments)


def huber_regression(p: Parameters, _labels: Labels | None) -> Iterator[PageCall]:
    for k, model in _models(p):
        arguments = {name: p[name] for name in ("scale", "epsilon", "alpha")}
        yield PageCall("huber_regression", TargetColumn(k), {**model, **arguments})


def log_link(p: Parameters, _labels: Labels | None) -> Iterator[PageCall]:
    """Yield the one problem; an offset is a second column of the targets."""
    family = {"poisson": PoissonCounts, "gamma": GammaAmounts}[str(p["family"])]()
    penalty = {"l1": p["l1"], "l2": p["l2"]}
    for _, model in _models(p):
        arguments = {"family": family, **model, **penalty, **without_penalty(p)}
        yield PageCall("log_link", TargetColumns(), arguments)


def penalized(p: Parameters, _labels: Labels | None) -> Iterator[PageCall]:
    """Yield a problem for each target, with weights divided as the model divides the loss."""
    assert isinstance(p["loss"], dict)
    loss: Arguments = {**p["loss"]}
    squared, divisor = loss["name"] == "squared", p.get("divisor")
    page, arguments = _page_of({**p["penalty"]}, squared, len(p["w"]))
    if not squared:
        arguments["delta"] = loss["delta"]
    for k, model in _models(p):
        targets: tuple[object, ...] = Averaged(k, divisor) if divisor else TargetColumn(k)
        if page == "least_squares":  # Σ s r² + α‖w‖², of half the weights
            targets = Averaged(k, divisor, 0.5)
        yield PageCall(page, targets, {**model, **arguments})


def ridge_cv(claim: Mapping[str, object]) -> PageCall:
    """The problem of choosing α by leave-one-out; ``claim`` is the ``cv_claim`` of a reading."""
    names = ("alpha", "alphas", "per_target", "fit_intercept")
    return PageCall(
        "ridge_cv", TargetColumns(), {**{k: claim[k] for k in names}, "score": claim["best_score"]}
    )


def _models(p: Parameters) -> Iterator[tuple[int, Arguments]]:
    """Yield the number of each target with its w (p,) and b."""
    for k, (w, b) in enumerate(zip(p["w"].T, p["b"], strict=True)):
        yield k, {"w": w, "b": float(b), "fit_intercept": p["fit_intercept"]}


def _column(k: int, labels: Labels | None) -> tuple[object, ...]:
    if labels is None:
        return TargetColumn(k)
    c = None if labels.weight is None else labels.weight.tolist()
    return Signs(1 if len(labels.classes) == 2 else k, c)


def _page_of(penalty: Mapping[str, object], squared: bool, columns: int) -> tuple[str, Arguments]:
    """The page of a loss and a penalty, and its arguments for the penalty."""
    given = {name: value for name, value in penalty.items() if name != "name"}
    match penalty["name"]:
        case "elastic_net":
            return _elastic_net(given, squared)
        case "box":
            return "bounded_regression", {name: np.asarray(v) for name, v in given.items()}
        case "simplex":
            return "penalized", {"penalty": Simplex(**given)}  # type: ignore[arg-type]
        case "group_l2":
            return "penalized", {"penalty": _group_l2(given, columns)}
        case "mcp":
            return "concave_penalty", {"penalty": MCP(**given)}  # type: ignore[arg-type]
        case "scad":
            return "concave_penalty", {"penalty": SCAD(**given)}  # type: ignore[arg-type]
        case name:
            raise ValueError(f"there is no page for the penalty {name!r}")


def _elastic_net(given: Arguments, squared: bool) -> tuple[str, Arguments]:
    l1, l2, positive = given["l1"], given["l2"], bool(given.get("positive", False))
    assert isinstance(l1, float)
    assert isinstance(l2, float)
    if squared and l1 == 0:
        return "least_squares", {"alpha": l2 / 2, "positive": positive}
    if squared:
        return "elastic_net", {"l1": l1, "l2": l2, "positive": positive}
    if l1 == l2 == 0:
        return "bounded_regression", {"low": 0.0} if positive else {}
    return "penalized", {"penalty": ElasticNet(l1, l2, positive)}


def _group_l2(given: Arguments, columns: int) -> GroupL2:
    groups, numbers = given["groups"], np.zeros(columns, dtype=int)
    assert isinstance(groups, list)
    for number, members in enumerate(groups):
        numbers[members] = number
    strength = given["strength"]
    assert isinstance(strength, float)
    return GroupL2(strength, numbers.tolist())
