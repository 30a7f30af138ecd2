"""The probability above which it is cheaper to predict "positive".

predict positive  ⇔  (1 − p)·cost_fp < p·cost_fn  ⇔  p > cost_fp/(cost_fp + cost_fn)
"""

import math
import numbers

from ..runtime.refusals import refuses_in_one_frame


@refuses_in_one_frame
def threshold_for(cost_fp: float, cost_fn: float) -> float:
    """Return the threshold on a calibrated probability that minimises the expected cost.

    A correct prediction is assumed to cost nothing. The threshold is only as good as the
    probabilities: after class weights or resampling, use ``correct_prior`` first.

    Parameters
    ----------
    cost_fp : float
        The cost of a false alarm: the row is negative.
    cost_fn : float
        The cost of a miss: the row is positive.

    Returns
    -------
    float
        cost_fp/(cost_fp + cost_fn): predict "positive" where p is above it.

    Examples
    --------
    >>> from certus.metrics import threshold_for
    >>> threshold_for(cost_fp=1, cost_fn=19)  # a miss is 19 times as bad
    0.05
    """
    fp, fn = checked_cost("cost_fp", cost_fp), checked_cost("cost_fn", cost_fn)
    largest = max(fp, fn)
    if largest == 0:
        raise ValueError(
            "both costs are 0, so all thresholds are equally good: give a cost above 0"
        )
    fp, fn = fp / largest, fn / largest  # the sum of two huge costs overflows
    return fp / (fp + fn)


def checked_cost(name: str, value: object) -> float:
    """Return a cost, a finite number that is not negative."""
    number = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else None
    if number is None or not 0 <= float(number) < math.inf:
        raise ValueError(f"{name}={value!r}: give a finite number that is not negative")
    return float(number)
