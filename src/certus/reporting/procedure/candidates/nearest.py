"""k nearest neighbours, in standardised columns or in columns weighted by NCFS.

    knn     d(x, z) = ‖x − z‖                the k nearest rows vote
    ncfs    d(x, z) = Σ_l W_l |x_l − z_l|    W maximises Σ_i (share of right votes) − λ Σ W_l

One search for the largest k serves all k.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....metrics.calibrated import share_scores
from ...prepared import Prepared
from ..encoding import Encoded
from .base import Parameter

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

KS = (201, 101, 51, 31, 21, 15, 11, 7, 5, 3, 1)
MAX_SHARE_OF_ROWS = 0.25  # k beyond a quarter of the rows: nearly the baseline
SECONDS_OF_PAIR = 8e-10  # of a distance in one column
SECONDS_OF_NCFS_PAIR = 5e-9  # of all steps of a fit, in one column


@dataclass(frozen=True)
class KNearest:
    """k nearest neighbours in standardised columns."""

    key: str = "knn"
    name: str = "k nearest neighbours"
    rank: int = 4
    is_calibrated: bool = False
    most_rows: int | None = 10_000

    def suits(self, prepared: Prepared) -> bool:
        return True

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return tuple((float(k),) for k in KS if k <= max(1, MAX_SHARE_OF_ROWS * n))

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        return scores_of_votes(train, B, [int(k) for (k,) in grid], None)

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        return neighbors(train, int(parameter[0]), None)

    def words(self, parameter: Parameter) -> str:
        return f"k = {parameter[0]:.0f}"

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return 0.01 + SECONDS_OF_PAIR * m * n * n / 4


@dataclass(frozen=True)
class WeightedNearest:
    """k nearest neighbours, with the columns weighted and selected by NCFS."""

    key: str = "ncfs-knn"
    name: str = "NCFS and k nearest neighbours"
    rank: int = 5
    is_calibrated: bool = False
    most_rows: int | None = 1_000

    def suits(self, prepared: Prepared) -> bool:
        return True

    def grid(self, n: int, m: int) -> tuple[Parameter, ...]:
        return tuple((float(k),) for k in KS if k <= max(1, MAX_SHARE_OF_ROWS * n))

    def scores(self, train: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]) -> np.ndarray:
        return scores_of_votes(train, B, [int(k) for (k,) in grid], column_weights(train))

    def model(
        self, train: Encoded, parameter: Parameter, labels: tuple[object, ...]
    ) -> "BaseEstimator":
        return neighbors(train, int(parameter[0]), column_weights(train))

    def words(self, parameter: Parameter) -> str:
        return f"k = {parameter[0]:.0f}, columns weighted by NCFS"

    def cost(self, n: int, m: int, n_outputs: int) -> float:
        return 0.02 + SECONDS_OF_NCFS_PAIR * m * n * n + KNearest().cost(n, m, n_outputs)


def column_weights(train: Encoded) -> np.ndarray:
    """NCFS weights of the encoded columns; all 1 where NCFS leaves no column."""
    from ....feature_selection import NCFSClassifier, NCFSRegressor

    model = (NCFSRegressor if train.task == "numbers" else NCFSClassifier)(tol=1e-4)
    W: np.ndarray = model.fit(train.A, train.target, sample_weight=train.s).weights_in_units_
    W = np.where(model.support_, W, 0.0)
    return W / W.max() if W.max() > 0 else np.ones(len(W))


def neighbors(train: Encoded, k: int, W: np.ndarray | None) -> "BaseEstimator":
    """The estimator: Euclidean distances, or weighted sums of differences."""
    from ....neighbors import KNeighborsClassifier, KNeighborsRegressor

    of_task = KNeighborsRegressor if train.task == "numbers" else KNeighborsClassifier
    k = min(k, len(train.A))
    if W is None:
        return of_task(k)
    return of_task(k, metric="manhattan", metric_params={"w": W})


def scores_of_votes(
    train: Encoded, B: np.ndarray, ks: list[int], W: np.ndarray | None
) -> np.ndarray:
    """Scores of B for each k: running shares of the votes of ever more neighbours."""
    ks = [min(k, len(train.A)) for k in ks]
    model = neighbors(train, max(ks), W).fit(train.A, train.target)
    near = model.kneighbors(B, return_distance=False)
    s = np.ones(len(train.A)) if train.s is None else train.s
    weight = np.cumsum(s[near], axis=1)
    at = np.array(ks) - 1
    total = np.maximum(weight[:, at], np.finfo(float).tiny)
    if train.task == "numbers":
        sums = np.cumsum((s * train.target)[near], axis=1)[:, at]
        return (sums / total).T[:, :, None]
    K = max(2, train.n_outputs)
    P = np.stack(
        [np.cumsum((s * (train.target == c))[near], axis=1)[:, at] / total for c in range(K)], -1
    )
    z = np.stack([share_scores(P[:, i], float(k)) for i, k in enumerate(ks)])
    return z[:, :, None] if K == 2 else z
