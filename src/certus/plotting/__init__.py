"""Plots of fits and certificates, by scikit-learn's Display convention; needs matplotlib."""

from .alpha_curve import AlphaCurveDisplay
from .convergence import ConvergenceDisplay
from .dendrogram import DendrogramDisplay, plot_dendrogram
from .feature_weights import FeatureWeightsDisplay
from .forest import ForestDisplay
from .imbalance import ImbalanceDisplay
from .k_curve import KCurveDisplay
from .n_clusters import NClustersDisplay
from .score_grid import ScoreGridDisplay

__all__ = [
    "AlphaCurveDisplay",
    "ConvergenceDisplay",
    "DendrogramDisplay",
    "FeatureWeightsDisplay",
    "ForestDisplay",
    "ImbalanceDisplay",
    "KCurveDisplay",
    "NClustersDisplay",
    "ScoreGridDisplay",
    "plot_dendrogram",
]
