"""Linear models with certificates, under scikit-learn's names."""

from .least_squares import LinearRegression
from .logistic import LogisticRegression
from .logistic_cv import LogisticRegressionCV
from .penalized_classifier import PenalizedClassifier
from .ridge import Ridge
from .ridge_cv import RidgeCV

__all__ = [
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "PenalizedClassifier",
    "Ridge",
    "RidgeCV",
]
