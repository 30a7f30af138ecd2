import daal4py
import numpy as np

from benchmarks.mixture_peers import start

STORAGE = {"full": "full", "diag": "diagonal"}


class Steps:
    """EM steps whose covariances are regularised by oneDAL's rule."""

    def __init__(self, k, max_iter=20, covariance_type="full", tol=0.0):
        self.k, self.max_iter, self.tol = k, max_iter, tol
        self.covariance_type = covariance_type

    def fit(self, X, y):
        pi, mu, cov = start(X, y, self.k, self.covariance_type)
        steps = daal4py.em_gmm(
            nComponents=len(pi),
            maxIterations=self.max_iter,
            accuracyThreshold=self.tol,
            covarianceStorage=STORAGE[self.covariance_type],
        )
        found = steps.compute(X, pi[None], mu, [np.atleast_2d(c) for c in cov])
        self.weights_, self.means_ = found.weights.ravel(), found.means
        self.covariances_ = np.stack([np.asarray(c) for c in found.covariances])
        if self.covariance_type == "diag":
            self.covariances_ = self.covariances_.reshape(len(pi), -1)
        self.n_iter_ = self.max_iter
        return self
