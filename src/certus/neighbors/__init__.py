"""Nearest neighbours, exact, under scikit-learn's names."""

from .bayes_error import BayesErrorResult, bayes_error_bracket
from .choose_k import KResult, choose_k
from .classification import KNeighborsClassifier, RadiusNeighborsClassifier
from .density import Density, density
from .graph import kneighbors_graph, radius_neighbors_graph
from .nearest import NearestNeighbors
from .regression import KNeighborsRegressor, RadiusNeighborsRegressor

__all__ = [
    "BayesErrorResult",
    "Density",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KResult",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "bayes_error_bracket",
    "choose_k",
    "density",
    "kneighbors_graph",
    "radius_neighbors_graph",
]
