"""Types of the parameters of NCFS."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

Prior = str | Mapping[object, float] | Sequence[float] | np.ndarray
Costs = ArrayLike | Callable[[np.ndarray, np.ndarray], ArrayLike] | None  # between classes
ValueLoss = str | Callable[[np.ndarray, np.ndarray], np.ndarray]
Folds = Sequence[tuple[np.ndarray, np.ndarray]]  # training rows, and rows left out
