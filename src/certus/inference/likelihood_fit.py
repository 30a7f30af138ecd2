"""Results of models fitted by maximum likelihood: Wald's z, and likelihood ratios.

(θ̂_j − θ_j)/se_j is about N(0, 1), and 2(log L − log L₀) about a chi² if the smaller model holds.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from .base import Estimated


class LikelihoodFit(Estimated):
    """Base of results whose tests are those of a likelihood."""

    @property
    @abstractmethod
    def log_likelihood(self) -> float:
        """Maximum of log L."""

    @property
    def _fit_value(self) -> float:
        return self.log_likelihood

    def _compared_with(self, small: Any, more: float) -> tuple[float, float | None]:
        return max(2 * (self.log_likelihood - small.log_likelihood), 0.0), None

    def _quantile(self, probability: float) -> Any:
        return ndtri(probability)

    def _lower_tail(self, statistic: np.ndarray) -> np.ndarray:
        p: np.ndarray = ndtr(statistic)
        return p
