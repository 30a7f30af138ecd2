"""The reference: scikit-learn's boosted trees on the same folds. Not certified, never chosen."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .encoding import Training

if TYPE_CHECKING:
    import pyarrow as pa

    from ...tables import Column

REFERENCE_NAME = "Boosted trees (scikit-learn)"
MIN_ROWS = 20  # below, a leaf of 20 rows is the whole table
SECONDS_OF_CELL = 4e-7
SECONDS_OF_FIT = 0.15


def reference_output(train: Training, X: "pa.Table", seed: int) -> np.ndarray | None:
    """Answers of boosted trees for the rows of X; None where a fit is pointless."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if train.n < MIN_ROWS:
        return None
    encoder = _Ordinal(train.columns, train.X)
    is_category = np.array([column.role != "number" for column in train.columns])
    is_category &= encoder.n_levels <= 255  # the limit of categorical splits
    of_task: Any = HistGradientBoostingClassifier
    if train.task == "numbers":
        of_task = HistGradientBoostingRegressor
    model = of_task(categorical_features=is_category, early_stopping=False, random_state=seed)
    model.fit(encoder.transform(train.X), train.target, sample_weight=train.s)
    B = encoder.transform(X)
    if train.task == "numbers":
        return np.asarray(model.predict(B))
    P = np.asarray(model.predict_proba(B))
    if train.n_outputs == 1:
        return P[:, 1]
    found = np.zeros((len(P), train.n_outputs))
    found[:, model.classes_] = P
    return found


def reference_cost(n: int, m: int, n_outputs: int) -> float:
    """Seconds of a fit on one core."""
    return (SECONDS_OF_FIT + SECONDS_OF_CELL * n * m) * n_outputs


class _Ordinal:
    """Numbers as they are, and categories as their places among those of the training rows."""

    def __init__(self, columns: "tuple[Column, ...]", X: "pa.Table"):
        import pyarrow.compute as pc

        self.columns = columns
        self.levels = {
            c.name: pc.unique(X.column(c.name)).drop_null().sort()
            for c in columns if c.role != "number"
        }  # fmt: skip
        self.n_levels = np.array([len(self.levels.get(c.name, ())) for c in columns])

    def transform(self, X: "pa.Table") -> np.ndarray:
        import pyarrow as pa
        import pyarrow.compute as pc

        A = np.empty((len(X), len(self.columns)))
        for j, column in enumerate(self.columns):
            values = X.column(column.name)
            if column.name in self.levels:
                values = pc.index_in(values, value_set=self.levels[column.name])
            A[:, j] = pc.cast(values, pa.float64()).to_numpy()
        return A
