r"""Standard errors, tests and intervals of a linear model's coefficients.

    t_j = θ̂_j/se_j,   p_j = P(|T_ν| > |t_j|),   θ̂_j ± q·se_j,   P(T_ν ≤ q) = (1 + level)/2

T_ν is Student's t with ν degrees of freedom, for every kind of covariance but that of G clusters,
where ν = G − 1. For a new row φ = (1, x) with z = φᵀθ̂ and an observation there,

    z ± q·√(φᵀ cov(θ̂) φ)   and   z ± q·√(φᵀ cov(θ̂) φ + σ̂²).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from ..exceptions import InferenceError
from ..text.cells import Precision
from ..text.table import ResultTable
from .base import BIAS, Estimated, facts_line, percent, share
from .new_rows import standard_errors_of


@dataclass(frozen=True, eq=False, repr=False)
class Inference(Estimated):
    """Standard errors, tests and intervals of a linear model.

    With m coefficients (the intercept first, if there is one) and k targets, arrays are (m,) and
    numbers are floats if y was 1d; otherwise they are (m, k) and (k,).

    Attributes
    ----------
    names : tuple of str
        "intercept" and the features' names (x0, x1, … if they have none).
    coef : ndarray of shape (m,) or (m, k)
        θ̂, as fitted.
    standard_errors : ndarray of shape (m,) or (m, k)
        NaN for a coefficient that is not estimable.
    covariance : ndarray of shape (m, m) or (k, m, m)
    statistic, pvalues : ndarray of shape (m,) or (m, k)
        t, and the two-sided p-value of θ_j = 0. Not available for penalised fits.
    sigma2 : float or ndarray of shape (k,)
        σ̂² = Σ s r²/ν, the variance of a row of weight 1.
    degrees_of_freedom : float or ndarray of shape (k,)
        ν: n − rank, and tr (I − H)² = n − 2 tr H + tr H² with a penalty, H the hat matrix.
    effective_parameters : float or ndarray of shape (k,)
        tr H: the rank (including the intercept) without a penalty, less with one.
    log_likelihood, aic, bic, r_squared, r_squared_adjusted : float or ndarray of shape (k,)
        log L at its maximum; 2·rank − 2 log L; rank·log n − 2 log L (σ² is not counted). Not
        available for penalised fits.
    n : int
        Rows of positive weight.
    cov : str
        "classical", "HC0" … "HC3", or "cluster".
    n_groups : int or None
        Groups of cov="cluster"; tests and intervals then have n_groups − 1 degrees of freedom.
    alpha : float or ndarray of shape (k,)
    """

    rss: Any
    tss: Any
    degrees_of_freedom: Any
    effective_parameters: Any
    log_weights: float = 0.0  # Σ log s

    @property
    def sigma2(self) -> Any:
        return self.rss / self.degrees_of_freedom

    @property
    def log_likelihood(self) -> Any:
        self._refuse_penalized("the likelihood's maximum")
        n = self.n
        with np.errstate(divide="ignore"):
            return -n / 2 * (np.log(2 * np.pi * self.rss / n) + 1) + self.log_weights / 2

    @property
    def aic(self) -> Any:
        return 2 * self.effective_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> Any:
        return self.effective_parameters * np.log(self.n) - 2 * self.log_likelihood

    @property
    def r_squared(self) -> Any:
        self._refuse_penalized("a share of explained variance")
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - self.rss / self.tss

    @property
    def r_squared_adjusted(self) -> Any:
        left = 1 - self.r_squared
        return 1 - left * (self.n - self.fit_intercept) / self.degrees_of_freedom

    def conf_int(self, level: float = 0.95, per: Mapping[str, float] | None = None) -> ResultTable:
        """Table of intervals θ̂_j ± se_j·q, with columns "low" and "high".

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval covers the coefficient (penalised: its expected value).
        per : dict, optional
            Units, as in ``summary``.
        """
        return self._interval_table(level, self._interval(level), "intervals", per)

    def predict(self, X_new: object, level: float = 0.95) -> ResultTable:
        """Table of predictions, with intervals of the mean and of a new observation.

        Parameters
        ----------
        X_new : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Rows as the model was fitted on; those of the whole pipeline, if it was one.
        level : float, default=0.95

        Returns
        -------
        ResultTable
            "fit" and its "std error"; "low" and "high", an interval of the mean of y there; and,
            with cov="classical", "new low" and "new high", an interval that contains a new y of
            weight 1 with probability ``level``. Several targets: one after the other.
        """
        Phi = self._new_rows(X_new)
        k = len(self.factors)
        fit = (Phi @ self.coef.reshape(len(self.names), -1)).T
        errors = np.array([standard_errors_of(Phi, one) for one in self.factors])
        q = np.reshape(np.broadcast_to(self._quantile((1 + share(level)) / 2), (k,)), (k, 1))
        columns: dict[str, Any] = {
            "fit": fit, "std error": errors, "low": fit - q * errors, "high": fit + q * errors,
        }  # fmt: skip
        note = f"low, high: {percent(level)} interval of the mean"
        if self.cov == "classical":
            spread = q * np.sqrt(errors**2 + np.reshape(self.sigma2, (-1, 1)))
            columns |= {"new low": fit - spread, "new high": fit + spread}
            notes = [f"{note}; new low, new high: of a new observation"]
        else:
            notes = [
                f"{note}; there is none of a new observation, whose variance cov={self.cov!r} "
                "leaves open"
            ]
        keys: dict[str, Any] = {"row": np.tile(np.arange(len(Phi)), k)}
        if self.coef.ndim == 2:
            keys = {"target": np.repeat([f"y{t}" for t in range(k)], len(Phi)), **keys}
        values = {name: of.ravel() for name, of in columns.items()}
        return ResultTable(
            {**keys, **values},
            keys=len(keys),
            title="Predictions" + (f" ({BIAS})" if self._penalized else ""),
            notes=[*notes, *self.remarks],
            precision=[Precision(tuple(values), values["std error"])],
            interval=("low", "high", f"{percent(level)} interval of the mean"),
        )

    @property
    def _n_parameters(self) -> float:
        return float(np.ravel(self.effective_parameters)[0])

    @property
    def _fit_value(self) -> float:
        if np.size(self.rss) > 1:
            raise InferenceError("several targets: compare the models of one target at a time")
        return float(np.ravel(self.rss)[0])

    def _compared_with(self, small: "Inference", more: float) -> tuple[float, float | None]:
        nu = float(np.ravel(self.degrees_of_freedom)[0])
        rise = max(small._fit_value - self._fit_value, 0.0)
        return float(rise / more / (self._fit_value / nu)), nu

    @property
    def _kind(self) -> tuple[str, str, str]:
        return "Ridge" if self._penalized else "Least squares", "t", "LinearRegression"

    def _quantile(self, probability: float) -> Any:
        return stdtrit(self._test_degrees_of_freedom, probability)

    @property
    def _test_degrees_of_freedom(self) -> Any:
        return self.degrees_of_freedom if self.n_groups is None else float(self.n_groups - 1)

    def _lower_tail(self, statistic: np.ndarray) -> np.ndarray:
        p: np.ndarray = stdtr(self._test_degrees_of_freedom, statistic)
        return p

    def _keys(self) -> dict[str, list[str]]:
        if self.coef.ndim == 1:
            return {"name": list(self.names)}
        k = self.coef.shape[1]
        targets = [f"y{t}" for t in range(k) for _ in self.names]
        return {"target": targets, "name": list(self.names) * k}

    def _facts(self) -> list[str]:
        facts = facts_line({
            "sigma²": self.sigma2,
            "degrees of freedom": self.degrees_of_freedom,
            "effective parameters": self.effective_parameters,
        })  # fmt: skip
        if self._penalized:
            return [facts]
        return [
            facts,
            facts_line({"R²": self.r_squared, "adjusted": self.r_squared_adjusted}),
            facts_line({"log-likelihood": self.log_likelihood, "AIC": self.aic, "BIC": self.bic}),
        ]
