"""What a candidate is: a family of models with a short grid of parameters.

A candidate answers rows by scores z: log-odds of the positive class; log-probabilities of each of
more classes up to a constant; or numbers. Where z is not that of a likelihood, calibration makes
probabilities of it (``certus.metrics.CalibratedClassifier``).
"""

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...prepared import Prepared
from ..encoding import Encoded

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Parameter = tuple[float, ...]


class CandidateModel(Protocol):
    """One of the models that are compared."""

    @property
    def key(self) -> str:
        """As people type it."""
        ...

    @property
    def name(self) -> str:
        """As the page calls it."""
        ...

    @property
    def rank(self) -> int:
        """Simplicity: smaller is simpler."""
        ...

    @property
    def is_calibrated(self) -> bool:
        """Are its scores those of a likelihood, or numbers?"""
        ...

    @property
    def most_rows(self) -> int | None:
        """It is given a sample of larger tables."""
        ...

    def suits(self, prepared: Prepared) -> bool:
        """Is it a model of this task?"""
        ...

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        """Parameters to compare, for n rows and m encoded columns; the smoothest model first."""
        ...

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        """Scores of the rows B for each parameter: (parameters, rows, outputs)."""
        ...

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        """The estimator with this parameter, to be fitted on these rows."""
        ...

    def words(self, parameter: Parameter) -> str:
        """The parameter in words."""
        ...

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        """Seconds on one core for the grid on n rows: predicts the time, plans ``--budget``."""
        ...
