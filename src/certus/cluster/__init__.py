"""Clusters of rows, under scikit-learn's names."""

from ..plotting.dendrogram import plot_dendrogram
from .bisecting import BisectingKMeans
from .choose_n_clusters import NClustersChoice, choose_n_clusters
from .kmeans import KMeans
from .minibatch import MiniBatchKMeans
from .tree import Tree

__all__ = [
    "BisectingKMeans",
    "KMeans",
    "MiniBatchKMeans",
    "NClustersChoice",
    "Tree",
    "choose_n_clusters",
    "plot_dendrogram",
]
