r"""Tests and intervals of Firth's logistic regression by penalised likelihood.

D_j(β) = 2(max ℓ* − max_{θ_j = β} ℓ*),   p_j = P(χ²₁ > D_j(0)),   {β : D_j(β) ≤ q²}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..exceptions import InferenceError
from ..text.cells import Precision
from ..text.format import count
from ..text.table import ResultTable
from .base import facts_line, percent
from .logistic import LogisticInference


@dataclass(frozen=True, eq=False, repr=False)
class FirthInference(LogisticInference):
    """Standard errors, tests and intervals of a ``FirthLogisticRegression``.

    Attributes
    ----------
    names, classes, coef, covariance, n
        As in ``LogisticInference``.
    standard_errors : ndarray of shape (m,)
        From the inverse of the information. Wald tests and intervals (``statistic``, ``pvalues``,
        ``kind="wald"``) are based on them and mislead if the classes are separated, where the
        likelihood is asymmetric.
    lr_pvalues : ndarray of shape (m,)
        By ratios of penalised likelihoods; each is a fit without that coefficient.
    log_likelihood, null_log_likelihood : float
        Penalised: at the estimate; of the intercept alone, with the penalty of all columns.
    lr_statistic, lr_degrees_of_freedom, lr_pvalue : float
        Test of the whole model against the intercept alone.
    """

    def conf_int(
        self, level: float = 0.95, kind: str = "lr", per: Mapping[str, float] | None = None
    ) -> ResultTable:
        """Table of intervals of the coefficients, with columns "low" and "high".

        Parameters
        ----------
        level : float, default=0.95
        kind : {"lr", "wald"}, default="lr"
            "lr": all values that the test by penalised likelihoods does not reject.
        per : dict, optional
            Units, as in ``summary``.
        """
        return super().conf_int(level, kind, per)

    def odds_ratios(
        self, level: float = 0.95, kind: str = "lr", per: Mapping[str, float] | None = None
    ) -> ResultTable:
        """Table of odds ratios exp θ̂_j with their intervals. Parameters as in ``conf_int``."""
        return super().odds_ratios(level, kind, per)

    def summary(self, level: float = 0.95, per: Mapping[str, float] | None = None) -> ResultTable:
        """Table of coefficients, with tests and intervals by penalised likelihood.

        Parameters
        ----------
        level : float, default=0.95
        per : dict, optional
            Units by which columns are counted: with {"age": 10} the coefficient of age is that of
            10 years.
        """
        coef, errors, low, high = self._in_units(
            per, self.coef, self.standard_errors, *self._interval_of(level, "lr")
        )
        ends = f"{percent(level)} low", "high"
        columns: dict[str, Any] = {
            **self._keys_per(per), "coef": coef, "std error": errors,
            "chi²": self._each(lambda j: max(self._profile.deviance(j, 0.0), 0.0)),
            "p": self.lr_pvalues, ends[0]: low, ends[1]: high,
        }  # fmt: skip
        return self._table(
            columns,
            f"Firth, {count(self.n, 'row')}, tests and intervals by penalised likelihood",
            self._facts(),
            precision=[Precision(("coef", "std error", *ends), errors)],
            statistics=("chi²",),
            interval=(*ends, f"{percent(level)} interval"),
        )

    @property
    def pseudo_r_squared(self) -> float:
        raise InferenceError(self._no_likelihood("a pseudo R²"))

    @property
    def aic(self) -> float:
        raise InferenceError(self._no_likelihood("AIC"))

    @property
    def bic(self) -> float:
        raise InferenceError(self._no_likelihood("BIC"))

    @property
    def _n_parameters(self) -> float:
        raise InferenceError(self._no_likelihood("a comparison of nested models"))

    @staticmethod
    def _no_likelihood(what: str) -> str:
        return (
            f"{what} compares likelihoods, but the maximised likelihood is penalised, and its "
            "penalty depends on the columns. Compare nested models by lr_pvalues"
        )

    @property
    def _kind(self) -> tuple[str, str, str]:
        return "Firth", "z", ""

    def _facts(self) -> list[str]:
        alone = "of the intercept alone" if self.fit_intercept else "of equal probabilities"
        return [
            *self._against(),
            facts_line({"penalised log-likelihood": self.maximum, alone: self.null}),
            facts_line({
                "LR chi²": self.lr_statistic,
                "degrees of freedom": self.lr_degrees_of_freedom,
                "p": self.lr_pvalue,
            }),
        ]  # fmt: skip
