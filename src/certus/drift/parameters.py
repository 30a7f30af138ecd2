"""How many free parameters a model without a penalty has, and whether its likelihood is known.

p = (K − 1)(rank[1 X]) for K classes, rank X + K − 1 for ordered ones, rank[1 X] for a regression
"""

import numpy as np

from ..audit import Reading
from ..data.rows import Rows

CONSTANT_SHARE = 1e-12  # of a column's size: a smaller spread is the rounding of its mean
MAX_ELEMENTS = 1 << 26  # of X as a dense array; beyond, all columns count


def has_likelihood(reading: Reading, rows: Rows) -> bool:
    """Return whether twice the gain has a known distribution: no penalty, weights or constraint."""
    p, name = reading.parameters, reading.definition
    if rows.s is not None or p.get("class_weight") is not None:
        return False
    if name == "least_squares":
        plain = reading.labels is None and np.shape(p["w"])[1] == 1
        return plain and not np.any(p["alpha"]) and not p.get("positive")
    if name == "ordinal":
        return not p["alpha"]
    if name == "logistic" and reading.labels is not None and len(reading.labels.classes) > 2:
        return False  # one score for each class against the rest
    return name in ("logistic", "softmax", "log_link") and not (p["l1"] or p["l2"])


def free_parameters(reading: Reading, rows: Rows) -> int:
    """Return p."""
    p = reading.parameters
    if reading.definition == "ordinal":
        return _rank(rows, True) + len(p["thresholds"])
    each = _rank(rows, bool(p["fit_intercept"])) + int(bool(p["fit_intercept"]))
    scores = np.shape(p["w"])[1]
    return each * (scores - 1 if reading.definition == "softmax" else scores)


def _rank(rows: Rows, centered: bool) -> int:
    """Rank of X, or of X without the means of its columns."""
    n, p = rows.shape
    if n * p > MAX_ELEMENTS:
        return p
    X, _, _ = rows.block(0, n)
    X = np.array(X.toarray() if rows.sparse else X, dtype=float)
    size = np.abs(X).max(axis=0, initial=0.0)
    if centered:
        X -= X.mean(axis=0)
    spread = np.abs(X).max(axis=0, initial=0.0)
    varies = spread > CONSTANT_SHARE * size
    return int(np.linalg.matrix_rank(X[:, varies] / spread[varies])) if varies.any() else 0
