"""A scikit-learn Pipeline from the columns of a table to a model.

    numbers       missing values become the median; scaled where the model compares distances
    categories    missing values become a category of their own; one column of 0 and 1 for each,
                  without the first where the model has no penalty, since the columns of a category
                  add up to the intercept
    truth values  as categories

Of a column with ``levels`` the other categories are merged: they have 0 in all its columns, as
categories that are new at predict have.

certus's linear models scale inside, so their coefficients stay in the table's own units.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .columns import Column

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

MISSING_CATEGORY = "missing"
MAX_VALUES_IMPUTED = 1 << 24  # at once: SimpleImputer copies them about four times, 0.5 GB
SCALE_INSIDE = (  # penalties are in the table's units, or there is none; or the model scales itself
    "LinearRegression", "LogisticRegression", "FirthLogisticRegression", "OrdinalRegression",
    "GaussianMixture", "PoissonMixture", "BernoulliMixture", "MultinomialMixture",
    "NCFSClassifier", "NCFSClassifierCV", "NCFSRegressor",
)  # fmt: skip


UNPENALIZED = ("LinearRegression", "FirthLogisticRegression")


def pipeline_for(
    columns: Sequence[Column],
    model: "BaseEstimator",
    n_rows: int = 0,
    *,
    scaled: Sequence[str] = SCALE_INSIDE,
) -> "Pipeline":
    """The steps that make numbers of these columns, and the model; not fitted.

    ``n_rows``: of the table, if it is large. Medians are then computed for a few columns at a time;
    the model is given the same columns in the same order. ``scaled``: classes of models that are
    given numbers in the table's own units; () where a penalty must not depend on units.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [c.name for c in columns if c.role == "number"]
    categories = [c for c in columns if c.role in ("category", "truth")]
    parts = []
    for name, group in _groups(numbers, n_rows).items():
        steps = [SimpleImputer(strategy="median")]
        if type(model).__name__ not in scaled:
            steps.append(StandardScaler())
        parts.append((name, make_pipeline(*steps), group))
    drop = "if_binary" if _is_penalized(model) else "first"
    whole = [c for c in categories if c.levels is None]
    merged = [c for c in categories if c.levels is not None]
    for name, chosen in (("categories", whole), ("merged_categories", merged)):
        if not chosen:
            continue
        fill = SimpleImputer(missing_values=None, strategy="constant", fill_value=MISSING_CATEGORY)
        encode = OneHotEncoder(
            handle_unknown="ignore", sparse_output=False, dtype=np.uint8,  # an eighth of the memory
            categories=[*map(_levels, merged)] if chosen is merged else "auto",
            drop=None if chosen is merged else drop,  # rows of merged levels have 0 in all columns
        )  # fmt: skip
        parts.append((name, make_pipeline(fill, encode), [c.name for c in chosen]))
    columns_apart = ColumnTransformer(parts, verbose_feature_names_out=False)
    return Pipeline([("columns", columns_apart), ("model", model)])


def _groups(names: list[str], n_rows: int) -> dict[str, list[str]]:
    """Columns of numbers in the groups that are imputed together: "numbers", "numbers_2", …"""
    width = max(1, MAX_VALUES_IMPUTED // max(n_rows, 1))
    starts = range(0, len(names), width)
    return {
        "numbers" if not i else f"numbers_{i + 1}": names[start : start + width]
        for i, start in enumerate(starts)
    }


def _levels(column: Column) -> list[str]:
    """The categories of a column that have columns of their own, missing values among them."""
    missing = [MISSING_CATEGORY] if column.n_missing else []
    return sorted({*(column.levels or ()), *missing})


def _is_penalized(model: "BaseEstimator") -> bool:
    """Does a penalty choose among coefficients that the data cannot tell apart?"""
    given = model.get_params(deep=False)
    unlimited = given.get("C") == np.inf or given.get("alpha") == 0
    return type(model).__name__ not in UNPENALIZED and not unlimited
