"""Density weights of the rows of a model."""

from typing import TYPE_CHECKING

import numpy as np

from ..data.rows import Rows
from ..data.validation import one_of, positive_whole
from ._classes import codes
from .row_weights import weights_of_rows

if TYPE_CHECKING:
    from .density_lssvc import DensityWeightedLSSVC
    from .density_svc import DensityWeightedSVC

DENSITY_MODES = ("global", "per_class")


def density_of(
    model: "DensityWeightedLSSVC | DensityWeightedSVC", rows: Rows, classes: np.ndarray
) -> np.ndarray:
    """Return the density weight d of each row, among all rows or those of its class."""
    labels = (classes, codes(rows)) if model.density == "per_class" else None
    return weights_of_rows(rows.X, model.n_neighbors, labels, name="n_neighbors")


def check_density(model: "DensityWeightedLSSVC | DensityWeightedSVC") -> None:
    """Check the density parameters of a model."""
    one_of("density", model.density, DENSITY_MODES)
    positive_whole("n_neighbors", model.n_neighbors)
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        raise ValueError(
            f"kernel='precomputed': {type(model).__name__} needs distances between rows, which a "
            "kernel matrix does not contain; give rows and kernel as a function, or use "
            "LSSVC(kernel='precomputed') with sample_weight=density_weights(X)**2"
        )
