"""Nearest neighbours, exact, under scikit-learn's names."""

from .classification import KNeighborsClassifier, RadiusNeighborsClassifier
from .graph import kneighbors_graph, radius_neighbors_graph
from .nearest import NearestNeighbors
from .regression import KNeighborsRegressor, RadiusNeighborsRegressor

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "kneighbors_graph",
    "radius_neighbors_graph",
]
