"""Least-squares support vector machines with Gaussian kernels, on standardised columns.

    ½‖w‖² + C/2 Σ ω (y − wᵀφ(x) − b)²,  K(x, z) = exp(−γ‖x − z‖²)

γ is a multiple of 1/m, m the number of encoded columns. Density weights ω are small far from all
other rows, and larger in the smaller class.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ....text.format import number
from ...prepared import Prepared
from ..encoding import Encoded
from .base import Parameter

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

CS = (0.1, 1.0, 10.0)
GAMMAS_BY_COLUMNS = (0.05, 0.2, 0.8)
GRID = tuple((C, gamma) for gamma in GAMMAS_BY_COLUMNS for C in CS)
N_NEIGHBORS = 5  # of the density
SECONDS_OF_CUBE = 1.4e-11  # a fit of 1,000 rows takes 14 ms


@dataclass(frozen=True)
class LeastSquaresMachine:
    """LS-SVM: of classes, or regression."""

    key: str = "ls-svm"
    name: str = "Least-squares SVM"
    rank: int = 6
    is_calibrated: bool = False
    most_rows: int | None = 1_000

    def suits(self, prepared: Prepared) -> bool:
        return True

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return GRID

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        return _scores([self.model(train, parameter, ()) for parameter in grid], train, B)

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        from ....svm import LSSVC, LSSVR

        C, gamma = parameter
        of_task = LSSVR if train.task == "numbers" else LSSVC
        return of_task(C, gamma=gamma / train.A.shape[1], loo=False)

    def words(self, parameter: Parameter) -> str:
        return _words(parameter)

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return len(GRID) * (0.003 + SECONDS_OF_CUBE * n**3)


@dataclass(frozen=True)
class DensityWeightedMachine:
    """LS-SVM for classes of unequal size: rows are weighted by density."""

    key: str = "density-ls-svm"
    name: str = "Density-weighted least-squares SVM"
    rank: int = 7
    is_calibrated: bool = False
    most_rows: int | None = 1_000

    def suits(self, prepared: Prepared) -> bool:
        return prepared.task == "two classes"

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return GRID

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        """Scores of LS-SVM with the weights ω, which are computed once for all parameters."""
        weighted = replace(train, s=_density_and_class_weights(train))
        machine = LeastSquaresMachine()
        models = [machine.model(weighted, parameter, ()) for parameter in grid]
        return _scores(models, weighted, B)

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        from ....svm import DensityWeightedLSSVC

        C, gamma = parameter
        k = _n_neighbors(train)
        return DensityWeightedLSSVC(C, n_neighbors=k, gamma=gamma / train.A.shape[1], loo=False)

    def words(self, parameter: Parameter) -> str:
        return _words(parameter)

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return 0.02 + LeastSquaresMachine().cost(n, m, n_outputs)


def _n_neighbors(train: Encoded) -> int:
    return min(N_NEIGHBORS, len(train.A) - 1)


def _density_and_class_weights(train: Encoded) -> np.ndarray:
    """ω = d² s c, as ``DensityWeightedLSSVC`` has it with balanced classes."""
    from ....svm import density_weights

    s = np.ones(len(train.A)) if train.s is None else train.s
    total = np.bincount(train.target, weights=s)
    c = s.sum() / (len(total) * np.maximum(total, np.finfo(float).tiny))
    return density_weights(train.A, _n_neighbors(train)) ** 2 * s * c[train.target]


def _words(parameter: Parameter) -> str:
    C, gamma = parameter
    return f"C = {number(C, 3)}, γ = {number(gamma, 3)} divided by the number of columns"


def _scores(models: "list[BaseEstimator]", train: Encoded, B: np.ndarray) -> np.ndarray:
    found = []
    for model in models:
        model.fit(train.A, train.target, sample_weight=train.s)
        if train.task == "numbers":
            found.append(np.asarray(model.predict(B))[:, None])
            continue
        f = np.asarray(model.decision_function(B))
        if train.n_outputs == 1:
            found.append(f[:, None])
            continue
        present = model.classes_
        f = np.stack([-f, f], axis=1) if f.ndim == 1 else f
        lacking = np.full((len(B), train.n_outputs), f.min() - 1.0)
        lacking[:, present] = f
        found.append(lacking)
    return np.array(found)
