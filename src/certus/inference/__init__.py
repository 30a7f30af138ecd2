"""Standard errors, tests and intervals of coefficients, as objects with tables for people.

The package can be called: ``certus.inference(model, X, y)`` returns the inference of a fitted
model, also inside pipelines and searches. Its classes are those of the results.

Examples
--------
>>> from sklearn.datasets import load_diabetes
>>> from sklearn.linear_model import LinearRegression
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> import certus
>>> X, y = load_diabetes(return_X_y=True, as_frame=True)
>>> X = X[["bmi", "bp"]]
>>> pipe = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
>>> print(certus.inference(pipe, X, y).conf_int())
95 % intervals
name          low    high
intercept  146.52  157.75
bmi         31.48   43.71
bp          13.02   25.24
coefficients are per unit of the columns as StandardScaler scaled them
scikit-learn's LinearRegression, proven optimal
"""

import sys
from types import ModuleType
from typing import Any

from .base import Estimated
from .comparison import NestedComparison, compare
from .firth import FirthInference
from .linear import Inference
from .log_link import LogLinkInference
from .logistic import LogisticInference
from .ordinal import OrdinalInference
from .proportional_odds import ProportionalOddsTest

__all__ = [
    "FirthInference",
    "Inference",
    "LogLinkInference",
    "LogisticInference",
    "NestedComparison",
    "OrdinalInference",
    "ProportionalOddsTest",
    "compare",
]


class CallableModule(ModuleType):
    """A package that can be called, so that ``certus.inference`` is a verb as ``certus.verify``."""

    def __call__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        cov: str = "classical",
        groups: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> Estimated:
        """Return standard errors, tests and intervals of a fitted model.

        Parameters
        ----------
        model : fitted estimator
            A linear model of certus, or scikit-learn's LinearRegression, Ridge, LogisticRegression,
            PoissonRegressor or GammaRegressor; also as the last step of a Pipeline, inside a
            search such as GridSearchCV, or a TransformedTargetRegressor. Where it is not at its
            optimum, it is fitted again, and a remark says so.
        X, y, sample_weight
            The rows of the fit, as they were given to the outermost estimator.
        cov : str, default="classical"
            As the model's own ``inference`` takes it: "HC0" …, "cluster".
        groups : array-like of shape (n_samples,), optional
            Of cov="cluster": the group of each row.
        offset, exposure : array-like of shape (n_samples,), optional
            Those that a PoissonRegressor or GammaRegressor was fitted with.

        Returns
        -------
        Inference, LogisticInference, …
            With the names of the columns that the pipeline makes. Its ``predict`` takes rows as
            the pipeline does.
        """
        # found on first use, since the estimators import the classes of this package
        from .. import infer

        return infer(model, X, y, sample_weight, cov, groups, offset, exposure)


sys.modules[__name__].__class__ = CallableModule
