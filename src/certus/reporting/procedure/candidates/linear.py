"""Linear candidates, on standardised columns.

    logistic, softmax   Σ loss + ‖w‖²/(2C)       sparse logistic   Σ loss + λ‖w‖₁
    ridge               ‖y − Aw − b‖² + α‖w‖²    lasso             ‖y − Aw − b‖²/(2n) + α‖w‖₁
    ordinal             Σ loss + α‖w‖²/2

α of ridge is a multiple of n; λ, and α of the lasso, are shares of the value at which all
coefficients are 0: the grids fit every table.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....text.format import number
from ...prepared import Prepared
from ..encoding import Encoded
from .base import Parameter
from .shares import among_all

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

CS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)  # √C is the standard deviation of the coefficients' prior
ALPHAS_BY_N = (100.0, 10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4)
SHARES_OF_LARGEST = (0.7, 0.4, 0.2, 0.1, 0.05, 0.02, 0.005)
SECONDS_OF_PRODUCT = 3e-10  # of one multiplication in a Newton step


@dataclass(frozen=True)
class LogisticCandidate:
    """Logistic regression with a squared penalty; of more classes, softmax."""

    key: str = "logistic"
    name: str = "Logistic regression"
    rank: int = 2
    is_calibrated: bool = True
    most_rows: int | None = None

    def suits(self, prepared: Prepared) -> bool:
        return prepared.task != "numbers"

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return tuple((C,) for C in CS)

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        return _scores_on_path(train, B, np.array([C for (C,) in grid]), 0.0)

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        from ....linear_model import LogisticRegression

        return LogisticRegression(C=parameter[0])

    def words(self, parameter: Parameter) -> str:
        return f"C = {number(parameter[0], 3)} on standardised columns"

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return len(CS) * (0.002 + 6 * SECONDS_OF_PRODUCT * n * m * min(n, m) * n_outputs**2)


@dataclass(frozen=True)
class SparseLogistic:
    """Logistic regression that selects columns."""

    key: str = "sparse-logistic"
    name: str = "Sparse logistic regression"
    rank: int = 3
    is_calibrated: bool = True
    most_rows: int | None = None

    def suits(self, prepared: Prepared) -> bool:
        return prepared.task == "two classes"

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return tuple((share,) for share in SHARES_OF_LARGEST)

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        Cs = np.array([_C_of(train, share) for (share,) in grid])
        return _scores_on_path(train, B, Cs, 1.0)

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        from ....linear_model import LogisticRegression

        return LogisticRegression(C=_C_of(train, parameter[0]), l1_ratio=1.0)

    def words(self, parameter: Parameter) -> str:
        return f"penalty {number(100 * parameter[0], 3)} % of the one that leaves no column"

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return 1.5 * LogisticCandidate().cost(n, m, n_outputs)


@dataclass(frozen=True)
class Ordinal:
    """Ordinal regression: one score, and a threshold between neighbouring classes."""

    key: str = "ordinal"
    name: str = "Ordinal regression"
    rank: int = 1
    is_calibrated: bool = True
    most_rows: int | None = None

    def suits(self, prepared: Prepared) -> bool:
        return prepared.task == "ordered classes"

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return tuple((1 / C,) for C in CS)

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        from ....linear_model import OrdinalRegression

        found = []
        for (alpha,) in grid:
            model = OrdinalRegression(alpha=alpha).fit(train.A, train.target, train.s)
            found.append(among_all(model.predict_proba(B), model.classes_, train.n_outputs))
        return np.log(np.maximum(found, 1e-12))

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        from ....linear_model import OrdinalRegression

        return OrdinalRegression(categories=np.array(labels), alpha=parameter[0])

    def words(self, parameter: Parameter) -> str:
        return f"penalty {number(parameter[0], 3)} on standardised columns"

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return 2 * LogisticCandidate().cost(n, m, 1)


@dataclass(frozen=True)
class RidgeRegression:
    """Least squares with a squared penalty."""

    key: str = "ridge"
    name: str = "Ridge regression"
    rank: int = 2
    is_calibrated: bool = True
    most_rows: int | None = None

    def suits(self, prepared: Prepared) -> bool:
        return prepared.task == "numbers"

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return tuple((alpha,) for alpha in ALPHAS_BY_N)

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        models = [self.model(train, parameter, ()) for parameter in grid]
        return np.array([_predicted(model, train, B) for model in models])

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        from ....linear_model import Ridge

        return Ridge(alpha=parameter[0] * _total(train))

    def words(self, parameter: Parameter) -> str:
        return f"penalty {number(parameter[0], 3)} for each row, on standardised columns"

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return len(ALPHAS_BY_N) * (0.004 + SECONDS_OF_PRODUCT * n * m * min(n, m))


@dataclass(frozen=True)
class LassoRegression:
    """Least squares that selects columns."""

    key: str = "lasso"
    name: str = "Lasso"
    rank: int = 3
    is_calibrated: bool = True
    most_rows: int | None = None

    def suits(self, prepared: Prepared) -> bool:
        return prepared.task == "numbers"

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return tuple((share,) for share in SHARES_OF_LARGEST)

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        models = [self.model(train, parameter, ()) for parameter in grid]
        return np.array([_predicted(model, train, B) for model in models])

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        from ....linear_model import Lasso

        largest = _largest_slope(train, train.target) / _total(train)
        return Lasso(alpha=max(parameter[0] * largest, np.finfo(float).tiny))

    def words(self, parameter: Parameter) -> str:
        return f"penalty {number(100 * parameter[0], 3)} % of the one that leaves no column"

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return len(SHARES_OF_LARGEST) * (0.008 + 2 * SECONDS_OF_PRODUCT * n * m * min(n, m))


# --- parts ----------------------------------------------------------------------------------------


def _scores_on_path(train: Encoded, B: np.ndarray, Cs: np.ndarray, l1_ratio: float) -> np.ndarray:
    """Scores of B with each C, from one path of warm starts."""
    from ....linear_model import LogisticRegressionCV

    n = len(train.A)
    fold = [(np.arange(n), np.array([0]))]  # scores of the fold are not used
    order = np.argsort(Cs, kind="stable")
    path = LogisticRegressionCV(
        Cs=Cs[order], l1_ratios=[l1_ratio], cv=fold, scoring=_no_score, refit=False,
        use_legacy_attributes=False,
    ).fit(train.A, train.target, train.s)  # fmt: skip
    of_path = np.asarray(path.coefs_paths_)[0, 0]  # (Cs, classes or 1, m + 1)
    coefs = np.empty_like(of_path)
    coefs[order] = of_path
    z = np.einsum("nm,ckm->cnk", B, coefs[:, :, :-1]) + coefs[:, None, :, -1]
    if train.n_outputs == 1:
        return z
    z -= z.max(axis=2, keepdims=True)
    P = np.exp(z)
    P /= P.sum(axis=2, keepdims=True)
    return np.log(np.maximum([among_all(p, path.classes_, train.n_outputs) for p in P], 1e-12))


def _no_score(model: object, X: object, y: object, sample_weight: object = None) -> float:
    return 0.0


def _C_of(train: Encoded, share: float) -> float:
    """C at which the penalty is this share of the one with which all coefficients are 0."""
    largest = _largest_slope(train, train.target.astype(float))
    return 1 / max(share * largest, np.finfo(float).tiny)


def _largest_slope(train: Encoded, y: np.ndarray) -> float:
    """max |Σ s (y − ȳ) a| over columns: above, the penalty leaves no column."""
    s = np.ones(len(y)) if train.s is None else train.s
    residual = s * (y - np.average(y, weights=s))
    return float(np.abs(train.A.T @ residual).max(initial=0.0)) or 1.0


def _total(train: Encoded) -> float:
    return float(len(train.A) if train.s is None else train.s.sum())


def _predicted(model: "BaseEstimator", train: Encoded, B: np.ndarray) -> np.ndarray:
    model.fit(train.A, train.target, sample_weight=train.s)
    return np.asarray(model.predict(B))[:, None]
