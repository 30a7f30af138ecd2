"""The certificate in scikit-learn's diagrams: a caption below the name of a fitted estimator.

The diagram of a Pipeline asks each step for its block. scikit-learn has no public interface for
that, so the block answers None to whatever else is asked of it; where it is not asked at all,
diagrams are as before.
"""

from typing import Any

from sklearn.base import BaseEstimator

from ..certificate import Certificate
from ..certificate.explain.html import caption


class DiagramBlock:
    """A single estimator with a caption."""

    kind = "single"
    dash_wrapped = True
    doc_link_label = None

    def __init__(self, model: BaseEstimator, certificate: Certificate):
        self.estimators = model
        self.names = type(model).__name__
        self.name_details = str(model)
        self.name_caption = caption(certificate)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python itself looks for
            raise AttributeError(name)
        return None


def holds_estimators(model: BaseEstimator) -> bool:
    """Return whether a parameter is an estimator, which the diagram then shows inside."""
    return any(hasattr(value, "fit") for value in model.get_params(deep=False).values())
