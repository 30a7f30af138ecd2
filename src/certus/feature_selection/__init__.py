"""Selection of columns by weights that a certificate comes with: NCFS for classes and numbers."""

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
