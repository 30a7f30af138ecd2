"""A linear model in a pipeline, as scores of encoded columns.

    z_k = b_k + Σ_j w_kj a_j,    a_j = (value − shift_j)/scale_j of the table's column j

``value`` is the number, or 1 where it is the category of column j and else 0. Ordered classes have
one score, z = Σ_j w_j a_j, and thresholds: P(y ≤ k) = 1/(1 + exp(−(c_k − z))).
"""

from dataclasses import dataclass

import numpy as np

from ....audit.column_steps import ColumnStep, column_steps
from ...prepared import Prepared
from ...procedure.result import ProcedureResult

LINKS = {"two classes": "logistic", "classes": "softmax", "ordered classes": "cumulative",
         "numbers": "identity"}  # fmt: skip
LINEAR_MODELS = (
    "LinearRegression", "Ridge", "Lasso", "ElasticNet", "LogisticRegression",
    "FirthLogisticRegression", "OrdinalRegression",
)  # fmt: skip
MIN_LEVEL_ROWS = 5  # rarer levels are shown together


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores of a fitted linear model. Two classes: z is the log-odds of the positive class."""

    link: str
    steps: tuple[ColumnStep, ...]  # (m,) the encoded columns
    w: np.ndarray  # (K, m)
    b: np.ndarray  # (K,); 0 for ordered classes
    cuts: np.ndarray  # of ordered classes
    outputs: tuple[str, ...]  # the classes of w's rows; one for two classes

    @property
    def scales(self) -> np.ndarray:
        """What one unit of each encoded column is in the table's units."""
        return np.array([step.scale for step in self.steps])

    @property
    def shifts(self) -> np.ndarray:
        """What is subtracted from each value."""
        return np.array([step.shift for step in self.steps])

    def places(self, column: str) -> list[int]:
        """The encoded columns that a column of the table became."""
        return [j for j, step in enumerate(self.steps) if step.name == column]


def linear_model(prepared: Prepared, result: ProcedureResult) -> LinearModel | None:
    """The chosen model as scores; None if it is not linear, or not in the table's columns."""
    model = result.model
    if type(model).__name__ not in LINEAR_MODELS or model is not result.pipeline[-1]:
        return None
    steps = column_steps([result.pipeline[:-1]], list(prepared.X.column_names))
    if steps is None:
        return None
    w, b, cuts = coefficients(prepared, model)
    link = LINKS[prepared.task]
    outputs = ("",) if link != "softmax" else prepared.classes
    if w.shape != (len(outputs), len(steps)):
        return None  # a class without a training row
    return LinearModel(link, tuple(steps), w, b, cuts, outputs)


def coefficients(prepared: Prepared, model: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """w (K, m), b (K,) and thresholds of a fitted linear model, in the order of the report."""
    given = vars(model)
    w = np.atleast_2d(np.asarray(given["coef_"], dtype=float))
    if prepared.task == "ordered classes" and "thresholds_" in given:
        return w[:1], np.zeros(1), np.asarray(given["thresholds_"], dtype=float)
    b = np.atleast_1d(np.asarray(given["intercept_"], dtype=float))
    if prepared.task == "numbers":
        return w, b, np.zeros(0)
    known = np.asarray(given["classes_"]).tolist()
    if prepared.positive is not None:
        sign = 1.0 if known[-1] == prepared.labels[prepared.positive] else -1.0
        return sign * w, sign * b, np.zeros(0)
    place = [known.index(label) for label in prepared.labels if label in known]
    return w[place], b[place], np.zeros(0)


# --- levels of a category -------------------------------------------------------------------------


@dataclass(frozen=True)
class Level:
    """A level of a category, or several rare ones: how many rows have it, and its columns.

    ``shares``: encoded columns with their weights, which are the shares of the levels' rows among
    those shown together; none for the level without a column of its own.
    """

    name: str
    n: int
    shares: tuple[tuple[int, float], ...]


OTHER_LEVELS = "other levels"


def levels_of(prepared: Prepared, linear: LinearModel, column: str) -> tuple[list[Level], int]:
    """Levels by number of rows, the commonest first, and how many rows have a level not shown.

    Levels with fewer than 5 rows are shown together as "other levels"; if these have fewer than 5
    rows, they are not shown.
    """
    places = {linear.steps[j].category: j for j in linear.places(column)}
    fill = next((linear.steps[j].fill for j in places.values()), None)
    values = prepared.X.column(column).to_pylist()
    counts: dict[object, int] = {}
    for value in values:
        value = fill if value is None else value
        counts[value] = counts.get(value, 0) + 1
    common = sorted((v for v in counts if counts[v] >= MIN_LEVEL_ROWS), key=lambda v: -counts[v])
    rare = [v for v in counts if counts[v] < MIN_LEVEL_ROWS]
    found = [Level(str(v), counts[v], ((places[v], 1.0),) if v in places else ()) for v in common]
    total = sum(counts[v] for v in rare)
    if total < MIN_LEVEL_ROWS:
        return found, total
    shares = tuple((places[v], counts[v] / total) for v in rare if v in places)
    return [*found, Level(OTHER_LEVELS, total, shares)], 0


def numbers_of(prepared: Prepared, column: str) -> np.ndarray:
    """The values of a column of numbers that are not missing."""
    values = prepared.X.column(column).to_numpy()
    values = np.asarray(values, dtype=float)
    return values[np.isfinite(values)]


def encoded(prepared: Prepared, result: ProcedureResult) -> np.ndarray:
    """The rows that the chosen model was fitted on, as it was given them (n, m)."""
    X = prepared.X if result.rows is None else prepared.X.take(result.rows)
    return np.asarray(result.pipeline[:-1].transform(X), dtype=float)
