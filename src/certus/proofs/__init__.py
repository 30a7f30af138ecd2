"""What is right. Plain NumPy that reads like the equations, and imports nothing else of certus.

Each module has ``check(data, parameters, tol) → dict``: it recomputes what a fitted model claims
from the data alone. ``data`` offers ``shape``, ``depth`` (the longest chain of additions in
a sum over rows), ``eps`` (what the data are rounded to), ``reduce(statistic, *args)`` (the sum of a
pure function of one block of rows; ``square=True``: it is p×p; ``beside``: arrays cut as the rows
are), ``sample_block(count)`` (X, y, s of some of the rows), ``take(i)`` (of those numbered i),
``sample(count)`` (as ``data``), ``s`` (all weights, or None) and ``sparse`` (blocks may be sparse
rows). Models of coefficients touch X only through @, .T @ and column sums.
"""
