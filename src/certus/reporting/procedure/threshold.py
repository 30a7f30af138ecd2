"""The threshold with which the page opens: p ≥ t is answered with the positive class.

With costs c₊ of a false positive and c₋ of a false negative, the expected cost is smallest at
t = c₊/(c₊ + c₋). Without costs t is the share of the positive class: there the sum of sensitivity
and specificity is largest for calibrated probabilities, and no row is needed to estimate it twice.
"""

import numpy as np

from ..prepared import Prepared
from ..settings import Settings
from .encoding import target_of


def threshold_for_classes(prepared: Prepared, settings: Settings) -> tuple[float | None, str]:
    """The threshold of two classes and its reason; None for other tasks."""
    if prepared.positive is None:
        return None, ""
    positive = prepared.classes[prepared.positive]
    fp, fn = settings.cost_false_positive, settings.cost_false_negative
    if fp is not None or fn is not None:
        fp, fn = (1.0 if fp is None else fp), (1.0 if fn is None else fn)
        return fp / (fp + fn), (
            f"from the costs: a false positive costs {fp:g}, a false negative {fn:g}"
        )
    share = float(np.average(target_of(prepared), weights=prepared.weights))
    return share, (
        f"the share of '{positive}' in these rows, where sensitivity and specificity add up to the "
        "most if probabilities are right; give --cost to choose by costs"
    )
