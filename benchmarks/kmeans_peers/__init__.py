"""k-means of each library under the names of the suite ``kmeans``.

``Lloyd(k, max_iter, tol).fit(X, y)`` starts at the rows of X that the permutation y names first,
the same for all; ``Default(k)`` is a fit as people write it; ``PlusPlus(k)`` and ``Parallel(k)``
only draw a start, greedy k-means++ and k-means‖. ``centers_`` is the answer.
"""

import math

SEED = 0


def at_most(k, X):
    """k, or half of the rows: the small sets that warm up a library have fewer rows than some k."""
    return min(k, len(X) // 2)


def start(X, y, k):
    return X[y[: at_most(k, X)]]


def trials(k):
    """Candidates a step of the greedy k-means++, scikit-learn's number."""
    return 2 + int(math.log(k))
