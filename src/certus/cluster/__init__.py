"""Clusters of rows, under scikit-learn's names."""

from ..plotting.dendrogram import plot_dendrogram
from .agglomerative import AgglomerativeClustering
from .bisecting import BisectingKMeans
from .divisive import DivisiveClustering
from .kmeans import KMeans
from .linkage_matrix import linkage
from .minibatch import MiniBatchKMeans
from .n_clusters import NClustersResult, choose_n_clusters
from .tree import Tree
from .variables import VariableClustering

__all__ = [
    "AgglomerativeClustering",
    "BisectingKMeans",
    "DivisiveClustering",
    "KMeans",
    "MiniBatchKMeans",
    "NClustersResult",
    "Tree",
    "VariableClustering",
    "choose_n_clusters",
    "linkage",
    "plot_dendrogram",
]
