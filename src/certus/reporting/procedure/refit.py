"""The model that is kept: the choice on all rows, fitted, calibrated and certified."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...exceptions import CannotVerifyError
from .choose import Choice
from .encoding import Training
from .fitting import PipelinePredictor
from .outer import fitted_candidates

if TYPE_CHECKING:
    from ...certificate import Certificate


@dataclass(frozen=True, eq=False)
class Refit:
    """All candidates, fitted on all rows or on their samples."""

    choice: Choice
    model: PipelinePredictor  # the chosen one
    rows: np.ndarray  # that it was fitted on
    certificate: "Certificate"
    others: "dict[str, Certificate]" = field(default_factory=dict)
    n_rows: dict[str, int] = field(default_factory=dict)  # that each was given


def refitted(all_rows: Training, choice: Choice, seed: int) -> Refit:
    """Fit the candidates of a choice on all rows, and verify their claims from the definitions."""
    models = fitted_candidates(all_rows, choice, seed)
    key = choice.scored[choice.chosen].candidate.key
    if key not in models:
        raise ValueError(f"{key} was chosen, and refuses the rows")
    certificates = {}
    for name, (model, rows) in models.items():
        given = all_rows if len(rows) == all_rows.n else all_rows.take(rows)
        try:
            certificates[name] = model.certificate(given)
        except CannotVerifyError:
            if name == key:
                raise
    model, rows = models[key]
    others = {name: c for name, c in certificates.items() if name != key}
    counts = {name: len(given) for name, (_, given) in models.items()}
    return Refit(choice, model, rows, certificates[key], others, counts)
