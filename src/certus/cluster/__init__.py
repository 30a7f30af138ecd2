"""Clusters of rows, under scikit-learn's names."""

from .bisecting import BisectingKMeans
from .choose_n_clusters import NClustersChoice, choose_n_clusters
from .kmeans import KMeans
from .minibatch import MiniBatchKMeans

__all__ = ["BisectingKMeans", "KMeans", "MiniBatchKMeans", "NClustersChoice", "choose_n_clusters"]
