"""Measures for imbalanced classes, with intervals; corrected probabilities and thresholds.

Measures that scikit-learn has (``recall_score``, ``roc_auc_score``, …) are not repeated.
"""

from .brier import BrierResult, brier_decomposition
from .calibrated import CalibratedClassifier
from .imbalance import imbalance_report
from .prior import PriorCorrectedClassifier, correct_prior
from .report import ImbalanceResult
from .shares import geometric_mean_score, sensitivity_score, specificity_score
from .thresholds import threshold_for

__all__ = [
    "BrierResult",
    "CalibratedClassifier",
    "ImbalanceResult",
    "PriorCorrectedClassifier",
    "brier_decomposition",
    "correct_prior",
    "geometric_mean_score",
    "imbalance_report",
    "sensitivity_score",
    "specificity_score",
    "threshold_for",
]
