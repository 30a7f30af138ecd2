"""Predictions, scores and inference of fitted PoissonRegressor and GammaRegressor models.

mean = exp(o + xᵀw + b)        D² = 1 − Σ s d(y, mean) / Σ s d(y, best constant rate)
"""

from typing import Any, ClassVar

import numpy as np

from ..certificate.offsets import offsets_for, with_offsets
from ..data.rows import Rows
from ..data.streamed import StreamedTable
from ..data.streamed_input import columns_of_queries, rows_of_targets
from ..data.validation import data_for_predict, require_target, target, weights
from ..inference import LogLinkInference
from ..penalties import ElasticNet
from ..solvers.glm.rates import as_rates
from ..solvers.problem import Problem
from ..text.format import count
from ._inference import log_link_inference
from ._scores import scores


class LogLinkAnswers:
    """Methods of fitted models with a log link."""

    _loss: ClassVar[Any]  # of one row
    _mean_has_weight: ClassVar[bool]  # whether exposure is also a weight of the rate

    coef_: np.ndarray
    intercept_: float

    def predict(self, X: object, offset: object = None, exposure: object = None) -> np.ndarray:
        """Predict means exp(o + Xw + b), in float64.

        Without offset and exposure these are the means for exposure 1: rates.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
        offset : float or array-like of shape (n_samples,), default=None
        exposure : float or array-like of shape (n_samples,), default=None
            The time or the population to predict for.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        z = scores(self, X)
        o = offsets_for(X, offset, exposure, len(z))
        with np.errstate(over="ignore"):
            means: np.ndarray = np.exp(z if o is None else z + o)
        return means

    def score(
        self,
        X: object,
        y: object = None,
        sample_weight: object = None,
        offset: object = None,
        exposure: object = None,
    ) -> float:
        """Return D², the share of the deviance of the mean alone that is explained.

        With an offset or exposure, the mean alone is one rate for all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
        y : array-like of shape (n_samples,)
            None for ``certus.open_rows``, which brings targets and weights.
        sample_weight : array-like of shape (n_samples,), default=None
        offset, exposure : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        require_target(self, y)
        checked = data_for_predict(self, X)
        n = checked.shape[0]
        rows = self._in_range(Rows(checked, target(y, n), weights(sample_weight, n)))
        return self._explained(with_offsets(rows, offset, exposure))

    def _score_table(
        self, table: StreamedTable, offset: object = None, exposure: object = None
    ) -> float:
        """Return D² on the rows of a table."""
        rows = rows_of_targets(self, columns_of_queries(self, table))
        return self._explained(self._in_range(with_offsets(rows, offset, exposure)))

    def _null(self, rows: Rows, fit_intercept: bool = True) -> float:
        """Return half the deviance of the intercept alone."""
        rows, _ = as_rates(rows, self._mean_has_weight, fit_intercept)
        return Problem(rows, self._loss, ElasticNet(0.0), fit_intercept).null[1]

    def inference(
        self,
        X: object,
        y: object = None,
        sample_weight: object = None,
        cov: str = "classical",
        offset: object = None,
        exposure: object = None,
        groups: object = None,
    ) -> LogLinkInference:
        """Return standard errors, tests, intervals and rate ratios, from the rows of the fit.

        Without a penalty (``alpha=0``) all of them are available. With an L2 penalty only
        covariance and intervals, which ignore its bias and say so. L1 and counts without a finite
        optimum are refused, with the reason.

        Parameters
        ----------
        X, y, sample_weight, offset, exposure
            Those of the fit, or the table. Weights are counts: weight 3 is three rows.
        cov : {"classical", "HC0", "HC1", "HC2", "HC3", "cluster"}, default="classical"
            From the expected information (of amounts times the dispersion), or a sandwich
            estimator, which is valid even where the variance is not that of the model; "HC1" is
            n/(n − rank) times "HC0", "HC2" and "HC3" divide by 1 − h and (1 − h)², h the leverage
            of a row. "cluster": where rows of a group depend on each other.
        groups : array-like of shape (n_samples,), optional
            Of cov="cluster": the group of each row.

        Returns
        -------
        certus.inference.LogLinkInference
        """
        return log_link_inference(self, X, y, sample_weight, cov, offset, exposure, groups)

    def _explained(self, rows: Rows) -> float:
        of_mean = self._null(rows)
        rows, shift = as_rates(rows, self._mean_has_weight, fit_intercept=True)
        w, b = np.asarray(self.coef_, dtype=float), float(self.intercept_) - shift
        (left,) = rows.reduce(_loss_of_rows, self._loss, w, b)
        return float(1 - left / of_mean) if of_mean > 0 else float("nan")

    def _in_range(self, rows: Rows) -> Rows:
        """Refuse targets that the loss is not defined for; a row of weight 0 may have any."""
        n_refused, n_absent = rows.reduce_targets(_count_refused, self._loss)
        if n_absent:
            rows = rows.recoded(_absent_as_one)
        if not n_refused:
            return rows
        step, start = 1 << 20, 0
        while True:  # the first of them
            part = slice(start, start + step)
            y, s = np.asarray(rows.y[part])[:, 0], None if rows.s is None else rows.s[part]
            refused = np.flatnonzero(self._loss.refused(y) & (True if s is None else s > 0))
            if len(refused):
                break
            start += step
        raise ValueError(
            f"Some value(s) of y are out of the valid range of the loss: "
            f"{count(int(n_refused), 'target')} {self._loss.range} (first: row "
            f"{start + refused[0]}, {y[refused[0]]:g})"
        )


def _count_refused(y: np.ndarray, s: np.ndarray | None, loss: Any) -> tuple[int, int]:
    """Count the refused targets of rows with weight, and of those without."""
    refused = loss.refused(y[:, 0])
    absent = np.zeros(len(y), dtype=bool) if s is None else s == 0
    return int(np.count_nonzero(refused & ~absent)), int(np.count_nonzero(refused & absent))


def _absent_as_one(y: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Targets of rows of weight 0 as 1, which every loss is defined for."""
    return np.where((s == 0)[:, None], 1.0, y), s


def _loss_of_rows(
    X: Any, y: np.ndarray, s: np.ndarray | None, loss: Any, w: np.ndarray, b: float
) -> tuple[float]:
    value = loss.value(y[:, 0], np.asarray(X @ w) + b)
    return (float(value.sum() if s is None else s @ value),)
