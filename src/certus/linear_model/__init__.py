"""Linear models with certificates, under scikit-learn's names."""

from .elastic_net import ElasticNet, Lasso
from .elastic_net_cv import ElasticNetCV, LassoCV
from .firth import FirthLogisticRegression
from .least_squares import LinearRegression
from .log_link import GammaRegressor, PoissonRegressor
from .logistic import LogisticRegression
from .logistic_cv import LogisticRegressionCV
from .ordinal import OrdinalRegression
from .penalized_classifier import PenalizedClassifier
from .penalized_regressor import PenalizedRegressor
from .ridge import Ridge
from .ridge_cv import RidgeCV

__all__ = [
    "ElasticNet",
    "ElasticNetCV",
    "FirthLogisticRegression",
    "GammaRegressor",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "OrdinalRegression",
    "PenalizedClassifier",
    "PenalizedRegressor",
    "PoissonRegressor",
    "Ridge",
    "RidgeCV",
]
