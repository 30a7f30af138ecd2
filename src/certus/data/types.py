"""Types of parameters that many estimators share."""

import numpy as np

Seed = int | np.random.RandomState | np.random.Generator | None
