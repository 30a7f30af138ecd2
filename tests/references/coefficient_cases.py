"""Fits of other programs, as they printed them: ``coefficients/NAME.json``.

| key | what it holds |
|---|---|
| `program` | the program and its version |
| `command` | the script that read `data.csv`, fitted, and wrote `table.csv` and `full.csv` |
| `data` | `data.csv` by columns |
| `target`, `positive`, `weights` | columns of the data; the class that y = 1 stands for |
| `offset` | what is added to the score, in the columns of the data |
| `objective` | the program's objective in words, with the strength as the program was given it |
| `settings` | the same by the names of the program's arguments |
| `table` | `table.csv`, as the program wrote it |
| `full` | the coefficients with 17 digits |
| `precision` | a bound on the violation of the optimality conditions, as a share of their terms |
| `optimal` | false where the program stopped elsewhere, for the reason that `objective` gives |

A reference is made again in a folder with its `data.csv` by `Rscript` or `python` from the command.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "coefficients"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
INTERCEPTS = ("(Intercept)", "Intercept", "intercept", "const")


@dataclass(frozen=True)
class Reference:
    """One fit of another program."""

    name: str
    program: str
    command: str
    data: dict[str, list[Any]]
    target: str
    positive: Any
    weights: str | None
    offset: str | None
    objective: str
    settings: dict[str, Any]
    table: str
    full: dict[str, float]
    precision: float
    optimal: bool

    @property
    def terms(self) -> list[str]:
        return list(self.full)

    @property
    def coefficients(self) -> np.ndarray:
        return np.array(list(self.full.values()))

    @property
    def X(self) -> np.ndarray:
        """One column for each term, the intercept's of ones."""
        return np.column_stack([self.column(term) for term in self.full])

    @property
    def y(self) -> np.ndarray:
        """The target as numbers, 1 for the positive class."""
        y = self.data[self.target]
        if self.positive is not None:
            y = [value == self.positive for value in y]
        return np.array(y, dtype=float)

    @property
    def w(self) -> np.ndarray:
        n = len(self.data[self.target])
        return np.ones(n) if self.weights is None else np.array(self.data[self.weights], float)

    @property
    def shift(self) -> np.ndarray:
        """What is added to xᵀβ."""
        return np.zeros(len(self.y)) if self.offset is None else self.column(self.offset)

    def column(self, term: str) -> np.ndarray:
        """The column that a term stands for in the notation of R or of Patsy."""
        if term in INTERCEPTS:
            return np.ones(len(self.data[self.target]))
        if ":" in term:
            left, right = term.split(":")
            return self.column(left) * self.column(right)
        if power := re.fullmatch(r"I\((\w+) ?(?:\^|\*\*) ?(\d)\)", term):
            return self.column(power[1]) ** int(power[2])
        if logarithm := re.fullmatch(r"log\((\w+)\)", term):
            return np.log(self.column(logarithm[1]))
        if term in self.data:
            return np.array(self.data[term], dtype=float)
        level = re.fullmatch(r"(?:C\()?group\)?(?:\[T\.)?(\w+?)\]?", term)
        assert level is not None, term
        assert level[1] in self.data["group"], term
        return np.array([value == level[1] for value in self.data["group"]], dtype=float)


def load(name: str) -> Reference:
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return Reference(name=name, **json.loads(text))
