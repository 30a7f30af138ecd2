"""LAPACK's factorisation and solve on BLAS's own threads, as an estimator of x in Ax = y."""

from scipy.linalg import lapack


class PositiveDefinite:
    def fit(self, A, y):
        R, failed = lapack.dpotrf(A.copy().T, lower=0, clean=0, overwrite_a=1)
        self.coef_, self.intercept_ = lapack.dpotrs(R, y)[0], 0.0
        assert not failed
        return self
