"""Distances d(a, b) between rows: one pair, all pairs, and their derivatives by feature weights."""

from .base import Distance
from .boolean import Boolean
from .directions import Correlation, Cosine, Spearman
from .gower import Gower
from .haversine import Haversine
from .mahalanobis import Mahalanobis, StandardizedEuclidean
from .minkowski import Chebyshev, Euclidean, Manhattan, Minkowski, SquaredEuclidean
from .missing import NanEuclidean
from .phi_s import PhiS
from .registry import get_distance, names, pairwise_distances
from .shares import BrayCurtis, Canberra, Hamming
from .user import UserDistance

__all__ = [
    "Boolean",
    "BrayCurtis",
    "Canberra",
    "Chebyshev",
    "Correlation",
    "Cosine",
    "Distance",
    "Euclidean",
    "Gower",
    "Hamming",
    "Haversine",
    "Mahalanobis",
    "Manhattan",
    "Minkowski",
    "NanEuclidean",
    "PhiS",
    "Spearman",
    "SquaredEuclidean",
    "StandardizedEuclidean",
    "UserDistance",
    "get_distance",
    "names",
    "pairwise_distances",
]
