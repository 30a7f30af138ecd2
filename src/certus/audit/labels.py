"""Labels of a classifier, and the targets that its definition reads.

    index:   y_i = k             where classes[k] is the label of row i
    signs:   Y_ik = 1 or −1      a column for each class; for two classes that of the second only

Least squares takes signs, and the other definitions take the index.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Labels:
    classes: np.ndarray  # ascending, or in an order of their own
    coding: str = "index"
    weight: np.ndarray | None = None  # of classes, where the definition has weights of rows only

    def targets(self, k: np.ndarray) -> np.ndarray:
        """Return (n, 1) indices as targets of the definition."""
        if self.coding == "index":
            return k
        first = 1 if len(self.classes) == 2 else 0
        return np.where(k == np.arange(first, len(self.classes)), 1.0, -1.0)

    def weights(self, k: np.ndarray, s: np.ndarray | None) -> Any:
        """Return the weights of rows (n,), times those of their classes."""
        if self.weight is None:
            return s
        c = self.weight[k[:, 0].astype(np.intp)]
        return c if s is None else s * c
