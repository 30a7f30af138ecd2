"""Nearest neighbours of each library under the names of the suite ``neighbors``.

A search is ``Search(k).fit(X, Q)``: build whatever is needed from the rows X, then find the k
nearest of each query, the rows of Q. ``distances_`` and ``indices_`` are the answer.
"""
