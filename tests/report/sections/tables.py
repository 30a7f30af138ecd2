"""Tables for the data sections: frames, read and prepared as ``certus report`` does."""

import io
from typing import Any

import numpy as np
import pandas as pd

from certus.reporting.content.data import DataProblem
from certus.reporting.prepare import prepare
from certus.reporting.prepared import Prepared
from certus.reporting.sections import problems
from certus.reporting.settings import Settings
from certus.tables import Table, read_table


def settings_for(**options: Any) -> Settings:
    return Settings(**{"target": "sick", **options})


def table_of(frame: pd.DataFrame) -> Table:
    return read_table(io.BytesIO(frame.to_csv(index=False).encode()))


def prepared_of(frame: pd.DataFrame, settings: Settings | None = None) -> Prepared:
    return prepare(table_of(frame), settings or settings_for())


def problems_of(frame: pd.DataFrame, code: str, **options: Any) -> list[DataProblem]:
    """The problems with this code."""
    settings = settings_for(**options)
    found = problems.find(prepared_of(frame, settings), settings).problems
    return [p for p in found if p.code == code]


def clean(seed: int = 0, n: int = 200, task: str = "classes") -> pd.DataFrame:
    """Rows without a fault: numbers, a category, and a target that depends on them weakly."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 12, n).round(1)
    pressure = (rng.normal(120, 15, n) + 0.3 * age).round(1)
    frame = pd.DataFrame({
        "age": age,
        "pressure": pressure,
        "dose": rng.gamma(2.0, 3.0, n).round(2),
        "visits": rng.poisson(3, n),
        "ward": rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]),
        "smoker": rng.choice(["yes", "no"], n, p=[0.3, 0.7]),
    })  # fmt: skip
    z = 0.05 * (age - 50) + 0.03 * (pressure - 135) + rng.logistic(size=n)
    frame["sick"] = z.round(3) if task == "numbers" else np.where(z > 0, "ill", "well")
    return frame


def only(found: list[DataProblem]) -> DataProblem:
    assert len(found) == 1, [p.title for p in found]
    return found[0]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(1000 + seed)
