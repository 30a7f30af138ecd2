from benchmarks.lssvm_peers import new_rows
from certus.svm import LSSVC, LSSVCCV


class Fit:
    """With validation and the certificate."""

    loss = "squared"

    def __init__(self, C, gamma):
        self.C, self.gamma = C, gamma

    def fit(self, X, y):
        self.model = LSSVC(self.C, gamma=self.gamma, loo=False).fit(X, y)
        self.beta_, self.b_ = self.model.dual_coef_[0], self.model.intercept_[0]
        return self


class FitAndPredict(Fit):
    def fit(self, X, y):
        super().fit(X, y)
        self.scores_ = self.model.decision_function(new_rows(X.shape[1]))
        return self


class Grid:
    def __init__(self, Cs, gammas):
        self.Cs, self.gammas = Cs, gammas

    def fit(self, X, y):
        model = LSSVCCV(self.Cs, self.gammas, scoring="accuracy").fit(X, y)
        self.C_, self.gamma_ = model.C_, model.gamma_
        return self
