"""How often a model that selects columns selects each, over resamples of the rows."""

import numpy as np

from ...content.model import SelectedColumn
from .linear import LinearModel
from .uncertainty import Uncertainty


def selected_columns(linear: LinearModel, known: Uncertainty) -> tuple[SelectedColumn, ...]:
    """Columns by selection frequency. The weight is the coefficient per standard deviation.

    Of a category, or of several classes, it is the largest in size; empty without resamples.
    """
    if known.draws is None:
        return ()
    found = []
    names = list(dict.fromkeys(str(step.name) for step in linear.steps))
    for name in names:
        j = linear.places(name)
        w = linear.w[:, j].ravel()
        chosen = np.any(known.draws[:, :, np.array(j) + 1] != 0, axis=(1, 2))
        largest = float(w[np.abs(w).argmax()])
        found.append(SelectedColumn(name, largest, float(chosen.mean()), len(known.draws)))
    found.sort(key=lambda one: (-one.frequency, -abs(one.weight)))
    return tuple(one for one in found if one.frequency > 0 or one.weight)
