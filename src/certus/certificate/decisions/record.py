"""How predictions of a model differ from those at the optimum."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Decisions:
    """How the answers of a model on its rows differ from those at the optimum.

    Attributes
    ----------
    n : int
        Rows that were compared: all with a weight above 0.
    n_changed : int
        Rows of which the label differs; for a regression, of which a prediction differs by more
        than ``unit``.
    answer : str
        What ``max_change`` is about: "probability", "score" (where a classifier has no
        probabilities) or "prediction".
    max_change : float
        The largest difference between the model and a certified refit.
    row : int
        The row where it occurs, counted from 0.
    bound : float or None
        No answer of these rows is farther from the optimum's: proven. None: not known, and
        ``max_change`` is a comparison with the refit.
    unit : float or None
        Regression: a hundredth of the typical error, the root of the mean squared residual.
    objective : float
        The objective at the refit.
    """

    n: int
    n_changed: int
    answer: str
    max_change: float
    row: int
    bound: float | None
    unit: float | None
    objective: float
