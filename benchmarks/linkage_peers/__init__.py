"""Trees of each library under the name of the suite ``linkage``.

``Linkage(method).fit(X, y)`` merges the rows of X, Euclidean distances; y is not used.
``heights_``, (n − 1,), is the answer. A library that has no such method raises ``NotOffered``.
"""

from benchmarks.entry import NotOffered


def only(method, methods):
    if method not in methods:
        raise NotOffered
    return method
