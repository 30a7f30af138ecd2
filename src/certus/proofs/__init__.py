"""Proofs: plain NumPy that follows the equations and imports nothing else of certus.

Each module has ``check(data, parameters, tol) → dict``: it recomputes the claim of a fitted model
from the data alone. ``data`` offers ``shape``, ``depth`` (the longest chain of additions in a sum
over rows), ``eps`` (the rounding of the data), ``reduce(statistic, *args)`` (the sum of a pure
function of one block of rows; ``square=True``: it is p×p; ``beside``: arrays split like the rows),
``sample_block(count)`` (X, y, s of a sample of the rows), ``take(i)`` (of the rows with indices i),
``sample(count)`` (a sample as ``data``), ``s`` (all weights, or None) and ``sparse`` (whether
blocks may be sparse). Proofs of linear models use X only through @, .T @ and column sums.
"""
