"""SVC at its default tol, and KernelRidge on y = ±1, which has no intercept."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from benchmarks.lssvm_peers import new_rows, signs


class Machine:
    """machine: "SVC" or "KernelRidge", what the contestant is named after."""

    def __init__(self, C, gamma, machine):
        self.C, self.gamma, self.machine = C, gamma, machine

    def fit(self, X, y):
        if self.machine == "SVC":
            self.loss = "hinge"
            self.model = SVC(C=self.C, gamma=self.gamma).fit(X, y)
            self.beta_, self.b_ = np.zeros(len(X)), self.model.intercept_[0]
            self.beta_[self.model.support_] = self.model.dual_coef_[0]
            self.score = self.model.decision_function
        else:
            self.loss = "squared, no intercept"
            model = KernelRidge(alpha=1 / self.C, kernel="rbf", gamma=self.gamma)
            self.model = model.fit(X, signs(y))
            self.beta_, self.b_ = model.dual_coef_, 0.0
            self.score = model.predict
        return self


class Fit(Machine):
    pass


class FitAndPredict(Machine):
    def fit(self, X, y):
        super().fit(X, y)
        self.scores_ = self.score(new_rows(X.shape[1]))
        return self
