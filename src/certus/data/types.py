"""Types of parameters that many estimators, or many passes over rows, share."""

import numpy as np

Seed = int | np.random.RandomState | np.random.Generator | None
Weights = np.ndarray | None  # s of some rows; None: all are 1
