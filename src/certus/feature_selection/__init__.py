"""Feature selection by weights with a certificate: NCFS for classification and regression."""

from .ncfs import NCFSClassifier
from .ncfs_cv import NCFSClassifierCV
from .ncfs_regressor import NCFSRegressor
from .stability import StabilityResult, stability_selection

__all__ = [
    "NCFSClassifier",
    "NCFSClassifierCV",
    "NCFSRegressor",
    "StabilityResult",
    "stability_selection",
]
