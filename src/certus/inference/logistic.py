r"""Standard errors, tests and intervals of a logistic or softmax model's coefficients.

z_j = θ̂_j/se_j,   p_j = P(|N(0, 1)| > |z_j|),   θ̂_j ± q·se_j                      (Wald)
D_j(β) = 2(max log L − max_{θ_j = β} log L),   p_j = P(χ²₁ > D_j(0)),   {β : D_j(β) ≤ q²}   (LR)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import chdtrc, expit, ndtri

from ..exceptions import InferenceError
from ..text.cells import Precision
from ..text.format import listed
from ..text.table import ResultTable
from .base import BIAS, facts_line, half_widths, percent, share, stacked
from .likelihood_fit import LikelihoodFit
from .new_rows import standard_errors_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import ForestDisplay

KINDS = ("wald", "lr")


class ProfileLikelihood(Protocol):
    """Interface: likelihoods with one coefficient fixed; coefficients are ordered by class."""

    def deviance(self, j: int, beta: float) -> float:
        """D_j(β)."""

    def end(self, j: int, side: int, q: float) -> float:
        """β on one side of the estimate with D_j(β) = q."""


@dataclass(frozen=True, eq=False, repr=False)
class LogisticInference(LikelihoodFit):
    """Standard errors, tests and intervals of a logistic or softmax model.

    Two classes: m coefficients (the intercept first, if there is one) of the log-odds of the second
    class. K > 2: of each class's log-odds against the first, (m, K − 1); these are not ``coef_``
    but differences of its rows from the first.

    Attributes
    ----------
    names : tuple of str
        "intercept" and the features' names (x0, x1, … if they have none).
    classes : tuple of str
        The first is the reference class.
    coef, standard_errors : ndarray of shape (m,) or (m, K − 1)
        Standard errors are NaN for coefficients that are not estimable.
    covariance : ndarray of shape (m, m) or (m(K − 1), m(K − 1))
        Ordered by class.
    statistic, pvalues : ndarray of shape (m,) or (m, K − 1)
        Wald's z, and the two-sided p-value of θ_j = 0. Not available for penalised fits.
    lr_pvalues : ndarray of shape (m,) or (m, K − 1)
        p-values by likelihood ratios; each is a fit without that coefficient. More accurate than
        Wald's if effects are strong or rows are few.
    log_likelihood, null_log_likelihood : float
        At the maximum; of the intercept alone (of equal probabilities without an intercept).
    lr_statistic, lr_degrees_of_freedom, lr_pvalue : float
        Test of the whole model against that: 2(log L − log L₀), a chi².
    pseudo_r_squared : float
        McFadden's 1 − log L/log L₀.
    aic, bic : float
        2·rank − 2 log L; rank·log n − 2 log L.
    effective_parameters : float
        The rank without a penalty, tr (H + Λ)⁻¹H with one.
    n : int or float
        Σ s: a weight of 3 is a row repeated three times.
    cov : str
        "classical", "HC0" … "HC3" (HC2 and HC3 of two classes), or "cluster".
    n_groups : int or None
        Groups of cov="cluster".
    alpha : float
        Of the penalty α‖w‖²/2 subtracted from log L: 1/C, or 0.
    """

    classes: tuple[str, ...]
    maximum: float
    null: float
    effective_parameters: float
    make_profile: Callable[[], ProfileLikelihood] | None = None

    @property
    def reads_rows(self) -> bool:
        """Whether likelihood ratios are available, which read the rows again."""
        return self.make_profile is not None

    @property
    def log_likelihood(self) -> float:
        self._refuse_penalized("the likelihood's maximum")
        return self.maximum

    @property
    def null_log_likelihood(self) -> float:
        self._refuse_penalized("a comparison of likelihoods")
        return self.null

    @property
    def lr_statistic(self) -> float:
        return 2 * (self.log_likelihood - self.null_log_likelihood)

    @property
    def lr_degrees_of_freedom(self) -> float:
        self._refuse_penalized("a comparison of likelihoods")
        return self.effective_parameters - self.fit_intercept * (len(self.classes) - 1)

    @property
    def lr_pvalue(self) -> float:
        return float(chdtrc(self.lr_degrees_of_freedom, max(self.lr_statistic, 0.0)))

    @property
    def pseudo_r_squared(self) -> float:
        return 1 - self.log_likelihood / self.null_log_likelihood

    @property
    def aic(self) -> float:
        return 2 * self.effective_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        return self.effective_parameters * float(np.log(self.n)) - 2 * self.log_likelihood

    @property
    def lr_pvalues(self) -> np.ndarray:
        profile = self._profile
        p: np.ndarray = chdtrc(1, self._each(lambda j: max(profile.deviance(j, 0.0), 0.0)))
        return p

    def conf_int(
        self, level: float = 0.95, kind: str = "wald", per: Mapping[str, float] | None = None
    ) -> ResultTable:
        """Table of intervals of the coefficients, with columns "low" and "high".

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval covers the coefficient (penalised: its expected value).
        kind : {"wald", "lr"}, default="wald"
            "wald": θ̂_j ± q·se_j. "lr": all values that a likelihood-ratio test does not reject,
            about ten fits for each; invariant under transformations of the coefficient.
        per : dict, optional
            Units, as in ``summary``.
        """
        title = "intervals" if kind == "wald" else "likelihood-ratio intervals"
        return self._interval_table(level, self._interval_of(level, kind), title, per)

    def odds_ratios(
        self, level: float = 0.95, kind: str = "wald", per: Mapping[str, float] | None = None
    ) -> ResultTable:
        """Table of odds ratios exp θ̂_j (the factor of the odds per unit of x_j) with intervals.

        The intercept is omitted. K > 2: odds of each class against the first. ``per={"age": 10}``
        gives the odds ratio of 10 years. Parameters as in ``conf_int``; p-values are of the same
        kind as the intervals.
        """
        self._refuse_penalized("an odds ratio")
        coef, low, high = self._in_units(per, self.coef, *self._interval_of(level, kind))
        rows = self._ratio_rows
        pvalues = self.pvalues if kind == "wald" else self.lr_pvalues
        with np.errstate(over="ignore"):
            columns: dict[str, Any] = {
                **{name: np.array(values)[rows] for name, values in self._keys_per(per).items()},
                "odds ratio": np.exp(coef[rows]),
                "low": np.exp(low[rows]),
                "high": np.exp(high[rows]),
                "p": stacked(pvalues)[rows],
            }
        title = f"Odds ratios with {percent(level)} "
        title += "intervals" if kind == "wald" else "likelihood-ratio intervals"
        errors = half_widths(coef, low, high)[rows]
        return self._table(
            columns,
            title,
            self._against(),
            precision=[Precision(("odds ratio", "low", "high"), errors, ratio=True)],
            interval=("low", "high", f"{percent(level)} interval"),
        )

    def predict(self, X_new: object, level: float = 0.95) -> ResultTable:
        """Table of probabilities of the second class with intervals; of each class, if K > 2.

        Parameters
        ----------
        X_new : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Rows as the model was fitted on; those of the whole pipeline, if it was one.
        level : float, default=0.95

        Returns
        -------
        ResultTable
            "probability", "low" and "high"; "logit", its log-odds log(p/(1 − p)), and their "std
            error". Intervals are logit ± q·se, transformed back, so they are within (0, 1).
        """
        Phi, K = self._new_rows(X_new), len(self.classes)
        z = np.column_stack([np.zeros(len(Phi)), Phi @ self.coef.reshape(len(self.names), -1)])
        log_p = z - np.logaddexp.reduce(z, axis=1, keepdims=True)
        shown = [1] if K == 2 else range(K)
        logit, errors = np.empty((2, len(shown), len(Phi)))
        for at, k in enumerate(shown):
            others = np.delete(log_p, k, axis=1)
            log_rest = np.logaddexp.reduce(others, axis=1)  # log(1 − p_k)
            logit[at] = log_p[:, k] - log_rest
            # ∂ logit p_k/∂z_l is 1 for l = k, else −p_l/(1 − p_k)
            slopes = -np.exp(log_p - log_rest[:, None])
            slopes[:, k] = 1.0
            directions = (slopes[:, 1:, None] * Phi[:, None, :]).reshape(len(Phi), -1)
            errors[at] = standard_errors_of(directions, self.factors[0])
        half = self._quantile((1 + share(level)) / 2) * errors
        keys: dict[str, Any] = {"row": np.tile(np.arange(len(Phi)), len(shown))}
        if K > 2:
            keys = {"class": np.repeat(self.classes, len(Phi)), **keys}
        columns = {
            "probability": expit(logit), "low": expit(logit - half), "high": expit(logit + half),
            "logit": logit, "std error": errors,
        }  # fmt: skip
        values = {name: of.ravel() for name, of in columns.items()}
        p = {name: values[name] for name in ("probability", "low", "high")}
        of_class = f"of {self.classes[1]}" if K == 2 else "of each class"
        return ResultTable(
            {**keys, **values},
            keys=len(keys),
            title=f"Probability {of_class}, {percent(level)} intervals"
            + (f" ({BIAS})" if self._penalized else ""),
            notes=self.remarks,
            precision=[
                Precision(tuple(p), half_widths(*p.values())),
                Precision(("logit", "std error"), values["std error"]),
            ],
            interval=("low", "high", f"{percent(level)} interval"),
        )

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        level: float = 0.95,
        per: Mapping[str, float] | None = None,
        columns: Sequence[str] | None = None,
        kind: str | None = None,
    ) -> "ForestDisplay":
        """Forest plot of the odds ratios on a log axis; of the coefficients, if penalised.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        level : float, default=0.95
        per : dict, optional
            Units, as in ``summary``.
        columns : sequence of str, optional
            Columns to draw, from top to bottom; by default all, up to 40.
        kind : {"wald", "lr"}, optional
            Of the intervals, as in ``odds_ratios``.

        Returns
        -------
        certus.plotting.ForestDisplay
        """
        if self._penalized:
            return super().plot(ax, level=level, per=per, columns=columns)
        table = self.odds_ratios(level, per=per, **({} if kind is None else {"kind": kind}))
        label = f"odds ratio ({self._against()[0]})"
        rows = np.ones(len(table), dtype=bool)
        return self._forest(table, ("odds ratio", "low", "high"), rows, columns, label, ax)

    @property
    def _n_parameters(self) -> float:
        return float(self.effective_parameters)

    def _difference_of_targets(self, small: "LogisticInference") -> str | None:
        if self.classes == small.classes:
            return None
        return f"their classes differ: {listed(small.classes)}; {listed(self.classes)}"

    # --- likelihood ratios ------------------------------------------------------------------------

    @cached_property
    def _profile(self) -> ProfileLikelihood:
        self._refuse_penalized("a likelihood ratio")
        if self.cov != "classical":
            raise InferenceError(
                f"a likelihood ratio assumes that the model is right, which cov={self.cov!r} does "
                "not: use cov='classical' for it"
            )
        if self.make_profile is None:
            raise InferenceError(
                "likelihood ratios need the rows, which are not pickled with this object: call "
                "inference(X, y) again"
            )
        return self.make_profile()

    def _each(self, of: Callable[[int], float]) -> np.ndarray:
        """of(j) for all estimable coefficients, in the shape of coef; NaN for the others."""
        known = ~np.isnan(stacked(self.standard_errors))
        values = [of(j) if known[j] else np.nan for j in range(self.coef.size)]
        return np.array(values).reshape(self.coef.shape, order="F")

    def _interval_of(self, level: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}: give 'wald' or 'lr'")
        wald = self._interval(level)
        if kind == "wald":
            return wald
        profile, q = self._profile, float(ndtri((1 + level) / 2)) ** 2
        return (
            self._each(lambda j: profile.end(j, -1, q)),
            self._each(lambda j: profile.end(j, 1, q)),
        )

    # --- wording ----------------------------------------------------------------------------------

    @property
    def _kind(self) -> tuple[str, str, str]:
        return "Logistic" if len(self.classes) == 2 else "Softmax", "z", "C=np.inf"

    def _keys(self) -> dict[str, list[str]]:
        if len(self.classes) == 2:
            return {"name": list(self.names)}
        of = [name for name in self.classes[1:] for _ in self.names]
        return {"class": of, "name": list(self.names) * (len(self.classes) - 1)}

    def _against(self) -> list[str]:
        two = len(self.classes) == 2
        return [f"odds of {self.classes[1] if two else 'each class'} against {self.classes[0]}"]

    def _facts(self) -> list[str]:
        if self._penalized:
            parameters = {"effective parameters": self.effective_parameters}
            return [*self._against(), facts_line(parameters)]
        alone = "of the intercept alone" if self.fit_intercept else "of equal probabilities"
        return [
            *self._against(),
            facts_line({"log-likelihood": self.maximum, alone: self.null}),
            facts_line({
                "LR chi²": self.lr_statistic,
                "degrees of freedom": self.lr_degrees_of_freedom,
                "p": self.lr_pvalue,
            }),
            facts_line({"McFadden's R²": self.pseudo_r_squared, "AIC": self.aic, "BIC": self.bic}),
        ]  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        """State without the rows, which belong to the user."""
        return {**{k: v for k, v in vars(self).items() if k != "_profile"}, "make_profile": None}
