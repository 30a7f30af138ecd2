"""Types of parameters that many estimators, or many passes over rows, share."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..distances import Distance

Seed = int | np.random.RandomState | np.random.Generator | None
Weights = np.ndarray | None  # s of some rows; None: all are 1
ClassWeight = dict[Any, float] | Literal["balanced"] | None  # keys are labels of any kind
Scoring = str | Callable[..., float] | None
Start = tuple[np.ndarray, np.ndarray] | None  # (w, b) where a solver begins


class Splitter(Protocol):
    """A splitter of rows into folds, such as scikit-learn's ``KFold``."""

    @property
    def split(self) -> Callable[..., Iterable[tuple[np.ndarray, np.ndarray]]]:
        """Yield (training rows, rows left out) of each fold."""
        ...


CV = int | Splitter | Iterable[tuple[npt.ArrayLike, npt.ArrayLike]] | None
Metric: TypeAlias = "str | Distance | Callable[..., float]"
