"""The measure of the chosen model on the rows of ``--test``, by which nothing was chosen."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...text.format import count
from ..prepared import Prepared, PreparedTest
from ..settings import Settings
from .encoding import target_of
from .intervals import estimate
from .measures import measure_of

if TYPE_CHECKING:
    from ..content.values import MeasureEstimate
    from .result import ProcedureResult


def score_of_test_rows(
    prepared: Prepared, settings: Settings, result: "ProcedureResult", test: PreparedTest
) -> "MeasureEstimate | None":
    """The measure with its interval; None where the rows hold a single class."""
    n, target = len(test.y), target_of(prepared)
    output = result.predictor.output(test.X)
    measure = measure_of(prepared.task)
    mean = float(np.average(target, weights=prepared.weights))  # the baseline of numbers
    found = estimate(
        measure, target_of(replace(prepared, y=test.y)), output, np.zeros(n, dtype=np.intp),
        np.full(n, mean), None, np.arange(n), settings.confidence, settings.seed,
    )  # fmt: skip
    if not np.isfinite(found.value):
        return None
    text = f"the chosen model, fitted to all rows, on the {count(n, 'row')} of {test.source}"
    return replace(found, name=f"{measure.name} on --test", text=text)
