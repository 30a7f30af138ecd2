r"""Standard errors, tests and intervals of Poisson and Gamma regression with a log link.

z_j = θ̂_j/se_j,   p_j = P(|N(0, 1)| > |z_j|),   θ̂_j ± q·se_j                      (Wald)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from ..exceptions import InferenceError
from ..text.cells import Precision
from ..text.format import number
from ..text.table import ResultTable
from .base import BIAS, facts_line, half_widths, percent, share, stacked
from .likelihood_fit import LikelihoodFit
from .new_rows import standard_errors_of

UNDISPERSED_PVALUE = 1e-3  # of Pearson's χ², below which counts vary more than a Poisson model says


@dataclass(frozen=True, eq=False, repr=False)
class LogLinkInference(LikelihoodFit):
    """Standard errors, tests and intervals of a ``PoissonRegressor`` or ``GammaRegressor``.

    Attributes
    ----------
    names : tuple of str
        "intercept" and the features' names (x0, x1, … if they have none).
    coef, standard_errors : ndarray of shape (m,)
        Standard errors are NaN for coefficients that are not estimable.
    covariance : ndarray of shape (m, m)
    statistic, pvalues : ndarray of shape (m,)
        Wald's z, and the two-sided p-value of θ_j = 0. Not available for penalised fits.
    deviance, null_deviance : float
        Σ s d(y, μ); of the intercept alone (of means exp(o) without an intercept).
    pearson_chi2 : float
        Σ s (y − μ)²/V(μ), V = μ for counts and μ² for amounts.
    degrees_of_freedom : float
        n − rank.
    dispersion : float
        Variance over V(μ): 1 for counts; of amounts pearson_chi2/degrees_of_freedom, by which
        classical covariances are multiplied.
    log_likelihood, aic, bic : float
        Of counts; 2·rank − 2 log L and rank·log n − 2 log L.
    n : int or float
        Σ s: a weight of 3 is a row repeated three times.
    cov : str
        "classical", "HC0" … "HC3", or "cluster".
    n_groups : int or None
        Groups of cov="cluster".
    alpha : float
        Of the penalty α‖w‖²/2 subtracted from log L: α·n of the estimator, or 0.
    """

    family: str
    rank: int
    effective_parameters: float
    deviance: float
    null_deviance: float
    pearson_chi2: float
    maximum: float

    @property
    def degrees_of_freedom(self) -> float:
        return float(self.n) - self.rank

    @property
    def dispersion(self) -> float:
        return 1.0 if self._counts else self.pearson_chi2 / self.degrees_of_freedom

    @property
    def log_likelihood(self) -> float:
        self._refuse_penalized("the likelihood's maximum")
        if not self._counts:
            raise InferenceError(
                "the dispersion of a Gamma model is estimated by Pearson's χ², not by maximum "
                "likelihood, so log_likelihood, AIC and BIC are not defined: compare deviances"
            )
        return self.maximum

    @property
    def aic(self) -> float:
        return 2 * self.rank - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        return self.rank * float(np.log(self.n)) - 2 * self.log_likelihood

    def conf_int(self, level: float = 0.95, per: Mapping[str, float] | None = None) -> ResultTable:
        """Table of intervals of the coefficients, with columns "low" and "high".

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval covers the coefficient (penalised: its expected value).
        per : dict, optional
            Units, as in ``summary``.
        """
        return self._interval_table(level, self._interval(level), "intervals", per)

    def rate_ratios(
        self, level: float = 0.95, per: Mapping[str, float] | None = None
    ) -> ResultTable:
        """Table of exp θ̂_j (the factor of the mean per unit of x_j) with intervals and p-values.

        The intercept is omitted. Parameters as in ``conf_int``.
        """
        self._refuse_penalized("a rate ratio")
        coef, low, high = self._in_units(per, self.coef, *self._interval(level))
        rows = self._ratio_rows
        with np.errstate(over="ignore"):
            columns: dict[str, Any] = {
                **{name: np.array(values)[rows] for name, values in self._keys_per(per).items()},
                "rate ratio": np.exp(coef[rows]),
                "low": np.exp(low[rows]),
                "high": np.exp(high[rows]),
                "p": stacked(self.pvalues)[rows],
            }
        return self._table(
            columns,
            f"Rate ratios with {percent(level)} intervals",
            [],
            precision=[
                Precision(
                    ("rate ratio", "low", "high"), half_widths(coef, low, high)[rows], ratio=True
                )
            ],
            interval=("low", "high", f"{percent(level)} interval"),
        )

    def predict(
        self, X_new: object, level: float = 0.95, *, offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> ResultTable:  # fmt: skip
        """Table of the means of new rows with intervals: of the mean, not of a new count.

        Parameters
        ----------
        X_new : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Rows as the model was fitted on; those of the whole pipeline, if it was one.
        level : float, default=0.95
        offset, exposure : array-like of shape (n_rows,), optional
            Added to the scores, and a factor of the means. Default: 0 and 1, which gives rates.

        Returns
        -------
        ResultTable
            "mean", "low" and "high"; "score", its logarithm z, and their "std error". Intervals are
            exp(z ± q·se), so they are above 0.
        """
        Phi = self._new_rows(X_new)
        o = np.zeros(len(Phi))
        for name, given in (("offset", offset), ("exposure", exposure)):
            if given is not None:
                o = o + _logarithms(name, given, len(Phi))
        z, errors = Phi @ self.coef + o, standard_errors_of(Phi, self.factors[0])
        half = self._quantile((1 + share(level)) / 2) * errors
        with np.errstate(over="ignore"):
            mean = {"mean": np.exp(z), "low": np.exp(z - half), "high": np.exp(z + half)}
        return ResultTable(
            {"row": np.arange(len(Phi)), **mean, "score": z, "std error": errors},
            title=f"Means, {percent(level)} intervals" + (f" ({BIAS})" if self.alpha else ""),
            notes=self.remarks,
            precision=[
                Precision(tuple(mean), half_widths(*mean.values())),
                Precision(("score", "std error"), errors),
            ],
            interval=("low", "high", f"{percent(level)} interval"),
        )

    @property
    def _counts(self) -> bool:
        return self.family == "poisson"

    @property
    def _n_parameters(self) -> float:
        return float(self.rank)

    @property
    def _kind(self) -> tuple[str, str, str]:
        return "Poisson" if self._counts else "Gamma", "z", "alpha=0"

    def _keys(self) -> dict[str, list[str]]:
        return {"name": list(self.names)}

    def _facts(self) -> list[str]:
        fit = {"deviance": self.deviance, "of the mean alone": self.null_deviance}
        pearson = {
            "Pearson χ²": self.pearson_chi2, "degrees of freedom": self.degrees_of_freedom,
            "their ratio": self.pearson_chi2 / self.degrees_of_freedom,
        }  # fmt: skip
        lines = [facts_line(fit), facts_line(pearson)]
        if self._penalized:
            return [*lines, facts_line({"effective parameters": self.effective_parameters})]
        if self._counts:
            lines.append(facts_line({"log-likelihood": self.maximum, "AIC": self.aic,
                                     "BIC": self.bic}))  # fmt: skip
        return [*lines, *self._overdispersion()]

    def _overdispersion(self) -> list[str]:
        ratio = self.pearson_chi2 / self.degrees_of_freedom
        is_unlikely = chdtrc(self.degrees_of_freedom, self.pearson_chi2) < UNDISPERSED_PVALUE
        if not self._counts or self.cov != "classical" or not is_unlikely:
            return []
        return [
            f"the counts vary {number(ratio, 2)} times as much as Poisson counts do, so classical "
            "standard errors are too small: use cov='HC0' or 'HC1'"
        ]


def _logarithms(name: str, given: ArrayLike, n: int) -> np.ndarray:
    """Return offsets, or logarithms of exposures, of n new rows."""
    values = np.asarray(given, dtype=float)
    if values.shape != (n,):
        raise ValueError(f"{name} has shape {values.shape}: give a number for each of {n} rows")
    is_exposure = name == "exposure"
    wrong = ~np.isfinite(values) | (is_exposure & (values <= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        wanted = "numbers above 0" if is_exposure else "finite numbers"
        raise ValueError(f"{name} has {values[row]} in row {row}: give {wanted}")
    return np.log(values) if is_exposure else values
