"""What a NumPy user would write, behind scikit-learn's interface.

Its module imports NumPy only, so its cold start is NumPy's.
"""

import numpy as np


class LinearRegression:
    """numpy.linalg.lstsq on [X 1]."""

    def fit(self, X, y):
        ones = np.ones((len(X), 1), dtype=X.dtype)
        solution = np.linalg.lstsq(np.hstack([X, ones]), y)[0]
        self.coef_, self.intercept_ = solution[:-1], solution[-1]
        return self
