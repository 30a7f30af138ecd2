"""Mistakes planted in right tables: each returns the table and the arguments of the audit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from certus.coefficient_audit.objective import DesignMatrix
from certus.coefficient_audit.presets import Preset
from tests.coefficient_audit.problems import LEVELS, design, optimum, rounded

Planted = tuple[dict[str, str], dict[str, Any]]


def arguments(data: dict[str, Any]) -> dict[str, Any]:
    return {"X": data["X"], "y": data["y"], "sample_weight": data["w"]}


def swapped(data: dict[str, Any], preset: Preset, shape: str, digits: int) -> Planted:
    table = rounded(optimum(preset, shape, design(data)), digits)
    table["x1"], table["x3"] = table["x3"], table["x1"]
    return table, arguments(data)


def other_class(data: dict[str, Any], preset: Preset, shape: str, digits: int) -> Planted:
    table = rounded(optimum(preset, shape, design({**data, "y": 1 - data["y"]})), digits)
    return table, arguments(data)


def without_weights(data: dict[str, Any], preset: Preset, shape: str, digits: int) -> Planted:
    table = rounded(optimum(preset, shape, design({**data, "w": None})), digits)
    return table, arguments(data)


def other_reference(data: dict[str, Any], preset: Preset, shape: str, digits: int) -> Planted:
    """The reference is 'south', and the table's two levels are labelled as if it were 'north'."""
    D = design(data)
    region, X = data["X"]["region"], D.X.copy()
    X[:, 4:6] = np.column_stack([region == "north", region == "west"])
    return rounded(optimum(preset, shape, replace(D, X=X)), digits), arguments(data)


def by_effects(data: dict[str, Any], preset: Preset, shape: str, digits: int) -> Planted:
    D = design(data)
    X = D.X.copy()
    X[:, 4:6] -= (data["X"]["region"] == LEVELS[0])[:, None]
    return rounded(optimum(preset, shape, replace(D, X=X)), digits), arguments(data)


def standardized(data: dict[str, Any], preset: Preset, shape: str, digits: int) -> Planted:
    D = design(data)
    s = D.weights / D.weights.sum()
    X = (D.X - s @ D.X) / D.scales
    return rounded(optimum(preset, shape, replace(D, X=X)), digits), arguments(data)


def intercept_left_out(data: dict[str, Any], preset: Preset, shape: str, digits: int) -> Planted:
    table = rounded(optimum(preset, shape, design(data)), digits)
    del table["(Intercept)"]
    return table, arguments(data)


def other_rows(data: dict[str, Any], preset: Preset, shape: str, digits: int) -> Planted:
    """The table is of the first two thirds of the rows."""
    D = design(data)
    some = slice(0, 2 * len(D.y) // 3)
    part: DesignMatrix = replace(
        D, X=D.X[some], y=D.y[some], s=None if D.s is None else D.s[some]
    )  # fmt: skip
    return rounded(optimum(preset, shape, part), digits), arguments(data)


# by the name of the mistake; None: none of the usual ones
MISTAKES: dict[Callable[..., Planted], str | None] = {
    swapped: "exchanged", other_class: "positive", without_weights: "without the weights",
    other_reference: "reference level", by_effects: "by effects", standardized: "standardised",
    intercept_left_out: "intercept that the table does not show", other_rows: None,
}  # fmt: skip
