"""A target of the attack: how its model is made, and which data it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Generator = np.random.Generator


@dataclass(frozen=True)
class Target:
    name: str
    task: str  # numbers, several numbers, events, amounts, two classes, classes, ordered, rows, …
    make: Callable[[Generator, int], Any]  # of the number of columns
    sparse: bool = True
    weighted: bool = True
    offset: bool = False  # ``fit`` takes one
    rows: int = 40
    columns: int = 6
    share: float = 1.0  # of the trials, relative
    tree: bool = False  # what ``make`` returns is called with X and gives a tree of SciPy's


def pick(rng: Generator, *values: Any) -> Any:
    return values[rng.integers(len(values))]


def strength(rng: Generator, low: float = -6, high: float = 3) -> float:
    return float(10.0 ** rng.uniform(low, high))


def coin(rng: Generator, chance: float = 0.5) -> bool:
    return bool(rng.random() < chance)


def class_weight(rng: Generator) -> Any:
    return pick(rng, None, None, None, "balanced", {0: 2.5, 1: 0.3})
