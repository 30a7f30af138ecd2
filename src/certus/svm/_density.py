"""Density weights of a model's rows."""

from typing import TYPE_CHECKING

import numpy as np

from ..data.rows import Rows
from ..data.validation import one_of, positive_whole
from ._classes import codes
from .density_weights import of_rows

if TYPE_CHECKING:
    from .density_lssvc import DensityWeightedLSSVC
    from .density_svc import DensityWeightedSVC

WHERE = ("global", "per_class")


def density_of(
    model: "DensityWeightedLSSVC | DensityWeightedSVC", rows: Rows, classes: np.ndarray
) -> np.ndarray:
    """d of each row, among all rows or those of its class."""
    labels = (classes, codes(rows)) if model.density == "per_class" else None
    return of_rows(rows.X, model.n_neighbors, labels, name="n_neighbors")


def check_density(model: "DensityWeightedLSSVC | DensityWeightedSVC") -> None:
    one_of("density", model.density, WHERE)
    positive_whole("n_neighbors", model.n_neighbors)
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        raise ValueError(
            f"kernel='precomputed': {type(model).__name__} measures distances between rows, and a "
            "kernel matrix has none; give rows and kernel as a function, or use "
            "LSSVC(kernel='precomputed') with sample_weight=density_weights(X)**2"
        )
