"""What programs minimise, as one table: the loss, what is penalised, and how its strength is given.

Every objective here is, up to a factor,

    F(w, b) = Σ sᵢ ℓ(yᵢ, xᵢᵀw + b) + λ₁ Σ dⱼ|wⱼ| + λ₂/2 Σ dⱼ² wⱼ²,

with ℓ half the squared error, the logistic loss, or half the deviance of a count or an amount, and
d = 1 or d = the standard deviation of the columns with divisor Σ s. A program has a strength r and
perhaps a share α of L1. With N the sum of weights W, the number of rows, or 1,

    λ₁ = N r α u        λ₂ = N r (1 − α) u² / v

    u   1; or √(n/(n − 1)) where the program's standard deviation has the divisor n − 1
    v   1; or the standard deviation of y, where y is standardised as well (Gaussian family of
        glmnet, Spark's LinearRegression): half of Σ(r/v)²/n + (r/v)[α‖w/v‖₁ + (1 − α)/2 ‖w/v‖²]
        times v²

and C = 1/r for the programs that have C. Where the intercept is penalised it is the coefficient of
a column of ones. Spark's GeneralizedLinearRegression divides by the sum of working weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..exceptions import UsageError
from ..text.suggestions import unknown

Loss = Literal["gaussian", "logistic", "poisson", "gamma"]
Shape = Literal["none", "l1", "l2", "elastic_net"]
Normalizer = Literal["weights", "rows", "working weights", "one"]


@dataclass(frozen=True)
class RowFacts:
    """Numbers of the rows that strengths are given in."""

    n: float
    W: float  # Σ s
    unbiased: float  # √ of (divisor n)/(divisor n − 1), for weights too
    y_sd: float  # divisor Σ s
    y_sd_unbiased: float
    working: float  # Σ of working weights at the printed coefficients


@dataclass(frozen=True)
class Preset:
    """One program's objective."""

    name: str
    loss: Loss
    strength: str = ""  # its name; "": no penalty
    share: str = ""  # the name of α, where the program has one
    shapes: tuple[Shape, ...] = ("none",)
    default_share: float = 0.0
    standardized: bool = False
    intercept_penalized: bool = False
    normalizer: Normalizer = "one"
    inverse: bool = False  # the strength is C = 1/r
    y_standardized: bool = False
    divisor_n_minus_1: bool = False

    def _units(self, facts: RowFacts) -> tuple[float, float]:
        """Return λ₁/(r α) and λ₂/(r (1 − α))."""
        N = {"weights": facts.W, "rows": facts.n, "working weights": facts.working, "one": 1.0}
        u = facts.unbiased if self.standardized and self.divisor_n_minus_1 else 1.0
        v = facts.y_sd_unbiased if self.divisor_n_minus_1 else facts.y_sd
        v = v if self.y_standardized else 1.0
        return N[self.normalizer] * u, N[self.normalizer] * u * u / v

    def lambdas(self, values: Mapping[str, float], facts: RowFacts) -> tuple[float, float]:
        """Return (λ₁, λ₂) of the program's own parameters."""
        if not self.strength:
            return 0.0, 0.0
        value = values[self.strength]
        r = (1 / value if value else float("inf")) if self.inverse else value
        alpha = values.get(self.share, self._only_share())
        first, second = self._units(facts)
        return r * alpha * first, r * (1 - alpha) * second

    def _only_share(self) -> float:
        return self.default_share if self.share else float("l1" in self.shapes)

    def values(self, l1: float, l2: float, facts: RowFacts) -> dict[str, float]:
        """Return the program's own parameters at (λ₁, λ₂)."""
        if not self.strength:
            return {}
        first, second = self._units(facts)
        by_l1, by_l2 = l1 / first, l2 / second
        r = by_l1 + by_l2
        strength = (1 / r if r else float("inf")) if self.inverse else r
        found = {self.strength: strength}
        if self.share:
            found[self.share] = by_l1 / r if r else self.default_share
        return found


RATIO: tuple[Shape, ...] = ("l2", "l1", "elastic_net")


def _glmnet(family: str, loss: Loss) -> list[Preset]:
    common: dict[str, Any] = {
        "strength": "lambda", "share": "alpha", "shapes": RATIO, "default_share": 1.0,
        "normalizer": "weights", "y_standardized": loss == "gaussian",
    }  # fmt: skip
    name = f"glmnet.{family}"
    return [
        Preset(name, loss, standardized=True, **common),
        Preset(f"{name}.unstandardized", loss, **common),
    ]


def _spark(model: str, loss: Loss, divisor_n_minus_1: bool) -> list[Preset]:
    common: dict[str, Any] = {"strength": "regParam", "share": "elasticNetParam", "shapes": RATIO,
              "normalizer": "weights", "y_standardized": loss == "gaussian",
              "divisor_n_minus_1": divisor_n_minus_1}  # fmt: skip
    return [
        Preset(f"spark.{model}", loss, standardized=True, **common),
        Preset(f"spark.{model}.unstandardized", loss, **common),
    ]


def _statsmodels(model: str, loss: Loss) -> list[Preset]:
    name = f"statsmodels.{model}"
    if model.startswith("Logit"):
        common: dict[str, Any] = {"strength": "alpha", "shapes": ("l1",)}
    else:
        common = {"strength": "alpha", "share": "L1_wt", "shapes": RATIO, "default_share": 1.0,
                  "normalizer": "rows"}  # fmt: skip
    return [
        Preset(name, loss, intercept_penalized=True, **common),
        Preset(f"{name}.free_const", loss, **common),
    ]


PRESETS: tuple[Preset, ...] = (
    Preset("least_squares", "gaussian"),
    Preset("logistic", "logistic"),
    Preset("poisson", "poisson"),
    Preset("gamma", "gamma"),
    *_glmnet("gaussian", "gaussian"),
    *_glmnet("binomial", "logistic"),
    *_glmnet("poisson", "poisson"),
    Preset("sklearn.Ridge", "gaussian", "alpha", shapes=("l2",)),
    Preset("sklearn.Lasso", "gaussian", "alpha", shapes=("l1",), normalizer="weights"),
    Preset("sklearn.ElasticNet", "gaussian", "alpha", "l1_ratio", RATIO, 0.5, normalizer="weights"),
    Preset("sklearn.LogisticRegression", "logistic", "C", "l1_ratio", RATIO, inverse=True),
    Preset("sklearn.PoissonRegressor", "poisson", "alpha", shapes=("l2",), normalizer="weights"),
    Preset("sklearn.GammaRegressor", "gamma", "alpha", shapes=("l2",), normalizer="weights"),
    Preset("liblinear.l2", "logistic", "C", shapes=("l2",), inverse=True, intercept_penalized=True),
    Preset("liblinear.l1", "logistic", "C", shapes=("l1",), inverse=True, intercept_penalized=True),
    *_spark("LinearRegression", "gaussian", False),  # normal equations, up to 4,096 columns
    *_spark("LinearRegression.l-bfgs", "gaussian", True),
    *_spark("LogisticRegression", "logistic", True),
    Preset("spark.GeneralizedLinearRegression.gaussian", "gaussian", "regParam", shapes=("l2",),
           normalizer="weights"),
    Preset("spark.GeneralizedLinearRegression.binomial", "logistic", "regParam", shapes=("l2",),
           normalizer="working weights"),
    Preset("spark.GeneralizedLinearRegression.poisson", "poisson", "regParam", shapes=("l2",),
           normalizer="working weights"),
    *_statsmodels("OLS.fit_regularized", "gaussian"),
    *_statsmodels("Logit.fit_regularized", "logistic"),
    *_statsmodels("GLM.fit_regularized.binomial", "logistic"),
    *_statsmodels("GLM.fit_regularized.poisson", "poisson"),
    Preset("MASS.lm.ridge", "gaussian", "lambda", shapes=("l2",), standardized=True),
)  # fmt: skip
ALIASES = {
    "gaussian": "least_squares", "linear": "least_squares", "ols": "least_squares",
    "lm": "least_squares", "binomial": "logistic", "logit": "logistic",
}  # fmt: skip


def select(objective: str | None) -> tuple[Preset, ...]:
    """Return the presets of a name, or those whose names begin with it; None: all."""
    if objective is None:
        return PRESETS
    wanted = ALIASES.get(objective.casefold(), objective).casefold()
    exact = [one for one in PRESETS if one.name.casefold() == wanted]
    found = exact or [one for one in PRESETS if one.name.casefold().startswith(f"{wanted}.")]
    if not found:
        raise UsageError(unknown("objective", objective, [one.name for one in PRESETS]))
    return tuple(found)
