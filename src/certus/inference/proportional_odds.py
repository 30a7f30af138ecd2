r"""Brant's test of proportional odds.

    X² = (Dβ̂)ᵀ (DVDᵀ)⁻¹ Dβ̂,   Dβ = (β_1 − β_2, …, β_1 − β_{K−1}),   V = cov β̂

β̂_k are the slopes of the logistic model of "above threshold k". Under proportional odds X² is a
chi² of (K − 2)p degrees of freedom; with the slopes of one column alone, of K − 2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc

from ..exceptions import InferenceError
from ..text.cells import Precision
from ..text.table import ResultTable

MIN_RELATIVE_CONDITION = 1e-12  # of DVDᵀ, scaled: below, it is singular up to rounding


@dataclass(frozen=True, eq=False, repr=False)
class ProportionalOddsTest:
    """Result of Brant's test of proportional odds.

    Attributes
    ----------
    names : tuple of str
        The columns.
    statistic, degrees_of_freedom, pvalue : float
        X² of all columns together.
    statistics, pvalues : ndarray of shape (p,)
        Of each column, with K − 2 degrees of freedom.
    slopes : ndarray of shape (K − 1, p)
        Log-odds ratios of being above each threshold, fitted one by one.
    covariance : ndarray of shape (K − 1, p, K − 1, p)
        Of the slopes.
    """

    names: tuple[str, ...]
    thresholds: tuple[str, ...]
    slopes: np.ndarray
    covariance: np.ndarray

    @property
    def degrees_of_freedom(self) -> float:
        return float((len(self.slopes) - 1) * len(self.names))

    @property
    def statistic(self) -> float:
        return self._of(np.arange(len(self.names)))

    @property
    def pvalue(self) -> float:
        return float(chdtrc(self.degrees_of_freedom, self.statistic))

    @property
    def statistics(self) -> np.ndarray:
        return np.array([self._of(np.array([j])) for j in range(len(self.names))])

    @property
    def pvalues(self) -> np.ndarray:
        p: np.ndarray = chdtrc(len(self.slopes) - 1, self.statistics)
        return p

    def _of(self, columns: np.ndarray) -> float:
        """Return X² of some columns."""
        K1, m = len(self.slopes), len(columns)
        beta = self.slopes[:, columns].ravel()
        V = self.covariance[:, columns][:, :, :, columns].reshape(K1 * m, K1 * m)
        D = np.kron(np.column_stack([np.ones(K1 - 1), -np.eye(K1 - 1)]), np.eye(m))
        W, difference = D @ V @ D.T, D @ beta
        d = 1 / np.sqrt(np.maximum(np.diagonal(W), 1e-300))
        values, vectors = np.linalg.eigh(d[:, None] * W * d)
        if values[0] <= MIN_RELATIVE_CONDITION * values[-1]:
            raise InferenceError(
                "the logistic models at the thresholds contradict each other for many rows (being "
                "above a higher threshold is more probable than above a lower one), so that "
                "Brant's covariance is not positive definite: the classes do not follow one order "
                "along these columns"
            )
        return float(np.sum((vectors.T @ (d * difference)) ** 2 / values))

    @property
    def table(self) -> ResultTable:
        """Table of the tests of each column, with its slopes at the thresholds."""
        K1 = len(self.slopes)
        errors = np.sqrt(np.einsum("kjkj->kj", self.covariance).min(axis=0))
        slopes = np.hstack([np.full((K1, 1), np.nan), self.slopes])
        columns: dict[str, Any] = {
            "name": ["all columns", *self.names],
            **dict(zip(self.thresholds, slopes, strict=True)),
            "chi²": [self.statistic, *self.statistics],
            "df": [int(self.degrees_of_freedom), *[K1 - 1] * len(self.names)],
            "p": [self.pvalue, *self.pvalues],
        }
        return ResultTable(
            columns,
            title="Brant's test of proportional odds: log-odds ratios at each threshold",
            precision=[Precision(self.thresholds, np.append(np.nan, errors))],
            pvalues=("p",),
            statistics=("chi²",),
        )

    def __repr__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()
