"""From which probability on it is cheaper to answer "positive".

answer positive  ⇔  (1 − p)·cost_fp < p·cost_fn  ⇔  p > cost_fp/(cost_fp + cost_fn)
"""

import math
import numbers


def threshold_for(cost_fp: float, cost_fn: float) -> float:
    """The threshold on an honest probability that makes the expected cost least.

    A right answer is taken to cost nothing. The threshold is as good as the probabilities: after
    class weights or resampling, ``correct_prior`` first.

    Parameters
    ----------
    cost_fp : float
        Of a false alarm: the row was negative.
    cost_fn : float
        Of a miss: the row was positive.

    Returns
    -------
    float
        cost_fp/(cost_fp + cost_fn): answer "positive" where p is above it.

    Examples
    --------
    >>> from certus.metrics import threshold_for
    >>> threshold_for(cost_fp=1, cost_fn=19)  # a miss is 19 times as bad
    0.05
    """
    fp, fn = _cost("cost_fp", cost_fp), _cost("cost_fn", cost_fn)
    largest = max(fp, fn)
    if largest == 0:
        raise ValueError("both costs are 0, and no threshold is better than another: give one")
    fp, fn = fp / largest, fn / largest  # the sum of two huge costs overflows
    return fp / (fp + fn)


def _cost(name: str, value: object) -> float:
    number = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else None
    if number is None or not 0 <= float(number) < math.inf:
        raise ValueError(f"{name}={value!r}: give a finite number that is not negative")
    return float(number)
