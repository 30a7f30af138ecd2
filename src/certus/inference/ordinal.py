r"""Standard errors, tests and intervals of ordinal regression, and the test of proportional odds.

z_j = θ̂_j/se_j,   p_j = P(|N(0, 1)| > |z_j|),   θ̂_j ± q·se_j                      (Wald)
D_j(β) = 2(max log L − max_{θ_j = β} log L),   p_j = P(χ²₁ > D_j(0)),   {β : D_j(β) ≤ q²}   (LR)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from ..exceptions import InferenceError
from ..text.cells import Precision
from ..text.table import ResultTable
from .base import BIAS, facts_line, half_widths, percent, share
from .logistic import LogisticInference
from .new_rows import standard_errors_of
from .proportional_odds import ProportionalOddsTest


@dataclass(frozen=True, eq=False, repr=False)
class OrdinalInference(LogisticInference):
    """Standard errors, tests and intervals of an ``OrdinalRegression``.

    Attributes
    ----------
    names : tuple of str
        The features' names, and a threshold "low|high" between neighbouring classes.
    classes : tuple of str
        In their order.
    coef, standard_errors : ndarray of shape (p + K − 1,)
        w, then the thresholds c.
    covariance : ndarray of shape (p + K − 1, p + K − 1)
    statistic, pvalues : ndarray of shape (p + K − 1,)
        Wald's z, and the two-sided p-value of θ_j = 0. Not available for penalised fits.
    lr_pvalues : ndarray of shape (p + K − 1,)
        p-values by likelihood ratios; each is a fit without that coefficient.
    log_likelihood, null_log_likelihood : float
        At the maximum; of the thresholds alone.
    lr_statistic, lr_degrees_of_freedom, lr_pvalue : float
        Test of all columns together.
    pseudo_r_squared, aic, bic : float
    effective_parameters : float
        p + K − 1 without a penalty, tr (H + Λ)⁻¹H with one.
    n : int or float
        Σ s: a weight of 3 is a row repeated three times.
    alpha : float
        Of the penalty α‖w‖²/2.
    """

    make_slopes: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None

    @property
    def lr_degrees_of_freedom(self) -> float:
        self._refuse_penalized("a comparison of likelihoods")
        return float(len(self._feature_names))

    def odds_ratios(
        self, level: float = 0.95, kind: str = "wald", per: Mapping[str, float] | None = None
    ) -> ResultTable:
        """Table of odds ratios exp ŵ_j with intervals.

        The factor, per unit of x_j, of the odds of being above a threshold, whichever it is.
        Parameters as in ``conf_int``.
        """
        return super().odds_ratios(level, kind, per)

    def proportional_odds(self) -> ProportionalOddsTest:
        """Test by Brant (1990) whether the slopes are the same at every threshold.

        A logistic model is fitted at each threshold. A small p-value means that some odds ratio
        differs between thresholds, so that one number does not describe it.

        Returns
        -------
        ProportionalOddsTest
            Of all columns together and of each one.
        """
        self._refuse_penalized("a test of proportional odds")
        if len(self.classes) < 3:
            raise InferenceError("two classes have one threshold: there is nothing to compare")
        if self.make_slopes is None:
            raise InferenceError(
                "the test of proportional odds needs the rows, which are not pickled with this "
                "object: call inference(X, y) again"
            )
        slopes, covariance = self.make_slopes()
        above = tuple(f"above {name}" for name in self.classes[:-1])
        return ProportionalOddsTest(self._feature_names, above, slopes, covariance)

    def predict(self, X_new: object, level: float = 0.95) -> ResultTable:
        """Table of the probability of each class with its interval, class after class.

        Parameters
        ----------
        X_new : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Rows as the model was fitted on; those of the whole pipeline, if it was one.
        level : float, default=0.95

        Returns
        -------
        ResultTable
            "probability", "low" and "high"; "logit", its log-odds, and their "std error" by the
            delta method. Intervals are logit ± q·se, transformed back.
        """
        X, K = self._new_rows(X_new), len(self.classes)
        n, p = X.shape
        z = X @ self.coef[:p]
        below = np.column_stack([np.full(n, -np.inf), *(c - z for c in self.coef[p:]),
                                 np.full(n, np.inf)])  # fmt: skip
        v = expit(below) * expit(-below)  # dP(y ≤ k)/d(c_k − z)
        probability, logit, errors = np.empty((3, K, n))
        for k in range(K):
            a, b = below[:, k + 1], below[:, k]
            # σ(a) − σ(b) = σ(a)σ(−b)(1 − e^{b−a}); 1 minus it is σ(b) + σ(−a)
            P = (
                expit(a)
                * expit(-b)
                * -np.expm1(np.where(np.isinf(b) | np.isinf(a), -np.inf, b - a))
            )
            rest = expit(b) + expit(-a)
            directions = np.zeros((n, len(self.coef)))
            directions[:, :p] = -(v[:, k + 1] - v[:, k])[:, None] * X
            if k < K - 1:
                directions[:, p + k] += v[:, k + 1]
            if k > 0:
                directions[:, p + k - 1] -= v[:, k]
            with np.errstate(divide="ignore"):
                logit[k] = np.log(P) - np.log(rest)
                errors[k] = standard_errors_of(directions, self.factors[0]) / (P * rest)
            probability[k] = P
        half = self._quantile((1 + share(level)) / 2) * errors
        p_columns = {
            "probability": probability.ravel(), "low": expit(logit - half).ravel(),
            "high": expit(logit + half).ravel(),
        }  # fmt: skip
        return ResultTable(
            {
                "class": np.repeat(self.classes, n),
                "row": np.tile(np.arange(n), K),
                **p_columns,
                "logit": logit.ravel(),
                "std error": errors.ravel(),
            },
            keys=2,
            title=f"Probability of each class, {percent(level)} intervals"
            + (f" ({BIAS})" if self._penalized else ""),
            notes=self.remarks,
            precision=[
                Precision(tuple(p_columns), half_widths(*p_columns.values())),
                Precision(("logit", "std error"), errors.ravel()),
            ],
            interval=("low", "high", f"{percent(level)} interval"),
        )

    # --- wording and layout -----------------------------------------------------------------------

    @property
    def _feature_names(self) -> tuple[str, ...]:
        return self.names[: len(self.names) - len(self.classes) + 1]

    def _with_features(self, features: tuple[str, ...]) -> tuple[str, ...]:
        return (*features, *self.names[len(self._feature_names) :])

    @property
    def _ratio_rows(self) -> np.ndarray:
        return np.arange(len(self.names)) < len(self._feature_names)

    @property
    def _kind(self) -> tuple[str, str, str]:
        return "Ordinal", "z", "alpha=0"

    def _keys(self) -> dict[str, list[str]]:
        return {"name": list(self.names)}

    def _against(self) -> list[str]:
        return [f"odds of a higher class, in the order {' < '.join(self._shown_classes)}"]

    @property
    def _shown_classes(self) -> list[str]:
        return list(self.classes) if len(self.classes) <= 7 else [*self.classes[:6], "…"]

    def _facts(self) -> list[str]:
        if self._penalized:
            return [
                *self._against(),
                facts_line({"effective parameters": self.effective_parameters}),
            ]
        return [
            *self._against(),
            facts_line({"log-likelihood": self.maximum, "of the thresholds alone": self.null}),
            facts_line({
                "LR chi²": self.lr_statistic,
                "degrees of freedom": self.lr_degrees_of_freedom,
                "p": self.lr_pvalue,
            }),
            facts_line({"McFadden's R²": self.pseudo_r_squared, "AIC": self.aic, "BIC": self.bic}),
        ]  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "make_slopes": None}
