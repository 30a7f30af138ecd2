r"""Standard errors, tests and intervals of a linear model's coefficients.

    t_j = θ̂_j/se_j,   p_j = P(|T_ν| > |t_j|),   θ̂_j ± q·se_j,   P(T_ν ≤ q) = (1 + level)/2

T_ν is Student's t with ν degrees of freedom, for every kind of covariance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from ._table import Table
from ._words import count, listed, number
from .exceptions import InferenceError

BIAS = "ignores the bias of the penalty"


@dataclass(frozen=True, eq=False, repr=False)
class Inference:
    """What the rows say about a linear model's coefficients, besides their values.

    With m coefficients (the intercept first, where there is one) and k targets, arrays are (m,) and
    numbers are floats if y was 1d; else they are (m, k) and (k,).

    Attributes
    ----------
    names : tuple of str
        "intercept" and the features' names (x0, x1, … where they have none).
    coef : ndarray of shape (m,) or (m, k)
        θ̂, as fitted.
    standard_errors : ndarray of shape (m,) or (m, k)
        NaN for a coefficient that the rows do not determine.
    covariance : ndarray of shape (m, m) or (k, m, m)
    statistic, pvalues : ndarray of shape (m,) or (m, k)
        t, and the two-sided p-value of θ_j = 0. Refused for penalised fits.
    sigma2 : float or ndarray of shape (k,)
        σ̂² = Σ s r²/ν, the variance of a row of weight 1.
    degrees_of_freedom : float or ndarray of shape (k,)
        ν: n − rank, and tr (I − H)² = n − 2 tr H + tr H² with a penalty, H the hat matrix.
    effective_parameters : float or ndarray of shape (k,)
        tr H: the rank (the intercept counted) without a penalty, less with one.
    log_likelihood, aic, bic, r_squared, r_squared_adjusted : float or ndarray of shape (k,)
        log L at its maximum; 2·rank − 2 log L; rank·log n − 2 log L (σ² is not counted). Refused
        for penalised fits.
    n : int
        Rows of weight above 0.
    cov : str
        "classical" or "HC0" … "HC3".
    alpha : float or ndarray of shape (k,)
    """

    names: tuple[str, ...]
    coef: np.ndarray
    standard_errors: np.ndarray
    covariance: np.ndarray
    rss: Any
    tss: Any
    degrees_of_freedom: Any
    effective_parameters: Any
    n: int
    cov: str
    alpha: Any
    fit_intercept: bool
    log_weights: float = 0.0  # Σ log s

    @property
    def sigma2(self) -> Any:
        return self.rss / self.degrees_of_freedom

    @property
    def statistic(self) -> np.ndarray:
        self._refuse_penalised("a test of a coefficient")
        return self._statistic()

    def _statistic(self) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):  # a perfect fit has no errors
            return self.coef / self.standard_errors

    @property
    def pvalues(self) -> np.ndarray:
        self._refuse_penalised("a p-value")
        p: np.ndarray = 2 * stdtr(self.degrees_of_freedom, -np.abs(self._statistic()))
        return p

    @property
    def log_likelihood(self) -> Any:
        self._refuse_penalised("the likelihood's maximum")
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
        self._refuse_penalised("a share of explained variance")
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - self.rss / self.tss

    @property
    def r_squared_adjusted(self) -> Any:
        left = 1 - self.r_squared
        return 1 - left * (self.n - self.fit_intercept) / self.degrees_of_freedom

    @property
    def _penalised(self) -> bool:
        return bool(np.any(self.alpha))

    def _refuse_penalised(self, what: str) -> None:
        if self._penalised:
            raise InferenceError(
                f"{what} {BIAS}: coefficients are pulled towards 0, so this would not mean what it "
                "says. standard_errors, covariance and conf_int() are there; for tests, fit "
                "without a penalty (LinearRegression)"
            )

    def conf_int(self, level: float = 0.95) -> Table:
        """Intervals θ̂_j ± se_j·q, a table with the columns "low" and "high".

        Parameters
        ----------
        level : float, default=0.95
            Probability that such an interval covers the coefficient (penalised: its expectation).
        """
        low, high = self._interval(level)
        title = f"{_percent(level)} intervals"
        columns: dict[str, Any] = {**self._keys(), "low": _stacked(low), "high": _stacked(high)}
        if self._penalised:
            title += f" ({BIAS})"
        return Table(columns, keys=len(self._keys()), title=title, notes=self._undetermined())

    def _interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        if not 0 < level < 1:
            raise ValueError(f"level={level!r}: give a share between 0 and 1, such as 0.95")
        half = stdtrit(self.degrees_of_freedom, (1 + level) / 2) * self.standard_errors
        return self.coef - half, self.coef + half

    def summary(self, level: float = 0.95) -> Table:
        """Coefficients, standard errors, tests and intervals; the fit's own numbers below."""
        low, high = self._interval(level)
        columns: dict[str, Any] = {
            **self._keys(),
            "coef": _stacked(self.coef),
            "std error": _stacked(self.standard_errors),
        }
        if not self._penalised:
            columns |= {"t": _stacked(self.statistic), "p": _stacked(self.pvalues)}
        columns |= {f"{_percent(level)} low": _stacked(low), "high": _stacked(high)}
        model = "Ridge" if self._penalised else "Least squares"
        title = f"{model}, {count(self.n, 'row')}, {self.cov} standard errors"
        if self._penalised:
            title += f" ({BIAS})"
        notes = [*self._fit(), *self._undetermined()]
        return Table(columns, keys=len(self._keys()), title=title, notes=notes)

    def _keys(self) -> dict[str, list[str]]:
        if self.coef.ndim == 1:
            return {"name": list(self.names)}
        k = self.coef.shape[1]
        targets = [f"y{t}" for t in range(k) for _ in self.names]
        return {"target": targets, "name": list(self.names) * k}

    def _fit(self) -> list[str]:
        facts = {
            "sigma²": self.sigma2,
            "degrees of freedom": self.degrees_of_freedom,
            "effective parameters": self.effective_parameters,
        }
        lines = [facts]
        if not self._penalised:
            lines.append({"R²": self.r_squared, "adjusted": self.r_squared_adjusted})
            lines.append({"log-likelihood": self.log_likelihood, "AIC": self.aic, "BIC": self.bic})
        return ["; ".join(f"{name} {_numbers(v)}" for name, v in line.items()) for line in lines]

    def _undetermined(self) -> list[str]:
        missing = np.isnan(self.standard_errors.reshape(len(self.names), -1)[:, 0])
        if not missing.any():
            return []
        which = listed([f"'{self.names[j]}'" for j in np.flatnonzero(missing)])
        return [f"no standard error for {which}: columns repeat others, so the rows do not "
                "determine them"]  # fmt: skip

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def feature_names(names: Sequence[str] | None, p: int, fit_intercept: bool) -> tuple[str, ...]:
    """What the rows of a table are called."""
    features = [f"x{j}" for j in range(p)] if names is None else [str(name) for name in names]
    return ("intercept", *features) if fit_intercept else tuple(features)


def _stacked(values: np.ndarray) -> np.ndarray:
    """Target after target."""
    return values.ravel(order="F")


def _numbers(values: Any) -> str:
    return listed([number(float(v), 6) for v in np.ravel(values)])


def _percent(level: float) -> str:
    return f"{number(100 * level, 6)} %"
