"""Nearest neighbours, exact, under scikit-learn's names."""

from .ball_density import Density, density
from .bayes_error import BayesErrorResult, bayes_error_bracket
from .classification import KNeighborsClassifier, RadiusNeighborsClassifier
from .graph import kneighbors_graph, radius_neighbors_graph
from .k_choice import KResult, choose_k
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
