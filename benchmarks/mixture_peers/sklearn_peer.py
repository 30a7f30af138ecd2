import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from benchmarks.mixture_peers import precisions, start


class Steps:
    model = GaussianMixture

    def __init__(self, k, max_iter=20, covariance_type="full", tol=0.0):
        self.k, self.max_iter, self.tol = k, max_iter, tol
        self.covariance_type = covariance_type

    def fit(self, X, y):
        pi, mu, cov = start(X, y, self.k, self.covariance_type)
        model = self.model(
            len(pi), covariance_type=self.covariance_type, max_iter=self.max_iter, tol=self.tol,
            weights_init=pi, means_init=mu, precisions_init=precisions(cov, self.covariance_type),
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # so many steps were asked for
            model.fit(X)
        self.weights_, self.means_ = model.weights_, model.means_
        self.covariances_, self.n_iter_ = model.covariances_, model.n_iter_
        return self
